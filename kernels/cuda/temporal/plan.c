#include "plan.h"
#include "tiles.h"

static struct hs_blocking usual_temporal(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){{HS_WARP, HS_TEMPORAL_THREADS / HS_WARP, 1}, 0};
}

static void temporal(const struct hs_sweep *sweep, const int threads[HS_AXES],
                     const int tile[HS_AXES], struct hs_geometry *out)
{
    hs_tile_set(sweep, tile[HS_X], tile[HS_Y], tile[HS_Z], out);
    for (int axis = 0; axis < HS_AXES; axis++)
        out->input_tile[axis] = tile[axis] + 2 * hs_tile_halo(sweep, axis) * hs_tile_steps(sweep);
    const struct hs_box wide = hs_tiling_with_held(sweep);
    hs_tile_finish(sweep, &wide, threads, out);
    out->shared_bytes = 2 * out->points_loaded * (int64_t)hs_precision_size(sweep->precision);
}

/* The output tiles leave both halves within 64 KiB, what the smallest device has: in double and
 * with the most steps, (64 + 16) x (32 + 16) and (32 + 24) x (32 + 24) points twice ... */
static void geometry_temporal_2d(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                 struct hs_geometry *out)
{
    const int x = sweep->stencil->radius < 3 ? 2 * HS_TEMPORAL_2D : HS_TEMPORAL_2D;
    const int tile[HS_AXES] = {x, HS_TEMPORAL_2D, 1};
    temporal(sweep, blocking->threads, tile, out);
}

const struct hs_tiling hs_tiling_temporal_2d = {
    .kernel = "temporal_2d",
    .features = HS_STENCIL | HS_2D | HS_ALL_RADII | HS_ALL_PRECISIONS,
    .steps = {HS_TEMPORAL_STEPS_2D, HS_TEMPORAL_STEPS_2D},
    .usual = usual_temporal,
    .geometry = geometry_temporal_2d,
};

/* ... and (16 + 4) x 12 x 12 with radius 1, (8 + 8)^3 with radius 2. */
static void geometry_temporal_3d(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                 struct hs_geometry *out)
{
    int x = HS_TEMPORAL_3D;
    x *= sweep->stencil->radius == 1 ? 2 : 1;
    x *= sweep->precision == HS_FLOAT ? 2 : 1;
    const int tile[HS_AXES] = {x, HS_TEMPORAL_3D, HS_TEMPORAL_3D};
    temporal(sweep, blocking->threads, tile, out);
}

const struct hs_tiling hs_tiling_temporal_3d = {
    .kernel = "temporal_3d",
    .features = HS_STENCIL | HS_3D | HS_RADIUS_1 | HS_RADIUS_2 | HS_ALL_PRECISIONS,
    .steps = {HS_TEMPORAL_STEPS_3D, HS_TEMPORAL_STEPS_3D},
    .usual = usual_temporal,
    .geometry = geometry_temporal_3d,
};
