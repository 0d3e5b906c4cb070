#include "output/steady_text.h"

#include "core/text.h"

#include <math.h>
#include <stdio.h>

void hs_steady_say_distance(const struct hs_steady *steady, const struct hs_problem *problem,
                            char *out, size_t size)
{
    const char *unit = hs_problem_difference_unit(problem);
    const char *precision = hs_precision_name(problem->precision);
    const double distance = hs_steady_distance(steady), most = hs_steady_most(steady);
    char bound[96] = "";
    if (isfinite(most))
        snprintf(bound, sizeof bound, ", at most %.2g %s%s", most, unit,
                 most > 4.0 * distance ? " if a slower mode is still hidden" : "");
    switch (steady->trend) {
    case HS_STEADY_SOLVED:
        snprintf(out, size, "the rates of change are %.2g of the initial field's",
                 steady->solution.residual);
        return;
    case HS_STEADY_TIME_DEPENDENT:
        snprintf(
            out, size,
            "the distance to the steady state is not known: the walls or the source change with "
            "time");
        return;
    case HS_STEADY_NONE:
        snprintf(out, size,
                 "no steady state in sight: the mean drifts, or the change no longer falls");
        return;
    case HS_STEADY_EARLY:
        if (isfinite(most))
            snprintf(out, size,
                     "at most %.2g %s from the steady state; the change does not fall evenly yet",
                     most, unit);
        else
            snprintf(out, size,
                     "the distance to the steady state is not known: the change does not fall "
                     "evenly yet");
        return;
    case HS_STEADY_EVEN:
    case HS_STEADY_ROUNDING:
        snprintf(out, size, "about %.2g %s from the steady state%s", distance, unit, bound);
        if (steady->trend == HS_STEADY_ROUNDING)
            hs_text_append(out, size, "; the change is at the rounding error of %s", precision);
        return;
    }
}

/* Settings that end the run about `more` sweeps later with the same steps, for --resume. */
static void say_end(const struct hs_problem *problem, const struct hs_plan *plan, int64_t sweep,
                    double more, char *out, size_t size)
{
    const double step = hs_plan_step(plan), end = hs_plan_time(plan, sweep) + more * step;
    const double interval = problem->schedule.output_interval;
    if (isnan(problem->schedule.end))
        snprintf(out, size, "--set time.sweeps=%.0f", (double)sweep + more);
    else if (plan->intervals > 0)
        snprintf(out, size, "--set time.end=%.9g", ceil(end / plan->interval) * plan->interval);
    else {
        snprintf(out, size, "--set time.step=%.17g --set time.end=%.17g", step, end);
        /* the interval was longer than the run, and would shorten the steps of a longer run */
        if (!isnan(interval))
            hs_text_append(out, size, " --set output.interval=%.17g",
                           fmax(rint(interval / step), 1.0) * step);
    }
}

static double round_up(double value, int64_t to)
{
    return ceil(value / (double)to) * (double)to;
}

void hs_steady_say_remedy(const struct hs_steady *steady, const struct hs_problem *problem,
                          const struct hs_plan *plan, int64_t sweep, char *out, size_t size)
{
    const double left =
        round_up(hs_steady_sweeps_left(steady), problem->schedule.steady_check_every);
    const bool is_float = problem->precision == HS_FLOAT;
    char end[160];
    if (isfinite(left)) {
        /* the last modes are the slowest: allow half as many sweeps again */
        say_end(problem, plan, sweep, round_up(1.5 * left, problem->schedule.steady_check_every),
                end, sizeof end);
        snprintf(out, size, "about %.0f more %ss are needed: continue with --resume %s", left,
                 hs_plan_step_name(plan), end);
    } else if (steady->trend == HS_STEADY_ROUNDING || steady->trend == HS_STEADY_SOLVED)
        snprintf(out, size, "give a larger tolerance%s",
                 is_float ? ", or precision = \"double\"" : "");
    else if (steady->trend == HS_STEADY_NONE)
        snprintf(out, size,
                 "does heat enter or leave that no wall balances? Give time.end instead of steady, "
                 "or hold the temperature of a wall");
    else if (steady->trend == HS_STEADY_TIME_DEPENDENT)
        snprintf(
            out, size,
            "where they change for ever there is no steady state: leave steady out; where they "
            "settle, give a later time.end or more time.sweeps");
    else
        snprintf(out, size, "give a later time.end, more time.sweeps, or a larger tolerance");
}
