/* The network of a body as CPU kernels read it. */
#include "core/memory.h"
#include "engine/backends/cpu_parts.h"
#include "engine/network/coefficients.h"
#include "functions/moving.h"
#include "functions/time_function.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

static bool as_arrays(const struct hs_problem *problem)
{
    return problem->network->form == HS_NETWORK_ARRAYS;
}

double hs_cpu_network_bytes(const struct hs_problem *problem, double field_bytes, int steps)
{
    const struct hs_network *network = problem->network;
    const double size = (double)hs_precision_size(problem->precision);
    if (!network)
        return 0.0;
    if (as_arrays(problem))
        return (problem->grid.dims + HS_CPU_ARRAYS - HS_AXES) * field_bytes +
               hs_network_forced(network, &problem->grid) * sizeof(int64_t);
    return field_bytes / size * (double)hs_network_node_bytes(network->form) +
           network->row_count * size * (HS_ROW_NUMBERS + steps);
}

double hs_cpu_body_bytes(const struct hs_problem *problem)
{
    const struct hs_network *network = problem->network;
    const struct hs_body *body = problem->body;
    if (!network || !body)
        return 0.0;
    const size_t of_node = hs_network_node_bytes(network->form) +
                           (body->label ? sizeof *body->label : 0) +
                           (body->conductivity.value ? sizeof *body->conductivity.value : 0) +
                           (body->capacity.value ? sizeof *body->capacity.value : 0);
    return (double)of_node * (double)hs_grid_count(&problem->grid);
}

static void *lines(size_t bytes)
{
    void *memory = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
    return memory ? memset(memory, 0, bytes) : NULL;
}

/* Along periodic axes ghosts hold the other side's values. */
static void wrap(const struct hs_backend_state *state, char *origin, size_t size)
{
    const struct hs_layout *layout = &state->layout;
    const int64_t *n = layout->points;
    for (int axis = 0; axis < state->problem->grid.dims; axis++) {
        if (!state->problem->network->wrap[axis])
            continue;
        const int a = axis == HS_X ? HS_Y : HS_X, b = axis == HS_Z ? HS_Y : HS_Z;
        for (int64_t q = 0; q < n[b]; q++)
            for (int64_t p = 0; p < n[a]; p++) {
                const int64_t at = p * layout->pitch[a] + q * layout->pitch[b];
                const int64_t last = at + (n[axis] - 1) * layout->pitch[axis];
                memcpy(origin + (at - layout->pitch[axis]) * (int64_t)size,
                       origin + last * (int64_t)size, size);
                memcpy(origin + (last + layout->pitch[axis]) * (int64_t)size,
                       origin + at * (int64_t)size, size);
            }
    }
}

static bool init_palette(struct hs_backend_state *state)
{
    const struct hs_network *network = state->problem->network;
    struct hs_cpu_network *mine = &state->network;
    const struct hs_layout *layout = &state->layout;
    const size_t bytes = hs_network_node_bytes(network->form);
    const size_t size = hs_precision_size(state->problem->precision);
    const size_t rows = (size_t)network->row_count;
    mine->number = lines((size_t)layout->elements * bytes);
    mine->row = lines(rows * HS_ROW_NUMBERS * size);
    mine->forcing = lines(rows * size * (size_t)state->most_steps);
    if (!mine->number || !mine->row || !mine->forcing)
        return false;
    char *origin = (char *)mine->number + (size_t)layout->origin * bytes;
    const int64_t nx = layout->points[HS_X], ny = layout->points[HS_Y];
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t r = 0; r < ny * layout->points[HS_Z]; r++)
        memcpy(origin + hs_layout_offset(layout, 0, r % ny, r / ny) * (int64_t)bytes,
               (const char *)network->number + (size_t)(r * nx) * bytes, (size_t)nx * bytes);
    wrap(state, origin, bytes);
    mine->view.row = mine->row;
    mine->view.number = origin;
    mine->view.forcing = mine->forcing;
    return true;
}

static bool init_arrays(struct hs_backend_state *state)
{
    struct hs_cpu_network *mine = &state->network;
    for (int a = 0; a < HS_CPU_ARRAYS; a++) {
        if (a < HS_AXES && a >= state->problem->grid.dims)
            continue;
        if (!hs_cpu_field_create(&state->layout, state->problem->precision, state->threads, 0,
                                 &mine->array[a]))
            return false;
    }
    for (int axis = 0; axis < HS_AXES; axis++)
        mine->view.conductance[axis] = mine->array[axis].origin;
    mine->view.rate = mine->array[HS_CPU_RATE].origin;
    mine->view.sink = mine->array[HS_CPU_SINK].origin;
    mine->view.added = mine->array[HS_CPU_ADDED].origin;
    mine->sum = hs_new((size_t)state->problem->network->forcing_count * sizeof *mine->sum);
    for (int prescribed = 0; prescribed < 2; prescribed++)
        mine->forced[prescribed] = hs_network_acted(
            state->problem->network, prescribed, state->threads, &mine->forced_count[prescribed]);
    return mine->forced[0] && mine->forced[1];
}

bool hs_cpu_network_init(struct hs_backend_state *state)
{
    const struct hs_network *network = state->problem->network;
    if (!network)
        return true;
    struct hs_cpu_network *mine = &state->network;
    *mine = (struct hs_cpu_network){.step = NAN};
    mine->view.form = network->form;
    mine->view.row_count = network->row_count;
    memcpy(mine->view.wrap, network->wrap, sizeof mine->view.wrap);
    mine->varies = hs_network_varies(network, state->problem->time_functions);
    mine->sinks_vary = hs_network_sinks_vary(network);
    mine->given = hs_new(((size_t)network->given.count + 1) * sizeof *mine->given);
    return as_arrays(state->problem) ? init_arrays(state) : init_palette(state);
}

