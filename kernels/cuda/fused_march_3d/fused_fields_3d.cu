/*
 * fused_fields_3d: fused_march_3d for sources and boundary values that differ from point to point.
 *
 * As fused_march_3d, which see, with the source's planes queued in shared memory beside level 0's.
 * A thread reads its own points of them only, so they need no barrier; it asks for them with level
 * 0's and reads them again for each level. There are four forms:
 *
 *     four levels,  one source field, faces uniform: a plane comes each step and serves all levels
 *     three levels, faces uniform: as many source fields, of which each level adds its own; where
 *                   they do not change along z, they come once
 *     three levels, faces uniform: tables of a source that can be taken apart along z, of which a
 *                   level adds plane * column + offset
 *     three levels, faces that differ from point to point besides, read where they are needed
 *
 * Words per point and sweep, from and to device memory: (1.3 + 1.3 + 1)/4 with one source field;
 * (1.3 + 1)/3 + 1.3 with one for each sweep, and another one to make them; (1.3 + 1)/3 with fields
 * that do not change along z, or tables.
 */
#include "march.cuh"

#include "core/features.h"

namespace
{

using namespace fused_march;

/* Whether there is one source field, which changes along all axes, and nothing else. */
bool one_source_field(const hs_problem *problem)
{
    const hs_features asked = hs_problem_features(problem), across = HS_VARIES_Y | HS_VARIES_Z;
    const hs_field &field = problem->source.field;
    return (asked & HS_SOURCE_FIELD) && !(asked & (HS_SOURCE_TIME | HS_WALL_FIELD)) &&
           (field.data || (hs_value_varies(&field.value) & across) == across);
}

bool faces_vary(const hs_sweep *sweep)
{
    for (int s = 0; s < sweep->steps; s++)
        for (int f = 0; f < HS_FACES; f++)
            if (sweep->level[s].drive_field[f] || sweep->level[s].hold_field[f])
                return true;
    return false;
}

/* What varies at faces costs registers and branches, so a source alone has a kernel of its own; but
 * not for the few sweeps that are left over of a stretch. */
template <typename T>
hs_status sweep_in(const hs_tiling &plan, const hs_sweep *sweep, hs_error *err)
{
    enum { FIELDS = HS_FUSED_FIELDS_STEPS, SOURCE = HS_FUSED_SOURCE_STEPS };
    const bool uniform = !faces_vary(sweep);
    if (sweep->source_tables)
        return launch<T, FIELDS, SOURCE_TABLES>(plan, sweep, err);
    if (sweep->steps == SOURCE && uniform && sweep->source)
        return launch_telling<T, SOURCE, SOURCE_FIELDS>(plan, sweep, err);
    if (sweep->steps == FIELDS && uniform && (sweep->source || sweep->source_level))
        return launch_levels<T, FIELDS, SOURCE_FIELDS>(plan, sweep, err);
    return launch<T, FIELDS, ALL_FIELDS>(plan, sweep, err);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    return sweep->precision == HS_FLOAT ? sweep_in<float>(hs_tiling_fused_fields_3d, sweep, err)
                                        : sweep_in<double>(hs_tiling_fused_fields_3d, sweep, err);
}

/* The form that fuses most tells a change. */
bool plan(const hs_problem *problem, const hs_device_limits *limits, hs_kernel_plan *out,
          char *reason, size_t size)
{
    out->fused_max_norm = one_source_field(problem);
    out->steps = out->fused_max_norm ? HS_FUSED_SOURCE_STEPS : HS_FUSED_FIELDS_STEPS;
    return fused_march::suits("fused_fields_3d", problem, limits, reason, size);
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_fused_fields_3d = {
    .name = "fused_fields_3d",
    .idea = "3D: three or four sweeps in one march along z, with sources and values that vary",
    .origin = "3.5D blocking: Nguyen et al., SC'10",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_APPLIES_WALLS | HS_SOURCE_LEVELS | HS_SOURCE_TABLES,
    .steps = HS_FUSED_SOURCE_STEPS,
    .plan = plan,
    .tiling = &hs_tiling_fused_fields_3d,
    .sweep = sweep,
};
