/* Sources that separate as plane * column + offset (functions/separation.h): the tables of each
 * sweep, for kernels that take them. */
#include "functions/device.cuh"

#include "core/cuda_call.h"
#include "core/round.h"

#include <stdlib.h>

namespace
{

enum { ALIGN = 128 / sizeof(double) }; /* numbers, of a plane's rows */

int64_t plane_numbers(const hs_grid *grid)
{
    return hs_round_up(grid->points[HS_X], ALIGN) * grid->points[HS_Y];
}

/* A part's function, or the constant `otherwise` if the part is empty. */
hs_status make_function(const hs_expression *part, const hs_instruction *otherwise,
                        const hs_grid *grid, hs_cuda_function *out, hs_error *err)
{
    const hs_expression number = {otherwise, 1, 0};
    return hs_cuda_function_create(part->length > 0 ? part : &number, grid, HS_TABLES_OF_NUMBERS,
                                   out, err);
}

} // namespace

size_t hs_cuda_separation_bytes(const hs_grid *grid)
{
    const int64_t line = hs_round_up(2 * grid->points[HS_Z], ALIGN);
    return (size_t)(plane_numbers(grid) + line) * sizeof(double);
}

hs_status hs_cuda_separation_init(hs_cuda_separation *tables, const hs_separation *separation,
                                  const hs_grid *grid, int levels, hs_error *err)
{
    static const hs_instruction one = {HS_OP_CONSTANT, 1.0}, nothing = {HS_OP_CONSTANT, -0.0};
    const size_t apart = hs_cuda_separation_bytes(grid), bytes = apart * (size_t)levels;
    *tables = {};
    tables->pitch = hs_round_up(grid->points[HS_X], ALIGN);
    tables->level = (hs_source_tables *)calloc((size_t)levels, sizeof *tables->level);
    if (!tables->level)
        return hs_error_add(err, HS_DEVICE, "not enough memory for %d levels", levels);
    HS_CUDA_TRY(err, cudaMalloc(&tables->memory, bytes));
    /* kernels may load, but do not use, the gaps between rows */
    HS_CUDA_TRY(err, cudaMemset(tables->memory, 0, bytes));
    for (int l = 0; l < levels; l++) {
        const double *const plane = (double *)(tables->memory + (size_t)l * apart);
        tables->level[l] = {plane, (const hs_source_line *)(plane + plane_numbers(grid))};
    }
    HS_TRY(make_function(&separation->plane, &one, grid, &tables->plane, err));
    HS_TRY(make_function(&separation->column, &one, grid, &tables->column, err));
    return make_function(&separation->offset, &nothing, grid, &tables->offset, err);
}

void hs_cuda_separation_release(hs_cuda_separation *tables)
{
    hs_cuda_function_destroy(&tables->plane);
    hs_cuda_function_destroy(&tables->column);
    hs_cuda_function_destroy(&tables->offset);
    cudaFree(tables->memory);
    free(tables->level);
    *tables = {};
}

hs_status hs_cuda_separation_fill(const hs_cuda_separation *tables, const hs_grid *grid, int count,
                                  const double *t, cudaStream_t stream, hs_error *err)
{
    hs_cuda_patch plane = hs_cuda_patch_of(grid, NULL), line = plane;
    plane.count[HS_Z] = line.count[HS_X] = line.count[HS_Y] = 1;
    plane.stride[HS_X] = 1;
    plane.stride[HS_Y] = tables->pitch;
    line.stride[HS_Z] = 2;
    hs_cuda_times planes = {}, columns = {}, offsets = {};
    planes.count = columns.count = offsets.count = count;
    for (int m = 0; m < count; m++) {
        planes.t[m] = columns.t[m] = offsets.t[m] = t[m];
        planes.out[m] = (void *)tables->level[m].plane;
        columns.out[m] = (void *)&tables->level[m].line->column;
        offsets.out[m] = (void *)&tables->level[m].line->offset;
    }
    hs_status st = hs_cuda_evaluate(&tables->plane, &plane, &planes, 1.0, HS_DOUBLE, stream, err);
    if (!st)
        st = hs_cuda_evaluate(&tables->column, &line, &columns, 1.0, HS_DOUBLE, stream, err);
    return st ? st
              : hs_cuda_evaluate(&tables->offset, &line, &offsets, 1.0, HS_DOUBLE, stream, err);
}
