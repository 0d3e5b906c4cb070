#include "engine/multigrid/equations.h"

#include "core/sum.h"
#include "engine/multigrid/stencil_network.h"
#include "engine/network/coefficients.h"
#include "engine/threads.h"
#include "engine/walls/boundary_data.h"
#include "functions/fields.h"
#include "functions/moving.h"
#include "functions/time_function.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what suits ------------------------------------------------------------------------------ */

enum hs_status hs_equations_suit(const struct hs_problem *problem, struct hs_error *err)
{
    if (problem->raw)
        return hs_error_add(err, HS_BAD_INPUT,
                            "raw coefficients need not be those of conduction; take \"spectral\" "
                            "or \"sweeps\"");
    if (problem->radius > 1)
        return hs_error_add(err, HS_BAD_INPUT,
                            "it can do stencil.radius = 1, not %d; take that, or \"spectral\" or "
                            "\"sweeps\"",
                            problem->radius);
    if (hs_boundary_data_in_time(problem))
        return hs_error_add(err, HS_BAD_INPUT,
                            "walls or the source change with time, so there is no steady state; "
                            "give time.end instead of steady, or values that do not depend on t");
    return HS_OK;
}

/* ---- from the problem ------------------------------------------------------------------------ */

double hs_equations_inflow_of(const struct hs_equations *equations, const double *forcing, double t,
                              int64_t node, double source)
{
    const struct hs_grid *grid = &equations->problem->grid;
    const struct hs_network_row *row = hs_network_row_at(equations->network, node);
    if (row->kind != HS_NODE_FREE)
        return 0.0;
    const double inflow = source * row->capacity + forcing[row->forcing];
    if (equations->problem->network)
        return inflow;
    const int64_t nx = grid->points[HS_X], ny = grid->points[HS_Y], r = node / nx;
    const int64_t at[HS_AXES] = {node - r * nx, r % ny, r / ny};
    bool on_wall = false;
    for (int axis = 0; axis < grid->dims; axis++)
        on_wall |= at[axis] == 0 || at[axis] == grid->points[axis] - 1;
    return on_wall ? inflow + hs_stencil_network_inflow(equations->problem, t, at) : inflow;
}

double *hs_equations_forcing_at(const struct hs_equations *equations, double t)
{
    const struct hs_network *network = equations->network;
    double *out = malloc((size_t)network->forcing_count * sizeof *out);
    for (int n = 0; n < network->forcing_count && out; n++)
        out[n] = hs_terms_at(&network->forcing[n].inflow, equations->problem->time_functions, t);
    return out;
}

/* Of a whole row of nodes, without walls that move. */
static void find_inflow_row(const struct hs_equations *equations, bool source,
                            const double *forcing, double t, int64_t r, double *out)
{
    const struct hs_problem *problem = equations->problem;
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    if (source)
        hs_problem_source_row(problem, 1.0, t, r % ny, r / ny, out);
    for (int64_t i = 0; i < nx; i++)
        out[i] = hs_equations_inflow_of(equations, forcing, t, r * nx + i, source ? out[i] : 0.0);
}

/* Adds the inflow of walls whose data vary along them and in time at once. */
static void add_moving(const struct hs_equations *equations, double t, double *sum, double *out)
{
    const struct hs_moving *inflow = &equations->network->inflow;
    hs_moving_at(inflow, &equations->network->grid, t, equations->threads, sum);
    for (int64_t n = 0; n < inflow->count; n++)
        out[inflow->node[n]] += sum[n];
}

bool hs_equations_inflow_at(const struct hs_equations *equations, bool source, double t,
                            double *out)
{
    const struct hs_network *network = equations->network;
    const int64_t nodes = hs_grid_count(&network->grid), nx = network->grid.points[HS_X];
    double *forcing = hs_equations_forcing_at(equations, t);
    double *sum = malloc((size_t)(network->inflow.count + 1) * sizeof *sum);
    const bool done = forcing && sum;
    if (done) {
#pragma omp parallel for num_threads(equations->threads) schedule(static)
        for (int64_t r = 0; r < nodes / nx; r++)
            find_inflow_row(equations, source, forcing, t, r, out + r * nx);
        add_moving(equations, t, sum, out);
    }
    free(forcing);
    free(sum);
    return done;
}

