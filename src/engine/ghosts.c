#include "engine/ghosts.h"

#include "engine/ghost_rows.h"
#include "functions/evaluate.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum {
    THREADS_FROM = 1 << 14
}; /* nodes of a face: below, starting threads costs more than it saves */

static int face_axis(int face)
{
    return face / 2;
}

int hs_face_first_axis(int face)
{
    return face_axis(face) == HS_X ? HS_Y : HS_X;
}

int hs_face_second_axis(int face)
{
    return face_axis(face) == HS_Z ? HS_Y : HS_Z;
}

static int64_t face_nodes(const struct hs_grid *grid, int face)
{
    return grid->points[hs_face_first_axis(face)] * grid->points[hs_face_second_axis(face)];
}

int hs_face_depth(const struct hs_problem *problem, int face)
{
    if (face_axis(face) >= problem->grid.dims)
        return 0;
    const int depth = problem->radius - problem->face[face].held;
    return depth > 0 ? depth : 0;
}

static bool reads_drive(const struct hs_problem *problem, int face)
{
    const struct hs_face *rule = &problem->face[face];
    if (face_axis(face) >= problem->grid.dims || rule->wrap)
        return false;
    bool used = rule->prescribed;
    for (int m = 0; m < hs_face_depth(problem, face); m++)
        used = used || rule->c[m] != 0.0;
    return used;
}

static unsigned varies_over_face(const struct hs_problem *problem, int face)
{
    unsigned axes = 0;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        if (axis != face_axis(face))
            axes |= 1u << axis;
    return hs_value_varies(&problem->face[face].drive) & axes;
}

struct hs_face_drive hs_face_drive_describe(const struct hs_problem *problem, int face)
{
    const unsigned varies = hs_value_varies(&problem->face[face].drive);
    const bool used = reads_drive(problem, face);
    return (struct hs_face_drive){
        .used = used,
        .varies_time = used && (varies & HS_VARIES_T) != 0,
        .varies_face = used && varies_over_face(problem, face) != 0,
    };
}

/* Slots differ only in what changes with time; the rest is kept once, in slot 0. */
static bool has_table(const struct hs_face_drive *drive, int slot)
{
    return drive->varies_face && (slot == 0 || drive->varies_time);
}

double hs_ghosts_bytes(const struct hs_problem *problem, int slots)
{
    double bytes = 0.0;
    for (int face = 0; face < HS_FACES; face++) {
        const struct hs_face_drive drive = hs_face_drive_describe(problem, face);
        for (int slot = 0; slot < slots; slot++)
            if (has_table(&drive, slot))
                bytes += (double)problem->grid.points[hs_face_first_axis(face)] *
                         (double)problem->grid.points[hs_face_second_axis(face)] *
                         (double)hs_precision_size(problem->precision);
    }
    return bytes;
}

/* hs_expression_row runs along x. The rows of an x face run along y: exchange the two. */
static struct hs_instruction *turn_program(const struct hs_expression *expression)
{
    struct hs_instruction *code = malloc((size_t)expression->length * sizeof *code);
    for (int i = 0; code && i < expression->length; i++) {
        code[i] = expression->code[i];
        if (code[i].operation == HS_OP_X || code[i].operation == HS_OP_Y)
            code[i].operation = code[i].operation == HS_OP_X ? HS_OP_Y : HS_OP_X;
    }
    return code;
}

static unsigned turn_axes(unsigned varies)
{
    return (varies & ~(unsigned)(HS_VARIES_X | HS_VARIES_Y)) |
           (varies & HS_VARIES_X ? HS_VARIES_Y : 0u) | (varies & HS_VARIES_Y ? HS_VARIES_X : 0u);
}

static int64_t longest_row(const struct hs_grid *grid)
{
    return grid->points[HS_X] > grid->points[HS_Y] ? grid->points[HS_X] : grid->points[HS_Y];
}

