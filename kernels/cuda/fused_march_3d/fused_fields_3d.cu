/*
 * fused_fields_3d: fused_march_3d for sources and boundary values that differ from point to point.
 *
 * As fused_march_3d (see there), with the source's planes queued in shared memory beside level 0's.
 * A thread reads only its own points of them, so they need no barrier; it copies them with level
 * 0's and reads them again for each level. There are four forms:
 *
 *     four levels,  one source field, faces uniform: a plane comes each step and serves all levels
 *     three levels, faces uniform: one source field per level; fields that do not change along z
 *                   come once
 *     three levels, faces uniform: tables of a source that is separable along z; a level adds
 *                   plane * column + offset
 *     three levels, values at faces also vary from point to point and are read where needed
 *
 * Words per point and sweep, from and to device memory: (1.3 + 1.3 + 1)/4 with one source field;
 * (1.3 + 1)/3 + 1.3 with one per sweep, plus one to make them; (1.3 + 1)/3 with fields that do not
 * change along z, or with tables.
 */
#include "march.cuh"

namespace
{

using namespace fused_march;

bool faces_vary(const hs_sweep *sweep)
{
    for (int s = 0; s < sweep->steps; s++)
        for (int f = 0; f < HS_FACES; f++)
            if (sweep->level[s].data_field[f] || sweep->level[s].prescribed_field[f])
                return true;
    return false;
}

/* Values that vary at faces cost registers and branches, so a source alone has its own kernel; but
 * not for the few sweeps left over from a stretch. */
template <typename T>
hs_status sweep_in(const hs_kernel_plan *plan, const hs_sweep *sweep, hs_error *err)
{
    enum { FIELDS = HS_FUSED_FIELDS_STEPS, SOURCE = HS_FUSED_SOURCE_STEPS };
    static const char name[] = "fused_fields_3d";
    const hs_source_form form = sweep->source.form;
    const bool uniform = !faces_vary(sweep);
    if (form == HS_SOURCE_IS_OF_TABLES)
        return launch<T, FIELDS, SOURCE_TABLES, HS_FUSED_FIELDS_TAKES>(name, plan, sweep, err);
    if (sweep->steps == SOURCE && uniform && form == HS_SOURCE_IS_FIELD)
        return launch_with_max_norm<T, SOURCE, SOURCE_FIELDS>(name, plan, sweep, err);
    if (sweep->steps == FIELDS && uniform && form != HS_SOURCE_IS_UNIFORM)
        return launch_levels<T, FIELDS, SOURCE_FIELDS>(name, plan, sweep, err);
    return launch<T, FIELDS, ALL_FIELDS, HS_FUSED_FIELDS_TAKES>(name, plan, sweep, err);
}

} // namespace

HS_CUDA_SWEEP(fused_fields_3d)
{
    return sweep->precision == HS_FLOAT ? sweep_in<float>(plan, sweep, err)
                                        : sweep_in<double>(plan, sweep, err);
}
