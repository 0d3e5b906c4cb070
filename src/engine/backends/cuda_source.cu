/* What each sweep adds: a number passed with the launch, or a field on the device. */
#include "engine/backends/cuda_parts.cuh"

#include "core/features.h"
#include "engine/network/coefficients.h"
#include "functions/evaluate.h"
#include "functions/fields.h"
#include "functions/moving.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

namespace
{

enum { ALIGN_BYTES = 128 }; /* of rows */

unsigned varies(const hs_problem *problem)
{
    const unsigned axes = (1u << problem->grid.dims) - 1;
    return hs_problem_source_varies(problem) & (axes | HS_VARIES_T);
}

/* Whether the host makes the field: it is from a file, or a body's that does not change in time,
 * and so has the host's bits. */
bool comes_from_host(const hs_problem *problem)
{
    return hs_field_is_numbers(&problem->source.field) ||
           (problem->network && !(hs_problem_own_source_varies(problem) & HS_VARIES_T));
}

/* Whether one row or plane of values serves for all. */
bool repeats_in_space(const hs_problem *problem)
{
    const unsigned axes = ((1u << problem->grid.dims) - 1) & (HS_VARIES_Y | HS_VARIES_Z);
    return (varies(problem) & axes) != axes;
}

/* The sweeps of a call, if the kernel takes a source field for each of them; else 0. */
int levels_of(const hs_kernel *kernel, int steps)
{
    return (kernel->features & HS_SOURCE_LEVELS) && steps <= HS_CUDA_TIMES ? steps : 0;
}

/* Whether the kernel takes the source's tables, so that there is no field. */
bool hands_over(const hs_problem *problem, const hs_kernel *kernel, int levels, hs_separation *out)
{
    const hs_field &field = problem->source.field;
    return levels > 0 && (kernel->features & HS_SOURCE_TABLES) && problem->source.present &&
           (hs_value_varies(&field.value) & HS_VARIES_T) &&
           !(hs_problem_features(problem) & HS_WALL_FIELD) &&
           hs_expression_separate(&field.value.expression, problem->grid.dims, out) &&
           out->axis == HS_Z;
}

/* Whether there is a field for each sweep, rather than one. */
bool has_levels(const hs_problem *problem, int levels)
{
    return levels > 0 && (varies(problem) & HS_VARIES_SPACE) &&
           ((varies(problem) & HS_VARIES_T) || repeats_in_space(problem));
}

/* Elements from node to node of a level's field, 0 where it does not change. Returns the elements
 * of the whole field. */
int64_t level_pitch(const hs_problem *problem, int64_t pitch[HS_AXES])
{
    const unsigned v = varies(problem);
    const int64_t align = ALIGN_BYTES / (int64_t)hs_precision_size(problem->precision);
    const int64_t row = hs_round_up(problem->grid.points[HS_X], align);
    const int64_t plane = row * (v & HS_VARIES_Y ? problem->grid.points[HS_Y] : 1);
    pitch[HS_X] = 1;
    pitch[HS_Y] = v & HS_VARIES_Y ? row : 0;
    pitch[HS_Z] = v & HS_VARIES_Z ? plane : 0;
    return plane * (v & HS_VARIES_Z ? problem->grid.points[HS_Z] : 1);
}

/* Bytes of all levels' fields. */
double level_bytes(const hs_problem *problem, int levels)
{
    int64_t pitch[HS_AXES];
    return (double)level_pitch(problem, pitch) * (double)hs_precision_size(problem->precision) *
           (varies(problem) & HS_VARIES_T ? levels : 1);
}

/* Bytes of tables that speed up the evaluation; 0 where that is done once. */
double table_bytes(const hs_problem *problem, hs_tables_of which, int times)
{
    hs_tabulation tabulation = {};
    if (!(varies(problem) & HS_VARIES_T) || comes_from_host(problem))
        return 0.0;
    hs_tabulation_init(&tabulation, &problem->source.field.value.expression, &problem->grid, which);
    const double bytes = hs_tabulation_bytes(&tabulation, &problem->grid, times);
    hs_tabulation_release(&tabulation);
    return bytes;
}

/* As many tables as memory allows; a row or a plane of values needs none. */
hs_status choose_tables(const hs_cuda_source *source, int times, hs_tables_of *which, void **memory,
                        hs_error *err)
{
    *which = HS_TABLES_OF_NUMBERS;
    *memory = NULL;
    if (source->level && repeats_in_space(source->problem))
        return HS_OK;
    for (const hs_tables_of more : {HS_TABLES_OF_FIELDS, HS_TABLES_OF_PLANES}) {
        const double bytes = table_bytes(source->problem, more, times);
        if (bytes > 0.0)
            HS_TRY(hs_cuda_spare(bytes, memory, err));
        if (*memory) {
            *which = more;
            break;
        }
    }
    return HS_OK;
}

hs_status prepare_function(hs_cuda_source *source, hs_error *err)
{
    const hs_problem *problem = source->problem;
    const int times = source->level ? source->levels : 1;
    hs_tables_of which;
    void *memory;
    HS_TRY(choose_tables(source, times, &which, &memory, err));
    return hs_cuda_tables_init(&source->function, &problem->source.field.value.expression,
                               &problem->grid, which, times, memory, err);
}

/* Evaluates the source into fields, of which a pitch of 0 says that an axis is one node. */
hs_status evaluate(hs_cuda_source *source, const hs_cuda_times *times, const int64_t pitch[HS_AXES],
                   double scale, hs_precision precision, hs_error *err)
{
    const hs_grid *grid = &source->problem->grid;
    hs_cuda_patch patch = hs_cuda_patch_of(grid, source->function.place);
    patch.share = source->shares;
    for (int axis = 0; axis < HS_AXES; axis++) {
        patch.stride[axis] = pitch[axis];
        patch.count[axis] = pitch[axis] > 0 ? patch.count[axis] : 1;
    }
    HS_TRY(hs_cuda_tables_fill(&source->function, grid, times->count, times->t,
                               source->staging->stream, err));
    return hs_cuda_evaluate(&source->function.left, &patch, times, scale, precision,
                            source->staging->stream, err);
}

/* The fields of `count` sweeps, or the only one. */
hs_status make_on_device(hs_cuda_source *source, int count, const double *t, hs_error *err)
{
    hs_cuda_times times = {};
    times.count = source->level && (source->varies & HS_VARIES_T) ? count : 1;
    for (int m = 0; m < times.count; m++) {
        times.t[m] = t[m];
        times.out[m] = (void *)(source->level ? source->level[m] : source->nodes);
    }
    return evaluate(source, &times, source->pitch, source->scale, source->problem->precision, err);
}

/* Makes the field on the host, plane by plane. */
hs_status upload(hs_cuda_source *source, double step, double t, hs_error *err)
{
    const hs_problem *problem = source->problem;
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    const size_t size = hs_precision_size(problem->precision);
    const int threads = omp_get_max_threads();
    double *rows = (double *)malloc((size_t)(threads * nx) * sizeof *rows);
    char *plane = (char *)malloc((size_t)(nx * ny) * size);
    hs_status st = HS_OK;
    if (!rows || !plane)
        st = hs_error_add(err, HS_DEVICE, "not enough memory for a plane of the source");
    for (int64_t k = 0; k < problem->grid.points[HS_Z] && !st; k++) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t j = 0; j < ny; j++) {
            double *const row = rows + omp_get_thread_num() * nx;
            hs_problem_source_row(problem, step, t, j, k, row);
            if (problem->network)
                hs_moving_take_row(&problem->network->inflow, (k * ny + j) * nx, nx, row,
                                   source->base);
            for (int64_t i = 0; i < nx; i++)
                hs_write(problem->precision, plane, j * nx + i, row[i]);
        }
        const hs_box box = {{0, 0, k}, {nx, ny, k + 1}};
        st = hs_cuda_upload(source->staging, &box, plane, (void *)source->nodes, err);
    }
    free(plane);
    free(rows);
    return st;
}

