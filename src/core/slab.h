/*
 * A slab: layers of a larger problem's grid along its slowest axis, dims - 1, as a grid of its own,
 * with the layers beyond its borders that sweeps read.
 */
#ifndef HS_CORE_SLAB_H
#define HS_CORE_SLAB_H

#include "core/problem.h"

struct hs_slab {
    const struct hs_problem *whole;
    int64_t first;  /* layer of the whole grid that is layer 0 here; nodes beyond the whole's end
                       are those of its other end (periodic) */
    int64_t lo, hi; /* layers here that this slab owns; the others are halo */
};

/* The whole's layer that a layer here is. */
static inline int64_t hs_slab_layer(const struct hs_slab *slab, int64_t layer)
{
    const int64_t n = slab->whole->grid.points[slab->whole->grid.dims - 1];
    return (slab->first + layer + n) % n;
}

#endif
