#include "engine/initial.h"
#include "engine/threads.h"
#include "functions/fields.h"

#include <omp.h>
#include <stdlib.h>

enum { SLAB_BYTES = 4 << 20 }; /* of what goes up together, unless a row is longer */

/* The nodes of a box into `slab`; row: [threads][nx]. */
static void evaluate(const struct hs_initial_rows *rows, const struct hs_box *box, int threads,
                     double *row, void *slab)
{
    const struct hs_problem *problem = rows->problem;
    const int64_t nx = problem->grid.points[HS_X], ny = box->hi[HS_Y] - box->lo[HS_Y];
    const int64_t count = ny * (box->hi[HS_Z] - box->lo[HS_Z]);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t r = 0; r < count; r++) {
        double *mine = row + omp_get_thread_num() * nx;
        hs_initial_row(rows, box->lo[HS_Y] + r % ny, box->lo[HS_Z] + r / ny, mine);
        for (int64_t i = 0; i < nx; i++)
            hs_write(problem->precision, slab, r * nx + i, mine[i]);
    }
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of the boxes that go up one after the other, whole rows each, the one that begins at (j, k). */
static struct hs_box slab_at(const struct hs_problem *problem, int64_t j, int64_t k)
{
    const int64_t *points = problem->grid.points, ny = points[HS_Y];
    const int64_t row = points[HS_X] * (int64_t)hs_precision_size(problem->precision);
    const int64_t rows = row < SLAB_BYTES ? SLAB_BYTES / row : 1;
    const int64_t planes = rows < ny ? 1 : rows / ny;
    return (struct hs_box){
        {0, j, k}, {points[HS_X], smaller(j + rows, ny), smaller(k + planes, points[HS_Z])}};
}

enum hs_status hs_initial_upload(const struct hs_problem *problem, const struct hs_backend *backend,
                                 struct hs_backend_state *state, struct hs_error *err)
{
    const int64_t *points = problem->grid.points;
    const struct hs_box largest = slab_at(problem, 0, 0);
    const size_t bytes = (size_t)hs_box_count(&largest) * hs_precision_size(problem->precision);
    const int threads = hs_threads_for(&problem->grid, problem->solver.threads);
    double *row = malloc((size_t)threads * (size_t)points[HS_X] * sizeof *row);
    void *own = backend->upload_space ? NULL : malloc(bytes), *slab = own;
    struct hs_initial_rows rows;
    enum hs_status st = HS_OK;
    hs_initial_rows_init(&rows, problem, threads);
    if (!row || (!own && !backend->upload_space))
        st = hs_error_add(err, HS_DEVICE, "no memory for rows of the initial field");
    for (int64_t j = 0, k = 0; k < points[HS_Z] && !st;) {
        const struct hs_box box = slab_at(problem, j, k);
        if (!own)
            st = backend->upload_space(state, bytes, &slab, err);
        if (st)
            break;
        evaluate(&rows, &box, threads, row, slab);
        st = backend->upload(state, &box, slab, err);
        j = box.hi[HS_Y] % points[HS_Y];
        k = j ? k : box.hi[HS_Z];
    }
    hs_initial_rows_release(&rows);
    free(row);
    free(own);
    return st;
}
