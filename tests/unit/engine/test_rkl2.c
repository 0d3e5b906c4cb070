/* Steps of many sweeps, against the exact solution in time of the grid's equations, and among
 * themselves: forms, kernels, stretches. */
#include "engine/registry.h"
#include "engine/stability.h"
#include "functions/program.h"
#include "modes_case.h"

#include <float.h>

extern const struct hs_backend hs_backend_cpu;
extern const struct hs_kernel hs_kernel_cpu_openmp;
extern const struct hs_method hs_method_rkl2;

static const struct hs_backend *const cpu = &hs_backend_cpu;
static const struct hs_kernel *const kernel = &hs_kernel_cpu_openmp;

static const int64_t points[HS_AXES] = {11, 9, 8};

/* A source of constantly 25 K/s that claims to change in time. */
static struct hs_instruction always[] = {{HS_OP_CONSTANT, 25.0}};

static void make_vary(struct modes_case *c)
{
    c->problem.source.field.value.expression =
        (struct hs_expression){.code = always, .length = 1, .varies = HS_VARIES_T};
}

static double *steps_of(const struct modes_case *c, const struct hs_kernel *by, double step,
                        int64_t count, int64_t stretch)
{
    return run_case(c, cpu, by, &hs_method_rkl2, step, count, stretch, true, NULL);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static double off_exact(const struct modes_case *c, double end, int64_t steps)
{
    double *exact = run_case(c, cpu, kernel, &hs_method_exponential, end, 1, 1, false, NULL);
    double *out = steps_of(c, kernel, end / (double)steps, steps, steps);
    const double off = difference(c, out, exact);
    free(exact);
    free(out);
    return off;
}

/* From a field without any order: 200 times the longest stable sweep, in 20 steps and in 40. */
static void approaches_exact(struct modes_case *c, const char *name, int n)
{
    const double end = 200.0 * hs_stability_limit(&c->problem);
    const double coarse = off_exact(c, end, 20), fine = off_exact(c, end, 40);
    /* In float a sweep rounds by 6e-8, and there are some 400. */
    const double least = c->problem.precision == HS_FLOAT ? 4e-6 : 1e-12;
    if (!(fine <= fmax(coarse / 3.0, least)))
        fail_msg("%s: off by %g, and with half the step by %g", name, coarse, fine);
}

void test_rkl2__approaches_the_exact_field_of_all_walls(void **state)
{
    for_all_walls(points, approaches_exact);
}

/* The recursion of two fields and the stages that take walls and sources at their own times are the
 * same polynomial. */
static void both_forms_agree(struct modes_case *c, const char *name, int n)
{
    const double step = 30.0 * hs_stability_limit(&c->problem);
    double *constant = steps_of(c, kernel, step, 5, 5);
    make_vary(c);
    double *varying = steps_of(c, kernel, step, 5, 5);
    const double off = difference(c, varying, constant);
    /* 55 sweeps, each rounding a few times */
    if (!(off <= (c->problem.precision == HS_FLOAT ? 1e-5 : 2e-14)))
        fail_msg("%s: the forms differ by %g", name, off);
    free(constant);
    free(varying);
}

void test_rkl2__has_two_forms_of_one_polynomial(void **state)
{
    for_all_walls(points, both_forms_agree);
}

/* ---- bits ------------------------------------------------------------------------------------ */

static bool has_the_bits(const struct hs_kernel *other, const struct modes_case *c)
{
    char reason[256];
    const bool adds_in_double = strcmp(other->name, "reference") == 0;
    return other->device == HS_CPU && hs_kernel_suits(other, &c->problem, reason, sizeof reason) &&
           !(adds_in_double && c->problem.precision == HS_FLOAT);
}

/* The same by a sweep and a sum for each stage. */
static double *apart(const struct modes_case *c, double step, int64_t count)
{
    struct without_passes by;
    return run_case(c, make_without_passes(cpu, &by), kernel, &hs_method_rkl2, step, count, count,
                    true, NULL);
}

static void hold_bits(const struct modes_case *c, const char *name, const char *form)
{
    const double step = 30.0 * hs_stability_limit(&c->problem);
    const size_t bytes = (size_t)hs_grid_count(&c->problem.grid) * sizeof(double);
    double *expected = apart(c, step, 6);
    for (int n = 0; hs_kernels[n]; n++) {
        if (!has_the_bits(hs_kernels[n], c))
            continue;
        double *out = steps_of(c, hs_kernels[n], step, 6, 1 + n % 3);
        if (memcmp(out, expected, bytes))
            fail_msg("%s, %s: %s has other bits", name, form, hs_kernels[n]->name);
        free(out);
    }
    free(expected);
}

static void has_bits(struct modes_case *c, const char *name, int n)
{
    hold_bits(c, name, "constant");
    make_vary(c);
    hold_bits(c, name, "varying");
}

void test_rkl2__has_the_same_bits_by_every_kernel_and_stretch(void **state)
{
    for_all_walls(points, has_bits);
}

/* Uniform fields that sweeps keep to the last bit stay so in float, whose coefficients add up to 1.
 * In double the sum is off 1 by an epsilon at most, and s stages make some s^2/4 of it. */
void test_rkl2__keeps_what_is_uniform(void **state)
{
    static const char *const walls[HS_FACES] = {"reflective", "reflective", "reflective",
                                                "reflective", "reflective", "reflective"};
    for (int precision = 0; precision < HS_PRECISIONS; precision++) {
        struct modes_case c = make_case(3, 2, (enum hs_precision)precision, walls, points, false);
        const int64_t count = hs_grid_count(&c.problem.grid);
        for (int64_t n = 0; n < count; n++)
            hs_write(c.problem.precision, c.initial, n, 293.15);
        const double expected = hs_read(c.problem.precision, c.initial, 0);
        double *out = steps_of(&c, kernel, 100.0 * hs_stability_limit(&c.problem), 20, 20);
        for (int64_t n = 0; n < count; n++)
            assert_near(out[n], expected,
                        precision == HS_FLOAT ? 0.0 : 20.0 * 105.0 * DBL_EPSILON * 293.15);
        free(out);
        release_case(&c);
    }
}

/* ---- the change, and stages ------------------------------------------------------------------ */

void test_rkl2__tells_the_change_of_a_step(void **state)
{
    const char *kind[HS_FACES];
    wall_names(0, kind);
    struct modes_case c = make_case(2, 1, HS_DOUBLE, kind, points, true);
    const double step = 50.0 * hs_stability_limit(&c.problem);
    struct hs_reduction reduction;
    double *last = run_case(&c, cpu, kernel, &hs_method_rkl2, step, 4, 2, true, &reduction);
    double *before = steps_of(&c, kernel, step, 3, 3);
    double most = 0.0;
    for (int64_t n = 0; n < hs_grid_count(&c.problem.grid); n++)
        most = fmax(most, fabs(last[n] - before[n]));
    assert_true(reduction.change == most && most > 0.0);
    free(last);
    free(before);
    release_case(&c);
}

/* An odd number of stages that is stable, where two fewer would not be. */
void test_rkl2__has_as_few_stages_as_are_stable(void **state)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.schedule.safety = 0.9;
    for (double step = 0.01; step < 1e9; step *= 1.7) {
        const int64_t s = hs_method_rkl2.sweeps(&problem, 1.0, step);
        const double far = (double)(s * s + s - 2) / 4.0;
        const double less = (double)((s - 2) * (s - 2) + s - 4) / 4.0;
        assert_true(s % 2 == 1 && s >= 3);
        assert_true(step <= 0.9 * far * (1.0 + 1e-9));
        assert_true(s == 3 || step > 0.9 * less);
    }
    assert_int_equal(hs_method_rkl2.sweeps(&problem, INFINITY, 1.0), 3);
}
