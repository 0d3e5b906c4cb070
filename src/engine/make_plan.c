#include "engine/make_plan.h"

#include "core/round.h"
#include "engine/choose_method.h"
#include "engine/method_memory.h"
#include "engine/range.h"
#include "engine/ranks/ranks.h"
#include "engine/registry.h"
#include "engine/stability.h"
#include "engine/walls/boundary_data.h"

#include <float.h>
#include <math.h>

/* A quotient of two config numbers counts as whole if it is so to their rounding. */
static const double whole_to = 1e-9;

/* Times computed from decimals agree to this share: each decimal, product and sum rounds. */
static const double rounding = 16.0 * DBL_EPSILON;

/* Growth per sweep that a raw stencil's decimals may cause (six times 0.1666666667). */
static const double amplification_slack = 1e-9;

/* Growth per sweep that looks like one of decimals (six times 0.167). */
static const double most_missing = 5e-3;

/* Sweep counts stay exact in a double, and so do times made of them. */
static const double most_sweeps = 9007199254740992.0; /* 2^53 */
static const double most_times_stable = 1e12;         /* 2e6 sweeps per step of rkl2 */

/* Six digits, rounded down: what is printed as allowed must be allowed. */
static double floor_to_six_digits(double value)
{
    const double unit = pow(10.0, floor(log10(value)) - 5.0);
    const double floored = floor(value / unit) * unit;
    return floored <= value ? floored : floored - unit;
}

static enum hs_status check_tolerance(const struct hs_problem *problem,
                                      const struct hs_method *method, struct hs_error *err)
{
    if (method->cuts || problem->schedule.tolerance == 0.0)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: time.tolerance = %.9g: time.method = \"%s\" does not choose its steps "
                        "by it; remove it, or take \"rkl2\" or \"implicit\"",
                        hs_problem_place(problem, HS_PLACE_TOLERANCE), problem->schedule.tolerance,
                        method->name);
}

/* For a method whose steps may be longer than a stable sweep. */
static enum hs_status free_step(const struct hs_problem *problem, const struct hs_method *method,
                                double *step, struct hs_error *err)
{
    const bool any = method->step_rule == HS_STEP_ANY || problem->schedule.tolerance > 0.0;
    if (!isnan(*step))
        return HS_OK;
    *step = INFINITY;
    if (any && !isnan(problem->schedule.end))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT, "%s: time.method = \"%s\": %s; give time.step%s",
                        hs_problem_place(problem, HS_PLACE_METHOD), method->name,
                        any ? "how long a step is must be said where time.sweeps counts them"
                            : "its error depends on the step, which it does not choose itself",
                        any            ? ", or time.end"
                        : method->cuts ? " in seconds, or time.tolerance in kelvins"
                                       : " in seconds");
}

/* The longest step allowed; also sets the plan's limit and amplification. */
static enum hs_status longest_step(const struct hs_problem *problem, struct hs_plan *plan,
                                   double *step, struct hs_error *err)
{
    const double given = problem->schedule.step;
    plan->limit = NAN;
    plan->amplification = NAN;
    *step = given;
    if (problem->raw) {
        const struct hs_stencil stencil = hs_problem_stencil(problem, given);
        plan->amplification = hs_amplification(problem, &stencil);
        if (plan->amplification <= 1.0 + amplification_slack)
            return HS_OK;
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: stencil: one sweep of these coefficients with these boundaries "
                            "multiplies some mode by %.9g, on a grid of many nodes, so a run would "
                            "blow up; %s",
                            hs_problem_place(problem, HS_PLACE_STENCIL), plan->amplification,
                            plan->amplification < 1.0 + most_missing
                                ? "give them more decimals, if they are to add up to 1"
                                : "scale them so that none is multiplied by more than 1");
    }
    plan->limit = hs_stability_limit(problem);
    if (!(plan->limit > 0.0) && problem->network)
        return hs_error_add(
            err, HS_BAD_INPUT,
            "%s: no step is short enough, since a node exchanges too much heat; look at the units "
            "of the walls' h, the materials' perfusion and conductivities",
            hs_problem_place(problem, HS_PLACE_BODY));
    if (!(plan->limit > 0.0))
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: boundary: these boundaries feed a mode that grows with any step; "
                            "is a robin h negative?",
                            hs_problem_config(problem));
    if (plan->method->step_rule != HS_STEP_STABLE)
        return free_step(problem, plan->method, step, err);
    if (isnan(given) && isinf(plan->limit))
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: walls hold every node, so nothing limits the step; give "
                            "time.step, or more points",
                            hs_problem_place(problem, HS_PLACE_POINTS));
    const bool unused = plan->steady_method && given > plan->limit; /* it goes through no time */
    if (isnan(given) || unused) {
        *step = problem->schedule.safety * plan->limit;
        return HS_OK;
    }
    if (given <= plan->limit * (1.0 + whole_to))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: time.step = %.9g: above the stability limit of %.9g s for this "
                        "stencil and its boundaries; give at most %.6g, or \"auto\"",
                        hs_problem_place(problem, HS_PLACE_STEP), given, plan->limit,
                        floor_to_six_digits(plan->limit));
}

