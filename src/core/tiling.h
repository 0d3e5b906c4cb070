/*
 * How the kernels of the ladder cut a box into blocks: pure arithmetic, the same for the launch on
 * the device and for `explain` on a machine without one.
 *
 * A kernel's row says its usual blocking for given dims, radius and precision, and counts what one
 * of its blocks loads and writes. Kernels take their launch from here, so that what is printed
 * cannot drift from what runs. Counts are of a full block; those at the box's end do less.
 */
#ifndef HS_CORE_TILING_H
#define HS_CORE_TILING_H

#include "core/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers that kernels compile in and the rows below count with. */
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
    HS_WARP = 32,

    HS_VECTOR_BYTES = 16,       /* vector_march: bytes a thread moves at once */
    HS_VECTOR_WARPS = 4,        /* warps a block, 2D and 3D */
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
    HS_VECTOR_1D_VECTORS = 4,   /* vectors a thread has on their way at once */
    HS_BULK_X = 4,              /* bulk_march: warps of a block beside one another in 3D */
    HS_BULK_X_2D = 8,           /* and in 2D */
    HS_BULK_Y = 2,              /* and above one another in 3D ... */
    HS_BULK_Y_LARGE = 4,        /* ... radius 1, where such tiles are more than multiprocessors */
    HS_BULK_ROWS = 4,           /* rows a thread owns in 3D */
    HS_BULK_ROWS_2D = 4,        /* rows that come together in 2D */
    HS_BULK_COPYING = 4,        /* warps of a block that have rows copied */
    HS_BULK_LINE_BYTES = 128,   /* rows in shared memory begin at multiples of it */
    HS_BULK_COUNTED_PLANES = 16384,    /* planes a block asks for in step */
    HS_BULK_SHARED_BYTES = 225 * 1024, /* at least what its blocks have */

    HS_MULTIPROCESSORS = 132, /* of the device that chunks are cut for: an H100 or H200 */

    HS_FUSED_STEPS = 4,        /* fused_march_3d: most sweeps a launch */
    HS_FUSED_FIELDS_STEPS = 3, /* fused_fields_3d: likewise ... */
    HS_FUSED_SOURCE_STEPS = 4, /* ... where only a source differs, that does not change */
    HS_FUSED_X_FLOAT = 64,     /* points of a tile along x */
    HS_FUSED_X_DOUBLE = 64,    /* */
    HS_FUSED_ROWS = 4,         /* rows that a thread owns */
    HS_FUSED_WARPS = 8,        /* */
    HS_FUSED_PLANES = 256,     /* most planes that a block marches through ... */
    HS_FUSED_CHUNK = 1 << 27,  /* ... fewer, to half of it, where they would have more points */
    HS_FUSED_DEPTH = 5,        /* planes of a tile in flight or in use */
    HS_FUSED_LINE_BYTES = 128, /* rows lie in shared memory as in their lines in the field */

    HS_WIDE_STEPS = 2,       /* fused_wide_3d: most sweeps a launch */
    HS_WIDE_X = 64,          /* points of a tile along x */
    HS_WIDE_ROWS_FLOAT = 5,  /* rows that a thread owns */
    HS_WIDE_ROWS_DOUBLE = 4, /* */
    HS_WIDE_WARPS = 8,       /* */
    HS_WIDE_DEPTH = 6,       /* planes of the input in flight or in use */
    HS_WIDE_PASSED = 3,      /* ... and of the level between */

    HS_STRIP_STEPS_FLOAT = 10,  /* fused_march_2d: most sweeps a launch */
    HS_STRIP_STEPS_DOUBLE = 12, /* */
    HS_STRIP_WIDTH_FLOAT = 8,   /* points of a lane */
    HS_STRIP_WIDTH_DOUBLE = 6,  /* */
    HS_STRIP_DEEP_FLOAT = 10,   /* most levels of a warp; more are shared by groups of warps */
    HS_STRIP_DEEP_DOUBLE = 3,   /* */
    HS_STRIP_WARPS_FLOAT = 1,   /* of a group, side by side; fewer on narrow grids */
    HS_STRIP_WARPS_DOUBLE = 4,  /* */
    HS_STRIP_BLOCKS_FLOAT = 8,  /* of up to two groups, on a multiprocessor; of more there is one */
    HS_STRIP_BLOCKS_DOUBLE = 2, /* */
    HS_STRIP_PLACES = 3,        /* for pairs of rows on their way, to and from each group */

    HS_LINE_STEPS = 32,     /* fused_line_1d: most sweeps a launch */
    HS_LINE_WARPS = 4,      /* of a block, each with a line of its own */
    HS_LINE_WIDTH = 32,     /* points of a lane */
    HS_LINE_LEAST_1 = 8,    /* the same on short lines, radius 1 ... */
    HS_LINE_LEAST_23 = 16,  /* ... 2 and 3 */
    HS_LINE_LONG = 1 << 18, /* points from which on a line is not short */

    HS_TEMPORAL_STEPS_2D = 4,  /* most sweeps a launch */
    HS_TEMPORAL_STEPS_3D = 2,  /* */
    HS_TEMPORAL_THREADS = 256, /* 32 x 8, over the cells of a tile */
    HS_TEMPORAL_2D = 32,       /* output tile 32 x 32; 64 x 32 with radius 1 and 2 */
    HS_TEMPORAL_3D = 8,        /* 8 x 8 x 8; twice as long along x with radius 1, and in float */
};

