#include "engine/measure/rate.h"

#include "core/clock.h"
#include "core/round.h"
#include "engine/measure/candidate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Times the longest stable one; enough to tell how long the sweeps of a longer step take. */
static const double longest_tried = 20.0;

struct lot {
    double sweeps;
    int64_t steps, reductions;
    double sweeping, reducing; /* s */
};

/* Makes `count` steps from the beginning of the run, as the run does: from stop to stop, with a
 * reduction of the field at each. */
static enum hs_status make_lot(const struct hs_candidate *candidate, struct hs_method_state *method,
                               int64_t count, struct lot *out, struct hs_error *err)
{
    const struct hs_plan *plan = candidate->plan;
    struct hs_backend_state *state = candidate->timing.state;
    const int64_t stretch = hs_plan_stretch(plan, candidate->problem);
    *out = (struct lot){0};
    while (out->steps < count) {
        const int64_t stop = (out->steps / stretch + 1) * stretch;
        struct hs_span span =
            hs_plan_span(plan, candidate->problem, out->steps, stop < count ? stop : count);
        const bool stops = out->steps + span.count == stop;
        span.keep_last = stops;
        if (plan->method->sweeps)
            span.step = fmin(span.step, longest_tried * plan->limit);
        const double begin = hs_clock_now();
        HS_TRY(plan->method->advance(method, plan->backend, state, &span, err));
        const double swept = hs_clock_now();
        struct hs_reduction reduction;
        if (stops)
            HS_TRY(hs_reduce(plan->backend, state, candidate->problem, &reduction, err));
        out->steps += span.count;
        out->sweeps += (double)(span.count * hs_plan_stages(plan, candidate->problem, span.step));
        out->sweeping += swept - begin;
        out->reductions += stops;
        out->reducing += stops ? hs_clock_now() - swept : 0.0;
    }
    return HS_OK;
}

/* Makes twice as many steps each time, from the beginning of the run, until they have taken long
 * enough or the whole run was made a few times. The first two lots warm up: in each a field is
 * written, and sent to other ranks, for the first time. */
static enum hs_status time_steps(const struct hs_candidate *candidate,
                                 struct hs_method_state *method, double budget, struct hs_rate *out,
                                 struct hs_error *err)
{
    enum { WARM = 2, WHOLE = 3 };
    const double long_enough = 10.0 * budget; /* for what is done once not to matter */
    const int64_t all = candidate->plan->sweeps;
    double spent = 0.0;
    int64_t count = 1;
    for (int lots = 0, whole = 0; spent < budget && whole < WHOLE; lots++) {
        struct lot lot;
        HS_TRY(make_lot(candidate, method, count, &lot, err));
        const double seconds = lot.sweeping + lot.reducing;
        out->seconds_per_sweep = lot.sweeping / lot.sweeps;
        out->seconds_per_reduction = lot.reductions ? lot.reducing / (double)lot.reductions : 0.0;
        spent += lots >= WARM || seconds >= long_enough ? seconds : 0.0;
        whole += count == all;
        if (seconds < budget)
            count = hs_smaller(2 * count, all);
    }
    return HS_OK;
}

enum hs_status hs_rate_measure(const struct hs_problem *problem, const struct hs_plan *plan,
                               double budget, struct hs_rate *out, struct hs_error *err)
{
    *out = (struct hs_rate){.seconds_per_sweep = NAN};
    const struct hs_method *method = plan->method;
    void *ones = hs_candidate_plane(problem, false, err);
    if (!ones)
        return HS_DEVICE;
    struct hs_candidate candidate = {.problem = problem, .plan = plan, .plane = ones};
    struct hs_method_state *self = NULL;
    enum hs_status st = hs_candidate_begin(&candidate, plan->kernel, err);
    if (!st)
        snprintf(out->device, sizeof out->device, "%s",
                 plan->backend->describe(candidate.timing.state));
    if (!st && plan->sweeps > 0 && method->create)
        st = method->create(problem, plan->backend, candidate.timing.state, &self, err);
    if (!st && plan->sweeps > 0)
        st = time_steps(&candidate, self, budget, out, err);
    if (method->destroy)
        method->destroy(self);
    hs_candidate_end(&candidate);
    free(ones);
    return st;
}
