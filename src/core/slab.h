/*
 * A slab of a larger problem: some layers of the slowest axis, and further ones of its neighbours
 * beyond them, its halo. A problem of its own to backends and kernels, to which a border is a wall
 * that holds its values. What is wrong there by a sweep gets no further than the radius in that
 * sweep, so with a halo of enough layers what the slab owns has the bits of the whole.
 */
#ifndef HS_CORE_SLAB_H
#define HS_CORE_SLAB_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_slab {
    const struct hs_problem *whole;
    /* The layer there that is layer 0 here; beyond the last one those of the other end follow. */
    int64_t first;
    int64_t lo, hi; /* layers here that are its own: lo <= k < hi */
};

/* The whole's layer that a layer here is. */
static inline int64_t hs_slab_layer(const struct hs_slab *slab, int64_t layer)
{
    const int64_t n = slab->whole->grid.points[slab->whole->grid.dims - 1];
    return (slab->first + layer + n) % n;
}

/* The numbers that a file of the whole has for layers from <= k < to here; of the whole itself
 * where `slab` is NULL. */
enum hs_status hs_slab_read(const struct hs_slab *slab, const struct hs_stored *stored,
                            int64_t from, int64_t to, double *out, struct hs_error *err);

#ifdef __cplusplus
}
#endif

#endif
