#include "plan.h"

HS_CUDA_SWEEP(fused_radius2_3d);

/* Blocks that are not throttled are faster if rows begin at sectors, whatever the tiles. */
static int shift_of(const struct hs_case *of, const struct hs_device_limits *limits, int rows)
{
    enum { HALO = 4, SECTOR = 8 };
    const int64_t nx = of->layout.points[HS_X], ny = of->layout.points[HS_Y];
    const int shift = hs_fused_shift(of);
    if (shift == 0)
        return 0;
    const int64_t tiles_x = hs_fused_make_cut(nx, HALO, SECTOR, shift, false).tiles;
    const int64_t tiles_y = hs_tile_overlapping(ny, rows, HALO, false);
    return hs_radius2_throttles(of, limits, tiles_x, tiles_y) ? shift : 0;
}

static bool plan(const struct hs_case *given, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    const bool single = given->precision == HS_FLOAT;
    const int halo = 2 * HS_RADIUS2_STEPS, newest = single ? 9 : 10; /* see LEAN in tile.cuh */
    const int rows = hs_fused_tile_y(given->precision, HS_RADIUS2_WARPS,
                                     single ? HS_RADIUS2_ROWS_FLOAT : HS_RADIUS2_ROWS_DOUBLE);
    const int least[HS_AXES] = {HS_FUSED_X, rows, 2 * halo};
    if (!hs_tile_capable("fused_radius2_3d", limits, newest, reason, size) ||
        !hs_fused_large_enough("fused_radius2_3d", given, least, halo, reason, size))
        return false;
    out->shift = shift_of(given, limits, rows);
    const struct hs_case of = hs_tile_case(given, HS_RADIUS2_STEPS, out->shift);
    struct hs_geometry *g = &out->launch;
    const struct hs_fused_columns columns =
        hs_fused_tiles(&of, limits, HS_WARP * HS_RADIUS2_WARPS, rows, hs_radius2_cut_z, g);
    HS_PLAN_PUT(out, columns);
    /* planes of both levels, with R rows on each side; a line, up to which rows may begin later;
     * two barriers per warp; the throttle's memory, and what stretches of steps meet */
    const int64_t row = g->input_tile[HS_X] * (int64_t)hs_precision_size(of.precision);
    const int64_t in_tile = g->input_tile[HS_Y] + 2 * of.radius;
    const int planes = HS_RADIUS2_DEPTH + (of.steps > 1 ? HS_RADIUS2_PASSED : 0);
    g->shared_bytes = planes * in_tile * row + HS_FUSED_LINE_BYTES + 2 * HS_RADIUS2_WARPS * 8 +
                      HS_RADIUS2_THROTTLE_BYTES + 32;
    out->scratch = single ? HS_RADIUS2_COUNTS * sizeof(unsigned) : 0;
    return true;
}

const struct hs_kernel hs_kernel_cuda_fused_radius2_3d = {
    .name = "fused_radius2_3d",
    .idea = "3D: two sweeps of radius 2 in one march along z, their sums in registers",
    .origin = "3.5D blocking: Nguyen et al., SC'10",
    .device = HS_CUDA,
    .features =
        HS_STENCIL | HS_3D | HS_RADIUS_2 | HS_ALL_PRECISIONS | HS_UNIFORM_VALUES | HS_APPLIES_WALLS,
    .steps = HS_RADIUS2_STEPS,
    .plan = plan,
    .sweep = hs_sweep_cuda_fused_radius2_3d,
};
