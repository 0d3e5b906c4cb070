/* What the backend takes of the device's memory, and whether there is as much. */
#include "core/largest_grid.h"
#include "engine/backends/cuda_parts.cuh"

enum { ALIGN_BYTES = 128 }; /* what a warp reads at once */

hs_layout hs_cuda_field_layout(const hs_problem *problem, const hs_grid *grid)
{
    return hs_layout_make(grid, problem->radius,
                          ALIGN_BYTES / (int64_t)hs_precision_size(problem->precision));
}

size_t hs_cuda_scratch_bytes(const hs_problem *problem, const hs_kernel *kernel,
                             const hs_grid *grid)
{
    if (!kernel->scratch)
        return 0;
    hs_stencil stencil = {};
    stencil.dims = grid->dims;
    stencil.radius = problem->radius;
    hs_sweep request = {};
    request.precision = problem->precision;
    request.layout = hs_cuda_field_layout(problem, grid);
    request.box = hs_grid_box(grid);
    request.stencil = &stencil;
    request.steps = kernel->steps;
    request.face = problem->face;
    return kernel->scratch(&request);
}

namespace
{

double field_bytes(const hs_problem *problem)
{
    const int64_t align = ALIGN_BYTES / (int64_t)hs_precision_size(problem->precision);
    return hs_layout_bytes(&problem->grid, problem->radius, align, problem->precision);
}

double bytes_needed(const hs_problem *problem, const hs_kernel *kernel)
{
    const int of_source = hs_cuda_source_fields(problem, kernel);
    const double fields = field_bytes(problem) * (2 + of_source);
    if (fields > 0x1p50) /* no device has that; an integer might not hold it */
        return fields;
    return fields + hs_cuda_faces_bytes(problem, kernel->steps + 1) +
           (double)hs_cuda_scratch_bytes(problem, kernel, &problem->grid);
}

struct demand {
    const hs_problem *problem;
    const hs_kernel *kernel;
};

double bytes_on(const hs_grid *grid, const void *context)
{
    const demand *asked = (const demand *)context;
    hs_problem problem = *asked->problem;
    problem.grid = *grid;
    return bytes_needed(&problem, asked->kernel);
}

hs_status memory_short(const hs_problem *problem, const hs_kernel *kernel, double needed,
                       double free_bytes, hs_error *err)
{
    const demand asked = {problem, kernel};
    const hs_largest_grid fit = {bytes_on, &asked, free_bytes, 2 * problem->radius + 1};
    char points[HS_POINTS_TEXT], fits[HS_LARGEST_GRID_TEXT];
    hs_grid_name_points(&problem->grid, points, sizeof points);
    hs_largest_grid_say(&fit, &problem->grid, fits, sizeof fits);
    return hs_error_add(err, HS_DEVICE,
                        "not enough device memory: %s points in %s precision need %.0f bytes "
                        "(%.2f GiB), %.0f bytes (%.2f GiB) are free; %s",
                        points, hs_precision_name(problem->precision), needed, needed / 0x1p30,
                        free_bytes, free_bytes / 0x1p30, fits);
}

} // namespace

double hs_cuda_memory(const hs_problem *problem, const hs_kernel *kernel)
{
    return bytes_needed(problem, kernel) + field_bytes(problem) +
           hs_cuda_source_more_bytes(problem, kernel);
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
