/* The loop over a stand-in backend: one number, which each sweep changes by a rule. */
#include "engine/loop.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct hs_backend_state {
    double T, change;
    struct hs_partial partial;
    int64_t sweep;
};

static struct {
    double factor, added;      /* T = factor*T + added */
    int64_t poison_at;         /* this sweep produces NaN; 0: none */
    int64_t interrupt_at;      /* this sweep gets a signal; 0: none */
    int64_t fail_at;           /* this sweep fails */
    double seconds;            /* per sweep */
    double look_seconds;       /* per reduction */
    int downloads, reductions; /* calls seen */
    int64_t longest;           /* longest span */
    int kept;                  /* spans that were to keep the field before */
    int alive;                 /* states not destroyed */
} rule;

static volatile int interrupted;

static enum hs_status create(const struct hs_problem *problem, const struct hs_kernel *kernel,
                             struct hs_backend_state **out, struct hs_error *err)
{
    *out = calloc(1, sizeof **out);
    rule.alive++;
    return HS_OK;
}

static enum hs_status upload(struct hs_backend_state *s, const struct hs_box *box,
                             const void *values, struct hs_error *err)
{
    s->T = *(const double *)values;
    s->change = NAN;
    return HS_OK;
}

static enum hs_status download(struct hs_backend_state *s, const struct hs_box *box, void *values,
                               struct hs_error *err)
{
    for (int64_t n = 0; n < hs_box_count(box); n++)
        ((double *)values)[n] = s->T;
    rule.downloads++;
    return HS_OK;
}

static void pass_time(double t)
{
    if (t > 0.0)
        nanosleep(&(struct timespec){(time_t)t, (long)(1e9 * fmod(t, 1.0))}, NULL);
}

static enum hs_status sweep(struct hs_backend_state *s, const struct hs_span *span,
                            struct hs_error *err)
{
    s->change = NAN;
    for (int64_t n = 0; n < span->count; n++) {
        const double before = s->T;
        s->T = rule.factor * s->T + rule.added;
        s->sweep = span->first + n + 1;
        if (s->sweep == rule.poison_at)
            s->T = NAN;
        if (s->sweep == rule.interrupt_at)
            interrupted = 1;
        if (s->sweep == rule.fail_at)
            return hs_error_add(err, HS_DEVICE, "device lost");
        if (n == span->count - 1 && span->keep_last)
            s->change = fabs(s->T - before);
    }
    pass_time(rule.seconds * (double)span->count);
    rule.kept += span->keep_before;
    assert_true(span->keep_last || !span->keep_before);
    rule.longest = span->count > rule.longest ? span->count : rule.longest;
    return HS_OK;
}

/* The grid has one piece. */
static enum hs_status reduce(struct hs_backend_state *s, const struct hs_partial **out,
                             struct hs_error *err)
{
    pass_time(rule.look_seconds);
    s->partial = (struct hs_partial){.min = fmin(s->T, 0.0),
                                     .max = fmax(s->T, 0.0),
                                     .sum.sum = s->T,
                                     .volume.sum = 1.0,
                                     .change = s->change,
                                     .bad = isfinite(s->T) ? 0 : 1};
    *out = &s->partial;
    rule.reductions++;
    return HS_OK;
}

static const char *describe(const struct hs_backend_state *s)
{
    return "a stand-in";
}

static void destroy(struct hs_backend_state *s)
{
    if (s)
        rule.alive--;
    free(s);
}

static const struct hs_backend stand_in = {.name = "stand-in",
                                           .create = create,
                                           .upload = upload,
                                           .download = download,
                                           .sweep = sweep,
                                           .reduce = reduce,
                                           .describe = describe,
                                           .destroy = destroy};

/* An observer that is due every `every` sweeps and records what it is told. */
struct diary {
    int64_t every;
    bool wants_field, wants_node;
    int count;
    int64_t sweep[2000];
    double time[2000], change[2000];
    enum hs_phase phase[2000];
    enum hs_status answer;
    int fails_after; /* after it was asked so many times; 0: never */
};

static int64_t diary_next(void *self, int64_t s)
{
    const struct diary *d = self;
    return d->every > 0 ? (s / d->every + 1) * d->every : INT64_MAX;
}

static enum hs_status diary_notify(void *self, const struct hs_step_state *m, struct hs_error *err)
{
    struct diary *d = self;
    const struct hs_reduction *r;
    double field[64];
    double node;
    const int64_t origin[HS_AXES] = {0, 0, 0};
    assert_int_equal(hs_step_state_reduction(m, &r, err), HS_OK);
    if (d->wants_field) {
        const struct hs_box box = hs_grid_box(&m->problem->grid);
        assert_true(hs_box_count(&box) <= (int64_t)(sizeof field / sizeof *field));
        assert_int_equal(hs_step_state_box(m, false, &box, field, err), HS_OK);
        if (isfinite(r->max))
            assert_true(field[0] == r->max);
    }
    if (d->wants_node)
        assert_int_equal(hs_step_state_node(m, origin, &node, err), HS_OK);
    d->sweep[d->count] = m->sweep;
    d->time[d->count] = m->time;
    d->change[d->count] = r->change;
    d->phase[d->count++] = m->phase;
    return d->answer ? hs_error_add(err, d->answer, "the disk is full") : HS_OK;
}

