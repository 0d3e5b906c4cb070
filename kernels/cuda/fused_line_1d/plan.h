/* Lines of fused_line_1d, each in a warp's registers. */
#ifndef HS_KERNELS_CUDA_FUSED_LINE_1D_PLAN_H
#define HS_KERNELS_CUDA_FUSED_LINE_1D_PLAN_H

#include "tiles.h"

enum {
    HS_LINE_STEPS = 32,     /* fused_line_1d: most sweeps per launch */
    HS_LINE_WARPS = 4,      /* of a block, each with a line of its own */
    HS_LINE_WIDTH = 32,     /* points per lane */
    HS_LINE_LEAST_1 = 8,    /* ... on short lines, radius 1 ... */
    HS_LINE_LEAST_23 = 16,  /* ... 2 and 3 */
    HS_LINE_LONG = 1 << 18, /* a line of this many points is not short */
};

/* Points of a lane, points on each side of a line that are swept redundantly, and lines of a grid.
 */
struct hs_line_cut {
    int width, halo;
    int64_t lines;
};

#endif
