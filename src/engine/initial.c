#include "engine/initial.h"
#include "engine/threads.h"
#include "functions/fields.h"

#include <omp.h>
#include <stdlib.h>

enum { SLAB_BYTES = 4 << 20 }; /* of the planes that go up together */

/* Planes k to k + count - 1 into `slab`; row: [threads][nx]. */
static void evaluate(const struct hs_initial_rows *rows, int64_t k, int64_t count, int threads,
                     double *row, void *slab)
{
    const struct hs_problem *problem = rows->problem;
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < count * ny; r++) {
        double *mine = row + omp_get_thread_num() * nx;
        hs_initial_row(rows, r % ny, k + r / ny, mine);
        for (int64_t i = 0; i < nx; i++)
            hs_write(problem->precision, slab, r * nx + i, mine[i]);
    }
}

enum hs_status hs_initial_upload(const struct hs_problem *problem, const struct hs_backend *backend,
                                 struct hs_backend_state *state, struct hs_error *err)
{
    const int64_t *points = problem->grid.points;
    const int64_t plane =
        points[HS_X] * points[HS_Y] * (int64_t)hs_precision_size(problem->precision);
    const int64_t fit = SLAB_BYTES / plane < 1 ? 1 : SLAB_BYTES / plane;
    const int64_t planes = fit < points[HS_Z] ? fit : points[HS_Z];
    const size_t bytes = (size_t)(planes * plane);
    const int threads = hs_threads_for(&problem->grid, problem->solver.threads);
    double *row = malloc((size_t)threads * (size_t)points[HS_X] * sizeof *row);
    void *own = backend->upload_space ? NULL : malloc(bytes), *slab = own;
    struct hs_initial_rows rows;
    enum hs_status st = HS_OK;
    hs_initial_rows_init(&rows, problem, threads);
    if (!row || (!own && !backend->upload_space))
        st = hs_error_add(err, HS_DEVICE, "no memory for planes of the initial field");
    for (int64_t k = 0; k < points[HS_Z] && !st; k += planes) {
        const int64_t left = points[HS_Z] - k, count = planes < left ? planes : left;
        if (!own)
            st = backend->upload_space(state, bytes, &slab, err);
        if (st)
            break;
        evaluate(&rows, k, count, threads, row, slab);
        const struct hs_box box = {{0, 0, k}, {points[HS_X], points[HS_Y], k + count}};
        st = backend->upload(state, &box, slab, err);
    }
    hs_initial_rows_release(&rows);
    free(row);
    free(own);
    return st;
}
