#include "plan.h"

HS_CUDA_SWEEP(fused_march_3d);
HS_CUDA_SWEEP(fused_fields_3d);

/* Layers of the ends of a call in two parts: only if blocks far outnumber multiprocessors, and
 * there are chunks besides those of the ends. */
static int ends_of(const struct hs_fused_columns *columns, int64_t planes, int64_t blocks)
{
    enum { WAVES = 3 };
    const struct hs_fused_chunks *cut = &columns->z;
    if (cut->whole > 0 || cut->chunks < 3 || blocks < WAVES * columns->multiprocessors)
        return 0;
    return (int)hs_fused_ends(planes, cut->chunks, cut->taper);
}

static bool plan_columns(const char *name, const struct hs_case *given, hs_fused_cut_of *cut,
                         enum hs_fused_source source, const struct hs_device_limits *limits,
                         struct hs_kernel_plan *out, char *reason, size_t size)
{
    const int rows = hs_fused_tile_y(given->precision, HS_FUSED_WARPS, HS_FUSED_ROWS);
    const int least[HS_AXES] = {HS_FUSED_X, rows, HS_FUSED_STEPS};
    if (!hs_tile_capable(name, limits, 10, reason, size) ||
        !hs_fused_large_enough(name, given, least, HS_FUSED_STEPS, reason, size))
        return false;
    out->shift = hs_fused_shift(given);
    const struct hs_case of = hs_tile_case(given, out->steps, out->shift);
    const struct hs_fused_columns columns =
        hs_fused_tiles(&of, limits, HS_WARP * HS_FUSED_WARPS, rows, cut, &out->launch);
    HS_PLAN_PUT(out, columns);
    out->ends = ends_of(&columns, given->layout.points[HS_Z], out->launch.launched);
    out->launch.shared_bytes =
        hs_fused_shared_bytes((int)hs_precision_size(of.precision), of.steps, source, false);
    return true;
}

static bool plan_march(const struct hs_case *of, const struct hs_device_limits *limits,
                       struct hs_kernel_plan *out, char *reason, size_t size)
{
    out->fused_max_norm = true;
    out->recursion = HS_FUSED_RECURSION;
    out->takes = HS_FUSED_TAKES;
    const bool plain = of->steps < 1 || HS_FUSED_TAKES >> (of->steps - 1) & 1;
    return plan_columns("fused_march_3d", of, hs_march_cut_z,
                        plain ? HS_FUSED_NO_SOURCE : HS_FUSED_SOURCE_FIELDS, limits, out, reason,
                        size);
}

/* Whether there is one source field, which changes along all axes, and nothing else. */
static bool one_source_field(const struct hs_case *of)
{
    return (of->asked & HS_SOURCE_FIELD) && !(of->asked & (HS_SOURCE_TIME | HS_WALL_FIELD)) &&
           (of->source_varies & HS_VARIES_Y) && (of->source_varies & HS_VARIES_Z);
}

/* The form that fuses the most sweeps has a fused max-norm. */
static bool plan_fields(const struct hs_case *of, const struct hs_device_limits *limits,
                        struct hs_kernel_plan *out, char *reason, size_t size)
{
    out->fused_max_norm = one_source_field(of);
    out->steps = out->fused_max_norm ? HS_FUSED_SOURCE_STEPS : HS_FUSED_FIELDS_STEPS;
    out->takes = HS_FUSED_FIELDS_TAKES | 1u << (out->steps - 1);
    const enum hs_fused_source source =
        of->asked & HS_SOURCE_TABLES ? HS_FUSED_SOURCE_TABLES : HS_FUSED_SOURCE_FIELDS;
    return plan_columns("fused_fields_3d", of, hs_fused_cut_z, source, limits, out, reason, size);
}

const struct hs_kernel hs_kernel_cuda_fused_march_3d = {
    .name = "fused_march_3d",
    .idea = "3D: four sweeps in one march along z, their planes in registers",
    .origin = "3.5D blocking: Nguyen et al., SC'10",
    .device = HS_CUDA,
    .features =
        HS_STENCIL | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS | HS_UNIFORM_VALUES | HS_APPLIES_WALLS,
    .steps = HS_FUSED_STEPS,
    .plan = plan_march,
    .sweep = hs_sweep_cuda_fused_march_3d,
};

const struct hs_kernel hs_kernel_cuda_fused_fields_3d = {
    .name = "fused_fields_3d",
    .idea = "3D: three or four sweeps in one march along z, with sources and values that vary",
    .origin = "3.5D blocking: Nguyen et al., SC'10",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_APPLIES_WALLS | HS_SOURCE_LEVELS | HS_SOURCE_TABLES,
    .steps = HS_FUSED_SOURCE_STEPS,
    .plan = plan_fields,
    .sweep = hs_sweep_cuda_fused_fields_3d,
};
