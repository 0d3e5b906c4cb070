/*
 * collaborative_2d: the threads stride together over a 2D tile with its halo.
 *
 * The tile is larger than the block. Thread n loads points n, n + threads, n + 2*threads, ... of
 * the tile with its halo, so the loop treats no edge or corner specially: no branch for the halo,
 * any radius, and tile and block sizes are independent.
 *
 *      0 1 2 3 4 5 ...          256 threads load (64 + 2R) x (32 + 2R) points in 9 to 11 turns,
 *      ... 255 0 1 2 ...        then each sums 8 points, in columns of 4 rows, 2 of them
 *
 * Words per point (radius 1): 66*34 / (64*32) = 1.10 loaded, 1 written. Each thread has several
 * independent loads in flight before the only barrier.
 *
 * Source: cooperative loading as in Hwu, Kirk, El Hajj, Programming Massively Parallel Processors,
 * 4th ed. (2022), ch. 5 and 8.
 */
#include "tiles.h"

enum {
    X = 64,
    Y = 32,
    ROWS = 8,
    BX = HS_WARP,
    THREADS = (int)HS_WARP * ROWS
}; /* X x Y points by BX x ROWS threads */

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(collaborative_2d);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    /* a thread sums 2 x 4 points */
    const int threads[HS_AXES] = {HS_WARP, ROWS, 1};
    hs_tile_set(of, X, Y, 1, &out->launch);
    hs_tile_finish(of, &of->box, threads, &out->launch);
    out->launch.shared_bytes =
        out->launch.points_loaded * (int64_t)hs_precision_size(of->precision);
    return true;
}

const struct hs_kernel hs_kernel_cuda_collaborative_2d = {
    .name = "collaborative_2d",
    .idea = "2D: the threads stride together over a large tile with its halo",
    .origin = "Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., ch. 5, 8",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_2D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_collaborative_2d,
};

#else /* the kernel */

#include "common.cuh"

namespace
{

template <int R, typename T>
__global__ void __launch_bounds__(THREADS)
    collaborative_2d(const __grid_constant__ star::request<T> r)
{
    enum { WIDTH = X + 2 * R, HEIGHT = Y + 2 * R };
    STAR_SHARED(tile, T, [HEIGHT][WIDTH]);

    const star::tile_index block = star::this_tile(r);
    const int64_t x_first = r.lo[HS_X] + block.x * X, y_first = r.lo[HS_Y] + block.y * Y;
    /* rows and columns that exist: those of the box and its halo */
    const int64_t x_left = r.hi[HS_X] + R - (x_first - R), y_left = r.hi[HS_Y] + R - (y_first - R);
    const T *corner = r.in + (x_first - R) + (y_first - R) * r.pitch_y;
#pragma unroll
    for (int turn = 0; turn < (WIDTH * HEIGHT + THREADS - 1) / THREADS; turn++) {
        const int n = turn * THREADS + threadIdx.y * BX + threadIdx.x;
        const int row = n / WIDTH, column = n % WIDTH;
        if (n < WIDTH * HEIGHT && row < y_left && column < x_left)
            tile[row][column] = corner[column + row * r.pitch_y];
    }
    __syncthreads();

#pragma unroll
    for (int ty = threadIdx.y; ty < Y; ty += ROWS)
#pragma unroll
        for (int tx = threadIdx.x; tx < X; tx += BX) {
            const int64_t x = x_first + tx, y = y_first + ty, at = x + y * r.pitch_y;
            if (x < r.hi[HS_X] && y < r.hi[HS_Y])
                r.out[at] = star::sum<2, R>(r.c, star::start(r, at), [&](int axis, int o) {
                    return axis == HS_X ? tile[ty + R][tx + R + o] : tile[ty + R + o][tx + R];
                });
        }
}

} // namespace

HS_CUDA_SWEEP(collaborative_2d)
{
    const hs_geometry &shape = plan->launch;
    return star::choose<2, 2, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("collaborative_2d", collaborative_2d<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err);
    });
}

#endif