static enum hs_status diary_ask(void *self, struct hs_error *err)
{
    struct diary *d = self;
    return d->fails_after > 0 && --d->fails_after == 0
               ? hs_error_add(err, HS_IO, "the disk is full")
               : HS_OK;
}

static struct hs_observer observer_of(struct diary *diary, bool wants_change)
{
    return (struct hs_observer){.name = "diary",
                                .self = diary,
                                .wants_change = wants_change,
                                .next = diary_next,
                                .notify = diary_notify,
                                .ask = diary_ask};
}

static struct hs_problem make(double initial)
{
    struct hs_problem problem = make_line(5, 1.0);
    problem.initial.field.value.constant = initial;
    memset(&rule, 0, sizeof rule);
    rule.factor = 1.0;
    interrupted = 0;
    return problem;
}

extern const struct hs_method hs_method_euler;

static struct hs_plan plan_for(int64_t sweeps)
{
    return (struct hs_plan){.method = &hs_method_euler,
                            .backend = &stand_in,
                            .sweeps = sweeps,
                            .tail_step = 0.5,
                            .end = 0.5 * (double)sweeps};
}

static enum hs_status run(const struct hs_problem *problem, const struct hs_plan *plan,
                          struct diary *diary, bool wants_change, struct hs_loop_result *result,
                          struct hs_error *err)
{
    struct hs_observer observer = observer_of(diary, wants_change);
    struct hs_observer *observers[] = {&observer};
    const enum hs_status st =
        hs_loop_run(problem, plan, NULL, observers, 1, &interrupted, result, err);
    assert_int_equal(rule.alive, 0);
    return st;
}

void test_loop__tells_observers_at_the_start_when_due_and_at_the_end(void **state)
{
    const struct hs_problem problem = make(1.0);
    const struct hs_plan plan = plan_for(25);
    rule.added = 1.0;
    struct diary diary = {.every = 10};
    struct hs_loop_result result;
    assert_ok(run(&problem, &plan, &diary, false, &result, &err));
    static const int64_t due[] = {0, 10, 20, 25};
    static const enum hs_phase phase[] = {HS_PHASE_START, HS_PHASE_RUNNING, HS_PHASE_RUNNING,
                                          HS_PHASE_END};
    assert_int_equal(diary.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(diary.sweep[i], due[i]);
        assert_int_equal(diary.phase[i], phase[i]);
        assert_true(diary.time[i] == 0.5 * (double)due[i]);
        assert_true(isnan(diary.change[i])); /* not asked for */
    }
    assert_int_equal(result.sweeps, 25);
    assert_near(result.last.max, 26.0, 0.0);
    assert_string_equal(result.device, "a stand-in");
    assert_int_equal(rule.downloads, 0); /* nobody wanted the field */
}

/* Also if the observer is not due. */
void test_loop__ends_soon_after_an_observers_work_failed(void **state)
{
    const struct hs_problem problem = make(1.0);
    const struct hs_plan plan = plan_for(1000000);
    rule.seconds = 0.001; /* 17 minutes in all */
    struct diary diary = {.every = 0, .fails_after = 3};
    struct hs_loop_result result;
    struct hs_error err = {0};
    assert_int_equal(run(&problem, &plan, &diary, false, &result, &err), HS_IO);
    assert_string_equal(err.text, "the disk is full\n");
    assert_int_equal(diary.count, 1); /* the start */
    assert_true(result.sweeps < 1000);
    hs_error_release(&err);
}

void test_loop__a_reduction_is_shared(void **state)
{
    const struct hs_problem problem = make(1.0);
    const struct hs_plan plan = plan_for(30);
    rule.factor = 0.5;
    struct diary a = {.every = 10, .wants_field = true}, b = {.every = 15, .wants_field = true};
    struct hs_observer one = observer_of(&a, false), two = observer_of(&b, true);
    struct hs_observer *observers[] = {&one, &two};
    struct hs_loop_result result;
    assert_ok(hs_loop_run(&problem, &plan, NULL, observers, 2, NULL, &result, &err));
    assert_int_equal(rule.reductions, 5); /* at 0, 10, 15, 20, 30 */
    assert_int_equal(b.count, 3);
    assert_near(b.change[1], pow(0.5, 15), 1e-20);
    assert_near(b.change[2], pow(0.5, 30), 1e-20);
    assert_true(isnan(a.change[1])); /* 10: only `b` wants the change, and it is not due */
}

