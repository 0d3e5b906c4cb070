/* Tiles of bulk_march, and the ring of stages that a block has in shared memory. */
#ifndef HS_KERNELS_CUDA_BULK_MARCH_PLAN_H
#define HS_KERNELS_CUDA_BULK_MARCH_PLAN_H

#include "bulk.h"

enum {
    HS_BULK_X = 4,       /* bulk_march: warps of a block beside one another in 3D */
    HS_BULK_X_2D = 8,    /* and in 2D */
    HS_BULK_Y = 2,       /* and above one another in 3D ... */
    HS_BULK_Y_LARGE = 4, /* ... radius 1, where such tiles are more than multiprocessors */
    HS_BULK_ROWS = 4,    /* rows a thread owns in 3D */
    HS_BULK_ROWS_2D = 4, /* rows that come together in 2D */
};

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
    const int most = dims == 2 ? 12 : large ? 5 : 8, barriers = HS_BULK_BARRIER_BYTES * most;
    const int fit = (HS_BULK_SHARED_BYTES - hs_bulk_end_bytes(dims, radius, large) - barriers) /
                    hs_bulk_stage_bytes(dims, radius, large, source);
    return fit < most ? fit : most;
}

#endif
