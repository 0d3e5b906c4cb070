#include "engine/measure/rate.h"

#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The values do not affect the speed as long as they are ordinary numbers. */
static enum hs_status upload_ones(const struct hs_problem *problem,
                                  const struct hs_backend *backend, struct hs_backend_state *state,
                                  struct hs_error *err)
{
    const int64_t nx = problem->grid.points[HS_X], ny = problem->grid.points[HS_Y];
    void *plane = malloc((size_t)(nx * ny) * hs_precision_size(problem->precision));
    if (!plane)
        return hs_error_add(err, HS_DEVICE, "no memory for a plane of the field");
    for (int64_t n = 0; n < nx * ny; n++)
        hs_write(problem->precision, plane, n, 1.0);
    enum hs_status st = HS_OK;
    for (int64_t k = 0; k < problem->grid.points[HS_Z] && !st; k++) {
        const struct hs_box box = {{0, 0, k}, {nx, ny, k + 1}};
        st = backend->upload(state, &box, plane, err);
    }
    free(plane);
    return st;
}

/* Times the longest stable one; enough to tell how long the sweeps of a longer step take. */
static const double longest_tried = 20.0;

/* What makes the steps. */
struct trial {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    struct hs_backend_state *state;
    struct hs_method_state *method;
};

struct lot {
    double sweeps;
    int64_t steps, reductions;
    double sweeping, reducing; /* s */
};

/* Makes `count` steps from the beginning of the run, as the run does: from stop to stop, with a
 * reduction of the field at each. */
static enum hs_status make_lot(const struct trial *trial, int64_t count, struct lot *out,
                               struct hs_error *err)
{
    const struct hs_plan *plan = trial->plan;
    const int64_t stretch = hs_plan_stretch(plan, trial->problem);
    *out = (struct lot){0};
    while (out->steps < count) {
        const int64_t stop = (out->steps / stretch + 1) * stretch;
        struct hs_span span =
            hs_plan_span(plan, trial->problem, out->steps, stop < count ? stop : count);
        const bool stops = out->steps + span.count == stop;
        span.keep_last = stops;
        if (plan->method->sweeps)
            span.step = fmin(span.step, longest_tried * plan->limit);
        const double begin = hs_clock_now();
        enum hs_status st =
            plan->method->advance(trial->method, plan->backend, trial->state, &span, err);
        const double swept = hs_clock_now();
        struct hs_reduction reduction;
        if (!st && stops)
            st = hs_reduce(plan->backend, trial->state, trial->problem, &reduction, err);
        if (st)
            return st;
        out->steps += span.count;
        out->sweeps += (double)(span.count * hs_plan_stages(plan, trial->problem, span.step));
        out->sweeping += swept - begin;
        out->reductions += stops;
        out->reducing += stops ? hs_clock_now() - swept : 0.0;
    }
    return HS_OK;
}

/* Makes twice as many steps each time, from the beginning of the run, until they have taken long
 * enough or the whole run was made a few times. */
static enum hs_status time_steps(const struct trial *trial, double budget, struct hs_rate *out,
                                 struct hs_error *err)
{
    enum { WHOLE = 3 };
    double spent = 0.0;
    bool warm = false;
    int whole = 0;
    for (int64_t count = 1; spent < budget && whole < WHOLE; count *= 2) {
        if (count > trial->plan->sweeps)
            count = trial->plan->sweeps;
        struct lot lot;
        const enum hs_status st = make_lot(trial, count, &lot, err);
        if (st)
            return st;
        const double seconds = lot.sweeping + lot.reducing;
        out->seconds_per_sweep = lot.sweeping / lot.sweeps;
        out->seconds_per_reduction = lot.reductions ? lot.reducing / (double)lot.reductions : 0.0;
        spent += warm || seconds >= budget ? seconds : 0.0; /* the first warms up */
        warm = true;
        whole += count == trial->plan->sweeps;
    }
    return HS_OK;
}

enum hs_status hs_rate_measure(const struct hs_problem *problem, const struct hs_plan *plan,
                               double budget, struct hs_rate *out, struct hs_error *err)
{
    *out = (struct hs_rate){.seconds_per_sweep = NAN};
    const struct hs_method *method = plan->method;
    struct trial trial = {.problem = problem, .plan = plan};
    enum hs_status st = plan->backend->create(problem, plan->kernel, problem->solver.device,
                                              problem->solver.threads, &trial.state, err);
    if (!st)
        snprintf(out->device, sizeof out->device, "%s", plan->backend->describe(trial.state));
    if (!st)
        st = upload_ones(problem, plan->backend, trial.state, err);
    if (!st && plan->sweeps > 0 && method->create)
        st = method->create(problem, plan->backend, trial.state, &trial.method, err);
    if (!st && plan->sweeps > 0)
        st = time_steps(&trial, budget, out, err);
    if (method->destroy)
        method->destroy(trial.method);
    plan->backend->destroy(trial.state);
    return st;
}
