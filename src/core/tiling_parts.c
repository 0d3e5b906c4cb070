#include "core/tiling_parts.h"

int hs_tile_halo(const struct hs_sweep *sweep, int axis)
{
    return axis < sweep->stencil->dims ? sweep->stencil->radius : 0;
}

int64_t hs_tile_volume(const int extent[HS_AXES])
{
    return (int64_t)extent[HS_X] * extent[HS_Y] * extent[HS_Z];
}

int64_t hs_divide_up(int64_t count, int64_t by)
{
    return count > 0 && by > 0 ? (count + by - 1) / by : 0;
}

void hs_tile_finish(const struct hs_sweep *sweep, const int threads[HS_AXES],
                    struct hs_geometry *out)
{
    out->points_updated = hs_box_count(&sweep->box);
    hs_tiling_cover(&sweep->box, out->output_tile, out->blocks);
    for (int axis = 0; axis < HS_AXES; axis++)
        out->threads[axis] = threads[axis];
    out->points_written = hs_tile_volume(out->output_tile);
    /* as many multiplications as coefficients, one addition less */
    out->flops_per_point =
        2.0 * hs_stencil_count(sweep->stencil->dims, sweep->stencil->radius) - 1.0;
}

void hs_tile_set(const struct hs_sweep *sweep, int x, int y, int z, struct hs_geometry *out)
{
    const int tile[HS_AXES] = {x, y, z};
    *out = (struct hs_geometry){0};
    for (int axis = 0; axis < HS_AXES; axis++) {
        out->output_tile[axis] = tile[axis];
        out->input_tile[axis] = tile[axis] + 2 * hs_tile_halo(sweep, axis);
    }
}

int64_t hs_tile_star_points(const struct hs_sweep *sweep, const int tile[HS_AXES])
{
    int64_t points = hs_tile_volume(tile);
    for (int axis = 0; axis < HS_AXES; axis++)
        points += 2 * hs_tile_halo(sweep, axis) * (hs_tile_volume(tile) / tile[axis]);
    return points;
}
