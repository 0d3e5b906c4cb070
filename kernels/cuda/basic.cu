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
#include "common.cuh"
#include "core/tiling.h"

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

void geometry(const hs_sweep *sweep, hs_geometry *out)
{
    hs_tiling_launch("basic", sweep, out);
}

hs_status sweep_basic(const hs_sweep *sweep, hs_error *err)
{
    hs_geometry launch;
    geometry(sweep, &launch);
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
    .dims = HS_ALL_DIMS,
    .radius = HS_ALL_RADII,
    .precision = HS_ALL_PRECISIONS,
    .steps = 1,
    .own_ghosts = false,
    .geometry = geometry,
    .sweep = sweep_basic,
};
