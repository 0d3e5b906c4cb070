/*
 * Splits expressions for evaluation over a grid at many times. Parts that do not depend on all of
 * x, y, z and t are computed once for each combination of what they depend on, and kept in tables;
 * a short program over the tables remains for each node. The operations themselves are unchanged,
 * so the values have the same bits as the expression's.
 */
#ifndef HS_FUNCTIONS_TABULATE_H
#define HS_FUNCTIONS_TABULATE_H

#include "core/grid.h"
#include "functions/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which parts become tables, in order of increasing memory. */
enum hs_tables_of {
    HS_TABLES_OF_NUMBERS, /* parts that are the same at all nodes: one number per time */
    HS_TABLES_OF_PLANES,  /* also parts that are constant along at least one of the grid's axes */
    HS_TABLES_OF_FIELDS,  /* also parts that are constant in time, unless they are cheap: a number
                             for each node, once for all times */
};

struct hs_tabulation {
    struct hs_expression table[HS_MOST_TABLES]; /* parts of the expression's code */
    int tables;
    struct hs_instruction *code; /* [length] the remaining program, with HS_OP_TABLE + n; owned */
    int length;
};

/* If there are more parts than HS_MOST_TABLES, the last ones stay in the code. */
void hs_tabulation_init(struct hs_tabulation *out, const struct hs_expression *expression,
                        const struct hs_grid *grid, enum hs_tables_of which);
void hs_tabulation_release(struct hs_tabulation *tabulation);

/* The strides of a table from node to node, in numbers; 0 along axes on which it does not depend.
 * Returns the table's size at one time. */
int64_t hs_table_strides(const struct hs_expression *table, const struct hs_grid *grid,
                         int64_t stride[HS_AXES]);

/* Bytes of all tables (of double) at `times` times. */
double hs_tabulation_bytes(const struct hs_tabulation *tabulation, const struct hs_grid *grid,
                           int times);

#ifdef __cplusplus
}
#endif

#endif
