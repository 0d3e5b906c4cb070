#include "engine/pulses.h"

#include "core/memory.h"
#include "engine/boundary_data.h"
#include "engine/boundary_data_parts.h"
#include "engine/network/coefficients.h"
#include "engine/threads.h"
#include "functions/moving.h"
#include "functions/time_function.h"

#include <math.h>
#include <stdlib.h>

enum {
    TIMES = 1000,    /* of an interval */
    LEAST_TIMES = 8, /* of a step */
    WORK = 100000    /* numbers of a step that are looked at, where each costs something */
};

static const double seen_share = 0.5;                    /* of the range that is seen */
static const int64_t along[HS_AXES + 1] = {1, 32, 8, 5}; /* nodes of each axis, by dims */

/* Numbers that act, of one kind. */
struct group {
    const struct hs_problem *problem;
    int64_t count;
    void (*at)(const struct group *group, double t, double *out);
    const struct hs_moving *moving;
    const struct hs_datum *datum;
    struct hs_lattice lattice;
};

/* What was seen of each number, and how far outside of that it comes. [count] each. */
struct seen {
    double *now, *low, *high, *outside;
};

static void look(const struct group *group, double t, bool is_seen, struct seen *seen)
{
    group->at(group, t, seen->now);
    for (int64_t n = 0; n < group->count; n++) {
        const double value = seen->now[n];
        if (is_seen) {
            seen->low[n] = fmin(seen->low[n], value);
            seen->high[n] = fmax(seen->high[n], value);
        } else
            seen->outside[n] =
                fmax(seen->outside[n], fmax(seen->low[n] - value, value - seen->high[n]));
    }
}

/* Points of tables within the step. */
static void look_at_points(const struct group *group, const struct hs_pulse_step *step,
                           struct seen *seen)
{
    const struct hs_problem *problem = group->problem;
    for (int f = 0; f < problem->time_function_count; f++) {
        const struct hs_time_function *table = &problem->time_functions[f];
        int64_t n = table->points > 0 ? hs_interval_of(table->time, table->points, step->begin) : 0;
        for (; n < table->points && table->time[n] < step->end; n++)
            if (table->time[n] > step->begin)
                look(group, table->time[n], false, seen);
    }
}

static int64_t times_of(const struct group *group, const struct hs_pulse_step *step)
{
    const int64_t spread = (int64_t)(TIMES * (step->end - step->begin) / step->interval);
    const int64_t affordable = WORK / group->count;
    return LEAST_TIMES + (spread < affordable ? spread : affordable);
}

/* How far each number comes outside of what is seen, [count], to be freed; 0 where that is a small
 * share of the range. NULL: of all. */
static double *find_outside(const struct group *group, const struct hs_pulse_step *step)
{
    const int64_t count = group->count, times = times_of(group, step);
    double *space = hs_new((size_t)(4 * count) * sizeof *space);
    struct seen seen = {space + count, space + 2 * count, space + 3 * count, space};
    bool any = false;
    for (int64_t n = 0; n < count; n++) {
        seen.low[n] = INFINITY;
        seen.high[n] = -INFINITY;
    }
    look(group, step->before, true, &seen);
    look(group, step->begin, true, &seen);
    look(group, step->end, true, &seen);
    for (int64_t s = 1; s < times; s++)
        look(group, step->begin + (step->end - step->begin) * (double)s / (double)times, false,
             &seen);
    if (!group->moving && !group->datum)
        look_at_points(group, step, &seen);
    for (int64_t n = 0; n < count; n++) {
        if (!(seen.outside[n] > seen_share * (seen.high[n] - seen.low[n])))
            seen.outside[n] = 0.0;
        any = any || seen.outside[n] > 0.0;
    }
    if (!any)
        free(space);
    return any ? space : NULL;
}

/* ---- what acts ------------------------------------------------------------------------------- */

static void functions_at(const struct group *group, double t, double *out)
{
    for (int64_t f = 0; f < group->count; f++)
        out[f] = hs_time_function_at(&group->problem->time_functions[f], t);
}

