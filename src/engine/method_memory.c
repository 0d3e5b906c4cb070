#include "engine/method_memory.h"

#include "core/backend.h"
#include "core/largest_grid.h"
#include "core/machine.h"
#include "core/method.h"

static double bytes_of(const struct hs_problem *problem, const void *of)
{
    const struct hs_plan *plan = of;
    return plan->backend->memory(problem, plan->kernel) +
           hs_plan_method(plan)->memory(problem, plan->backend);
}

enum hs_status hs_method_check_memory(const struct hs_problem *problem, const struct hs_plan *plan,
                                      struct hs_error *err)
{
    const struct hs_method *method = hs_plan_method(plan);
    if (!method->memory || plan->backend->device != HS_CPU)
        return HS_OK;
    const double needed = bytes_of(problem, plan);
    const struct hs_memory_free available = hs_machine_memory_free("");
    if (needed <= available.bytes)
        return HS_OK;
    const struct hs_largest_grid limit = {bytes_of, plan, available.bytes};
    char points[HS_POINTS_TEXT], largest[HS_LARGEST_GRID_TEXT];
    hs_grid_name_points(&problem->grid, points, sizeof points);
    hs_largest_grid_say(&limit, problem, largest, sizeof largest);
    return hs_error_add(err, HS_DEVICE,
                        "%s: grid.points: the method \"%s\" of %s points needs %.0f bytes (%.2f "
                        "GiB), fields included, %s has %.0f (%.2f GiB) free; take fewer "
                        "grid.points, or another method; %s",
                        hs_problem_place(problem, HS_PLACE_POINTS), method->name, points, needed,
                        needed / 0x1p30, available.whose, available.bytes, available.bytes / 0x1p30,
                        largest);
}
