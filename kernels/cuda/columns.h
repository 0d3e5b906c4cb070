/* Tiles along x and y of the marches in 3D that fuse sweeps: fused_march_3d, fused_fields_3d,
 * fused_radius2_3d. What each tile makes along z, a column, is cut into chunks (chunks.h).
 */
#ifndef HS_KERNELS_CUDA_COLUMNS_H
#define HS_KERNELS_CUDA_COLUMNS_H

#include "chunks.h"
#include "tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_FUSED_STEPS = 4,        /* fused_march_3d: most sweeps a launch */
    HS_FUSED_RECURSION = 3,    /* ... of a recursion */
    HS_FUSED_FIELDS_STEPS = 3, /* fused_fields_3d: likewise ... */
    HS_FUSED_SOURCE_STEPS = 4, /* ... where only a source differs, that does not change */
    HS_FUSED_X_FLOAT = 64,     /* points of a tile along x */
    HS_FUSED_X_DOUBLE = 64,    /* */
    HS_FUSED_ROWS = 4,         /* rows that a thread owns */
    HS_FUSED_WARPS = 8,        /* */
    HS_FUSED_DEPTH = 5,        /* planes of a tile in flight or in use */
    HS_FUSED_LINE_BYTES = 128, /* rows lie in shared memory as in their lines in the field */
};

/* Points along y of a tile of the fused marches in 3D. */
int hs_fused_tile_y(enum hs_precision precision);

/* Such tiles, of which the first stores `first` points and every other `others` (fewer where its
 * last points are stored by the next one, or there are none). */
struct hs_fused_cut {
    int64_t tiles;
    int first, others;
};

/* The tiles of a fused march in 3D along x (all in points). Their stored rows begin at multiples of
 * 32 bytes: of a sector that two blocks wrote, each a part, the memory must read the rest. */
struct hs_fused_cut hs_fused_cut_x(const struct hs_case *of);

/* Tiles of `size` points along an axis of n that begin to store where multiples of `grain` do, of
 * which node 0 is the `offset`-th point. */
struct hs_fused_cut hs_fused_make_cut(int64_t n, int size, int halo, int grain, int offset,
                                      bool wrap);

/* Points that node 0 of a row should lie beyond a multiple of 32 bytes. In float half a sector,
 * where that saves a tile, since the first tile then stores half a sector more: 9 instead of 10 for
 * 512 points. Else 0. */
int hs_fused_shift(const struct hs_case *of);

/* How the grid is cut: what a plan of these kernels has besides its launch. */
struct hs_fused_columns {
    int64_t tiles_x, tiles_y;
    struct hs_fused_cut x;
    struct hs_fused_chunks z;
    int multiprocessors;
};

typedef struct hs_fused_chunks hs_fused_cut_of(const struct hs_case *of,
                                               const struct hs_device_limits *limits,
                                               int64_t tiles_x, int64_t tiles_y);

/* The launch but for shared memory, with tiles of so many rows by blocks of so many threads, in
 * columns that `cut` cuts. */
struct hs_fused_columns hs_fused_tiles(const struct hs_case *of,
                                       const struct hs_device_limits *limits, int threads, int rows,
                                       hs_fused_cut_of *cut, struct hs_geometry *out);

/* Whether the grid has `least` points along each axis, or `wrapping` where that wraps, and indices
 * of 32 bits are enough for a plane's bytes, those of a source's tables of doubles too, and a
 * face's nodes; if not, why. */
bool hs_fused_large_enough(const char *name, const struct hs_case *of, const int least[HS_AXES],
                           int wrapping, char *reason, size_t size);

#ifdef __cplusplus
}
#endif

#endif