static struct hs_problem make_steady(double tolerance, int64_t check_every)
{
    struct hs_problem problem = make(1.0);
    problem.schedule.steady = true;
    problem.schedule.steady_tolerance = tolerance;
    problem.schedule.steady_check_every = check_every;
    return problem;
}

void test_loop__keeps_the_field_before_a_stop_that_wants_it(void **state)
{
    const struct hs_problem problem = make_steady(1e-20, 4);
    const struct hs_plan plan = plan_for(25);
    rule.added = 1.0;
    struct diary a = {.every = 10}, b = {.every = 3};
    struct hs_observer one = observer_of(&a, true), two = observer_of(&b, true);
    struct hs_observer *observers[] = {&one, &two};
    struct hs_loop_result result;
    one.wants_before = true;
    assert_ok(hs_loop_run(&problem, &plan, NULL, observers, 2, NULL, &result, &err));
    /* where it is due, at the end, and where a steady state may be found: 4, 8, 10, 12, 16, 20, 24,
     * 25 */
    assert_int_equal(rule.kept, 8);
}

void test_loop__stops_when_steady(void **state)
{
    const struct hs_problem problem = make_steady(1e-6, 7);
    const struct hs_plan plan = plan_for(1000);
    rule.factor = 0.5; /* the change of sweep n is 2^-n: under 1e-6 at n = 20, seen at 21 */
    struct diary diary = {.every = 0};
    struct hs_loop_result result;
    assert_ok(run(&problem, &plan, &diary, false, &result, &err));
    assert_true(result.steady.reached);
    assert_int_equal(result.sweeps, 21);
    assert_near(result.time, 10.5, 0.0);
    assert_int_equal(diary.count, 2);
    assert_int_equal(diary.phase[1], HS_PHASE_END);
}

void test_loop__says_when_steady_was_not_reached(void **state)
{
    const struct hs_problem problem = make_steady(1e-6, 5);
    const struct hs_plan plan = plan_for(100);
    rule.added = 1.0;
    struct diary diary = {.every = 0};
    struct hs_loop_result result;
    assert_ok(run(&problem, &plan, &diary, false, &result, &err));
    assert_false(result.steady.reached);
    assert_int_equal(result.sweeps, 100);
    assert_near(result.last.change, 1.0, 0.0);
}

/* The last sweep is looked at too: under the tolerance it is steady, check or not. */
void test_loop__is_steady_at_the_end_between_two_checks(void **state)
{
    const struct hs_problem problem = make_steady(1e-6, 100);
    const struct hs_plan plan = plan_for(25);
    rule.factor = 0.5;
    struct diary diary = {.every = 0};
    struct hs_loop_result result;
    assert_ok(run(&problem, &plan, &diary, false, &result, &err));
    assert_true(result.steady.reached);
    assert_near(result.steady.change, pow(0.5, 25), 1e-20);
}

void test_loop__not_a_number_is_noticed_before_anyone_is_told(void **state)
{
    const struct hs_problem problem = make(300.0);
    const struct hs_plan plan = plan_for(1000);
    rule.poison_at = 137;
    struct diary diary = {.every = 50};
    struct hs_loop_result result;
    struct hs_error err = {0};
    assert_int_equal(run(&problem, &plan, &diary, false, &result, &err), HS_FAILED_CHECK);
    assert_int_equal(result.phase, HS_PHASE_DIVERGED);
    assert_int_equal(diary.count, 4); /* 0, 50, 100 in order, then the bad news */
    assert_int_equal(diary.phase[2], HS_PHASE_RUNNING);
    assert_int_equal(diary.phase[3], HS_PHASE_DIVERGED);
    assert_true(diary.sweep[3] >= 137 && diary.sweep[3] <= 150);
    assert_non_null(strstr(err.text, "the temperature is NaN at node (0), x = 0 m, at sweep "));
    assert_non_null(strstr(err.text, "snapshots before it are kept"));
    hs_error_release(&err);
}

static void assert_blow_up_is_noticed(double initial)
{
    const struct hs_problem problem = make(initial);
    const struct hs_plan plan = plan_for(100000);
    rule.factor = 1.05;
    rule.seconds = 1e-5; /* so that looking costs little beside it */
    struct diary diary = {.every = 0};
    struct hs_loop_result result;
    assert_fails(run(&problem, &plan, &diary, false, &result, &err), HS_FAILED_CHECK, "diverged");
    /* 1.05^284 is a million; seen at one of the next looks, far from overflow at 14400 */
    assert_in_range(result.sweeps, 284, 1000);
}

void test_loop__blow_up_is_noticed_while_still_finite(void **state)
{
    assert_blow_up_is_noticed(300.0);
    assert_blow_up_is_noticed(-300.0);
}

