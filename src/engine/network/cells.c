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

/* What marking a row needs. */
struct row {
    const struct hs_solids *solids;
    int64_t j, k;
    struct hs_selection *around, *here; /* solids that matter to the row; to a part of it */
    uint16_t *label;
};

/* Halves what a surface crosses, down to single cells. */
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
    struct hs_selection around = {.part = parts}, here = {.part = parts + solids->count};
    const int64_t lo[HS_AXES] = {0, j, k}, hi[HS_AXES] = {cells->count[HS_X], j + 1, k + 1};
    const struct hs_node_box region = hs_cells_box(solids->axis, lo, hi);
    hs_solids_narrow(solids, &region, &solids->all, &around);
    const struct row row = {
        solids, j, k, &around, &here, cells->owned + (hs_cells_row(cells, j, k) - cells->label)};
    mark(&row, 0, hi[HS_X]);
}

/* Rows of labels in memory. */
static int64_t rows_held(const struct hs_cells *cells)
{
    return cells->window.axis == HS_Z   ? cells->window.held * cells->count[HS_Y]
           : cells->window.axis == HS_Y ? cells->window.held
                                        : 1;
}

static void mark_held(struct hs_cells *cells, int threads)
{
    const struct hs_window *window = &cells->window;
    const int64_t ny = window->axis == HS_Z ? cells->count[HS_Y] : 1;
    const size_t parts = 2 * (size_t)cells->solids.count + 1;
    int *scratch = hs_new((size_t)threads * parts * sizeof *scratch);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int64_t r = 0; r < rows_held(cells); r++) {
        const int64_t place = hs_window_place(window, r / ny);
        int *own = scratch + (size_t)omp_get_thread_num() * parts;
        if (window->axis == HS_Z)
            mark_row(cells, r % ny, place, own);
        else
            mark_row(cells, place, 0, own);
    }
    free(scratch);
}

/* The box of a file that begins with a window's *n-th layer, and the layer after it; false after
 * the last: a window is one box or, along a periodic axis, two. */
static bool next_box(const struct hs_window *window, const struct hs_stored *stored, int64_t *n,
                     struct hs_box *box)
{
    const int64_t place = hs_window_place(window, *n);
    const int64_t count = hs_smaller(window->held - *n, window->count - place);
    *box = hs_stored_box(stored, place, count);
    *n += count;
    return count > 0;
}

static enum hs_status read_labels(struct hs_cells *cells, const struct hs_body *body,
                                  struct hs_error *err)
{
    const struct hs_stored *stored = body->stored;
    enum hs_status st = HS_OK;
    struct hs_box box;
    uint16_t *to = cells->owned;
    for (int64_t n = 0; !st && next_box(&cells->window, stored, &n, &box); to += hs_box_count(&box))
        st = hs_body_read_labels(body, &box, sizeof *to, to, err);
    stored->close(stored);
    return st;
}

static enum hs_status read_measured(struct hs_cells *cells, int which,
                                    const struct hs_measured *measured, struct hs_error *err)
{
    const struct hs_stored *stored = measured->stored;
    const int64_t count = cells->nodes.held * (stored ? hs_stored_plane(stored) : 0);
    enum hs_status st = HS_OK;
    struct hs_box box;
    cells->measured[which] = measured->value;
    if (measured->value || !stored)
        return HS_OK;
    double *to = cells->read[which] = malloc((size_t)count * sizeof *to + 1);
    cells->measured[which] = to;
    if (!to)
        return hs_error_add(err, HS_DEVICE, "not enough memory for a body's measured numbers");
    for (int64_t n = 0; !st && next_box(&cells->nodes, stored, &n, &box); to += hs_box_count(&box))
        st = stored->read(stored, &box, to, err);
    stored->close(stored);
    return st;
}

/* If k and rho*c are measured, only a sink or a source needs substances. */
static bool are_needed(const struct hs_body *body)
{
    return !hs_is_measured(&body->conductivity) || !hs_is_measured(&body->capacity) ||
           hs_body_is_active(body);
}

/* If the body has labels in memory, it has all of them. */
static enum hs_status find_labels(struct hs_cells *cells, const struct hs_network_spec *spec,
                                  struct hs_error *err)
{
    if (cells->label || cells->place == HS_LABEL_NONE)
        return HS_OK;
    const int64_t labels = rows_held(cells) * cells->count[HS_X];
    cells->label = cells->owned = malloc((size_t)labels * sizeof *cells->owned + 1);
    if (!cells->owned)
        return hs_error_add(err, HS_DEVICE, "not enough memory for the labels of a body");
    if (!cells->marked)
        return read_labels(cells, spec->body, err);
    mark_held(cells, spec->threads);
    return HS_OK;
}

enum hs_status hs_cells_init(struct hs_cells *cells, const struct hs_network_spec *spec,
                             const struct hs_axis *axis, const struct hs_portion *portion,
                             struct hs_error *err)
{
    const struct hs_body *body = spec->body;
    const struct hs_axis *last = &axis[spec->grid->dims - 1];
    const struct hs_portion all = hs_portion_of(spec->grid, 1, 0);
    *cells = (struct hs_cells){.place = body->labels, .label = body->label, .grid = spec->grid};
    hs_solids_init(&cells->solids, body, axis);
    cells->marked = body->labels == HS_LABEL_NONE && are_needed(body);
    if (cells->marked)
        cells->place = HS_LABEL_CELLS;
    const bool of_cells = cells->place == HS_LABEL_CELLS;
    for (int a = 0; a < HS_AXES; a++)
        cells->count[a] = of_cells ? axis[a].cells : axis[a].nodes;
    cells->window = hs_window_of(body->label ? &all : portion, spec->grid,
                                 of_cells ? last->cells : last->nodes, last->wrap);
    const bool at_hand = body->conductivity.value || body->capacity.value;
    cells->nodes = hs_window_of(at_hand ? &all : portion, spec->grid, last->nodes, last->wrap);
    HS_TRY(find_labels(cells, spec, err));
    HS_TRY(read_measured(cells, HS_CONDUCTIVITY, &body->conductivity, err));
    return read_measured(cells, HS_CAPACITY, &body->capacity, err);
}

void hs_cells_release(struct hs_cells *cells)
{
    hs_solids_release(&cells->solids);
    free(cells->owned);
    free(cells->read[HS_CONDUCTIVITY]);
    free(cells->read[HS_CAPACITY]);
}
