/* Tiles along x and y of the 3D marches that fuse sweeps. Each tile extends along z to a column,
 * which is cut into chunks (chunks.h). */
#ifndef HS_KERNELS_CUDA_COLUMNS_H
#define HS_KERNELS_CUDA_COLUMNS_H

#include "chunks.h"
#include "tiles.h"

enum {
    HS_FUSED_STEPS = 4,        /* fused_march_3d: most sweeps per launch */
    HS_FUSED_RECURSION = 3,    /* ... in a recursion */
    HS_FUSED_FIELDS_STEPS = 3, /* fused_fields_3d: most sweeps per launch */
    HS_FUSED_SOURCE_STEPS = 4, /* ... if only the source is a field, and a constant one */
    HS_FUSED_X = 64,           /* points of a tile along x */
    HS_FUSED_ROWS = 4,         /* rows that a thread owns */
    HS_FUSED_WARPS = 8,        /* of a block */
    HS_FUSED_DEPTH = 5,        /* planes of a tile in flight or in use */
    HS_FUSED_SOURCE_DEPTH = 4, /* ... in HS_FUSED_SOURCE_STEPS with a source */
    HS_FUSED_LINE_BYTES = 128, /* alignment of rows in shared memory, as in the field */
};

/* Points along y of a tile whose threads own `rows` rows each. */
int hs_fused_tile_y(enum hs_precision precision, int warps, int rows);

/* The tiles along one axis. The first stores `first` points and every other one `others` (fewer if
 * the next tile stores its last points or the axis ends). */
struct hs_fused_cut {
    int64_t tiles;
    int first, others;
};

/* The tiles of a 3D fused march along x, in points. Each tile stores from a multiple of 32 bytes
 * on: if two blocks each wrote part of a sector, the memory would have to read the rest of it. */
struct hs_fused_cut hs_fused_cut_x(const struct hs_case *of);

/* The same for n nodes. Tiles begin to store at multiples of `grain`, where node 0 counts as point
 * `offset`. */
struct hs_fused_cut hs_fused_make_cut(int64_t n, int halo, int grain, int offset, bool wrap);

/* Points that node 0 of a row should lie beyond a multiple of 32 bytes: in float half a sector if
 * that saves a tile, because the first tile then stores half a sector more (9 tiles instead of 10
 * for 512 points). Otherwise 0. */
int hs_fused_shift(const struct hs_case *of);

/* How the grid is cut: the part of these kernels' plans that is not in the launch. */
struct hs_fused_columns {
    int64_t tiles_x, tiles_y;
    struct hs_fused_cut x;
    struct hs_fused_chunks z;
    int multiprocessors;
};

typedef struct hs_fused_chunks hs_fused_cut_of(const struct hs_case *of,
                                               const struct hs_device_limits *limits,
                                               int64_t tiles_x, int64_t tiles_y);

/* Fills in the launch except for its shared memory: tiles of `rows` rows, blocks of `threads`
 * threads, and columns that `cut` cuts along z. */
struct hs_fused_columns hs_fused_tiles(const struct hs_case *of,
                                       const struct hs_device_limits *limits, int threads, int rows,
                                       hs_fused_cut_of *cut, struct hs_geometry *out);

/* Whether the grid has at least `least` points along each axis (`wrapping` along a periodic one)
 * and 32-bit indices suffice for the bytes of a plane, also of a source's tables of doubles, and
 * for the nodes of a face. If not, `reason` says why. */
bool hs_fused_large_enough(const char *name, const struct hs_case *of, const int least[HS_AXES],
                           int wrapping, char *reason, size_t size);

#endif
