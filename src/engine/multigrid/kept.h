/*
 * Which nodes of a level are kept on the next one, and how long its cells are.
 *
 * Smoothing evens out the error along strong edges, and short edges are strong. So nodes are
 * dropped where they lie close together: a node goes if its two cells together are at most a given
 * length, and its neighbours stay. Where all cells are alike every second node goes. Along a
 * stretched axis nodes go in the dense parts, until after some levels those cells are as long as
 * the others. The unit of length along an axis is the square root of the conductivity along it.
 */
#ifndef HS_ENGINE_MULTIGRID_KEPT_H
#define HS_ENGINE_MULTIGRID_KEPT_H

#include "core/grid.h"
#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_lattice {
    int64_t n[HS_AXES];
    bool wrap[HS_AXES]; /* periodic axes of two nodes or more */
};

/* The nodes of a grid. */
static inline struct hs_lattice hs_kept_lattice(const struct hs_grid *grid,
                                                const bool wrap[HS_AXES])
{
    struct hs_lattice lattice;
    for (int axis = 0; axis < HS_AXES; axis++) {
        lattice.n[axis] = grid->points[axis];
        lattice.wrap[axis] = wrap[axis];
    }
    return lattice;
}

static inline HS_HOST_DEVICE int64_t hs_lattice_count(const struct hs_lattice *lattice)
{
    return lattice->n[HS_X] * lattice->n[HS_Y] * lattice->n[HS_Z];
}

/* hs_next_node along an axis. */
static inline HS_HOST_DEVICE int64_t hs_lattice_next(const struct hs_lattice *lattice, int axis,
                                                     int64_t at, int64_t stride, int side,
                                                     int64_t node)
{
    return hs_next_node(lattice->n[axis], lattice->wrap[axis], at, stride, side, node);
}

/* The kept nodes of n along an axis. The first node is kept. Between two kept nodes at most one is
 * dropped. */
struct hs_kept {
    int64_t n, count;
    const int64_t *place; /* [count + 1]; the last one is n. NULL: every second node */
    /* [runs + 1] kept nodes at which runs begin, from 0 to count. Within a run a node is dropped
     * after every kept node, or after none. On the host. */
    int64_t runs;
    const int64_t *run;
};

static inline HS_HOST_DEVICE int64_t hs_kept_place(const struct hs_kept *kept, int64_t c)
{
    return kept->place ? kept->place[c] : 2 * c;
}

/* Whether a node is dropped after the c-th kept one. */
static inline HS_HOST_DEVICE bool hs_kept_skips(const struct hs_kept *kept, int64_t c)
{
    return kept->place ? kept->place[c + 1] - kept->place[c] == 2 : 2 * c + 1 < kept->n;
}

/* The kept node before the c-th one, if a node is dropped between the two; else -1. */
static inline HS_HOST_DEVICE int64_t hs_kept_before(const struct hs_kept *kept, bool wrap,
                                                    int64_t c)
{
    const int64_t before = c > 0 ? c - 1 : wrap ? kept->count - 1 : -1;
    return before >= 0 && hs_kept_skips(kept, before) ? before : -1;
}

/* Keeps those of n nodes at `place` [count], which leaves out at least one; NULL: every second
 * node. False: out of memory. Release in either case. */
bool hs_kept_init(struct hs_kept *kept, int64_t n, int64_t count, const int64_t *place);
void hs_kept_release(struct hs_kept *kept);

struct hs_spans {
    int64_t count[HS_AXES];  /* cells along each axis */
    double *length[HS_AXES]; /* [n] m, from a node to the next; beyond the last cell, that cell's */
    double *square[HS_AXES]; /* [n] the square of the length over the cells' mean length */
};

/* The lattice may have more nodes than the grid, at the end of an axis. False: out of memory.
 * Release in either case. */
bool hs_spans_init(struct hs_spans *spans, const struct hs_grid *grid,
                   const struct hs_lattice *lattice);
void hs_spans_release(struct hs_spans *spans);

/* Merges cells to those between kept nodes. */
void hs_spans_merge(struct hs_spans *spans, const struct hs_kept kept[HS_AXES]);

/* strength: for each axis, the sum over nodes of the share that edges along this axis have in all
 * edges of the node, with each edge multiplied by the square of its cell. Axes along which no node
 * is dropped have count n. False: out of memory. Release in either case. */
bool hs_kept_choose(const struct hs_spans *spans, const struct hs_lattice *lattice,
                    const double strength[HS_AXES], struct hs_kept kept[HS_AXES]);

/* Nodes of all levels, and of the coarse sides of all steps, as multiples of the grid's nodes, as
 * if it conducted equally along all axes. */
struct hs_kept_sizes {
    double levels, steps;
};
struct hs_kept_sizes hs_kept_estimate(const struct hs_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
