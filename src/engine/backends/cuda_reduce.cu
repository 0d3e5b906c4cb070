/*
 * The partials of a reduction (core/reduction.h), on the device: a thread block for each piece.
 *
 * A warp takes a strip of a row at a time: all nodes of a row but its two ends have the same
 * volume. It loads a whole batch of the strip before it uses any of it, and goes node by node only
 * where it must; so the two fields are read at nearly the full rate of memory.
 */
#include "core/cuda_numbers.cuh"
#include "core/slab.h"
#include "engine/backends/cuda_parts.cuh"

#include <float.h>
#include <math.h>

namespace
{

enum {
    WARPS = 8,
    THREADS = 32 * WARPS,
    BATCH = 4 /* vectors of each field that a lane loads at once */
};

template <typename T>
struct request {
    const T *now, *before; /* node (0, 0, 0); before: or nullptr */
    const T *fused;        /* the change, where a kernel has left it; or nullptr */
    int64_t points[HS_AXES], pitch_y, pitch_z;
    hs_blocks blocks;
    /* the whole grid: points; offsets of this one's node, along axes and in memory order */
    int64_t whole[HS_AXES], shift[HS_AXES], first;
    double cell, lower[HS_AXES], upper[HS_AXES]; /* volume of a cell, weights of the ends' nodes */
};

/* Share of a cell that a node stands for along an axis. */
template <typename T>
__device__ inline double weight(const request<T> &r, int axis, int64_t i)
{
    i += r.shift[axis];
    return (i == 0 ? r.lower[axis] : 1.0) * (i == r.whole[axis] - 1 ? r.upper[axis] : 1.0);
}

__device__ inline bool is_finite(float x)
{
    return fabsf(x) <= FLT_MAX;
}
__device__ inline bool is_finite(double x)
{
    return fabs(x) <= DBL_MAX;
}

/* What a lane finds: min, max and change in all its strips; the sums in one strip, where volumes
 * are in units of an inner node's. */
template <typename T>
struct found {
    T min, max, change;
    double sum, stored, lost;
};

/* Adds a node that is finite. */
template <bool CHANGE, typename T>
__device__ inline void add_node(T x, T before, found<T> &f)
{
    f.min = star::smaller(f.min, x);
    f.max = star::larger(f.max, x);
    f.sum += (double)x;
    if (CHANGE) {
        f.change = star::larger(f.change, star::distance(x, before));
        f.stored += (double)x - (double)before;
    }
}

/* Nodes of which some may not be finite, or where a row ends within a vector. */
template <bool CHANGE, typename T>
__device__ inline void add_one_by_one(const T *now, const T *before, int64_t node, int count,
                                      found<T> &f, hs_partial *here)
{
#pragma unroll 1
    for (int e = 0; e < count; e++) {
        const T x = now[e];
        if (is_finite(x)) {
            add_node<CHANGE>(x, before[e], f);
        } else {
            f.lost += 1.0;
            atomicAdd((unsigned long long *)&here->bad, 1ULL);
            atomicMin((unsigned long long *)&here->first_bad, (unsigned long long)(node + e));
        }
    }
}

/* Adds the rest of the weight of a strip's first or last node. */
template <typename T>
__device__ void add_end(T x, T before, double weight, found<T> &f)
{
    if (is_finite(x)) {
        f.sum += (weight - 1.0) * (double)x;
        f.stored += (weight - 1.0) * ((double)x - (double)before);
    } else
        f.lost += weight - 1.0;
}

/* This lane's share of a strip. Rows begin at multiples of 16 bytes and end before memory does. A
 * slab's part of a line may begin anywhere, and is read node by node, in the same order. */
template <bool CHANGE, typename T>
__device__ void add_strip(const request<T> &r, const hs_strip &strip, found<T> &f, hs_partial *here,
                          hs_partial &all)
{
    constexpr int WIDTH = star::vec<T>::WIDTH, WARP = 32 * WIDTH;
    const uint32_t ny = (uint32_t)r.points[HS_Y];
    const int64_t j = strip.row % ny, k = strip.row / ny;
    const int64_t first = strip.begin + j * r.pitch_y + k * r.pitch_z;
    const T *const now = r.now + first, *const before = (CHANGE ? r.before : r.now) + first;
    const int count = (int)(strip.end - strip.begin), lane = threadIdx.x & 31;
    const bool aligned = strip.begin % WIDTH == 0;
    f.sum = f.stored = f.lost = 0.0;
    const T outer = now[lane == 0 ? 0 : count - 1],
            outer_before = before[lane == 0 ? 0 : count - 1];
    const auto add_some = [&](int i) {
        add_one_by_one<CHANGE>(now + i, before + i,
                               r.first + strip.row * r.points[HS_X] + strip.begin + i,
                               count - i < WIDTH ? count - i : WIDTH, f, here);
    };
#pragma unroll 1
    for (int i = lane * WIDTH; i < count && aligned; i += BATCH * WARP) {
        star::vec<T> x[BATCH], y[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int at = i + b * WARP < count ? i + b * WARP : i;
            x[b] = *(const star::vec<T> *)(now + at);
            if (CHANGE)
                y[b] = *(const star::vec<T> *)(before + at);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int at = i + b * WARP;
            bool whole = at + WIDTH <= count;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                whole = whole && is_finite(x[b].v[e]);
            if (whole) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    add_node<CHANGE>(x[b].v[e], CHANGE ? y[b].v[e] : x[b].v[e], f);
            } else if (at < count) {
                add_some(at);
            }
        }
    }
#pragma unroll 1
    for (int i = lane * WIDTH; i < count && !aligned; i += WARP)
        add_some(i);
    const double share = r.cell * weight(r, HS_Y, j) * weight(r, HS_Z, k);
    const double at_begin = weight(r, HS_X, strip.begin), at_end = weight(r, HS_X, strip.end - 1);
    double nodes = 0.0;
    if (lane == 0) {
        add_end(outer, outer_before, at_begin, f);
        nodes = count + (at_begin - 1.0) + (count > 1 ? at_end - 1.0 : 0.0);
    } else if (lane == 1 && count > 1)
        add_end(outer, outer_before, at_end, f);
    all.sum.sum += share * f.sum;
    all.stored.sum += share * f.stored;
    all.volume.sum += share * (nodes - f.lost);
}

