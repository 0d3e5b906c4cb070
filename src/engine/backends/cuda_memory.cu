/* How much of the device's memory the backend takes, and whether so much is free. */
#include "core/largest_grid.h"
#include "engine/backends/cuda_parts.cuh"

enum { ALIGN_BYTES = 128 }; /* what a warp reads at once */

hs_layout hs_cuda_layout(const hs_problem *problem)
{
    return hs_layout_make(&problem->grid, problem->radius,
                          ALIGN_BYTES / (int64_t)hs_precision_size(problem->precision));
}

namespace
{

double field_bytes(const hs_problem *problem)
{
    const int64_t align = ALIGN_BYTES / (int64_t)hs_precision_size(problem->precision);
    return hs_layout_bytes(&problem->grid, problem->radius, align, problem->precision);
}

/* The kernel's plan; without scratch where the kernel cannot do the case. */
hs_kernel_plan plan_of(const hs_problem *problem, const hs_kernel *kernel)
{
    hs_kernel_plan plan = {};
    hs_device_limits limits = {};
    char reason[256];
    plan.steps = kernel->steps;
    if (hs_cuda_limits(problem->solver.device, &limits, NULL) == HS_OK) {
        const hs_layout layout = hs_cuda_layout(problem);
        const hs_case of = hs_kernel_case(problem, &layout, 1);
        hs_kernel_plan_make(kernel, &of, &limits, &plan, reason, sizeof reason);
    }
    return plan;
}

double bytes_needed(const hs_problem *problem, const void *of)
{
    const hs_kernel *const kernel = (const hs_kernel *)of;
    const double field = field_bytes(problem);
    if (field > 0x1p50) /* no device has that; an integer might not hold it */
        return 3 * field;
    const hs_kernel_plan plan = plan_of(problem, kernel);
    return field * (2 + hs_cuda_source_fields(problem, kernel, plan.steps)) +
           hs_face_slots_bytes(problem, plan.steps + 1) +
           hs_cuda_network_bytes(problem, field, plan.steps) + (double)plan.scratch;
}

hs_status memory_short(const hs_problem *problem, const hs_kernel *kernel, double needed,
                       double free_bytes, hs_error *err)
{
    const hs_largest_grid limit = {bytes_needed, kernel, free_bytes};
    char points[HS_POINTS_TEXT], largest[HS_LARGEST_GRID_TEXT];
    hs_grid_name_points(&problem->grid, points, sizeof points);
    hs_largest_grid_say(&limit, problem, largest, sizeof largest);
    return hs_error_add(err, HS_DEVICE,
                        "not enough device memory: %s points in %s precision need %.0f bytes "
                        "(%.2f GiB), %.0f bytes (%.2f GiB) are free; %s",
                        points, hs_precision_name(problem->precision), needed, needed / 0x1p30,
                        free_bytes, free_bytes / 0x1p30, largest);
}

} // namespace

double hs_cuda_memory(const hs_problem *problem, const hs_kernel *kernel)
{
    return bytes_needed(problem, kernel) + field_bytes(problem) +
           hs_cuda_source_more_bytes(problem, kernel, plan_of(problem, kernel).steps);
}

hs_status hs_cuda_memory_check(const hs_problem *problem, const hs_kernel *kernel, hs_error *err)
{
    size_t free_bytes = 0, all_bytes = 0;
    HS_CUDA_TRY(err, cudaMemGetInfo(&free_bytes, &all_bytes));
    const double needed = bytes_needed(problem, kernel);
    return needed <= (double)free_bytes
               ? HS_OK
               : memory_short(problem, kernel, needed, (double)free_bytes, err);
}

hs_status hs_cuda_spare(double bytes, void **out, hs_error *err)
{
    size_t free_bytes = 0, all_bytes = 0;
    *out = NULL;
    HS_CUDA_TRY(err, cudaMemGetInfo(&free_bytes, &all_bytes));
    if ((double)free_bytes < bytes + hs_cuda_left_free)
        return HS_OK;
    if (cudaMalloc(out, (size_t)bytes) != cudaSuccess) {
        cudaGetLastError(); /* so that no later call reports it */
        *out = NULL;
    }
    return HS_OK;
}
