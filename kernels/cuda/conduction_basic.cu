/*
 * conduction_basic: a body of many materials, one thread a node, every neighbour from memory.
 *
 *         in[+y]              A node looks up its row: G of its edges to the next nodes along x, y
 *           | G own           and z, dt/C, the sink, the added value. G of the edges from the nodes
 *   in[-x] -+- in[+x]         before it is in their rows. In a palette a row is found by number, of
 *   G of it | G own           one or two bytes per node; there are few rows, which caches hold.
 *         in[-y]              Otherwise each member is an array of its own.
 *         G of it
 *
 * Walls are rows too (core/network.h), so they need no code. The other kernels are faster because
 * they keep neighbours and rows nearer; the sum is this one, term by term.
 *
 * Words per node: 1 read and 1 written, and a number; as arrays 6. From the caches another 6
 * values, 3 numbers and 3 G.
 *
 * Source: finite volumes on a regular grid, Patankar 1980, ch. 4; one thread per node as in basic.
 */
#include "tiles.h"

#ifndef __cplusplus /* the plan, in every build */

HS_CUDA_SWEEP(conduction_basic);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    /* rows of threads are whole warps, rows of nodes whole lines */
    static const int threads[HS_AXES][HS_AXES] = {{256, 1, 1}, {HS_WARP, 8, 1}, {HS_WARP, 4, 2}};
    const int *t = threads[of->dims - 1];
    hs_tile_set(of, t[HS_X], t[HS_Y], t[HS_Z], &out->launch);
    hs_tile_finish(of, &of->box, t, &out->launch);
    for (int axis = 0; axis < HS_AXES; axis++)
        out->launch.input_tile[axis] = 0; /* no tile: sharing is left to the caches */
    out->launch.points_loaded = hs_tile_volume(t) * hs_stencil_count(of->dims, 1);
    out->launch.flops_per_point = hs_tile_conduction_flops(of);
    out->recursion = 1;
    return true;
}

const struct hs_kernel hs_kernel_cuda_conduction_basic = {
    .name = "conduction_basic",
    .idea = "a body of many materials: one thread a node, every neighbour and row from memory",
    .origin = "finite volumes: Patankar 1980, ch. 4",
    .device = HS_CUDA,
    .features = HS_CONDUCTION | HS_ALL_FORMS | HS_ALL_DIMS | HS_RADIUS_1 | HS_ALL_PRECISIONS |
                HS_ALL_VALUES | HS_SINK_TIME,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_conduction_basic,
};

#else /* the kernel */

#include "network.cuh"

namespace
{

template <int DIMS, typename FORM, typename T>
__global__ void __launch_bounds__(512)
    conduction_basic(const __grid_constant__ network::request<T> r)
{
    const star::tile_index tile = star::this_tile(r);
    const int64_t x = r.first[HS_X] + tile.x * blockDim.x + threadIdx.x;
    const int64_t y = r.first[HS_Y] + tile.y * blockDim.y + threadIdx.y;
    const int64_t z = r.first[HS_Z] + tile.z * blockDim.z + threadIdx.z;
    if (!star::in_box(r, x, y, z))
        return;
    const int64_t pitch[HS_AXES] = {1, r.pitch_y, r.pitch_z};
    const int64_t at = x + y * r.pitch_y + z * r.pitch_z;
    const T *const in = r.in + at;
    const T here = in[0];
    const network::row<T> own = FORM::at(r, at);
    T sum = T(0);
#pragma unroll
    for (int axis = DIMS - 1; axis >= 0; axis--)
        sum =
            star::fused(FORM::conductance(r, axis, at - pitch[axis]), in[-pitch[axis]] - here, sum);
#pragma unroll
    for (int axis = 0; axis < DIMS; axis++)
        sum = star::fused(own.conductance[axis], in[pitch[axis]] - here, sum);
    sum = star::fused(-own.sink, here, sum);
    T kept = star::fused(own.keep, here, own.added);
    if (r.source)
        kept += r.source[at];
    const T swept = star::fused(own.rate, sum, kept);
    r.out[at] = r.before ? star::advanced(r, swept, r.before[at]) : swept;
}

} // namespace

HS_CUDA_SWEEP(conduction_basic)
{
    return network::choose_form(sweep, [&](auto form, auto zero) {
        using FORM = decltype(form);
        using T = decltype(zero);
        const auto r = network::make_request<T>(sweep, plan->launch);
        void (*const kernel[])(network::request<T>) = {conduction_basic<1, FORM, T>,
                                                       conduction_basic<2, FORM, T>,
                                                       conduction_basic<3, FORM, T>};
        return star::launch("conduction_basic", kernel[network::dims_of(sweep) - 1], r,
                            plan->launch, sweep->stream, err);
    });
}

#endif
