/* What the rows of the tiling table count with: for src/core/tiling*.c. */
#ifndef HS_CORE_TILING_PARTS_H
#define HS_CORE_TILING_PARTS_H

#include "core/tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 0 where either is not positive. */
int64_t hs_divide_up(int64_t count, int64_t by);

/* Layers that a sweep reads beyond a tile along an axis. */
int hs_tile_halo(const struct hs_sweep *sweep, int axis);

int64_t hs_tile_volume(const int extent[HS_AXES]);

/* Points of the tile and its faces' halos, without edges and corners. */
int64_t hs_tile_star_points(const struct hs_sweep *sweep, const int tile[HS_AXES]);

/* Makes `out` one of tiles that store x, y, z points and read a halo around them. */
void hs_tile_set(const struct hs_sweep *sweep, int x, int y, int z, struct hs_geometry *out);

/* What all geometries have in common: blocks that cover the sweep's box, threads, points written,
 * flops. `out` has its tiles. */
void hs_tile_finish(const struct hs_sweep *sweep, const int threads[HS_AXES],
                    struct hs_geometry *out);

/* The row of `resident`, in a file of its own. */
struct hs_blocking hs_tiling_resident_usual(int dims, int radius, enum hs_precision precision);
void hs_tiling_resident_geometry(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                 struct hs_geometry *out);

#ifdef __cplusplus
}
#endif

#endif