static bool allocate_face(struct hs_ghosts *ghosts, int face)
{
    struct hs_face_drive *drive = &ghosts->drive[face];
    const size_t bytes = (size_t)face_nodes(&ghosts->problem->grid, face) *
                         hs_precision_size(ghosts->problem->precision);
    if (drive->varies_face && face_axis(face) == HS_X) {
        drive->turned = turn_program(&ghosts->problem->face[face].drive.expression);
        if (!drive->turned)
            return false;
    }
    for (int slot = 0; slot < ghosts->slots; slot++)
        if (has_table(drive, slot)) {
            ghosts->table[slot * HS_FACES + face] = malloc(bytes);
            if (!ghosts->table[slot * HS_FACES + face])
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
        .problem = problem,
        .layout = *layout,
        .threads = threads,
        .slots = slots,
        .time = malloc((size_t)slots * sizeof(double)),
        .value = calloc((size_t)slots * HS_FACES, sizeof(double)),
        .table = calloc((size_t)slots * HS_FACES, sizeof(void *)),
        .scratch_row = longest_row(&problem->grid),
    };
    ghosts->scratch = malloc((size_t)threads * (size_t)ghosts->scratch_row * sizeof(double));
    bool enough = ghosts->time && ghosts->value && ghosts->table && ghosts->scratch;
    for (int slot = 0; enough && slot < slots; slot++)
        ghosts->time[slot] = NAN;
    for (int face = 0; face < HS_FACES && enough; face++) {
        ghosts->drive[face] = hs_face_drive_describe(problem, face);
        enough = allocate_face(ghosts, face);
    }
    if (!enough)
        return hs_error_add(err, HS_DEVICE, "not enough memory for the boundary tables: %.0f bytes",
                            hs_ghosts_bytes(problem, slots));
    return HS_OK;
}

void hs_ghosts_release(struct hs_ghosts *ghosts)
{
    for (int n = 0; ghosts->table && n < ghosts->slots * HS_FACES; n++)
        free(ghosts->table[n]);
    for (int face = 0; face < HS_FACES; face++)
        free(ghosts->drive[face].turned);
    free(ghosts->scratch);
    free(ghosts->table);
    free(ghosts->value);
    free(ghosts->time);
    *ghosts = (struct hs_ghosts){0};
}

/* ---- evaluating ---------------------------------------------------------------------------- */

static double wall_coordinate(const struct hs_grid *grid, int face)
{
    const int axis = face_axis(face);
    return hs_grid_coordinate(grid, axis, face % 2 ? grid->points[axis] - 1 : 0);
}

/* Drive along row `row` of a face's table, in double. */
static void drive_row(const struct hs_ghosts *ghosts, int face, double t, int64_t row, double *out)
{
    const struct hs_grid *grid = &ghosts->problem->grid;
    const struct hs_expression *expression = &ghosts->problem->face[face].drive.expression;
    const int along = hs_face_first_axis(face), across = hs_face_second_axis(face);
    const double wall = wall_coordinate(grid, face);
    const double other = hs_grid_coordinate(grid, across, row);
    struct hs_expression turned = *expression;
    if (face_axis(face) == HS_X) {
        turned.code = ghosts->drive[face].turned;
        turned.varies = turn_axes(expression->varies);
    }
    hs_expression_row(&turned, grid->points[along], grid->lower[along], grid->spacing[along],
                      face_axis(face) == HS_Z ? other : wall,
                      face_axis(face) == HS_Z ? wall : other, t, out);
}

static void fill_table(const struct hs_ghosts *ghosts, int face, double t, void *table)
{
    const struct hs_grid *grid = &ghosts->problem->grid;
    const int64_t length = grid->points[hs_face_first_axis(face)],
                  rows = grid->points[hs_face_second_axis(face)];
    const enum hs_precision precision = ghosts->problem->precision;
#pragma omp parallel for num_threads(ghosts->threads) if (length * rows >= THREADS_FROM)
    for (int64_t row = 0; row < rows; row++) {
        double *values = ghosts->scratch + omp_get_thread_num() * ghosts->scratch_row;
        drive_row(ghosts, face, t, row, values);
        for (int64_t i = 0; i < length; i++)
            hs_write(precision, table, row * length + i, values[i]);
    }
}

static void evaluate(struct hs_ghosts *ghosts, int slot, int face, double t)
{
    const int n = slot * HS_FACES + face;
    const struct hs_grid *grid = &ghosts->problem->grid;
    const struct hs_value *drive = &ghosts->problem->face[face].drive;
    if (ghosts->table[n]) {
        fill_table(ghosts, face, t, ghosts->table[n]);
        return;
    }
    double at[HS_AXES] = {grid->lower[HS_X], grid->lower[HS_Y], grid->lower[HS_Z]};
    at[face_axis(face)] = wall_coordinate(grid, face);
    ghosts->value[n] = hs_value_at(drive, at[HS_X], at[HS_Y], at[HS_Z], t);
}

