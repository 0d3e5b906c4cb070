/*
 * Sums and extremes over all nodes, on the device, in double; the same bits each time and on every
 * device, since the number of partial results is fixed and the host puts them together in order.
 *
 * A warp takes a strip of a row at a time, so that the volume of its nodes is one number but at
 * the row's two ends.
 */
#include "engine/backends/cuda_parts.cuh"

#include <float.h>
#include <math.h>
#include <stdlib.h>

namespace
{

enum { BLOCKS = 1024, WARPS = 8, THREADS = 32 * WARPS, STRIP = 1024 /* nodes of a row */ };

struct partial {
    double min, max, change;
    double sum;    /* of volume * T, over the finite */
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
    return {INFINITY, -INFINITY, 0.0, 0.0, 0.0, 0, INT64_MAX};
}

/* One order of arguments throughout, so that the sums have one order too. */
__host__ __device__ inline partial join(const partial &a, const partial &b)
{
    return {fmin(a.min, b.min),
            fmax(a.max, b.max),
            fmax(a.change, b.change),
            a.sum + b.sum,
            a.volume + b.volume,
            a.bad + b.bad,
            a.first_bad < b.first_bad ? a.first_bad : b.first_bad};
}

template <typename T>
struct request {
    const T *now, *before; /* node (0, 0, 0); before: the same as now if there is none */
    int64_t points[HS_AXES], pitch_y, pitch_z;
    int64_t strips; /* of a row */
    volumes volume;
};

template <typename T>
__host__ __device__ int64_t strips_of(const request<T> &r)
{
    return r.strips * r.points[HS_Y] * r.points[HS_Z];
}

/* This lane's share of a strip; `share` is the volume of its nodes but for the x weights. */
template <typename T>
__device__ void add_strip(const request<T> &r, int64_t row, int64_t begin, partial &all)
{
    const int64_t nx = r.points[HS_X], j = row % r.points[HS_Y], k = row / r.points[HS_Y];
    const int64_t at = j * r.pitch_y + k * r.pitch_z;
    const int64_t end = begin + STRIP < nx ? begin + STRIP : nx;
    const double share = r.volume.cell * weight(r.volume, HS_Y, j, r.points[HS_Y]) *
                         weight(r.volume, HS_Z, k, r.points[HS_Z]);
    double sum = 0.0, lost = 0.0;
#pragma unroll 4
    for (int64_t i = begin + (threadIdx.x & 31); i < end; i += 32) {
        const double x = (double)r.now[at + i];
        const double w = weight(r.volume, HS_X, i, nx);
        if (fabs(x) <= DBL_MAX) {
            const double step = fabs(x - (double)r.before[at + i]);
            all.min = x < all.min ? x : all.min;
            all.max = x > all.max ? x : all.max;
            all.change = step > all.change ? step : all.change;
            sum += w * x;
        } else {
            lost += w;
            all.bad++;
            const int64_t node = row * nx + i;
            all.first_bad = node < all.first_bad ? node : all.first_bad;
        }
    }
    all.sum += share * sum;
    all.volume += share * lost;
}

__device__ partial shuffle_down(const partial &p, int lanes)
{
    const unsigned all = 0xffffffffu;
    return {__shfl_down_sync(all, p.min, lanes),
            __shfl_down_sync(all, p.max, lanes),
            __shfl_down_sync(all, p.change, lanes),
            __shfl_down_sync(all, p.sum, lanes),
            __shfl_down_sync(all, p.volume, lanes),
            (int64_t)__shfl_down_sync(all, (long long)p.bad, lanes),
            (int64_t)__shfl_down_sync(all, (long long)p.first_bad, lanes)};
}

template <typename T>
__global__ void __launch_bounds__(THREADS)
    reduce(const __grid_constant__ request<T> r, partial *out)
{
    __shared__ partial of_warp[WARPS];
    const int warp = threadIdx.x / 32;
    partial all = nothing();
    const int64_t strips = strips_of(r);
    for (int64_t s = (int64_t)blockIdx.x * WARPS + warp; s < strips;
         s += (int64_t)gridDim.x * WARPS) {
        const int64_t row = s / r.strips;
        add_strip(r, row, (s - row * r.strips) * STRIP, all);
    }
    for (int lanes = 16; lanes > 0; lanes /= 2)
        all = join(all, shuffle_down(all, lanes));
    if (threadIdx.x % 32 == 0)
        of_warp[warp] = all;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++)
            all = join(all, of_warp[w]);
        out[blockIdx.x] = all;
    }
}

