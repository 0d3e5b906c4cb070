/*
 * From stop to stop: a stop is where an observer is due, the steady state or divergence is checked,
 * or a signal may be noticed.
 */
#include "engine/loop.h"

#include "core/clock.h"
#include "engine/initial.h"
#include "engine/method_memory.h"
#include "engine/steady.h"
#include "engine/steps/pulses.h"
#include "engine/watch.h"

#include <math.h>
#include <stdio.h>

/* One stretch of sweeps should take about this long [s], so that a signal is noticed soon. */
static const double stretch_seconds = 0.25;

struct loop {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    struct hs_observer *const *observers;
    int observer_count;
    const volatile int *interrupted;
    struct hs_method_state *method; /* of the method that this run uses (hs_plan_method) */
    struct hs_step_state_cache cache;
    struct hs_watch watch;
    struct hs_loop_result *result;
    double waits; /* s: until then it is not steady, as a wall or a source will change; or NaN */
    struct hs_solution solution; /* where a method solves */
    struct hs_solve_watch solve_watch;
    int64_t sweep;
    int64_t stretch; /* sweeps that take about stretch_seconds */
};

static struct hs_step_state step_state_of(struct loop *loop, enum hs_phase phase)
{
    return (struct hs_step_state){.problem = loop->problem,
                                  .plan = loop->plan,
                                  .phase = phase,
                                  .sweep = loop->sweep,
                                  .time = hs_plan_time(loop->plan, loop->sweep),
                                  .seconds = loop->result->seconds,
                                  .device = loop->plan->backend->describe(loop->cache.state),
                                  .steady = &loop->result->steady,
                                  .method = loop->method,
                                  .cache = &loop->cache};
}

/* Whether the observer is notified at any stop but causes none: it follows the clock, and a method
 * that jumps reaches the next stop of the others just as fast. */
static bool waits_for_others(const struct loop *loop, const struct hs_observer *observer)
{
    return observer->by_clock && hs_plan_jumps(loop->plan);
}

static enum hs_status notify(struct loop *loop, const struct hs_step_state *step_state, bool all,
                             int64_t before, struct hs_error *err)
{
    for (int i = 0; i < loop->observer_count; i++) {
        struct hs_observer *observer = loop->observers[i];
        if (!all && !waits_for_others(loop, observer) &&
            observer->next(observer->self, before) > loop->sweep)
            continue;
        HS_TRY(observer->notify(observer->self, step_state, err));
    }
    return HS_OK;
}

/* Whether the steady state is checked at this sweep: at multiples of check_every, and at the end in
 * any case. */
static bool is_steady_check(const struct loop *loop, int64_t sweep)
{
    const struct hs_schedule *schedule = &loop->problem->schedule;
    return schedule->steady &&
           (sweep == loop->plan->sweeps || sweep % schedule->steady_check_every == 0);
}

/* A field that rests is not steady as long as a wall or a source has yet to change. Looks again
 * after a tenth of the time until then, since by then they may have settled. */
static void wait_for_what_acts_later(struct loop *loop)
{
    const struct hs_pulse_ahead ahead = {hs_plan_time(loop->plan, loop->sweep), loop->plan->end,
                                         hs_plan_sweep_step(loop->plan),
                                         loop->problem->schedule.steady_tolerance};
    if (loop->result->steady.reached && !(ahead.now < loop->waits))
        loop->waits = ahead.now + 0.1 * (hs_pulses_ahead(loop->problem, &ahead) - ahead.now);
    if (ahead.now < loop->waits)
        loop->result->steady.reached = false;
}

/* The next multiple of check_every; INT64_MAX unless a steady state is sought. */
static int64_t next_steady_check(const struct loop *loop)
{
    const struct hs_schedule *schedule = &loop->problem->schedule;
    const int64_t every = schedule->steady_check_every;
    return schedule->steady ? (loop->sweep / every + 1) * every : INT64_MAX;
}

static int64_t next_due(const struct loop *loop)
{
    int64_t due = loop->plan->sweeps;
    for (int i = 0; i < loop->observer_count; i++) {
        const struct hs_observer *observer = loop->observers[i];
        if (waits_for_others(loop, observer))
            continue;
        const int64_t next = observer->next(observer->self, loop->sweep);
        due = next < due ? next : due;
    }
    const int64_t watch = loop->sweep + loop->watch.apart;
    due = watch < due && !hs_plan_jumps(loop->plan) ? watch : due;
    return due > loop->sweep ? due : loop->sweep + 1;
}

