#include "engine/range.h"

#include "core/memory.h"
#include "engine/threads.h"
#include "functions/fields.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char look_at_units[] = "look at the units";

/* Weights of a wall beyond this are not physical: with a Biot number of 1e30 its temperature is
 * fixed to the last bit. */
static const double largest_weight = 1e30;

/* 1/s: faster rates, at which a node follows its surroundings, cannot be computed. The limit of the
 * step is about the rate's inverse, and the symbol some 12 times the rate. */
static const double largest_rate = DBL_MAX / 1e3;

/* 1/s: the rate at which a node follows its neighbours along an axis. */
static double rate(const struct hs_problem *problem, int axis)
{
    const double h = problem->grid.spacing[axis];
    return problem->material.diffusivity / (h * h);
}

static enum hs_status check_material(const struct hs_problem *problem, struct hs_error *err)
{
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        const double found = rate(problem, axis);
        if (!isnormal(found) || !isnormal(1.0 / found) || found > largest_rate)
            return hs_error_add(err, HS_BAD_INPUT,
                                "%s: material: a diffusivity of %g m^2/s and a spacing of %g m "
                                "along %c cannot be computed with; %s",
                                hs_problem_config(problem), problem->material.diffusivity,
                                problem->grid.spacing[axis], "xyz"[axis], look_at_units);
    }
    return HS_OK;
}

static enum hs_status check_coefficients(const struct hs_problem *problem, struct hs_error *err)
{
    double sum = 0.0;
    for (int i = 0; i < hs_stencil_count(problem->grid.dims, problem->radius); i++)
        sum += fabs(problem->c[i]);
    if (sum <= largest_weight)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: stencil: coefficients of %g in all cannot be computed with; scale "
                        "them so that no mode is multiplied by more than 1",
                        hs_problem_place(problem, HS_PLACE_STENCIL), sum);
}

static enum hs_status check_walls(const struct hs_problem *problem, struct hs_error *err)
{
    for (int f = 0; f < 2 * problem->grid.dims; f++)
        for (int m = 0; m < problem->radius; m++) {
            const double edge = problem->face[f].b[m], data = problem->face[f].c[m];
            if (fabs(edge) <= largest_weight && fabs(data) <= largest_weight)
                continue;
            return hs_error_add(
                err, HS_BAD_INPUT,
                "%s: boundary.%s: this wall's data, times the spacing of %g m over the "
                "conductivity, have a weight of %g, which cannot be computed with; %s",
                hs_problem_config(problem), hs_face_name(f), problem->grid.spacing[f / 2],
                fmax(fabs(edge), fabs(data)), look_at_units);
        }
    return HS_OK;
}

enum hs_status hs_range_check_operator(const struct hs_problem *problem, struct hs_error *err)
{
    if (problem->body) /* numbers that cannot be computed with made no network */
        return HS_OK;
    if (hs_grid_is_stretched(&problem->grid))
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: grid: the cells of an axis differ, and a stencil needs one "
                            "spacing along each; give a material, radius 1 and no raw coefficients",
                            hs_problem_config(problem));
    HS_TRY(problem->raw ? check_coefficients(problem, err) : check_material(problem, err));
    return check_walls(problem, err);
}

static double least_of(const struct hs_problem *problem)
{
    return problem->precision == HS_FLOAT ? FLT_MIN : DBL_MIN;
}

/* Whether the precision can hold the numbers that a step [s] makes of a row. */
static bool is_held(const struct hs_problem *problem, const struct hs_network_row *row, double step)
{
    const double least = least_of(problem);
    const double most = problem->precision == HS_FLOAT ? (double)FLT_MAX : DBL_MAX;
    const double rate = step / row->capacity;
    double exchange = row->sink;
    bool held = row->kind != HS_NODE_FREE || (rate >= least && rate <= most);
    for (int axis = 0; axis < HS_AXES; axis++) {
        const double conductance = row->conductance[axis];
        exchange += conductance;
        held = held && (conductance == 0.0 || (conductance >= least && conductance <= most));
    }
    return held && row->sink <= most &&
           (row->kind != HS_NODE_FREE || exchange / row->capacity <= largest_rate);
}

static enum hs_status check_network_step(const struct hs_problem *problem, double step,
                                         struct hs_error *err)
{
    int64_t count;
    const struct hs_network_row *row = hs_network_rows(problem->network, &count);
    int64_t first = count; /* first row that is not held */
#pragma omp parallel for num_threads(hs_threads_of(problem)) schedule(static) reduction(min : first)
    for (int64_t n = 0; n < count; n++)
        if (n < first && !is_held(problem, &row[n], step))
            first = n;
    if (first == count)
        return HS_OK;
    row += first;
    if (row->kind == HS_NODE_FREE && step / row->capacity < least_of(problem) &&
        !isnan(problem->schedule.step))
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: time.step: a step of %g s over a heat capacity of %g J/K is a "
                            "number that %s cannot hold; give a longer step, or %s",
                            hs_problem_place(problem, HS_PLACE_STEP), step, row->capacity,
                            hs_precision_name(problem->precision), look_at_units);
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: a node has a heat capacity of %g J/K and conducts %g, %g and %g W/K "
                        "to its neighbours and %g W/K by convection and perfusion; with a step of "
                        "%g s this makes numbers that %s cannot hold; %s",
                        hs_problem_place(problem, HS_PLACE_BODY), row->capacity,
                        row->conductance[HS_X], row->conductance[HS_Y], row->conductance[HS_Z],
                        row->sink, step, hs_precision_name(problem->precision), look_at_units);
}

