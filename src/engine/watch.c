#include "engine/watch.h"
#include "core/memory.h"
#include "engine/walls/boundary_data.h"
#include "functions/fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double out_of_scale = 1e6;
static const double look_share = 0.01; /* of the sweeps' time */
enum { UNKNOWN_APART = 64 };           /* sweeps, until the costs are known */

/* Updates *value, the value of largest |T| so far, and *node, where it is, from the nodes of a box.
 * `values` has room for all of them. */
static enum hs_status look_at_box(const struct hs_step_state *step_state, const struct hs_box *box,
                                  void *values, int64_t *node, double *value, struct hs_error *err)
{
    const struct hs_problem *problem = step_state->problem;
    HS_TRY(hs_step_state_box(step_state, false, box, values, err));
    for (int64_t n = 0; n < hs_box_count(box); n++) {
        const double T = hs_read(problem->precision, values, n);
        if (fabs(T) > fabs(*value)) {
            *node = hs_grid_index(&problem->grid, box->lo) + n;
            *value = T;
        }
    }
    return HS_OK;
}

/* The first node that is not finite, else the one of largest |T|; and its value. */
static enum hs_status find_worst(const struct hs_step_state *step_state,
                                 const struct hs_reduction *reduction, int64_t node[HS_AXES],
                                 double *value, struct hs_error *err)
{
    if (reduction->not_finite > 0) {
        memcpy(node, reduction->first_bad, sizeof reduction->first_bad);
        return hs_step_state_node(step_state, node, value, err);
    }
    const struct hs_grid *grid = &step_state->problem->grid;
    const size_t size = hs_precision_size(step_state->problem->precision);
    const struct hs_box largest = hs_grid_rows_at(grid, size, 0, 0);
    void *values = malloc((size_t)hs_box_count(&largest) * size);
    enum hs_status st = values ? HS_OK : hs_error_add(err, HS_DEVICE, "no memory for some rows");
    int64_t worst = 0;
    *value = 0.0;
    for (int64_t j = 0, k = 0; k < grid->points[HS_Z] && !st;) {
        const struct hs_box box = hs_grid_rows_at(grid, size, j, k);
        st = look_at_box(step_state, &box, values, &worst, value, err);
        j = box.hi[HS_Y] % grid->points[HS_Y];
        k = j ? k : box.hi[HS_Z];
    }
    free(values);
    hs_grid_node(grid, worst, node);
    return st;
}

/* "the temperature is NaN at node (3, 4), x = 0.1, y = 0.2 m" */
static enum hs_status describe_worst(const struct hs_step_state *step_state,
                                     const struct hs_reduction *reduction, int64_t node[HS_AXES],
                                     char *out, size_t size, struct hs_error *err)
{
    double value;
    HS_TRY(find_worst(step_state, reduction, node, &value, err));
    char number[32] = "NaN", place[160]; /* printf would give it a sign */
    if (!isnan(value))
        snprintf(number, sizeof number, "%g", value);
    hs_grid_name_node(&step_state->problem->grid, node, place, sizeof place);
    snprintf(out, size, "the temperature is %s at %s", number, place);
    return HS_OK;
}

/* Whether a solver made the node's value from a finite initial one. */
static bool is_solved(const struct hs_step_state *step_state, const int64_t node[HS_AXES])
{
    const struct hs_problem *problem = step_state->problem;
    if (!step_state->plan->steady_method)
        return false;
    double *row = hs_new((size_t)problem->grid.points[HS_X] * sizeof *row);
    hs_problem_initial_row(problem, node[HS_Y], node[HS_Z], row);
    const double began = fabs(row[node[HS_X]]);
    free(row);
    return began <= hs_precision_most(problem->precision);
}

/* Whether the initial field is so large that a sweep's sums may exceed what the precision holds. */
static bool is_initial_large(const struct hs_problem *problem)
{
    const struct hs_grid *grid = &problem->grid;
    const double large = hs_precision_most(problem->precision) / out_of_scale;
    double *row = hs_new((size_t)grid->points[HS_X] * sizeof *row);
    bool found = false;
    for (int64_t n = 0; n < grid->points[HS_Y] * grid->points[HS_Z] && !found; n++) {
        hs_problem_initial_row(problem, n % grid->points[HS_Y], n / grid->points[HS_Y], row);
        for (int64_t i = 0; i < grid->points[HS_X]; i++)
            found = found || fabs(row[i]) > large;
    }
    free(row);
    return found;
}

static bool is_in_order(const struct hs_watch *watch, const struct hs_reduction *reduction)
{
    return reduction->not_finite == 0 && fabs(reduction->min) <= watch->bound &&
           fabs(reduction->max) <= watch->bound;
}