static void moving_at(const struct group *group, double t, double *out)
{
    const struct hs_grid *grid = &group->problem->grid;
    hs_moving_at(group->moving, grid, t, hs_threads_for(grid, group->problem->solver.threads), out);
}

static void datum_at(const struct group *group, double t, double *out)
{
    for (int64_t n = 0; n < group->count; n++) {
        int64_t node[HS_AXES];
        hs_lattice_node(&group->problem->grid, &group->lattice, n, node);
        out[n] = hs_datum_at(group->problem, group->datum, node, t);
    }
}

static bool functions_missed(const struct hs_problem *problem, const struct hs_pulse_step *step)
{
    const struct group group = {
        .problem = problem, .count = problem->time_function_count, .at = functions_at};
    if (!hs_network_varies(problem->network, problem->time_functions))
        return false;
    double *outside = find_outside(&group, step);
    double *reach =
        outside ? hs_data_function_reaches(problem, step->end - step->begin, 1.0) : NULL;
    bool missed = false;
    for (int64_t f = 0; f < group.count && reach; f++)
        missed = missed || outside[f] * reach[f] > step->tolerance;
    free(reach);
    free(outside);
    return missed;
}

static bool moving_missed(const struct hs_problem *problem, const struct hs_moving *moving,
                          const struct hs_pulse_step *step)
{
    const struct group group = {
        .problem = problem, .count = moving->count, .at = moving_at, .moving = moving};
    double *outside = group.count > 0 ? find_outside(&group, step) : NULL;
    bool missed = false;
    for (int64_t n = 0; n < group.count && outside; n++)
        missed =
            missed || hs_network_added_by(hs_network_row_at(problem->network, moving->node[n]),
                                          outside[n], step->end - step->begin) > step->tolerance;
    free(outside);
    return missed;
}

/* K per unit of it, at the node that it does most to: `sweep` does in one what the step does. */
static double datum_reach(const struct hs_problem *problem, const struct hs_datum *datum,
                          const struct hs_stencil *sweep)
{
    double neighbour = 0.0;
    if (datum->face < 0)
        return datum->gain;
    const struct hs_face *face = &problem->face[datum->face];
    for (int apart = 1; apart <= sweep->radius; apart++)
        neighbour = fmax(neighbour,
                         fabs(sweep->c[hs_stencil_index(sweep->radius, datum->face / 2, apart)]));
    return face->prescribed ? 1.0 : fabs(face->c[0]) * neighbour;
}

static bool datum_missed(const struct hs_problem *problem, const struct hs_datum *datum,
                         const struct hs_stencil *sweep, const struct hs_pulse_step *step)
{
    struct group group = {.problem = problem, .at = datum_at, .datum = datum};
    if (!(hs_value_varies(datum->value) & HS_VARIES_T) || datum->field)
        return false;
    group.lattice = hs_lattice_of(&problem->grid, datum, along[problem->grid.dims]);
    group.count = group.lattice.count;
    double *outside = find_outside(&group, step);
    const double reach = datum_reach(problem, datum, sweep);
    bool missed = false;
    for (int64_t n = 0; n < group.count && outside; n++)
        missed = missed || outside[n] * reach > step->tolerance;
    free(outside);
    return missed;
}

bool hs_pulses_missed(const struct hs_problem *problem, const struct hs_pulse_step *step)
{
    const double time = step->end - step->begin;
    if (!hs_boundary_data_in_time(problem))
        return false;
    const struct hs_network *network = problem->network;
    if (network &&
        (functions_missed(problem, step) || moving_missed(problem, &network->inflow, step) ||
         moving_missed(problem, &network->given, step)))
        return true;
    struct hs_datum data[HS_DATA_MOST];
    const struct hs_stencil sweep = hs_problem_stencil(problem, time);
    const int count = hs_data_list(problem, time, 1.0, time, data);
    bool missed = false;
    for (int d = 0; d < count && !missed; d++)
        missed = datum_missed(problem, &data[d], &sweep, step);
    return missed;
}
