#include "plan.h"

#include <stdio.h>

HS_CUDA_SWEEP(fused_line_1d);

static struct hs_line_cut cut_of(const struct hs_case *of, const struct hs_box *box)
{
    struct hs_line_cut cut = {.width = HS_LINE_WIDTH,
                              .halo = (int)hs_round_up(hs_tile_reach(of), hs_tile_vector(of))};
    if (of->layout.points[HS_X] < HS_LINE_LONG)
        cut.width = of->radius == 1 ? HS_LINE_LEAST_1 : HS_LINE_LEAST_23;
    cut.lines = hs_tile_overlapping(box->hi[HS_X] - box->lo[HS_X], HS_WARP * cut.width, cut.halo,
                                    of->face[2 * HS_X].wrap);
    return cut;
}

static bool plan(const struct hs_case *given, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits;
    const struct hs_case of = hs_tile_case(given, HS_LINE_STEPS, 0);
    const int64_t n = of.layout.points[HS_X];
    const int least = HS_WARP * (of.radius == 1 ? HS_LINE_LEAST_1 : HS_LINE_LEAST_23);
    if (n < least && !of.face[2 * HS_X].wrap) {
        snprintf(reason, size, "fused_line_1d needs at least %d points, not %lld", least,
                 (long long)n);
        return false;
    }
    const struct hs_box box = hs_tile_with_held(&of);
    const struct hs_line_cut cut = cut_of(&of, &box);
    HS_PLAN_PUT(out, cut);
    const int points = HS_WARP * cut.width, threads[HS_AXES] = {HS_WARP * HS_LINE_WARPS, 1, 1};
    struct hs_geometry *g = &out->launch;
    hs_tile_set(&of, HS_LINE_WARPS * (points - 2 * cut.halo), 1, 1, g);
    g->input_tile[HS_X] = HS_LINE_WARPS * points;
    hs_tile_finish(&of, &box, threads, g);
    g->blocks[HS_X] = g->launched = hs_divide_up(cut.lines, HS_LINE_WARPS);
    /* a lane's points, and 16 bytes so that banks differ */
    g->shared_bytes =
        (int64_t)threads[HS_X] * (cut.width * (int)hs_precision_size(of.precision) + 16);
    return true;
}

const struct hs_kernel hs_kernel_cuda_fused_line_1d = {
    .name = "fused_line_1d",
    .idea = "1D: up to 32 sweeps of a line that lies in a warp's registers",
    .origin = "overlapped tiles: Krishnamoorthy et al., PLDI'07",
    .device = HS_CUDA,
    .features =
        HS_STENCIL | HS_1D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES | HS_APPLIES_WALLS,
    .steps = HS_LINE_STEPS,
    .plan = plan,
    .sweep = hs_sweep_cuda_fused_line_1d,
};