/* The number of whole intervals in a length. */
static double intervals_of(double length, double interval)
{
    const double quotient = length / interval, nearest = rint(quotient);
    return fabs(quotient - nearest) <= whole_to * quotient ? nearest : floor(quotient);
}

/* The number of steps, none longer than `longest`, that a length is cut into. */
static double steps_of(double length, double longest)
{
    const double quotient = length / longest, nearest = rint(quotient);
    if (fabs(quotient - nearest) <= whole_to * quotient)
        return fmax(nearest, 1.0);
    return ceil(quotient);
}

/* The length of each of `count` equal steps in a length that ends at `time` [s]. Returns `wanted`
 * if that is equal to rounding, so that runs of different lengths have steps of the same bits. */
static double equal_step(double length, double count, double wanted, double time)
{
    return fabs(count * wanted - length) <= rounding * time ? wanted : length / count;
}

/* Cuts `length` [s], given by the config's `key` at a place, into *count equal steps. */
static enum hs_status cut(const struct hs_problem *problem, struct hs_plan *plan,
                          enum hs_place where, const char *key, double length, double longest,
                          int64_t *count, double *step, struct hs_error *err)
{
    const char *place = hs_problem_place(problem, where);
    const double given = where == HS_PLACE_END ? problem->schedule.end : length;
    const double n = steps_of(length, longest);
    if (!(n <= most_sweeps))
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: %s = %.9g: that is %.3g sweeps of %.3g s, more than can be "
                            "counted; give a shorter time or a coarser grid",
                            place, key, given, n, longest);
    *count = (int64_t)n;
    *step = equal_step(length, n, longest, length);
    const bool same = fabs(*step - longest) <= whole_to * longest;
    if (problem->raw && !same)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: %s = %.9g: not a multiple of the sweep's step of %.9g s, which a "
                            "raw stencil fixes; give a multiple, or time.sweeps and output.every",
                            place, key, given, longest);
    if (problem->raw)
        *step = longest;
    if (!same && !isnan(problem->schedule.step))
        hs_plan_note(plan, "step %.9g s shortened to %.9g s, so that %s = %.9g is hit exactly",
                     problem->schedule.step, *step, key, given);
    return HS_OK;
}

static enum hs_status cut_interval(const struct hs_problem *problem, struct hs_plan *plan,
                                   double longest, struct hs_error *err)
{
    plan->interval = problem->schedule.output_interval;
    return cut(problem, plan, HS_PLACE_INTERVAL, "output.interval", plan->interval, longest,
               &plan->interval_sweeps, &plan->interval_step, err);
}

