/* Marches whose rows come by TMA (bulk.cuh): no more blocks than run at once, each of which takes
 * chunks of planes one after the other. */
#ifndef HS_KERNELS_CUDA_BULK_H
#define HS_KERNELS_CUDA_BULK_H

#include "tiles.h"

#ifdef __cplusplus
#define HS_CONSTANT constexpr /* kernels' array sizes are made of these */
extern "C" {
#else
#define HS_CONSTANT static inline
#endif

enum {
    HS_BULK_COPYING = 4,               /* warps of a block that have rows copied */
    HS_BULK_LINE_BYTES = 128,          /* rows in shared memory begin at multiples of it */
    HS_BULK_COUNTED_PLANES = 16384,    /* planes a block asks for in step */
    HS_BULK_SHARED_BYTES = 225 * 1024, /* at least what its blocks have */
    HS_BULK_SCRATCH = 4 * (1 + (int)HS_BULK_COUNTED_PLANES), /* bytes of the counts */
    HS_BULK_BARRIER_BYTES = 3 * 8,                           /* of a stage */
};

/* What the launch is told besides: chunks along the axis that is marched along, of so many planes,
 * and whether the tiles are large ones. */
struct hs_bulk_chunks {
    int count, planes;
    bool large;
};

/* Whether the GPU has TMA and enough shared memory; if not, why. */
bool hs_bulk_capable(const char *name, const struct hs_device_limits *limits, char *reason,
                     size_t size);

/* The case's box from where a line of a row begins. */
struct hs_box hs_bulk_aligned(const struct hs_case *of);

/* No more blocks than run at once, each with as many chunks as the others or one less. */
void hs_bulk_share(const struct hs_device_limits *limits, struct hs_geometry *g);

#ifdef __cplusplus
}
#endif

#endif
