/* Tiles of bulk_march, and the ring of stages that a block has in shared memory. */
#ifndef HS_KERNELS_CUDA_BULK_MARCH_PLAN_H
#define HS_KERNELS_CUDA_BULK_MARCH_PLAN_H

#include "bulk.h"

enum {
    HS_BULK_X = 4,       /* bulk_march: warps of a block side by side in 3D */
    HS_BULK_X_2D = 8,    /* ... and in 2D */
    HS_BULK_Y = 2,       /* ... and one above the other in 3D ... */
    HS_BULK_Y_LARGE = 4, /* ... with radius 1, if small tiles outnumber multiprocessors */
    HS_BULK_ROWS = 4,    /* rows a thread owns in 3D */
    HS_BULK_ROWS_2D = 4, /* rows that come together in 2D */
};

/* Rows of a block of bulk_march in a stage of its ring, without halo rows. */
HS_CONSTANT int hs_bulk_rows(int dims, bool large)
{
    return dims == 2 ? HS_BULK_ROWS_2D : HS_BULK_ROWS * (large ? HS_BULK_Y_LARGE : HS_BULK_Y);
}

/* Bytes of a stage: its rows, each with a line for its halo along x, and as many rows of the source
 * if that is a field. */
HS_CONSTANT int hs_bulk_stage_bytes(int dims, int radius, bool large, bool source)
{
    const int warps = dims == 2 ? HS_BULK_X_2D : HS_BULK_X;
    const int row = warps * HS_WARP * HS_VECTOR_BYTES + HS_BULK_LINE_BYTES;
    const int own = hs_bulk_rows(dims, large), halo = dims == 3 ? 2 * radius : 0;
    return HS_BULK_LINE_BYTES + (own + halo + (source ? own : 0)) * row;
}

/* Bytes for the old values at the ends of rows, stored unchanged: two groups of two vectors. */
HS_CONSTANT int hs_bulk_end_bytes(int dims, int radius, bool large)
{
    return radius * (dims == 2 ? 1 : hs_bulk_rows(dims, large)) * 4 * HS_VECTOR_BYTES;
}

/* Number of stages: one in use, the others in flight. More than the limits here were not faster. */
HS_CONSTANT int hs_bulk_stages(int dims, int radius, bool large, bool source)
{
    const int most = dims == 2 ? 12 : large ? 5 : 8, barriers = HS_BULK_BARRIER_BYTES * most;
    const int fit = (HS_BULK_SHARED_BYTES - hs_bulk_end_bytes(dims, radius, large) - barriers) /
                    hs_bulk_stage_bytes(dims, radius, large, source);
    return fit < most ? fit : most;
}

#endif