/* Up to a time: whole intervals, then the rest. */
static enum hs_status plan_to_end(const struct hs_problem *problem, struct hs_plan *plan,
                                  double longest, struct hs_error *err)
{
    const double end = problem->schedule.end;
    plan->end = end;
    const double interval = problem->schedule.output_interval;
    if (end / interval > most_sweeps)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: output.interval = %.9g: that is %.3g snapshots, more than can be "
                            "counted; give a longer interval",
                            hs_problem_place(problem, HS_PLACE_INTERVAL), interval, end / interval);
    if (!isnan(interval))
        plan->intervals = (int64_t)intervals_of(end, interval);
    if (plan->intervals > 0)
        HS_TRY(cut_interval(problem, plan, longest, err));
    const double rest = end - (double)plan->intervals * plan->interval;
    int64_t tail = 0;
    if (rest > whole_to * plan->interval) {
        HS_TRY(cut(problem, plan, HS_PLACE_END, "time.end", rest, longest, &tail, &plan->tail_step,
                   err));
        if (plan->intervals > 0 && !problem->raw)
            plan->tail_step = equal_step(rest, (double)tail, plan->interval_step, end);
    }
    const double all = (double)plan->intervals * (double)plan->interval_sweeps + (double)tail;
    if (all > most_sweeps)
        return hs_error_add(err, HS_BAD_INPUT,
                            "%s: time.end = %.9g: that is %.3g sweeps, more than can be counted",
                            hs_problem_place(problem, HS_PLACE_END), end, all);
    plan->sweeps = plan->intervals * plan->interval_sweeps + tail;
    return HS_OK;
}

/* A given number of sweeps, with the step fitted to the output interval if there is one. */
static enum hs_status plan_sweeps(const struct hs_problem *problem, struct hs_plan *plan,
                                  int64_t sweeps, double longest, struct hs_error *err)
{
    plan->sweeps = sweeps;
    plan->tail_step = longest;
    if (!isnan(problem->schedule.output_interval)) {
        HS_TRY(cut_interval(problem, plan, longest, err));
        plan->intervals = sweeps / plan->interval_sweeps;
        plan->tail_step = plan->interval_step;
    }
    plan->end = hs_plan_time(plan, sweeps);
    return HS_OK;
}

/* Sweeps of a run without an end in time. */
static int64_t sweeps_asked(const struct hs_schedule *schedule, const struct hs_plan *plan)
{
    if (plan->steady_method)
        return 0;
    return schedule->sweeps >= 0 ? schedule->sweeps : HS_PLAN_MOST_SWEEPS;
}

/* ", or take "implicit"", if a step that takes too many sweeps can be solved for; else "". */
static const char *remedy_of_method(const struct hs_problem *problem)
{
    const struct hs_method *implicit = hs_method_named("implicit");
    if (implicit->suits(problem, NULL))
        return "";
    return hs_ranks_can(implicit) ? ", or take \"implicit\"" : ", or take \"implicit\" on one rank";
}

/* With a cell that is tiny by mistake, or a layer of atoms, a step of many sweeps never ends. */
static enum hs_status check_length(const struct hs_problem *problem, const struct hs_plan *plan,
                                   struct hs_error *err)
{
    const double times = hs_plan_step(plan) / plan->limit;
    if (!plan->method->sweeps || !(times > most_times_stable))
        return HS_OK;
    const char *other = remedy_of_method(problem);
    return hs_error_add(
        err, HS_BAD_INPUT,
        "%s: time.method = \"%s\": a step of %.3g s is %.3g times the longest stable "
        "sweep, and %.0e times are the most; look at the smallest cell%s give a %stime.step%s",
        hs_problem_place(problem, HS_PLACE_STEP), plan->method->name, hs_plan_step(plan), times,
        most_times_stable, *other ? "," : " or", isnan(problem->schedule.step) ? "" : "shorter ",
        other);
}

enum hs_status hs_plan_steps(const struct hs_problem *problem, struct hs_plan *out,
                             struct hs_error *err)
{
    const struct hs_schedule *schedule = &problem->schedule;
    *out = (struct hs_plan){.method = hs_methods[0], .end = NAN};
    double longest;
    /* both are reported at once */
    const enum hs_status range = hs_range_check_operator(problem, err);
    const enum hs_status named =
        hs_choose_method(hs_methods, problem, &out->method, &out->steady_method, err);
    HS_TRY(range);
    HS_TRY(named);
    if (!out->steady_method)
        HS_TRY(check_tolerance(problem, out->method, err));
    HS_TRY(longest_step(problem, out, &longest, err));
    out->cut = schedule->tolerance > 0.0 && !out->steady_method;
    if (!isnan(schedule->end))
        HS_TRY(plan_to_end(problem, out, longest, err));
    else
        HS_TRY(plan_sweeps(problem, out, sweeps_asked(schedule, out), longest, err));
    HS_TRY(check_length(problem, out, err));
    HS_TRY(hs_range_check_steps(problem, out, err));
    out->output_every = out->interval_sweeps > 0 ? out->interval_sweeps : -1;
    if (isnan(schedule->output_interval))
        out->output_every = schedule->output_every;
    return HS_OK;
}

