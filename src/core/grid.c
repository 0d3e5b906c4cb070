#include "core/grid.h"
#include "core/round.h"
#include "core/text.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

size_t hs_precision_size(enum hs_precision precision)
{
    return precision == HS_FLOAT ? sizeof(float) : sizeof(double);
}

double hs_precision_epsilon(enum hs_precision precision)
{
    return precision == HS_FLOAT ? FLT_EPSILON : DBL_EPSILON;
}

double hs_precision_most(enum hs_precision precision)
{
    return precision == HS_FLOAT ? (double)FLT_MAX : 1e300;
}

const char *hs_precision_name(enum hs_precision precision)
{
    return precision == HS_FLOAT ? "float" : "double";
}

const char *hs_face_name(int face)
{
    static const char *const names[HS_FACES] = {"x_min", "x_max", "y_min",
                                                "y_max", "z_min", "z_max"};
    return names[face];
}

int hs_face_first_axis(int face)
{
    return face / 2 == HS_X ? HS_Y : HS_X;
}

int hs_face_second_axis(int face)
{
    return face / 2 == HS_Z ? HS_Y : HS_Z;
}

int64_t hs_grid_count(const struct hs_grid *grid)
{
    return grid->points[HS_X] * grid->points[HS_Y] * grid->points[HS_Z];
}

int64_t hs_grid_longest(const struct hs_grid *grid)
{
    return hs_larger(grid->points[HS_X], hs_larger(grid->points[HS_Y], grid->points[HS_Z]));
}

double hs_grid_coordinate(const struct hs_grid *grid, int axis, int64_t i)
{
    const double *places = hs_grid_places(grid, axis);
    return places ? places[i] : grid->lower[axis] + (double)i * grid->spacing[axis];
}

int64_t hs_grid_index(const struct hs_grid *grid, const int64_t node[HS_AXES])
{
    return (node[HS_Z] * grid->points[HS_Y] + node[HS_Y]) * grid->points[HS_X] + node[HS_X];
}

void hs_grid_node(const struct hs_grid *grid, int64_t index, int64_t node[HS_AXES])
{
    node[HS_X] = index % grid->points[HS_X];
    node[HS_Y] = index / grid->points[HS_X] % grid->points[HS_Y];
    node[HS_Z] = index / grid->points[HS_X] / grid->points[HS_Y];
}

bool hs_grid_is_stretched(const struct hs_grid *grid)
{
    bool stretched = false;
    for (int axis = 0; axis < grid->dims; axis++)
        stretched = stretched || grid->coordinate[axis];
    return stretched;
}

double hs_grid_cell(const struct hs_grid *grid, int axis, int64_t i)
{
    return grid->coordinate[axis] ? grid->coordinate[axis][i + 1] - grid->coordinate[axis][i]
                                  : grid->spacing[axis];
}

double hs_grid_node_width(const struct hs_grid *grid, int axis, bool wraps, int64_t i)
{
    const int64_t last = grid->points[axis] - 1;
    const double below = i > 0   ? hs_grid_cell(grid, axis, i - 1)
                         : wraps ? hs_grid_cell(grid, axis, last)
                                 : 0.0;
    const double above = i < last || wraps ? hs_grid_cell(grid, axis, i) : 0.0;
    return 0.5 * (below + above);
}

void hs_grid_cells(const struct hs_grid *grid, int axis, bool wraps, double out[2])
{
    const int64_t cells = grid->points[axis] - !wraps;
    out[0] = out[1] = grid->spacing[axis];
    for (int64_t i = 0; i < cells && grid->coordinate[axis]; i++)
        out[1] = fmax(out[1], hs_grid_cell(grid, axis, i));
}

int64_t hs_interval_of(const double *from, int64_t count, double at)
{
    int64_t below = 0, above = count;
    while (above - below > 1) {
        const int64_t middle = below + (above - below) / 2;
        *(from[middle] <= at ? &below : &above) = middle;
    }
    return below;
}

double hs_grid_place(const struct hs_grid *grid, int axis, bool wraps, double at)
{
    if (!grid->coordinate[axis])
        return (at - grid->lower[axis]) / grid->spacing[axis];
    const int64_t cells = grid->points[axis] - !wraps;
    const int64_t below = hs_interval_of(grid->coordinate[axis], cells, at);
    return (double)below +
           (at - hs_grid_coordinate(grid, axis, below)) / hs_grid_cell(grid, axis, below);
}

int64_t hs_grid_face_index(const struct hs_grid *grid, int face)
{
    return face % 2 ? grid->points[face / 2] - 1 : 0;
}

int64_t hs_grid_face_count(const struct hs_grid *grid, int face)
{
    return grid->points[hs_face_first_axis(face)] * grid->points[hs_face_second_axis(face)];
}

void hs_grid_face_node(const struct hs_grid *grid, int face, int64_t place, int64_t node[HS_AXES])
{
    const int first = hs_face_first_axis(face), second = hs_face_second_axis(face);
    node[face / 2] = hs_grid_face_index(grid, face);
    node[first] = place % grid->points[first];
    node[second] = place / grid->points[first];
}

