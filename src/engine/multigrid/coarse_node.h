/*
 * Makes a node of the next coarser network, and the weights of an eliminated node (coarsen.h), for
 * loops on the host and on a device.
 */
#ifndef HS_ENGINE_MULTIGRID_COARSE_NODE_H
#define HS_ENGINE_MULTIGRID_COARSE_NODE_H

#include "core/host_device.h"
#include "engine/multigrid/coarsen.h"

#include <math.h>

/* What coarse nodes are made from, and the network that they go to. */
struct hs_coarse_work {
    const struct hs_coarse_network *fine;
    const struct hs_coarse_step *step;
    struct hs_coarse_network *coarse;
    int64_t stride[HS_AXES]; /* of fine nodes */
};

static inline HS_HOST_DEVICE bool hs_coarse_is_held(const struct hs_coarse_work *work, int64_t node)
{
    return isinf(work->fine->sink[node]);
}

/* An eliminated node: the place of the coarse node before it, and its index among fine nodes. */
struct hs_coarse_gone {
    int64_t place, node;
};

static inline HS_HOST_DEVICE struct hs_coarse_gone
hs_coarse_gone_after(const struct hs_coarse_work *work, const int64_t coarse[HS_AXES])
{
    const struct hs_coarse_step *step = work->step;
    const int64_t *n = step->coarse.n;
    int64_t at[HS_AXES] = {coarse[HS_X], coarse[HS_Y], coarse[HS_Z]};
    struct hs_coarse_gone gone;
    gone.place = at[HS_X] + n[HS_X] * (at[HS_Y] + n[HS_Y] * at[HS_Z]);
    at[step->axis] = hs_kept_place(&step->kept, at[step->axis]) + 1;
    gone.node = at[HS_X] + work->stride[HS_Y] * at[HS_Y] + work->stride[HS_Z] * at[HS_Z];
    return gone;
}

/* The mean sink of an eliminated node's neighbours along the axis, without those of fixed
 * temperature. */
static inline HS_HOST_DEVICE float hs_coarse_sink_beside(const struct hs_coarse_work *work,
                                                         int64_t place, int64_t node)
{
    const struct hs_coarse_network *fine = work->fine;
    const int axis = work->step->axis;
    float sum = 0.0f;
    int count = 0;
    for (int side = -1; side <= 1; side += 2) {
        const int64_t to =
            hs_lattice_next(&fine->lattice, axis, place, work->stride[axis], side, node);
        if (to < 0 || hs_coarse_is_held(work, to))
            continue;
        sum += fine->sink[to];
        count++;
    }
    return count > 0 ? sum / (float)count : 0.0f;
}

/* Weights of the eliminated node that follows the coarse one at (i, j, k); 0 if there is none. */
static inline HS_HOST_DEVICE void hs_coarse_weigh(const struct hs_coarse_work *work,
                                                  const int64_t at[HS_AXES])
{
    const struct hs_coarse_network *fine = work->fine;
    const struct hs_coarse_step *step = work->step;
    const int axis = step->axis;
    const struct hs_coarse_gone gone = hs_coarse_gone_after(work, at);
    step->before[gone.place] = step->after[gone.place] = 0.0f;
    if (!hs_kept_skips(&step->kept, at[axis]))
        return;
    const int64_t place = hs_kept_place(&step->kept, at[axis]) + 1;
    const float before = fine->edge[axis][gone.node - work->stride[axis]];
    const float after = fine->edge[axis][gone.node], own = fine->sink[gone.node];
    const float excess = own - hs_coarse_sink_beside(work, place, gone.node);
    const float sum = before + after + (excess > 0.0f ? excess : 0.0f);
    if (isinf(sum) || sum == 0.0f)
        return;
    step->before[gone.place] = before / sum;
    step->after[gone.place] = after / sum;
}

/* Adds to a coarse node what an eliminated neighbour leaves it: by the neighbour's weight, parts of
 * its sink and of its edges across the axis. Edges to nodes of fixed temperature become sinks. */