/* What a source that is evaluated on the device adds at the nodes that walls act on. */
void find_base(hs_cuda_source *source, double step, double t)
{
    const hs_problem *problem = source->problem;
    const hs_moving *inflow = &problem->network->inflow;
#pragma omp parallel for schedule(static)
    for (int64_t n = 0; n < inflow->count; n++) {
        int64_t node[HS_AXES];
        hs_grid_node(&problem->grid, inflow->node[n], node);
        source->base[n] = hs_problem_source_at(problem, step, t, node);
    }
}

/* Adds the walls' inflow at the nodes that they act on. */
hs_status add_walls(hs_cuda_source *source, double step, double t, hs_error *err)
{
    const hs_network_time time = {t, t, step};
    double *values;
    HS_TRY(hs_cuda_moving_space(&source->inflow, &values, err));
    if (!values)
        return HS_OK;
    hs_network_inflow(source->problem->network, &time, omp_get_max_threads(), source->base, values);
    return hs_cuda_moving_put(&source->inflow, (void *)source->nodes, err);
}

/* The field, or the part that changes. Without a source of its own it is 0 except at walls. */
hs_status make_on_host(hs_cuda_source *source, double step, double t, hs_error *err)
{
    const hs_problem *problem = source->problem;
    const bool anew = source->step != step || (hs_problem_own_source_varies(problem) & HS_VARIES_T);
    if (problem->source.present && anew)
        HS_TRY(upload(source, step, t, err));
    return add_walls(source, step, t, err);
}