/* What will be asked about the sweep that ends at `until`: its change, and the field before it. A
 * steady check there may make it the last sweep. */
static struct hs_span keep_for(const struct loop *loop, int64_t until)
{
    const bool check = is_steady_check(loop, until);
    struct hs_span keep = {.keep_last = check};
    for (int i = 0; i < loop->observer_count; i++) {
        const struct hs_observer *observer = loop->observers[i];
        const bool due = check || until == loop->plan->sweeps ||
                         observer->next(observer->self, loop->sweep) <= until;
        keep.keep_last = keep.keep_last || (due && observer->wants_change);
        keep.keep_before = keep.keep_before || (due && observer->wants_before);
    }
    return keep;
}

/* Adapts the stretch to the rate measured, by at most a factor of 8 at a time. */
static void fit_stretch(struct loop *loop, int64_t count, double seconds)
{
    const double wanted = (double)count * stretch_seconds / fmax(seconds, 1e-9);
    const double most = 8.0 * (double)loop->stretch, least = (double)loop->stretch / 8.0;
    loop->stretch = (int64_t)fmin(fmin(fmax(wanted, fmax(least, 1.0)), most), 1e15);
}

static bool is_interrupted(const struct loop *loop)
{
    return loop->interrupted && *loop->interrupted;
}

static enum hs_status ask(struct loop *loop, struct hs_error *err)
{
    for (int i = 0; i < loop->observer_count; i++)
        if (loop->observers[i]->ask)
            HS_TRY(loop->observers[i]->ask(loop->observers[i]->self, err));
    return HS_OK;
}

/* Sweeps to `stop`, or to where a signal or an observer's failure is noticed. */
static enum hs_status sweep_to(struct loop *loop, int64_t stop, const struct hs_span *keep,
                               struct hs_error *err)
{
    while (loop->sweep < stop && !is_interrupted(loop)) {
        const bool whole = hs_plan_jumps(loop->plan) || loop->stretch >= stop - loop->sweep;
        const int64_t until = whole ? stop : loop->sweep + loop->stretch;
        struct hs_span span = hs_plan_span(loop->plan, loop->problem, loop->sweep, until);
        const bool last = loop->sweep + span.count == stop;
        span.keep_last = last && keep->keep_last;
        span.keep_before = last && keep->keep_before;
        loop->cache.reduction_valid = false;
        const double begin = hs_clock_now();
        enum hs_status st = loop->plan->method->advance(loop->method, loop->plan->backend,
                                                        loop->cache.state, &span, err);
        const double seconds = hs_clock_now() - begin;
        if (!st)
            st = ask(loop, err);
        if (st)
            return st == HS_INTERRUPTED ? HS_OK : st; /* the field is still that of loop->sweep */
        loop->sweep += span.count;
        loop->result->swept += span.count;
        loop->result->seconds += seconds;
        if (span.count == loop->stretch)
            fit_stretch(loop, span.count, seconds);
    }
    return HS_OK;
}

static void widen(struct hs_loop_result *result, const struct hs_reduction *reduction)
{
    result->range[0] = fmin(result->range[0], reduction->min);
    result->range[1] = fmax(result->range[1], reduction->max);
}

/* Reduces the field and judges it: HS_FAILED_CHECK if it has diverged. */
static enum hs_status look(struct loop *loop, struct hs_error *err)
{
    const struct hs_step_state step_state = step_state_of(loop, HS_PHASE_RUNNING);
    const struct hs_reduction *reduction;
    const double begin = hs_clock_now();
    HS_TRY(hs_step_state_reduction(&step_state, &reduction, err));
    struct hs_loop_result *result = loop->result;
    const double spent = hs_clock_now() - begin;
    result->reducing += spent;
    widen(result, reduction);
    hs_watch_cost(&loop->watch, spent,
                  result->swept > 0 ? result->seconds / (double)result->swept : NAN);
    return hs_watch_judge(&loop->watch, &step_state, reduction, err);
}

/* Notifies the observers of the failure that the message describes. */
static enum hs_status finish_failed(struct loop *loop, enum hs_phase phase, struct hs_error *err)
{
    loop->result->phase = phase;
    const struct hs_step_state step_state = step_state_of(loop, phase);
    HS_TRY(notify(loop, &step_state, true, loop->sweep, err));
    return HS_FAILED_CHECK;
}

