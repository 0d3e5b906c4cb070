/* Sweeps, steps and times. */
#include "engine/doubts/checks.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"
#include "engine/slowest.h"
#include "engine/steps/pulses.h"
#include "engine/walls/boundary_data.h"
#include "input/field_file.h"

#include <math.h>
#include <stdio.h>

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* A sweep multiplies a level field by the sum of its coefficients. Six times 0.166666 was to be 1,
 * and takes heat out of all nodes instead. */
static void doubt_raw_sum(const struct hs_problem *problem, const struct hs_plan *plan,
                          struct hs_error *out)
{
    const double most_missing = 5e-3, least_felt = 1e-4;
    double sum = 0.0, sweeps = (double)plan->sweeps, nodes = 0.0;
    for (int c = 0; c < hs_stencil_count(problem->grid.dims, problem->radius); c++)
        sum += problem->c[c];
    for (int axis = 0; axis < problem->grid.dims; axis++)
        nodes = fmax(nodes, (double)problem->grid.points[axis]);
    if (problem->schedule.steady) /* heat is out through the walls by then */
        sweeps = fmin(sweeps, nodes * nodes);
    if (problem->raw && fabs(sum - 1.0) < most_missing && sweeps * fabs(sum - 1.0) > least_felt)
        hs_error_warn(
            out, hs_problem_place(problem, HS_PLACE_STENCIL),
            "stencil: the coefficients add up to %.9g, so %.9g sweeps multiply a level field by "
            "%.6g; give them more decimals if they are to add up to 1",
            sum, sweeps, pow(sum, sweeps));
}

/* The factor of a sweep for the wave that changes its sign from each node to the next. */
static double factor_of_chequerboard(const struct hs_problem *problem, double step)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, step);
    double factor = stencil.c[0];
    for (int axis = 0; axis < stencil.dims; axis++)
        for (int offset = 1; offset <= stencil.radius; offset++)
            factor += (offset % 2 ? -1.0 : 1.0) *
                      (stencil.c[hs_stencil_index(stencil.radius, axis, offset)] +
                       stencil.c[hs_stencil_index(stencil.radius, axis, -offset)]);
    return factor;
}

/* Between insulated walls Jacobi's sweeps turn such a wave over for ever. */
static void doubt_turning(const struct hs_problem *problem, const struct hs_plan *plan,
                          struct hs_error *out)
{
    if (!problem->schedule.steady || plan->steady_method || problem->body ||
        plan->method->step_rule != HS_STEP_STABLE)
        return;
    const double step = hs_plan_step(plan), factor = factor_of_chequerboard(problem, step);
    const struct hs_stencil stencil = hs_problem_stencil(problem, step);
    const struct hs_slowest slowest = hs_slowest_mode(problem, &stencil, step);
    for (int axis = 0; axis < problem->grid.dims; axis++)
        if (problem->face[2 * axis].wrap && problem->grid.points[axis] % 2)
            return; /* its ends do not fit */
    if (slowest.free_mean && 1.0 + factor < 0.1 * slowest.decay)
        hs_error_warn(
            out, hs_problem_place(problem, HS_PLACE_RESIDUAL),
            "steady.tolerance: no wall damps a chequerboard, and each sweep multiplies it by "
            "%.6g; with one in the initial field there is no steady state: give %s",
            factor, problem->raw ? "a larger c0" : "a time.safety below 1");
}

/* m^2/s: the largest of the materials of a body; 0 if it has none. */
static double most_diffusivity(const struct hs_body *body)
{
    double most = 0.0;
    for (int n = 0; n < body->substance_count; n++)
        for (int a = 0; a < HS_AXES && body->substance[n].volume > 0.0; a++)
            most = fmax(most, body->substance[n].conductivity[a] / body->substance[n].capacity);
    return most;
}

/* m^2: square of the distance that heat spreads by the end, in a body at most; NaN if not known. */
static double spread(const struct hs_problem *problem)
{
    const double most = problem->body ? most_diffusivity(problem->body) : 0.0;
    if (problem->raw || (problem->body && !(most > 0.0)))
        return NAN;
    return (problem->body ? most : problem->material.diffusivity) * problem->schedule.end;
}

static void doubt_short_time(const struct hs_problem *problem, struct hs_error *out)
{
    const double least = 0.1; /* Fourier number of a cell */
    double spacing = INFINITY;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        spacing = fmin(spacing, problem->grid.spacing[axis]);
    if (spread(problem) < least * spacing * spacing)
        hs_error_warn(
            out, hs_problem_place(problem, HS_PLACE_END),
            "time.end = %g: until then heat spreads over about %.2g m, less than a spacing of "
            "%g m (the Fourier number of a cell is %.2g); look at the units of grid and time",
            problem->schedule.end, sqrt(spread(problem)), spacing,
            spread(problem) / (spacing * spacing));
}

