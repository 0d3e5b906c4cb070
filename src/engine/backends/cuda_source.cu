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

/* Fills in the factors, none where the source is no such product. */
hs_product product_of(const hs_problem *problem)
{
    hs_product product = {};
    const unsigned v = varies(problem);
    if ((v & HS_VARIES_T) && (v & HS_VARIES_SPACE) &&
        hs_expression_factor(&problem->source.field.value.expression, &product))
        return product;
    return {};
}

/* All nodes; where the values go is left open. */
hs_cuda_patch whole_patch(const hs_problem *problem)
{
    hs_cuda_patch patch = {};
    for (int axis = 0; axis < HS_AXES; axis++) {
        patch.count[axis] = problem->grid.points[axis];
        patch.lower[axis] = problem->grid.lower[axis];
        patch.spacing[axis] = problem->grid.spacing[axis];
    }
    return patch;
}

/* The part that does not change, evaluated once; without memory for it there is none. */
hs_status prepare_part(hs_cuda_source *source, hs_error *err)
{
    const hs_problem *problem = source->problem;
    hs_cuda_patch patch = whole_patch(problem);
    hs_cuda_program program = {};
    size_t free_bytes = 0, all_bytes = 0;
    const double bytes = hs_cuda_source_part_bytes(problem);
    HS_CUDA_TRY(err, cudaMemGetInfo(&free_bytes, &all_bytes));
    if (bytes == 0.0 || (double)free_bytes < bytes + hs_cuda_left_free)
        return HS_OK;
    if (cudaMalloc(&source->part, (size_t)bytes) != cudaSuccess) {
        cudaGetLastError(); /* it is no failure of a later call */
        source->part = NULL;
        return HS_OK;
    }
    patch.stride[HS_X] = 1;
    patch.stride[HS_Y] = patch.count[HS_X];
    patch.stride[HS_Z] = patch.count[HS_X] * patch.count[HS_Y];
    hs_status st = hs_cuda_program_create(&source->product.part, &program, err);
    if (!st)
        st = hs_cuda_evaluate(&program, &patch, 0.0, 1.0, HS_DOUBLE, source->part, source->stream,
                              err);
    if (!st && cudaStreamSynchronize(source->stream) != cudaSuccess)
        st = hs_error_add(err, HS_DEVICE, "cuda: evaluating the source: %s",
                          cudaGetErrorString(cudaGetLastError()));
    hs_cuda_program_destroy(&program);
    return st;
}

hs_status evaluate(hs_cuda_source *source, double step, double t, hs_error *err)
{
    const hs_problem *problem = source->problem;
    hs_cuda_patch patch = whole_patch(problem);
    for (int axis = 0; axis < HS_AXES; axis++) {
        patch.stride[axis] = source->layout.pitch[axis];
    }
    if (source->part) {
        double factor[HS_MOST_FACTORS];
        hs_product_at(&source->product, t, factor);
        return hs_cuda_apply_factors(&source->product, factor, source->part, &patch,
                                     scale(problem, step), problem->precision, source->nodes,
                                     source->stream, err);
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

double hs_cuda_source_part_bytes(const hs_problem *problem)
{
    return product_of(problem).factors > 0
               ? (double)hs_grid_count(&problem->grid) * (double)sizeof(double)
               : 0.0;
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
    if (problem->source.field.data)
        return HS_OK;
    source->product = product_of(problem);
    const hs_status st = prepare_part(source, err);
    return st ? st
              : hs_cuda_program_create(&problem->source.field.value.expression, &source->program,
                                       err);
}

void hs_cuda_source_release(hs_cuda_source *source)
{
    cudaFree(source->allocation);
    cudaFree(source->part);
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
