/*
 * Expressions taken apart for evaluation over a grid: the largest parts that do not change along
 * all of its axes are worked out once for the axes they change along, in tables, and what is left
 * for each node is a short program over these. Nothing but the place where an operation is done
 * changes, so the values have the expression's own bits.
 */
#ifndef HS_FUNCTIONS_PARTIAL_H
#define HS_FUNCTIONS_PARTIAL_H

#include "functions/program.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_PARTIAL_TABLES = 8,
    HS_PARTIAL_LONGEST = 96,    /* instructions */
    HS_PARTIAL_DEPTH = 8,       /* values on the stack */
    HS_OP_TABLE = HS_OPERATIONS /* HS_OP_TABLE + n pushes the node's value in table n */
};

struct hs_partial {
    struct hs_expression table[HS_PARTIAL_TABLES]; /* parts of the expression's code */
    int tables;
    struct hs_instruction code[HS_PARTIAL_LONGEST];
    int length, depth;
};

/* False where there is nothing to gain, or no room. `axes`: HS_VARIES_... of those of the grid. */
bool hs_expression_partial(const struct hs_expression *expression, unsigned axes,
                           struct hs_partial *out);

#ifdef __cplusplus
}
#endif

#endif
