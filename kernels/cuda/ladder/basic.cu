/*
 * basic: one thread a point, all neighbours from memory.
 *
 *     block of 8 x 8 x 8 threads          each thread: 1 + 2*dims*radius loads, one store
 *        +---+---+---+                    (a block's neighbours come from the caches if they can:
 *        | t | t | t |  ...                at the floor 1 load and 1 store a point, at worst as
 *        +---+---+---+                     many loads as the stencil has points)
 *
 * The first rung of the ladder, and what the others are measured against. The threads stand over
 * the whole grid as in the textbook, those outside the box off. Operations per byte, as the
 * textbook counts: 13 flops over 7 loads of 4 bytes, 0.46.
 *
 * Source: Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th ed. (2022), fig. 8.6;
 * generalised to 1D (256 threads), 2D (32 x 8), radius 1 to 3 and both precisions.
 */
#include "tiles.h"

enum { BLOCK_1D = 256, BLOCK_2D_Y = 8, BLOCK_3D = 8 }; /* threads: 256, 32 x 8, 8 x 8 x 8 */

#ifndef __cplusplus /* the plan, in every build */

static struct hs_blocking usual(int dims, int radius, enum hs_precision precision)
{
    (void)radius, (void)precision;
    if (dims == 1)
        return (struct hs_blocking){{BLOCK_1D, 1, 1}, 0};
    if (dims == 2)
        return (struct hs_blocking){{HS_WARP, BLOCK_2D_Y, 1}, 0};
    return (struct hs_blocking){{BLOCK_3D, BLOCK_3D, BLOCK_3D}, 0};
}

static void geometry(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                     struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X], t[HS_Y], t[HS_Z], out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    for (int axis = 0; axis < HS_AXES; axis++) {
        out->input_tile[axis] = 0; /* no tile: what is shared is the caches' affair */
        /* threads stand over the grid from node 0, as in the textbook, so that a block's rows
         * begin where a memory transaction does */
        if (out->points_updated > 0)
            out->blocks[axis] = hs_divide_up(
                sweep->box.hi[axis] - sweep->box.lo[axis] / t[axis] * t[axis], t[axis]);
    }
    out->points_loaded =
        hs_tile_volume(t) * hs_stencil_count(sweep->stencil->dims, sweep->stencil->radius);
}

const struct hs_tiling hs_tiling_basic = {
    .kernel = "basic",
    .features = HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS,
    .steps = {1, 1},
    .resizable = true,
    .usual = usual,
    .geometry = geometry,
};

#else /* the kernel */

#include "common.cuh"

HS_TILING(basic);

namespace
{

template <int DIMS, int R, typename T>
__global__ void __launch_bounds__(512) basic(const __grid_constant__ star::request<T> r)
{
    const star::tile_index tile = star::this_tile(r);
    const int64_t x = r.first[HS_X] + tile.x * blockDim.x + threadIdx.x;
    const int64_t y = r.first[HS_Y] + tile.y * blockDim.y + threadIdx.y;
    const int64_t z = r.first[HS_Z] + tile.z * blockDim.z + threadIdx.z;
    if (!star::in_box(r, x, y, z))
        return;
    const int64_t at = x + y * r.pitch_y + z * r.pitch_z;
    const int64_t pitch[HS_AXES] = {1, r.pitch_y, r.pitch_z};
    const T *const in = r.in + at;
    r.out[at] = star::sum<DIMS, R>(r.c, star::start(r, at),
                                   [&](int axis, int offset) { return in[offset * pitch[axis]]; });
}

hs_status sweep_basic(const hs_sweep *sweep, hs_error *err)
{
    hs_geometry launch;
    hs_tiling_launch(&hs_tiling_basic, sweep, &launch);
    return star::choose<1, 3, 3>(sweep, err, [&](auto dims, auto radius, auto zero) {
        using T = decltype(zero);
        star::request<T> request = star::make_request<T>(sweep, launch);
        for (int axis = 0; axis < HS_AXES; axis++)
            request.first[axis] = request.lo[axis] / launch.threads[axis] * launch.threads[axis];
        return star::launch("basic", basic<dims(), radius(), T>, request, launch, sweep->stream,
                            err);
    });
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_basic = {
    .name = "basic",
    .idea = "one thread a point, every neighbour from memory",
    .origin = "Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th ed., fig. 8.6",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES,
    .steps = 1,
    .tiling = &hs_tiling_basic,
    .sweep = sweep_basic,
};

#endif
