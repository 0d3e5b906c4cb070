#include "plan.h"

#include <stdio.h>

HS_CUDA_SWEEP(temporal_2d);
HS_CUDA_SWEEP(temporal_3d);

static bool plan_tiles(const struct hs_case *of, const int tile[HS_AXES],
                       struct hs_kernel_plan *out, char *reason, size_t size)
{
    /* a tile's cells are numbered by int, as nodes are; fewer than this lie beyond an axis */
    enum { BEYOND = 128 };
    for (int axis = 0; axis < of->dims; axis++)
        if (of->layout.points[axis] > INT32_MAX - BEYOND) {
            snprintf(reason, size, "temporal_%dd needs fewer than 2^31 - %d points along an axis",
                     of->dims, (int)BEYOND);
            return false;
        }
    const int threads[HS_AXES] = {HS_WARP, HS_TEMPORAL_THREADS / HS_WARP, 1};
    const struct hs_box wide = hs_tile_with_held(of);
    struct hs_geometry *g = &out->launch;
    hs_tile_set(of, tile[HS_X], tile[HS_Y], tile[HS_Z], g);
    for (int axis = 0; axis < HS_AXES; axis++)
        g->input_tile[axis] = tile[axis] + 2 * hs_tile_halo(of, axis) * of->steps;
    hs_tile_finish(of, &wide, threads, g);
    g->shared_bytes = 2 * g->points_loaded * (int64_t)hs_precision_size(of->precision);
    HS_PLAN_PUT(out, wide);
    return true;
}

/* With these output tiles both halves fit in 64 KiB, what the smallest device has: in double and
 * with the most steps, (64 + 16) x (32 + 16) and (32 + 24) x (32 + 24) points twice ... */
static bool plan_2d(const struct hs_case *given, const struct hs_device_limits *limits,
                    struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits;
    const struct hs_case of = hs_tile_case(given, HS_TEMPORAL_STEPS_2D, 0);
    const int tile[HS_AXES] = {of.radius < 3 ? 2 * HS_TEMPORAL_2D : HS_TEMPORAL_2D, HS_TEMPORAL_2D,
                               1};
    return plan_tiles(&of, tile, out, reason, size);
}

/* ... and (16 + 4) x 12 x 12 with radius 1, (8 + 8)^3 with radius 2. */
static bool plan_3d(const struct hs_case *given, const struct hs_device_limits *limits,
                    struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits;
    const struct hs_case of = hs_tile_case(given, HS_TEMPORAL_STEPS_3D, 0);
    const int longer = (of.radius == 1 ? 2 : 1) * (of.precision == HS_FLOAT ? 2 : 1);
    const int tile[HS_AXES] = {longer * HS_TEMPORAL_3D, HS_TEMPORAL_3D, HS_TEMPORAL_3D};
    return plan_tiles(&of, tile, out, reason, size);
}

const struct hs_kernel hs_kernel_cuda_temporal_2d = {
    .name = "temporal_2d",
    .idea = "2D: up to 4 sweeps a launch on a tile in shared memory whose halo shrinks",
    .origin = "Krishnamoorthy et al., PLDI'07; Meng, Skadron, ICS'09",
    .device = HS_CUDA,
    .features =
        HS_STENCIL | HS_2D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES | HS_APPLIES_WALLS,
    .steps = HS_TEMPORAL_STEPS_2D,
    .plan = plan_2d,
    .sweep = hs_sweep_cuda_temporal_2d,
};

const struct hs_kernel hs_kernel_cuda_temporal_3d = {
    .name = "temporal_3d",
    .idea = "3D: two sweeps a launch on a tile in shared memory whose halo shrinks",
    .origin = "Krishnamoorthy et al., PLDI'07; Holewinski et al., ICS'12",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_3D | HS_RADIUS_1 | HS_RADIUS_2 | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_APPLIES_WALLS,
    .steps = HS_TEMPORAL_STEPS_3D,
    .plan = plan_3d,
    .sweep = hs_sweep_cuda_temporal_3d,
};
