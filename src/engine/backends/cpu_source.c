#include "core/machine.h"
#include "engine/backends/cpu_parts.h"
#include "functions/fields.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

struct hs_cpu_source hs_cpu_source_describe(const struct hs_problem *problem)
{
    const struct hs_field *field = &problem->source.field;
    const unsigned varies = field->data ? HS_VARIES_SPACE : hs_value_varies(&field->value);
    const unsigned axes = (1u << problem->grid.dims) - 1;
    struct hs_cpu_source source = {
        .present = problem->source.present,
        .uniform = !problem->source.present || (varies & axes) == 0,
        .varies_time = problem->source.present && (varies & HS_VARIES_T) != 0,
        .step = NAN,
        .time = NAN,
    };
    const bool once = source.uniform || !source.varies_time;
    if (once ||
        !hs_expression_separate(&field->value.expression, problem->grid.dims, &source.separation))
        source.separation.plane.length = 0;
    if (once || source.separation.plane.length > 0 ||
        !hs_expression_factor(&field->value.expression, &source.product))
        source.product.factors = 0;
    return source;
}

/* Numbers in all tables of a separation. */
static int64_t table_numbers(const struct hs_cpu_source *source, const struct hs_problem *problem)
{
    const int64_t along = problem->grid.points[source->separation.axis];
    return hs_grid_count(&problem->grid) / along + 2 * along;
}

double hs_cpu_source_part_bytes(const struct hs_cpu_source *source,
                                const struct hs_problem *problem)
{
    if (source->separation.plane.length > 0)
        return (double)table_numbers(source, problem) * (double)sizeof *source->plane;
    return source->product.factors > 0
               ? (double)hs_grid_count(&problem->grid) * (double)sizeof *source->part
               : 0.0;
}

void hs_cpu_source_prepare(struct hs_backend_state *state)
{
    struct hs_cpu_source *source = &state->source;
    const struct hs_grid *grid = &state->problem->grid;
    const double bytes = hs_cpu_source_part_bytes(source, state->problem);
    if (source->separation.plane.length > 0) {
        source->plane = malloc((size_t)bytes);
        return; /* without it every node is evaluated by itself */
    }
    if (bytes > 0.0 && bytes < hs_machine_memory_free("").bytes)
        source->part = malloc((size_t)bytes);
    if (!source->part)
        return;
    const int64_t nx = grid->points[HS_X], ny = grid->points[HS_Y];
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t row = 0; row < ny * grid->points[HS_Z]; row++)
        hs_expression_row(&source->product.part, nx, grid->lower[HS_X], grid->spacing[HS_X],
                          hs_grid_coordinate(grid, HS_Y, row % ny),
                          hs_grid_coordinate(grid, HS_Z, row / ny), 0.0, source->part + row * nx);
}

/* A row of what a sweep adds, from the part that does not change. */
static void scale_row(const struct hs_cpu_source *source, const double *factor, double scale,
                      int64_t n, const double *part, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] =
            hs_product_value(part[i], source->product.factors, factor, source->product.divides) *
            scale;
}

/* The value of a part that changes along one axis at each of its nodes; `otherwise` where there is
 * no such part. */
static void fill_line(const struct hs_expression *part, const struct hs_grid *grid, int axis,
                      double t, double otherwise, double *out)
{
    double at[HS_AXES] = {grid->lower[HS_X], grid->lower[HS_Y], grid->lower[HS_Z]};
    for (int64_t i = 0; i < grid->points[axis]; i++) {
        at[axis] = hs_grid_coordinate(grid, axis, i);
        out[i] = part->length > 0
                     ? hs_expression_at(part->code, part->length, at[HS_X], at[HS_Y], at[HS_Z], t)
                     : otherwise;
    }
}

static void fill_tables(struct hs_backend_state *state, double t)
{
    struct hs_cpu_source *source = &state->source;
    const struct hs_separation *separation = &source->separation;
    const struct hs_grid *grid = &state->problem->grid;
    const int axis = separation->axis;
    int64_t count[HS_AXES] = {grid->points[HS_X], grid->points[HS_Y], grid->points[HS_Z]};
    count[axis] = 1;
    source->column = source->plane + count[HS_X] * count[HS_Y] * count[HS_Z];
    source->offset = source->column + grid->points[axis];
    fill_line(&separation->column, grid, axis, t, hs_separation_no_column(), source->column);
    fill_line(&separation->offset, grid, axis, t, hs_separation_no_offset(), source->offset);
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t row = 0; row < count[HS_Y] * count[HS_Z]; row++)
        hs_expression_row(&separation->plane, count[HS_X], grid->lower[HS_X], grid->spacing[HS_X],
                          hs_grid_coordinate(grid, HS_Y, row % count[HS_Y]),
                          hs_grid_coordinate(grid, HS_Z, row / count[HS_Y]), t,
                          source->plane + row * count[HS_X]);
}

/* A row of what a sweep adds, from the tables. */
static void combine_row(const struct hs_backend_state *state, int64_t j, int64_t k, double scale,
                        double *out)
{
    const struct hs_cpu_source *source = &state->source;
    const int64_t nx = state->problem->grid.points[HS_X], ny = state->problem->grid.points[HS_Y];
    const int axis = source->separation.axis;
    if (axis == HS_X) {
        const double plane = source->plane[k * ny + j];
        for (int64_t i = 0; i < nx; i++)
            out[i] = hs_separation_value(plane, source->column[i], source->offset[i]) * scale;
        return;
    }
    const double *plane = source->plane + (axis == HS_Z ? j : k) * nx;
    const double column = source->column[axis == HS_Z ? k : j];
    const double offset = source->offset[axis == HS_Z ? k : j];
    for (int64_t i = 0; i < nx; i++)
        out[i] = hs_separation_value(plane[i], column, offset) * scale;
}

double hs_cpu_source_uniform(const struct hs_problem *problem, double step, double t)
{
    if (!problem->source.present)
        return 0.0;
    const double *lower = problem->grid.lower;
    return hs_value_at(&problem->source.field.value, lower[HS_X], lower[HS_Y], lower[HS_Z], t) *
           (problem->source.rate * (problem->raw ? 1.0 : step));
}

static void store_row(enum hs_precision precision, const double *from, int64_t n, void *field,
                      int64_t at)
{
    for (int64_t i = 0; i < n; i++)
        hs_write(precision, field, at + i, from[i]);
}

void hs_cpu_source_update(struct hs_backend_state *state, double step, double t)
{
    struct hs_cpu_source *source = &state->source;
    const struct hs_problem *problem = state->problem;
    if (source->uniform || (source->step == step && (!source->varies_time || source->time == t)))
        return;
    source->step = step;
    source->time = t;
    const int64_t *points = problem->grid.points;
    const double scale = problem->source.rate * (problem->raw ? 1.0 : step);
    double factor[HS_MOST_FACTORS];
    hs_product_at(&source->product, t, factor);
    if (source->plane)
        fill_tables(state, t);
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t row = 0; row < points[HS_Y] * points[HS_Z]; row++) {
        const int64_t j = row % points[HS_Y], k = row / points[HS_Y];
        double *values = source->scratch + omp_get_thread_num() * points[HS_X];
        if (source->plane)
            combine_row(state, j, k, scale, values);
        else if (source->part)
            scale_row(source, factor, scale, points[HS_X], source->part + row * points[HS_X],
                      values);
        else
            hs_problem_source_row(problem, step, t, j, k, values);
        store_row(problem->precision, values, points[HS_X], source->field.origin,
                  hs_layout_offset(&state->layout, 0, j, k));
    }
}
