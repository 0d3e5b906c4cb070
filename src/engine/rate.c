#include "engine/rate.h"

#include "core/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The values do not matter to the speed as long as they are ordinary numbers. */
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

struct lot {
    int64_t sweeps, reductions;
    double sweeping, reducing; /* s */
};

/* `count` sweeps from the run's beginning, as it makes them: from stop to stop, with a
 * reduction of the field at each. */
static enum hs_status make_lot(const struct hs_problem *problem, const struct hs_plan *plan,
                               struct hs_backend_state *state, int64_t count, struct lot *out,
                               struct hs_error *err)
{
    const int64_t stretch = hs_plan_stretch(plan, problem);
    *out = (struct lot){0};
    while (out->sweeps < count) {
        const int64_t stop = (out->sweeps / stretch + 1) * stretch;
        struct hs_span span = hs_plan_span(plan, problem, out->sweeps, stop < count ? stop : count);
        const bool stops = out->sweeps + span.count == stop;
        span.keep_last = stops;
        const double begin = hs_clock_now();
        enum hs_status st = plan->backend->sweep(state, &span, err);
        const double swept = hs_clock_now();
        struct hs_reduction reduction;
        if (!st && stops)
            st = plan->backend->reduce(state, &reduction, err);
        if (st)
            return st;
        out->sweeps += span.count;
        out->sweeping += swept - begin;
        out->reductions += stops;
        out->reducing += stops ? hs_clock_now() - swept : 0.0;
    }
    return HS_OK;
}

/* Twice as many sweeps each time, from the run's beginning, until one lot takes long enough. */
static enum hs_status time_sweeps(const struct hs_problem *problem, const struct hs_plan *plan,
                                  struct hs_backend_state *state, double budget,
                                  struct hs_rate *out, struct hs_error *err)
{
    double spent = 0.0;
    bool warm = false;
    for (int64_t count = 1; spent < budget; count *= 2) {
        if (count > plan->sweeps)
            count = plan->sweeps;
        struct lot lot;
        const enum hs_status st = make_lot(problem, plan, state, count, &lot, err);
        if (st)
            return st;
        const double seconds = lot.sweeping + lot.reducing;
        out->seconds_per_sweep = lot.sweeping / (double)lot.sweeps;
        out->seconds_per_reduction = lot.reductions ? lot.reducing / (double)lot.reductions : 0.0;
        spent += warm || seconds >= budget ? seconds : 0.0; /* the first warms up */
        warm = true;
    }
    return HS_OK;
}

enum hs_status hs_rate_measure(const struct hs_problem *problem, const struct hs_plan *plan,
                               double budget, struct hs_rate *out, struct hs_error *err)
{
    *out = (struct hs_rate){.seconds_per_sweep = NAN};
    struct hs_backend_state *state = NULL;
    enum hs_status st = plan->backend->create(problem, plan->kernel, problem->solver.device,
                                              problem->solver.threads, &state, err);
    if (!st)
        snprintf(out->device, sizeof out->device, "%s", plan->backend->describe(state));
    if (!st)
        st = upload_ones(problem, plan->backend, state, err);
    if (!st && plan->sweeps > 0)
        st = time_sweeps(problem, plan, state, budget, out, err);
    plan->backend->destroy(state);
    return st;
}