/* What a user may choose: threads of a block, and planes it marches through (0: the usual). */
struct hs_blocking {
    int threads[HS_AXES];
    int planes;
};

struct hs_tiling {
    const char *kernel;
    unsigned dims, radius;    /* as in the descriptor, for builds that lack the kernel */
    int steps[HS_PRECISIONS]; /* likewise, in each */
    bool resizable;           /* its scheme can be counted with other blocks than the usual */
    /* 0 along axes that are not there stands for 1. */
    struct hs_blocking (*usual)(int dims, int radius, enum hs_precision precision);
    /* `sweep` needs precision, box and stencil. */
    void (*geometry)(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                     struct hs_geometry *out);
};

extern const struct hs_tiling hs_tilings[];                 /* ends with a NULL kernel */
const struct hs_tiling *hs_tiling_find(const char *kernel); /* NULL if there is none */

/* A layout with its nodes moved to where `kernel` likes its rows to begin; most like them as they
 * are. `face` are the grid's. */
struct hs_layout hs_tiling_layout(const char *kernel, enum hs_precision precision,
                                  const struct hs_face *face, const struct hs_layout *layout);

/* The geometry of `kernel`'s launch for this sweep; it must have a row. */
void hs_tiling_launch(const char *kernel, const struct hs_sweep *sweep, struct hs_geometry *out);

/* Blocks of `tile` points that cover the box. */
void hs_tiling_cover(const struct hs_box *box, const int tile[HS_AXES], int64_t blocks[HS_AXES]);

/* Points along y of a tile of the fused marches in 3D, and of fused_wide_3d. */
#ifdef __cplusplus
#define HS_CONSTANT constexpr
#else
#define HS_CONSTANT static inline
#endif

/* Rows of a block of bulk_march in a stage of its ring, without those that only neighbours need. */
HS_CONSTANT int hs_bulk_rows(int dims, bool large)
{
    return dims == 2 ? HS_BULK_ROWS_2D : HS_BULK_ROWS * (large ? HS_BULK_Y_LARGE : HS_BULK_Y);
}

/* Bytes of a stage: its rows, each with a line for what stands at its sides, and as many of the
 * source where it is a field. */
HS_CONSTANT int hs_bulk_stage_bytes(int dims, int radius, bool large, bool source)
{
    const int warps = dims == 2 ? HS_BULK_X_2D : HS_BULK_X;
    const int row = warps * HS_WARP * HS_VECTOR_BYTES + HS_BULK_LINE_BYTES;
    const int own = hs_bulk_rows(dims, large), halo = dims == 3 ? 2 * radius : 0;
    return HS_BULK_LINE_BYTES + (own + halo + (source ? own : 0)) * row;
}

