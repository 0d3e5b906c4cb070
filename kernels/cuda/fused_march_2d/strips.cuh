/*
 * The strips of fused_march_2d, which go along y, and how blocks share them: each block has parts
 * of one or more strips of about equal cost, so that all blocks end together.
 */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_2D_STRIPS_CUH
#define HS_KERNELS_CUDA_FUSED_MARCH_2D_STRIPS_CUH

#include "levels.cuh"

#include "plan.h"

namespace strip
{

template <typename T>
struct strip_shape {
    static constexpr bool SINGLE = sizeof(T) == 4;
    enum {
        WIDTH = SINGLE ? HS_STRIP_WIDTH_FLOAT : HS_STRIP_WIDTH_DOUBLE,
        LEVELS = SINGLE ? HS_STRIP_STEPS_FLOAT : HS_STRIP_STEPS_DOUBLE, /* at most */
        DEEP = SINGLE ? HS_STRIP_DEEP_FLOAT : HS_STRIP_DEEP_DOUBLE,     /* of a group, at most */
        FEW = SINGLE ? (int)LEVELS : (int)HS_STRIP_FEW_DOUBLE, /* in the variant for few levels */
        WARPS = SINGLE ? HS_STRIP_WARPS_FLOAT : HS_STRIP_WARPS_DOUBLE,
        BLOCKS = SINGLE ? HS_STRIP_BLOCKS_FLOAT : HS_STRIP_BLOCKS_DOUBLE
    };
};

template <typename T>
struct arguments : star::faces<T, 4, 1> {
    const T *in;
    T *out;
    int64_t pitch;
    int nx, ny;
    struct hs_strip_cut cut;
    T c[5]; /* y-1, x-1, centre, x+1, y+1 */
    star::level<T, 4, 1> level[strip_shape<T>::LEVELS];
};

using star::wrapped;

/* This block's first and last strip, its first row in the one and its end in the other. */
struct share {
    int first, last;
    int lo, hi;
};

__device__ inline share share_of(const struct hs_strip_cut &cut, int block)
{
    const hs_strip_place from = hs_strip_begin(&cut, block), to = hs_strip_begin(&cut, block + 1);
    return {from.strip, to.strip, from.row, to.row};
}

} // namespace strip

#endif
