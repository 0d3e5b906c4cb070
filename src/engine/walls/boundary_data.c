#include "engine/walls/boundary_data.h"

#include "core/memory.h"
#include "engine/network/coefficients.h"
#include "engine/threads.h"
#include "engine/walls/boundary_data_parts.h"
#include "functions/evaluate.h"
#include "functions/fields.h"
#include "functions/moving.h"
#include "functions/time_function.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A rule's ghost may add the wall's value, times the rule's c, in each sweep. */
int hs_data_list(const struct hs_problem *problem, double step, double sweeps, double time,
                 struct hs_datum out[HS_DATA_MOST])
{
    int count = 0;
    const struct hs_source *source = &problem->source;
    if (source->present)
        out[count++] = (struct hs_datum){
            .value = &source->field.value,
            .field = source->field.stored ? &source->field : NULL,
            .face = -1,
            .sweep_gain = hs_problem_source_scale(problem, step),
            .gain = fabs(source->rate) * (problem->raw ? sweeps : time),
        };
    for (int f = 0; f < 2 * problem->grid.dims; f++)
        if (!problem->face[f].wrap)
            out[count++] = (struct hs_datum){
                .value = &problem->face[f].data,
                .face = f,
                .sweep_gain = 1.0,
                .gain = 1.0 + fabs(problem->face[f].c[0]) * sweeps,
            };
    return count;
}

/* Steps that are longer than the longest stable sweep count as several of those. */
static int list_data(const struct hs_problem *problem, const struct hs_plan *plan,
                     struct hs_datum out[HS_DATA_MOST])
{
    const double step = hs_plan_step(plan), longer = plan->limit > 0.0 ? step / plan->limit : 1.0;
    return hs_data_list(problem, step, (double)plan->sweeps * fmax(1.0, longer), plan->end, out);
}

enum { CLOSE_TIMES = 65536 }; /* of a close look */

/* ---- values ---------------------------------------------------------------------------------- */

static void put_on_face(const struct hs_grid *grid, int face, int64_t node[HS_AXES])
{
    if (face >= 0)
        node[face / 2] = hs_grid_face_index(grid, face);
}

double hs_datum_at(const struct hs_problem *problem, const struct hs_datum *datum,
                   const int64_t node[HS_AXES], double t)
{
    return datum->field ? hs_field_at(problem, datum->field, t, node)
                        : hs_value_at_node(datum->value, &problem->grid, node, t);
}

/* Nodes of a lattice along each axis, by dims. */
static const int64_t usual[HS_AXES + 1] = {1, 4096, 64, 16};

struct hs_datum_nodes hs_datum_nodes_of(const struct hs_grid *grid, const struct hs_datum *datum,
                                        int64_t most)
{
    struct hs_datum_nodes l = {.count = 1, .face = datum->face};
    for (int axis = 0; axis < HS_AXES; axis++) {
        const bool varies = datum->field || hs_value_varies(datum->value) & HS_VARIES_X << axis;
        const bool across = datum->face >= 0 && datum->face / 2 == axis;
        const int64_t points = grid->points[axis];
        l.along[axis] = !varies || across ? 1 : points < most ? points : most;
        l.count *= l.along[axis];
    }
    return l;
}

void hs_datum_node(const struct hs_grid *grid, const struct hs_datum_nodes *l, int64_t n,
                   int64_t node[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t part = n % l->along[axis];
        node[axis] =
            l->along[axis] > 1 ? (grid->points[axis] - 1) * part / (l->along[axis] - 1) : 0;
        n /= l->along[axis];
    }
    put_on_face(grid, l->face, node);
}

/* ---- how large ------------------------------------------------------------------------------- */

static double larger_if_finite(double most, double value)
{
    return isfinite(value) ? fmax(most, fabs(value)) : most; /* else the sweeps will show it */
}

double hs_datum_largest(const struct hs_problem *problem, const struct hs_datum *datum, double end)
{
    enum { ALONG = 9, TIMES = 5 };
    const struct hs_grid *grid = &problem->grid;
    if (datum->field)
        return larger_if_finite(0.0, datum->field->stored->extreme);
    const struct hs_datum_nodes l = hs_datum_nodes_of(grid, datum, ALONG);
    const int times = hs_value_varies(datum->value) & HS_VARIES_T ? TIMES : 1;
    double most = 0.0;
    for (int64_t n = 0; n < l.count * times; n++) {
        int64_t node[HS_AXES];
        hs_datum_node(grid, &l, n % l.count, node);
        const double t = end * (double)(n / l.count) / (TIMES - 1);
        most = larger_if_finite(most, hs_datum_at(problem, datum, node, t));
    }
    return most;
}

