#include "functions/tables.h"

#include "functions/evaluate.h"

#include <math.h>
#include <stdlib.h>

bool hs_tables_init(struct hs_tables *tables, const struct hs_expression *expression,
                    const struct hs_grid *grid, enum hs_tables_of which)
{
    *tables = (struct hs_tables){.grid = grid, .t = NAN};
    struct hs_tabulation *tabulation = &tables->tabulation;
    hs_tabulation_init(tabulation, expression, grid, which);
    /* one more number, since there may be no tables */
    tables->memory = malloc((size_t)hs_tabulation_bytes(tabulation, grid, 1) + sizeof(double));
    double *at = tables->memory;
    for (int n = 0; n < tabulation->tables && at; n++) {
        tables->table[n] = at;
        at += hs_table_strides(&tabulation->table[n], grid, tables->stride[n]);
    }
    return tables->memory != NULL;
}

void hs_tables_release(struct hs_tables *tables)
{
    hs_tabulation_release(&tables->tabulation);
    free(tables->memory);
    tables->memory = NULL;
}

/* Fills table n row by row; if it does not depend on x, a row is one node long. */
static void fill(struct hs_tables *tables, int n, double t, int threads)
{
    const struct hs_grid *grid = tables->grid;
    const int64_t *stride = tables->stride[n];
    const int64_t nx = stride[HS_X] ? grid->points[HS_X] : 1;
    const int64_t ny = stride[HS_Y] ? grid->points[HS_Y] : 1;
    const int64_t nz = stride[HS_Z] ? grid->points[HS_Z] : 1;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t row = 0; row < ny * nz; row++) {
        const int64_t j = row % ny, k = row / ny;
        const struct hs_row at = hs_row_along(grid, HS_X, (const int64_t[HS_AXES]){0, j, k}, nx, t);
        hs_expression_row(&tables->tabulation.table[n], &at,
                          tables->table[n] + j * stride[HS_Y] + k * stride[HS_Z]);
    }
}

void hs_tables_fill(struct hs_tables *tables, double t, int threads)
{
    for (int n = 0; n < tables->tabulation.tables; n++)
        if (isnan(tables->t) || (tables->tabulation.table[n].varies & HS_VARIES_T))
            fill(tables, n, t, threads);
    tables->t = t;
}

void hs_tables_row(const struct hs_tables *tables, int64_t first, int64_t count, int64_t j,
                   int64_t k, double *out)
{
    const struct hs_grid *grid = tables->grid;
    struct hs_row row =
        hs_row_along(grid, HS_X, (const int64_t[HS_AXES]){first, j, k}, count, tables->t);
    for (int n = 0; n < tables->tabulation.tables; n++)
        row.table[n] = (struct hs_row_table){tables->table[n] + j * tables->stride[n][HS_Y] +
                                                 k * tables->stride[n][HS_Z],
                                             tables->stride[n][HS_X] != 0};
    hs_expression_row(&(struct hs_expression){.code = tables->tabulation.code,
                                              .length = tables->tabulation.length},
                      &row, out);
}
