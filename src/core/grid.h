/*
 * The grid, boxes in it, and the memory layout of a field on it.
 *
 * `points` counts nodes along each axis, boundary nodes included. Node i along an axis lies at
 * lower + i*spacing or, where the axis is stretched, at coordinate[i]: hs_grid_coordinate. Axes are
 * numbered x = 0, y = 1, z = 2; a 1D grid has points {n, 1, 1}.
 */
#ifndef HS_CORE_GRID_H
#define HS_CORE_GRID_H

#include "core/host_device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HS_X = 0, HS_Y = 1, HS_Z = 2, HS_AXES = 3 };
enum { HS_MAX_RADIUS = 3 };

/* The two faces of an axis are adjacent, the lower one first: face f belongs to axis f / 2. */
enum { HS_FACES = 2 * HS_AXES };
const char *hs_face_name(int face); /* "x_min", "x_max", "y_min", ... */

/* The two axes that span a face. Its nodes are numbered with the first axis fastest. */
int hs_face_first_axis(int face);
int hs_face_second_axis(int face);

enum hs_precision { HS_FLOAT, HS_DOUBLE, HS_PRECISIONS };

size_t hs_precision_size(enum hs_precision precision);      /* bytes of one value */
double hs_precision_epsilon(enum hs_precision precision);   /* from 1 to the next number */
const char *hs_precision_name(enum hs_precision precision); /* "float", "double" */

/* Largest |T| allowed in a field. Doubles go higher, but the sum over a field must not overflow. */
double hs_precision_most(enum hs_precision precision);

/* Reads or writes one value of an array in that precision. Writing to floats rounds. */
static inline double hs_read(enum hs_precision precision, const void *field, int64_t element)
{
    return precision == HS_FLOAT ? (double)((const float *)field)[element]
                                 : ((const double *)field)[element];
}

static inline void hs_write(enum hs_precision precision, void *field, int64_t element, double value)
{
    if (precision == HS_FLOAT)
        ((float *)field)[element] = (float)value;
    else
        ((double *)field)[element] = value;
}

struct hs_grid {
    int dims;                /* 1, 2 or 3 */
    int64_t points[HS_AXES]; /* 1 along axes that are not there */
    double lower[HS_AXES];   /* m; 0 along axes that are not there */
    double spacing[HS_AXES]; /* m; 1 along axes that are not there; the least cell if stretched */
    /* m, increasing: the nodes of a stretched axis. [points], or [points + 1] if it is periodic,
     * where the last entry is the position at which the first node recurs. NULL: uniform. Owned by
     * the problem. */
    const double *coordinate[HS_AXES];
    /* Only for a slab (core/slab.h), along its last axis: the index in the whole grid of node 0
     * here, the number of nodes of the whole grid (after which its first node follows again), and
     * the node positions [m], [points]. 0 and NULL: not a slab. */
    int64_t first, whole;
    const double *place;
};

/* The node positions along an axis [m], as an array; NULL if the axis is uniform. */
static inline const double *hs_grid_places(const struct hs_grid *grid, int axis)
{
    return grid->place && axis == grid->dims - 1 ? grid->place : grid->coordinate[axis];
}

int64_t hs_grid_count(const struct hs_grid *grid);
int64_t hs_grid_longest(const struct hs_grid *grid);   /* points of the longest axis */
bool hs_grid_is_stretched(const struct hs_grid *grid); /* along any axis */

/* The node's index in a dense field, [nz][ny][nx]. */
int64_t hs_grid_index(const struct hs_grid *grid, const int64_t node[HS_AXES]);
/* The node with that index. */
void hs_grid_node(const struct hs_grid *grid, int64_t index, int64_t node[HS_AXES]);

/* The neighbour of `node` before or after it (side -1, 1) along an axis of n nodes, where `at` is
 * the node's place along the axis and `stride` the number of nodes between neighbours; -1: none. */
static inline HS_HOST_DEVICE int64_t hs_next_node(int64_t n, bool wraps, int64_t at, int64_t stride,
                                                  int side, int64_t node)
{
    const int64_t to = at + side;
    if (to >= 0 && to < n)
        return node + side * stride;
    return wraps ? node - side * (n - 1) * stride : -1;
}

/* m. On a periodic axis also for node `points`: the position at which the first node recurs. */
double hs_grid_coordinate(const struct hs_grid *grid, int axis, int64_t i);

/* m: from node i to the next. */
double hs_grid_cell(const struct hs_grid *grid, int axis, int64_t i);