/* The same for numbers that change along a wall and in time at once, at `times` times. */
static double moving_scale(const struct hs_problem *problem, const struct hs_moving *moving,
                           const struct hs_plan *plan, double end, int64_t times)
{
    const struct hs_network *network = problem->network;
    double *sum = moving->count > 0 ? malloc((size_t)moving->count * sizeof *sum) : NULL;
    double most = 0.0;
    for (int64_t s = 0; s < times && sum; s++) {
        hs_moving_at(moving, &network->grid, end * (double)s / (double)(times - 1),
                     hs_threads_of(problem), sum);
        for (int64_t n = 0; n < moving->count; n++) {
            const struct hs_network_row *row = hs_network_row_at(network, moving->node[n]);
            const double sweeps = row->kind == HS_NODE_PRESCRIBED ? 1.0 : (double)plan->sweeps;
            most = larger_if_finite(most,
                                    sweeps * hs_network_added_by(row, sum[n], hs_plan_step(plan)));
        }
    }
    free(sum);
    return most;
}

/* For each forcing the most that one W (or K) of it does to a node in this many sweeps: 1 if it
 * prescribes. Allocated. */
static double *reaches_of(const struct hs_problem *problem, double step, double sweeps)
{
    const struct hs_network *network = problem->network;
    const int forcings = network->forcing_count;
    double *reach = hs_new((size_t)forcings * sizeof *reach);
    int64_t count;
    const struct hs_network_row *row = hs_network_rows(network, &count);
#pragma omp parallel num_threads(hs_threads_of(problem))
    {
        double *own = hs_new((size_t)forcings * sizeof *own);
#pragma omp for schedule(static)
        for (int64_t n = 0; n < count; n++) {
            const double here = (row[n].kind == HS_NODE_PRESCRIBED ? 1.0 : sweeps) *
                                hs_network_added_by(&row[n], 1.0, step);
            own[row[n].forcing] = fmax(own[row[n].forcing], here);
        }
#pragma omp critical
        for (int f = 0; f < forcings; f++)
            reach[f] = fmax(reach[f], own[f]);
        free(own);
    }
    return reach;
}

double *hs_data_function_reaches(const struct hs_problem *problem, double step, double sweeps)
{
    const struct hs_network *network = problem->network;
    double *of_forcing = reaches_of(problem, step, sweeps);
    double *reach = hs_new(((size_t)problem->time_function_count + 1) * sizeof *reach);
    for (int f = 0; f < network->forcing_count; f++)
        for (int n = 0; n < network->forcing[f].inflow.count; n++) {
            const struct hs_terms *inflow = &network->forcing[f].inflow;
            double *most = &reach[inflow->function[n]];
            *most = fmax(*most, fabs(inflow->weight[n]) * of_forcing[f]);
        }
    free(of_forcing);
    return reach;
}

static double both_moving(const struct hs_problem *problem, const struct hs_plan *plan, double end,
                          int64_t times)
{
    return moving_scale(problem, &problem->network->inflow, plan, end, times) +
           moving_scale(problem, &problem->network->given, plan, end, times);
}

/* K: the most that walls and sources may do to a node of a body in the whole run, from their values
 * at few times. */
static double network_scale(const struct hs_problem *problem, const struct hs_plan *plan)
{
    enum { TIMES = 65, MOVING_TIMES = 9 };
    const struct hs_network *network = problem->network;
    if (!network)
        return 0.0;
    double most = both_moving(problem, plan, plan->end, MOVING_TIMES);
    double *reach = reaches_of(problem, hs_plan_step(plan), (double)plan->sweeps);
    for (int f = 1; f < network->forcing_count; f++) {
        const struct hs_forcing *forcing = &network->forcing[f];
        const int times = hs_forcing_varies(forcing, problem->time_functions) ? TIMES : 1;
        for (int s = 0; s < times; s++)
            most = larger_if_finite(most, reach[f] * hs_terms_at(&forcing->inflow,
                                                                 problem->time_functions,
                                                                 plan->end * s / (TIMES - 1)));
    }
    free(reach);
    return most;
}

