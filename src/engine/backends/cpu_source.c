#include "engine/backends/cpu_parts.h"

#include <math.h>
#include <omp.h>

struct hs_cpu_source hs_cpu_source_describe(const struct hs_problem *problem)
{
    const struct hs_field *field = &problem->source.field;
    const unsigned varies = field->data ? HS_VARIES_SPACE : hs_value_varies(&field->value);
    const unsigned axes = (1u << problem->grid.dims) - 1;
    return (struct hs_cpu_source){
        .present = problem->source.present,
        .uniform = !problem->source.present || (varies & axes) == 0,
        .varies_time = problem->source.present && (varies & HS_VARIES_T) != 0,
        .step = NAN,
        .time = NAN,
    };
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
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t row = 0; row < points[HS_Y] * points[HS_Z]; row++) {
        const int64_t j = row % points[HS_Y], k = row / points[HS_Y];
        double *values = source->scratch + omp_get_thread_num() * points[HS_X];
        hs_problem_source_row(problem, step, t, j, k, values);
        store_row(problem->precision, values, points[HS_X], source->field.origin,
                  hs_layout_offset(&state->layout, 0, j, k));
    }
}
