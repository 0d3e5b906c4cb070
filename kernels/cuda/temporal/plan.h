/* Tiles of temporal_2d and temporal_3d, with a halo of radius*steps. */
#ifndef HS_KERNELS_CUDA_TEMPORAL_PLAN_H
#define HS_KERNELS_CUDA_TEMPORAL_PLAN_H

#include "tiles.h"

enum {
    HS_TEMPORAL_STEPS_2D = 4,  /* most sweeps per launch */
    HS_TEMPORAL_STEPS_3D = 2,  /* */
    HS_TEMPORAL_THREADS = 256, /* 32 x 8, over the cells of a tile */
    HS_TEMPORAL_2D = 32,       /* output tile 32 x 32; 64 x 32 with radius 1 and 2 */
    HS_TEMPORAL_3D = 8,        /* 8 x 8 x 8; twice as long along x with radius 1, and in float */
};

#endif
