/* What the rows of the tiling table count with: for src/core/tiling*.c. */
#ifndef HS_CORE_TILING_PARTS_H
#define HS_CORE_TILING_PARTS_H

#include "core/round.h"
#include "core/tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Sweeps of a call: one where none are said. */
int hs_tile_steps(const struct hs_sweep *sweep);

/* How far away along an axis lie the nodes that a node's last value depends on. */
int hs_tile_reach(const struct hs_sweep *sweep);

/* Tiles of `size` points along an axis of n, `rim` of which on each side are swept but not stored,
 * except at a face, where none are needed: there the tiles begin and end at the faces. */
int64_t hs_tile_overlapping(int64_t n, int size, int rim, bool wrap);

/*
 * How many planes a block of one sweep marches through: as many as give the least time by this
 * model, in planes: waves of blocks times (planes + those loaded twice + a few for the first loads
 * to arrive). `tiles` is of a plane, `wave` the blocks that run at once.
 */
int64_t hs_tile_chunk(int64_t tiles, int64_t planes, int radius, int64_t wave);

/* The rows, each in the file of its kind. */
extern const struct hs_tiling hs_tiling_basic, hs_tiling_shared_tile, hs_tiling_coarsened,
    hs_tiling_register_tile, hs_tiling_march_halo, hs_tiling_tile_2d, hs_tiling_collaborative_2d,
    hs_tiling_register_window, hs_tiling_warp_shuffle, hs_tiling_vector_march, hs_tiling_bulk_march,
    hs_tiling_temporal_2d, hs_tiling_temporal_3d, hs_tiling_fused_march_3d,
    hs_tiling_fused_fields_3d, hs_tiling_fused_wide_3d, hs_tiling_fused_march_2d,
    hs_tiling_fused_line_1d, hs_tiling_resident;

#ifdef __cplusplus
}
#endif

#endif
