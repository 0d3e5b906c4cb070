#include "engine/make_plan.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 1D, diffusivity 1, spacing 0.1: the limit is 0.1^2/2 = 0.005 s. */
static struct hs_problem make(void)
{
    return make_held_line(50, 0.1);
}

/* The textbook's raw stencil, whose step is 0.5 s. */
static struct hs_problem make_raw(void)
{
    struct hs_problem problem = make();
    problem.raw = true;
    problem.c[0] = 0.5;
    problem.c[1] = problem.c[2] = 0.25;
    problem.schedule.step = 0.5;
    return problem;
}

static struct hs_plan plan_of(const struct hs_problem *problem)
{
    struct hs_plan plan;
    assert_ok(hs_plan_steps(problem, &plan, &err));
    return plan;
}

static void assert_refused(const struct hs_problem *problem, const char *words)
{
    struct hs_plan plan;
    assert_fails(hs_plan_steps(problem, &plan, &err), HS_BAD_INPUT, words);
}

void test_plan__auto_takes_its_share_of_the_limit(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.sweeps = 100;
    problem.schedule.safety = 0.8;
    const struct hs_plan plan = plan_of(&problem);
    assert_near(plan.limit, 0.005, 1e-17);
    assert_near(plan.tail_step, 0.004, 1e-17);
    assert_int_equal(plan.sweeps, 100);
    assert_near(plan.end, 0.4, 1e-15);
}

void test_plan__end_is_hit_to_the_bit(void **state)
{
    struct hs_problem problem = make();
    for (double end = 0.0123; end < 50.0; end *= 1.7) {
        problem.schedule.end = end;
        const struct hs_plan plan = plan_of(&problem);
        assert_true(hs_plan_time(&plan, plan.sweeps) == end);
        assert_true(plan.tail_step <= 0.9 * plan.limit * (1.0 + 1e-9));
        /* and no shorter than necessary: with one sweep fewer the step would be too long */
        assert_true(plan.sweeps == 1 || end / (double)(plan.sweeps - 1) > 0.9 * plan.limit);
    }
}

void test_plan__outputs_are_hit_to_the_bit(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.end = 1.05;
    problem.schedule.output_interval = 0.1;
    const struct hs_plan plan = plan_of(&problem);
    assert_int_equal(plan.intervals, 10);
    assert_int_equal(plan.output_every, plan.interval_sweeps);
    for (int64_t k = 0; k <= 10; k++)
        assert_true(hs_plan_time(&plan, k * plan.interval_sweeps) == (double)k * 0.1);
    assert_true(hs_plan_time(&plan, plan.sweeps) == 1.05);
    assert_int_equal(plan.sweeps - 10 * plan.interval_sweeps, 12); /* 0.05 s of at most 0.0045 */
    assert_int_equal(hs_plan_snapshots(&plan), 12);
}

/* 41 * (0.1/41) is not 0.1 to the bit: multiples must come from the interval, not from the step. */
void test_plan__no_rounding_gathers_over_intervals(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.end = 30.0;
    for (int n = 1; n < 100; n++) {
        const double interval = 0.0137 * n;
        problem.schedule.output_interval = interval;
        const struct hs_plan plan = plan_of(&problem);
        for (int64_t k = 0; k <= plan.intervals; k++)
            if (k * plan.interval_sweeps < plan.sweeps)
                assert_true(hs_plan_time(&plan, k * plan.interval_sweeps) == (double)k * interval);
    }
}

/* 0.3/0.1 is 2.9999999999999996: still three intervals, and no sweep left over. */
void test_plan__an_end_that_is_a_multiple_but_for_rounding_has_no_tail(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.end = 0.3;
    problem.schedule.output_interval = 0.1;
    const struct hs_plan plan = plan_of(&problem);
    assert_int_equal(plan.intervals, 3);
    assert_int_equal(plan.sweeps, 3 * plan.interval_sweeps);
    assert_true(hs_plan_time(&plan, plan.sweeps) == 0.3);
    assert_int_equal(hs_plan_snapshots(&plan), 4);
}

void test_plan__an_interval_beyond_the_end_leaves_first_and_last(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.end = 0.3;
    problem.schedule.output_interval = 1.0;
    const struct hs_plan plan = plan_of(&problem);
    assert_int_equal(plan.output_every, -1);
    assert_int_equal(hs_plan_snapshots(&plan), 2);
}

void test_plan__given_step_is_kept_or_shortened_and_said(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.end = 1.0;
    problem.schedule.step = 0.004;
    struct hs_plan plan = plan_of(&problem);
    assert_int_equal(plan.sweeps, 250);
    assert_string_equal(plan.note, "");
    problem.schedule.step = 0.003;
    plan = plan_of(&problem);
    assert_int_equal(plan.sweeps, 334);
    assert_near(plan.tail_step, 1.0 / 334.0, 1e-17);
    assert_non_null(strstr(plan.note, "shortened to 0.00299401198 s"));
}

/* 0.03/10 and 0.021/7 are not the double 0.003, and 0.3 - 0.25 is not 0.25/50 * 10. */
void test_plan__a_step_has_the_same_bits_wherever_the_run_ends(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.step = 0.003;
    for (int n = 1; n < 1000; n++) {
        problem.schedule.end = 1e-3 * 3 * n;
        assert_true(plan_of(&problem).tail_step == 0.003);
    }
    problem.schedule.output_interval = 0.25;
    for (problem.schedule.step = NAN;; problem.schedule.step = 0.0045) {
        problem.schedule.end = 0.25;
        const double step = plan_of(&problem).interval_step;
        for (int n = 1; n < 50; n++) {
            problem.schedule.end = 0.25 + n * step;
            const struct hs_plan plan = plan_of(&problem);
            assert_true(plan.interval_step == step && plan.tail_step == step);
        }
        if (!isnan(problem.schedule.step))
            return;
    }
}

