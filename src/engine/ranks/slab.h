/* Slabs: a problem cut along its slowest axis, a slab for each rank. */
#ifndef HS_ENGINE_RANKS_SLAB_H
#define HS_ENGINE_RANKS_SLAB_H

#include "core/slab.h"

/* Layers that slab `rank` of `ranks` owns, from the first of them to that of the next slab. They
 * begin where blocks of the reductions do. */
int64_t hs_slab_begin(const struct hs_problem *whole, int ranks, int rank);

/* Slabs that the problem can be cut into, at most. */
int hs_slab_most(const struct hs_problem *whole);

/* Layers of the thinnest of so many slabs. */
int64_t hs_slab_thinnest(const struct hs_problem *whole, int ranks);

/*
 * Calls from exchange to exchange that take the least time, where an exchange takes `wait` [s]
 * besides what it carries, a call has a halo of `depth` layers at each end and takes `layer` [s]
 * for each layer: every call sweeps the halo of all of them. No halo of more than an eighth of the
 * thinnest slab comes of several, so that it takes little memory.
 */
int hs_slab_calls(int64_t depth, int64_t thinnest, double wait, double layer);

/* Where a slab lies, with a halo of so many layers at each border, no more than the thinnest slab
 * has. */
struct hs_slab_shape {
    struct hs_slab slab;
    int64_t layers;    /* the halo's too */
    bool below, above; /* whether there is a neighbour at either end, and so a halo */
};
struct hs_slab_shape hs_slab_shape_of(const struct hs_problem *whole, int ranks, int rank,
                                      int64_t halo);

/* A stretch of layers that lies both in a box of the whole grid and in a slab. */
struct hs_slab_piece {
    int64_t here;  /* its first layer in the slab */
    int64_t there; /* in the whole */
    int64_t count; /* 0: there is none (any more) */
};
/* The first such stretch from layer `here` of the slab on; `own`: only of what it owns. */
struct hs_slab_piece hs_slab_piece_from(const struct hs_slab_shape *shape, const struct hs_box *box,
                                        bool own, int64_t here);

/* The slab as a problem of its own: with its layers of what the whole has at hand, and of its
 * network. What it points to is the whole's, which outlives it, or its own. */
struct hs_slab_problem {
    struct hs_problem problem;
    struct hs_slab_shape shape; /* problem.slab is in it */
};
/* Errors: HS_DEVICE where memory is short. Release it whatever comes, and do not move it. */
enum hs_status hs_slab_make(const struct hs_problem *whole, const struct hs_slab_shape *shape,
                            struct hs_slab_problem *out, struct hs_error *err);
/* Reads its layers of a source that lies in a file, unless they are at hand. */
enum hs_status hs_slab_read_source(struct hs_slab_problem *slab, struct hs_error *err);
void hs_slab_release(struct hs_slab_problem *slab);

#endif