/* The largest magnitude of a function from 0 to `end`. */
static double function_peak(const struct hs_time_function *function, double end)
{
    double most = 0.0;
    for (int64_t s = 0; s <= CLOSE_TIMES; s++)
        most = larger_if_finite(most, hs_time_function_at(function, end * (double)s / CLOSE_TIMES));
    for (int n = 0; n < function->points; n++)
        if (function->time[n] >= 0.0 && function->time[n] <= end)
            most = larger_if_finite(most, function->number[n]);
    return most;
}

/* The same from their values at many times up to `end`. */
static double network_scale_closely(const struct hs_problem *problem, const struct hs_plan *plan,
                                    double end)
{
    enum { WORK = 30000000 }; /* values of moving walls */
    const struct hs_network *network = problem->network;
    if (!network)
        return 0.0;
    const int64_t moving = network->inflow.count + network->given.count;
    const int64_t times = moving > 0 ? WORK / moving : 0;
    double sum = both_moving(problem, plan, end,
                             times < 65            ? 65
                             : times < CLOSE_TIMES ? times
                                                   : CLOSE_TIMES);
    double *reach = hs_data_function_reaches(problem, hs_plan_step(plan), (double)plan->sweeps);
    for (int f = 0; f < problem->time_function_count; f++)
        sum += reach[f] > 0.0 ? reach[f] * function_peak(&problem->time_functions[f], end) : 0.0;
    free(reach);
    return sum;
}

/* The largest magnitude of a datum at a node from the start to `sweep`: at the sweeps' times and,
 * if sweeps are few, between them. */
static double datum_peak(const struct hs_problem *problem, const struct hs_plan *plan,
                         const struct hs_datum *datum, const int64_t node[HS_AXES], int64_t sweep)
{
    const int64_t between = 1 + CLOSE_TIMES / (sweep + 1);
    double most = 0.0;
    for (int64_t s = 0; s <= sweep; s += 1 + sweep / CLOSE_TIMES) {
        const double t = hs_plan_time(plan, s);
        const double step = s < sweep ? hs_plan_time(plan, s + 1) - t : 0.0;
        for (int64_t n = 0; n < between; n++)
            most = larger_if_finite(
                most, hs_datum_at(problem, datum, node, t + step * (double)n / (double)between));
    }
    return most;
}

double hs_boundary_data_scale(const struct hs_problem *problem, const struct hs_plan *plan)
{
    struct hs_datum data[HS_DATA_MOST];
    const int count = list_data(problem, plan, data);
    double sum = network_scale(problem, plan);
    for (int d = 0; d < count; d++)
        sum += data[d].gain * hs_datum_largest(problem, &data[d], plan->end);
    return sum;
}

double hs_boundary_data_scale_at(const struct hs_problem *problem, const struct hs_plan *plan,
                                 const int64_t node[HS_AXES], int64_t sweep)
{
    struct hs_datum data[HS_DATA_MOST];
    const int count = list_data(problem, plan, data);
    double sum = network_scale_closely(problem, plan, hs_plan_time(plan, sweep));
    for (int d = 0; d < count; d++) {
        int64_t at[HS_AXES] = {node[HS_X], node[HS_Y], node[HS_Z]};
        put_on_face(&problem->grid, data[d].face, at);
        sum += data[d].gain * datum_peak(problem, plan, &data[d], at, sweep);
    }
    return sum;
}

/* ---- whether they change in time ------------------------------------------------------------- */

bool hs_boundary_data_in_time(const struct hs_problem *problem)
{
    const struct hs_source *source = &problem->source;
    if (problem->network && (hs_network_moves(problem->network) ||
                             hs_network_varies(problem->network, problem->time_functions)))
        return true;
    bool in_time = source->present && (hs_value_varies(&source->field.value) & HS_VARIES_T);
    for (int f = 0; f < 2 * problem->grid.dims; f++)
        in_time |=
            !problem->face[f].wrap && (hs_value_varies(&problem->face[f].data) & HS_VARIES_T);
    return in_time;
}

