/*
 * Sums and extremes over all nodes, on the device, in double; the same bits each time and on every
 * device, since the number of partial results is fixed and they are put together in one order.
 *
 * A warp takes a strip of a row at a time, so that the volume of its nodes is one number but at
 * the row's two ends. It asks for all of a strip's batch before it looks at any of it, and looks
 * node by node only where it must: the two fields then come nearly as fast as memory gives them.
 */
#include "engine/backends/cuda_parts.cuh"

#include <float.h>
#include <math.h>
#include <stdlib.h>

namespace
{

enum {
    BLOCKS = 1024,
    WARPS = 8,
    THREADS = 32 * WARPS,
    STRIP = 1024, /* nodes of a row */
    BATCH = 4     /* vectors of each field that a lane asks for at once */
};

struct partial {
    double min, max, change;
    double sum;    /* of volume * T, over the finite */
    double stored; /* of volume * (T - T before) */
    double volume; /* of the nodes that are not finite */
    int64_t bad, first_bad;
};

/* Share of a cell that the nodes at each end stand for, and the volume of a whole one. */
struct volumes {
    double cell;
    double lower[HS_AXES], upper[HS_AXES];
};

__host__ __device__ inline double weight(const volumes &v, int axis, int64_t i, int64_t n)
{
    return (i == 0 ? v.lower[axis] : 1.0) * (i == n - 1 ? v.upper[axis] : 1.0);
}

__host__ __device__ inline partial nothing()
{
    return {INFINITY, -INFINITY, 0.0, 0.0, 0.0, 0.0, 0, INT64_MAX};
}

/* One order of arguments throughout, so that the sums have one order too. */
__host__ __device__ inline partial join(const partial &a, const partial &b)
{
    return {fmin(a.min, b.min),
            fmax(a.max, b.max),
            fmax(a.change, b.change),
            a.sum + b.sum,
            a.stored + b.stored,
            a.volume + b.volume,
            a.bad + b.bad,
            a.first_bad < b.first_bad ? a.first_bad : b.first_bad};
}

template <typename T>
struct request {
    const T *now, *before; /* node (0, 0, 0); before: or nullptr */
    int64_t points[HS_AXES], pitch_y, pitch_z;
    uint32_t strips; /* of a row */
    volumes volume;
};

/* Fewer than 2^32: so many rows would take 512 GiB, and a division of 64 bits takes longer than a
 * lane's points. */
template <typename T>
__host__ __device__ uint32_t strips_of(const request<T> &r)
{
    return r.strips * (uint32_t)r.points[HS_Y] * (uint32_t)r.points[HS_Z];
}

template <typename T>
struct alignas(16) vector {
    enum { WIDTH = 16 / sizeof(T) };
    T v[WIDTH];
};

__device__ inline bool is_finite(float x)
{
    return fabsf(x) <= FLT_MAX;
}
__device__ inline bool is_finite(double x)
{
    return fabs(x) <= DBL_MAX;
}

/* What a lane finds in a strip; the volumes in units of an inner node's. */
template <typename T>
struct found {
    T min, max, change;
    double sum, stored, lost;
};

__device__ inline float smaller(float a, float b)
{
    return fminf(a, b);
}
__device__ inline float larger(float a, float b)
{
    return fmaxf(a, b);
}
/* of numbers, where the library's would look for NaN first */
__device__ inline double smaller(double a, double b)
{
    return a < b ? a : b;
}
__device__ inline double larger(double a, double b)
{
    return a > b ? a : b;
}
__device__ inline float distance(float a, float b)
{
    return fabsf(a - b);
}
__device__ inline double distance(double a, double b)
{
    return fabs(a - b);
}

/* A node that is finite. */
template <bool CHANGE, typename T>
__device__ inline void add_node(T x, T before, found<T> &f)
{
    f.min = smaller(x, f.min);
    f.max = larger(x, f.max);
    f.sum += (double)x;
    if (CHANGE) {
        f.change = larger(distance(x, before), f.change);
        f.stored += (double)x - (double)before;
    }
}

/* Nodes of which some may not be finite, or where a row ends within a vector. */
template <bool CHANGE, typename T>
__device__ inline void add_one_by_one(const T *now, const T *before, int64_t node, int count,
                                      found<T> &f, partial &all)
{
#pragma unroll 1
    for (int e = 0; e < count; e++) {
        const T x = now[e];
        if (is_finite(x)) {
            add_node<CHANGE>(x, before[e], f);
        } else {
            f.lost += 1.0;
            all.bad++;
            all.first_bad = node + e < all.first_bad ? node + e : all.first_bad;
        }
    }
}

/* The rest of what a row's first or last node counts for. */
template <typename T>
__device__ void add_end(T x, T before, double weight, found<T> &f)
{
    if (is_finite(x)) {
        f.sum += (weight - 1.0) * (double)x;
        f.stored += (weight - 1.0) * ((double)x - (double)before);
    } else
        f.lost += weight - 1.0;
}

/* This lane's share of a strip. Rows begin at multiples of 16 bytes and end before memory does. */
template <bool CHANGE, typename T>
__device__ void add_strip(const request<T> &r, uint32_t row, int64_t begin, partial &all)
{
    constexpr int WIDTH = vector<T>::WIDTH;
    const uint32_t ny = (uint32_t)r.points[HS_Y];
    const int64_t nx = r.points[HS_X], j = row % ny, k = row / ny;
    const T *const now = r.now + j * r.pitch_y + k * r.pitch_z;
    const T *const before = (CHANGE ? r.before : r.now) + j * r.pitch_y + k * r.pitch_z;
    const int64_t end = begin + STRIP < nx ? begin + STRIP : nx;
    const int lane = threadIdx.x & 31;
    found<T> f = {(T)INFINITY, -(T)INFINITY, (T)0, 0.0, 0.0, 0.0};
    const T row_end = now[lane == 0 ? 0 : nx - 1], end_before = before[lane == 0 ? 0 : nx - 1];
#pragma unroll 1
    for (int64_t i = begin + lane * WIDTH; i < end; i += BATCH * 32 * WIDTH) {
        vector<T> x[BATCH], y[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int64_t at = i + b * 32 * WIDTH < end ? i + b * 32 * WIDTH : i;
            x[b] = *(const vector<T> *)(now + at);
            if (CHANGE)
                y[b] = *(const vector<T> *)(before + at);
        }
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            const int64_t at = i + b * 32 * WIDTH;
            bool whole = at + WIDTH <= end;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                whole = whole && is_finite(x[b].v[e]);
            if (whole) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    add_node<CHANGE>(x[b].v[e], CHANGE ? y[b].v[e] : x[b].v[e], f);
            } else if (at < end) {
                add_one_by_one<CHANGE>(now + at, before + at, row * nx + at,
                                       (int)(end - at < WIDTH ? end - at : WIDTH), f, all);
            }
        }
    }
    if (lane == 0 && begin == 0)
        add_end(row_end, end_before, r.volume.lower[HS_X], f);
    if (lane == 1 && end == nx)
        add_end(row_end, end_before, r.volume.upper[HS_X], f);
    const double share = r.volume.cell * weight(r.volume, HS_Y, j, r.points[HS_Y]) *
                         weight(r.volume, HS_Z, k, r.points[HS_Z]);
    all.min = (double)f.min < all.min ? (double)f.min : all.min;
    all.max = (double)f.max > all.max ? (double)f.max : all.max;
    all.change = (double)f.change > all.change ? (double)f.change : all.change;
    all.sum += share * f.sum;
    all.stored += share * f.stored;
    all.volume += share * f.lost;
}

