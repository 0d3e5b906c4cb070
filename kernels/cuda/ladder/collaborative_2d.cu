/*
 * collaborative_2d: the threads stride together over a 2D tile with its halo.
 *
 * The tile is larger than the block. The threads are numbered through, and thread n loads points n,
 * n + threads, n + 2*threads, ... of the tile with its halo, so that the loop knows no edge and no
 * corner: no branch for the halo, any radius, and tile and block are chosen apart.
 *
 *      0 1 2 3 4 5 ...          256 threads load (64 + 2R) x (32 + 2R) points in 9 to 11 turns,
 *      ... 255 0 1 2 ...        then each sums 8 points, in columns of 4 rows, 2 of them
 *
 * Words per point (radius 1): 66*34 / (64*32) = 1.10 loaded, 1 written. Several independent loads a
 * thread are in flight before the one barrier.
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

static struct hs_blocking usual(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){{HS_WARP, ROWS, 1}, 0};
}

/* A thread sums 2 x 4 points. */
static void geometry(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                     struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X] * (X / HS_WARP), t[HS_Y] * (Y / ROWS), 1, out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    out->shared_bytes = out->points_loaded * (int64_t)hs_precision_size(sweep->precision);
}

const struct hs_tiling hs_tiling_collaborative_2d = {
    .kernel = "collaborative_2d",
    .features = HS_STENCIL | HS_2D | HS_ALL_RADII | HS_ALL_PRECISIONS,
    .steps = {1, 1},
    .usual = usual,
    .geometry = geometry,
};

#else /* the kernel */

#include "common.cuh"

HS_TILING(collaborative_2d);

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
    /* rows and columns that are there: those of the box and its halo */
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

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    hs_geometry shape;
    hs_tiling_launch(&hs_tiling_collaborative_2d, sweep, &shape);
    return star::choose<2, 2, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("collaborative_2d", collaborative_2d<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err);
    });
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_collaborative_2d = {
    .name = "collaborative_2d",
    .idea = "2D: the threads stride together over a large tile with its halo",
    .origin = "Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., ch. 5, 8",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_2D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES,
    .steps = 1,
    .tiling = &hs_tiling_collaborative_2d,
    .sweep = sweep,
};

#endif
