/*
 * Which nodes of a level stay on the next one, and how long its cells are.
 *
 * Smoothing evens out what strong edges connect, and those are short. So nodes go where they lie
 * close: one whose two cells are together at most so long, the nodes beside it staying. Of cells
 * that are all alike every second node goes; along a stretched axis those of its dense parts, until
 * from level to level its cells have become as long as the others. Lengths along an axis are
 * counted in roots of the conductivity along it.
 */
#ifndef HS_ENGINE_MULTIGRID_KEPT_H
#define HS_ENGINE_MULTIGRID_KEPT_H

#include "core/grid.h"
#include "core/host_device.h"
#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_lattice {
    int64_t n[HS_AXES];
    bool wrap[HS_AXES]; /* periodic axes of two nodes or more */
};

static inline HS_HOST_DEVICE int64_t hs_lattice_count(const struct hs_lattice *lattice)
{
    return lattice->n[HS_X] * lattice->n[HS_Y] * lattice->n[HS_Z];
}

/* The node before or after one along an axis (side -1, 1), of which `at` is the place and `stride`
 * the nodes between neighbours; -1: none. */
static inline HS_HOST_DEVICE int64_t hs_lattice_next(const struct hs_lattice *lattice, int axis,
                                                     int64_t at, int64_t stride, int side,
                                                     int64_t node)
{
    const int64_t n = lattice->n[axis], to = at + side;
    if (to >= 0 && to < n)
        return node + side * stride;
    return lattice->wrap[axis] ? node - side * (n - 1) * stride : -1;
}

/* Those that stay of n along an axis; the first one does. Between two of them at most one goes. */
struct hs_kept {
    int64_t n, count;
    const int64_t *place; /* [count + 1]; the last one is n. NULL: every second one */
    /* [runs + 1] of those that stay, from 0 to count: of a run one goes after each, or after none.
     * On the host. */
    int64_t runs;
    const int64_t *run;
};

static inline HS_HOST_DEVICE int64_t hs_kept_place(const struct hs_kept *kept, int64_t c)
{
    return kept->place ? kept->place[c] : 2 * c;
}

/* One goes after the c-th that stays. */
static inline HS_HOST_DEVICE bool hs_kept_skips(const struct hs_kept *kept, int64_t c)
{
    return kept->place ? kept->place[c + 1] - kept->place[c] == 2 : 2 * c + 1 < kept->n;
}

/* The one that stays and is followed by the one that goes before the c-th; -1: none goes there. */
static inline HS_HOST_DEVICE int64_t hs_kept_before(const struct hs_kept *kept, bool wrap,
                                                    int64_t c)
{
    const int64_t before = c > 0 ? c - 1 : wrap ? kept->count - 1 : -1;
    return before >= 0 && hs_kept_skips(kept, before) ? before : -1;
}

/* Of n nodes those at `place` [count], of which at least one goes; NULL: every second one. False:
 * out of memory. Either way to be released. */
bool hs_kept_init(struct hs_kept *kept, int64_t n, int64_t count, const int64_t *place);
void hs_kept_release(struct hs_kept *kept);

struct hs_spans {
    int64_t count[HS_AXES];  /* along each axis */
    double *length[HS_AXES]; /* [n] m, from a node to the next; behind the last cell, as it */
    double *square[HS_AXES]; /* [n] of the same over the cells' mean */
};

/* The lattice may have more nodes than the grid, in the end of an axis. False: out of memory.
 * Either way to be released. */
bool hs_spans_init(struct hs_spans *spans, const struct hs_grid *grid,
                   const struct hs_lattice *lattice);
void hs_spans_release(struct hs_spans *spans);

/* Between nodes that stay. */
void hs_spans_merge(struct hs_spans *spans, const struct hs_kept kept[HS_AXES]);

/* strength: the sums along each axis of the shares that edges have of a node's, each edge times the
 * square of its cell. Axes of which no node goes have count n. False: out of memory. Either way to
 * be released. */
bool hs_kept_choose(const struct hs_spans *spans, const struct hs_lattice *lattice,
                    const double strength[HS_AXES], struct hs_kept kept[HS_AXES]);

/* Nodes of all levels and of all steps' coarse sides, over those of the grid, as if it conducted
 * alike along all axes. */
struct hs_kept_sizes {
    double levels, steps;
};
struct hs_kept_sizes hs_kept_estimate(const struct hs_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
