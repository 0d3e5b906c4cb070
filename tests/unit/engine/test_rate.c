#include "engine/measure/rate.h"
#include "engine/registry.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <string.h>
#include <time.h>

extern const struct hs_backend hs_backend_cpu;
extern const struct hs_method hs_method_euler;

static struct hs_problem make(int64_t points)
{
    struct hs_problem problem = make_line(points, 1.0);
    for (int f = 0; f < 2; f++)
        problem.face[f] = (struct hs_face){.held = 1, .edge_weight = 0.5};
    return problem;
}

static struct hs_plan plan_of(const struct hs_problem *problem, int64_t sweeps)
{
    struct hs_plan plan = {.method = &hs_method_euler,
                           .backend = &hs_backend_cpu,
                           .sweeps = sweeps,
                           .tail_step = 0.1,
                           .end = 0.1 * (double)sweeps};
    assert_ok(hs_kernel_find("reference", HS_CPU, &plan.kernel, &err));
    return plan;
}

void test_rate__larger_grids_take_longer(void **state)
{
    struct hs_rate rate[2];
    static const int64_t points[] = {1000, 1000000};
    for (int i = 0; i < 2; i++) {
        const struct hs_problem problem = make(points[i]);
        const struct hs_plan plan = plan_of(&problem, 1000000);
        assert_ok(hs_rate_measure(&problem, &plan, 0.02, &rate[i], &err));
        assert_true(strlen(rate[i].device) > 0);
    }
    /* a thousand times the work; even on a busy machine a factor of ten remains */
    assert_true(rate[1].seconds_per_sweep > 10.0 * rate[0].seconds_per_sweep);
}

void test_rate__of_few_sweeps_or_none(void **state)
{
    struct hs_rate rate;
    const struct hs_problem problem = make(1000);
    struct hs_plan plan = plan_of(&problem, 3);
    assert_ok(hs_rate_measure(&problem, &plan, 0.01, &rate, &err));
    assert_true(rate.seconds_per_sweep > 0.0);
    plan = plan_of(&problem, 1);
    assert_ok(hs_rate_measure(&problem, &plan, 0.01, &rate, &err));
    assert_true(rate.seconds_per_sweep > 0.0);
    plan = plan_of(&problem, 0);
    assert_ok(hs_rate_measure(&problem, &plan, 0.01, &rate, &err));
    assert_true(isnan(rate.seconds_per_sweep));
}

/* The calls that a test backend received. */
static struct {
    int64_t longest, sweeps, reductions, stops, others;
    const struct hs_backend *real;
} asked;

static enum hs_status counted_sweep(struct hs_backend_state *state, const struct hs_span *span,
                                    struct hs_error *err)
{
    asked.longest = span->count > asked.longest ? span->count : asked.longest;
    asked.sweeps += span->count;
    if (span->keep_last)
        asked.stops++;
    else
        asked.others++;
    return asked.real->sweep(state, span, err);
}

static enum hs_status counted_reduce(struct hs_backend_state *state, const struct hs_partial **out,
                                     struct hs_error *err)
{
    asked.reductions++;
    return asked.real->reduce(state, out, err);
}

/* The plan's backend from now on: as it is, but with this sweep. */
static struct hs_backend *
use_sweep(struct hs_plan *plan, enum hs_status (*sweep)(struct hs_backend_state *,
                                                        const struct hs_span *, struct hs_error *))
{
    static struct hs_backend own;
    asked.real = plan->backend;
    own = *plan->backend;
    own.sweep = sweep;
    plan->backend = &own;
    return &own;
}

void test_rate__is_that_of_a_run_with_its_stops(void **state)
{
    struct hs_rate rate;
    struct hs_problem problem = make(1000);
    struct hs_plan plan = plan_of(&problem, 1000);
    use_sweep(&plan, counted_sweep)->reduce = counted_reduce;
    problem.schedule.history_every = 5;
    plan.output_every = 20;
    assert_ok(hs_rate_measure(&problem, &plan, 0.02, &rate, &err));
    assert_int_equal(asked.longest, 5);
    assert_true(asked.stops > asked.others); /* batches that are not multiples of 5 */
    assert_int_equal(asked.reductions, asked.stops);
    assert_true(rate.seconds_per_reduction > 0.0);
    problem.schedule.history_every = plan.output_every = -1;
    asked.longest = asked.reductions = 0;
    assert_ok(hs_rate_measure(&problem, &plan, 0.02, &rate, &err));
    assert_true(asked.longest > 5);
}

/* 1 and 2 sweeps, then all 3 of them three times, however much time there is. */
void test_rate__of_a_short_run_takes_no_longer(void **state)
{
    struct hs_rate rate;
    const struct hs_problem problem = make(1000);
    struct hs_plan plan = plan_of(&problem, 3);
    use_sweep(&plan, counted_sweep);
    asked.sweeps = 0;
    assert_ok(hs_rate_measure(&problem, &plan, 0.5, &rate, &err));
    assert_int_equal(asked.sweeps, 12);
}

static enum hs_status late_sweep(struct hs_backend_state *state, const struct hs_span *span,
                                 struct hs_error *err)
{
    if (asked.others++ < 2)
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    return asked.real->sweep(state, span, err);
}

/* Of each of its two fields a backend may have to tell other ranks once. */
void test_rate__leaves_out_what_the_first_two_calls_alone_take(void **state)
{
    struct hs_rate rate;
    const struct hs_problem problem = make(1000);
    struct hs_plan plan = plan_of(&problem, 1000000);
    use_sweep(&plan, late_sweep);
    asked.others = 0;
    assert_ok(hs_rate_measure(&problem, &plan, 0.02, &rate, &err));
    assert_true(rate.seconds_per_sweep < 0.001); /* of 1,000 nodes: some microseconds */
}
