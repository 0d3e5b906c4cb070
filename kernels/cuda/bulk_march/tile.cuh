/*
 * What a block of bulk_march works on: its tile, the ring of stages in shared memory, and its
 * chunks.
 */
#ifndef HS_KERNELS_CUDA_BULK_MARCH_TILE_CUH
#define HS_KERNELS_CUDA_BULK_MARCH_TILE_CUH

#include "bulk_ring.cuh"
#include "vector.cuh"

#include "plan.h"

namespace bulk_rows
{

using bulk::chunk;
using bulk::chunk_of;
using bulk::turn;
using star::vec;

enum { WARP = HS_WARP };

template <int DIMS_, int RADIUS, typename REAL, bool IS_LARGE, bool FIELD>
struct tile {
    using T = REAL;
    enum {
        DIMS = DIMS_,
        SOURCE = FIELD, /* whether the source is a field */
        R = RADIUS,
        N = vec<T>::WIDTH,
        MARCH = DIMS - 1, /* the marching axis */
        WX = DIMS == 2 ? (int)HS_BULK_X_2D : (int)HS_BULK_X,
        WY = DIMS == 2  ? 1
             : IS_LARGE ? (int)HS_BULK_Y_LARGE
                        : (int)HS_BULK_Y,
        OWN = hs_bulk_rows(DIMS, IS_LARGE), /* rows of a stage, without halo */
        ROWS = (int)OWN / (int)WY,          /* of a thread */
        PLANES = DIMS == 2 ? (int)OWN : 1,  /* by which a stage advances the march */
        HALO_Y = DIMS == 3 ? (int)R : 0,
        STAGES = hs_bulk_stages(DIMS, RADIUS, IS_LARGE, FIELD),
        SUMMING = (int)WX * (int)WY, /* warps that sum; the others issue copies */
        COPYING = HS_BULK_COPYING,
        THREADS = (int)WARP * ((int)SUMMING + (int)COPYING),
        X = (int)WX * (int)WARP * (int)N,
        Y = DIMS == 3 ? (int)OWN : 1,
        HALO = (R + N - 1) / N * N, /* along x, in whole vectors */
        LINE = (int)HS_BULK_LINE_BYTES / (int)sizeof(T),
        PITCH = (int)X + (int)LINE,
        GROUP = 32 / sizeof(T),
        ENDS = 4 /* vectors of a row's two outer groups */
    };
    /* stages of a step, and how many steps a block may be ahead; chosen by measuring */
    using limiter = throttle::limiter<IS_LARGE ? 1 : 2, IS_LARGE ? 3 : 2>;
    /* Messages to the summing warps: each value that they need not keep saves a register. */
    enum { SAME = -1, END = -2 };
    struct message {
        int begins;   /* the chunk that begins with the stage, or SAME, or END */
        unsigned due; /* a bit for each of its planes that completes sums to be stored */
        int turn;     /* index in `ends` of its first plane */
    };
    /* Rows from -HALO_Y, columns from -HALO. The points left of a row's first lie in the spare line
     * of the row before; the space before the first row is larger than needed. After these rows
     * come those of the source, for points R planes above. */
    struct alignas(HS_BULK_LINE_BYTES) stage {
        message note;
        alignas(HS_BULK_LINE_BYTES /
                2) T value[LINE / 2 + (OWN + 2 * HALO_Y + (FIELD ? OWN : 0)) * PITCH];
        __device__ __forceinline__ T *at(int row, int column)
        {
            return value + LINE / 2 + (row + HALO_Y) * PITCH + column;
        }
        __device__ __forceinline__ T *source_at(int row, int column)
        {
            return at(OWN + HALO_Y + row, column);
        }
    };
    static_assert(sizeof(stage) == hs_bulk_stage_bytes(DIMS_, RADIUS, IS_LARGE, FIELD));
    struct shared_memory {
        stage stages[STAGES];
        vec<T> ends[R][Y][ENDS]; /* old values of the rows' outer groups in planes z-R .. z-1 */
        bulk::ring<STAGES> ring;
    };
    static_assert(HALO <= LINE / 2 && sizeof(message) <= HS_BULK_LINE_BYTES / 2);
    static_assert(sizeof(shared_memory) <= HS_BULK_SHARED_BYTES);
    static_assert((int)OWN + 2 * (int)HALO_Y <= (int)WARP * (int)COPYING);
};

template <class B, typename T>
__device__ __forceinline__ int64_t pitch_of(const star::request<T> &r)
{
    return B::DIMS == 3 ? r.pitch_z : r.pitch_y;
}

} // namespace bulk_rows

#endif
