#include "core/version.h"
#include "engine/measure/tune.h"
#include "engine/registry.h"
#include "functions/program.h"
#include "pretended.h"
#include "test.h"

#include <math.h>
#include <string.h>

/* ---- a device that takes as long as the test says -------------------------------------------- */

/* The seconds of a sweep, by the first letter of a kernel's name; the first look may differ. */
static struct {
    double look, later;
} speed['z' + 1];
static int64_t least_kept; /* fewest sweeps asked for at once with keep_last */

/* How often each was created: the first time is the look. */
static int created['z' + 1];

static enum hs_status time_sweeps(struct hs_backend_state *state, const struct hs_span *span,
                                  double *seconds, struct hs_error *err)
{
    const int letter = state->kernel->name[0];
    if (state->takes++ == 0)
        created[letter]++;
    if (span->keep_last && span->count < least_kept)
        least_kept = span->count;
    *seconds =
        (double)span->count * (created[letter] == 1 ? speed[letter].look : speed[letter].later);
    return HS_OK;
}

static const struct hs_backend pretended = {.name = "pretended",
                                            .device = HS_CUDA,
                                            .create = create,
                                            .upload = upload,
                                            .time_sweeps = time_sweeps,
                                            .fingerprint = fingerprint,
                                            .destroy = destroy};

KERNEL(kernel_a, "a", HS_CUDA);
KERNEL(kernel_b, "b", HS_CUDA);
KERNEL(kernel_c, "c", HS_CUDA);
KERNEL(broken, "broken", HS_CUDA);
KERNEL(reference, "reference", HS_CUDA);
KERNEL(elsewhere, "elsewhere", HS_CPU);
static const struct hs_kernel flat = {.name = "flat",
                                      .device = HS_CUDA,
                                      .features = HS_STENCIL | HS_2D | HS_ALL_RADII |
                                                  HS_ALL_PRECISIONS | HS_ALL_VALUES,
                                      .steps = 2,
                                      .sweep = never};

static const struct hs_kernel *const kernels[] = {&reference, &kernel_a,  &kernel_b, &kernel_c,
                                                  &broken,    &elsewhere, &flat,     NULL};

static void set_speed(char letter, double look, double later)
{
    speed[(int)letter].look = look;
    speed[(int)letter].later = later;
}

static int set_up(void)
{
    memset(created, 0, sizeof created);
    for (int n = 0; n <= 'z'; n++)
        speed[n].look = speed[n].later = 1e-6; /* faster than all below */
    least_kept = INT64_MAX;
    return 0;
}

/* A cube, and a plan of 5000 sweeps whose kernel "auto" took by itself. */
static struct hs_problem problem_of(struct hs_plan *plan, const struct hs_kernel *usual)
{
    struct hs_problem problem = cube_of(9);
    problem.schedule.steady_check_every = 100;
    *plan = (struct hs_plan){.backend = &pretended,
                             .kernel = usual,
                             .choice = HS_CHOICE_HEURISTIC,
                             .sweeps = 5000,
                             .output_every = -1,
                             .tail_step = 1.0};
    return problem;
}

static struct hs_tuning tune(const struct hs_kernel *const *table, const struct hs_kernel *usual,
                             enum hs_status expected)
{
    struct hs_plan plan;
    const struct hs_problem problem = problem_of(&plan, usual);
    struct hs_tuning out;
    struct hs_error err = {0};
    assert_int_equal(hs_tune_measure(table, &problem, &plan, &out, &err), expected);
    hs_error_release(&err);
    assert_int_equal(alive, 0);
    return out;
}

/* ---- which kernels, and their order ---------------------------------------------------------- */

void test_tune__times_those_that_suit_and_sorts_them(void **state)
{
    set_up();
    set_speed('a', 2e-3, 2e-3);
    set_speed('b', 1e-3, 1e-3);
    set_speed('c', 9e-3, 9e-3);
    const struct hs_tuning out = tune(kernels, &kernel_b, HS_OK);
    assert_int_equal(out.count, 4); /* no reference, nothing of elsewhere, nothing flat */
    assert_string_equal(out.row[0].kernel, "b");
    assert_near(out.row[0].seconds, 1e-3, 1e-15); /* a few additions and a division */
    assert_true(out.row[0].samples >= 3);
    assert_string_equal(out.row[1].kernel, "a");
    assert_int_equal(out.row[1].samples, 1); /* twice as slow: not worth a second look */
    assert_string_equal(out.row[2].kernel, "c");
    assert_string_equal(out.row[3].kernel, "broken");
    assert_true(isnan(out.row[3].seconds));
    assert_string_equal(out.row[3].failure, "out of"); /* one line */
}