/* Sums over the nodes; floating: nothing fixes the mean. */
struct sums {
    struct hs_sum balance, flows, capacity;
    bool floating;
};

/* Of each forcing at t = 0: its sum, and the sum of its terms' magnitudes. */
struct forcings {
    double *sum, *gross; /* [forcing_count] */
};

/* False: out of memory. Release in either case. */
static bool find_forcings(const struct hs_equations *equations, struct forcings *out)
{
    const struct hs_network *network = equations->network;
    const struct hs_time_function *functions = equations->problem->time_functions;
    out->sum = hs_equations_forcing_at(equations, 0.0);
    out->gross = calloc((size_t)network->forcing_count, sizeof *out->gross);
    if (!out->sum || !out->gross)
        return false;
    for (int f = 0; f < network->forcing_count; f++) {
        const struct hs_forcing *forcing = &network->forcing[f];
        for (int n = 0; n < forcing->inflow.count; n++)
            out->gross[f] +=
                fabs(forcing->inflow.weight[n] *
                     hs_time_function_at(&functions[forcing->inflow.function[n]], 0.0));
    }
    return true;
}

/* What flows in at a node and what flows out of it there, added: a source of its material may
 * cancel the problem's. */
static double flows_at(const struct hs_equations *equations, const struct forcings *forcings,
                       const struct hs_network_row *row, int64_t node)
{
    if (row->kind != HS_NODE_FREE)
        return 0.0;
    return fabs(equations->inflow[node] - forcings->sum[row->forcing]) +
           forcings->gross[row->forcing];
}

static struct sums add_nodes(const struct hs_equations *equations, const struct forcings *forcings,
                             int64_t first, int64_t last)
{
    struct sums sums = {.floating = true};
    for (int64_t n = first; n < last; n++) {
        const struct hs_network_row *row = hs_network_row_at(equations->network, n);
        sums.floating = sums.floating && row->kind == HS_NODE_FREE && row->sink == 0.0;
        hs_sum_add(&sums.balance, equations->inflow[n]);
        hs_sum_add(&sums.flows, flows_at(equations, forcings, row, n));
        if (row->kind == HS_NODE_FREE)
            hs_sum_add(&sums.capacity, row->capacity);
    }
    return sums;
}

/* In a fixed number of parts, so that sums are the same on every machine. False: out of memory. */
static bool add_up(struct hs_equations *equations)
{
    enum { PARTS = 64 };
    const int64_t nodes = hs_grid_count(&equations->network->grid);
    struct sums part[PARTS] = {{.floating = true}}, all = {.floating = true};
    struct forcings forcings;
    const bool found = find_forcings(equations, &forcings);
    if (found) {
#pragma omp parallel for num_threads(equations->threads) schedule(static)
        for (int p = 0; p < PARTS; p++)
            part[p] = add_nodes(equations, &forcings, nodes * p / PARTS, nodes * (p + 1) / PARTS);
    }
    free(forcings.sum);
    free(forcings.gross);
    for (int p = 0; p < PARTS; p++) {
        hs_sum_join(&all.balance, &part[p].balance);
        hs_sum_join(&all.flows, &part[p].flows);
        hs_sum_join(&all.capacity, &part[p].capacity);
        all.floating = all.floating && part[p].floating;
    }
    equations->floating = all.floating;
    equations->balance = hs_sum_value(&all.balance);
    equations->flows = hs_sum_value(&all.flows);
    equations->capacity = hs_sum_value(&all.capacity);
    return found;
}

static enum hs_status no_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "no memory for the equations; take a smaller grid");
}

