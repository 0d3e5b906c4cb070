/* Functions on the device, with tables for parts that do not depend on all of place and time. */
#include "functions/device.cuh"

#include "core/cuda_call.h"

/* Copies the node positions along stretched axes to the device. */
static hs_status copy_places(hs_cuda_tables *tables, const hs_grid *grid, hs_error *err)
{
    for (int axis = 0; axis < grid->dims; axis++) {
        if (!grid->coordinate[axis])
            continue;
        const size_t bytes = (size_t)grid->points[axis] * sizeof(double);
        HS_CUDA_TRY(err, cudaMalloc(&tables->place[axis], bytes));
        HS_CUDA_TRY(err, cudaMemcpy(tables->place[axis], hs_grid_places(grid, axis), bytes,
                                    cudaMemcpyHostToDevice));
    }
    HS_CUDA_TRY(err, cudaDeviceSynchronize()); /* other streams do not wait for these copies */
    return HS_OK;
}

hs_status hs_cuda_tables_init(hs_cuda_tables *tables, const hs_expression *expression,
                              const hs_grid *grid, hs_tables_of which, int times, void *memory,
                              hs_error *err)
{
    *tables = {};
    tables->memory = (double *)memory;
    hs_cuda_function *left = &tables->left;
    hs_status st = hs_cuda_function_create(expression, grid, which, left, err);
    if (!st && hs_grid_is_stretched(grid))
        st = copy_places(tables, grid, err);
    double *at = tables->memory;
    for (int n = 0; n < left->tabulation.tables && !st; n++) {
        const hs_expression *part = &left->tabulation.table[n];
        const bool in_time = (part->varies & HS_VARIES_T) != 0;
        const int64_t numbers = hs_table_strides(part, grid, left->stride[n]);
        if (numbers == 1)
            continue;
        left->table[n] = at;
        left->apart[n] = in_time ? numbers : 0;
        at += numbers * (in_time ? times : 1);
        st = hs_cuda_function_create(part, grid, HS_TABLES_OF_NUMBERS, &tables->part[n], err);
    }
    return st;
}

void hs_cuda_tables_release(hs_cuda_tables *tables)
{
    for (hs_cuda_function &part : tables->part)
        hs_cuda_function_destroy(&part);
    hs_cuda_function_destroy(&tables->left);
    cudaFree(tables->memory);
    for (double *place : tables->place)
        cudaFree(place);
    *tables = {};
}

hs_status hs_cuda_tables_fill(hs_cuda_tables *tables, const hs_grid *grid, int count,
                              const double *t, cudaStream_t stream, hs_error *err)
{
    const hs_cuda_function &left = tables->left;
    for (int n = 0; n < left.tabulation.tables; n++) {
        const bool in_time = (left.tabulation.table[n].varies & HS_VARIES_T) != 0;
        if (!left.table[n] || (tables->filled && !in_time))
            continue;
        hs_cuda_patch patch = hs_cuda_patch_of(grid, tables->place);
        hs_cuda_times times = {};
        times.count = in_time ? count : 1;
        for (int axis = 0; axis < HS_AXES; axis++) {
            patch.stride[axis] = left.stride[n][axis];
            patch.count[axis] = patch.stride[axis] > 0 ? patch.count[axis] : 1;
        }
        for (int m = 0; m < times.count; m++) {
            times.t[m] = t[m];
            times.out[m] = left.table[n] + m * left.apart[n];
        }
        HS_TRY(hs_cuda_evaluate(&tables->part[n], &patch, &times, 1.0, HS_DOUBLE, stream, err));
    }
    tables->filled = true;
    return HS_OK;
}
