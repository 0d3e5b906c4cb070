#include "core/kernel.h"

#include "core/problem.h"

const char *hs_device_name(enum hs_device device)
{
    static const char *const names[HS_DEVICES] = {"cpu", "cuda"};
    return names[device];
}

bool hs_kernel_plan_make(const struct hs_kernel *kernel, const struct hs_problem *problem,
                         const struct hs_device_limits *limits, struct hs_kernel_plan *out,
                         char *reason, size_t size)
{
    *out = (struct hs_kernel_plan){.steps = kernel->steps};
    return hs_features_cover(kernel->name, kernel->features, hs_problem_features(problem), reason,
                             size) &&
           (!kernel->plan || kernel->plan(problem, limits, out, reason, size));
}

int hs_kernel_plan_takes(const struct hs_kernel_plan *plan, int most, int64_t left)
{
    const int sweeps = left < most ? (int)left : most;
    return plan->few == 0 || sweeps == plan->steps || sweeps <= plan->few ? sweeps : plan->few;
}
