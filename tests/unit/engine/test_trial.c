#include "engine/measure/trial.h"
#include "pretended.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

extern const struct hs_method hs_method_euler;

/* ---- a device that takes as long as the test says -------------------------------------------- */

/* Seconds of a sweep, by the first letter of a kernel's name. */
static double speed['z' + 1];
static double slower; /* added from call to call: a machine that gets busier */
static int calls;
static double need = 1e6; /* bytes */
static char order[64];    /* of the calls, by letters */

static enum hs_status time_sweeps(struct hs_backend_state *state, const struct hs_span *span,
                                  double *seconds, struct hs_error *err)
{
    const char letter = state->kernel->name[0];
    const size_t used = strlen(order);
    if (used == 0 || order[used - 1] != letter)
        snprintf(order + used, sizeof order - used, "%c", letter);
    *seconds = (double)span->count * speed[(int)letter] * (1.0 + slower * calls++);
    return HS_OK;
}

static double memory(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    return need;
}

static const struct hs_backend pretended = {.name = "pretended",
                                            .device = HS_CPU,
                                            .memory = memory,
                                            .create = create,
                                            .upload = upload,
                                            .time_sweeps = time_sweeps,
                                            .fingerprint = fingerprint,
                                            .destroy = destroy};

KERNEL(kernel_a, "a", HS_CPU);
KERNEL(kernel_b, "b", HS_CPU);
KERNEL(kernel_c, "c", HS_CPU);
KERNEL(broken, "broken", HS_CPU);
KERNEL(reference, "reference", HS_CPU);
KERNEL(elsewhere, "elsewhere", HS_CUDA);
static const struct hs_kernel *const kernels[] = {&reference, &kernel_a,  &kernel_b,
                                                  &kernel_c,  &elsewhere, NULL};
static const struct hs_kernel *const two[] = {&kernel_a, &kernel_b, NULL};

/* A cube of 41^3 nodes, a million sweeps. */
static struct hs_problem problem_of(struct hs_plan *plan)
{
    *plan = (struct hs_plan){.method = &hs_method_euler,
                             .backend = &pretended,
                             .kernel = &kernel_a,
                             .choice = HS_CHOICE_HEURISTIC,
                             .sweeps = 1000000,
                             .output_every = -1,
                             .tail_step = 1.0};
    calls = 0, slower = 0.0, need = 1e6, order[0] = '\0';
    return cube_of(41);
}

static struct hs_tuning try_them(const struct hs_kernel *const *table, double a, double b, double c)
{
    struct hs_plan plan;
    const struct hs_problem problem = problem_of(&plan);
    speed['a'] = a, speed['b'] = b, speed['c'] = c;
    struct hs_tuning out;
    hs_trial_make(table, &problem, &plan, 0, &out);
    assert_int_equal(alive, 0);
    return out;
}

/* ---- which is taken -------------------------------------------------------------------------- */

void test_trial__takes_the_clearly_faster_one(void **state)
{
    const struct hs_tuning out = try_them(kernels, 1e-4, 0.9e-4, 0.7e-4);
    assert_int_equal(out.count, 3); /* no reference, no kernels of other devices */
    assert_string_equal(out.row[0].kernel, "c");
    assert_near(out.row[0].seconds, 0.7e-4, 1e-15); /* a few additions and a division */
    assert_true(out.row[0].samples >= 3);
}

void test_trial__keeps_the_heuristics_choice_unless_another_is_clearly_faster(void **state)
{
    assert_string_equal(try_them(two, 1e-4, 0.96e-4, 0).row[0].kernel, "a");
    assert_string_equal(try_them(two, 1e-4, 0.94e-4, 0).row[0].kernel, "b");
    /* of two that are clearly faster, the faster */
    assert_string_equal(try_them(kernels, 1e-4, 0.90e-4, 0.89e-4).row[0].kernel, "c");
}

/* In turns, since a machine that gets busier during the trial slows all of them. */
void test_trial__is_fair_on_a_machine_that_gets_busier(void **state)
{
    struct hs_plan plan;
    const struct hs_problem problem = problem_of(&plan);
    speed['a'] = 1e-4, speed['b'] = 0.9e-4;
    slower = 0.05;
    struct hs_tuning out;
    hs_trial_make(two, &problem, &plan, 0, &out);
    assert_string_equal(out.row[0].kernel, "b");
    assert_memory_equal(order, "ababab", 6); /* warmed up, a, b; b, a; a, b */
}

void test_trial__stops_where_the_run_turns_out_to_be_short(void **state)
{
    assert_int_equal(try_them(two, 1e-5, 1e-6, 0).count, 0); /* 10 s of sweeps */
    assert_string_equal(order, "a");
    assert_int_equal(try_them(two, 2e-5, 1e-6, 0).count, 2); /* 20 s */
}

void test_trial__finds_nothing_where_a_kernel_fails(void **state)
{
    static const struct hs_kernel *const bad[] = {&kernel_a, &broken, NULL};
    assert_int_equal(try_them(bad, 1e-4, 1e-4, 0).count, 0);
}

/* ---- whether there is one -------------------------------------------------------------------- */

void test_trial__is_for_long_runs_where_auto_chose(void **state)
{
    struct hs_plan plan;
    struct hs_problem problem = problem_of(&plan);
    assert_true(hs_trial_due(kernels, &problem, &plan, 0));
    assert_int_equal(calls, 0);                                   /* nothing is timed */
    assert_false(hs_trial_due(kernels, &problem, &plan, 999000)); /* little is left */
    plan.choice = HS_CHOICE_NAMED;
    assert_false(hs_trial_due(kernels, &problem, &plan, 0));
    plan.choice = HS_CHOICE_TUNED;
    assert_false(hs_trial_due(kernels, &problem, &plan, 0));
    problem = problem_of(&plan);
    plan.sweeps = 3000; /* of however many points */
    problem.grid.points[HS_X] = 1000000;
    assert_false(hs_trial_due(kernels, &problem, &plan, 0));
    problem = problem_of(&plan);
    plan.sweeps = 100000; /* 6e9 updates */
    assert_false(hs_trial_due(kernels, &problem, &plan, 0));
}

void test_trial__needs_a_choice_and_memory(void **state)
{
    struct hs_plan plan;
    const struct hs_problem problem = problem_of(&plan);
    static const struct hs_kernel *const one[] = {&kernel_a, &reference, NULL};
    assert_false(hs_trial_due(one, &problem, &plan, 0));
    need = 1e18;
    assert_false(hs_trial_due(kernels, &problem, &plan, 0));
}

/* A plate that is steady long before the bound. */
void test_trial__is_not_for_short_searches_for_a_steady_state(void **state)
{
    struct hs_plan plan;
    struct hs_problem problem = problem_of(&plan);
    problem.schedule.steady = true;
    plan.sweeps = HS_PLAN_MOST_SWEEPS;
    assert_false(hs_trial_due(kernels, &problem, &plan, 0));
    for (int axis = 0; axis < HS_AXES; axis++)
        problem.grid.points[axis] = 129;
    assert_true(hs_trial_due(kernels, &problem, &plan, 0));
}

/* A GPU's heuristic is for the chips that it names. */
void test_trial__is_not_for_a_gpu(void **state)
{
    struct hs_backend gpu = pretended;
    gpu.device = HS_CUDA;
    struct hs_plan plan;
    const struct hs_problem problem = problem_of(&plan);
    plan.backend = &gpu;
    assert_false(hs_trial_due(kernels, &problem, &plan, 0));
}