/* m: length of the axis that is nearer to node i than to any other; `wraps`: a periodic axis. */
double hs_grid_node_width(const struct hs_grid *grid, int axis, bool wraps, int64_t i);

/* The smallest and the largest cell of an axis [m]. */
void hs_grid_cells(const struct hs_grid *grid, int axis, bool wraps, double out[2]);

/* Index of the last of `count` ascending values that is not larger than `at`; 0 if none is. */
int64_t hs_interval_of(const double *from, int64_t count, double at);

/* Position of `at` [m] along an axis, in cells: 2.5 is half-way between nodes 2 and 3. Outside the
 * axis the outermost cells are extrapolated. */
double hs_grid_place(const struct hs_grid *grid, int axis, bool wraps, double at);

/* The index of a face's nodes along its own axis; the number of its nodes. */
int64_t hs_grid_face_index(const struct hs_grid *grid, int face);
int64_t hs_grid_face_count(const struct hs_grid *grid, int face);
/* The node at index `place` of a table of the face's nodes, with the lower axis fastest. */
void hs_grid_face_node(const struct hs_grid *grid, int face, int64_t place, int64_t node[HS_AXES]);

enum { HS_POINTS_TEXT = 72 }; /* enough for the next two functions */

/* "129x65x33" */
void hs_points_name(int dims, const int64_t *points, const char *between, char *out, size_t size);

/* "129 x 65 x 33": the axes that the grid has. */
void hs_grid_name_points(const struct hs_grid *grid, char *out, size_t size);

/* "node (3, 4), x = 0.1, y = 0.2 m" */
void hs_grid_name_node(const struct hs_grid *grid, const int64_t node[HS_AXES], char *out,
                       size_t size);

/* Half-open: lo <= i < hi along each axis. */
struct hs_box {
    int64_t lo[HS_AXES];
    int64_t hi[HS_AXES];
};

struct hs_box hs_grid_box(const struct hs_grid *grid); /* all nodes */
/* The grid can be processed in boxes of some MB, each of whole rows. Returns the box that begins at
 * row (j, k); `size`: bytes of a value. */
struct hs_box hs_grid_rows_at(const struct hs_grid *grid, size_t size, int64_t j, int64_t k);
struct hs_box hs_grid_face_box(const struct hs_grid *grid, int face);
int64_t hs_box_count(const struct hs_box *box); /* 0 if empty along any axis */
/* The part of `box` outside `inside`, which it contains, as disjoint boxes; returns how many. */
int hs_box_shell(const struct hs_box *box, const struct hs_box *inside,
                 struct hs_box out[HS_FACES]);

/*
 * A field in a backend's memory: the nodes and `ghost` layers on both sides of each axis that the
 * grid has. Rows begin at multiples of `align` elements; the right ghosts of a row and the left
 * ghosts of the next row share one gap. With -ghost <= i < nx + ghost:
 *
 *     element of node (i, j, k) = origin + i + j*pitch[HS_Y] + k*pitch[HS_Z]
 */
struct hs_layout {
    int64_t points[HS_AXES];
    int ghost;              /* layers kept around the grid: the stencil's radius */
    int64_t pitch[HS_AXES]; /* elements; pitch[HS_X] is 1 */
    int64_t origin;         /* elements before node (0, 0, 0); a multiple of align, unless moved */
    int64_t elements;       /* size of the whole allocation */
};

/* `align`: in elements, a power of two, at least `ghost`. */
struct hs_layout hs_layout_make(const struct hs_grid *grid, int ghost, int64_t align);

/* Approximate bytes of a field in such a layout, in floating point: a grid too large for memory may
 * have a size too large for an integer. */
double hs_layout_bytes(const struct hs_grid *grid, int ghost, int64_t align,
                       enum hs_precision precision);

/* The same layout with all nodes moved up by `elements`, which is less than `align`. */
struct hs_layout hs_layout_moved(struct hs_layout layout, int64_t elements);

static inline int64_t hs_layout_offset(const struct hs_layout *layout, int64_t i, int64_t j,
                                       int64_t k)
{
    return i + j * layout->pitch[HS_Y] + k * layout->pitch[HS_Z]; /* from node (0, 0, 0) */
}

/* The same for a node by its index in the grid. */
static inline int64_t hs_layout_node(const struct hs_layout *layout, int64_t index)
{
    const int64_t nx = layout->points[HS_X], ny = layout->points[HS_Y];
    return hs_layout_offset(layout, index % nx, index / nx % ny, index / nx / ny);
}

#ifdef __cplusplus
}
#endif

#endif
