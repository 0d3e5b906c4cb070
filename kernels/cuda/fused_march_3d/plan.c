#include "plan.h"

static struct hs_blocking usual_fused(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){.threads = {HS_WARP * HS_FUSED_WARPS, 1, 1}};
}

static void set_fused(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                      hs_fused_cut_of *cut, struct hs_geometry *out)
{
    hs_fused_tiles(sweep, blocking->threads, hs_fused_tile_y(sweep->precision), cut, out);
    /* the queue of level 0, and a line as far as which its rows may begin later; two edge rows of
     * every group of lanes, at the other levels, twice; and two barriers a warp */
    const int *size = out->input_tile, width = sweep->precision == HS_FLOAT ? 4 : 2;
    const int64_t vectors = size[HS_X] / width, groups = size[HS_Y] / HS_FUSED_ROWS + 2;
    const int64_t edges = sweep->steps > 1 ? sweep->steps - 1 : 1;
    out->shared_bytes = 16 * vectors * (HS_FUSED_DEPTH * size[HS_Y] + 2 * edges * groups * 2) +
                        HS_FUSED_LINE_BYTES + 2 * HS_FUSED_WARPS * 8;
}

static void geometry_march(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                           struct hs_geometry *out)
{
    set_fused(sweep, blocking, hs_march_cut_z, out);
}

static void geometry_fields(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                            struct hs_geometry *out)
{
    set_fused(sweep, blocking, hs_fused_cut_z, out);
}

const struct hs_tiling hs_tiling_fused_march_3d = {
    .kernel = "fused_march_3d",
    .features = HS_STENCIL | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS,
    .steps = {HS_FUSED_STEPS, HS_FUSED_STEPS},
    .usual = usual_fused,
    .geometry = geometry_march,
    .moves = hs_fused_offset,
};

const struct hs_tiling hs_tiling_fused_fields_3d = {
    .kernel = "fused_fields_3d",
    .features = HS_STENCIL | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS,
    .steps = {HS_FUSED_SOURCE_STEPS, HS_FUSED_SOURCE_STEPS},
    .usual = usual_fused,
    .geometry = geometry_fields,
    .moves = hs_fused_offset,
};
