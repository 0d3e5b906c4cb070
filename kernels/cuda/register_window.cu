/*
 * register_window: in 1D a thread slides a window of registers over neighbouring points.
 *
 * A thread owns 8 points in a row. It loads the 2*R first neighbours, then for each point one value
 * more, sums, and shifts the window by one; nothing is shared between threads.
 *
 *      thread n:     . . [x x x] . . . . .      window of 2*R + 1 registers
 *                        `--->                  one load and one store a point
 *
 * Words per point: (8 + 2R)/8 loaded, of which all but one come from the L1 cache: at every step
 * the warp's 32 threads read 32 values that lie 8 apart, 8 lines of 128 bytes, and they read the
 * same lines at the next steps. So it moves little, but asks for much: 8 times the transactions of
 * a warp that reads 32 neighbours. `warp_shuffle` asks for what it needs only.
 *
 * Source: the register queue along the marching axis of Micikevicius, 3D finite difference
 * computation on GPUs using CUDA, GPGPU-2 (2009), here along x.
 */
#include "common.cuh"

#include "core/tiling_ladder.h"

namespace
{

enum { THREADS = HS_TILE_1D, POINTS = HS_WINDOW_POINTS };

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

void geometry(const hs_sweep *sweep, hs_geometry *out)
{
    hs_tiling_launch("register_window", sweep, out);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    hs_geometry shape;
    geometry(sweep, &shape);
    return star::choose<1, 1, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("register_window", register_window<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err);
    });
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_register_window = {
    .name = "register_window",
    .idea = "1D: each thread slides a window of registers over 8 points",
    .origin = "Micikevicius, GPGPU-2 (2009), along x",
    .device = HS_CUDA,
    .dims = 1u << 1,
    .radius = HS_ALL_RADII,
    .precision = HS_ALL_PRECISIONS,
    .steps = 1,
    .own_ghosts = false,
    .geometry = geometry,
    .sweep = sweep,
};
