/* What the CUDA kernels' plans count with. Plain C, and C++ for the kernels. */
#ifndef HS_KERNELS_CUDA_TILES_H
#define HS_KERNELS_CUDA_TILES_H

#include "core/round.h"
#include "core/tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_WARP = 32,
    HS_VECTOR_BYTES = 16,     /* what a thread moves at once */
    HS_MULTIPROCESSORS = 132, /* of the device that grids are cut for: an H100 or H200 */
};

/* The plan of kernel `name`, for its launch. */
#ifdef __cplusplus
#define HS_TILING(name) extern "C" const struct hs_tiling hs_tiling_##name
#else
#define HS_TILING(name) extern const struct hs_tiling hs_tiling_##name
#endif

/* Blocks of `tile` points that cover the box. */
void hs_tiling_cover(const struct hs_box *box, const int tile[HS_AXES], int64_t blocks[HS_AXES]);

/* The sweep's box with the held layers about it: what a kernel that applies walls writes. */
struct hs_box hs_tiling_with_held(const struct hs_sweep *sweep);

/* Layers that a sweep reads beyond a tile along an axis. */
int hs_tile_halo(const struct hs_sweep *sweep, int axis);

int64_t hs_tile_volume(const int extent[HS_AXES]);

/* Points of the tile and its faces' halos, without edges and corners. */
int64_t hs_tile_star_points(const struct hs_sweep *sweep, const int tile[HS_AXES]);

/* Makes `out` one of tiles that store x, y, z points and read a halo around them. */
void hs_tile_set(const struct hs_sweep *sweep, int x, int y, int z, struct hs_geometry *out);

/* What follows from the tiles in `out`, each read and stored whole: blocks of so many threads that
 * cover the box, points and flops. Rows to which more applies put it right afterwards. */
void hs_tile_finish(const struct hs_sweep *sweep, const struct hs_box *box,
                    const int threads[HS_AXES], struct hs_geometry *out);

/* Blocks that are the input tile of a plane, which is in shared memory, and march along z. */
void hs_tile_marching(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                      struct hs_geometry *out);

/* Sweeps of a call: one where none are said. */
int hs_tile_steps(const struct hs_sweep *sweep);

/* How far away along an axis lie the nodes that a node's last value depends on. */
int hs_tile_reach(const struct hs_sweep *sweep);

/* Tiles of `size` points along an axis of n, `halo` of which on each side are swept but not stored,
 * except at a face, where none are needed: there the tiles begin and end at the faces. */
int64_t hs_tile_overlapping(int64_t n, int size, int halo, bool wrap);

/*
 * How many planes a block of one sweep marches through: as many as give the least time by this
 * model, in planes: waves of blocks times (planes + those loaded twice + a few for the first loads
 * to arrive). `tiles` is of a plane, `wave` the blocks that run at once.
 */
int64_t hs_tile_chunk(int64_t tiles, int64_t planes, int radius, int64_t wave);

#ifdef __cplusplus
}
#endif

#endif
