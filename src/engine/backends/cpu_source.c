#include "engine/backends/cpu_parts.h"

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
    if (source.uniform || !source.varies_time ||
        !hs_expression_factor(&field->value.expression, &source.product))
        source.product.factors = 0;
    return source;
}

double hs_cpu_source_part_bytes(const struct hs_cpu_source *source,
                                const struct hs_problem *problem)
{
    return source->product.factors > 0
               ? (double)hs_grid_count(&problem->grid) * (double)sizeof *source->part
               : 0.0;
}

void hs_cpu_source_prepare(struct hs_backend_state *state)
{
    struct hs_cpu_source *source = &state->source;
    const struct hs_grid *grid = &state->problem->grid;
    const double bytes = hs_cpu_source_part_bytes(source, state->problem);
    if (bytes > 0.0 && bytes < hs_cpu_memory_free())
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
        if (precision == HS_FLOAT)
            ((float *)field)[at + i] = (float)from[i];
        else
            ((double *)field)[at + i] = from[i];
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
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t row = 0; row < points[HS_Y] * points[HS_Z]; row++) {
        const int64_t j = row % points[HS_Y], k = row / points[HS_Y];
        double *values = source->scratch + omp_get_thread_num() * points[HS_X];
        if (source->part)
            scale_row(source, factor, scale, points[HS_X], source->part + row * points[HS_X],
                      values);
        else
            hs_problem_source_row(problem, step, t, j, k, values);
        store_row(problem->precision, values, points[HS_X], source->field.origin,
                  hs_layout_offset(&state->layout, 0, j, k));
    }
}
