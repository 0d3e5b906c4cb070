/* How the 3D marches that fuse sweeps cut their columns into chunks along z, one block each. */
#ifndef HS_KERNELS_CUDA_CHUNKS_H
#define HS_KERNELS_CUDA_CHUNKS_H

#include "tiles.h"

#include "core/host_device.h"

enum {
    HS_FUSED_PLANES = 256,    /* most planes that a block marches through ... */
    HS_FUSED_CHUNK = 1 << 27, /* ... fewer, down to half, if they had more points than this */
    HS_MARCH_PLANES = 410,    /* ... fused_march_3d in double: also for large planes */
    HS_WHOLE_PLANES = 520, /* most planes of a column that stays one chunk while others are cut */

    HS_RADIUS2_EVERY = 4,        /* planes per turn, for throttled blocks of fused_radius2_3d */
    HS_RADIUS2_COUNTS = 1 << 16, /* most turn counters of a launch */
};

/* How a 3D fused march cuts the columns of its tiles into chunks along z, one block each: how many
 * chunks a column has, and by how many tenths of the mean length the first chunk is longer and the
 * last one shorter. The first `whole` columns are not cut. */
struct hs_fused_chunks {
    int chunks, taper, whole;
    bool throttled; /* fused_radius2_3d: blocks that run at the same time wait for one another */
};

/* The chunks with the least estimated time, for this many tiles along x and y ... */
struct hs_fused_chunks hs_fused_cut_z(const struct hs_case *of,
                                      const struct hs_device_limits *limits, int64_t tiles_x,
                                      int64_t tiles_y);
/* ... of fused_march_3d ... */
struct hs_fused_chunks hs_march_cut_z(const struct hs_case *of,
                                      const struct hs_device_limits *limits, int64_t tiles_x,
                                      int64_t tiles_y);
/* ... and of fused_radius2_3d. */
struct hs_fused_chunks hs_radius2_cut_z(const struct hs_case *of,
                                        const struct hs_device_limits *limits, int64_t tiles_x,
                                        int64_t tiles_y);

/* Whether the blocks of fused_radius2_3d are throttled, which pays on large grids. */
bool hs_radius2_throttles(const struct hs_case *of, const struct hs_device_limits *limits,
                          int64_t tiles_x, int64_t tiles_y);

/* The first plane of chunk k; for k equal to the number of chunks, the end. */
HS_HOST_DEVICE static inline int64_t hs_fused_chunk(int64_t planes, int64_t chunks, int taper,
                                                    int64_t k)
{
    return planes * k * ((10 + taper) * chunks - taper * k) / (10 * chunks * chunks);
}

/* A range of planes, lo <= z < hi. */
struct hs_fused_planes {
    int64_t lo, hi;
};

/* The planes of the request's k-th chunk. If a call comes in two parts, its ends, which wait for an
 * exchange, are as long as the last two chunks: the shortest ones, so that multiprocessors finish
 * together. */
HS_HOST_DEVICE static inline struct hs_fused_planes
hs_fused_planes_of(enum hs_sweep_part part, int64_t planes, int chunks, int taper, int k)
{
    const int low = chunks - 2, n = part == HS_SWEEP_ENDS ? low + k : k;
    const int64_t begin = hs_fused_chunk(planes, chunks, taper, n);
    const int64_t size = hs_fused_chunk(planes, chunks, taper, n + 1) - begin;
    struct hs_fused_planes out = {begin, begin + size};
    if (part == HS_SWEEP_ENDS)
        out.lo = n == low ? 0 : planes - size;
    else if (part == HS_SWEEP_INSIDE)
        out.lo = begin + hs_fused_chunk(planes, chunks, taper, low + 1) -
                 hs_fused_chunk(planes, chunks, taper, low);
    out.hi = out.lo + size;
    return out;
}

/* The shorter of the two ends. */
static inline int64_t hs_fused_ends(int64_t planes, int chunks, int taper)
{
    const struct hs_fused_planes low = hs_fused_planes_of(HS_SWEEP_ENDS, planes, chunks, taper, 0);
    const struct hs_fused_planes high = hs_fused_planes_of(HS_SWEEP_ENDS, planes, chunks, taper, 1);
    return low.hi < planes - high.lo ? low.hi : planes - high.lo;
}

#endif
