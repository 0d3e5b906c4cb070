/* The plan of `resident`: the whole grid on the chip, one block of it per multiprocessor. */
#ifndef HS_KERNELS_CUDA_RESIDENT_PLAN_H
#define HS_KERNELS_CUDA_RESIDENT_PLAN_H

#include "tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_RESIDENT_STEPS = 1024,  /* resident: most sweeps per launch */
    HS_RESIDENT_THREADS = 256, /* most threads of a block: each may have 255 registers */
    HS_RESIDENT_LEVEL = 16,    /* numbers kept per level: source, 6 offsets, 6 held values */
    HS_RESIDENT_SETS = 2,      /* places of each packet, used in turn */
    HS_RESIDENT_HEADER = 8,    /* bytes of the header of a warp's packets */
    HS_RESIDENT_ROW = 16 * (int)HS_RESIDENT_SETS * HS_WARP, /* packets begin at a multiple of it */
};

/* How many of a thread's vectors of a source field its registers can hold besides its own vectors;
 * the rest of the field lies in shared memory. */
HS_CONSTANT int hs_resident_source_held(int vectors)
{
    return vectors <= 10 ? vectors : vectors == 16 ? 10 : vectors == 18 ? 15 : 6;
}

/*
 * How `resident` divides a grid among blocks that all run at once, one per multiprocessor. Its axes
 * are along memory, from row to row, and from plane to plane: x, y, z in 3D; x, none, y in 2D.
 */
struct hs_resident {
    int rows, planes; /* vectors of 16 bytes that a thread owns */
    int wall[6];      /* held layers at the faces of rows and planes; no block owns them */
    int blocks[3];    /* along each axis */
    int own[3];       /* points of a block, at most */
    int halo[3];      /* points around a block's own that other blocks send */
    int depth;        /* sweeps between exchanges */
    int lanes;        /* threads along a row */
    int groups[2];    /* threads along the others */
    int threads;      /* of a block, in whole warps */
    int received;     /* vectors that a block receives in an exchange, at most */
    int looked_for;   /* ... in packets: if a row wraps within a vector, one more beside it */
    int places;       /* vectors of all its threads, each with its place to send to */
    int source;       /* vectors per thread whose part of a source field is in shared memory */
    int64_t shared_bytes;
};

/* The grid's axis that is the kernel's axis `axis`; -1 if there is none. */
int hs_resident_axis(int dims, int axis);

/* The blocks with the least estimated time; false if the grid does not fit on the chip with the
 * data kept beside it. */
bool hs_resident_cut(const struct hs_case *of, const struct hs_device_limits *limits,
                     struct hs_resident *out);

/* The scratch memory: where its parts begin, and its size, in bytes. */
struct hs_resident_memory {
    size_t exchanges, headers, sent, all;
};
struct hs_resident_memory hs_resident_share(const struct hs_resident *cut);

#ifdef __cplusplus
}
#endif

#endif
