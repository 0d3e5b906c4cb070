#include "plan.h"

int hs_wide_tile_y(enum hs_precision precision)
{
    const int lanes = HS_WIDE_X * (int)hs_precision_size(precision) / HS_VECTOR_BYTES;
    const int rows = precision == HS_FLOAT ? HS_WIDE_ROWS_FLOAT : HS_WIDE_ROWS_DOUBLE;
    return HS_WIDE_WARPS * HS_WARP / lanes * rows;
}

static struct hs_blocking usual_wide(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){.threads = {HS_WARP * HS_WIDE_WARPS, 1, 1}};
}

/* Blocks that are not throttled read rows that begin with sectors faster, whatever the tiles. */
static int wide_offset(enum hs_precision precision, const struct hs_face *face,
                       const struct hs_layout *layout)
{
    enum { HALO = 4, SECTOR = 8 };
    const int64_t nx = layout->points[HS_X], ny = layout->points[HS_Y];
    const int offset = hs_fused_offset(precision, face, layout);
    if (offset == 0)
        return 0;
    const int64_t tiles_x = hs_fused_make_cut(nx, HS_WIDE_X, HALO, SECTOR, offset, false).tiles;
    const int64_t tiles_y = hs_tile_overlapping(ny, hs_wide_tile_y(precision), HALO, false);
    return hs_wide_throttles(precision, face, nx, tiles_x, tiles_y) ? offset : 0;
}

static void geometry_wide(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                          struct hs_geometry *out)
{
    hs_fused_tiles(sweep, blocking->threads, hs_wide_tile_y(sweep->precision), hs_wide_cut_z, out);
    /* planes of both levels, with R rows on each side, and a line as far as which rows may begin
     * later; two barriers a warp; what keeps blocks in step, and what stretches of steps meet */
    const int64_t row = out->input_tile[HS_X] * (int64_t)hs_precision_size(sweep->precision);
    const int64_t rows = out->input_tile[HS_Y] + 2 * sweep->stencil->radius;
    const int planes = HS_WIDE_DEPTH + (sweep->steps > 1 ? HS_WIDE_PASSED : 0);
    out->shared_bytes = planes * rows * row + HS_FUSED_LINE_BYTES + 2 * HS_WIDE_WARPS * 8 +
                        HS_WIDE_THROTTLE_BYTES + 32;
}

const struct hs_tiling hs_tiling_fused_wide_3d = {
    .kernel = "fused_wide_3d",
    .features = HS_STENCIL | HS_3D | HS_RADIUS_2 | HS_ALL_PRECISIONS,
    .steps = {HS_WIDE_STEPS, HS_WIDE_STEPS},
    .usual = usual_wide,
    .geometry = geometry_wide,
    .moves = wide_offset,
};
