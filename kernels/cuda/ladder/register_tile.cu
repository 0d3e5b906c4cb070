/*
 * register_tile: as `coarsened`, but a thread keeps its own column's planes in registers.
 *
 * A z neighbour is only read by the thread with its own x and y, so it need not be shared. Only the
 * current plane is left in shared memory: 4,096 bytes in float where `coarsened` has 12,288, so
 * that more blocks fit on a multiprocessor, and 4 reads of shared memory per point instead of 7.
 *
 *       z+1  register  <- every thread loads its point of the plane ahead
 *       z    register, and [ current ] in shared memory for the neighbours along x and y
 *       z-1  register
 *
 * Words per point as in `coarsened`: 1.21 loaded, 1 written. Two barriers per plane: one after the
 * current plane is written, one after all have read it and before the next overwrites it. (The
 * published listing lacks the effect of the second: it writes the next step's shared plane while
 * neighbours may still read the old one; and it swaps the coefficients of y-1 and y+1.)
 *
 * Source: Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th ed. (2022), fig. 8.12.
 */
#include "tiles.h"

enum { B = 32, PLANES_OF_A_BLOCK = 30 };

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(register_tile);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    hs_tile_marching(of, (struct hs_blocking){{B, B, 1}, PLANES_OF_A_BLOCK}, &out->launch);
    return true;
}

const struct hs_kernel hs_kernel_cuda_register_tile = {
    .name = "register_tile",
    .idea = "as coarsened, but the z neighbours in registers: one plane in shared memory",
    .origin = "Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., fig. 8.12",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_3D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_TAKES_BLOCK | HS_TAKES_PLANES,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_register_tile,
};

#else /* the kernel */

#include "common.cuh"

namespace
{

template <int R, typename T>
__global__ void __launch_bounds__(B *B)
    register_tile(const __grid_constant__ star::request<T> r, int planes)
{
    enum { PLANES = 2 * R + 1 };
    STAR_SHARED(current, T, [B][B]);

    const int tx = threadIdx.x, ty = threadIdx.y;
    const star::tile_index block = star::this_tile(r);
    const int64_t x = r.lo[HS_X] + block.x * (B - 2 * R) + tx - R;
    const int64_t y = r.lo[HS_Y] + block.y * (B - 2 * R) + ty - R;
    const int64_t z_first = r.lo[HS_Z] + block.z * planes;
    const int64_t z_end = z_first + planes < r.hi[HS_Z] ? z_first + planes : r.hi[HS_Z];
    const bool load = x < r.hi[HS_X] + R && y < r.hi[HS_Y] + R;
    const bool output =
        tx >= R && tx < B - R && ty >= R && ty < B - R && x < r.hi[HS_X] && y < r.hi[HS_Y];
    int64_t at = x + y * r.pitch_y + z_first * r.pitch_z;

    T column[PLANES]; /* planes z-R .. z+R at this x and y */
#pragma unroll
    for (int p = 0; p < PLANES; p++)
        column[p] = load && p < 2 * R ? r.in[at + (p - R) * r.pitch_z] : (T)0;
    for (int64_t z = z_first; z < z_end; z++) {
        if (load)
            column[2 * R] = r.in[at + R * r.pitch_z];
        current[ty][tx] = column[R];
        __syncthreads();
        if (output)
            r.out[at] = star::sum<3, R>(r.c, star::start(r, at), [&](int axis, int o) {
                return o == 0         ? column[R]
                       : axis == HS_X ? current[ty][tx + o]
                       : axis == HS_Y ? current[ty + o][tx]
                                      : column[R + o];
            });
        __syncthreads();
#pragma unroll
        for (int p = 0; p < 2 * R; p++)
            column[p] = column[p + 1];
        at += r.pitch_z;
    }
}

} // namespace

HS_CUDA_SWEEP(register_tile)
{
    const hs_geometry &shape = plan->launch;
    return star::choose<3, 3, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("register_tile", register_tile<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err,
                            shape.output_tile[HS_Z]);
    });
}

#endif