/* Reports an initial field that cannot be held, because of the config or the precision. */
static enum hs_status refuse_initial(const struct hs_step_state *step_state,
                                     const struct hs_reduction *reduction, struct hs_error *err)
{
    const struct hs_problem *problem = step_state->problem;
    char worst[256], others[64] = "";
    int64_t node[HS_AXES];
    HS_TRY(describe_worst(step_state, reduction, node, worst, sizeof worst, err));
    if (reduction->not_finite > 0)
        snprintf(others, sizeof others, " (%lld nodes are not finite)",
                 (long long)reduction->not_finite);
    if (is_solved(step_state, node))
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: steady.method = \"%s\": of its solution %s%s; look at the units "
                            "of %ssource and walls: %s",
                            hs_problem_place(problem, HS_PLACE_STEADY),
                            step_state->plan->steady_method->name, worst, others,
                            is_initial_large(problem) ? "initial field, " : "",
                            problem->precision == HS_FLOAT
                                ? "a float is at most 3.4e38; or take precision = \"double\""
                                : "a temperature is at most 1e300");
    const int face = hs_problem_prescribing_face(problem, node);
    const enum hs_place place = face < 0 ? HS_PLACE_INITIAL : (enum hs_place)(HS_PLACE_FACE + face);
    return hs_error_add(
        err, HS_BAD_INPUT, "%s: %s%s; give what is finite everywhere, %s",
        problem->place[place] ? problem->place[place] : "config: initial", worst, others,
        problem->precision == HS_FLOAT ? "in float at most 3.4e38" : "at most 1e300");
}

enum hs_status hs_watch_begin(struct hs_watch *watch, const struct hs_step_state *step_state,
                              const struct hs_reduction *reduction, struct hs_error *err)
{
    const struct hs_problem *problem = step_state->problem;
    *watch = (struct hs_watch){.bound = hs_precision_most(problem->precision),
                               .last_good = step_state->sweep,
                               .apart = UNKNOWN_APART};
    if (!is_in_order(watch, reduction))
        return refuse_initial(step_state, reduction, err);
    const double scale = fmax(fabs(reduction->min), fabs(reduction->max)) +
                         hs_boundary_data_scale(problem, step_state->plan);
    if (scale > 0.0)
        watch->bound = fmin(watch->bound, out_of_scale * scale);
    return HS_OK;
}

/* A coarse look misses a narrow source, but not at a node where it has made the field large. */
static void look_closer(struct hs_watch *watch, const struct hs_step_state *step_state,
                        const int64_t worst[HS_AXES])
{
    const struct hs_problem *problem = step_state->problem;
    watch->bound += out_of_scale *
                    hs_boundary_data_scale_at(problem, step_state->plan, worst, step_state->sweep);
    watch->bound = fmin(watch->bound, hs_precision_most(problem->precision));
}

/* Why the field is out of order, as far as it can be told. */
static void say_cause(const struct hs_watch *watch, const struct hs_step_state *step_state,
                      bool is_finite, const int64_t worst[HS_AXES], char *out, size_t size)
{
    const struct hs_problem *problem = step_state->problem;
    const bool at_most = watch->bound >= hs_precision_most(problem->precision);
    if (is_finite && !at_most)
        snprintf(out, size,
                 "that is a million times beyond what initial field, walls and source can cause");
    else if (hs_boundary_data_find_excess(problem, step_state->plan, watch->last_good,
                                          step_state->sweep, worst, out, size))
        return;
    else if (at_most)
        snprintf(out, size,
                 "initial field, walls and source are so large that a %s cannot hold what is "
                 "computed from them; look at their units%s",
                 hs_precision_name(problem->precision),
                 problem->precision == HS_FLOAT ? ", or take precision = \"double\"" : "");
    else
        snprintf(out, size,
                 "look at the values of the walls' and the source's expressions at that time");
}

enum hs_status hs_watch_judge(struct hs_watch *watch, const struct hs_step_state *step_state,
                              const struct hs_reduction *reduction, struct hs_error *err)
{
    const char *name = hs_plan_step_name(step_state->plan);
    char worst[256], cause[1536];
    int64_t node[HS_AXES];
    if (!is_in_order(watch, reduction)) {
        HS_TRY(describe_worst(step_state, reduction, node, worst, sizeof worst, err));
        if (reduction->not_finite == 0)
            look_closer(watch, step_state, node);
    }
    if (is_in_order(watch, reduction)) {
        watch->last_good = step_state->sweep;
        return HS_OK;
    }
    say_cause(watch, step_state, reduction->not_finite == 0, node, cause, sizeof cause);
    return hs_error_add(err, HS_FAILED_CHECK,
                        "%s: diverged: %s, at %s %lld, t = %.9g s "
                        "(in order at %s %lld, t = %.9g s); %s; snapshots before it are kept",
                        hs_problem_config(step_state->problem), worst, name,
                        (long long)step_state->sweep, step_state->time, name,
                        (long long)watch->last_good,
                        hs_plan_time(step_state->plan, watch->last_good), cause);
}

void hs_watch_cost(struct hs_watch *watch, double look_seconds, double sweep_seconds)
{
    const bool known = look_seconds > 0.0 && sweep_seconds > 0.0;
    const double apart = ceil(look_seconds / (look_share * sweep_seconds));
    watch->apart = known ? (int64_t)fmin(fmax(apart, 16.0), 1e12) : UNKNOWN_APART;
}
