/*
 * tile_2d: a 2D tile in shared memory; the block is the output tile, its edges load the halo.
 *
 *            . h h h h .        32 x 16 threads, one point each
 *            h o o o o h        the first 2*R rows of threads also load the rows below and above,
 *            h o o o o h        the first 2*R columns those left and right of the tile;
 *            . h h h h .        a star needs no corners
 *
 * Words per point (radius 1): 1 + 2/32 + 2/16 = 1.19 loaded, 1 written; `basic` loads 5, most of
 * them from the caches. `collaborative_2d` avoids the branches for the halo.
 *
 * Source: the CUDA programming guide's and most courses' tiled stencil; this form after Hwu, Kirk,
 * El Hajj, Programming Massively Parallel Processors, 4th ed. (2022), ch. 7 and 8.
 */
#include "tiles.h"

enum { BX = 32, BY = 16 };

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(tile_2d);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    const struct hs_blocking own = {{BX, BY, 1}, 0}, blocking = hs_tile_blocking(of, own);
    struct hs_geometry *g = &out->launch;
    const int *t = blocking.threads;
    hs_tile_set(of, t[HS_X], t[HS_Y], t[HS_Z], g);
    hs_tile_finish(of, &of->box, t, g);
    g->points_loaded = hs_tile_star_points(of, g->output_tile);
    g->shared_bytes = hs_tile_volume(g->input_tile) * (int64_t)hs_precision_size(of->precision);
    return true;
}

const struct hs_kernel hs_kernel_cuda_tile_2d = {
    .name = "tile_2d",
    .idea = "2D tile in shared memory; the block is the output tile, its edges load the halo",
    .origin = "Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., ch. 7, 8",
    .device = HS_CUDA,
    .features =
        HS_STENCIL | HS_2D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES | HS_TAKES_BLOCK,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_tile_2d,
};

#else /* the kernel */

#include "common.cuh"

namespace
{

template <int R, typename T>
__global__ void __launch_bounds__(BX *BY) tile_2d(const __grid_constant__ star::request<T> r)
{
    STAR_SHARED(tile, T, [BY + 2 * R][BX + 2 * R]);

    const int tx = threadIdx.x, ty = threadIdx.y;
    const star::tile_index block = star::this_tile(r);
    const int64_t x_first = r.lo[HS_X] + block.x * BX, y_first = r.lo[HS_Y] + block.y * BY;
    const int64_t x = x_first + tx, y = y_first + ty;
    const int64_t at = x + y * r.pitch_y;

    if (x < r.hi[HS_X] + R && y < r.hi[HS_Y] + R)
        tile[ty + R][tx + R] = r.in[at];
    if (ty < 2 * R) {
        const int row = ty < R ? ty - R : BY + ty - R; /* -R..-1 and BY..BY+R-1 */
        if (x < r.hi[HS_X] && y_first + row < r.hi[HS_Y] + R)
            tile[row + R][tx + R] = r.in[x + (y_first + row) * r.pitch_y];
    }
    if (tx < 2 * R) {
        const int column = tx < R ? tx - R : BX + tx - R;
        if (y < r.hi[HS_Y] && x_first + column < r.hi[HS_X] + R)
            tile[ty + R][column + R] = r.in[x_first + column + y * r.pitch_y];
    }
    __syncthreads();

    if (x >= r.hi[HS_X] || y >= r.hi[HS_Y])
        return;
    r.out[at] = star::sum<2, R>(r.c, star::start(r, at), [&](int axis, int o) {
        return axis == HS_X ? tile[ty + R][tx + R + o] : tile[ty + R + o][tx + R];
    });
}

} // namespace

HS_CUDA_SWEEP(tile_2d)
{
    const hs_geometry &shape = plan->launch;
    return star::choose<2, 2, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("tile_2d", tile_2d<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err);
    });
}

#endif
