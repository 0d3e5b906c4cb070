#include "engine/initial.h"
#include "core/round.h"
#include "core/slab.h"
#include "engine/threads.h"
#include "functions/fields.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* What is uploaded, and with which resources. */
struct work {
    /* the caller's, but only some layers of a stored initial field may be in memory */
    struct hs_problem problem;
    const struct hs_stored *from; /* used alone, without regions and walls; or NULL */
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    int threads;
    double *row;        /* [threads][nx] */
    void *own;          /* [bytes]; NULL: the backend has space */
    size_t bytes;       /* most that are uploaded at once */
    int64_t first, end; /* layers in memory */
};

static int last_axis(const struct work *work)
{
    return work->problem.grid.dims - 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Rows that are uploaded together. */
static struct hs_box rows_at(const struct hs_problem *problem, int64_t j, int64_t k)
{
    return hs_grid_rows_at(&problem->grid, hs_precision_size(problem->precision), j, k);
}

static void make_row(const struct work *work, const struct hs_initial_rows *rows, int64_t j,
                     int64_t k, double *out)
{
    const struct hs_field *field = &work->problem.initial.field;
    const int64_t nx = work->problem.grid.points[HS_X];
    if (work->from)
        memcpy(out, field->data + ((k * work->problem.grid.points[HS_Y] + j) * nx - field->first),
               (size_t)nx * sizeof *out);
    else
        hs_initial_row(rows, j, k, out);
}

/* Evaluates the nodes of a box into `slab`. */
static void evaluate(const struct work *work, const struct hs_initial_rows *rows,
                     const struct hs_box *box, void *slab)
{
    const struct hs_problem *problem = &work->problem;
    const int64_t nx = problem->grid.points[HS_X], ny = box->hi[HS_Y] - box->lo[HS_Y];
    const int64_t count = ny * (box->hi[HS_Z] - box->lo[HS_Z]);
#pragma omp parallel for num_threads(work->threads) schedule(static)
    for (int64_t r = 0; r < count; r++) {
        double *mine = work->row + omp_get_thread_num() * nx;
        make_row(work, rows, box->lo[HS_Y] + r % ny, box->lo[HS_Z] + r / ny, mine);
        for (int64_t i = 0; i < nx; i++)
            hs_write(problem->precision, slab, r * nx + i, mine[i]);
    }
}

/* Uploads the layers in memory. */
static enum hs_status put_layers(const struct work *work, const struct hs_initial_rows *rows,
                                 struct hs_error *err)
{
    const int64_t *points = work->problem.grid.points;
    const int axis = last_axis(work);
    int64_t at[HS_AXES] = {0};
    enum hs_status st = HS_OK;
    for (at[axis] = work->first; at[axis] < work->end && !st;) {
        struct hs_box box = rows_at(&work->problem, at[HS_Y], at[HS_Z]);
        box.hi[axis] = hs_smaller(box.hi[axis], work->end);
        void *slab = work->own;
        if (!slab)
            st = work->backend->upload_space(work->state, work->bytes, &slab, err);
        if (st)
            break;
        evaluate(work, rows, &box, slab);
        st = work->backend->upload(work->state, &box, slab, err);
        if (axis == HS_Z) /* after part of a layer comes its next part */
            at[HS_Y] = box.hi[HS_Y] % points[HS_Y];
        if (axis < HS_Z || at[HS_Y] == 0)
            at[axis] = box.hi[axis];
    }
    return st;
}

/* ---- numbers of a file ----------------------------------------------------------------------- */

/* Reads and uploads as many layers at a time as are best read together. */
static enum hs_status put_numbers(struct work *work, const struct hs_stored *stored,
                                  const struct hs_initial_rows *rows, struct hs_error *err)
{
    const int64_t layers = work->problem.grid.points[last_axis(work)];
    const int64_t plane = hs_stored_plane(stored), together = hs_smaller(stored->together, layers);
    struct hs_field *field = &work->problem.initial.field;
    enum hs_status st = HS_OK;
    double *values = malloc((size_t)(together * plane) * sizeof *values);
    if (!values)
        st = hs_error_add(err, HS_DEVICE, "no memory for layers of %s", stored->path);
    for (work->first = 0; work->first < layers && !st; work->first = work->end) {
        work->end = hs_smaller(work->first + together, layers);
        field->data = values;
        field->first = work->first * plane;
        st = hs_slab_read(work->problem.slab, stored, work->first, work->end, values, err);
        if (!st)
            st = put_layers(work, rows, err);
    }
    free(values);
    stored->close(stored);
    return st;
}

/* ---------------------------------------------------------------------------------------------- */

enum hs_status hs_initial_upload(const struct hs_problem *problem, const struct hs_stored *from,
                                 const struct hs_backend *backend, struct hs_backend_state *state,
                                 struct hs_error *err)
{
    const struct hs_box largest = rows_at(problem, 0, 0);
    const struct hs_field *field = &problem->initial.field;
    const struct hs_stored *stored = from ? from : field->data ? NULL : field->stored;
    struct work work = {.problem = *problem,
                        .from = from,
                        .backend = backend,
                        .state = state,
                        .threads = hs_threads_of(problem),
                        .bytes =
                            (size_t)hs_box_count(&largest) * hs_precision_size(problem->precision),
                        .end = problem->grid.points[problem->grid.dims - 1]};
    struct hs_initial_rows rows;
    enum hs_status st = HS_OK;
    hs_initial_rows_init(&rows, &work.problem, work.threads);
    work.row = malloc((size_t)work.threads * (size_t)problem->grid.points[HS_X] * sizeof *work.row);
    work.own = backend->upload_space ? NULL : malloc(work.bytes);
    if (!work.row || (!work.own && !backend->upload_space))
        st = hs_error_add(err, HS_DEVICE, "no memory for rows of the initial field");
    if (!st)
        st = stored ? put_numbers(&work, stored, &rows, err) : put_layers(&work, &rows, err);
    hs_initial_rows_release(&rows);
    free(work.row);
    free(work.own);
    return st;
}
