/*
 * The strips of fused_march_2d, which go along y, and how the blocks share them: each has a stretch
 * of the line that they make one after the other, so that all end together.
 */
#ifndef HS_KERNELS_CUDA_STRIPS_CUH
#define HS_KERNELS_CUDA_STRIPS_CUH

#include "levels.cuh"

#include "core/tiling_strips.h"

namespace strip
{

template <typename T>
struct strip_shape;
template <>
struct strip_shape<float> {
    enum {
        WIDTH = HS_STRIP_WIDTH_FLOAT,
        LEVELS = HS_STRIP_STEPS_FLOAT, /* at most */
        DEEP = HS_STRIP_DEEP_FLOAT,    /* of a group, at most */
        FEW = LEVELS,                  /* levels, in the form for few of them */
        WARPS = HS_STRIP_WARPS_FLOAT,
        BLOCKS = HS_STRIP_BLOCKS_FLOAT
    };
};
template <>
struct strip_shape<double> {
    enum {
        WIDTH = HS_STRIP_WIDTH_DOUBLE,
        LEVELS = HS_STRIP_STEPS_DOUBLE,
        DEEP = HS_STRIP_DEEP_DOUBLE,
        FEW = HS_STRIP_FEW_DOUBLE,
        WARPS = HS_STRIP_WARPS_DOUBLE,
        BLOCKS = HS_STRIP_BLOCKS_DOUBLE
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

/*
 * The strips, one after the other, are a line that the blocks share in equal parts, so that all end
 * together. Its length is counted in sixteenths of a row inside: one of the outer strips costs
 * more, and so do a strip's beginning and the ends at faces of y.
 */
template <typename T>
struct line {
    const arguments<T> &p;
    int64_t ends, inside, outer; /* lengths: before a strip's first row, of strips */

    __device__ explicit line(const arguments<T> &arguments) : p(arguments)
    {
        ends = 16 * (p.cut.fill + (p.wrap[1] ? 0 : p.cut.slow));
        const int64_t both = ends + 16 * (p.wrap[1] ? 0 : p.cut.slow);
        inside = both + (int64_t)p.ny * 16;
        outer = both + (int64_t)p.ny * p.cut.outer;
    }
    __device__ bool is_outer(int strip) const
    {
        return strip == 0 || strip == p.cut.strips - 1;
    }
    __device__ int64_t begin(int strip) const
    {
        const int64_t before = strip > 0 ? 1 : 0;
        const int64_t last = strip == p.cut.strips && strip > 1 ? 1 : 0;
        return (strip - before - last) * inside + (before + last) * outer;
    }
    /* The strip at a place, and its row there. */
    __device__ int strip(int64_t place) const
    {
        const int64_t first = begin(1);
        const int found = place < first ? 0 : (int)(1 + (place - first) / inside);
        return min(found, p.cut.strips - 1);
    }
    __device__ int row(int strip, int64_t place) const
    {
        const int64_t past = place - begin(strip) - ends;
        const int row = (int)(past / (is_outer(strip) ? p.cut.outer : 16));
        return min(max(row, 0), p.ny);
    }
};

/* This block's strips, the row in the first to begin with, and that in the last to end before. */
struct share {
    int first, last;
    int lo, hi;
};

template <typename T>
__device__ share share_of(const arguments<T> &p, int64_t block, int64_t blocks)
{
    const line<T> all(p);
    const int64_t length = all.begin(p.cut.strips);
    const int64_t from = length * block / blocks, to = length * (block + 1) / blocks;
    const int first = all.strip(from), last = all.strip(to);
    return {first, last, all.row(first, from), all.row(last, to)};
}

} // namespace strip

#endif
