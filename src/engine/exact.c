#include "engine/exact.h"
#include "functions/fields.h"

#include <math.h>
#include <stdlib.h>

struct row_error {
    double max, squares, volume;
};

/* Larger of the two; NaN wins, so that it is not lost. */
static double worse(double a, double b)
{
    return isnan(a) || (!isnan(b) && a > b) ? a : b;
}

static struct row_error row_error(const struct hs_problem *problem, const void *field,
                                  const double *exact, int64_t j, int64_t k)
{
    const struct hs_grid *grid = &problem->grid;
    const int64_t first = (k * grid->points[HS_Y] + j) * grid->points[HS_X];
    struct row_error out = {0.0, 0.0, 0.0};
    for (int64_t i = 0; i < grid->points[HS_X]; i++) {
        const double error = fabs(hs_read(problem->precision, field, first + i) - exact[i]);
        const double volume = hs_problem_node_volume(problem, i, j, k);
        out.max = worse(out.max, error);
        out.squares += volume * error * error;
        out.volume += volume;
    }
    return out;
}

enum hs_status hs_exact_error(const struct hs_problem *problem, const void *field, double time,
                              struct hs_exact_error *out, struct hs_error *err)
{
    const struct hs_grid *grid = &problem->grid;
    const int64_t count = grid->points[HS_Y] * grid->points[HS_Z];
    struct row_error *rows = malloc((size_t)count * sizeof *rows);
    bool lacking = !rows;
#pragma omp parallel if (hs_grid_count(grid) > 10000)
    {
        double *exact = malloc((size_t)grid->points[HS_X] * sizeof *exact);
        if (!exact) {
#pragma omp atomic write
            lacking = true;
        }
#pragma omp for
        for (int64_t n = 0; n < count; n++) {
            if (!exact || !rows)
                continue;
            const int64_t j = n % grid->points[HS_Y], k = n / grid->points[HS_Y];
            hs_value_row(grid, &problem->exact.value, time, j, k, exact);
            rows[n] = row_error(problem, field, exact, j, k);
        }
        free(exact);
    }
    *out = (struct hs_exact_error){NAN, NAN};
    if (!lacking) {
        struct row_error all = {0.0, 0.0, 0.0};
        for (int64_t n = 0; n < count; n++) {
            all.max = worse(all.max, rows[n].max);
            all.squares += rows[n].squares;
            all.volume += rows[n].volume;
        }
        *out = (struct hs_exact_error){all.max, sqrt(all.squares / all.volume)};
    }
    free(rows);
    return lacking ? hs_error_add(err, HS_DEVICE, "no memory to compare with the exact solution")
                   : HS_OK;
}
