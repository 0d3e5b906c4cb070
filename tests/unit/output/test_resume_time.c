#include "output/resume_time.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1D, diffusivity 1, spacing 0.1: the limit is 0.1^2/2 = 0.005 s, for any number of nodes. */
static struct hs_problem make(void)
{
    return make_held_line(8, 0.1);
}

static bool plan_of(const struct hs_problem *problem, struct hs_plan *plan)
{
    struct hs_error err = {0};
    const bool good = !hs_plan_steps(problem, plan, &err);
    hs_error_release(&err);
    return good;
}

/* What a checkpoint of this run stores. */
static struct hs_checkpoint_state state_at(const struct hs_problem *problem,
                                           const struct hs_plan *plan, int64_t sweep)
{
    return (struct hs_checkpoint_state){.resume = {.sweep = sweep},
                                        .time = hs_plan_time(plan, sweep),
                                        .past = {.step = hs_plan_step(plan),
                                                 .interval = problem->schedule.output_interval,
                                                 .end = problem->schedule.end}};
}

/* Sets what a message names, as the command line would. Returns how many. */
static int follow(const char *text, struct hs_schedule *schedule)
{
    int named = 0;
    double value;
    for (const char *at = text; (at = strstr(at, "--set ")); at++, named++) {
        if (sscanf(at, "--set time.step=%lf", &value) == 1)
            schedule->step = value;
        else if (sscanf(at, "--set output.interval=%lf", &value) == 1)
            schedule->output_interval = value;
        else if (sscanf(at, "--set time.end=%lf", &value) == 1)
            schedule->end = value;
        else if (sscanf(at, "--set time.sweeps=%lf", &value) == 1)
            schedule->sweeps = (int64_t)value;
        else
            fail_msg("%s", at);
    }
    return named;
}

static double between(double a, double b)
{
    return a + (b - a) * (rand() / (double)RAND_MAX);
}

static void choose_schedule(struct hs_schedule *schedule, bool by_end)
{
    schedule->safety = rand() % 2 ? 0.8 : between(0.3, 1.0);
    schedule->step = rand() % 3 == 0 ? between(0.001, 0.005) : NAN;
    schedule->end = by_end ? between(0.05, 1.0) : NAN;
    schedule->sweeps = by_end ? -1 : 1 + rand() % 300;
    schedule->output_interval = rand() % 3 ? 0.01 * (1 + rand() % 40) : NAN;
}

/* Runs of any schedule, continued with any other: it is accepted, or what the message names is. If
 * both have an end and an interval, the message always names something. */
void test_resume_time__what_the_message_names_is_taken(void **state)
{
    int taken = 0, named = 0, none = 0;
    srand(3);
    for (int trial = 0; trial < 1000; trial++) {
        struct hs_problem problem = make();
        struct hs_plan before, plan;
        const bool by_end = rand() % 2;
        choose_schedule(&problem.schedule, by_end);
        assert_true(plan_of(&problem, &before));
        const struct hs_checkpoint_state at =
            state_at(&problem, &before, 1 + rand() % before.sweeps);
        const bool had_interval = !isnan(problem.schedule.output_interval);
        choose_schedule(&problem.schedule, rand() % 4 ? by_end : !by_end);
        assert_true(plan_of(&problem, &plan));
        struct hs_error err = {0};
        const enum hs_status st = hs_resume_check_time(&problem, &plan, &at, &err);
        if (!st) {
            taken++;
        } else if (strstr(err.text, "were found that keep it")) {
            none++;
            assert_int_equal(follow(err.text, &problem.schedule), 0);
            assert_false(by_end && !isnan(problem.schedule.end) && had_interval &&
                         !isnan(problem.schedule.output_interval));
        } else {
            named++;
            assert_true(follow(err.text, &problem.schedule) > 0);
            if (!plan_of(&problem, &plan) ||
                !hs_plan_goes_on(&plan, &at.past, at.resume.sweep, at.time))
                fail_msg("%s", err.text);
        }
        if (st)
            assert_int_equal(st, HS_BAD_INPUT);
        hs_error_release(&err);
    }
    print_message("%d taken, %d with what was named, %d with nothing to name\n", taken, named,
                  none);
    assert_true(taken > 2 && named > 500 && none < 150);
}

void test_resume_time__steps_of_a_tail_are_named(void **state)
{
    struct hs_problem problem = make();
    struct hs_plan plan;
    problem.schedule.safety = 0.9;
    problem.schedule.end = 0.33;
    problem.schedule.output_interval = 0.1;
    assert_true(plan_of(&problem, &plan));
    const struct hs_checkpoint_state at = state_at(&problem, &plan, plan.sweeps - 2);
    problem.schedule.output_interval = 0.07;
    assert_true(plan_of(&problem, &plan));
    assert_fails(hs_resume_check_time(&problem, &plan, &at, &err), HS_BAD_INPUT,
                 "since its last steps were shortened to end there; continue with --set "
                 "output.interval=0.1, or start over with --overwrite");
}

/* Decimals, as users give them: many agree up to rounding. */
static void choose_decimals(struct hs_schedule *schedule)
{
    schedule->step = rand() % 3 ? 0.0005 * (1 + rand() % 10) : NAN;
    schedule->end = rand() % 4 ? 0.01 * (5 + rand() % 40) : NAN;
    schedule->sweeps = isnan(schedule->end) ? 100 + rand() % 300 : -1;
    schedule->output_interval = rand() % 4 ? 0.01 * (1 + rand() % 20) : NAN;
}

static double step_to(const struct hs_problem *problem, const struct hs_plan *plan, int64_t sweep)
{
    return hs_plan_span(plan, problem, sweep - 1, sweep).step;
}

/* Steps that differ by a rounding give other bits. And the state of the same plan is accepted. */
void test_resume_time__what_is_taken_came_by_the_same_steps(void **state)
{
    int taken = 0;
    srand(4);
    for (int trial = 0; trial < 500; trial++) {
        struct hs_problem problem = make();
        struct hs_plan before, plan;
        choose_decimals(&problem.schedule);
        assert_true(plan_of(&problem, &before));
        const int64_t sweep = rand() % 2 ? before.sweeps : 1 + rand() % before.sweeps;
        const struct hs_checkpoint_state at = state_at(&problem, &before, sweep);
        assert_true(hs_plan_goes_on(&before, &at.past, sweep, at.time));
        const struct hs_schedule first = problem.schedule;
        choose_decimals(&problem.schedule);
        if (rand() % 2)
            problem.schedule.step = first.step;
        if (rand() % 2)
            problem.schedule.output_interval = first.output_interval;
        assert_true(plan_of(&problem, &plan));
        if (!hs_plan_goes_on(&plan, &at.past, sweep, at.time))
            continue;
        taken++;
        for (int64_t n = 1; n <= sweep; n++)
            assert_true(step_to(&problem, &plan, n) == step_to(&problem, &before, n));
    }
    print_message("%d taken\n", taken);
    assert_true(taken > 66);
}
