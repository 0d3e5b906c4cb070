/*
 * How the CUDA kernels cut a box into blocks: pure arithmetic, the same for the launch on the
 * device and for `explain` on a machine without one.
 *
 * A kernel's row says its usual blocking for given dims, radius and precision, and counts what one
 * of its blocks loads and writes. Kernels take their launch from here, so that what is printed
 * cannot drift from what runs. Counts are of a full block; those at the box's end do less.
 *
 * A plan lies with its kernel in kernels/cuda/; engine/registry.h lists them all, those of kernels
 * that are not built too.
 */
#ifndef HS_CORE_TILING_H
#define HS_CORE_TILING_H

#include "core/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a user may choose: threads of a block, and planes it marches through (0: the usual). */
struct hs_blocking {
    int threads[HS_AXES];
    int planes;
};

struct hs_tiling {
    const char *kernel;
    hs_features features;     /* as in the descriptor, for builds that lack the kernel */
    int steps[HS_PRECISIONS]; /* likewise, in each */
    int few[HS_PRECISIONS];   /* it takes these, or up to so many; 0: any number of them */
    bool resizable;           /* its scheme can be counted with other blocks than the usual */
    bool together;            /* its blocks wait for each other: all must run at once */
    /* 0 along axes that are not there stands for 1. */
    struct hs_blocking (*usual)(int dims, int radius, enum hs_precision precision);
    /* `sweep` needs precision, box and stencil. */
    void (*geometry)(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                     struct hs_geometry *out);
    /* By how many points node 0 of a row had better lie beyond a multiple of 32 bytes. NULL: 0. */
    int (*moves)(enum hs_precision precision, const struct hs_face *face,
                 const struct hs_layout *layout);
};

/* A layout with its nodes moved to where the kernel likes its rows to begin; most like them as they
 * are. `face` are the grid's; `tiling` may be NULL. */
struct hs_layout hs_tiling_layout(const struct hs_tiling *tiling, enum hs_precision precision,
                                  const struct hs_face *face, const struct hs_layout *layout);

/* The geometry of the launch for this sweep, with the usual blocks. */
void hs_tiling_launch(const struct hs_tiling *tiling, const struct hs_sweep *sweep,
                      struct hs_geometry *out);

int64_t hs_geometry_blocks(const struct hs_geometry *geometry);

/* Operations per byte as the textbook counts them: those of the points that a block writes over
 * the bytes that it loads. */
double hs_geometry_intensity(const struct hs_geometry *geometry, enum hs_precision precision);

/* Share of what a block loads that its own points do not account for. */
double hs_geometry_halo_share(const struct hs_geometry *geometry);

#ifdef __cplusplus
}
#endif

#endif