static void doubt_long_time(const struct hs_problem *problem, struct hs_error *out)
{
    const double most = 1e4; /* Fourier number of the body: uniform to the last bit long before */
    double length = 0.0;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        length = fmax(length, hs_problem_length(problem, axis));
    if (!problem->body && spread(problem) > most * length * length &&
        !hs_boundary_data_in_time(problem))
        hs_error_warn(
            out, hs_problem_place(problem, HS_PLACE_END),
            "time.end = %g: heat crosses the whole grid, %.3g m, in about %.2g s; look at the "
            "units of grid and time",
            problem->schedule.end, length, length * length / problem->material.diffusivity);
}

/* A run begins at t = 0, whenever its initial field was. */
static void doubt_begin(const struct hs_problem *problem, struct hs_error *out)
{
    const struct hs_stored *stored = problem->initial.field.stored;
    const bool moves =
        hs_boundary_data_in_time(problem) || (hs_value_varies(&problem->exact.value) & HS_VARIES_T);
    const double begun = stored && moves ? hs_field_file_time(stored) : 0.0;
    if (begun > 0.0)
        hs_error_warn(out, hs_problem_place(problem, HS_PLACE_INITIAL),
                      "the file's field is of t = %.9g s, but this run begins at t = 0, with the "
                      "values that walls, source and exact solution have at t = 0; continue a run "
                      "with --resume, or write t + %.9g for t in the config",
                      begun, begun);
}

/* For steps that a tolerance cuts. True: it was one. */
static bool doubt_short_pulses(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_error *out)
{
    const char *place;
    const double t = hs_pulses_too_short(problem, hs_plan_step(plan), plan->end, &place);
    if (isnan(t))
        return false;
    hs_error_warn(out, place,
                  "the pulse at t = %.9g s lasts less than a thousandth of %.3g s, the time "
                  "between outputs, so the steps that the tolerance chooses may miss some of it; "
                  "give the mean in time, or a shorter output.interval",
                  t, hs_plan_step(plan));
    return true;
}

/* True: it was one. */
static bool doubt_pulses(const struct hs_problem *problem, const struct hs_plan *plan,
                         struct hs_error *out)
{
    const char *place;
    const double step = hs_plan_step(plan);
    if (plan->cut)
        return doubt_short_pulses(problem, plan, out);
    const double t = hs_pulses_unseen(problem, step, plan->end, &place);
    if (!isnan(t)) {
        hs_error_warn(
            out, place,
            "the pulse at t = %.9g s lies between two steps, which are %.3g s long, so the run "
            "misses it; give a shorter time.step, or a method with time.tolerance",
            t, step);
        return true;
    }
    const double share = hs_pulses_mistaken(problem, step, plan->end, &place);
    char most[48] = "far";
    if (share < 1.0)
        snprintf(most, sizeof most, "up to %.2g %%", 100.0 * share);
    if (share > 0.0)
        hs_error_warn(out, place,
                      "steps of %.3g s may take %s too much or too little of this, since it "
                      "changes within a step or where one ends; give a shorter time.step, or a "
                      "method with time.tolerance",
                      step, most);
    return share > 0.0;
}

/* What comes and goes between two rows, such as a junction's peak, is in no result. A run whose
 * only row is its last asks for the end alone. */
static void doubt_rows(const struct hs_problem *problem, const struct hs_plan *plan,
                       struct hs_error *out)
{
    const char *place;
    const int64_t steps = hs_plan_stretch(plan, problem);
    const double apart = (double)steps * hs_plan_step(plan);
    if (problem->schedule.steady || steps >= plan->sweeps)
        return;
    const double t = hs_pulses_unshown(problem, apart, plan->end, &place);
    if (!isnan(t))
        hs_error_warn(
            out, place,
            "the pulse at t = %.9g s lies between two rows of the history, which are %.3g s apart: "
            "no row and no snapshot shows the temperatures that it causes; give %s",
            t, apart, plan->cut ? "a shorter output.interval" : "output.history_every");
}

/* The method whose steps are cut to a tolerance and may have any length; of several the implicit
 * one, whose steps cost the same whatever their length. NULL: none suits the problem
 * and this number of ranks. */
static const struct hs_method *method_of_any_step(const struct hs_problem *problem)
{
    const struct hs_method *found = NULL;
    for (int n = 0; hs_methods[n]; n++) {
        const struct hs_method *method = hs_methods[n];
        if (method->cuts && hs_ranks_can(method) && (!found || method->implicit) &&
            !method->suits(problem, NULL))
            found = method;
    }
    return found;
}

static const double many_steps = 1e9; /* on any device a quarter of an hour or more */