hs_status init_walls(hs_cuda_source *source, hs_error *err)
{
    const hs_problem *problem = source->problem;
    if (!problem->network)
        return HS_OK;
    const hs_moving *inflow = &problem->network->inflow;
    source->base = hs_cuda_new<double>(inflow->count + 1);
    return hs_cuda_moving_init(&source->inflow, inflow, source->staging->layout, problem->precision,
                               source->staging->stream, err);
}

} // namespace

bool hs_cuda_source_in_tables(const hs_problem *problem, const hs_kernel *kernel)
{
    hs_separation unused;
    return hands_over(problem, kernel, levels_of(kernel, kernel->steps), &unused);
}

int hs_cuda_source_fields(const hs_problem *problem, const hs_kernel *kernel, int steps)
{
    const int levels = levels_of(kernel, steps);
    hs_separation separation;
    const bool one = (varies(problem) & HS_VARIES_SPACE) &&
                     !hands_over(problem, kernel, levels, &separation) &&
                     !(has_levels(problem, levels) && repeats_in_space(problem));
    return one ? 1 : 0;
}

double hs_cuda_source_more_bytes(const hs_problem *problem, const hs_kernel *kernel, int steps)
{
    const double size = (double)hs_precision_size(problem->precision);
    const int levels = levels_of(kernel, steps);
    hs_separation separation;
    if (hands_over(problem, kernel, levels, &separation))
        return (double)hs_cuda_separation_bytes(&problem->grid) * levels;
    if (!has_levels(problem, levels))
        return table_bytes(problem, HS_TABLES_OF_FIELDS, 1);
    if (repeats_in_space(problem))
        return level_bytes(problem, levels);
    return table_bytes(problem, HS_TABLES_OF_FIELDS, levels) + level_bytes(problem, levels) -
           (double)hs_grid_count(&problem->grid) * size; /* hs_cuda_source_fields counts that one */
}

static hs_status allocate_levels(hs_cuda_source *source, int levels, hs_error *err)
{
    const hs_problem *problem = source->problem;
    const double bytes = level_bytes(problem, levels);
    void *memory = NULL;
    if (repeats_in_space(problem))
        HS_CUDA_TRY(err, cudaMalloc(&memory, (size_t)bytes));
    else
        HS_TRY(hs_cuda_spare(bytes, &memory, err));
    if (!memory)
        return HS_OK;
    source->allocation = (char *)memory;
    source->level = hs_cuda_new<const void *>(levels);
    source->levels = levels;
    const int64_t elements = level_pitch(problem, source->pitch);
    const size_t apart = (size_t)elements * hs_precision_size(problem->precision);
    for (int l = 0; l < levels; l++)
        source->level[l] = source->allocation + (source->varies & HS_VARIES_T ? l : 0) * apart;
    /* kernels may load, though not use, the padding between rows */
    HS_CUDA_TRY(err, cudaMemsetAsync(memory, 0, (size_t)bytes, source->staging->stream));
    return HS_OK;
}

static hs_status allocate_field(hs_cuda_source *source, hs_error *err)
{
    const size_t size = hs_precision_size(source->problem->precision);
    const size_t bytes = hs_cuda_field_bytes(source->staging->layout, source->problem->precision);
    HS_CUDA_TRY(err, cudaMalloc(&source->allocation, bytes));
    HS_CUDA_TRY(err, cudaMemsetAsync(source->allocation, 0, bytes, source->staging->stream));
    source->nodes = source->allocation + (size_t)source->staging->layout->origin * size;
    for (int axis = 0; axis < HS_AXES; axis++)
        source->pitch[axis] = source->staging->layout->pitch[axis];
    return HS_OK;
}

