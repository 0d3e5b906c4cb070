/*
 * How the CUDA kernels cut a box into blocks: pure arithmetic, the same for the launch on the
 * device and for `explain` on a machine without one.
 *
 * A kernel's row says its usual blocking for given dims, radius and precision, and counts what one
 * of its blocks loads and writes. Kernels take their launch from here, so that what is printed
 * cannot drift from what runs. Counts are of a full block; those at the box's end do less.
 *
 * Each kind of kernels has a file: its row or rows, the numbers that it compiles in and that its
 * row counts with, and what it asks of a cut besides: core/tiling_ladder (the textbook's kernels),
 * _vector, _bulk, _temporal, _columns and _chunks (fused sweeps in 3D, along x and y, and along z),
 * _strips (in 2D), _lines (in 1D), _resident.
 */
#ifndef HS_CORE_TILING_H
#define HS_CORE_TILING_H

#include "core/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_WARP = 32,
    HS_VECTOR_BYTES = 16,     /* what a thread moves at once */
    HS_MULTIPROCESSORS = 132, /* of the device that grids are cut for: an H100 or H200 */
};

/* What a user may choose: threads of a block, and planes it marches through (0: the usual). */
struct hs_blocking {
    int threads[HS_AXES];
    int planes;
};

struct hs_tiling {
    const char *kernel;
    unsigned dims, radius;    /* as in the descriptor, for builds that lack the kernel */
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

extern const struct hs_tiling *const hs_tilings[];          /* ends with NULL */
const struct hs_tiling *hs_tiling_find(const char *kernel); /* NULL if there is none */

/* A layout with its nodes moved to where `kernel` likes its rows to begin; most like them as they
 * are. `face` are the grid's. */
struct hs_layout hs_tiling_layout(const char *kernel, enum hs_precision precision,
                                  const struct hs_face *face, const struct hs_layout *layout);

/* The geometry of `kernel`'s launch for this sweep; it must have a row. */
void hs_tiling_launch(const char *kernel, const struct hs_sweep *sweep, struct hs_geometry *out);

/* Blocks of `tile` points that cover the box. */
void hs_tiling_cover(const struct hs_box *box, const int tile[HS_AXES], int64_t blocks[HS_AXES]);

/* The sweep's box with the held layers about it: what a kernel with own_ghosts writes. */
struct hs_box hs_tiling_with_held(const struct hs_sweep *sweep);

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