void hs_ghosts_at(struct hs_ghosts *ghosts, int slot, double t)
{
    const bool first = isnan(ghosts->time[slot]);
    if (ghosts->time[slot] == t)
        return;
    ghosts->time[slot] = t;
    for (int face = 0; face < HS_FACES; face++) {
        const struct hs_face_drive *drive = &ghosts->drive[face];
        const bool once = first && (slot == 0 || !drive->varies_face);
        if (drive->used && (drive->varies_time || once))
            evaluate(ghosts, slot, face, t);
    }
}

static const void *drive_table(const struct hs_ghosts *ghosts, int slot, int face)
{
    const struct hs_face_drive *drive = &ghosts->drive[face];
    return ghosts->table[(drive->varies_time ? slot : 0) * HS_FACES + face];
}

struct hs_face_level hs_ghosts_level(const struct hs_ghosts *ghosts, int in, int out)
{
    struct hs_face_level level;
    for (int face = 0; face < HS_FACES; face++) {
        level.drive[face] = ghosts->value[in * HS_FACES + face];
        level.hold[face] = ghosts->value[out * HS_FACES + face];
        level.drive_field[face] = drive_table(ghosts, in, face);
        level.hold_field[face] = drive_table(ghosts, out, face);
    }
    return level;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* One face of one field: its rows, of which the first is in `row`. */
struct work {
    hs_ghost_row_function *write;
    struct hs_ghost_row row;
    int64_t size;         /* bytes of a value */
    int64_t rows, across; /* and elements between them */
};

static struct work describe_work(const struct hs_ghosts *ghosts, enum hs_ghost_action action,
                                 int slot, int face, void *field)
{
    const int axis = face_axis(face);
    const struct hs_layout *layout = &ghosts->layout;
    const enum hs_precision precision = ghosts->problem->precision;
    const int64_t last = layout->points[axis] - 1, size = (int64_t)hs_precision_size(precision);
    return (struct work){
        .write = hs_ghost_row_find(action, precision),
        .row = {.edge = (char *)field + (face % 2 ? last * layout->pitch[axis] : 0) * size,
                .inward = face % 2 ? -layout->pitch[axis] : layout->pitch[axis],
                .along = layout->pitch[hs_face_first_axis(face)],
                .length = layout->points[hs_face_first_axis(face)],
                .extent = layout->points[axis],
                .depth = hs_face_depth(ghosts->problem, face),
                .rule = &ghosts->problem->face[face],
                .value = ghosts->value[slot * HS_FACES + face],
                .table = drive_table(ghosts, slot, face)},
        .size = size,
        .rows = layout->points[hs_face_second_axis(face)],
        .across = layout->pitch[hs_face_second_axis(face)],
    };
}

static void write_row(const struct work *work, int64_t n)
{
    struct hs_ghost_row row = work->row;
    row.edge = (char *)row.edge + n * work->across * work->size;
    if (row.table)
        row.table = (const char *)row.table + n * row.length * work->size;
    work->write(&row);
}

/* All rows of some faces, none of which reads or writes what another writes. */
static void write_faces(const struct work *work, int count, int threads)
{
    int64_t rows = 0, nodes = 0;
    for (int n = 0; n < count; n++) {
        rows += work[n].rows;
        nodes += work[n].rows * work[n].row.length;
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
        const bool wrap = ghosts->problem->face[face].wrap;
        if (hs_face_depth(ghosts->problem, face) > 0)
            work[count++] = describe_work(ghosts, wrap ? HS_WRAP : HS_GHOSTS, slot, face, field);
    }
    write_faces(work, count, ghosts->threads);
}

bool hs_ghosts_prescribed_vary(const struct hs_ghosts *ghosts)
{
    bool vary = false;
    for (int face = 0; face < HS_FACES; face++)
        vary = vary || (ghosts->problem->face[face].prescribed && ghosts->drive[face].varies_time);
    return vary;
}

void hs_ghosts_prescribe(const struct hs_ghosts *ghosts, int slot, void *field)
{
    for (int face = 0; face < 2 * ghosts->problem->grid.dims; face++)
        if (ghosts->problem->face[face].prescribed) {
            const struct work work = describe_work(ghosts, HS_HOLD, slot, face, field);
            write_faces(&work, 1, ghosts->threads);
        }
}