hs_status hs_cuda_source_init(hs_cuda_source *source, const hs_problem *problem,
                              const hs_kernel *kernel, const hs_kernel_plan *plan,
                              const hs_cuda_shares *shares, hs_cuda_staging *staging, hs_error *err)
{
    const int levels = levels_of(kernel, plan->steps);
    hs_separation separation;
    *source = {};
    source->staging = staging;
    source->problem = problem;
    source->shares = *shares;
    source->varies = varies(problem);
    source->step = source->time = NAN;
    if (!(source->varies & HS_VARIES_SPACE))
        return HS_OK;
    source->hands_over = hands_over(problem, kernel, levels, &separation);
    if (source->hands_over) {
        HS_TRY(
            hs_cuda_separation_init(&source->separation, &separation, &problem->grid, levels, err));
        source->pitch[HS_X] = 1;
        source->pitch[HS_Y] = source->separation.pitch;
        return HS_OK;
    }
    if (has_levels(problem, levels))
        HS_TRY(allocate_levels(source, levels, err));
    if (!source->level)
        HS_TRY(allocate_field(source, err));
    HS_TRY(init_walls(source, err));
    return comes_from_host(problem) ? HS_OK : prepare_function(source, err);
}

void hs_cuda_source_release(hs_cuda_source *source)
{
    cudaFree(source->allocation);
    free(source->level);
    hs_cuda_moving_release(&source->inflow);
    free(source->base);
    hs_cuda_tables_release(&source->function);
    hs_cuda_separation_release(&source->separation);
    *source = {};
}

int hs_cuda_source_steps(const hs_cuda_source *source, int steps)
{
    const bool one_time = source->nodes && (source->varies & HS_VARIES_T);
    return one_time ? 1 : steps;
}

hs_status hs_cuda_source_update(hs_cuda_source *source, double step, int count, const double *t,
                                hs_error *err)
{
    const bool in_time = (source->varies & HS_VARIES_T) != 0;
    const bool many = source->level || source->hands_over;
    if (!(source->allocation || source->hands_over) ||
        (source->step == step && (!in_time || source->time == t[0])))
        return HS_OK;
    const bool from_host = comes_from_host(source->problem);
    if (from_host)
        HS_TRY(make_on_host(source, step, t[0], err));
    /* several are made for the sweeps of the last call, which may be fewer */
    source->time = many ? NAN : t[0];
    source->step = step;
    source->scale = hs_problem_source_scale(source->problem, step);
    if (source->hands_over)
        return hs_cuda_separation_fill(&source->separation, &source->problem->grid, count, t,
                                       source->staging->stream, err);
    if (from_host)
        return HS_OK;
    HS_TRY(make_on_device(source, count, t, err));
    if (!source->inflow.there)
        return HS_OK;
    find_base(source, step, t[0]);
    return add_walls(source, step, t[0], err);
}

hs_status hs_cuda_source_rate(hs_cuda_source *source, double t, const int64_t pitch[HS_AXES],
                              double *out, hs_error *err)
{
    const hs_cuda_times now = {1, {t}, {out}};
    if (!source->function.left.step)
        HS_TRY(prepare_function(source, err));
    return evaluate(source, &now, pitch, hs_problem_source_scale(source->problem, 1.0), HS_DOUBLE,
                    err);
}

hs_source_view hs_cuda_source_view(const hs_cuda_source *source, const double *value)
{
    hs_source_view view = {};
    view.value = value;
    view.scale = source->scale;
    for (int axis = 0; axis < HS_AXES; axis++)
        view.pitch[axis] = source->pitch[axis];
    if (source->hands_over) {
        view.form = HS_SOURCE_IS_OF_TABLES;
        view.tables = source->separation.level;
    } else if (source->level) {
        view.form = HS_SOURCE_IS_FIELDS;
        view.field = source->level;
    } else if (source->nodes) {
        view.form = HS_SOURCE_IS_FIELD;
        view.field = &source->nodes;
    }
    return view;
}

double hs_cuda_source_uniform(const hs_cuda_source *source, double step, double t)
{
    return source->allocation || source->hands_over
               ? 0.0
               : hs_problem_source_uniform(source->problem, step, t);
}