/* A step [s] must move heat along every axis. */
static enum hs_status check_step(const struct hs_problem *problem, double step,
                                 struct hs_error *err)
{
    if (problem->network)
        return check_network_step(problem, step, err);
    const double least = least_of(problem);
    for (int axis = 0; axis < problem->grid.dims && !problem->raw; axis++) {
        const double number = rate(problem, axis) * step;
        if (!(number >= least) || !isfinite(step))
            return hs_error_add(err, HS_BAD_INPUT,
                                "%s: time.step: a step of %g s with a diffusivity of %g m^2/s and "
                                "a spacing of %g m along %c has a Fourier number of %g, which %s "
                                "cannot hold; give a longer step, or %s",
                                hs_problem_place(problem, HS_PLACE_STEP), step,
                                problem->material.diffusivity, problem->grid.spacing[axis],
                                "xyz"[axis], number, hs_precision_name(problem->precision),
                                look_at_units);
    }
    return HS_OK;
}

enum { MOST_NODES = 1 << 22 }; /* most of a source that are checked: takes less than a second */

/* K: the most that a source constant in time adds to a node in a step [s], or any amount that the
 * precision can hold; NaN: it changes in time, or was not checked. */
static double most_added(const struct hs_problem *problem, double step)
{
    const struct hs_grid *grid = &problem->grid;
    const struct hs_source *source = &problem->source;
    const bool on_disk = source->field.stored && !source->field.data;
    double most = 0.0, *row;
    if (on_disk && !problem->body)
        return fabs(source->field.stored->extreme * hs_problem_source_scale(problem, step));
    if (on_disk || (hs_problem_own_source_varies(problem) & HS_VARIES_T) ||
        hs_grid_count(grid) > MOST_NODES)
        return NAN;
    row = hs_new((size_t)grid->points[HS_X] * sizeof *row);
    for (int64_t n = 0; n < grid->points[HS_Y] * grid->points[HS_Z] && !(most >= least_of(problem));
         n++) {
        hs_problem_source_row(problem, step, 0.0, n % grid->points[HS_Y], n / grid->points[HS_Y],
                              row);
        for (int64_t i = 0; i < grid->points[HS_X]; i++)
            most = fmax(most, fabs(row[i]));
    }
    free(row);
    return most;
}

/* What a source adds may be too small at some nodes, but not at all nodes where it acts. */
static enum hs_status check_source_is_held(const struct hs_problem *problem, double step,
                                           struct hs_error *err)
{
    const double most = problem->source.present ? most_added(problem, step) : NAN;
    if (!(most > 0.0) || !(most < least_of(problem)))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: adds at most %.3g K in a step of %g s, and %s cannot hold a number so "
                        "small; give 0, or choose other units%s",
                        hs_problem_place(problem, HS_PLACE_SOURCE), most, step,
                        hs_precision_name(problem->precision),
                        problem->precision == HS_FLOAT ? ", or precision = \"double\"" : "");
}

/* Checks all numbers of a file for the source, as what a sweep of `step` [s] adds. */
static enum hs_status check_source(const struct hs_problem *problem, double step,
                                   struct hs_error *err)
{
    const struct hs_grid *grid = &problem->grid;
    const struct hs_stored *stored = problem->source.field.stored;
    const double scale = hs_problem_source_scale(problem, step);
    const double most = problem->precision == HS_FLOAT ? (double)FLT_MAX : DBL_MAX;
    if (!stored || (fabs(stored->extreme) <= DBL_MAX && fabs(stored->extreme * scale) <= most))
        return HS_OK;
    int64_t node[HS_AXES];
    hs_grid_node(grid, stored->extreme_node, node);
    char number[32] = "not a number (NaN)", at[160]; /* printf would give it a sign */
    if (!isnan(stored->extreme))
        snprintf(number, sizeof number, "%g", stored->extreme);
    hs_grid_name_node(grid, node, at, sizeof at);
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s is %s at %s; it must be a finite number everywhere, and so must what a "
                        "step of %g s makes of it in %s",
                        hs_problem_place(problem, HS_PLACE_SOURCE), number, at, step,
                        hs_precision_name(problem->precision));
}

enum hs_status hs_range_check_steps(const struct hs_problem *problem, const struct hs_plan *plan,
                                    struct hs_error *err)
{
    const int64_t even = plan->intervals * plan->interval_sweeps;
    if (even > 0)
        HS_TRY(check_step(problem, plan->interval_step, err));
    if (plan->sweeps > even)
        HS_TRY(check_step(problem, plan->tail_step, err));
    const double longest = fmax(even > 0 ? plan->interval_step : 0.0, plan->tail_step);
    HS_TRY(check_source(problem, longest, err));
    HS_TRY(check_source_is_held(problem, longest, err));
    if (!isfinite(plan->end))
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: time.sweeps: %lld sweeps of %g s end later than can be counted; "
                            "give fewer sweeps, or %s",
                            hs_problem_place(problem, HS_PLACE_END), (long long)plan->sweeps,
                            hs_plan_step(plan), look_at_units);
    return HS_OK;
}
