/* Tiles along x and y of the marches in 3D that fuse sweeps: fused_march_3d, fused_fields_3d,
 * fused_wide_3d. What each tile makes along z, a column, is cut into chunks (core/tiling_chunks.h).
 */
#ifndef HS_CORE_TILING_COLUMNS_H
#define HS_CORE_TILING_COLUMNS_H

#include "core/tiling.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_FUSED_STEPS = 4,        /* fused_march_3d: most sweeps a launch */
    HS_FUSED_FIELDS_STEPS = 3, /* fused_fields_3d: likewise ... */
    HS_FUSED_SOURCE_STEPS = 4, /* ... where only a source differs, that does not change */
    HS_FUSED_X_FLOAT = 64,     /* points of a tile along x */
    HS_FUSED_X_DOUBLE = 64,    /* */
    HS_FUSED_ROWS = 4,         /* rows that a thread owns */
    HS_FUSED_WARPS = 8,        /* */
    HS_FUSED_DEPTH = 5,        /* planes of a tile in flight or in use */
    HS_FUSED_LINE_BYTES = 128, /* rows lie in shared memory as in their lines in the field */

    HS_WIDE_STEPS = 2,       /* fused_wide_3d: most sweeps a launch */
    HS_WIDE_X = 64,          /* points of a tile along x */
    HS_WIDE_ROWS_FLOAT = 5,  /* rows that a thread owns */
    HS_WIDE_ROWS_DOUBLE = 4, /* */
    HS_WIDE_WARPS = 8,       /* */
    HS_WIDE_DEPTH = 6,       /* planes of the input in flight or in use */
    HS_WIDE_PASSED = 3,      /* ... and of the level between */
    HS_WIDE_PACE_BYTES = 64, /* of shared memory, of blocks that march in step */
};

/* Points along y of a tile of the fused marches in 3D. */
int hs_fused_tile_y(enum hs_precision precision);
int hs_wide_tile_y(enum hs_precision precision);

/* Such tiles, of which the first stores `first` points and every other `others` (fewer where its
 * last points are stored by the next one, or there are none). */
struct hs_fused_cut {
    int64_t tiles;
    int first, others;
};

/* The tiles of a fused march in 3D along x (all in points). Their stored rows begin at multiples of
 * 32 bytes: of a sector that two blocks wrote, each a part, the memory must read the rest. */
struct hs_fused_cut hs_fused_cut_x(const struct hs_sweep *sweep);

#ifdef __cplusplus
}
#endif

#endif
