/* Sources of the form of functions/separation.h, plane * column + offset: the tables of each sweep,
 * and the fields that they make for kernels that do not take them. */
#include "functions/device.cuh"

#include "core/cuda_call.h"
#include "core/round.h"

#include <stdlib.h>

namespace
{

enum {
    THREADS = 128,
    POINTS = 4, /* of a thread in a row */
    SEGMENT = THREADS * POINTS,
    ALIGN = 16 /* numbers, of a plane's rows */
};

/* Nodes of the plane along each axis, 1 along the one that it is free of. */
void plane_count(const hs_cuda_tables *tables, const hs_grid *grid, int64_t count[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++)
        count[axis] = axis == tables->separation.axis ? 1 : grid->points[axis];
}

/* Numbers from node to node of a plane, and in all of it. */
int64_t plane_stride(const hs_cuda_tables *tables, const hs_grid *grid, int64_t stride[HS_AXES])
{
    int64_t count[HS_AXES], numbers = 1;
    plane_count(tables, grid, count);
    for (int axis = 0; axis < HS_AXES; axis++) {
        stride[axis] = count[axis] > 1 ? numbers : 0;
        if (count[axis] > 1)
            numbers = numbers == 1 ? hs_round_up(count[axis], ALIGN) : numbers * count[axis];
    }
    return hs_round_up(numbers, ALIGN);
}

size_t line_bytes(const hs_cuda_tables *tables, const hs_grid *grid)
{
    return (size_t)grid->points[tables->separation.axis] * sizeof(hs_source_line);
}

size_t level_bytes(const hs_cuda_tables *tables, const hs_grid *grid)
{
    int64_t stride[HS_AXES];
    return (size_t)plane_stride(tables, grid, stride) * sizeof(double) +
           (line_bytes(tables, grid) + 127) / 128 * 128;
}

/* ---- fields ---------------------------------------------------------------------------------- */

struct combination {
    hs_cuda_patch patch;
    unsigned segments; /* of a row */
    int axis;
    int64_t stride[HS_AXES]; /* of the planes */
    double scale;
    hs_cuda_moments moments;
    hs_source_tables tables[HS_CUDA_TIMES];
};

/* A block takes a segment of a row. */
template <typename T>
__global__ void __launch_bounds__(THREADS) combine(const __grid_constant__ combination c)
{
    const hs_cuda_patch &p = c.patch;
    const unsigned row = blockIdx.x / c.segments, ny = (unsigned)p.count[HS_Y];
    const int64_t j = row % ny, k = row / ny;
    const int64_t first = (int64_t)(blockIdx.x - row * c.segments) * SEGMENT + threadIdx.x;
    const int64_t to = j * p.stride[HS_Y] + k * p.stride[HS_Z];
    const int64_t from = j * c.stride[HS_Y] + k * c.stride[HS_Z];
    for (int m = 0; m < c.moments.count; m++) {
        const hs_source_tables tables = c.tables[m];
        hs_source_line line = tables.line[c.axis == HS_Z ? k : c.axis == HS_Y ? j : 0];
#pragma unroll
        for (int n = 0; n < POINTS; n++) {
            const int64_t x = first + n * THREADS;
            if (x >= p.count[HS_X])
                break;
            if (c.axis == HS_X)
                line = tables.line[x];
            const double plane = tables.plane[from + x * c.stride[HS_X]];
            ((T *)c.moments.out[m])[to + x * p.stride[HS_X]] =
                (T)(hs_separation_value(plane, line.column, line.offset) * c.scale);
        }
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

/* A part's program, or one of the number that stands for it where there is none. */
hs_status make_program(const hs_expression *part, double otherwise, hs_cuda_program *out,
                       hs_error *err)
{
    const hs_instruction number = {HS_OP_CONSTANT, otherwise};
    const hs_expression constant = {&number, 1, 0};
    return hs_cuda_program_create(part->length > 0 ? part : &constant, out, err);
}

} // namespace

bool hs_cuda_tables_suit(const hs_problem *problem, hs_separation *out)
{
    const hs_field &field = problem->source.field;
    return problem->source.present && !field.data &&
           (hs_value_varies(&field.value) & HS_VARIES_T) &&
           hs_expression_separate(&field.value.expression, problem->grid.dims, out);
}

double hs_cuda_tables_bytes(const hs_problem *problem, const hs_separation *separation, int levels)
{
    hs_cuda_tables tables = {};
    tables.separation = *separation;
    return (double)level_bytes(&tables, &problem->grid) * levels;
}

hs_status hs_cuda_tables_init(hs_cuda_tables *tables, const hs_problem *problem,
                              const hs_separation *separation, int levels, hs_error *err)
{
    const hs_grid *grid = &problem->grid;
    *tables = {};
    tables->separation = *separation;
    tables->levels = levels;
    plane_stride(tables, grid, tables->stride);
    const size_t apart = level_bytes(tables, grid), line = line_bytes(tables, grid);
    tables->level = (hs_source_tables *)calloc((size_t)levels, sizeof *tables->level);
    if (!tables->level)
        return hs_error_add(err, HS_DEVICE, "not enough memory for %d levels", levels);
    HS_CUDA_TRY(err, cudaMalloc(&tables->memory, apart * (size_t)levels));
    /* kernels may load, though not use, what lies between the rows */
    HS_CUDA_TRY(err, cudaMemset(tables->memory, 0, apart * (size_t)levels));
    for (int l = 0; l < levels; l++) {
        char *const at = tables->memory + (size_t)l * apart;
        tables->level[l].plane = (double *)at;
        tables->level[l].line = (hs_source_line *)(at + apart - (line + 127) / 128 * 128);
    }
    hs_status st = make_program(&separation->plane, 0.0, &tables->plane, err);
    if (!st)
        st = make_program(&separation->column, hs_separation_no_column(), &tables->column, err);
    return st ? st
              : make_program(&separation->offset, hs_separation_no_offset(), &tables->offset, err);
}

void hs_cuda_tables_release(hs_cuda_tables *tables)
{
    hs_cuda_program_destroy(&tables->plane);
    hs_cuda_program_destroy(&tables->column);
    hs_cuda_program_destroy(&tables->offset);
    cudaFree(tables->memory);
    free(tables->level);
    *tables = {};
}

hs_status hs_cuda_tables_fill(const hs_cuda_tables *tables, const hs_cuda_patch *nodes, int count,
                              const double *t, cudaStream_t stream, hs_error *err)
{
    const int axis = tables->separation.axis;
    hs_cuda_patch plane = *nodes, line = *nodes;
    hs_cuda_moments planes = {}, columns = {}, offsets = {};
    for (int a = 0; a < HS_AXES; a++) {
        plane.stride[a] = tables->stride[a];
        line.stride[a] = a == axis ? 2 : 0;
        (a == axis ? plane : line).count[a] = 1;
    }
    planes.count = columns.count = offsets.count = count;
    for (int m = 0; m < count; m++) {
        planes.t[m] = columns.t[m] = offsets.t[m] = t[m];
        planes.out[m] = (void *)tables->level[m].plane;
        columns.out[m] = (void *)&tables->level[m].line->column;
        offsets.out[m] = (void *)&tables->level[m].line->offset;
    }
    const hs_expression *of_plane = &tables->separation.plane;
    hs_status st =
        hs_cuda_is_short(of_plane)
            ? hs_cuda_evaluate_short(of_plane, &plane, &planes, 1.0, HS_DOUBLE, stream, err)
            : hs_cuda_evaluate(&tables->plane, &plane, &planes, 1.0, HS_DOUBLE, stream, err);
    if (!st)
        st = hs_cuda_evaluate(&tables->column, &line, &columns, 1.0, HS_DOUBLE, stream, err);
    return st ? st
              : hs_cuda_evaluate(&tables->offset, &line, &offsets, 1.0, HS_DOUBLE, stream, err);
}

hs_status hs_cuda_tables_combine(const hs_cuda_tables *tables, const hs_cuda_patch *patch,
                                 const hs_cuda_moments *moments, double scale,
                                 hs_precision precision, cudaStream_t stream, hs_error *err)
{
    const int64_t segments = hs_divide_up(patch->count[HS_X], SEGMENT);
    combination c = {*patch, (unsigned)segments, tables->separation.axis, {}, scale, *moments, {}};
    for (int axis = 0; axis < HS_AXES; axis++)
        c.stride[axis] = tables->stride[axis];
    for (int m = 0; m < moments->count; m++)
        c.tables[m] = tables->level[m];
    const int64_t blocks = segments * patch->count[HS_Y] * patch->count[HS_Z];
    if (precision == HS_FLOAT)
        combine<float><<<(unsigned)blocks, THREADS, 0, stream>>>(c);
    else
        combine<double><<<(unsigned)blocks, THREADS, 0, stream>>>(c);
    HS_CUDA_LAUNCHED(err, "combine", blocks, THREADS);
    return HS_OK;
}