/* Adds the values of the lane `lanes` further on, always in the same order. */
__device__ void join_down(hs_partial &p, int lanes)
{
    const unsigned all = 0xffffffffu;
    p.min = fmin(p.min, __shfl_down_sync(all, p.min, lanes));
    p.max = fmax(p.max, __shfl_down_sync(all, p.max, lanes));
    p.change = fmax(p.change, __shfl_down_sync(all, p.change, lanes));
    p.sum.sum += __shfl_down_sync(all, p.sum.sum, lanes);
    p.stored.sum += __shfl_down_sync(all, p.stored.sum, lanes);
    p.volume.sum += __shfl_down_sync(all, p.volume.sum, lanes);
}

/* Limits registers, so that enough thread blocks have room to hide the latency of memory. */
template <bool CHANGE, typename T>
__global__ void __launch_bounds__(THREADS, CHANGE ? 3 : 4)
    reduce(const __grid_constant__ request<T> r, hs_partial *out)
{
    __shared__ hs_partial here, of_warp[WARPS];
    __shared__ hs_piece piece;
    if (threadIdx.x == 0) {
        piece = hs_piece_of(&r.blocks, blockIdx.x);
        here = {};
        here.first_bad = INT64_MAX;
    }
    __syncthreads();
    hs_partial all = {};
    found<T> f = {(T)INFINITY, -(T)INFINITY, (T)0, 0.0, 0.0, 0.0};
    for (uint32_t s = piece.first + threadIdx.x / 32; s < piece.last; s += WARPS)
        add_strip<CHANGE>(r, hs_strip_of(&piece, s), f, &here, all);
    all.min = (double)f.min;
    all.max = (double)f.max;
    all.change = (double)f.change;
    for (int lanes = 16; lanes > 0; lanes /= 2)
        join_down(all, lanes);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = all;
    __syncthreads();
    if (threadIdx.x >= 32)
        return;
    all = of_warp[threadIdx.x % WARPS];
    for (int lanes = WARPS / 2; lanes > 0; lanes /= 2)
        join_down(all, lanes);
    if (threadIdx.x == 0) {
        all.change = r.fused ? (double)*r.fused : CHANGE ? all.change : NAN;
        all.stored.sum = CHANGE ? all.stored.sum : NAN;
        all.sunk.sum = CHANGE ? 0.0 : NAN;
        all.bad = here.bad;
        all.first_bad = here.first_bad;
        here = all;
    }
    __syncwarp();
    /* to the host's memory, in as few writes as possible */
    static_assert(sizeof here <= 32 * sizeof(double), "a warp writes a partial");
    if (threadIdx.x < sizeof here / sizeof(double))
        ((double *)&out[blockIdx.x])[threadIdx.x] = ((const double *)&here)[threadIdx.x];
}