void test_plan__a_step_above_the_limit_is_refused_with_the_limit(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.sweeps = 10;
    problem.schedule.step = 0.005001;
    assert_refused(&problem, "time.step = 0.005001: above the stability limit of 0.005 s");
    char place[] = "case.cfg:12";
    problem.place[HS_PLACE_STEP] = place;
    assert_refused(&problem, "case.cfg:12: time.step");
    problem.schedule.step = 0.005; /* the limit itself is allowed */
    plan_of(&problem);
}

/* 1/3 of 0.01 would round up to 0.00333333334: an offered step must be accepted. */
void test_plan__the_step_offered_is_accepted(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.sweeps = 10;
    for (double diffusivity = 0.1; diffusivity < 10.0; diffusivity *= 1.37) {
        problem.material.diffusivity = diffusivity;
        problem.schedule.step = 1.0;
        struct hs_error err = {0};
        struct hs_plan plan;
        assert_int_equal(hs_plan_steps(&problem, &plan, &err), HS_BAD_INPUT);
        const char *offer = strstr(err.text, "give at most ");
        assert_non_null(offer);
        assert_int_equal(sscanf(offer, "give at most %lf", &problem.schedule.step), 1);
        assert_true(problem.schedule.step > 0.9999 * plan.limit);
        hs_error_release(&err);
        plan = plan_of(&problem);
        assert_true(plan.tail_step <= plan.limit);
    }
}

void test_plan__raw_stencil_keeps_its_step(void **state)
{
    struct hs_problem problem = make_raw();
    problem.schedule.end = 10.0;
    problem.schedule.output_interval = 2.0;
    const struct hs_plan plan = plan_of(&problem);
    assert_int_equal(plan.sweeps, 20);
    assert_int_equal(plan.interval_sweeps, 4);
    assert_true(plan.interval_step == 0.5);
    assert_near(plan.amplification, 1.0, 1e-12);
    assert_true(isnan(plan.limit));
    problem.schedule.end = 10.2;
    assert_refused(&problem, "not a multiple of the sweep's step of 0.5 s");
}

void test_plan__raw_stencil_that_grows_is_refused_with_its_factor(void **state)
{
    struct hs_problem problem = make_raw();
    problem.schedule.sweeps = 10;
    problem.c[0] = 0.7; /* sum 1.2 */
    assert_refused(&problem, "multiplies some mode by 1.2,");
    problem.c[0] = -0.6; /* at theta = pi: -0.6 - 0.5 */
    assert_refused(&problem, "multiplies some mode by 1.1,");
}

void test_plan__steady_without_bound_has_the_cap(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.steady = true;
    const struct hs_plan plan = plan_of(&problem);
    assert_int_equal(plan.sweeps, HS_PLAN_MOST_SWEEPS);
}

void test_plan__too_many_sweeps_to_count_are_refused(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.end = 1e15;
    assert_refused(&problem, "more than can be counted");
    problem.schedule.output_interval = 1e9; /* each interval can be counted, but not all of them */
    assert_refused(&problem, "more than can be counted");
}

/* However many intervals there are, they end where the run does; rounding adds none beyond it. */
void test_plan__intervals_end_where_the_run_does(void **state)
{
    for (double interval = 1.0; interval > 1e-15; interval /= 10.0) {
        struct hs_problem problem = make();
        problem.schedule.end = 3.0;
        problem.schedule.output_interval = interval;
        const struct hs_plan plan = plan_of(&problem);
        const double last = (double)plan.intervals * plan.interval;
        assert_near(last, 3.0, 3.0 * 0x1p-50); /* some ulps: a quotient and a product */
        assert_int_equal(plan.sweeps, plan.intervals * plan.interval_sweeps);
    }
}

/* Counted one by one, as the loop takes them: at sweep 0, at each multiple, at the end. */
void test_plan__snapshots_that_are_left(void **state)
{
    for (int64_t every = -1; every < 8; every++)
        for (int64_t sweeps = 0; sweeps < 25; sweeps++) {
            const struct hs_plan plan = {.output_every = every == 0 ? -1 : every, .sweeps = sweeps};
            int64_t left = 0;
            for (int64_t sweep = sweeps; sweep >= 0; sweep--) {
                assert_int_equal(hs_plan_snapshots_after(&plan, sweep), left);
                left += sweep == 0 || sweep == sweeps || (every > 0 && sweep % every == 0);
            }
            assert_int_equal(hs_plan_snapshots(&plan), left);
        }
}

/* However a run is cut, a sweep begins at the same time, bit for bit. */
void test_plan__times_do_not_depend_on_the_cuts(void **state)
{
    struct hs_problem problem = make();
    problem.schedule.end = 1.07;
    problem.schedule.output_interval = 0.1;
    const struct hs_plan plan = plan_of(&problem);
    for (int64_t stride = 1; stride < 60; stride += 7) {
        int64_t sweep = 0;
        while (sweep < plan.sweeps) {
            const int64_t until = sweep + stride < plan.sweeps ? sweep + stride : plan.sweeps;
            const struct hs_span span = hs_plan_span(&plan, &problem, sweep, until);
            assert_true(span.count >= 1 && sweep + span.count <= until);
            for (int64_t s = 0; s < span.count; s++)
                assert_true(hs_span_time(&span, s) == hs_plan_time(&plan, sweep + s));
            sweep += span.count;
        }
        assert_int_equal(sweep, plan.sweeps);
    }
}