void test_tune__looks_again_at_what_auto_takes_by_itself(void **state)
{
    set_up();
    set_speed('a', 2e-3, 2e-3);
    set_speed('b', 1e-3, 1e-3);
    set_speed('c', 9e-3, 9e-3);
    const struct hs_tuning out = tune(kernels, &kernel_c, HS_OK);
    assert_string_equal(out.row[2].kernel, "c");
    assert_true(out.row[2].samples >= 3);
    assert_int_equal(out.row[1].samples, 1);
}

/* a looks best and is slowest when looked at again; then c, left aside at first, is next. */
void test_tune__fastest_is_one_that_was_looked_at_again(void **state)
{
    set_up();
    set_speed('a', 1.0e-3, 9e-3);
    set_speed('b', 1.3e-3, 8e-3);
    set_speed('c', 1.5e-3, 3e-3);
    const struct hs_tuning out = tune(kernels, &kernel_a, HS_OK);
    assert_string_equal(out.row[0].kernel, "c");
    assert_true(out.row[0].samples >= 3);
    assert_near(out.row[0].seconds, 3e-3, 1e-15);
    assert_string_equal(out.row[1].kernel, "b");
    assert_string_equal(out.row[2].kernel, "a");
}

void test_tune__none_that_runs_is_a_device_error(void **state)
{
    set_up();
    static const struct hs_kernel *const only[] = {&reference, &broken, NULL};
    tune(only, &broken, HS_DEVICE);
    static const struct hs_kernel *const none[] = {&reference, &flat, NULL};
    tune(none, NULL, HS_BAD_INPUT);
}

/* ---- stretches ------------------------------------------------------------------------------- */

void test_tune__stretches_are_those_of_the_run(void **state)
{
    set_up();
    static const struct hs_kernel *const only[] = {&kernel_a, NULL};
    set_speed('a', 1e-5, 1e-5); /* 2000 sweeps a sample */
    tune(only, &kernel_a, HS_OK);
    assert_int_equal(least_kept, INT64_MAX); /* 1024 or more: the last one does not matter */

    struct hs_plan plan;
    struct hs_problem problem = problem_of(&plan, &kernel_a);
    struct hs_tuning out;
    plan.output_every = 100;
    problem.schedule.history_every = 7;
    set_up();
    set_speed('a', 1e-5, 1e-5);
    assert_int_equal(hs_tune_measure(only, &problem, &plan, &out, NULL), HS_OK);
    assert_int_equal(least_kept, 4);
    assert_non_null(strstr(out.about.about, "stops every 4 sweeps"));
}

/* ---- the case -------------------------------------------------------------------------------- */

static struct hs_tune_case case_of(const struct hs_problem *problem, const struct hs_plan *plan)
{
    struct hs_tune_case out;
    assert_int_equal(hs_tune_case_of(problem, plan, &out, NULL), HS_OK);
    return out;
}

void test_tune__case_says_device_driver_and_version(void **state)
{
    struct hs_plan plan;
    const struct hs_problem problem = problem_of(&plan, &kernel_a);
    const struct hs_tune_case about = case_of(&problem, &plan);
    assert_string_equal(about.device, "a device, of two lines");
    assert_string_equal(about.driver, "a driver");
    assert_non_null(strstr(about.version, hs_version()));
    assert_non_null(strstr(about.version, hs_commit()));
    assert_string_equal(about.about,
                        "3D, 9 x 9 x 9 nodes, radius 1, float, x_min fixed, x_max fixed, y_min "
                        "fixed, y_max fixed, z_min fixed, z_max fixed, no source, stops every 1024 "
                        "sweeps or more");
}

static void assert_another(const struct hs_problem *problem, const struct hs_plan *plan,
                           const char *says)
{
    struct hs_plan usual_plan;
    const struct hs_problem usual = problem_of(&usual_plan, &kernel_a);
    const struct hs_tune_case about = case_of(problem, plan), before = case_of(&usual, &usual_plan);
    assert_string_not_equal(about.about, before.about);
    if (!strstr(about.about, says))
        fail_msg("\"%s\" does not say \"%s\"", about.about, says);
}

