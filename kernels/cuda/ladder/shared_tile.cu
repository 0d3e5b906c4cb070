/*
 * shared_tile: neighbours are read from a tile in shared memory.
 *
 * A block is as large as the tile it reads, halo included: every thread loads one point, then those
 * outside the halo compute theirs. The halo's threads are idle at the output.
 *
 *      h h h h h h h h      8 x 8 x 8 threads load 8 x 8 x 8 points
 *      h o o o o o o h      and 6 x 6 x 6 of them (radius 1) write one: 58% of the threads rest,
 *      h o o o o o o h      and each point is loaded (8/6)^3 = 2.4 times
 *      h h h h h h h h
 *
 * Words per point: 2.4 loaded and 1 written, against 7 loaded by `basic`. A larger tile would load
 * less (1 in the limit: 13 operations on 4 bytes, 3.25 OP/B), but a block can have at most 1024
 * threads. On a card whose caches serve the six neighbours anyway this loses to `basic`: its
 * barrier and its idle threads cost more than the loads that it saves.
 *
 * In 2D the tile is 32 x 32, in 1D 256; larger radii lose 2*radius of each side.
 *
 * Source: Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th ed. (2022), fig. 8.8.
 */
#include "tiles.h"

enum { TILE_1D = 256, TILE_2D = 32, TILE_3D = 8 }; /* 256, 32 x 32, 8 x 8 x 8 */

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(shared_tile);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    const struct hs_blocking own[HS_AXES] = {
        {{TILE_1D, 1, 1}, 0}, {{TILE_2D, TILE_2D, 1}, 0}, {{TILE_3D, TILE_3D, TILE_3D}, 0}};
    const struct hs_blocking blocking = hs_tile_blocking(of, own[of->dims - 1]);
    const int *t = blocking.threads;
    hs_tile_set(of, t[HS_X] - 2 * hs_tile_halo(of, HS_X), t[HS_Y] - 2 * hs_tile_halo(of, HS_Y),
                t[HS_Z] - 2 * hs_tile_halo(of, HS_Z), &out->launch);
    hs_tile_finish(of, &of->box, t, &out->launch);
    out->launch.shared_bytes =
        out->launch.points_loaded * (int64_t)hs_precision_size(of->precision);
    return true;
}

const struct hs_kernel hs_kernel_cuda_shared_tile = {
    .name = "shared_tile",
    .idea = "neighbours from a tile in shared memory; blocks as large as the tile with its halo",
    .origin = "Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., fig. 8.8",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_TAKES_BLOCK,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_shared_tile,
};

#else /* the kernel */

#include "common.cuh"

namespace
{

template <int DIMS>
struct tile_of {
    enum {
        X = DIMS == 1   ? TILE_1D
            : DIMS == 2 ? TILE_2D
                        : TILE_3D,
        Y = DIMS == 1   ? 1
            : DIMS == 2 ? TILE_2D
                        : TILE_3D,
        Z = DIMS == 3 ? TILE_3D : 1
    };
};

template <int DIMS, int R, typename T>
__global__ void __launch_bounds__(tile_of<DIMS>::X *tile_of<DIMS>::Y *tile_of<DIMS>::Z)
    shared_tile(const __grid_constant__ star::request<T> r)
{
    enum { X = tile_of<DIMS>::X, Y = tile_of<DIMS>::Y, Z = tile_of<DIMS>::Z };
    enum { RY = DIMS > 1 ? R : 0, RZ = DIMS > 2 ? R : 0 }; /* halo along y and z */
    STAR_SHARED(tile, T, [Z][Y][X]);

    const int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    const star::tile_index block = star::this_tile(r);
    const int64_t x = r.lo[HS_X] + block.x * (X - 2 * R) + tx - R;
    const int64_t y = r.lo[HS_Y] + block.y * (Y - 2 * RY) + ty - RY;
    const int64_t z = r.lo[HS_Z] + block.z * (Z - 2 * RZ) + tz - RZ;
    const int64_t at = x + y * r.pitch_y + z * r.pitch_z;

    /* the last tile may reach beyond the box and its halo */
    if (x < r.hi[HS_X] + R && y < r.hi[HS_Y] + RY && z < r.hi[HS_Z] + RZ)
        tile[tz][ty][tx] = r.in[at];
    __syncthreads();

    const bool output = tx >= R && tx < X - R && ty >= RY && ty < Y - RY && tz >= RZ && tz < Z - RZ;
    if (!output || !star::in_box(r, x, y, z))
        return;
    r.out[at] = star::sum<DIMS, R>(r.c, star::start(r, at), [&](int axis, int o) {
        return axis == HS_X   ? tile[tz][ty][tx + o]
               : axis == HS_Y ? tile[tz][ty + o][tx]
                              : tile[tz + o][ty][tx];
    });
}

} // namespace

HS_CUDA_SWEEP(shared_tile)
{
    const hs_geometry &shape = plan->launch;
    return star::choose<1, 3, 3>(sweep, err, [&](auto dims, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("shared_tile", shared_tile<dims.value, radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err);
    });
}

#endif