/* Bytes of what the ends of rows had, which are stored as they were: two groups of two vectors. */
HS_CONSTANT int hs_bulk_end_bytes(int dims, int radius, bool large)
{
    return radius * (dims == 2 ? 1 : hs_bulk_rows(dims, large)) * 4 * HS_VECTOR_BYTES;
}

/* Stages: one in use, the others on their way; more than so many were not faster. */
HS_CONSTANT int hs_bulk_stages(int dims, int radius, bool large, bool source)
{
    const int most = dims == 2 ? 12 : large ? 5 : 8, barriers = 3 * 8 * most;
    const int fit = (HS_BULK_SHARED_BYTES - hs_bulk_end_bytes(dims, radius, large) - barriers) /
                    hs_bulk_stage_bytes(dims, radius, large, source);
    return fit < most ? fit : most;
}

/* Points along y of a tile of the fused marches in 3D. */
int hs_fused_tile_y(enum hs_precision precision);
int hs_wide_tile_y(enum hs_precision precision);

/* Tiles of `size` points along an axis of n, `rim` of which on each side are swept but not stored,
 * except at a face, where none are needed: there the tiles begin and end at the faces. */
int64_t hs_fused_tiles(int64_t n, int size, int rim, bool wrap);

/* How fused_march_2d cuts a grid: into strips along y, which its blocks share in parts of equal
 * cost, a strip at a time or more. */
struct hs_strip_cut {
    int groups, warps; /* of a block: groups of warps side by side, each for some of the levels */
    int points;        /* that a block marches with */
    int rim;           /* points on each side of a strip that are swept redundantly */
    int lead, stored;  /* points that the first strip stores, and the others */
    int strips, blocks;
    int fill;  /* rows that a strip costs more than it has, */
    int slow;  /* those that each of its ends at a face costs more, */
    int outer; /* and sixteenths of a row's cost of one of the first and the last strip */
};
struct hs_strip_cut hs_strip_cuts(const struct hs_sweep *sweep);

/* fused_line_1d: points of a lane, and points on each side of a line that are swept redundantly. */
int hs_line_width(const struct hs_sweep *sweep);
int hs_line_rim(const struct hs_sweep *sweep);

/* Such tiles, of which the first stores `first` points and every other `others` (fewer where its
 * last points are stored by the next one, or there are none). */
struct hs_fused_cut {
    int64_t tiles;
    int first, others;
};

/* The tiles of a fused march in 3D along x (all in points). Their stored rows begin at multiples of
 * 32 bytes: of a sector that two blocks wrote, each a part, the memory must read the rest. */
struct hs_fused_cut hs_fused_cut_x(const struct hs_sweep *sweep);

/* How a fused march in 3D cuts the columns that its tiles make into chunks along z, a block each:
 * how many, and by how many tenths of the mean the first is longer and the last shorter than it. */
struct hs_fused_chunks {
    int chunks, taper;
};

/* The chunks of the least estimated time, for so many tiles along x and y. */
struct hs_fused_chunks hs_fused_cut_z(const struct hs_sweep *sweep, int64_t tiles_x,
                                      int64_t tiles_y);

#ifdef __CUDACC__
#define HS_ON_DEVICE_TOO __host__ __device__
#else
#define HS_ON_DEVICE_TOO
#endif

/* The first plane of chunk k; with k the number of chunks, the end. */
HS_ON_DEVICE_TOO static inline int64_t hs_fused_chunk(int64_t planes, int64_t chunks, int taper,
                                                      int64_t k)
{
    return planes * k * ((10 + taper) * chunks - taper * k) / (10 * chunks * chunks);
}

/* The sweep with the held layers about its box in the box: what a kernel with own_ghosts writes. */
struct hs_sweep hs_tiling_with_held(const struct hs_sweep *sweep);

/* Operations per byte as the textbook counts them: those of the points that a block writes over
 * the bytes that it loads. */
double hs_geometry_intensity(const struct hs_geometry *geometry, enum hs_precision precision);

/* Share of what a block loads that its own points do not account for. */
double hs_geometry_halo_share(const struct hs_geometry *geometry);

#ifdef __cplusplus
}
#endif

#endif
