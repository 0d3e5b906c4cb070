/*
 * warp_shuffle: in 1D the lanes of a warp pass their points to each other.
 *
 * Each lane loads one point and reads its neighbours from the registers of adjacent lanes. At the
 * two ends of the warp some neighbours belong to no lane of this warp: the first R and the last R
 * lanes load one more value, R places outside, and pass it on in the same way.
 *
 *      outside        lanes of one warp                  outside
 *      [e0 .. eR-1]   [ 0  1  2  ...  29 30 31 ]   [eR' .. ]       e: loaded by lanes 0..R-1
 *            `-> 0, 1 ..    <- shuffle ->     .. 30, 31 <-'           and 32-R..31
 *
 * Words per point: 1 + 2R/32 loaded, 1 written. No shared memory, no barrier.
 *
 * Source: the shuffle instructions' usual example, e.g. Harris, Faster parallel reductions on
 * Kepler (2014) for the reduction; the two loads at the warp's ends are ours.
 */
#include "tiles.h"

enum { THREADS = 256, WARP = HS_WARP };

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(warp_shuffle);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    const int threads[HS_AXES] = {THREADS, 1, 1};
    hs_tile_set(of, THREADS, 1, 1, &out->launch);
    hs_tile_finish(of, &of->box, threads, &out->launch);
    out->launch.points_loaded = THREADS + THREADS / HS_WARP * 2 * hs_tile_halo(of, HS_X);
    return true;
}

const struct hs_kernel hs_kernel_cuda_warp_shuffle = {
    .name = "warp_shuffle",
    .idea = "1D: lanes hand their points to each other; a warp's ends load one value more",
    .origin = "warp shuffle instructions, CUDA C++ Programming Guide",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_1D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_warp_shuffle,
};

#else /* the kernel */

#include "common.cuh"

namespace
{

const unsigned ALL = 0xffffffffu;

/* The value `offset` places to the right of lane's `own`. Outside the warp it comes from `outer`:
 * lanes 0..R-1 hold the value R places to their left, lanes 32-R..31 the one R places to their
 * right. All 32 lanes call it. */
template <int R, typename T>
__device__ __forceinline__ T neighbour(T own, T outer, int lane, int offset)
{
    if (offset == 0)
        return own;
    if (offset < 0) { /* lane lane+offset+R holds place lane+offset < 0 */
        const T inside = __shfl_up_sync(ALL, own, -offset);
        const T outside = __shfl_down_sync(ALL, outer, R + offset);
        return lane + offset < 0 ? outside : inside;
    }
    const T inside = __shfl_down_sync(ALL, own, offset);
    const T outside = __shfl_up_sync(ALL, outer, R - offset);
    return lane + offset >= WARP ? outside : inside;
}

template <int R, typename T>
__global__ void __launch_bounds__(THREADS) warp_shuffle(const __grid_constant__ star::request<T> r)
{
    const int lane = threadIdx.x % WARP;
    const int64_t x = r.lo[HS_X] + (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const int64_t end = r.hi[HS_X] + R; /* end of what can be loaded */
    const int64_t x_outer = lane < R ? x - R : x + R;
    const bool at_end = lane < R || lane >= WARP - R;

    const T own = x < end ? r.in[x] : (T)0;
    const T outer = at_end && x_outer < end ? r.in[x_outer] : (T)0;
    const bool output = x < r.hi[HS_X];
    const T first = output ? star::start(r, x) : (T)0;
    const T sum =
        star::sum<1, R>(r.c, first, [&](int, int o) { return neighbour<R>(own, outer, lane, o); });
    if (output)
        r.out[x] = sum;
}

} // namespace

HS_CUDA_SWEEP(warp_shuffle)
{
    const hs_geometry &shape = plan->launch;
    return star::choose<1, 1, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("warp_shuffle", warp_shuffle<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err);
    });
}

#endif
