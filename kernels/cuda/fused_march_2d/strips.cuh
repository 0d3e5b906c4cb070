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
constexpr int most_levels = sizeof(T) == 4 ? HS_STRIP_STEPS_FLOAT : HS_STRIP_STEPS_DOUBLE;

template <typename T>
struct arguments : star::faces<T, 4, 1> {
    const T *in;
    T *out;
    int64_t pitch;
    int nx, ny;
    struct hs_strip_cut cut;
    T c[5]; /* y-1, x-1, centre, x+1, y+1 */
    star::level<T, 4, 1> level[most_levels<T>];
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
