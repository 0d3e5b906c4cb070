/*
 * tile_2d: a 2D tile in shared memory; the block is the output tile, its edges load the halo.
 *
 *            . h h h h .        32 x 16 threads, one point each
 *            h o o o o h        the first 2*R rows of threads also load the rows below and above,
 *            h o o o o h        the first 2*R columns those left and right of the tile;
 *            . h h h h .        a star needs no corners
 *
 * Words per point (radius 1): 1 + 2/32 + 2/16 = 1.19 loaded, 1 written; `basic` loads 5, of which
 * the caches serve most. The branches of the halo are what `collaborative_2d` does without.
 *
 * Source: the CUDA programming guide's and most courses' tiled stencil; this form after Hwu, Kirk,
 * El Hajj, Programming Massively Parallel Processors, 4th ed. (2022), ch. 7 and 8.
 */
#include "tiles.h"

enum { BX = 32, BY = 16 };

#ifndef __cplusplus /* the plan, in every build */

static struct hs_blocking usual(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){{BX, BY, 1}, 0};
}

static void geometry(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                     struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X], t[HS_Y], t[HS_Z], out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    out->points_loaded = hs_tile_star_points(sweep, out->output_tile);
    out->shared_bytes =
        hs_tile_volume(out->input_tile) * (int64_t)hs_precision_size(sweep->precision);
}

const struct hs_tiling hs_tiling_tile_2d = {
    .kernel = "tile_2d",
    .features = HS_STENCIL | HS_2D | HS_ALL_RADII | HS_ALL_PRECISIONS,
    .steps = {1, 1},
    .resizable = true,
    .usual = usual,
    .geometry = geometry,
};

#else /* the kernel */

#include "common.cuh"

HS_TILING(tile_2d);

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

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    hs_geometry shape;
    hs_tiling_launch(&hs_tiling_tile_2d, sweep, &shape);
    return star::choose<2, 2, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("tile_2d", tile_2d<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err);
    });
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_tile_2d = {
    .name = "tile_2d",
    .idea = "2D tile in shared memory; the block is the output tile, its edges load the halo",
    .origin = "Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., ch. 7, 8",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_2D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES,
    .steps = 1,
    .tiling = &hs_tiling_tile_2d,
    .sweep = sweep,
};

#endif
