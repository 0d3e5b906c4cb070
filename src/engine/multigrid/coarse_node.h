/*
 * A node of the next coarser network, and the weights of one that is eliminated, as coarsen.h says:
 * for the host's loops and for those of a device.
 */
#ifndef HS_ENGINE_MULTIGRID_COARSE_NODE_H
#define HS_ENGINE_MULTIGRID_COARSE_NODE_H

#include "core/host_device.h"
#include "engine/multigrid/coarsen.h"

#include <math.h>

/* What the making of coarse nodes reads. */
struct hs_coarse_work {
    const struct hs_coarse_network *fine;
    const struct hs_coarse_step *step;
    struct hs_coarse_network *coarse;
    int64_t stride[HS_AXES]; /* of fine nodes */
    int64_t odd[HS_AXES];    /* odd nodes along each axis */
};

static inline HS_HOST_DEVICE bool hs_coarse_is_held(const struct hs_coarse_work *work, int64_t node)
{
    return isinf(work->fine->sink[node]);
}

/* An odd node: its place among these, and the fine node. */
struct hs_coarse_odd {
    int64_t place, node;
};

static inline HS_HOST_DEVICE struct hs_coarse_odd
hs_coarse_odd_at(const struct hs_coarse_work *work, const int64_t coarse[HS_AXES])
{
    int64_t at[HS_AXES] = {coarse[HS_X], coarse[HS_Y], coarse[HS_Z]};
    struct hs_coarse_odd odd;
    odd.place = at[HS_X] + work->odd[HS_X] * (at[HS_Y] + work->odd[HS_Y] * at[HS_Z]);
    at[work->step->axis] = 2 * at[work->step->axis] + 1;
    odd.node = at[HS_X] + work->stride[HS_Y] * at[HS_Y] + work->stride[HS_Z] * at[HS_Z];
    return odd;
}

/* The mean of the sinks of the nodes before and after an odd one that keep no temperature. */
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

/* Weights of an odd node at (i, j, k) of those. */
static inline HS_HOST_DEVICE void hs_coarse_weigh(const struct hs_coarse_work *work,
                                                  const int64_t at[HS_AXES])
{
    const struct hs_coarse_network *fine = work->fine;
    const int axis = work->step->axis;
    const struct hs_coarse_odd odd = hs_coarse_odd_at(work, at);
    const float before = fine->edge[axis][odd.node - work->stride[axis]];
    const float after = fine->edge[axis][odd.node], own = fine->sink[odd.node];
    const float excess = own - hs_coarse_sink_beside(work, 2 * at[axis] + 1, odd.node);
    const float sum = before + after + (excess > 0.0f ? excess : 0.0f);
    const bool none = isinf(sum) || sum == 0.0f;
    work->step->before[odd.place] = none ? 0.0f : before / sum;
    work->step->after[odd.place] = none ? 0.0f : after / sum;
}

/* What of an odd node goes to a coarse one: of its sink, and, by its weight, of its edges across
 * the axis; edges to nodes that keep their temperature are sinks. */
static inline HS_HOST_DEVICE void hs_coarse_take(const struct hs_coarse_work *work,
                                                 const struct hs_coarse_odd *odd,
                                                 const float *weights, float edge,
                                                 const int64_t at[HS_AXES], float *sink,
                                                 float across[HS_AXES])
{
    const struct hs_coarse_network *fine = work->fine;
    const float own = fine->sink[odd->node], weight = weights[odd->place];
    if (isinf(own))
        *sink += edge;
    else
        *sink += weight * own;
    int64_t stride = 1;
    for (int axis = 0; axis < HS_AXES; axis++) {
        if (axis == work->step->axis || !fine->edge[axis]) {
            stride *= work->odd[axis];
            continue;
        }
        for (int side = -1; side <= 1; side += 2) {
            const int64_t to = hs_lattice_next(&fine->lattice, axis, at[axis], work->stride[axis],
                                               side, odd->node);
            if (to < 0)
                continue;
            const float g = fine->edge[axis][side > 0 ? odd->node : to];
            const int64_t place =
                hs_lattice_next(&fine->lattice, axis, at[axis], stride, side, odd->place);
            if (hs_coarse_is_held(work, to))
                *sink += weight * g;
            else if (side > 0 && !isinf(own))
                across[axis] += 0.5f * g * (weight + weights[place]);
        }
        stride *= work->odd[axis];
    }
}

/* The coarse node at (i, j, k), its place among the coarse ones, and the fine one's. */
static inline HS_HOST_DEVICE void hs_coarse_make_node(const struct hs_coarse_work *work,
                                                      const int64_t at[HS_AXES], int64_t place)
{
    const struct hs_coarse_network *fine = work->fine;
    const struct hs_coarse_step *step = work->step;
    const int axis = step->axis;
    const int64_t nf = work->odd[axis], last = at[axis];
    int64_t node = 0;
    for (int a = 0; a < HS_AXES; a++)
        node += work->stride[a] * at[a] * (a == axis ? 2 : 1);
    float sink = fine->sink[node], along = 0.0f, across[HS_AXES] = {0.0f, 0.0f, 0.0f};
    for (int a = 0; a < HS_AXES; a++)
        if (a != axis && fine->edge[a])
            across[a] = fine->edge[a][node];
    int64_t other[HS_AXES] = {at[HS_X], at[HS_Y], at[HS_Z]};
    if (last < nf) { /* the odd node after it */
        const struct hs_coarse_odd odd = hs_coarse_odd_at(work, other);
        along = fine->edge[axis][node] * step->after[odd.place];
        hs_coarse_take(work, &odd, step->before, fine->edge[axis][node], at, &sink, across);
    } else if (step->fine.wrap[axis])
        along = fine->edge[axis][node];
    other[axis] = last > 0 ? last - 1 : step->fine.wrap[axis] && nf > last ? nf - 1 : -1;
    if (last == 0 && step->fine.wrap[axis] && step->fine.n[axis] % 2 == 1)
        other[axis] = -1; /* the last node is a coarse one */
    if (other[axis] >= 0) {
        const struct hs_coarse_odd odd = hs_coarse_odd_at(work, other);
        hs_coarse_take(work, &odd, step->after, fine->edge[axis][odd.node], at, &sink, across);
    }
    work->coarse->sink[place] = sink;
    for (int a = 0; a < HS_AXES; a++)
        if (work->coarse->edge[a])
            work->coarse->edge[a][place] = a == axis ? along : across[a];
}

/* Says in `step` what its sides are; its weights are the caller's. */
static inline struct hs_coarse_work hs_coarse_work_of(const struct hs_coarse_network *fine,
                                                      int axis, struct hs_coarse_step *step,
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
    for (int a = 0; a < HS_AXES; a++)
        work.odd[a] = a == axis ? n[a] / 2 : n[a];
    step->axis = axis;
    step->fine = step->coarse = fine->lattice;
    step->before = step->after = NULL;
    step->coarse.n[axis] = (n[axis] + 1) / 2;
    step->coarse.wrap[axis] = fine->lattice.wrap[axis] && step->coarse.n[axis] > 1;
    return work;
}

#endif
