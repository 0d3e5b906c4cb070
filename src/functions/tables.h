/* The tables of an expression split by functions/tabulate.h, in host memory. */
#ifndef HS_FUNCTIONS_TABLES_H
#define HS_FUNCTIONS_TABLES_H

#include "functions/tabulate.h"

struct hs_tables {
    const struct hs_grid *grid; /* it and the expression must outlive this */
    struct hs_tabulation tabulation;
    double t;       /* s: time of the tables' values; NaN: not filled yet */
    double *memory; /* owned; NULL: no tables */
    double *table[HS_MOST_TABLES];
    int64_t stride[HS_MOST_TABLES][HS_AXES];
};

/* False: no memory. Safe to release after failure. */
bool hs_tables_init(struct hs_tables *tables, const struct hs_expression *expression,
                    const struct hs_grid *grid, enum hs_tables_of which);
void hs_tables_release(struct hs_tables *tables);

/* Updates the tables to time t. */
void hs_tables_fill(struct hs_tables *tables, double t, int threads);

/* The values at `count` nodes of row (j, k) from node `first` on, at the tables' time. */
void hs_tables_row(const struct hs_tables *tables, int64_t first, int64_t count, int64_t j,
                   int64_t k, double *out);

#endif
