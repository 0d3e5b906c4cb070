/*
 * A slab of a larger problem: some layers of the slowest axis, and on both sides a halo of its
 * neighbours' layers. Backends and kernels treat it as a problem of its own, in which a border is a
 * wall that holds its values. Errors from the border spread by at most the radius in each sweep, so
 * with enough halo layers the slab's own layers have the same bits as the whole problem.
 */
#ifndef HS_CORE_SLAB_H
#define HS_CORE_SLAB_H

#include "core/problem.h"

/* Device memory for fields, to which other ranks' devices can write. All ranks take equal sizes,
 * and give them in one order. */
struct hs_slab_memory {
    int64_t layers;              /* for each field: those of the thickest slab */
    void *(*take)(size_t bytes); /* NULL: there is not so much */
    void (*give)(void *at);      /* does nothing with NULL */
};

struct hs_slab {
    const struct hs_problem *whole;
    /* The layer of `whole` that is layer 0 here; after its last layer, layer 0 follows. */
    int64_t first;
    int64_t lo, hi;                      /* the slab's own layers: lo <= k < hi */
    const struct hs_slab_memory *memory; /* NULL: the backend takes its own */
};

/* The layer of the whole problem that corresponds to a layer here. */
static inline int64_t hs_slab_layer(const struct hs_slab *slab, int64_t layer)
{
    const int64_t n = slab->whole->grid.points[slab->whole->grid.dims - 1];
    return (slab->first + layer + n) % n;
}

/* Reads the layers from <= k < to of the slab out of a file for the whole grid; if `slab` is NULL,
 * those layers of the whole grid. */
enum hs_status hs_slab_read(const struct hs_slab *slab, const struct hs_stored *stored,
                            int64_t from, int64_t to, double *out, struct hs_error *err);

#endif