__device__ partial shuffle_down(const partial &p, int lanes)
{
    const unsigned all = 0xffffffffu;
    return {__shfl_down_sync(all, p.min, lanes),
            __shfl_down_sync(all, p.max, lanes),
            __shfl_down_sync(all, p.change, lanes),
            __shfl_down_sync(all, p.sum, lanes),
            __shfl_down_sync(all, p.stored, lanes),
            __shfl_down_sync(all, p.volume, lanes),
            (int64_t)__shfl_down_sync(all, (long long)p.bad, lanes),
            (int64_t)__shfl_down_sync(all, (long long)p.first_bad, lanes)};
}

/* What a block's threads found. */
template <int OF_WARPS>
__device__ void join_block(partial all, partial *out)
{
    __shared__ partial of_warp[OF_WARPS];
    for (int lanes = 16; lanes > 0; lanes /= 2)
        all = join(all, shuffle_down(all, lanes));
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = all;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < OF_WARPS; w++)
            all = join(all, of_warp[w]);
        *out = all;
    }
}

template <bool CHANGE, typename T>
__global__ void __launch_bounds__(THREADS)
    reduce(const __grid_constant__ request<T> r, partial *out)
{
    const int warp = threadIdx.x / 32;
    partial all = nothing();
    const uint32_t strips = strips_of(r);
    for (uint64_t s = blockIdx.x * WARPS + warp; s < strips; s += gridDim.x * WARPS) {
        const uint32_t row = (uint32_t)s / r.strips;
        add_strip<CHANGE>(r, row, (int64_t)((uint32_t)s - row * r.strips) * STRIP, all);
    }
    join_block<WARPS>(all, out + blockIdx.x);
}

/* What the blocks found, each thread's one of them; and the change, where a kernel has left it. */
template <typename T>
__global__ void __launch_bounds__(BLOCKS)
    join_blocks(const partial *from, int blocks, const T *fused, partial *out)
{
    partial mine = (int)threadIdx.x < blocks ? from[threadIdx.x] : nothing();
    if (fused)
        mine.change = (double)*fused;
    join_block<BLOCKS / 32>(mine, out);
}