static void doubt_many_sweeps(const struct hs_problem *problem, const struct hs_plan *plan,
                              struct hs_error *out)
{
    const struct hs_method *other = method_of_any_step(problem);
    if (other)
        hs_error_warn(
            out, hs_problem_place(problem, HS_PLACE_END),
            "time.end = %g: that takes %.2g sweeps, since no stable one is longer than %.2g s; "
            "time.method = \"%s\" with a time.tolerance takes steps of any length",
            problem->schedule.end, (double)plan->sweeps, plan->limit, other->name);
}

/* For a step that the config gives and that may be longer. */
static void doubt_short_step(const struct hs_problem *problem, const struct hs_plan *plan,
                             struct hs_error *out)
{
    char remedy[128] = "give a longer one";
    if (plan->method->step_rule == HS_STEP_STABLE)
        snprintf(remedy, sizeof remedy, "leave it out: the longest stable one is %.3g s",
                 plan->limit);
    else if (plan->method->cuts)
        snprintf(remedy, sizeof remedy, "give a longer one, or %s",
                 plan->cut ? "leave it out" : "a time.tolerance instead");
    hs_error_warn(out, hs_problem_place(problem, HS_PLACE_STEP),
                  "time.step = %g: that takes %.2g steps to time.end = %g; %s",
                  problem->schedule.step, (double)plan->sweeps, problem->schedule.end, remedy);
}

static void doubt_many_steps(const struct hs_problem *problem, const struct hs_plan *plan,
                             struct hs_error *out)
{
    const bool stable = plan->method->step_rule == HS_STEP_STABLE;
    if (!isfinite(problem->schedule.end) || !((double)plan->sweeps > many_steps))
        return;
    if (stable && !(problem->schedule.step < 0.5 * plan->limit)) /* NaN: chosen by the limit */
        doubt_many_sweeps(problem, plan, out);
    else if (!isnan(problem->schedule.step))
        doubt_short_step(problem, plan, out);
}

/* The tolerance cuts each step from output to output into parts, which have no rows. */
static bool doubt_cut_rows(const struct hs_problem *problem, const struct hs_plan *plan,
                           struct hs_error *out)
{
    const int64_t every = problem->schedule.history_every;
    if (!plan->cut || !isnan(problem->schedule.step) || every < 0)
        return false;
    hs_error_warn(
        out, hs_problem_place(problem, HS_PLACE_HISTORY),
        "output.history_every = %lld: there are rows at snapshots only, since the parts into which "
        "the tolerance cuts a step have none; remove it, or give time.step for more rows",
        (long long)every);
    return true;
}

/* Output every so many steps, of which the run has fewer. */
static void doubt_no_output(const struct hs_problem *problem, const struct hs_plan *plan,
                            struct hs_error *out)
{
    const struct {
        enum hs_place place;
        const char *key, *what;
        int64_t every;
    } outputs[] = {
        {HS_PLACE_EVERY, "output.every", "snapshot", problem->schedule.output_every},
        {HS_PLACE_HISTORY, "output.history_every", "row",
         doubt_cut_rows(problem, plan, out) ? -1 : problem->schedule.history_every},
    };
    for (int n = 0; n < 2 && !plan->steady_method && plan->sweeps > 0; n++)
        if (outputs[n].every > plan->sweeps)
            hs_error_warn(
                out, hs_problem_place(problem, outputs[n].place),
                "%s = %lld: the run has %lld %s%s%s, so it makes no %s on its way; give fewer, or "
                "output.interval",
                outputs[n].key, (long long)outputs[n].every, (long long)plan->sweeps,
                hs_plan_step_name(plan), plan->sweeps == 1 ? "" : "s",
                plan->cut ? " before the tolerance cuts them" : "", outputs[n].what);
}

/* Days or years for seconds: every snapshot also ends a step. */
static void doubt_much_output(const struct hs_problem *problem, const struct hs_plan *plan,
                              struct hs_error *out)
{
    const double many_snapshots = 1e5;
    if (plan->intervals > many_snapshots && !isnan(problem->schedule.output_interval))
        hs_error_warn(out, hs_problem_place(problem, HS_PLACE_INTERVAL),
                      "output.interval = %g: that makes %lld snapshots, and no step can be longer "
                      "than the interval; it is in s",
                      problem->schedule.output_interval, (long long)plan->intervals);
}

/* ---- all of them ----------------------------------------------------------------------------- */

void hs_doubts_of_steps(const struct hs_problem *problem, const struct hs_plan *plan,
                        struct hs_error *out)
{
    doubt_short_time(problem, out);
    doubt_long_time(problem, out);
    doubt_begin(problem, out);
    doubt_raw_sum(problem, plan, out);
    doubt_turning(problem, plan, out);
    doubt_no_output(problem, plan, out);
    doubt_much_output(problem, plan, out);
    if (!doubt_pulses(problem, plan, out))
        doubt_rows(problem, plan, out);
    doubt_many_steps(problem, plan, out);
}
