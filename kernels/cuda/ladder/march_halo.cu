/*
 * march_halo: 2.5D marching; the block is the output tile, and the halo is loaded additionally.
 *
 * Like `register_tile`, but no thread is idle at the output: every thread owns one point of the
 * tile, and those at its edge also load the halo outside. x neighbours come in whole rows of 32,
 * aligned to 128 bytes if the box begins at such a multiple.
 *
 *            . h h h h .        32 x 16 threads, each its own point o (a register, then shared)
 *            h o o o o h        the first 2*R rows of threads load the rows below and above,
 *            h o o o o h        the first 2*R columns of threads those left and right;
 *            . h h h h .        a star needs no corners
 *
 * Words per point (radius 1): 1 + 2/32 + 2/16 = 1.19 loaded (the halo mostly from the caches, where
 * the neighbouring block has just put it), 1 written. Planes along z overlap by 2*R in 64.
 *
 * The next point along z is loaded before the current plane is summed, so that the sums and both
 * barriers hide its latency.
 *
 * Source: 2.5D blocking: Micikevicius, 3D finite difference computation on GPUs using CUDA,
 * GPGPU-2 (2009); Nguyen et al., 3.5-D blocking optimization for stencil computations, SC'10.
 */
#include "tiles.h"

enum { BX = 32, BY = 16, PLANES_OF_A_BLOCK = 64 };

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(march_halo);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    const struct hs_blocking own = {{BX, BY, 1}, PLANES_OF_A_BLOCK};
    const struct hs_blocking blocking = hs_tile_blocking(of, own);
    struct hs_geometry *g = &out->launch;
    const int *t = blocking.threads;
    hs_tile_set(of, t[HS_X], t[HS_Y], blocking.planes, g);
    hs_tile_finish(of, &of->box, t, g);
    g->points_loaded = hs_tile_star_points(of, g->output_tile);
    g->shared_bytes = (int64_t)g->input_tile[HS_X] * g->input_tile[HS_Y] *
                      (int64_t)hs_precision_size(of->precision);
    return true;
}

const struct hs_kernel hs_kernel_cuda_march_halo = {
    .name = "march_halo",
    .idea = "2.5D: blocks the size of the output tile march along z and load the halo besides",
    .origin = "Micikevicius, GPGPU-2 (2009); Nguyen et al., SC'10",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_3D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_TAKES_BLOCK | HS_TAKES_PLANES,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_march_halo,
};

#else /* the kernel */

#include "common.cuh"

namespace
{

template <int R, typename T>
__global__ void __launch_bounds__(BX *BY)
    march_halo(const __grid_constant__ star::request<T> r, int planes)
{
    STAR_SHARED(current, T, [BY + 2 * R][BX + 2 * R]);

    const int tx = threadIdx.x, ty = threadIdx.y;
    const star::tile_index block = star::this_tile(r);
    const int64_t x_first = r.lo[HS_X] + block.x * BX, y_first = r.lo[HS_Y] + block.y * BY;
    const int64_t x = x_first + tx, y = y_first + ty;
    const int64_t z_first = r.lo[HS_Z] + block.z * planes;
    const int64_t z_end = z_first + planes < r.hi[HS_Z] ? z_first + planes : r.hi[HS_Z];
    /* points beyond the box in its last tile are loaded too where they are halo of points inside */
    const bool load = x < r.hi[HS_X] + R && y < r.hi[HS_Y] + R;
    const bool output = x < r.hi[HS_X] && y < r.hi[HS_Y];

    /* The halo points that this thread loads: rows -R..-1 and BY..BY+R-1, likewise columns. */
    const int halo_y = ty < R ? ty - R : BY + ty - R;
    const int halo_x = tx < R ? tx - R : BX + tx - R;
    const bool rows = ty < 2 * R && x < r.hi[HS_X] && y_first + halo_y < r.hi[HS_Y] + R;
    const bool columns = tx < 2 * R && y < r.hi[HS_Y] && x_first + halo_x < r.hi[HS_X] + R;
    int64_t at = x + y * r.pitch_y + z_first * r.pitch_z;
    int64_t at_row = x + (y_first + halo_y) * r.pitch_y + z_first * r.pitch_z;
    int64_t at_column = x_first + halo_x + y * r.pitch_y + z_first * r.pitch_z;

    T column[2 * R + 1]; /* planes z-R .. z+R at this x and y */
#pragma unroll
    for (int p = 0; p <= 2 * R; p++)
        column[p] = load ? r.in[at + (p - R) * r.pitch_z] : (T)0;
    for (int64_t z = z_first; z < z_end; z++) {
        current[ty + R][tx + R] = column[R];
        if (rows)
            current[halo_y + R][tx + R] = r.in[at_row];
        if (columns)
            current[ty + R][halo_x + R] = r.in[at_column];
        T ahead = (T)0; /* plane z+R+1 */
        if (load && z + 1 < z_end)
            ahead = r.in[at + (R + 1) * r.pitch_z];
        __syncthreads();
        if (output)
            r.out[at] = star::sum<3, R>(r.c, star::start(r, at), [&](int axis, int o) {
                return o == 0         ? column[R]
                       : axis == HS_X ? current[ty + R][tx + R + o]
                       : axis == HS_Y ? current[ty + R + o][tx + R]
                                      : column[R + o];
            });
        __syncthreads(); /* all have read the plane before it is overwritten */
#pragma unroll
        for (int p = 0; p < 2 * R; p++)
            column[p] = column[p + 1];
        column[2 * R] = ahead;
        at += r.pitch_z;
        at_row += r.pitch_z;
        at_column += r.pitch_z;
    }
}

} // namespace

HS_CUDA_SWEEP(march_halo)
{
    const hs_geometry &shape = plan->launch;
    return star::choose<3, 3, 3>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch("march_halo", march_halo<radius.value, T>,
                            star::make_request<T>(sweep, shape), shape, sweep->stream, err,
                            shape.output_tile[HS_Z]);
    });
}

#endif
