#include "test.h"

#include "functions/evaluate.h"
#include "functions/separation.h"
#include "input/expression.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_grid grid = {.dims = 3,
                                    .points = {41, 31, 21},
                                    .lower = {-0.5, -0.75, -0.25},
                                    .spacing = {0.05, 0.05, 0.05}};

struct sample {
    double x, y, z, t;
};

static struct sample sample_of(int n)
{
    return (struct sample){-0.5 + 2.0 * (n * 37 % 101) / 101, -0.75 + 1.5 * (n * 53 % 103) / 103,
                           -0.25 + 1.0 * (n * 71 % 107) / 107, 3.0 * (n * 29 % 109) / 109};
}

static double value_of(const struct hs_expression *e, struct sample s)
{
    return hs_expression_at(e->code, e->length, s.x, s.y, s.z, s.t);
}

static double part_of(const struct hs_expression *e, struct sample s, double otherwise)
{
    return e->length > 0 ? value_of(e, s) : otherwise;
}

/* The tables give the program's value to the bit; each part is evaluated at its own axes only. */
static void check_separation(const char *text, const struct hs_expression *e,
                             const struct hs_separation *separation)
{
    for (int n = 0; n < 100; n++) {
        const struct sample s = sample_of(n);
        struct sample plane = s, line = s;
        double *const on_plane[] = {&plane.x, &plane.y, &plane.z};
        double *const on_line[] = {&line.x, &line.y, &line.z};
        for (int axis = 0; axis < HS_AXES; axis++)
            *(axis == separation->axis ? on_plane : on_line)[axis] = 0.123;
        const double value =
            value_of(&separation->plane, plane) * part_of(&separation->column, line, 1.0) +
            part_of(&separation->offset, line, -0.0);
        const double expected = value_of(e, s);
        if (memcmp(&value, &expected, sizeof value) != 0)
            fail_msg("%s: %.17g, not %.17g", text, value, expected);
    }
}

/* Whether the expression has the form along the axis, as it stands or (`made`) rearranged. */
static const struct {
    const char *text;
    int axis; /* -1: it cannot be brought into the form */
    bool made;
} cases[] = {
    {"sin(x + y*t) + z", HS_Z, false},
    {"sin(x*y)*cos(z*t)", HS_Z, false},
    {"cos(z*t)*sin(x*y)", HS_Z, false},
    {"z*t + x*y*exp(-z)", HS_Z, false},
    {"sin(x + z*t)*y + y*t", HS_Y, false},
    {"x*(y + z*t) + x", HS_X, false},
    {"x*y*z*t", HS_Z, true},
    {"1e6*exp(-((x - 0.1*t)^2 + y^2 + z^2)/0.01)", HS_Z, true},
    {"exp(-((x - 0.1*t)^2 + (y - 0.05)^2 + (z - 0.1)^2)/(2*0.01))/3", HS_Z, true},
    {"2*exp(-2*((x - 0.1*t)^2 + y^2)/0.1)*exp(z/0.05)", HS_Z, false},
    {"exp(-3*((x - t)^2/0.2^2 + y^2/0.3^2 + z^2/0.1^2))*sin(t)", HS_Z, true},
    {"3*exp(-x^2 - (y - 0.1*sin(t))^2 - (z - 0.1*cos(t))^2)", HS_Z, true},
    {"2^(x*sin(t) - y + z)", HS_Z, true},
    {"-((x - t)*y - z)/4 + z", HS_Z, true},
    {"(x*y*t*z)^2", HS_Z, true},
    {"abs(x*y*t*z)^3", HS_Z, true},
    {"(x - t)^2 + y^2 < 0.25 && z > 0.5 ? 7*x : 0", HS_Z, true},
    {"(x - t)^2 + y^2 < 0.25 && z > 0.1 && x > y && z < 0.6 ? 7*x : 0", HS_Z, true},
    {"z > 0.5 ? x*y*t + z : 0", HS_Z, true},
    {"x < t ? exp(-(x - t)^2 - y^2 - z^2) : exp(-(4*(x - t)^2) - y^2 - z^2)", HS_Z, true},
    {"(x < t)*(y > 0.1)*(z > 0.2)*(1 + x)", HS_Z, true},
    {"x*y*t*z + 3*z*(x*y*t)", HS_Z, true},
    {"t*x/(1 + y^2)/(2 + z^2)", HS_Z, true},
    {"x*z*t/(y + 2)", HS_Z, true},
    {"t/((1 + x^2 + y^2)*(2 + z))", HS_Z, true},
    {"exp(x*z*t)*y", HS_Y, false},
    {"y*exp(x*z*sin(t))*y + 0.5*y", HS_Y, true},
    {"exp(x*z*sin(t) - y) + sin(y)", HS_Y, true},
    {"2*(exp(y*z*sin(t))*x)*x", HS_X, true},
    /* none */
    {"sin(x*y*z*t)", -1, false},
    {"exp(-sqrt(x^2 + y^2 + z^2)*t)", -1, false},
    {"(x - t)^2 + y^2 + z^2 < 0.25 ? 1 : 0", -1, false},
    {"sin(x + t)*z + cos(y)*z^2", -1, false},
    {"x*y*t < z ? 1 : 2", -1, false},
    /* where the form could differ from the expression */
    {"exp(1000*x + 1000*y + z - 2000 - t)", -1, false},
    {"exp(t*x - t*y + z)", -1, false},
    {"x*t*y/(z*(x - 1.5))", -1, false},
    {"x*y*t*1e90*(1e90*z)*2", -1, false},
    {"x*y*t*tan(x)*z*2", -1, false},
    {"exp(-400*((x - t)^2 + y^2 + z^2)) ? 7*x : 0", -1, false},
    {"(x - t)*y && x < y && z > 0.1 ? 7*x : 0", HS_Z, true},
};

