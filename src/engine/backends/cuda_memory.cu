/* What the backend takes of the device's memory, and whether there is as much. */
#include "engine/backends/cuda_parts.cuh"

#include <stdio.h>

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

/* In floating point, since a grid too large for memory may be too large for an integer. */
double field_bytes(const hs_problem *problem, const hs_grid *grid)
{
    const double size = (double)hs_precision_size(problem->precision);
    double bytes = size;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const double around = axis < grid->dims ? 2.0 * problem->radius : 0.0;
        const double gap = axis == HS_X ? (double)ALIGN_BYTES / size : 0.0;
        bytes *= (double)grid->points[axis] + around + gap;
    }
    return bytes;
}

double bytes_needed(const hs_problem *problem, const hs_kernel *kernel, const hs_grid *grid)
{
    const int of_source = hs_cuda_source_fields(problem, kernel);
    const double fields = field_bytes(problem, grid) * (2 + of_source);
    if (fields > 0x1p50) /* no device has that; an integer might not hold it */
        return fields;
    return fields + hs_cuda_faces_bytes(problem, kernel->steps + 1) +
           (double)hs_cuda_scratch_bytes(problem, kernel, grid);
}

hs_status memory_short(const hs_problem *problem, const hs_kernel *kernel, double needed,
                       double free_bytes, hs_error *err)
{
    static const char *const shape[] = {"", "%lld points", "%lld x %lld points",
                                        "%lld x %lld x %lld points"};
    hs_grid grid = problem->grid;
    long long low = 0, high = 1LL << 40; /* points along each axis that fit, that do not */
    while (high - low > 1) {
        const long long middle = low + (high - low) / 2;
        for (int axis = 0; axis < grid.dims; axis++)
            grid.points[axis] = middle;
        (bytes_needed(problem, kernel, &grid) <= free_bytes ? low : high) = middle;
    }
    char fits[96], asked[96];
    const int64_t *points = problem->grid.points;
    snprintf(fits, sizeof fits, shape[grid.dims], low, low, low);
    snprintf(asked, sizeof asked, shape[grid.dims], (long long)points[HS_X],
             (long long)points[HS_Y], (long long)points[HS_Z]);
    return hs_error_add(err, HS_DEVICE,
                        "not enough device memory: %s in %s precision need %.0f bytes (%.2f GiB), "
                        "%.0f bytes (%.2f GiB) are free; the largest grid of this kind that fits "
                        "is %s",
                        asked, hs_precision_name(problem->precision), needed, needed / 0x1p30,
                        free_bytes, free_bytes / 0x1p30, fits);
}

} // namespace

double hs_cuda_memory(const hs_problem *problem, const hs_kernel *kernel)
{
    return bytes_needed(problem, kernel, &problem->grid) + field_bytes(problem, &problem->grid) +
           hs_cuda_source_more_bytes(problem, kernel);
}

hs_status hs_cuda_memory_check(const hs_problem *problem, const hs_kernel *kernel, hs_error *err)
{
    size_t free_bytes = 0, all_bytes = 0;
    HS_CUDA_TRY(err, cudaMemGetInfo(&free_bytes, &all_bytes));
    const double needed = bytes_needed(problem, kernel, &problem->grid);
    return needed <= (double)free_bytes
               ? HS_OK
               : memory_short(problem, kernel, needed, (double)free_bytes, err);
}