void test_tune__case_is_another_where_a_kernel_sees_a_difference(void **state)
{
    static const struct hs_instruction code[] = {{HS_OP_T, 0.0}};
    const struct hs_expression of_time = {.code = code, .length = 1, .varies = HS_VARIES_T};
    const struct hs_expression of_space = {.code = code, .length = 1, .varies = HS_VARIES_Y};
    double data = 0.0;
    struct hs_plan plan;
    struct hs_problem p = problem_of(&plan, &kernel_a);
    p.grid.points[HS_Y] = 10;
    assert_another(&p, &plan, "9 x 10 x 9 nodes");
    p = problem_of(&plan, &kernel_a);
    p.grid.dims = 2;
    assert_another(&p, &plan, "2D, 9 x 9 nodes");
    p = problem_of(&plan, &kernel_a);
    p.radius = 2;
    assert_another(&p, &plan, "radius 2");
    p = problem_of(&plan, &kernel_a);
    p.precision = HS_DOUBLE;
    assert_another(&p, &plan, "double");
    p = problem_of(&plan, &kernel_a);
    p.face[3].type = "robin";
    assert_another(&p, &plan, "y_max robin,");
    p.face[3].data.expression = of_time;
    assert_another(&p, &plan, "y_max robin in time,");
    p.face[3].data.expression = of_space;
    assert_another(&p, &plan, "y_max robin in space,");
    p = problem_of(&plan, &kernel_a);
    p.source.present = true;
    assert_another(&p, &plan, ", a source,");
    p.source.field.value.expression = of_time;
    assert_another(&p, &plan, ", a source in time,");
    p.source.field.data = &data;
    assert_another(&p, &plan, ", a source in space,");
    p = problem_of(&plan, &kernel_a);
    p.schedule.steady = true;
    assert_another(&p, &plan, "stops every 64 sweeps");
    p = problem_of(&plan, &kernel_a);
    plan.sweeps = 12;
    assert_another(&p, &plan, "stops every 8 sweeps");
}

void test_tune__case_is_the_same_for_other_values(void **state)
{
    struct hs_plan plan, before_plan;
    const struct hs_problem before = problem_of(&before_plan, &kernel_a);
    struct hs_problem p = problem_of(&plan, &kernel_b);
    p.grid.spacing[HS_X] = 3.0;
    p.c[0] = 0.5;
    p.face[0].data.constant = 4.0;
    p.initial.field.value.constant = 5.0;
    plan.sweeps = 6000;
    plan.tail_step = 0.5;
    plan.output_every = 1500;
    assert_string_equal(case_of(&p, &plan).about, case_of(&before, &before_plan).about);
}

/* ---- taking it ------------------------------------------------------------------------------- */

extern const struct hs_backend hs_backend_cpu;
extern const struct hs_kernel hs_kernel_cpu_openmp, hs_kernel_cpu_reference;

void test_tune__found_kernel_becomes_the_plans(void **state)
{
    struct hs_plan plan;
    const struct hs_problem problem = problem_of(&plan, &hs_kernel_cpu_reference);
    plan.backend = &hs_backend_cpu;
    struct hs_tuning tuning = {.count = 1, .row = {{.kernel = "openmp", .seconds = 1.0}}};
    assert_true(hs_tune_apply(&tuning, &problem, &plan));
    assert_ptr_equal(plan.kernel, &hs_kernel_cpu_openmp);
    assert_int_equal(plan.choice, HS_CHOICE_TUNED);
}

void test_tune__kernel_that_is_not_for_the_case_is_not_taken(void **state)
{
    static const char *const names[] = {"no_such", "reference", ""};
    for (int n = 0; n < 3; n++) {
        struct hs_plan plan;
        const struct hs_problem problem = problem_of(&plan, &hs_kernel_cpu_openmp);
        plan.backend = &hs_backend_cpu;
        struct hs_tuning tuning = {.count = 1};
        strcpy(tuning.row[0].kernel, names[n]);
        assert_false(hs_tune_apply(&tuning, &problem, &plan));
        assert_ptr_equal(plan.kernel, &hs_kernel_cpu_openmp);
        assert_int_equal(plan.choice, HS_CHOICE_HEURISTIC);
    }
}

/* The real thing, on the CPU. */
void test_tune__measures_the_kernels_of_this_build(void **state)
{
    struct hs_plan plan;
    struct hs_problem problem = problem_of(&plan, &hs_kernel_cpu_openmp);
    plan.backend = &hs_backend_cpu;
    for (int c = 0; c < 7; c++)
        problem.c[c] = 1.0 / 7.0;
    struct hs_tuning out;
    assert_int_equal(hs_tune_measure(hs_kernels, &problem, &plan, &out, NULL), HS_OK);
    assert_true(out.count >= 1 && out.row[0].seconds > 0.0);
    assert_true(out.row[0].seconds < 0.1); /* of 343 points */
    assert_true(out.seconds > 0.0);
    for (int n = 0; n < out.count; n++)
        assert_string_not_equal(out.row[n].kernel, "reference");
}
