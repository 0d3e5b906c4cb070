#include "engine/walls/ghosts.h"

#include "core/round.h"
#include "engine/walls/ghost_rows.h"
#include "functions/evaluate.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>

enum {
    THREADS_FROM = 1 << 14
}; /* nodes of a face: below, starting threads costs more than it saves */

static bool allocate_face(struct hs_ghosts *ghosts, int face)
{
    struct hs_face_slots *slots = &ghosts->slots;
    const size_t bytes = (size_t)hs_grid_face_count(&slots->problem->grid, face) *
                         hs_precision_size(slots->problem->precision);
    for (int slot = 0; slot < slots->count; slot++)
        if (hs_face_slots_wants_table(slots, slot, face)) {
            slots->table[slot][face] = malloc(bytes);
            if (!slots->table[slot][face])
                return false;
        }
    return true;
}

enum hs_status hs_ghosts_init(struct hs_ghosts *ghosts, const struct hs_problem *problem,
                              const struct hs_layout *layout, int slots, int threads,
                              struct hs_error *err)
{
    assert(slots >= 1 && threads >= 1);
    *ghosts = (struct hs_ghosts){
        .layout = *layout,
        .threads = threads,
        .scratch_row = hs_larger(problem->grid.points[HS_X], problem->grid.points[HS_Y]),
    };
    HS_TRY(hs_face_slots_init(&ghosts->slots, problem, slots, err));
    ghosts->scratch = malloc((size_t)threads * (size_t)ghosts->scratch_row * sizeof(double));
    bool enough = ghosts->scratch != NULL;
    for (int face = 0; face < HS_FACES && enough; face++)
        enough = allocate_face(ghosts, face);
    if (!enough)
        return hs_error_add(err, HS_DEVICE, "not enough memory for the boundary tables: %.0f bytes",
                            hs_face_slots_bytes(problem, slots));
    return HS_OK;
}

void hs_ghosts_release(struct hs_ghosts *ghosts)
{
    for (int face = 0; face < HS_FACES; face++)
        for (int slot = 0; slot < ghosts->slots.count; slot++)
            free(ghosts->slots.table[slot][face]);
    free(ghosts->scratch);
    hs_face_slots_release(&ghosts->slots);
    *ghosts = (struct hs_ghosts){0};
}

/* ---- evaluating ---------------------------------------------------------------------------- */

static enum hs_status fill_table(void *self, int face, double t, void *table, struct hs_error *err)
{
    (void)err;
    const struct hs_ghosts *ghosts = self;
    const struct hs_problem *problem = ghosts->slots.problem;
    const struct hs_grid *grid = &problem->grid;
    const int along = hs_face_first_axis(face);
    const int64_t length = grid->points[along], rows = grid->points[hs_face_second_axis(face)];
#pragma omp parallel for num_threads(ghosts->threads) if (length * rows >= THREADS_FROM)
    for (int64_t row = 0; row < rows; row++) {
        double *values = ghosts->scratch + omp_get_thread_num() * ghosts->scratch_row;
        int64_t node[HS_AXES];
        hs_grid_face_node(grid, face, row * length, node);
        const struct hs_row at = hs_row_along(grid, along, node, length, t);
        hs_expression_row(&problem->face[face].data.expression, &at, values);
        for (int64_t i = 0; i < length; i++)
            hs_write(problem->precision, table, row * length + i, values[i]);
    }
    return HS_OK;
}

void hs_ghosts_at(struct hs_ghosts *ghosts, int slot, double t)
{
    hs_face_slots_at(&ghosts->slots, slot, t, fill_table, ghosts, NULL); /* cannot fail */
}

/* ---- writing ------------------------------------------------------------------------------- */

/* The rows of one face in one field; `row` is the first. */
struct work {
    hs_ghost_row_function *write;
    struct hs_ghost_row row;
    int64_t size; /* bytes of a value */
    int64_t rows;
};

static struct work describe_work(const struct hs_ghosts *ghosts, enum hs_ghost_action action,
                                 int slot, int face, void *field)
{
    const struct hs_face_slots *slots = &ghosts->slots;
    const struct hs_face_place place = hs_face_place_in(&ghosts->layout, face);
    const enum hs_precision precision = slots->problem->precision;
    const int64_t size = (int64_t)hs_precision_size(precision);
    return (struct work){
        .write = hs_ghost_row_find(action, precision),
        .row = {.edge = (char *)field + place.edge * size,
                .place = place,
                .depth = hs_face_depth(slots->problem, face),
                .rule = &slots->problem->face[face],
                .value = slots->value[slot][face],
                .table = hs_face_slots_table(slots, slot, face)},
        .size = size,
        .rows = place.nodes / place.length,
    };
}

static void write_row(const struct work *work, int64_t n)
{
    struct hs_ghost_row row = work->row;
    row.edge = (char *)row.edge + n * row.place.across * work->size;
    if (row.table)
        row.table = (const char *)row.table + n * row.place.length * work->size;
    work->write(&row);
}

/* Writes all rows of some faces, none of which reads or writes what another writes. */
static void write_faces(const struct work *work, int count, int threads)
{
    int64_t rows = 0, nodes = 0;
    for (int n = 0; n < count; n++) {
        rows += work[n].rows;
        nodes += work[n].row.place.nodes;
    }
#pragma omp parallel for num_threads(threads) if (nodes >= THREADS_FROM)
    for (int64_t row = 0; row < rows; row++) {
        int64_t first = 0;
        int n = 0;
        while (row - first >= work[n].rows)
            first += work[n++].rows;
        write_row(&work[n], row - first);
    }
}

void hs_ghosts_fill(const struct hs_ghosts *ghosts, int slot, void *field)
{
    struct work work[HS_FACES];
    int count = 0;
    for (int face = 0; face < HS_FACES; face++) {
        const bool wrap = ghosts->slots.problem->face[face].wrap;
        if (hs_face_depth(ghosts->slots.problem, face) > 0)
            work[count++] = describe_work(ghosts, wrap ? HS_WRAP : HS_GHOSTS, slot, face, field);
    }
    write_faces(work, count, ghosts->threads);
}

void hs_ghosts_prescribe(const struct hs_ghosts *ghosts, int slot, void *field)
{
    for (int face = 0; face < 2 * ghosts->slots.problem->grid.dims; face++)
        if (ghosts->slots.problem->face[face].prescribed) {
            const struct work work = describe_work(ghosts, HS_HOLD, slot, face, field);
            write_faces(&work, 1, ghosts->threads);
        }
}