void test_rearrange__gives_the_form_with_the_expressions_values(void **state)
{
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        const char *text = cases[n].text;
        struct hs_instruction *made = NULL;
        struct hs_expression e, form;
        struct hs_separation separation;
        char reason[200];
        struct hs_instruction *code = hs_expression_compile(text, &e, reason, sizeof reason);
        assert_non_null(code);
        form = e;
        const bool as_is = hs_expression_separate(&e, 3, &separation);
        if (as_is != (cases[n].axis >= 0 && !cases[n].made))
            fail_msg("%s: %s form as it stands", text, as_is ? "has the" : "has no");
        const bool done = as_is || hs_expression_rearrange(&e, &grid, &made, &form);
        if (done != (cases[n].axis >= 0))
            fail_msg("%s: %s", text, done ? "was rearranged" : "was not rearranged");
        if (done) {
            assert_true(hs_expression_separate(&form, 3, &separation));
            if (separation.axis != cases[n].axis)
                fail_msg("%s: along axis %d", text, separation.axis);
            assert_int_equal(form.varies, e.varies);
            check_separation(text, &form, &separation);
        }
        for (int i = 0; i < 300 && done; i++) {
            const double was = value_of(&e, sample_of(i)), is = value_of(&form, sample_of(i));
            /* some twenty roundings; an exponent of 30 makes each of its own 30 times as large.
             * Sums cancel: relative to what is added, 10 at most. */
            const double most = (30.0 * 20.0 * fabs(was) + 10.0) * DBL_EPSILON;
            if (!(fabs(is - was) <= most))
                fail_msg("%s: %.17g became %.17g", text, was, is);
        }
        free(code);
        free(made);
    }
}

/* In a plane the last axis is y, and z is a constant. */
void test_rearrange__in_a_plane(void **state)
{
    const struct hs_grid plane = {
        .dims = 2, .points = {9, 7, 1}, .lower = {0.0, 0.0, 0.0}, .spacing = {0.1, 0.1, 1.0}};
    struct hs_instruction *made;
    struct hs_expression e, form;
    struct hs_separation separation;
    char reason[200];
    const char *text = "exp(-(x - t)^2 - y^2)";
    struct hs_instruction *code = hs_expression_compile(text, &e, reason, sizeof reason);
    assert_non_null(code);
    assert_false(hs_expression_separate(&e, 2, &separation));
    assert_true(hs_expression_rearrange(&e, &plane, &made, &form));
    assert_true(hs_expression_separate(&form, 2, &separation));
    assert_int_equal(separation.axis, HS_Y);
    check_separation(text, &form, &separation);
    free(code);
    free(made);
    /* along a line there is nothing to separate */
    code = hs_expression_compile("x + t", &e, reason, sizeof reason);
    assert_non_null(code);
    assert_false(hs_expression_separate(&e, 1, &separation));
    free(code);
}

/* A program that would be too long, or whose tree would, is left as it is. */
void test_rearrange__refuses_what_it_has_no_room_for(void **state)
{
    static char text[8000];
    size_t used = (size_t)snprintf(text, sizeof text, "z*t*y*x*1");
    for (int n = 2; n < 700 && used < sizeof text - 20; n++)
        used += (size_t)snprintf(text + used, sizeof text - used, "*(x+%d)", n);
    struct hs_instruction *made;
    struct hs_expression e, form;
    char reason[200];
    struct hs_instruction *code = hs_expression_compile(text, &e, reason, sizeof reason);
    assert_non_null(code);
    assert_false(hs_expression_rearrange(&e, &grid, &made, &form));
    assert_null(made);
    free(code);
}
