/* Tiles of conduction_march, conduction_bulk and conduction_fused. */
#ifndef HS_KERNELS_CUDA_CONDUCTION_PLAN_H
#define HS_KERNELS_CUDA_CONDUCTION_PLAN_H

#include "bulk.h"
#include "columns.h"

enum {
    HS_CONDUCTION_BYTE_ROWS = 256,   /* most rows of a palette with one-byte numbers */
    HS_CONDUCTION_SHORT_ROWS = 1024, /* ... with two bytes, those in shared memory */

    HS_CONDUCTION_WARPS = 8,   /* conduction_march: warps of a block ... */
    HS_CONDUCTION_BLOCKS = 3,  /* ... blocks that fit on a multiprocessor ... */
    HS_CONDUCTION_AHEAD = 1,   /* ... planes in flight ... */
    HS_CONDUCTION_PLANES = 16, /* ... and planes that a block marches through in 3D */

    HS_CONDUCTION_BULK_X = 4,    /* conduction_bulk: warps side by side ... */
    HS_CONDUCTION_BULK_Y = 8,    /* ... rows of a tile ... */
    HS_CONDUCTION_BULK_ROWS = 2, /* ... rows that a thread owns ... */
    HS_CONDUCTION_BULK_SUMMING = HS_CONDUCTION_BULK_X * HS_CONDUCTION_BULK_Y /
                                 HS_CONDUCTION_BULK_ROWS, /* ... warps that sum ... */
    HS_CONDUCTION_BULK_STAGES = 7, /* ... and most planes in flight or in use */

    HS_CONDUCTION_STEPS = 3,        /* conduction_fused: most sweeps per launch */
    HS_CONDUCTION_ROWS = 3,         /* rows that a thread owns */
    HS_CONDUCTION_FUSED_WARPS = 12, /* of a block */
    HS_CONDUCTION_DEPTH = 6,        /* planes of a tile in flight or in use */
};

/* Rows of a palette in shared memory, by the size of its numbers in bytes. */
HS_CONSTANT int hs_conduction_rows(int number)
{
    return number == 1 ? HS_CONDUCTION_BYTE_ROWS : HS_CONDUCTION_SHORT_ROWS;
}

/* Bytes of a tile's plane in conduction_bulk: rows of values of `size` bytes, two more than its
 * own, and rows of numbers, one more. Each has an extra line for its neighbours along x, and there
 * is one before the first row. */
HS_CONSTANT int hs_conduction_bulk_stage_bytes(int size, int number)
{
    const int line = HS_BULK_LINE_BYTES, warps = HS_CONDUCTION_BULK_X;
    const int width = warps * HS_WARP * HS_VECTOR_BYTES;
    return line + (HS_CONDUCTION_BULK_Y + 2) * (width + line) + //
           line + (HS_CONDUCTION_BULK_Y + 1) * (width / size * number + line);
}

HS_CONSTANT int hs_conduction_bulk_stages(int size, int number, int palette)
{
    const int most = HS_CONDUCTION_BULK_STAGES;
    const int fit = (HS_BULK_SHARED_BYTES - palette - HS_BULK_BARRIER_BYTES * most) /
                    hs_conduction_bulk_stage_bytes(size, number);
    return fit < most ? fit : most;
}

#endif
