/*
 * register_window: in 1D a thread slides a window of registers over neighbouring points.
 *
 * A thread owns 8 consecutive points. It loads the first 2*R neighbours; then, for each point, it
 * loads one more value, sums, and shifts the window by one. Threads share nothing.
 *
 *      thread n:     . . [x x x] . . . . .      window of 2*R + 1 registers
 *                        `--->                  one load and one store a point
 *
 * Words per point: (8 + 2R)/8 loaded, all but one of them from the L1 cache: at every step the
 * warp's 32 threads read 32 values 8 apart, from 8 lines of 128 bytes, and they read the same lines
 * at the next steps. So it moves little data but makes many requests: 8 times the transactions of a
 * warp that reads 32 neighbours. `warp_shuffle` requests only what it needs.
 *
 * Source: the register queue along the marching axis of Micikevicius, 3D finite difference
 * computation on GPUs using CUDA, GPGPU-2 (2009), here along x.
 */
#include "tiles.h"

enum { THREADS = 256, POINTS = 8 }; /* of a block; per thread */

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(register_window);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    const int threads[HS_AXES] = {THREADS, 1, 1};
    hs_tile_set(of, THREADS * POINTS, 1, 1, &out->launch);
    hs_tile_finish(of, &of->box, threads, &out->launch);
    /* every thread loads the ends of its window itself */
    out->launch.points_loaded = THREADS * (POINTS + 2 * hs_tile_halo(of, HS_X));
    return true;
}

const struct hs_kernel hs_kernel_cuda_register_window = {
    .name = "register_window",
    .idea = "1D: each thread slides a window of registers over 8 points",
    .origin = "Micikevicius, GPGPU-2 (2009), along x",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_1D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_register_window,
};

#else /* the kernel */

#include "common.cuh"

namespace
{

template <int R, typename T>
__global__ void __launch_bounds__(THREADS)
    register_window(const __grid_constant__ star::request<T> r)
{
    const int64_t first = r.lo[HS_X] + ((int64_t)blockIdx.x * THREADS + threadIdx.x) * POINTS;
    if (first >= r.hi[HS_X])
        return;

    T window[2 * R + 1]; /* x-R .. x+R */
#pragma unroll
    for (int p = 0; p < 2 * R; p++)
        window[p] = r.in[first + p - R];
#pragma unroll
    for (int n = 0; n < POINTS; n++) {
        const int64_t x = first + n;
        if (x < r.hi[HS_X]) {
            window[2 * R] = r.in[x + R];
            r.out[x] =
                star::sum<1, R>(r.c, star::start(r, x), [&](int, int o) { return window[R + o]; });
        }
#pragma unroll
        for (int p = 0; p < 2 * R; p++)
            window[p] = window[p + 1];
    }
}

} // namespace

HS_CUDA_SWEEP(register_window)
{
    const hs_geometry &shape = plan->launch;
    return star::choose<1, 1, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("register_window", register_window<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err);
    });
}

#endif
