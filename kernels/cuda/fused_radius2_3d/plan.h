/* The plan of fused_radius2_3d: the columns of fused_march_3d, but with other tiles and with whole
 * planes of both levels in shared memory. */
#ifndef HS_KERNELS_CUDA_FUSED_RADIUS2_3D_PLAN_H
#define HS_KERNELS_CUDA_FUSED_RADIUS2_3D_PLAN_H

#include "columns.h"

enum {
    HS_RADIUS2_STEPS = 2,           /* fused_radius2_3d: most sweeps per launch */
    HS_RADIUS2_ROWS_FLOAT = 5,      /* rows that a thread owns */
    HS_RADIUS2_ROWS_DOUBLE = 4,     /* */
    HS_RADIUS2_WARPS = 8,           /* of a block */
    HS_RADIUS2_DEPTH = 6,           /* planes of the input in flight or in use */
    HS_RADIUS2_PASSED = 3,          /* ... and of the intermediate level */
    HS_RADIUS2_THROTTLE_BYTES = 64, /* of shared memory, for throttling */
};

#endif
