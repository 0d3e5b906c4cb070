#include "engine/exact.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* The exact solution along row (j, k): [nx]. */
static void exact_row(const struct hs_problem *problem, double t, int64_t j, int64_t k, double *out)
{
    const struct hs_grid *grid = &problem->grid;
    const int64_t nx = grid->points[HS_X];
    const struct hs_value *value = &problem->exact.value;
    if (value->expression.code)
        hs_expression_row(&value->expression, nx, grid->lower[HS_X], grid->spacing[HS_X],
                          hs_grid_coordinate(grid, HS_Y, j), hs_grid_coordinate(grid, HS_Z, k), t,
                          out);
    else
        for (int64_t i = 0; i < nx; i++)
            out[i] = value->constant;
}

static double temperature(const struct hs_problem *problem, const void *field, int64_t n)
{
    return problem->precision == HS_FLOAT ? (double)((const float *)field)[n]
                                          : ((const double *)field)[n];
}

enum hs_status hs_exact_norms(const struct hs_problem *problem, double t, const void *field,
                              struct hs_error_norms *out, struct hs_error *err)
{
    assert(problem->exact.present);
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    double *exact = malloc((size_t)nx * sizeof *exact);
    if (!exact)
        return hs_error_add(err, HS_DEVICE, "no memory for a row of the exact solution");
    double most = -1.0, sum = 0.0, squares = 0.0, volume = 0.0;
    bool known = true;
    *out = (struct hs_error_norms){.max = NAN};
    for (int64_t k = 0; k < problem->grid.points[HS_Z]; k++)
        for (int64_t j = 0; j < ny; j++) {
            exact_row(problem, t, j, k, exact);
            for (int64_t i = 0; i < nx; i++) {
                const double off =
                    fabs(temperature(problem, field, (k * ny + j) * nx + i) - exact[i]);
                const double share = hs_problem_node_volume(problem, i, j, k);
                sum += share * off;
                squares += share * off * off;
                volume += share;
                known = known && !isnan(off);
                if (off > most) {
                    most = off;
                    *out = (struct hs_error_norms){.worst = {i, j, k}};
                }
            }
        }
    out->max = known ? most : NAN;
    out->mean = sum / volume;
    out->rms = sqrt(squares / volume);
    free(exact);
    return HS_OK;
}
