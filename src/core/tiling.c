#include "core/tiling.h"
#include "core/tiling_parts.h"

#include <assert.h>
#include <string.h>

const struct hs_tiling *const hs_tilings[] = {
    &hs_tiling_basic,
    &hs_tiling_shared_tile,
    &hs_tiling_coarsened,
    &hs_tiling_register_tile,
    &hs_tiling_march_halo,
    &hs_tiling_tile_2d,
    &hs_tiling_collaborative_2d,
    &hs_tiling_register_window,
    &hs_tiling_warp_shuffle,
    &hs_tiling_vector_march,
    &hs_tiling_bulk_march,
    &hs_tiling_temporal_2d,
    &hs_tiling_temporal_3d,
    &hs_tiling_fused_march_3d,
    &hs_tiling_fused_fields_3d,
    &hs_tiling_fused_wide_3d,
    &hs_tiling_fused_march_2d,
    &hs_tiling_fused_line_1d,
    &hs_tiling_resident,
    NULL,
};

const struct hs_tiling *hs_tiling_find(const char *kernel)
{
    for (const struct hs_tiling *const *row = hs_tilings; *row; row++)
        if (strcmp((*row)->kernel, kernel) == 0)
            return *row;
    return NULL;
}

void hs_tiling_launch(const char *kernel, const struct hs_sweep *sweep, struct hs_geometry *out)
{
    const struct hs_tiling *tiling = hs_tiling_find(kernel);
    assert(tiling);
    const struct hs_blocking blocking =
        tiling->usual(sweep->stencil->dims, sweep->stencil->radius, sweep->precision);
    tiling->geometry(sweep, &blocking, out);
}

struct hs_layout hs_tiling_layout(const char *kernel, enum hs_precision precision,
                                  const struct hs_face *face, const struct hs_layout *layout)
{
    const struct hs_tiling *tiling = hs_tiling_find(kernel);
    if (!tiling || !tiling->moves)
        return *layout;
    return hs_layout_moved(*layout, tiling->moves(precision, face, layout));
}

void hs_tiling_cover(const struct hs_box *box, const int tile[HS_AXES], int64_t blocks[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++)
        blocks[axis] = hs_divide_up(box->hi[axis] - box->lo[axis], tile[axis]);
}

struct hs_box hs_tiling_with_held(const struct hs_sweep *sweep)
{
    struct hs_box wide = sweep->box;
    for (int axis = 0; axis < sweep->stencil->dims; axis++) {
        const int below = sweep->face[2 * axis].held, above = sweep->face[2 * axis + 1].held;
        if (wide.lo[axis] == below)
            wide.lo[axis] = 0;
        if (wide.hi[axis] == sweep->layout.points[axis] - above)
            wide.hi[axis] = sweep->layout.points[axis];
    }
    return wide;
}

int64_t hs_geometry_blocks(const struct hs_geometry *geometry)
{
    if (geometry->sharing > 0)
        return geometry->sharing;
    const int64_t columns = geometry->blocks[HS_X] * geometry->blocks[HS_Y];
    return geometry->whole + (columns - geometry->whole) * geometry->blocks[HS_Z];
}

double hs_geometry_intensity(const struct hs_geometry *geometry, enum hs_precision precision)
{
    return geometry->flops_per_point * (double)geometry->points_written /
           ((double)geometry->points_loaded * (double)hs_precision_size(precision));
}

double hs_geometry_halo_share(const struct hs_geometry *geometry)
{
    return 1.0 - (double)geometry->points_written / (double)geometry->points_loaded;
}
