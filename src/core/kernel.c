#include "core/kernel.h"

#include "core/problem.h"

#include <stdio.h>

const char *hs_device_name(enum hs_device device)
{
    static const char *const names[HS_DEVICES] = {"cpu", "cuda"};
    return names[device];
}

struct hs_case hs_kernel_case(const struct hs_problem *problem, const struct hs_layout *layout,
                              int threads)
{
    const unsigned axes = (1u << problem->grid.dims) - 1u;
    return (struct hs_case){
        .asked = hs_problem_features(problem),
        .source_varies = hs_problem_source_varies(problem) & (axes | HS_VARIES_T),
        .precision = problem->precision,
        .dims = problem->grid.dims,
        .radius = problem->radius,
        .layout = *layout,
        .box = hs_problem_interior(problem),
        .face = problem->face,
        .threads = threads,
        .slab = problem->slab != NULL,
    };
}

/* Whether the plan allows calls of of->steps sweeps, plain or of a recursion. */
static bool takes_steps(const struct hs_kernel *kernel, const struct hs_case *of,
                        const struct hs_kernel_plan *plan, char *reason, size_t size)
{
    const int most = of->steps < plan->steps ? of->steps : plan->steps;
    const int steps = most > 0 ? hs_kernel_plan_takes(plan, most, most) : most;
    if (steps == of->steps || of->steps <= plan->recursion)
        return true;
    if (of->steps > plan->steps)
        snprintf(reason, size, "%s fuses at most %d in %s, not %d sweeps", kernel->name,
                 plan->steps, hs_precision_name(of->precision), of->steps);
    else
        snprintf(reason, size, "%s fuses no %d sweeps in %s, but %d", kernel->name, of->steps,
                 hs_precision_name(of->precision), steps);
    return false;
}

bool hs_kernel_plan_make(const struct hs_kernel *kernel, const struct hs_case *of,
                         const struct hs_device_limits *limits, struct hs_kernel_plan *out,
                         char *reason, size_t size)
{
    *out = (struct hs_kernel_plan){.steps = kernel->steps};
    return hs_features_cover(kernel->name, kernel->features, of->asked, reason, size) &&
           (!kernel->plan || kernel->plan(of, limits, out, reason, size)) &&
           takes_steps(kernel, of, out, reason, size);
}

int hs_kernel_plan_takes(const struct hs_kernel_plan *plan, int most, int64_t left)
{
    int sweeps = left < most ? (int)left : most;
    while (plan->takes && !(plan->takes >> (sweeps - 1) & 1u))
        sweeps--;
    return sweeps;
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