/* ---- where they lead ------------------------------------------------------------------------- */

const int64_t hs_boundary_data_looked_at = 1 << 22;

/* Nodes of that lattice along an axis, by dims. */
static const int64_t close_by[HS_AXES + 1] = {1, 1 << 22, 1 << 11, 161};

/* Range and mean magnitude of the finite values on the lattice, at t = 0. */
struct survey {
    double lowest, highest, mean_size;
};

static struct survey look_at(const struct hs_problem *problem, const struct hs_datum *datum)
{
    struct survey out = {.lowest = INFINITY, .highest = -INFINITY};
    const struct hs_grid *grid = &problem->grid;
    const struct hs_datum_nodes l = hs_datum_nodes_of(grid, datum, close_by[grid->dims]);
    double sum = 0.0;
    for (int64_t n = 0; n < l.count; n++) {
        int64_t node[HS_AXES];
        hs_datum_node(grid, &l, n, node);
        const double value = hs_datum_at(problem, datum, node, 0.0);
        if (!isfinite(value))
            continue;
        out.lowest = fmin(out.lowest, value);
        out.highest = fmax(out.highest, value);
        sum += fabs(value);
    }
    out.mean_size = sum / (double)l.count;
    return out;
}

/* A wall's rule ghost = a*inner + b*edge + c*datum rests if all three are c*datum/(1 - a - b). A
 * flux never rests: it adds c*datum to the edge node's neighbour in each sweep. */
static void add_wall(const struct hs_problem *problem, const struct hs_stencil *stencil,
                     const struct hs_datum *datum, struct hs_boundary_data_lead *out)
{
    const struct hs_face *face = &problem->face[datum->face];
    const int axis = datum->face / 2;
    const double pull = 1.0 - face->a[0] - face->b[0];
    if (face->held > 0 || face->c[0] == 0.0)
        return; /* what is held is in the initial field */
    const struct survey found = look_at(problem, datum);
    if (pull != 0.0) {
        out->lowest = fmin(out->lowest, face->c[0] / pull * found.lowest);
        out->highest = fmax(out->highest, face->c[0] / pull * found.highest);
    } else
        out->gain += fabs(face->c[0]) * found.mean_size *
                     stencil->c[hs_stencil_index(stencil->radius, axis, 1)] /
                     (double)problem->grid.points[axis];
}

/* How many nodes have each of the rows; NULL without memory. */
static int64_t *count_rows(const struct hs_network *network)
{
    int64_t rows;
    const struct hs_network_row *first = hs_network_rows(network, &rows);
    int64_t *count = calloc((size_t)rows, sizeof *count);
    for (int64_t n = 0; n < hs_grid_count(&network->grid) && count; n++)
        count[hs_network_row_at(network, n) - first]++;
    return count;
}

/* For a body: convection and perfusion pull a node to where they balance its inflow; the inflow of
 * other nodes is spread over the heat capacity of all. */
static void add_network(const struct hs_problem *problem, const struct hs_plan *plan,
                        struct hs_boundary_data_lead *out)
{
    const struct hs_network_time time = {.step = hs_plan_step(plan)};
    int64_t rows, *count = count_rows(problem->network);
    const struct hs_network_row *row = hs_network_rows(problem->network, &rows);
    double heat = 0.0, capacity = 0.0;
    for (int64_t n = 0; n < rows && count; n++) {
        const double nodes = (double)count[n];
        const double added =
            hs_network_added(problem->network, &row[n], problem->time_functions, &time);
        const double sink =
            hs_network_sink(problem->network, &row[n], problem->time_functions, time.t);
        const bool pulls = row[n].kind == HS_NODE_PRESCRIBED || sink > 0.0;
        if (count[n] == 0 || row[n].kind == HS_NODE_HELD)
            continue;
        if (pulls) {
            const double to = row[n].kind == HS_NODE_PRESCRIBED
                                  ? added
                                  : added * row[n].capacity / (time.step * sink);
            out->lowest = fmin(out->lowest, to);
            out->highest = fmax(out->highest, to);
        } else
            heat += nodes * row[n].capacity * fabs(added);
        capacity += nodes * row[n].capacity;
    }
    out->gain += heat > 0.0 ? heat / capacity : 0.0;
    free(count);
}

