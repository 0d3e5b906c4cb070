/* Marches whose rows come by TMA (bulk.cuh). They launch no more blocks than run at once; each
 * block processes several chunks of planes in turn. */
#ifndef HS_KERNELS_CUDA_BULK_H
#define HS_KERNELS_CUDA_BULK_H

#include "tiles.h"

enum {
    HS_BULK_COPYING = 4,               /* warps of a block that issue copies */
    HS_BULK_LINE_BYTES = 128,          /* rows in shared memory begin at its multiples */
    HS_BULK_COUNTED_PLANES = 16384,    /* planes that blocks request in step */
    HS_BULK_SHARED_BYTES = 225 * 1024, /* shared memory that a block needs to have */
    HS_BULK_SCRATCH = 4 * (1 + (int)HS_BULK_COUNTED_PLANES), /* bytes of the counts */
    HS_BULK_BARRIER_BYTES = 3 * 8,                           /* per stage */
};

/* The other launch parameters: the number of chunks along the marching axis, the planes of each,
 * and whether the tiles are large. */
struct hs_bulk_chunks {
    int count, planes;
    bool large;
};

/* Whether the GPU has TMA and enough shared memory; if not, why. */
bool hs_bulk_capable(const char *name, const struct hs_device_limits *limits, char *reason,
                     size_t size);

/* At most as many blocks as run at once, each with as many chunks as the others or one less. */
void hs_bulk_share(const struct hs_device_limits *limits, struct hs_geometry *g);

#endif