/* The rows of the problem's network, but its own; the rest is shared. */
static enum hs_status copy_rows(struct hs_equations *equations, struct hs_error *err)
{
    int64_t count;
    const struct hs_network_row *rows = hs_network_rows(equations->network, &count);
    const bool arrays = equations->network->form == HS_NETWORK_ARRAYS;
    const size_t bytes = (size_t)(count + !arrays) * sizeof *rows;
    struct hs_network_row *own = malloc(bytes);
    if (!own)
        return no_memory(err);
    memcpy(own, rows - !arrays, bytes);
    equations->own = *equations->network;
    *(arrays ? &equations->own.node : &equations->own.row) = own;
    equations->rows = own;
    equations->network = &equations->own;
    return HS_OK;
}

void hs_equations_set_sinks(struct hs_equations *equations, double t)
{
    const struct hs_problem *problem = equations->problem;
    const struct hs_network *network = equations->network;
    const int64_t count =
        network->form == HS_NETWORK_ARRAYS ? hs_grid_count(&network->grid) : network->row_count;
    if (!equations->rows)
        return;
    equations->sinks_set++;
#pragma omp parallel for num_threads(equations->threads) schedule(static)
    for (int64_t n = 0; n < count; n++)
        equations->rows[n].sink =
            hs_network_sink(network, &equations->rows[n], problem->time_functions, t);
}

enum hs_status hs_equations_init(struct hs_equations *equations, const struct hs_problem *problem,
                                 struct hs_error *err)
{
    *equations = (struct hs_equations){
        .problem = problem,
        .network = problem->network,
        .threads = hs_threads_of(problem),
    };
    if (!problem->network) {
        HS_TRY(hs_stencil_network_make(problem, equations->threads, &equations->own, err));
        equations->network = &equations->own;
    }
    if (problem->network && hs_network_sinks_vary(problem->network))
        HS_TRY(copy_rows(equations, err));
    const size_t nodes = (size_t)hs_grid_count(&problem->grid);
    equations->inflow = malloc(nodes * sizeof *equations->inflow);
    if (!equations->inflow ||
        !hs_equations_inflow_at(equations, problem->source.present, 0.0, equations->inflow) ||
        !add_up(equations))
        return no_memory(err);
    return HS_OK;
}

void hs_equations_release(struct hs_equations *equations)
{
    if (equations->rows)
        free(equations->rows);
    else
        hs_network_release(&equations->own);
    free(equations->inflow);
}

/* ---- the operator ---------------------------------------------------------------------------- */

#define INLINE static inline __attribute__((always_inline))

/* Offsets from a node to its neighbours along each axis, in nodes; 0: there is none. */
struct around {
    int64_t below[HS_AXES], above[HS_AXES];
};

static void find_neighbours(const struct hs_network *network, int axis, int64_t i, int64_t stride,
                            struct around *out)
{
    const int64_t n = network->grid.points[axis];
    const bool wrap = network->wrap[axis];
    out->below[axis] = i > 0 ? -stride : wrap ? (n - 1) * stride : 0;
    out->above[axis] = i < n - 1 ? stride : wrap ? -(n - 1) * stride : 0;
}

/* Of a flow's terms: the sum of their sizes, and of G (difference of T)^2. */
struct terms {
    double size, square;
};

/* The flow into a node from its neighbours, less its sink's. terms: may be NULL */
INLINE double flow_into(const struct hs_network *network, enum hs_network_form form, double shift,
                        const struct around *around, const double *T, int64_t node,
                        struct terms *terms)
{
    const struct hs_network_row *row = hs_network_row_of(network, form, node);
    const double here = T[node], sink = row->sink + shift * row->capacity;
    double sum = -sink * here, size = sink * fabs(here), square = 0.0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t below = around->below[axis], above = around->above[axis];
        const double g =
            below ? hs_network_row_of(network, form, node + below)->conductance[axis] : 0.0;
        const double down = T[node + below], up = T[node + above];
        const double G = row->conductance[axis];
        sum += g * (down - here) + G * (up - here);
        if (!terms)
            continue;
        size += g * (fabs(down) + fabs(here)) + G * (fabs(up) + fabs(here));
        square += g * (down - here) * (down - here) + G * (up - here) * (up - here);
    }
    if (terms)
        *terms = (struct terms){size, square};
    return sum;
}