template <typename T>
request<T> make_request(const hs_problem *problem, const hs_layout *layout, const void *now,
                        const void *before)
{
    request<T> r = {};
    r.now = (const T *)now;
    r.before = (const T *)(before ? before : now);
    r.pitch_y = layout->pitch[HS_Y];
    r.pitch_z = layout->pitch[HS_Z];
    r.strips = (layout->points[HS_X] + STRIP - 1) / STRIP;
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

/* A warp for each strip, of at most BLOCKS blocks, whose number is told. */
template <typename T>
hs_status launch(const request<T> &r, partial *out, int *blocks, cudaStream_t stream, hs_error *err)
{
    const int64_t wanted = (strips_of(r) + WARPS - 1) / WARPS;
    *blocks = wanted < BLOCKS ? (int)wanted : (int)BLOCKS;
    reduce<<<*blocks, THREADS, 0, stream>>>(r, out);
    HS_CUDA_LAUNCHED(err, "reduce", *blocks, THREADS);
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
    partial *device;
    partial host[BLOCKS];
};

hs_status hs_cuda_reducer_create(hs_cuda_reducer **out, hs_error *err)
{
    *out = (hs_cuda_reducer *)calloc(1, sizeof **out);
    if (!*out)
        return hs_error_add(err, HS_DEVICE, "not enough memory for the reductions");
    HS_CUDA_TRY(err, cudaMalloc(&(*out)->device, BLOCKS * sizeof(partial)));
    return HS_OK;
}

void hs_cuda_reducer_destroy(hs_cuda_reducer *reducer)
{
    if (reducer)
        cudaFree(reducer->device);
    free(reducer);
}

hs_status hs_cuda_reduce(hs_cuda_reducer *reducer, const hs_problem *problem,
                         const hs_layout *layout, const void *now, const void *before,
                         cudaStream_t stream, hs_reduction *out, hs_error *err)
{
    int blocks = 0;
    const hs_status st = problem->precision == HS_FLOAT
                             ? launch(make_request<float>(problem, layout, now, before),
                                      reducer->device, &blocks, stream, err)
                             : launch(make_request<double>(problem, layout, now, before),
                                      reducer->device, &blocks, stream, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaMemcpyAsync(reducer->host, reducer->device,
                                     (size_t)blocks * sizeof *reducer->host, cudaMemcpyDeviceToHost,
                                     stream));
    HS_CUDA_TRY(err, cudaStreamSynchronize(stream));
    partial all = nothing();
    for (int b = 0; b < blocks; b++)
        all = join(all, reducer->host[b]);

    const int64_t nx = layout->points[HS_X], ny = layout->points[HS_Y];
    const bool any = all.bad < hs_grid_count(&problem->grid);
    const int64_t bad = all.bad > 0 ? all.first_bad : 0;
    *out = {};
    out->min = any ? all.min : NAN;
    out->max = any ? all.max : NAN;
    out->mean = any ? all.sum / (whole_volume(problem) - all.volume) : NAN;
    out->heat = any ? all.sum * hs_problem_heat_capacity(problem) : NAN;
    out->change = before ? all.change : NAN;
    out->not_finite = all.bad;
    out->first_bad[HS_X] = bad % nx;
    out->first_bad[HS_Y] = bad / nx % ny;
    out->first_bad[HS_Z] = bad / nx / ny;
    return HS_OK;
}
