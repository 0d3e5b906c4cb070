#include "core/stencil.h"
#include "test.h"

void test_stencil__coefficients_are_ordered_centre_then_axis_then_distance(void **state)
{
    (void)state;
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
    (void)state;
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int power = 0; power <= 2 * radius; power += 2) {
            double moment = power == 0 ? hs_second_difference(radius, 0) : 0.0;
            for (int m = 1; m <= radius; m++) {
                double x = 1.0;
                for (int p = 0; p < power; p++)
                    x *= m;
                moment += 2.0 * x * hs_second_difference(radius, m);
            }
            /* a few roundings of terms up to 3^6/90 */
            assert_near(moment, power == 2 ? 2.0 : 0.0, 1e-14);
        }
}

void test_stencil__terms_ascend_in_memory(void **state)
{
    (void)state;
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
