#include "engine/exact.h"
#include "engine/threads.h"
#include "functions/fields.h"

#include <math.h>
#include <omp.h>
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
                                  int64_t first, const double *exact, int64_t j, int64_t k)
{
    struct row_error out = {0.0, 0.0, 0.0};
    for (int64_t i = 0; i < problem->grid.points[HS_X]; i++) {
        const double error = fabs(hs_read(problem->precision, field, first + i) - exact[i]);
        const double volume = hs_problem_node_volume(problem, i, j, k);
        out.max = worse(out.max, error);
        out.squares += volume * error * error;
        out.volume += volume;
    }
    return out;
}

struct work {
    const struct hs_step_state *step_state;
    int threads;
    struct row_error *rows; /* [nz][ny] */
    double *exact;          /* [threads][nx] */
    void *values;           /* of a box */
};

static void compare(const struct work *work, const struct hs_box *box)
{
    const struct hs_problem *problem = work->step_state->problem;
    const struct hs_grid *grid = &problem->grid;
    const int64_t nx = grid->points[HS_X], ny = box->hi[HS_Y] - box->lo[HS_Y];
#pragma omp parallel for num_threads(work->threads) schedule(static)
    for (int64_t n = 0; n < ny * (box->hi[HS_Z] - box->lo[HS_Z]); n++) {
        double *exact = work->exact + omp_get_thread_num() * nx;
        const int64_t j = box->lo[HS_Y] + n % ny, k = box->lo[HS_Z] + n / ny;
        hs_value_row(grid, &problem->exact.value, work->step_state->time, j, k, exact);
        work->rows[k * grid->points[HS_Y] + j] =
            row_error(problem, work->values, n * nx, exact, j, k);
    }
}

static struct hs_exact_error sum_rows(const struct work *work)
{
    const struct hs_grid *grid = &work->step_state->problem->grid;
    struct row_error all = {0.0, 0.0, 0.0};
    for (int64_t n = 0; n < grid->points[HS_Y] * grid->points[HS_Z]; n++) {
        all.max = worse(all.max, work->rows[n].max);
        all.squares += work->rows[n].squares;
        all.volume += work->rows[n].volume;
    }
    return (struct hs_exact_error){all.max, sqrt(all.squares / all.volume)};
}

enum hs_status hs_exact_error(const struct hs_step_state *step_state, struct hs_exact_error *out,
                              struct hs_error *err)
{
    const struct hs_problem *problem = step_state->problem;
    const struct hs_grid *grid = &problem->grid;
    const int64_t nx = grid->points[HS_X], ny = grid->points[HS_Y], nz = grid->points[HS_Z];
    const size_t size = hs_precision_size(problem->precision);
    const struct hs_box largest = hs_grid_rows_at(grid, size, 0, 0);
    struct work work = {.step_state = step_state, .threads = hs_threads_of(problem)};
    work.rows = malloc((size_t)(ny * nz) * sizeof *work.rows);
    work.exact = malloc((size_t)work.threads * (size_t)nx * sizeof *work.exact);
    work.values = malloc((size_t)hs_box_count(&largest) * size);
    enum hs_status st = HS_OK;
    if (!work.rows || !work.exact || !work.values)
        st = hs_error_add(err, HS_DEVICE, "no memory to compare with the exact solution");
    for (int64_t j = 0, k = 0; k < nz && !st;) {
        const struct hs_box box = hs_grid_rows_at(grid, size, j, k);
        st = hs_step_state_box(step_state, false, &box, work.values, err);
        if (!st)
            compare(&work, &box);
        j = box.hi[HS_Y] % ny;
        k = j ? k : box.hi[HS_Z];
    }
    *out = st ? (struct hs_exact_error){NAN, NAN} : sum_rows(&work);
    free(work.rows);
    free(work.exact);
    free(work.values);
    return st;
}
