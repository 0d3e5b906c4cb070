#include "plan.h"
#include "tiles.h"

int hs_line_width(const struct hs_sweep *sweep)
{
    if (sweep->layout.points[HS_X] >= HS_LINE_LONG)
        return HS_LINE_WIDTH;
    return sweep->stencil->radius == 1 ? HS_LINE_LEAST_1 : HS_LINE_LEAST_23;
}

int hs_line_halo(const struct hs_sweep *sweep)
{
    const int vector = HS_VECTOR_BYTES / (int)hs_precision_size(sweep->precision);
    return (int)hs_divide_up(hs_tile_reach(sweep), vector) * vector;
}

int64_t hs_line_count(const struct hs_sweep *sweep)
{
    const struct hs_box wide = hs_tiling_with_held(sweep);
    return hs_tile_overlapping(wide.hi[HS_X] - wide.lo[HS_X], HS_WARP * hs_line_width(sweep),
                               hs_line_halo(sweep), sweep->face[2 * HS_X].wrap);
}

static struct hs_blocking usual_fused_line(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){.threads = {HS_WARP * HS_LINE_WARPS, 1, 1}};
}

static void geometry_fused_line(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                struct hs_geometry *out)
{
    const int size = (int)hs_precision_size(sweep->precision), halo = hs_line_halo(sweep);
    const int points = HS_WARP * hs_line_width(sweep);
    const struct hs_box wide = hs_tiling_with_held(sweep);
    hs_tile_set(sweep, HS_LINE_WARPS * (points - 2 * halo), 1, 1, out);
    out->input_tile[HS_X] = HS_LINE_WARPS * points;
    hs_tile_finish(sweep, &wide, blocking->threads, out);
    out->blocks[HS_X] = hs_divide_up(hs_line_count(sweep), HS_LINE_WARPS);
    /* a lane's points, and 16 bytes so that banks differ */
    out->shared_bytes = (int64_t)blocking->threads[HS_X] * (points / HS_WARP * size + 16);
}

const struct hs_tiling hs_tiling_fused_line_1d = {
    .kernel = "fused_line_1d",
    .features = HS_STENCIL | HS_1D | HS_ALL_RADII | HS_ALL_PRECISIONS,
    .steps = {HS_LINE_STEPS, HS_LINE_STEPS},
    .usual = usual_fused_line,
    .geometry = geometry_fused_line,
};
