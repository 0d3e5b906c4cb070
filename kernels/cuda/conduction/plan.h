/* Tiles of conduction_march and conduction_fused. */
#ifndef HS_KERNELS_CUDA_CONDUCTION_PLAN_H
#define HS_KERNELS_CUDA_CONDUCTION_PLAN_H

#include "columns.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_CONDUCTION_BYTE_ROWS = 256, /* a palette by bytes has no more */

    HS_CONDUCTION_WARPS = 8,   /* conduction_march: warps of a block ... */
    HS_CONDUCTION_BLOCKS = 3,  /* ... blocks that fit on a multiprocessor ... */
    HS_CONDUCTION_AHEAD = 1,   /* ... planes on their way ... */
    HS_CONDUCTION_PLANES = 16, /* ... and planes that a block marches through in 3D */

    HS_CONDUCTION_STEPS = 3,        /* conduction_fused: most sweeps a launch */
    HS_CONDUCTION_ROWS = 3,         /* rows that a thread owns */
    HS_CONDUCTION_FUSED_WARPS = 12, /* */
    HS_CONDUCTION_DEPTH = 5,        /* planes of a tile in flight or in use */
};

#ifdef __cplusplus
}
#endif

#endif
