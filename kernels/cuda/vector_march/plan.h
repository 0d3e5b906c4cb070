/* Tiles of vector_march. */
#ifndef HS_KERNELS_CUDA_VECTOR_MARCH_PLAN_H
#define HS_KERNELS_CUDA_VECTOR_MARCH_PLAN_H

#include "tiles.h"

enum {
    HS_VECTOR_WARPS = 4,        /* warps per block, 2D and 3D */
    HS_VECTOR_PLANES = 8,       /* planes a block marches through in 3D; 16 with radius 3 */
    HS_VECTOR_1D_THREADS = 256, /* of a block in 1D */
    HS_VECTOR_1D_VECTORS = 4,   /* vectors that a thread has in flight */
};

/* Rows that a warp owns. The queue takes rows * (2*radius + 1 + planes in flight) * 4 registers. */
HS_CONSTANT int hs_vector_rows(int dims, int radius)
{
    return dims == 3 && radius == 2 ? 2 : 1;
}

/* Blocks that fit on a multiprocessor, in 2D and 3D; registers limit them. */
HS_CONSTANT int hs_vector_blocks(int dims, int radius)
{
    return dims == 3 ? (radius == 1 ? 8 : 4) : radius == 1 ? 6 : radius == 2 ? 4 : 3;
}

#endif