/* If "auto" took a solver without enough memory, takes the next one that has it. If none has, the
 * choice stays, and is refused when the run begins. */
static void take_smaller_solver(const struct hs_problem *problem, struct hs_plan *plan)
{
    struct hs_plan next = *plan;
    enum hs_status fits = HS_DEVICE;
    for (int n = 0; next.steady_method && fits; n++) {
        fits = hs_method_check_memory(problem, &next, NULL);
        if (!fits && n > 0) {
            hs_plan_note(plan,
                         "steady.method \"auto\" takes %s, since %s needs more memory than is "
                         "free",
                         next.steady_method->name, plan->steady_method->name);
            plan->steady_method = next.steady_method;
        }
        if (fits)
            next.steady_method = hs_choose_next_solver(problem, next.steady_method);
    }
}

enum hs_status hs_plan_make(const struct hs_problem *problem, struct hs_plan *out,
                            struct hs_error *err)
{
    const struct hs_waking waking = hs_wake_begin(problem);
    const enum hs_status steps = hs_plan_steps(problem, out, err);
    hs_wake_end(&waking);
    char choice[512] = ""; /* even if the steps failed: all errors are reported at once */
    const enum hs_status chosen =
        hs_choose(problem, &out->backend, &out->kernel, choice, sizeof choice, err);
    HS_TRY(steps);
    HS_TRY(chosen);
    if (choice[0])
        hs_plan_note(out, "%s", choice);
    take_smaller_solver(problem, out);
    if (!out->steady_method)
        hs_choose_say_sweeps(problem, choice, sizeof choice);
    if (!out->steady_method && choice[0])
        hs_plan_note(out, "steady.method \"auto\" takes sweeps, whose tolerance is K a sweep: %s",
                     choice);
    out->choice = hs_kernel_is_named(problem) ? HS_CHOICE_NAMED : HS_CHOICE_HEURISTIC;
    if (!hs_plan_sweeps_singly(out) && out->choice == HS_CHOICE_HEURISTIC)
        out->kernel = hs_kernel_for_stages(problem, out->kernel);
    return HS_OK;
}

/* Whether the step that led to `sweep` in that run was `step`, to the bit. */
static bool was_step(const struct hs_plan_past *past, int64_t sweep, double step)
{
    const bool cut = !isnan(past->end) && !isnan(past->interval);
    const double intervals = cut ? intervals_of(past->end, past->interval) : 0.0;
    if (!(intervals > 0.0) || (double)sweep <= intervals * rint(past->interval / past->step))
        return step == past->step;
    const double rest = past->end - intervals * past->interval;
    return step == equal_step(rest, fmax(rint(rest / step), 1.0), past->step, past->end);
}

bool hs_plan_goes_on(const struct hs_plan *plan, const struct hs_plan_past *past, int64_t sweep,
                     double time)
{
    if (sweep > plan->sweeps || fabs(hs_plan_time(plan, sweep) - time) > 1e-6 * past->step)
        return false;
    const bool raw = isnan(plan->limit); /* its sweeps do not depend on the step's label */
    return sweep == 0 || raw ||
           (hs_plan_step(plan) == past->step &&
            was_step(past, sweep, hs_plan_step_of(plan, sweep - 1)));
}

int hs_plan_sweeps_at_once(const struct hs_plan *plan, const struct hs_problem *problem)
{
    struct hs_kernel_plan of_kernel;
    if (!plan->method->recursion || hs_boundary_data_in_time(problem) ||
        !hs_kernel_plan_here(plan->kernel, problem, &of_kernel, NULL, 0))
        return 0;
    return of_kernel.recursion;
}
