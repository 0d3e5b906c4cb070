#include "core/tiling.h"

void hs_tiling_launch(const struct hs_tiling *tiling, const struct hs_sweep *sweep,
                      struct hs_geometry *out)
{
    const struct hs_blocking blocking =
        tiling->usual(sweep->stencil->dims, sweep->stencil->radius, sweep->precision);
    tiling->geometry(sweep, &blocking, out);
}

struct hs_layout hs_tiling_layout(const struct hs_tiling *tiling, enum hs_precision precision,
                                  const struct hs_face *face, const struct hs_layout *layout)
{
    if (!tiling || !tiling->moves)
        return *layout;
    return hs_layout_moved(*layout, tiling->moves(precision, face, layout));
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
