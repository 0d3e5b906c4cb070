/* Slabs: a problem cut along its slowest axis, one slab per rank. */
#ifndef HS_ENGINE_RANKS_SLAB_H
#define HS_ENGINE_RANKS_SLAB_H

#include "core/slab.h"

/* The first layer that slab `rank` of `ranks` owns; it owns all up to the first of the next slab.
 * Slabs begin where blocks of the reductions do. */
int64_t hs_slab_begin(const struct hs_problem *whole, int ranks, int rank);

/* The most slabs that the problem can be cut into. */
int hs_slab_most(const struct hs_problem *whole);

/* Layers of the thinnest of that many slabs. */
int64_t hs_slab_thinnest(const struct hs_problem *whole, int ranks);

/*
 * The number of calls between exchanges that takes the least time. An exchange takes `wait` [s]
 * besides what it carries; a call needs a halo of `depth` layers at each end and takes `layer` [s]
 * per layer; every call sweeps the halos of all of them. With more than one call the halo is at
 * most an eighth of the thinnest slab, so that it takes little memory.
 */
int hs_slab_calls(int64_t depth, int64_t thinnest, double wait, double layer);

/* Where a slab lies, with a halo of `halo` layers at each border: at most as many as the thinnest
 * slab has. */
struct hs_slab_shape {
    struct hs_slab slab;
    int64_t layers;    /* including the halo's */
    bool below, above; /* whether there is a neighbour, and so a halo, at either end */
};
struct hs_slab_shape hs_slab_shape_of(const struct hs_problem *whole, int ranks, int rank,
                                      int64_t halo);

/* A stretch of layers that are both in a box of the whole grid and in a slab. */
struct hs_slab_piece {
    int64_t here;  /* its first layer in the slab */
    int64_t there; /* in the whole grid */
    int64_t count; /* 0: there is none (left) */
};
/* The first such stretch from layer `here` of the slab on; `own`: only of the slab's own layers. */
struct hs_slab_piece hs_slab_piece_from(const struct hs_slab_shape *shape, const struct hs_box *box,
                                        bool own, int64_t here);

/* The slab as a problem of its own, with its layers of what the whole problem has in memory, and of
 * its network. What it points to is its own, or the whole problem's, which outlives it. */
struct hs_slab_problem {
    struct hs_problem problem;
    struct hs_slab_shape shape; /* problem.slab is in it */
};
/* Errors: HS_DEVICE where memory is short. Release it whatever the result, and do not move it. */
enum hs_status hs_slab_make(const struct hs_slab_shape *shape, struct hs_slab_problem *out,
                            struct hs_error *err);
/* Reads the slab's layers of a source in a file, unless they are in memory. */
enum hs_status hs_slab_read_source(struct hs_slab_problem *slab, struct hs_error *err);
void hs_slab_release(struct hs_slab_problem *slab);

#endif
