#include "core/stencil.h"
#include "test.h"

#include <math.h>
#include <string.h>

void test_stencil__coefficients_are_ordered_centre_then_axis_then_distance(void **state)
{
    assert_int_equal(hs_stencil_index(1, HS_X, -1), 1);
    assert_int_equal(hs_stencil_index(1, HS_X, +1), 2);
    assert_int_equal(hs_stencil_index(1, HS_Z, -1), 5);
    assert_int_equal(hs_stencil_index(1, HS_Z, +1), 6);
    assert_int_equal(hs_stencil_index(2, HS_X, -2), 3);
    assert_int_equal(hs_stencil_index(2, HS_Y, -1), 5);
    assert_int_equal(hs_stencil_index(3, HS_Z, +3), 18);
    assert_int_equal(hs_stencil_count(3, 3), 19);
}

/* Weights of a second difference: sum 0, second moment 2, higher even moments 0 up to the order. */
void test_stencil__second_difference_has_its_order(void **state)
{
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int power = 0; power <= 2 * radius; power += 2) {
            double step_state = power == 0 ? hs_second_difference(radius, 0) : 0.0;
            for (int m = 1; m <= radius; m++) {
                double x = 1.0;
                for (int p = 0; p < power; p++)
                    x *= m;
                step_state += 2.0 * x * hs_second_difference(radius, m);
            }
            /* a few roundings of terms up to 3^6/90 */
            assert_near(step_state, power == 2 ? 2.0 : 0.0, 1e-14);
        }
}

void test_stencil__terms_ascend_in_memory(void **state)
{
    for (int dims = 1; dims <= 3; dims++)
        for (int radius = 1; radius <= HS_MAX_RADIUS; radius++) {
            struct hs_stencil stencil = {.dims = dims, .radius = radius};
            for (int i = 0; i < HS_MAX_COEFFICIENTS; i++)
                stencil.c[i] = i;
            struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
            const int count = hs_stencil_terms(&stencil, terms);
            assert_int_equal(count, hs_stencil_count(dims, radius));
            const long pitch[] = {1, 100, 10000};
            for (int n = 1; n < count; n++)
                assert_true(terms[n - 1].offset * pitch[terms[n - 1].axis] <
                            terms[n].offset * pitch[terms[n].axis]);
            for (int n = 0; n < count; n++)
                assert_int_equal((int)terms[n].c,
                                 hs_stencil_index(radius, terms[n].axis, terms[n].offset));
        }
}

/* ---- for floats ------------------------------------------------------------------------------ */

/* alpha dt / dx^2 along x, 0.9 and 0.3 of it along y and z */
static struct hs_stencil stencil_of(int dims, int radius, double number)
{
    const struct hs_grid grid = {
        .dims = dims, .points = {9, 9, 9}, .spacing = {1.0, 1.0 / sqrt(0.9), 1.0 / sqrt(0.3)}};
    return hs_stencil_of_diffusion(&grid, radius, 1.0, number);
}

/* Exact: the numbers are floats between 2^-40 and 1. */
static double sum_of(const struct hs_stencil *stencil)
{
    double sum = 0.0;
    for (int n = 0; n < hs_stencil_count(stencil->dims, stencil->radius); n++)
        sum += stencil->c[n];
    return sum;
}

static double sum_of_floats(const struct hs_stencil *stencil)
{
    double sum = 0.0;
    for (int n = 0; n < hs_stencil_count(stencil->dims, stencil->radius); n++)
        sum += (double)(float)stencil->c[n];
    return sum;
}

/* Sum of the coefficients along an axis times their distances squared: 2 alpha dt / dx^2. */
static double step_state_of(const struct hs_stencil *stencil, int axis)
{
    double sum = 0.0;
    for (int m = -stencil->radius; m <= stencil->radius; m++)
        if (m != 0)
            sum += m * m * stencil->c[hs_stencil_index(stencil->radius, axis, m)];
    return sum;
}

static void assert_balanced(const struct hs_stencil *before)
{
    struct hs_stencil after = *before;
    hs_stencil_balance(&after);
    assert_true(sum_of(&after) == 1.0);
    assert_true(before->c[0] < 0.0 || after.c[0] >= 0.0);
    for (int n = 0; n < hs_stencil_count(before->dims, before->radius); n++)
        assert_true((double)(float)after.c[n] == after.c[n]);
    for (int n = 1; n < hs_stencil_count(before->dims, before->radius); n++) {
        assert_true(fabs(after.c[n]) <= fabs(before->c[n])); /* no less stable */
        if (n % 2 == 0)
            assert_true(after.c[n] == after.c[n - 1]); /* no drift to one side */
    }
    for (int axis = 0; axis < before->dims; axis++) {
        const double whole = step_state_of(before, axis);
        assert_near(step_state_of(&after, axis), whole, 1e-5 * whole);
    }
}

void test_stencil__balanced_coefficients_are_floats_of_sum_one(void **state)
{
    int unbalanced = 0;
    for (int dims = 1; dims <= 3; dims++)
        for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
            for (int n = 0; n < 400; n++) {
                /* from half the limit in 3D with radius 1 to beyond it */
                const double number = 0.1 + 0.15 / 400.0 * n;
                const struct hs_stencil stencil = stencil_of(dims, radius, number);
                assert_balanced(&stencil);
                unbalanced += sum_of_floats(&stencil) != 1.0;
            }
    assert_true(unbalanced > 1800); /* of 3600: there was something to do */
}

void test_stencil__balanced_at_the_limit_of_stability(void **state)
{
    const struct hs_grid square = {.dims = 2, .points = {9, 9, 1}, .spacing = {1.0, 1.0, 1.0}};
    const struct hs_grid cube = {.dims = 3, .points = {9, 9, 9}, .spacing = {1.0, 1.0, 1.0}};
    struct hs_stencil stencil = hs_stencil_of_diffusion(&square, 1, 1.0, 0.25);
    assert_true(stencil.c[0] == 0.0);
    assert_balanced(&stencil);
    stencil = hs_stencil_of_diffusion(&cube, 1, 1.0, 1.0 / 6.0);
    assert_balanced(&stencil);
    stencil = hs_stencil_of_diffusion(&square, 1, 1.0, 0.3); /* a negative centre */
    assert_balanced(&stencil);
}

/* A coefficient of 1e-6 beside one of almost 1: rounded to a multiple of what the latter needs, it
 * would be 3 % off. */
void test_stencil__small_steps_are_not_balanced(void **state)
{
    struct hs_stencil stencil = stencil_of(3, 1, 1e-6);
    const struct hs_stencil before = stencil;
    hs_stencil_balance(&stencil);
    assert_memory_equal(&stencil, &before, sizeof stencil);
}