struct hs_boundary_data_lead hs_boundary_data_lead(const struct hs_problem *problem,
                                                   const struct hs_plan *plan)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, hs_plan_step(plan));
    struct hs_datum data[HS_DATA_MOST];
    const int count = list_data(problem, plan, data);
    struct hs_boundary_data_lead out = {.lowest = INFINITY, .highest = -INFINITY};
    if (problem->network)
        add_network(problem, plan, &out);
    for (int d = 0; d < count; d++) {
        if (data[d].face >= 0)
            add_wall(problem, &stencil, &data[d], &out);
        else
            out.gain += fabs(data[d].sweep_gain) * look_at(problem, &data[d]).mean_size;
    }
    return out;
}

/* ---- whether they can be held ---------------------------------------------------------------- */

struct excess {
    int64_t node[HS_AXES];
    double value;
};

static bool is_excess(const struct hs_problem *problem, const struct hs_datum *datum, double value)
{
    const double most = hs_precision_most(problem->precision);
    return !(fabs(value) <= most && fabs(value * datum->sweep_gain) <= most);
}

static bool exceeds(const struct hs_problem *problem, const struct hs_datum *datum, double t,
                    struct excess *found)
{
    found->value = hs_datum_at(problem, datum, found->node, t);
    return is_excess(problem, datum, found->value);
}

/* The extreme of numbers from a file is known, and is all that need be looked at. */
static bool is_extreme_excess(const struct hs_problem *problem, const struct hs_datum *datum,
                              struct excess *found)
{
    const struct hs_stored *stored = datum->field->stored;
    found->value = stored->extreme;
    hs_grid_node(&problem->grid, stored->extreme_node, found->node);
    return is_excess(problem, datum, found->value);
}

/* Looks at the suspected node, then over the grid. */
static bool look_for_excess(const struct hs_problem *problem, const struct hs_datum *datum,
                            double t, const int64_t suspect[HS_AXES], struct excess *found)
{
    if (datum->field)
        return is_extreme_excess(problem, datum, found);
    for (int axis = 0; axis < HS_AXES; axis++)
        found->node[axis] = suspect[axis];
    put_on_face(&problem->grid, datum->face, found->node);
    if (exceeds(problem, datum, t, found))
        return true;
    const struct hs_datum_nodes l =
        hs_datum_nodes_of(&problem->grid, datum, usual[problem->grid.dims]);
    for (int64_t n = 0; n < l.count; n++) {
        hs_datum_node(&problem->grid, &l, n, found->node);
        if (exceeds(problem, datum, t, found))
            return true;
    }
    return false;
}

static void describe(const struct hs_problem *problem, const struct hs_datum *datum, double t,
                     const struct excess *found, char *out, size_t size)
{
    char node[160], number[64] = "NaN"; /* printf would give it a sign */
    if (isinf(found->value))
        snprintf(number, sizeof number, "%g", found->value);
    else if (!isnan(found->value))
        snprintf(number, sizeof number, "%g, more than a field in %s holds,", found->value,
                 hs_precision_name(problem->precision));
    hs_grid_name_node(&problem->grid, found->node, node, sizeof node);
    snprintf(out, size, "%s is %s at %s, t = %.9g s",
             hs_problem_place(problem, hs_datum_place(datum)), number, node, t);
}

bool hs_boundary_data_find_excess(const struct hs_problem *problem, const struct hs_plan *plan,
                                  int64_t from, int64_t to, const int64_t suspect[HS_AXES],
                                  char *out, size_t size)
{
    enum { TIMES = 64 };
    struct hs_datum data[HS_DATA_MOST];
    const int count = list_data(problem, plan, data);
    const int64_t times = to - from < TIMES ? to - from + 1 : TIMES;
    for (int64_t n = 0; n < times; n++) {
        const int64_t sweep = times > 1 ? from + (to - from) * n / (times - 1) : to;
        const double t = hs_plan_time(plan, sweep);
        for (int d = 0; d < count; d++) {
            struct excess found;
            const bool used = data[d].face >= 0 || sweep < to; /* a source acts in the next sweep */
            if (!used || !look_for_excess(problem, &data[d], t, suspect, &found))
                continue;
            describe(problem, &data[d], t, &found, out, size);
            return true;
        }
    }
    return false;
}
