/* How the columns of the marches in 3D that fuse sweeps are cut into chunks along z, a block each.
 */
#ifndef HS_CORE_TILING_CHUNKS_H
#define HS_CORE_TILING_CHUNKS_H

#include "core/tiling.h"

#ifdef __CUDACC__
#define HS_ON_DEVICE_TOO __host__ __device__
#else
#define HS_ON_DEVICE_TOO
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_FUSED_PLANES = 256,    /* most planes that a block marches through ... */
    HS_FUSED_CHUNK = 1 << 27, /* ... fewer, to half of it, where they would have more points */
};

/* How a fused march in 3D cuts the columns that its tiles make into chunks along z, a block each:
 * how many, and by how many tenths of the mean the first is longer and the last shorter than it. */
struct hs_fused_chunks {
    int chunks, taper;
};

/* The chunks of the least estimated time, for so many tiles along x and y. */
struct hs_fused_chunks hs_fused_cut_z(const struct hs_sweep *sweep, int64_t tiles_x,
                                      int64_t tiles_y);

/* The first plane of chunk k; with k the number of chunks, the end. */
HS_ON_DEVICE_TOO static inline int64_t hs_fused_chunk(int64_t planes, int64_t chunks, int taper,
                                                      int64_t k)
{
    return planes * k * ((10 + taper) * chunks - taper * k) / (10 * chunks * chunks);
}

#ifdef __cplusplus
}
#endif

#endif
