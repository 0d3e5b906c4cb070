#include "core/machine.h"
#include "core/memory.h"
#include "engine/backends/cpu_parts.h"
#include "engine/network/coefficients.h"
#include "functions/fields.h"
#include "functions/moving.h"

#include <omp.h>
#include <string.h>

struct hs_cpu_source hs_cpu_source_describe(const struct hs_problem *problem)
{
    const unsigned varies = hs_problem_source_varies(problem);
    const unsigned axes = (1u << problem->grid.dims) - 1;
    return (struct hs_cpu_source){
        .uniform = (varies & axes) == 0,
        .varies_time = (varies & HS_VARIES_T) != 0,
        .step = NAN,
        .time = NAN,
    };
}

/* A source that is evaluated only once needs no tables. */
static bool is_tabulated(const struct hs_problem *problem, const struct hs_cpu_source *source)
{
    return !source->uniform && (hs_problem_own_source_varies(problem) & HS_VARIES_T);
}

static double table_bytes(const struct hs_problem *problem)
{
    struct hs_tabulation tabulation;
    hs_tabulation_init(&tabulation, &problem->source.field.value.expression, &problem->grid,
                       HS_TABLES_OF_FIELDS);
    const double bytes = hs_tabulation_bytes(&tabulation, &problem->grid, 1);
    hs_tabulation_release(&tabulation);
    return bytes;
}

double hs_cpu_source_table_bytes(const struct hs_problem *problem)
{
    const struct hs_cpu_source source = hs_cpu_source_describe(problem);
    return is_tabulated(problem, &source) ? table_bytes(problem) : 0.0;
}

void hs_cpu_source_prepare(struct hs_backend_state *state)
{
    const struct hs_problem *problem = state->problem;
    const size_t walls = 1 + (problem->network ? (size_t)problem->network->inflow.count : 0);
    state->source.base = hs_new(walls * sizeof *state->source.base);
    state->source.inflow = hs_new(walls * sizeof *state->source.inflow);
    if (!is_tabulated(problem, &state->source))
        return;
    const bool fit = table_bytes(problem) < hs_machine_memory_free("").bytes;
    /* without memory for tables every node is evaluated by itself */
    if (!hs_tables_init(&state->source.tables, &problem->source.field.value.expression,
                        &problem->grid, fit ? HS_TABLES_OF_FIELDS : HS_TABLES_OF_PLANES))
        hs_tables_release(&state->source.tables);
}

/* Updates row (j, k) of the field. */
static void update_row(struct hs_backend_state *state, double step, int64_t j, int64_t k,
                       double *values)
{
    struct hs_cpu_source *source = &state->source;
    const struct hs_problem *problem = state->problem;
    const int64_t nx = problem->grid.points[HS_X], at = hs_layout_offset(&state->layout, 0, j, k);
    if (source->tables.memory) {
        hs_tables_row(&source->tables, 0, nx, j, k, values);
        hs_problem_source_weigh(problem, step, j, k, values);
    } else
        hs_problem_source_row(problem, step, source->time, j, k, values);
    if (problem->network)
        hs_moving_take_row(&problem->network->inflow, (k * problem->grid.points[HS_Y] + j) * nx, nx,
                           values, source->base);
    if (problem->precision == HS_FLOAT)
        for (int64_t i = 0; i < nx; i++)
            ((float *)source->field.origin)[at + i] = (float)values[i];
    else
        memcpy((double *)source->field.origin + at, values, (size_t)nx * sizeof *values);
}

static void update_field(struct hs_backend_state *state, double step, double t)
{
    struct hs_cpu_source *source = &state->source;
    const struct hs_problem *problem = state->problem;
    const int64_t *points = problem->grid.points;
    if (source->tables.memory)
        hs_tables_fill(&source->tables, t, state->threads);
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t row = 0; row < points[HS_Y] * points[HS_Z]; row++) {
        const int64_t j = row % points[HS_Y], k = row / points[HS_Y];
        update_row(state, step, j, k, source->scratch + omp_get_thread_num() * points[HS_X]);
    }
}

/* Adds the walls' inflow at the nodes that they act on. */
static void add_walls(struct hs_backend_state *state, double step, double t)
{
    const struct hs_cpu_source *source = &state->source;
    const struct hs_network *network = state->problem->network;
    const struct hs_network_time time = {.t = t, .next = t, .step = step};
    hs_network_inflow(network, &time, state->threads, source->base, source->inflow);
    for (int64_t n = 0; n < network->inflow.count; n++)
        hs_write(state->problem->precision, source->field.origin,
                 hs_layout_node(&state->layout, network->inflow.node[n]), source->inflow[n]);
}

void hs_cpu_source_update(struct hs_backend_state *state, double step, double t)
{
    struct hs_cpu_source *source = &state->source;
    const struct hs_problem *problem = state->problem;
    const bool stepped = source->step != step, moved = source->varies_time && source->time != t;
    if (source->uniform || !(stepped || moved))
        return;
    source->step = step;
    source->time = t;
    /* without a source of the problem's own the field is 0 except at walls */
    if (problem->source.present && (stepped || hs_problem_own_source_varies(problem) & HS_VARIES_T))
        update_field(state, step, t);
    if (problem->network)
        add_walls(state, step, t);
}
