/* The result of a run. */
#include "engine/doubts/checks.h"
#include "engine/doubts/known.h"

#include <math.h>

/* A tolerance that suits kelvins lets a field of 1e-3 mol/m^3 be anything. */
static void doubt_tolerance(const struct hs_problem *problem, const struct hs_plan *plan,
                            const struct hs_loop_result *result, const double range[2],
                            struct hs_error *out)
{
    const struct hs_steady *steady = &result->steady;
    const double worth = plan->cut ? 0.1 : 0.01, width = range[1] - range[0];
    const double level = 1e-6 * fmax(fabs(range[0]), fabs(range[1]));
    const double distance = hs_steady_distance(steady);
    const bool searched = steady->reached && steady->trend != HS_STEADY_SOLVED &&
                          steady->change > 2.0 * steady->rounding;
    const double off = plan->cut         ? problem->schedule.tolerance
                       : !searched       ? NAN
                       : isnan(distance) ? hs_steady_most(steady)
                                         : distance;
    if (width > level && off > worth * width)
        hs_error_warn(
            out, hs_problem_place(problem, plan->cut ? HS_PLACE_TOLERANCE : HS_PLACE_RESIDUAL),
            "%s = %g: it lets %s be off by %.2g %s, and all temperatures of the run lie within "
            "%.2g; give a smaller one%s",
            plan->cut ? "time.tolerance" : "steady.tolerance",
            plan->cut ? problem->schedule.tolerance : steady->tolerance,
            plan->cut ? "each step" : "the steady state", off, hs_problem_difference_unit(problem),
            width, plan->cut ? "" : ", or a steady.method that solves for it");
}

/* Each sweep rounds each node. */
static void doubt_rounding(const struct hs_problem *problem, const struct hs_loop_result *result,
                           const double range[2], struct hs_error *out)
{
    const double worth = 0.01, of_a_sweep = 0.04; /* 0.01 to 0.08: docs/numerics.md */
    const double at = fmax(fabs(range[0]), fabs(range[1])), width = range[1] - range[0];
    const double off =
        of_a_sweep * hs_precision_epsilon(problem->precision) * at * (double)result->sweeps;
    if (off > worth * width && width > 0.0)
        hs_error_warn(out, problem->config_path,
                      "precision = \"%s\": the roundings of %lld sweeps may put it off by %.2g "
                      "%s, and all temperatures of the run lie within %.2g; give \"double\"",
                      hs_precision_name(problem->precision), (long long)result->sweeps, off,
                      hs_problem_difference_unit(problem), width);
}

void hs_doubts_of_result(const struct hs_problem *problem, const struct hs_plan *plan,
                         const struct hs_loop_result *result, struct hs_error *out)
{
    const double rounding = 1e-6; /* of the range: that of float, and of a solver's tolerance */
    double span[2], range[2] = {result->range[0], result->range[1]};
    const bool known =
        hs_doubts_initial_span(problem, span); /* a run that goes on has not seen it */
    for (int end = 0; end < 2 && known; end++)
        hs_doubts_widen(range, span[end]);
    doubt_tolerance(problem, plan, result, range, out);
    if (problem->precision == HS_FLOAT && !problem->raw && hs_plan_rounds_sweeps(plan) &&
        hs_plan_sweeps_singly(plan))
        doubt_rounding(problem, result, range, out);
    const double zero = known ? hs_doubts_absolute_zero(problem, span[0]) : NAN;
    if (result->last.min < zero - rounding * (range[1] - range[0]) && span[0] > zero)
        hs_error_warn(
            out, problem->config_path,
            "the lowest temperature is %.6g %s, below absolute zero; look at the signs: a flux "
            "is the heat that leaves, so one that heats is negative, and a source is the heat "
            "that is put in",
            result->last.min, hs_problem_temperature_unit(problem));
}
