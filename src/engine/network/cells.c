#include "engine/network/cells.h"

#include "core/memory.h"
#include "core/round.h"

#include <omp.h>
#include <stdlib.h>

struct hs_node_box hs_cells_box(const struct hs_axis *axis, const int64_t lo[HS_AXES],
                                const int64_t hi[HS_AXES])
{
    struct hs_node_box region;
    for (int a = 0; a < HS_AXES; a++) {
        region.origin[a] = axis[a].position[lo[a]];
        region.lo[a] = 0.0;
        region.hi[a] = hi[a] - lo[a] == 1 ? 2.0 * axis[a].half[lo[a]]
                                          : axis[a].position[hi[a]] - region.origin[a];
    }
    return region;
}

/* What the marking of a row needs. */
struct row {
    const struct hs_solids *solids;
    int64_t j, k;
    struct hs_selection *around, *here; /* what matters to the row; to a part of it */
    uint16_t *label;
};

/* Halves that a surface crosses, down to single cells. */
static void mark(const struct row *row, int64_t lo, int64_t hi)
{
    const int64_t first[HS_AXES] = {lo, row->j, row->k};
    const int64_t end[HS_AXES] = {hi, row->j + 1, row->k + 1};
    const struct hs_node_box region = hs_cells_box(row->solids->axis, first, end);
    hs_solids_narrow(row->solids, &region, row->around, row->here);
    const int base = row->here->base;
    if (row->here->count > 0 && hi - lo > 1) {
        mark(row, lo, (lo + hi) / 2);
        mark(row, (lo + hi) / 2, hi);
        return;
    }
    const int label = row->here->count > 0 ? HS_CELL_MIXED
                      : base == HS_NOWHERE ? HS_CELL_EMPTY
                                           : base;
    for (int64_t i = lo; i < hi; i++)
        row->label[i] = (uint16_t)label;
}

static void mark_row(const struct hs_cells *cells, int64_t j, int64_t k, int *parts)
{
    const struct hs_solids *solids = &cells->solids;
    struct hs_selection all = {.part = parts}, around = {.part = parts + solids->count},
                        here = {.part = parts + 2 * solids->count};
    const int64_t lo[HS_AXES] = {0, j, k}, hi[HS_AXES] = {cells->count[HS_X], j + 1, k + 1};
    const struct hs_node_box region = hs_cells_box(solids->axis, lo, hi);
    hs_solids_all(solids, &all);
    hs_solids_narrow(solids, &region, &all, &around);
    const struct row row = {
        solids, j, k, &around, &here, cells->owned + (hs_cells_row(cells, j, k) - cells->label)};
    mark(&row, 0, hi[HS_X]);
}

/* The place along an axis of the n-th that is held. */
static int64_t place_of(const struct hs_cells *cells, int axis, int64_t n)
{
    return (cells->first[axis] + n) % cells->count[axis];
}

static void mark_held(struct hs_cells *cells, int threads)
{
    const int64_t ny = cells->held[HS_Y], rows = ny * cells->held[HS_Z];
    const size_t parts = 3 * (size_t)cells->solids.count + 1;
    int *scratch = hs_new((size_t)threads * parts * sizeof *scratch);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int64_t r = 0; r < rows; r++)
        mark_row(cells, place_of(cells, HS_Y, r % ny), place_of(cells, HS_Z, r / ny),
                 scratch + (size_t)omp_get_thread_num() * parts);
    free(scratch);
}

/* What is held of a file; along a periodic axis it may begin again. */
static enum hs_status read_held(struct hs_cells *cells, const struct hs_body *body, int axis,
                                struct hs_error *err)
{
    const int64_t held = cells->held[axis], first = cells->first[axis];
    const int64_t until = hs_smaller(first + held, cells->count[axis]) - first;
    enum hs_status st = HS_OK;
    for (int64_t n = 0, end = until; n < held && !st; n = end, end = held) {
        const struct hs_box box = hs_stored_box(body->stored, place_of(cells, axis, n), end - n);
        st = hs_body_read_labels(body, &box, sizeof *cells->owned,
                                 cells->owned + n * hs_stored_plane(body->stored), err);
    }
    body->stored->close(body->stored);
    return st;
}

/* A node's labels are those of the cells beside it, or its own and that of the node above; edges
 * below a portion's nodes are of others. */
static void hold_layers(struct hs_cells *cells, const struct hs_portion *portion,
                        const struct hs_grid *grid, bool wrap)
{
    if (portion->ranks < 2)
        return;
    const int axis = grid->dims - 1;
    const int64_t rows = portion->beside / grid->points[HS_X]; /* of a layer */
    const int64_t count = cells->count[axis];
    int64_t first = portion->row / rows - 1, end = (portion->end_row - 1) / rows + 2;
    if (!wrap) {
        first = hs_larger(first, 0);
        end = hs_smaller(end, count);
    }
    if (portion->row == portion->end_row) /* nothing */
        first = end = 0;
    if (end - first >= count) /* all */
        return;
    cells->first[axis] = (first + count) % count;
    cells->held[axis] = end - first;
}

/* Where k and rho*c are measured, only a sink or a source asks for substances. */
static bool are_needed(const struct hs_body *body)
{
    if (!body->conductivity || !body->capacity)
        return true;
    for (int s = 0; s < body->substance_count; s++)
        if (body->substance[s].perfusion != 0.0 || body->substance[s].source >= 0)
            return true;
    return false;
}

enum hs_status hs_cells_init(struct hs_cells *cells, const struct hs_network_spec *spec,
                             const struct hs_axis *axis, const struct hs_portion *portion,
                             struct hs_error *err)
{
    const struct hs_body *body = spec->body;
    const int last = spec->grid->dims - 1;
    *cells = (struct hs_cells){.place = body->labels, .label = body->label};
    hs_solids_init(&cells->solids, body, axis);
    cells->marked = body->labels == HS_LABEL_NONE && are_needed(body);
    if (cells->marked)
        cells->place = HS_LABEL_CELLS;
    for (int a = 0; a < HS_AXES; a++)
        cells->held[a] = cells->count[a] =
            cells->place == HS_LABEL_CELLS ? axis[a].cells : axis[a].nodes;
    if (cells->label || cells->place == HS_LABEL_NONE)
        return HS_OK;
    hold_layers(cells, portion, spec->grid, axis[last].wrap);
    const int64_t labels = cells->held[HS_X] * cells->held[HS_Y] * cells->held[HS_Z];
    cells->label = cells->owned = malloc((size_t)labels * sizeof *cells->owned + 1);
    if (!cells->owned)
        return hs_error_add(err, HS_DEVICE, "not enough memory for the labels of a body");
    if (!cells->marked)
        return read_held(cells, body, last, err);
    mark_held(cells, spec->threads);
    return HS_OK;
}

void hs_cells_release(struct hs_cells *cells)
{
    hs_solids_release(&cells->solids);
    free(cells->owned);
}
