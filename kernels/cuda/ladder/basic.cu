/*
 * basic: one thread a point, all neighbours from memory.
 *
 *     block of 8 x 8 x 8 threads          each thread: 1 + 2*dims*radius loads, one store
 *        +---+---+---+                    (a block's neighbours come from the caches if they can:
 *        | t | t | t |  ...                at the floor 1 load and 1 store a point, at worst as
 *        +---+---+---+                     many loads as the stencil has points)
 *
 * The first rung of the ladder, and the reference for the others. As in the textbook, threads cover
 * the whole grid, and those outside the box are inactive. Operations per byte, as the
 * textbook counts: 13 flops over 7 loads of 4 bytes, 0.46.
 *
 * Source: Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th ed. (2022), fig. 8.6;
 * generalised to 1D (256 threads), 2D (32 x 8), radius 1 to 3 and both precisions.
 */
#include "tiles.h"

enum { BLOCK_1D = 256, BLOCK_2D_Y = 8, BLOCK_3D = 8 }; /* threads: 256, 32 x 8, 8 x 8 x 8 */

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(basic);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    const struct hs_blocking own[HS_AXES] = {
        {{BLOCK_1D, 1, 1}, 0}, {{HS_WARP, BLOCK_2D_Y, 1}, 0}, {{BLOCK_3D, BLOCK_3D, BLOCK_3D}, 0}};
    const struct hs_blocking blocking = hs_tile_blocking(of, own[of->dims - 1]);
    struct hs_geometry *g = &out->launch;
    const int *t = blocking.threads;
    hs_tile_set(of, t[HS_X], t[HS_Y], t[HS_Z], g);
    hs_tile_finish(of, &of->box, t, g);
    for (int axis = 0; axis < HS_AXES; axis++) {
        g->input_tile[axis] = 0; /* no tile: sharing is left to the caches */
        /* threads cover the grid from node 0, as in the textbook, so that a block's rows begin
         * where a memory transaction does */
        if (g->points_updated > 0)
            g->blocks[axis] =
                hs_divide_up(of->box.hi[axis] - of->box.lo[axis] / t[axis] * t[axis], t[axis]);
    }
    g->launched = g->blocks[HS_X] * g->blocks[HS_Y] * g->blocks[HS_Z];
    g->points_loaded = hs_tile_volume(t) * hs_stencil_count(of->dims, of->radius);
    out->recursion = 1;
    return true;
}

const struct hs_kernel hs_kernel_cuda_basic = {
    .name = "basic",
    .idea = "one thread a point, every neighbour from memory",
    .origin = "Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th ed., fig. 8.6",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_TAKES_BLOCK,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_basic,
};

#else /* the kernel */

#include "common.cuh"

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
    const T sum = star::sum<DIMS, R>(
        r.c, star::start(r, at), [&](int axis, int offset) { return in[offset * pitch[axis]]; });
    r.out[at] = r.before ? star::advanced(r, sum, r.before[at]) : sum;
}

} // namespace

HS_CUDA_SWEEP(basic)
{
    const hs_geometry &launch = plan->launch;
    return star::choose<1, 3, 3>(sweep, err, [&](auto dims, auto radius, auto zero) {
        using T = decltype(zero);
        star::request<T> request = star::make_request<T>(sweep, launch);
        for (int axis = 0; axis < HS_AXES; axis++)
            request.first[axis] = request.lo[axis] / launch.threads[axis] * launch.threads[axis];
        return star::launch("basic", basic<dims(), radius(), T>, request, launch, sweep->stream,
                            err);
    });
}

#endif