/* What the reduction of a field is told, but for the fields. */
template <typename T>
request<T> describe(const hs_problem *problem, const hs_layout *layout)
{
    const hs_problem *whole = problem->slab ? problem->slab->whole : problem;
    const int slowest = whole->grid.dims - 1;
    request<T> r = {};
    r.pitch_y = layout->pitch[HS_Y];
    r.pitch_z = layout->pitch[HS_Z];
    r.blocks = hs_blocks_of(problem);
    r.shift[slowest] = r.blocks.shift;
    r.first = r.blocks.shift * (hs_grid_count(&problem->grid) / layout->points[slowest]);
    r.cell = 1.0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const bool there = axis < whole->grid.dims;
        r.points[axis] = layout->points[axis];
        r.whole[axis] = whole->grid.points[axis];
        r.cell *= there ? whole->grid.spacing[axis] : 1.0;
        r.lower[axis] = there ? whole->face[2 * axis].edge_weight : 1.0;
        r.upper[axis] = there ? whole->face[2 * axis + 1].edge_weight : 1.0;
    }
    return r;
}

} // namespace

hs_status hs_cuda_reducer_init(hs_cuda_reducer *reducer, const hs_problem *problem, hs_error *err)
{
    const size_t pieces = (size_t)hs_blocks_of(problem).pieces;
    HS_CUDA_TRY(err, cudaMalloc(&reducer->change, sizeof(double)));
    HS_CUDA_TRY(err, cudaMallocHost(&reducer->partial, pieces * sizeof(hs_partial)));
    return HS_OK;
}

void hs_cuda_reducer_release(hs_cuda_reducer *reducer)
{
    cudaFree(reducer->change);
    cudaFreeHost(reducer->partial);
    *reducer = {};
}

hs_status hs_cuda_reducer_change(const hs_cuda_reducer *reducer, cudaStream_t stream, void **out,
                                 hs_error *err)
{
    HS_CUDA_TRY(err, cudaMemsetAsync(reducer->change, 0, sizeof(double), stream));
    *out = reducer->change;
    return HS_OK;
}

hs_status hs_cuda_reduce(const hs_cuda_reducer *reducer, const hs_problem *problem,
                         const hs_layout *layout, const void *now, const void *before, bool fused,
                         cudaStream_t stream, hs_error *err)
{
    const int64_t pieces = hs_blocks_of(problem).pieces;
    hs_cuda_typed(problem->precision, [&](auto zero) {
        typedef decltype(zero) T;
        request<T> r = describe<T>(problem, layout);
        r.now = (const T *)now;
        r.before = (const T *)before;
        r.fused = fused ? (const T *)reducer->change : NULL;
        const auto kernel = before ? reduce<true, T> : reduce<false, T>;
        kernel<<<(unsigned)pieces, THREADS, 0, stream>>>(r, reducer->partial);
    });
    HS_CUDA_LAUNCHED(err, "reduce", pieces, THREADS);
    return HS_OK;
}