/* A cold bar that a source heats to ten million kelvin is odd, but as requested. */
void test_loop__growth_that_the_source_explains_is_no_blow_up(void **state)
{
    struct hs_problem problem = make(0.0);
    problem.source.present = true;
    problem.source.rate = 1.0;
    problem.source.field.value.constant = 2e6;
    const struct hs_plan plan = plan_for(1000);
    rule.added = 1e6;
    struct diary diary = {.every = 1};
    struct hs_loop_result result;
    assert_ok(run(&problem, &plan, &diary, false, &result, &err));
    assert_near(result.last.max, 1e9, 0.0);
}

void test_loop__an_initial_field_that_is_not_finite_is_refused(void **state)
{
    const struct hs_problem problem = make(INFINITY);
    const struct hs_plan plan = plan_for(10);
    struct diary diary = {.every = 1};
    struct hs_loop_result result;
    assert_fails(run(&problem, &plan, &diary, false, &result, &err), HS_BAD_INPUT,
                 "initial: the temperature is inf");
    assert_int_equal(diary.count, 0);
}

void test_loop__a_signal_stops_it_between_stretches(void **state)
{
    const struct hs_problem problem = make(1.0);
    const struct hs_plan plan = plan_for(1000000);
    rule.interrupt_at = 4000;
    rule.seconds = 2e-4;
    rule.look_seconds = 0.02; /* so expensive that the watch looks seldom, and cuts nothing short */
    struct diary diary = {.every = 0};
    struct hs_loop_result result;
    assert_fails(run(&problem, &plan, &diary, false, &result, &err), HS_INTERRUPTED, "");
    assert_int_equal(result.phase, HS_PHASE_STOPPED);
    assert_int_equal(diary.phase[diary.count - 1], HS_PHASE_STOPPED);
    assert_true(result.sweeps >= 4000);
    assert_true((double)rule.longest * rule.seconds < 0.5);
    assert_true((double)rule.longest * rule.seconds > 0.1); /* nor cut without need */
}

void test_loop__watching_costs_a_percent(void **state)
{
    const struct hs_problem problem = make(1.0);
    const struct hs_plan plan = plan_for(200);
    rule.seconds = 1e-3; /* a look costs nothing beside it: one every 16 sweeps */
    struct diary diary = {.every = 0};
    struct hs_loop_result result;
    assert_ok(run(&problem, &plan, &diary, false, &result, &err));
    assert_in_range(rule.reductions, 5, 1 + 200 / 16 + 1);
    assert_true(result.seconds > 0.2);
}

void test_loop__an_observers_failure_ends_the_run(void **state)
{
    const struct hs_problem problem = make(1.0);
    const struct hs_plan plan = plan_for(100);
    struct diary diary = {.every = 10, .answer = HS_IO};
    struct hs_loop_result result;
    assert_fails(run(&problem, &plan, &diary, false, &result, &err), HS_IO, "");
    assert_int_equal(diary.count, 1);
}

void test_loop__a_backends_failure_ends_the_run(void **state)
{
    const struct hs_problem problem = make(1.0);
    const struct hs_plan plan = plan_for(100);
    rule.fail_at = 42;
    struct diary diary = {.every = 10};
    struct hs_loop_result result;
    assert_fails(run(&problem, &plan, &diary, false, &result, &err), HS_DEVICE, "");
    assert_int_equal(diary.count, 5);
}

static enum hs_status read_13(const struct hs_stored *stored, const struct hs_box *box, double *out,
                              struct hs_error *err)
{
    for (int64_t n = 0; n < hs_box_count(box); n++)
        out[n] = 13.0;
    return HS_OK;
}

static void close_13(const struct hs_stored *stored)
{
}

void test_loop__goes_on_from_where_it_was(void **state)
{
    const struct hs_problem problem = make(1.0);
    const struct hs_plan plan = plan_for(30);
    rule.added = 1.0;
    struct diary diary = {.every = 10};
    struct hs_observer observer = observer_of(&diary, false);
    struct hs_observer *observers[] = {&observer};
    const struct hs_stored field = {.path = (char *)"a file",
                                    .dims = 1,
                                    .points = {5, 1, 1},
                                    .together = 5,
                                    .read = read_13,
                                    .close = close_13};
    const struct hs_loop_start start = {.sweep = 12, .field = &field};
    struct hs_loop_result result;
    assert_ok(hs_loop_run(&problem, &plan, &start, observers, 1, NULL, &result, &err));
    assert_int_equal(diary.count, 3);
    assert_int_equal(diary.sweep[0], 12);
    assert_int_equal(diary.sweep[1], 20);
    assert_near(result.last.max, 31.0, 0.0);
    assert_int_equal(result.swept, 18);
}