static inline HS_HOST_DEVICE void hs_coarse_take(const struct hs_coarse_work *work,
                                                 const struct hs_coarse_gone *gone,
                                                 const float *weights, float edge,
                                                 const int64_t at[HS_AXES], float *sink,
                                                 float across[HS_AXES])
{
    const struct hs_coarse_network *fine = work->fine;
    const float own = fine->sink[gone->node], weight = weights[gone->place];
    if (isinf(own))
        *sink += edge;
    else
        *sink += weight * own;
    const struct hs_lattice *coarse = &work->step->coarse;
    int64_t stride = 1;
    for (int axis = 0; axis < HS_AXES; axis++) {
        if (axis == work->step->axis || !fine->edge[axis]) {
            stride *= coarse->n[axis];
            continue;
        }
        for (int side = -1; side <= 1; side += 2) {
            const int64_t to = hs_lattice_next(&fine->lattice, axis, at[axis], work->stride[axis],
                                               side, gone->node);
            if (to < 0)
                continue;
            const float g = fine->edge[axis][side > 0 ? gone->node : to];
            const int64_t place =
                hs_lattice_next(&fine->lattice, axis, at[axis], stride, side, gone->place);
            if (hs_coarse_is_held(work, to))
                *sink += weight * g;
            else if (side > 0 && !isinf(own))
                across[axis] += 0.5f * g * (weight + weights[place]);
        }
        stride *= coarse->n[axis];
    }
}

/* Makes the coarse node at (i, j, k); `place` is its index among the coarse nodes. */
static inline HS_HOST_DEVICE void hs_coarse_make_node(const struct hs_coarse_work *work,
                                                      const int64_t at[HS_AXES], int64_t place)
{
    const struct hs_coarse_network *fine = work->fine;
    const struct hs_coarse_step *step = work->step;
    const int axis = step->axis;
    const bool wrap = step->fine.wrap[axis];
    int64_t node = 0;
    for (int a = 0; a < HS_AXES; a++)
        node += work->stride[a] * (a == axis ? hs_kept_place(&step->kept, at[a]) : at[a]);
    float sink = fine->sink[node], along = 0.0f, across[HS_AXES] = {0.0f, 0.0f, 0.0f};
    for (int a = 0; a < HS_AXES; a++)
        if (a != axis && fine->edge[a])
            across[a] = fine->edge[a][node];
    int64_t other[HS_AXES] = {at[HS_X], at[HS_Y], at[HS_Z]};
    if (hs_kept_skips(&step->kept, at[axis])) {
        const struct hs_coarse_gone gone = hs_coarse_gone_after(work, other);
        along = fine->edge[axis][node] * step->after[gone.place];
        hs_coarse_take(work, &gone, step->before, fine->edge[axis][node], at, &sink, across);
    } else if (at[axis] + 1 < step->kept.count || wrap)
        along = fine->edge[axis][node];
    other[axis] = hs_kept_before(&step->kept, wrap, at[axis]);
    if (other[axis] >= 0) {
        const struct hs_coarse_gone gone = hs_coarse_gone_after(work, other);
        hs_coarse_take(work, &gone, step->after, fine->edge[axis][gone.node], at, &sink, across);
    }
    work->coarse->sink[place] = sink;
    for (int a = 0; a < HS_AXES; a++)
        if (work->coarse->edge[a])
            work->coarse->edge[a][place] = a == axis ? along : across[a];
}

/* Sets up all of `step` but its weights, which are the caller's. */
static inline struct hs_coarse_work hs_coarse_work_of(const struct hs_coarse_network *fine,
                                                      int axis, const struct hs_kept *kept,
                                                      struct hs_coarse_step *step,
                                                      struct hs_coarse_network *coarse)
{
    const int64_t *n = fine->lattice.n;
    struct hs_coarse_work work;
    work.fine = fine;
    work.step = step;
    work.coarse = coarse;
    work.stride[HS_X] = 1;
    work.stride[HS_Y] = n[HS_X];
    work.stride[HS_Z] = n[HS_X] * n[HS_Y];
    step->axis = axis;
    step->kept = *kept;
    step->fine = step->coarse = fine->lattice;
    step->before = step->after = NULL;
    step->coarse.n[axis] = kept->count;
    step->coarse.wrap[axis] = fine->lattice.wrap[axis] && kept->count > 1;
    return work;
}

#endif