/* From `loop->sweep`, of which all have been notified, to the end. */
static enum hs_status run(struct loop *loop, struct hs_error *err)
{
    enum hs_phase *phase = &loop->result->phase;
    *phase = HS_PHASE_RUNNING;
    while (!loop->result->steady.reached && loop->sweep < loop->plan->sweeps) {
        const int64_t before = loop->sweep;
        const int64_t due = next_due(loop), check = next_steady_check(loop);
        const int64_t stop = due < check ? due : check;
        const struct hs_span keep = keep_for(loop, stop);
        enum hs_status st = sweep_to(loop, stop, &keep, err);
        if (st == HS_FAILED_CHECK)
            return finish_failed(loop, HS_PHASE_UNSOLVED, err);
        if (!st)
            st = look(loop, err);
        if (st == HS_FAILED_CHECK)
            return finish_failed(loop, HS_PHASE_DIVERGED, err);
        HS_TRY(st);
        if (loop->sweep < stop) { /* a signal */
            *phase = HS_PHASE_STOPPED;
            break;
        }
        if (is_steady_check(loop, stop)) {
            hs_steady_look(&loop->result->steady, stop, &loop->cache.reduction);
            wait_for_what_acts_later(loop);
        }
        if (loop->result->steady.reached || stop == loop->plan->sweeps)
            break;
        const struct hs_step_state step_state = step_state_of(loop, HS_PHASE_RUNNING);
        HS_TRY(notify(loop, &step_state, false, before, err));
    }
    if (*phase == HS_PHASE_RUNNING)
        *phase = HS_PHASE_END;
    const struct hs_step_state last = step_state_of(loop, *phase);
    HS_TRY(notify(loop, &last, true, loop->sweep, err));
    return *phase == HS_PHASE_STOPPED ? HS_INTERRUPTED : HS_OK;
}

/* Passes the progress of the steady-state solution to the observers. Returns whether a signal asks
 * the method to stop. */
static bool notify_solving(void *self, const struct hs_solution *so_far)
{
    const struct loop *loop = self;
    for (int i = 0; i < loop->observer_count && loop->plan->steady_method; i++)
        if (loop->observers[i]->solving)
            loop->observers[i]->solving(loop->observers[i]->self, so_far);
    return is_interrupted(loop);
}

static enum hs_status check_solve(struct loop *loop, struct hs_error *err)
{
    const struct hs_method *method = loop->plan->steady_method;
    const double begin = hs_clock_now();
    const enum hs_status st =
        method->check_solve
            ? method->check_solve(loop->method, loop->problem->schedule.steady_tolerance, err)
            : HS_OK;
    loop->result->seconds += hs_clock_now() - begin; /* what it makes, solve takes */
    return st;
}

static enum hs_status check_advance(struct loop *loop, struct hs_error *err)
{
    const struct hs_method *method = loop->plan->method;
    return method->check_advance && loop->sweep < loop->plan->sweeps
               ? method->check_advance(loop->method, err)
               : HS_OK;
}

static enum hs_status upload(struct loop *loop, const struct hs_stored *from, struct hs_error *err)
{
    const struct hs_backend *backend = loop->plan->backend;
    return backend->begin ? backend->begin(loop->cache.state, from, err)
                          : hs_initial_upload(loop->problem, from, backend, loop->cache.state, err);
}

/* Creates the method, and checks that it can begin. */
static enum hs_status create_method(struct loop *loop, struct hs_error *err)
{
    const struct hs_method *method = hs_plan_method(loop->plan);
    if (method->create)
        HS_TRY(method->create(loop->problem, loop->plan->backend, loop->cache.state, &loop->method,
                              err));
    return loop->plan->steady_method ? check_solve(loop, err) : check_advance(loop, err);
}

/* Solves for the steady state if the method does, before the start is notified. */
static enum hs_status solve(struct loop *loop, struct hs_error *err)
{
    const struct hs_method *method = hs_plan_method(loop->plan);
    loop->solve_watch = (struct hs_solve_watch){loop, notify_solving};
    if (method->watch)
        method->watch(loop->method, &loop->solve_watch);
    if (!loop->plan->steady_method)
        return HS_OK;
    const double begin = hs_clock_now();
    const enum hs_status st =
        method->solve(loop->method, loop->plan->backend, loop->cache.state,
                      loop->problem->schedule.steady_tolerance, &loop->solution, err);
    loop->result->seconds += hs_clock_now() - begin;
    return st;
}

