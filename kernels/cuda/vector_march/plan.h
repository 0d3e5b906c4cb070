/* Tiles of vector_march. */
#ifndef HS_KERNELS_CUDA_VECTOR_MARCH_PLAN_H
#define HS_KERNELS_CUDA_VECTOR_MARCH_PLAN_H

#include "tiles.h"

enum {
    HS_VECTOR_WARPS = 4,        /* warps per block, 2D and 3D */
    HS_VECTOR_ROWS_1 = 1,       /* rows a warp owns in 3D, radius 1, 2, 3 */
    HS_VECTOR_ROWS_2 = 2,       /* */
    HS_VECTOR_ROWS_3 = 1,       /* */
    HS_VECTOR_BLOCKS_1 = 8,     /* blocks that fit on a multiprocessor in 3D, radius 1, 2, 3 */
    HS_VECTOR_BLOCKS_2 = 4,     /* */
    HS_VECTOR_BLOCKS_3 = 4,     /* */
    HS_VECTOR_PLANES = 8,       /* planes a block marches through in 3D; 16 with radius 3 */
    HS_VECTOR_2D_BLOCKS_1 = 6,  /* the same in 2D */
    HS_VECTOR_2D_BLOCKS_2 = 4,  /* */
    HS_VECTOR_2D_BLOCKS_3 = 3,  /* */
    HS_VECTOR_1D_THREADS = 256, /* */
    HS_VECTOR_1D_VECTORS = 4,   /* vectors that a thread has in flight */
};

#endif
