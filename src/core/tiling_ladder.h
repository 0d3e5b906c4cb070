/* Tiles of the textbook's kernels, one sweep a launch: basic to march_halo, tile_2d and
 * collaborative_2d, register_window and warp_shuffle. */
#ifndef HS_CORE_TILING_LADDER_H
#define HS_CORE_TILING_LADDER_H

#include "core/tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_TILE_1D = 256,          /* threads a block in 1D */
    HS_TILE_2D = 32,           /* shared_tile in 2D: 32 x 32 */
    HS_TILE_3D = 8,            /* basic, shared_tile in 3D: 8 x 8 x 8 */
    HS_BASIC_2D_Y = 8,         /* basic in 2D: 32 x 8 */
    HS_COARSENED_BLOCK = 32,   /* coarsened, register_tile: 32 x 32 */
    HS_COARSENED_PLANES = 30,  /* planes that a block marches through */
    HS_MARCH_X = 32,           /* march_halo: 32 x 16 */
    HS_MARCH_Y = 16,           /* */
    HS_MARCH_PLANES = 64,      /* */
    HS_TILE_2D_X = 32,         /* tile_2d: 32 x 16 */
    HS_TILE_2D_Y = 16,         /* */
    HS_COLLABORATIVE_X = 64,   /* collaborative_2d: output tile 64 x 32 ... */
    HS_COLLABORATIVE_Y = 32,   /* */
    HS_COLLABORATIVE_ROWS = 8, /* ... by 32 x 8 threads */
    HS_WINDOW_POINTS = 8,      /* register_window: points a thread slides over */
};

#ifdef __cplusplus
}
#endif

#endif