template <typename T>
request<T> make_request(const hs_problem *problem, const hs_layout *layout, const void *now,
                        const void *before)
{
    request<T> r = {};
    r.now = (const T *)now;
    r.before = (const T *)before;
    r.pitch_y = layout->pitch[HS_Y];
    r.pitch_z = layout->pitch[HS_Z];
    r.strips = (uint32_t)hs_divide_up(layout->points[HS_X], STRIP);
    r.volume.cell = 1.0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const bool there = axis < problem->grid.dims;
        r.points[axis] = layout->points[axis];
        r.volume.cell *= there ? problem->grid.spacing[axis] : 1.0;
        r.volume.lower[axis] = there ? problem->face[2 * axis].edge_weight : 1.0;
        r.volume.upper[axis] = there ? problem->face[2 * axis + 1].edge_weight : 1.0;
    }
    return r;
}

/* A warp for each strip, of at most BLOCKS blocks; then one block for all of theirs. */
template <typename T>
hs_status launch(const request<T> &r, const T *fused, partial *of_blocks, partial *all,
                 cudaStream_t stream, hs_error *err)
{
    const int64_t wanted = hs_divide_up((int64_t)strips_of(r), WARPS);
    const int blocks = wanted < BLOCKS ? (int)wanted : (int)BLOCKS;
    if (r.before)
        reduce<true><<<blocks, THREADS, 0, stream>>>(r, of_blocks);
    else
        reduce<false><<<blocks, THREADS, 0, stream>>>(r, of_blocks);
    HS_CUDA_LAUNCHED(err, "reduce", blocks, THREADS);
    join_blocks<<<1, BLOCKS, 0, stream>>>(of_blocks, blocks, fused, all);
    HS_CUDA_LAUNCHED(err, "join_blocks", 1, BLOCKS);
    return HS_OK;
}

/* Volume of all nodes [m^dims]. */
double whole_volume(const hs_problem *problem)
{
    double volume = 1.0;
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        const double lower = problem->face[2 * axis].edge_weight;
        const double upper = problem->face[2 * axis + 1].edge_weight;
        const double n = (double)problem->grid.points[axis];
        volume *= problem->grid.spacing[axis] * (n > 1.0 ? n - 2.0 + lower + upper : lower * upper);
    }
    return volume;
}

} // namespace

struct hs_cuda_reducer {
    partial *blocks; /* [BLOCKS] on the device */
    double *change;  /* there too, the fused max-norm: a T */
    partial *all;    /* pinned memory here, which the device writes itself */
};

hs_status hs_cuda_reducer_create(hs_cuda_reducer **out, hs_error *err)
{
    *out = (hs_cuda_reducer *)calloc(1, sizeof **out);
    if (!*out)
        return hs_error_add(err, HS_DEVICE, "not enough memory for the reductions");
    HS_CUDA_TRY(err, cudaMalloc(&(*out)->blocks, BLOCKS * sizeof(partial)));
    HS_CUDA_TRY(err, cudaMalloc(&(*out)->change, sizeof(double)));
    HS_CUDA_TRY(err, cudaMallocHost(&(*out)->all, sizeof(partial)));
    return HS_OK;
}

void hs_cuda_reducer_destroy(hs_cuda_reducer *reducer)
{
    if (reducer) {
        cudaFree(reducer->blocks);
        cudaFree(reducer->change);
        cudaFreeHost(reducer->all);
    }
    free(reducer);
}

hs_status hs_cuda_reducer_change(hs_cuda_reducer *reducer, cudaStream_t stream, void **out,
                                 hs_error *err)
{
    HS_CUDA_TRY(err, cudaMemsetAsync(reducer->change, 0, sizeof *reducer->change, stream));
    *out = reducer->change;
    return HS_OK;
}

hs_status hs_cuda_reduce(hs_cuda_reducer *reducer, const hs_problem *problem,
                         const hs_layout *layout, const void *now, const void *before, bool fused,
                         cudaStream_t stream, hs_reduction *out, hs_error *err)
{
    const void *change = fused ? reducer->change : NULL;
    const hs_status st =
        problem->precision == HS_FLOAT
            ? launch(make_request<float>(problem, layout, now, before), (const float *)change,
                     reducer->blocks, reducer->all, stream, err)
            : launch(make_request<double>(problem, layout, now, before), (const double *)change,
                     reducer->blocks, reducer->all, stream, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaStreamSynchronize(stream));
    const partial all = *reducer->all;

    const int64_t nx = layout->points[HS_X], ny = layout->points[HS_Y];
    const bool any = all.bad < hs_grid_count(&problem->grid);
    const int64_t bad = all.bad > 0 ? all.first_bad : 0;
    *out = {};
    out->min = any ? all.min : NAN;
    out->max = any ? all.max : NAN;
    out->mean = any ? all.sum / (whole_volume(problem) - all.volume) : NAN;
    out->heat = any ? all.sum * hs_problem_heat_capacity(problem) : NAN;
    out->change = before || fused ? all.change : NAN;
    const bool known = before && any && !problem->body; /* a body's are in its network */
    out->stored = known ? all.stored * hs_problem_heat_capacity(problem) : NAN;
    out->sunk = NAN;
    out->not_finite = all.bad;
    out->first_bad[HS_X] = bad % nx;
    out->first_bad[HS_Y] = bad / nx % ny;
    out->first_bad[HS_Z] = bad / nx / ny;
    return HS_OK;
}
