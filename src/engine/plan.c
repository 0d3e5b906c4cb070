#include "engine/plan.h"

#include "core/round.h"
#include "core/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void hs_plan_note(struct hs_plan *plan, const char *format, ...)
{
    if (plan->note[0])
        hs_text_append(plan->note, sizeof plan->note, "; ");
    const size_t used = strlen(plan->note);
    va_list args;
    va_start(args, format);
    vsnprintf(plan->note + used, sizeof plan->note - used, format, args);
    va_end(args);
}

const char *hs_choice_name(enum hs_choice choice)
{
    static const char *const names[] = {[HS_CHOICE_NAMED] = "named",
                                        [HS_CHOICE_HEURISTIC] = "heuristic",
                                        [HS_CHOICE_TUNED] = "tuned"};
    return names[choice];
}

/* The stretch of equal steps that contains sweep `sweep`. */
static struct hs_span stretch(const struct hs_plan *plan, int64_t sweep)
{
    const int64_t in_intervals = plan->intervals * plan->interval_sweeps;
    if (sweep < in_intervals) {
        const int64_t k = sweep / plan->interval_sweeps;
        return (struct hs_span){.count = (k + 1) * plan->interval_sweeps - sweep,
                                .first = sweep - k * plan->interval_sweeps,
                                .start = (double)k * plan->interval,
                                .step = plan->interval_step};
    }
    return (struct hs_span){.count = plan->sweeps - sweep,
                            .first = sweep - in_intervals,
                            .start = (double)plan->intervals * plan->interval,
                            .step = plan->tail_step};
}

double hs_plan_time(const struct hs_plan *plan, int64_t sweep)
{
    if (sweep == plan->sweeps && !isnan(plan->end))
        return plan->end;
    const struct hs_span span = stretch(plan, sweep);
    return hs_span_time(&span, 0);
}

double hs_plan_step(const struct hs_plan *plan)
{
    return plan->intervals > 0 ? plan->interval_step : plan->tail_step;
}

double hs_plan_step_of(const struct hs_plan *plan, int64_t sweep)
{
    return stretch(plan, sweep).step;
}

int64_t hs_plan_stages(const struct hs_plan *plan, const struct hs_problem *problem, double step)
{
    if (!plan->method->sweeps)
        return 1;
    return plan->cut ? 0 : plan->method->sweeps(problem, plan->limit, step);
}

double hs_plan_sweeps(const struct hs_plan *plan, const struct hs_problem *problem, int64_t from,
                      int64_t to)
{
    const int64_t even = plan->intervals * plan->interval_sweeps;
    const double before = (double)(hs_smaller(to, even) - hs_smaller(from, even));
    const double after = (double)(to - from) - before;
    return (before > 0.0 ? before * (double)hs_plan_stages(plan, problem, plan->interval_step)
                         : 0.0) +
           (after > 0.0 ? after * (double)hs_plan_stages(plan, problem, plan->tail_step) : 0.0);
}

double hs_plan_expected(const struct hs_plan *plan, const struct hs_problem *problem, int64_t from)
{
    const double longest = (double)hs_grid_longest(&problem->grid);
    const double left = (double)(plan->sweeps - from);
    return problem->schedule.steady ? fmin(left, 4.0 * longest * longest) : left;
}

const char *hs_plan_step_name(const struct hs_plan *plan)
{
    return hs_method_counts_sweeps(plan->method) ? "sweep" : "step";
}

double hs_plan_sweep_step(const struct hs_plan *plan)
{
    const double step = hs_plan_step(plan);
    return step > plan->limit ? plan->limit : step; /* a raw stencil has no limit (NaN) */
}

int64_t hs_plan_snapshots_after(const struct hs_plan *plan, int64_t sweep)
{
    if (sweep >= plan->sweeps)
        return 0;
    const int64_t every = plan->output_every;
    return every > 0 ? (plan->sweeps - 1) / every - sweep / every + 1 : 1;
}

int64_t hs_plan_snapshots(const struct hs_plan *plan)
{
    return 1 + hs_plan_snapshots_after(plan, 0);
}

int64_t hs_plan_stretch(const struct hs_plan *plan, const struct hs_problem *problem)
{
    const struct hs_schedule *schedule = &problem->schedule;
    const int64_t every[] = {plan->output_every, schedule->history_every,
                             schedule->steady ? schedule->steady_check_every : -1};
    int64_t least = plan->sweeps > 0 ? plan->sweeps : 1;
    for (size_t n = 0; n < sizeof every / sizeof *every; n++)
        if (every[n] > 0 && every[n] < least)
            least = every[n];
    return least;
}

struct hs_span hs_plan_span(const struct hs_plan *plan, const struct hs_problem *problem,
                            int64_t sweep, int64_t until)
{
    struct hs_span span = stretch(plan, sweep);
    if (span.count > until - sweep)
        span.count = until - sweep;
    span.op = hs_problem_operator(problem, span.step);
    return span;
}