void hs_cpu_network_release(struct hs_cpu_network *network)
{
    free(network->number);
    free(network->row);
    free(network->forcing);
    free(network->forced[0]);
    free(network->forced[1]);
    free(network->sum);
    free(network->given);
    for (int a = 0; a < HS_CPU_ARRAYS; a++)
        hs_cpu_field_destroy(&network->array[a]);
}

/* What depends on nothing but the step. */
static void set_arrays(struct hs_backend_state *state, double step)
{
    const struct hs_network *network = state->problem->network;
    const enum hs_precision precision = state->problem->precision;
    struct hs_cpu_field *array = state->network.array;
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t n = 0; n < hs_grid_count(&network->grid); n++) {
        const struct hs_network_row *row = &network->node[n];
        const int64_t at = hs_layout_node(&state->layout, n);
        for (int axis = 0; axis < state->problem->grid.dims; axis++)
            hs_write(precision, array[axis].origin, at, row->conductance[axis]);
        hs_write(precision, array[HS_CPU_RATE].origin, at, hs_network_rate(row, step));
        hs_write(precision, array[HS_CPU_SINK].origin, at, row->sink);
    }
    for (int axis = 0; axis < state->problem->grid.dims; axis++)
        wrap(state, array[axis].origin, hs_precision_size(precision));
}

/* Writes what forcings add in a sweep, or prescribe at its time t. */
static void put_forced(const struct hs_backend_state *state, bool prescribed,
                       const struct hs_network_time *time, void *field)
{
    const struct hs_network *network = state->problem->network;
    const struct hs_cpu_network *mine = &state->network;
    const int64_t count = mine->forced_count[prescribed], *const node = mine->forced[prescribed];
    for (int f = 0; f < network->forcing_count && count > 0; f++)
        mine->sum[f] =
            hs_terms_at(&network->forcing[f].inflow, state->problem->time_functions, time->t);
#pragma omp parallel for num_threads(state->threads) schedule(static) if (count > 1 << 14)
    for (int64_t n = 0; n < count; n++) {
        const struct hs_network_row *row = &network->node[node[n]];
        hs_write(state->problem->precision, field, hs_layout_node(&state->layout, node[n]),
                 hs_network_added_by(row, mine->sum[row->forcing], time->step));
    }
}

/* Writes the sinks that change with time. */
static void put_sinks(const struct hs_backend_state *state, double t)
{
    const struct hs_problem *problem = state->problem;
    const struct hs_network *network = problem->network;
    const struct hs_cpu_network *mine = &state->network;
    if (!as_arrays(problem)) {
        hs_network_set_sinks(network, problem->time_functions, problem->precision, t, mine->row);
        return;
    }
    for (int f = 0; f < network->forcing_count; f++)
        mine->sum[f] = network->forcing[f].steady_sink +
                       hs_terms_at(&network->forcing[f].sink, problem->time_functions, t);
    const int64_t count = mine->forced_count[false];
#pragma omp parallel for num_threads(state->threads) schedule(static) if (count > 1 << 14)
    for (int64_t n = 0; n < count; n++) {
        const int64_t node = mine->forced[false][n];
        const int forcing = network->node[node].forcing;
        if (network->forcing[forcing].sink.count > 0)
            hs_write(problem->precision, mine->array[HS_CPU_SINK].origin,
                     hs_layout_node(&state->layout, node), mine->sum[forcing]);
    }
}

void hs_cpu_network_update(struct hs_backend_state *state, const struct hs_span *span,
                           int64_t first, int steps)
{
    const struct hs_problem *problem = state->problem;
    struct hs_cpu_network *mine = &state->network;
    if (!problem->network)
        return;
    const size_t size = hs_precision_size(problem->precision);
    const bool stepped = mine->step != span->step;
    if (stepped && as_arrays(problem))
        set_arrays(state, span->step);
    else if (stepped)
        hs_network_coefficients(problem->network, problem->precision, span->step, mine->row);
    if (!stepped && !mine->varies && mine->steps >= steps)
        return;
    for (int s = 0; s < steps; s++) {
        const struct hs_network_time time = {.t = hs_span_time(span, first + s),
                                             .next = hs_span_time(span, first + s + 1),
                                             .step = span->step};
        if (mine->sinks_vary)
            put_sinks(state, time.t);
        if (as_arrays(problem))
            put_forced(state, false, &time, mine->array[HS_CPU_ADDED].origin);
        else
            hs_network_forcing(problem->network, problem->time_functions, problem->precision, &time,
                               (char *)mine->forcing +
                                   (size_t)s * size * (size_t)problem->network->row_count);
    }
    mine->step = span->step;
    mine->steps = steps;
}

void hs_cpu_network_prescribe(const struct hs_backend_state *state, double t, void *field)
{
    const struct hs_problem *problem = state->problem;
    if (!problem->network)
        return;
    const struct hs_moving *given = &problem->network->given;
    hs_moving_at(given, &problem->grid, t, state->threads, state->network.given);
    for (int64_t n = 0; n < given->count; n++)
        hs_write(problem->precision, field, hs_layout_node(&state->layout, given->node[n]),
                 state->network.given[n]);
    if (as_arrays(problem))
        put_forced(state, true, &(struct hs_network_time){.t = t}, field);
}
