/* An axis of the grid as control volumes see it: cells between nodes, and halves of cells. */
#ifndef HS_ENGINE_NETWORK_AXES_H
#define HS_ENGINE_NETWORK_AXES_H

#include "engine/network/network.h"

#include <math.h>

struct hs_axis {
    bool there, wrap;
    int64_t nodes, cells; /* cell i lies above node i */
    double *position;     /* m, [cells + 1], of the nodes */
    double *half;     /* m, [cells], behind them: half of a cell's width; 1 along a missing axis */
    double tolerance; /* m: places nearer than this differ by rounding only */
};

void hs_axes_init(struct hs_axis axis[HS_AXES], const struct hs_network_spec *spec);
void hs_axes_release(struct hs_axis axis[HS_AXES]);

/* The cell below (side 0) or above (1) a node; -1 beyond a wall. */
static inline int64_t hs_axis_cell(const struct hs_axis *axis, int64_t node, int side)
{
    if (side == 1)
        return node < axis->cells ? node : -1;
    return node > 0 ? node - 1 : axis->wrap ? axis->cells - 1 : -1;
}

/* The node above; -1 beyond a wall. */
static inline int64_t hs_axis_next(const struct hs_axis *axis, int64_t node)
{
    return node + 1 < axis->nodes ? node + 1 : axis->wrap ? 0 : -1;
}

/* m: to decide on which side of a surface they are, nodes and edges are taken this much lower along
 * each axis. So a surface right at a node counts as above it, and edges along all axes agree on it.
 * The axes differ, by numbers whose sums in small integers are not 0: or else a slanting surface
 * through nodes would still pass through them, and only rounding would tell its sides. */
static inline double hs_axis_beside(const struct hs_axis *of, int axis)
{
    return 4.0 * sqrt(1.0 + axis) * of->tolerance;
}

/* The two other axes, the lower one first. */
static inline int hs_axis_across(int axis, int which)
{
    return which < axis ? which : which + 1;
}

/* The exact multiple if all are equal, and the same bits if they are mirrored. */
static inline double hs_sum_of_4(const double x[4])
{
    return (x[0] + x[1]) + (x[2] + x[3]);
}

/* Sorts `count` places between lo and hi, keeps one of those nearer to each other than the
 * tolerance, and puts lo and hi around them. Returns how many there are; `place` has room for two
 * more. */
int hs_axis_places(const struct hs_axis *axis, double lo, double hi, int count, double *place);

#endif