/* What a pass over the nodes computes. */
struct pass {
    const struct hs_equations *equations;
    const double *T;
    double *out;
    bool residual; /* inflow + flow; else minus the flow */
    double slack;
};

struct found {
    double dot; /* of T and out */
    struct hs_krylov_rates rates;
};

INLINE void do_row(const struct pass *pass, enum hs_network_form form, bool residual, int64_t r,
                   struct found *found)
{
    const struct hs_network *network = pass->equations->network;
    const int64_t nx = network->grid.points[HS_X], ny = network->grid.points[HS_Y];
    struct around around;
    find_neighbours(network, HS_Y, r % ny, nx, &around);
    find_neighbours(network, HS_Z, r / ny, nx * ny, &around);
    double dot = 0.0;
    for (int64_t i = 0; i < nx; i++) {
        const int64_t node = r * nx + i;
        const struct hs_network_row *row = hs_network_row_of(network, form, node);
        find_neighbours(network, HS_X, i, 1, &around);
        struct terms terms = {0.0, 0.0};
        double flow = 0.0;
        if (row->kind == HS_NODE_FREE)
            flow = flow_into(network, form, pass->equations->shift, &around, pass->T, node,
                             residual ? &terms : NULL);
        const double inflow = residual ? pass->equations->inflow[node] : 0.0;
        pass->out[node] = residual ? inflow + flow : -flow;
        dot += pass->T[node] * pass->out[node];
        if (!residual || row->kind != HS_NODE_FREE)
            continue;
        /* a comparison with NaN would miss it */
        const double rate =
            isfinite(pass->out[node]) ? fabs(pass->out[node]) / row->capacity : INFINITY;
        const double rounding = 4.0 * DBL_EPSILON * (terms.size + fabs(inflow)) / row->capacity;
        const double told = rate > pass->slack * rounding || !isfinite(rate) ? rate : 0.0;
        found->rates.largest = rate > found->rates.largest ? rate : found->rates.largest;
        found->rates.told = told > found->rates.told ? told : found->rates.told;
        found->rates.field += 0.5 * terms.square;
        found->rates.gross += terms.size * fabs(pass->T[node]);
    }
    found->dot += dot;
}

/* Branches here, outside the loop along the row. */
INLINE void do_row_of(const struct pass *pass, bool residual, int64_t r, struct found *found)
{
    switch (pass->equations->network->form) {
    case HS_NETWORK_BYTES: do_row(pass, HS_NETWORK_BYTES, residual, r, found); return;
    case HS_NETWORK_SHORTS: do_row(pass, HS_NETWORK_SHORTS, residual, r, found); return;
    case HS_NETWORK_ARRAYS: do_row(pass, HS_NETWORK_ARRAYS, residual, r, found); return;
    }
}

static struct found do_pass(const struct pass *pass)
{
    const int64_t *n = pass->equations->network->grid.points;
    double dot = 0.0, largest = 0.0, told = 0.0, field = 0.0, gross = 0.0;
#pragma omp parallel for num_threads(pass->equations->threads) schedule(static)                    \
    reduction(+ : dot, field, gross) reduction(max : largest, told)
    for (int64_t r = 0; r < n[HS_Y] * n[HS_Z]; r++) {
        struct found row = {0.0, {0.0, 0.0, 0.0, 0.0}};
        pass->residual ? do_row_of(pass, true, r, &row) : do_row_of(pass, false, r, &row);
        dot += row.dot;
        largest = fmax(largest, row.rates.largest);
        told = fmax(told, row.rates.told);
        field += row.rates.field;
        gross += row.rates.gross;
    }
    return (struct found){dot, {largest, told, field, gross}};
}

struct hs_krylov_rates hs_equations_residual(const struct hs_equations *equations, double slack,
                                             const double *T, double *residual)
{
    const struct pass pass = {equations, T, residual, true, slack};
    return do_pass(&pass).rates;
}

double hs_equations_apply(const struct hs_equations *equations, const double *p, double *q)
{
    const struct pass pass = {equations, p, q, false, 0.0};
    return do_pass(&pass).dot;
}
