/*
 * coarsened: a block marches along z and keeps the planes it needs in shared memory.
 *
 * A block of 32 x 32 threads is as large as the x-y tile that it reads, halo included. It makes 30
 * planes in turn, so that a point is loaded once for all the planes that need it:
 *
 *       z+1  [ newest  ]  <- every thread loads its point of the plane ahead
 *       z    [ current ]  <- x and y neighbours
 *       z-1  [ oldest  ]     2*radius + 1 planes, all in shared memory
 *
 * The march needs only one layer of threads, so the tile can be 32 x 32, where a block of threads
 * along all three axes could be 8 x 8 x 8. Words per point (radius 1): (32/30)^2 * 32/30 = 1.21
 * loaded and 1 written; with 16 planes a block loads 18,432 points and writes 14,400: 2.54 OP/B in
 * float.
 *
 * The planes form a ring: no plane is copied, and the plane ahead overwrites the oldest one. One
 * barrier per plane is enough. It separates the loading of plane z+R from the sums of plane z. A
 * thread that is one plane ahead overwrites plane z-R, which another thread may still read, but
 * only at that thread's own x and y, not the writer's. (The published listing copies planes in
 * place, from an inNext_s that it does not declare, with no barrier before the current plane is
 * overwritten, which its neighbours may still be reading; and it swaps the coefficients of y-1 and
 * y+1.)
 *
 * Source: Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, 4th ed. (2022), fig. 8.10.
 */
#include "tiles.h"

enum { B = 32, PLANES_OF_A_BLOCK = 30 };

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(coarsened);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    hs_tile_marching(of, (struct hs_blocking){{B, B, 1}, PLANES_OF_A_BLOCK}, &out->launch);
    out->launch.shared_bytes *= 2 * of->radius + 1;
    return true;
}

const struct hs_kernel hs_kernel_cuda_coarsened = {
    .name = "coarsened",
    .idea = "blocks march along z, 2*radius + 1 planes in shared memory",
    .origin = "Hwu, Kirk, El Hajj: Programming Massively Parallel Processors, 4th ed., fig. 8.10",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_3D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_TAKES_BLOCK | HS_TAKES_PLANES,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_coarsened,
};

#else /* the kernel */

#include "common.cuh"

namespace
{

template <int R, typename T>
__global__ void __launch_bounds__(B *B)
    coarsened(const __grid_constant__ star::request<T> r, int planes)
{
    enum { PLANES = 2 * R + 1 };
    STAR_SHARED(ring, T, [PLANES][B][B]);

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

    /* plane z is in ring[(z - z_first + R) % PLANES] */
    if (load)
        for (int p = 0; p < 2 * R; p++)
            ring[p][ty][tx] = r.in[at + (p - R) * r.pitch_z];
    int centre = R; /* index of the current plane */
    for (int64_t z = z_first; z < z_end; z++) {
        if (load)
            ring[(centre + R) % PLANES][ty][tx] = r.in[at + R * r.pitch_z];
        __syncthreads();
        if (output)
            r.out[at] = star::sum<3, R>(r.c, star::start(r, at), [&](int axis, int o) {
                return axis == HS_X   ? ring[centre][ty][tx + o]
                       : axis == HS_Y ? ring[centre][ty + o][tx]
                                      : ring[(centre + o + PLANES) % PLANES][ty][tx];
            });
        centre = centre + 1 < PLANES ? centre + 1 : 0;
        at += r.pitch_z;
    }
}

} // namespace

HS_CUDA_SWEEP(coarsened)
{
    const hs_geometry &shape = plan->launch;
    return star::choose<3, 3, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("coarsened", coarsened<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err,
                            shape.output_tile[HS_Z]);
    });
}

#endif