void hs_points_name(int dims, const int64_t *points, const char *between, char *out, size_t size)
{
    out[0] = '\0';
    for (int axis = 0; axis < dims; axis++)
        hs_text_append(out, size, "%s%lld", axis ? between : "", (long long)points[axis]);
}

void hs_grid_name_points(const struct hs_grid *grid, char *out, size_t size)
{
    hs_points_name(grid->dims, grid->points, " x ", out, size);
}

void hs_grid_name_node(const struct hs_grid *grid, const int64_t node[HS_AXES], char *out,
                       size_t size)
{
    static const char axis_name[] = "xyz";
    char place[3 * 24];
    hs_points_name(grid->dims, node, ", ", place, sizeof place);
    snprintf(out, size, "node (%s)", place);
    for (int axis = 0; axis < grid->dims; axis++)
        hs_text_append(out, size, ", %c = %.6g", axis_name[axis],
                       hs_grid_coordinate(grid, axis, node[axis]));
    hs_text_append(out, size, " m");
}

struct hs_box hs_grid_box(const struct hs_grid *grid)
{
    struct hs_box box = {{0, 0, 0}, {0, 0, 0}};
    for (int axis = 0; axis < HS_AXES; axis++)
        box.hi[axis] = grid->points[axis];
    return box;
}

struct hs_box hs_grid_rows_at(const struct hs_grid *grid, size_t size, int64_t j, int64_t k)
{
    enum { BYTES = 4 << 20 }; /* unless a row is longer */
    const int64_t *points = grid->points, ny = points[HS_Y];
    const int64_t row = points[HS_X] * (int64_t)size;
    const int64_t rows = row < BYTES ? BYTES / row : 1;
    const int64_t planes = rows < ny ? 1 : rows / ny;
    return (struct hs_box){
        {0, j, k}, {points[HS_X], hs_smaller(j + rows, ny), hs_smaller(k + planes, points[HS_Z])}};
}

struct hs_box hs_grid_face_box(const struct hs_grid *grid, int face)
{
    struct hs_box box = hs_grid_box(grid);
    box.lo[face / 2] = hs_grid_face_index(grid, face);
    box.hi[face / 2] = box.lo[face / 2] + 1;
    return box;
}

int64_t hs_box_count(const struct hs_box *box)
{
    int64_t count = 1;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t length = box->hi[axis] - box->lo[axis];
        count *= length > 0 ? length : 0;
    }
    return count;
}

/* Planes first, so that few boxes have short rows. */
int hs_box_shell(const struct hs_box *box, const struct hs_box *inside, struct hs_box out[HS_FACES])
{
    struct hs_box rest = *box;
    int count = 0;
    for (int axis = HS_AXES - 1; axis >= 0; axis--) {
        struct hs_box side[] = {rest, rest};
        side[0].hi[axis] = rest.lo[axis] = inside->lo[axis];
        side[1].lo[axis] = rest.hi[axis] = inside->hi[axis];
        for (int n = 0; n < 2; n++)
            if (hs_box_count(&side[n]) > 0)
                out[count++] = side[n];
    }
    return count;
}

struct hs_layout hs_layout_make(const struct hs_grid *grid, int ghost, int64_t align)
{
    assert(ghost >= 0 && align >= ghost && (align & (align - 1)) == 0);
    struct hs_layout layout = {.ghost = ghost};
    int64_t around[HS_AXES]; /* ghost layers on one side */
    for (int axis = 0; axis < HS_AXES; axis++) {
        layout.points[axis] = grid->points[axis];
        around[axis] = axis < grid->dims ? ghost : 0;
    }
    layout.pitch[HS_X] = 1;
    layout.pitch[HS_Y] = hs_round_up(grid->points[HS_X] + 2 * (int64_t)ghost, align);
    layout.pitch[HS_Z] = layout.pitch[HS_Y] * (grid->points[HS_Y] + 2 * around[HS_Y]);
    layout.origin = align + around[HS_Y] * layout.pitch[HS_Y] + around[HS_Z] * layout.pitch[HS_Z];
    /* one more gap at the end, for the last row's right ghosts */
    layout.elements = align + layout.pitch[HS_Z] * (grid->points[HS_Z] + 2 * around[HS_Z]) + align;
    return layout;
}

double hs_layout_bytes(const struct hs_grid *grid, int ghost, int64_t align,
                       enum hs_precision precision)
{
    double bytes = (double)hs_precision_size(precision);
    for (int axis = 0; axis < HS_AXES; axis++) {
        const double around = axis < grid->dims ? 2.0 * ghost : 0.0;
        bytes *= (double)grid->points[axis] + around + (axis == HS_X ? (double)align : 0.0);
    }
    return bytes;
}

struct hs_layout hs_layout_moved(struct hs_layout layout, int64_t elements)
{
    layout.origin += elements;
    layout.elements += elements;
    return layout;
}
