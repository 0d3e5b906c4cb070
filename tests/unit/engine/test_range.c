#include "engine/make_plan.h"
#include "engine/range.h"
#include "test.h"
#include "walls.h"

#include <float.h>
#include <math.h>
#include <string.h>

static struct hs_problem make(double diffusivity, double spacing)
{
    struct hs_problem problem = make_held_line(11, spacing);
    problem.material.diffusivity = diffusivity;
    problem.schedule.sweeps = 2;
    return problem;
}

/* The plan is finite, or the message contains `words`. */
static void assert_plan(const struct hs_problem *problem, const char *words)
{
    struct hs_error err = {0};
    struct hs_plan plan;
    const enum hs_status status = hs_plan_steps(problem, &plan, &err);
    assert_int_equal(status, words ? HS_BAD_INPUT : HS_OK);
    if (words && !strstr(err.text, words))
        fail_msg("\"%s\" is not in: %s", words, err.text);
    if (!words)
        assert_true(isnormal(hs_plan_step(&plan)) && isnormal(plan.end));
    hs_error_release(&err);
}

void test_range__of_the_diffusivity(void **state)
{
    static const double within[] = {1e-300, 1e-200, 1.0, 1e200, 1e300};
    static const double beyond[] = {1e-320, 1e-310, 1e306, DBL_MAX};
    for (size_t i = 0; i < sizeof within / sizeof within[0]; i++) {
        const struct hs_problem problem = make(within[i], 1.0);
        assert_plan(&problem, NULL);
    }
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        const struct hs_problem problem = make(beyond[i], 1.0);
        assert_plan(&problem, "cannot be computed with; look at the units");
    }
    const struct hs_problem problem = make(1e200, 1e-60);
    assert_plan(&problem, "a diffusivity of 1e+200 m^2/s and a spacing of 1e-60 m along x");
}

void test_range__of_the_end(void **state)
{
    struct hs_problem problem = make(1e-300, 1.0);
    problem.schedule.sweeps = HS_PLAN_MOST_SWEEPS;
    assert_plan(&problem, NULL);
    problem.schedule.sweeps = 1000000000000;
    assert_plan(&problem, "time.sweeps: 1000000000000 sweeps of");
}

/* 1e-40 of a neighbour is something in double and nothing in float. */
void test_range__of_the_step(void **state)
{
    struct hs_problem problem = make(1.0, 1.0);
    problem.schedule.step = 1e-40;
    assert_plan(&problem, NULL);
    problem.precision = HS_FLOAT;
    assert_plan(&problem, "has a Fourier number of 1e-40, which float cannot hold");
    problem.precision = HS_DOUBLE;
    problem.schedule.step = NAN;
    problem.schedule.sweeps = -1;
    problem.schedule.end = 5e-324;
    assert_plan(&problem, "which double cannot hold; give a longer step");
}

void test_range__of_raw_coefficients(void **state)
{
    struct hs_problem problem = make(NAN, 1.0);
    problem.raw = true;
    problem.schedule.step = 1.0;
    for (int i = 0; i < 3; i++)
        problem.c[i] = DBL_MAX;
    assert_plan(&problem, "coefficients of inf in all cannot be computed with");
}

void test_range__of_walls(void **state)
{
    struct hs_problem problem = make(1.0, 1.0);
    problem.face[0] = (struct hs_face){.a = {1.0}, .b = {-1e12}, .c = {1e12}};
    assert_plan(&problem, NULL);
    problem.face[0].b[0] = -INFINITY;
    assert_plan(&problem, "boundary.x_min: this wall's data");
    problem.face[0].b[0] = NAN;
    assert_plan(&problem, "boundary.x_min: this wall's data");
}