/* Uploads the field, creates the method, checks both, and notifies the observers of the start. */
static enum hs_status begin(struct loop *loop, const struct hs_loop_start *start,
                            struct hs_error *err)
{
    HS_TRY(upload(loop, start ? start->field : NULL, err));
    HS_TRY(create_method(loop, err));
    HS_TRY(solve(loop, err));
    const struct hs_step_state step_state = step_state_of(loop, HS_PHASE_START);
    const struct hs_reduction *reduction;
    HS_TRY(hs_step_state_reduction(&step_state, &reduction, err));
    widen(loop->result, reduction);
    hs_steady_begin(&loop->result->steady, loop->problem, loop->plan, loop->sweep, reduction);
    if (start && start->ended)
        hs_steady_take_up(&loop->result->steady, start->ended, reduction);
    wait_for_what_acts_later(loop);
    if (loop->plan->steady_method)
        hs_steady_solved(&loop->result->steady, &loop->solution);
    HS_TRY(hs_watch_begin(&loop->watch, &step_state, reduction, err));
    return notify(loop, &step_state, true, loop->sweep, err);
}

static enum hs_status create(struct loop *loop, struct hs_error *err)
{
    loop->cache.backend = loop->plan->backend;
    return loop->plan->backend->create(loop->problem, loop->plan->kernel, &loop->cache.state, err);
}

static void destroy(struct loop *loop)
{
    const struct hs_method *method = hs_plan_method(loop->plan);
    for (int i = 0; i < loop->observer_count; i++)
        if (loop->observers[i]->drain)
            loop->observers[i]->drain(loop->observers[i]->self);
    if (method->destroy)
        method->destroy(loop->method);
    loop->plan->backend->destroy(loop->cache.state);
}

enum hs_status hs_loop_run(const struct hs_problem *problem, const struct hs_plan *plan,
                           const struct hs_loop_start *start, struct hs_observer *const *observers,
                           int observer_count, const volatile int *interrupted,
                           struct hs_loop_result *out, struct hs_error *err)
{
    const struct hs_method *method = hs_plan_method(plan);
    struct loop loop = {.problem = problem,
                        .plan = plan,
                        .observers = observers,
                        .observer_count = observer_count,
                        .interrupted = interrupted,
                        .result = out,
                        .waits = NAN,
                        .sweep = start ? start->sweep : 0,
                        .stretch = hs_plan_sweeps_singly(plan) ? 4 : 1};
    *out = (struct hs_loop_result){.phase = HS_PHASE_START, .range = {INFINITY, -INFINITY}};
    HS_TRY(hs_method_check_memory(problem, plan, err));
    HS_TRY(create(&loop, err));
    snprintf(out->device, sizeof out->device, "%s", plan->backend->describe(loop.cache.state));
    enum hs_status st = begin(&loop, start, err);
    if (!st)
        st = run(&loop, err);
    out->sweeps = loop.sweep;
    out->time = hs_plan_time(plan, loop.sweep);
    out->last = loop.cache.reduction;
    if (loop.method && method->effort)
        method->effort(loop.method, &out->effort);
    destroy(&loop);
    return st;
}

static enum hs_status check_field(struct loop *loop, struct hs_error *err)
{
    const struct hs_step_state step_state = step_state_of(loop, HS_PHASE_START);
    const struct hs_reduction *reduction;
    HS_TRY(hs_step_state_reduction(&step_state, &reduction, err));
    return hs_watch_begin(&loop->watch, &step_state, reduction, err);
}

enum hs_status hs_loop_check(const struct hs_problem *problem, const struct hs_plan *plan,
                             struct hs_error *err)
{
    const struct hs_method *method = hs_plan_method(plan);
    struct hs_loop_result unused = {.seconds = 0.0};
    struct loop loop = {.problem = problem, .plan = plan, .result = &unused};
    HS_TRY(create(&loop, err));
    enum hs_status st = upload(&loop, NULL, err);
    if (!st && (method->check_solve || method->check_advance))
        st = create_method(&loop, err);
    if (!st && !plan->steady_method) /* else its solution is looked at */
        st = check_field(&loop, err);
    destroy(&loop);
    return st;
}
