/* What each sweep adds: a number that travels with the launch, or a field on the device. */
#include "engine/backends/cuda_parts.cuh"

#include <math.h>
#include <stdlib.h>

namespace
{

unsigned varies(const hs_problem *problem)
{
    const hs_field &field = problem->source.field;
    if (!problem->source.present)
        return 0;
    const unsigned axes = (1u << problem->grid.dims) - 1;
    return field.data ? axes : hs_value_varies(&field.value) & (axes | HS_VARIES_T);
}

double scale(const hs_problem *problem, double step)
{
    return problem->source.rate * (problem->raw ? 1.0 : step);
}

hs_status evaluate(hs_cuda_source *source, double step, double t, hs_error *err)
{
    const hs_problem *problem = source->problem;
    hs_cuda_patch patch = {};
    for (int axis = 0; axis < HS_AXES; axis++) {
        patch.count[axis] = problem->grid.points[axis];
        patch.stride[axis] = source->layout.pitch[axis];
        patch.lower[axis] = problem->grid.lower[axis];
        patch.spacing[axis] = problem->grid.spacing[axis];
    }
    return hs_cuda_evaluate(&source->program, &patch, t, scale(problem, step), problem->precision,
                            source->nodes, source->stream, err);
}

/* A field from a file: rows in the field's precision, plane by plane. */
hs_status upload(hs_cuda_source *source, double step, double t, hs_error *err)
{
    const hs_problem *problem = source->problem;
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    const size_t size = hs_precision_size(problem->precision);
    double *row = (double *)malloc((size_t)nx * sizeof *row);
    char *plane = (char *)malloc((size_t)(nx * ny) * size);
    hs_status st = HS_OK;
    if (!row || !plane)
        st = hs_error_add(err, HS_DEVICE, "not enough memory for a plane of the source");
    for (int64_t k = 0; k < problem->grid.points[HS_Z] && !st; k++) {
        for (int64_t j = 0; j < ny; j++) {
            hs_problem_source_row(problem, step, t, j, k, row);
            for (int64_t i = 0; i < nx; i++)
                if (problem->precision == HS_FLOAT)
                    ((float *)plane)[j * nx + i] = (float)row[i];
                else
                    ((double *)plane)[j * nx + i] = row[i];
        }
        const hs_box box = {{0, 0, k}, {nx, ny, k + 1}};
        st = hs_cuda_upload(source->staging, &source->layout, problem->precision, &box, plane,
                            source->nodes, source->stream, err);
    }
    free(plane);
    free(row);
    return st;
}

} // namespace

int hs_cuda_source_fields(const hs_problem *problem)
{
    return (varies(problem) & HS_VARIES_SPACE) ? 1 : 0;
}

hs_status hs_cuda_source_init(hs_cuda_source *source, const hs_problem *problem,
                              const hs_layout *layout, hs_cuda_staging *staging,
                              cudaStream_t stream, hs_error *err)
{
    *source = {};
    source->staging = staging;
    source->problem = problem;
    source->layout = *layout;
    source->stream = stream;
    source->varies = varies(problem);
    source->step = source->time = NAN;
    if (hs_cuda_source_fields(problem) == 0)
        return HS_OK;
    const size_t size = hs_precision_size(problem->precision);
    const size_t bytes = (size_t)layout->elements * size;
    HS_CUDA_TRY(err, cudaMalloc(&source->allocation, bytes));
    HS_CUDA_TRY(err, cudaMemsetAsync(source->allocation, 0, bytes, stream));
    source->nodes = source->allocation + (size_t)layout->origin * size;
    return problem->source.field.data
               ? HS_OK
               : hs_cuda_program_create(&problem->source.field.value.expression, &source->program,
                                        err);
}

void hs_cuda_source_release(hs_cuda_source *source)
{
    cudaFree(source->allocation);
    hs_cuda_program_destroy(&source->program);
    *source = {};
}

hs_status hs_cuda_source_update(hs_cuda_source *source, double step, double t, hs_error *err)
{
    const bool in_time = (source->varies & HS_VARIES_T) != 0;
    if (!source->nodes || (source->step == step && (!in_time || source->time == t)))
        return HS_OK;
    source->step = step;
    source->time = t;
    return source->problem->source.field.data ? upload(source, step, t, err)
                                              : evaluate(source, step, t, err);
}

double hs_cuda_source_uniform(const hs_cuda_source *source, double step, double t)
{
    const hs_problem *problem = source->problem;
    const double *lower = problem->grid.lower;
    if (!problem->source.present || source->nodes)
        return 0.0;
    return hs_value_at(&problem->source.field.value, lower[HS_X], lower[HS_Y], lower[HS_Z], t) *
           scale(problem, step);
}
