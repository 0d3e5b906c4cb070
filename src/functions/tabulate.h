/*
 * Expressions taken apart for evaluation over a grid, at one time after the other. Parts that do
 * not change with all of x, y, z and t are worked out once for what they change with, in tables;
 * what is left for each node is a short program over these. Nothing but the place where an
 * operation is done changes, so the values have the expression's own bits.
 */
#ifndef HS_FUNCTIONS_TABULATE_H
#define HS_FUNCTIONS_TABULATE_H

#include "core/grid.h"
#include "functions/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which parts are tables, in order of what they take of memory. */
enum hs_tables_of {
    HS_TABLES_OF_NUMBERS, /* those that are the same at all nodes: one number for each time */
    HS_TABLES_OF_PLANES,  /* and those that do not change along all of the grid's axes */
    HS_TABLES_OF_FIELDS,  /* and those that do not change with time, where they take more than an
                             operation: a number for each node, once for all times */
};

struct hs_tabulation {
    struct hs_expression table[HS_MOST_TABLES]; /* parts of the expression's code */
    int tables;
    struct hs_instruction *code; /* [length] what is left, with HS_OP_TABLE + n; owned */
    int length;
};

/* False: no memory. Where there are more parts than HS_MOST_TABLES, the last are left in the code.
 * Safe to release after failure. */
bool hs_tabulation_init(struct hs_tabulation *out, const struct hs_expression *expression,
                        const struct hs_grid *grid, enum hs_tables_of which);
void hs_tabulation_release(struct hs_tabulation *tabulation);

/* Numbers from node to node of a table, 0 along the axes that it does not change along; returns
 * how many it has at one time. */
int64_t hs_table_strides(const struct hs_expression *table, const struct hs_grid *grid,
                         int64_t stride[HS_AXES]);

/* Bytes of all tables at so many times, in double. */
double hs_tabulation_bytes(const struct hs_tabulation *tabulation, const struct hs_grid *grid,
                           int times);

#ifdef __cplusplus
}
#endif

#endif
