#include "core/ghost.h"
#include "test.h"

/* (1 + e)(1 - e) = 1 - e*e; only a fused multiply-add keeps the last bit. */
void test_ghost__both_products_are_fused(void **state)
{
    const double e = 0x1p-30;
    const float f = 0x1p-15f;
    assert_true(hs_ghost(1.0 + e, 1.0 - e, 0.0, 0.0, -1.0) == -0x1p-60);
    assert_true(hs_ghost(0.0, 0.0, 1.0 + e, 1.0 - e, -1.0) == -0x1p-60);
    assert_true(hs_ghost(1.0f + f, 1.0f - f, 0.0f, 0.0f, -1.0f) == -0x1p-30f);
    assert_true(hs_ghost(0.0f, 0.0f, 1.0f + f, 1.0f - f, -1.0f) == -0x1p-30f);
}

/* The edge, 1, is lost beside the offset. In the other order the result would be 1. */
void test_ghost__the_edge_comes_before_the_inner_node(void **state)
{
    assert_true(hs_ghost(1.0, 0x1p60, 1.0, 1.0, -0x1p60) == 0.0);
    assert_true(hs_ghost(1.0, 1.0, 1.0, 0x1p60, -0x1p60) == 1.0);
    assert_true(hs_ghost(1.0f, 0x1p30f, 1.0f, 1.0f, -0x1p30f) == 0.0f);
    assert_true(hs_ghost(1.0f, 1.0f, 1.0f, 0x1p30f, -0x1p30f) == 1.0f);
}

void test_ghost__is_of_the_precision_of_its_arguments(void **state)
{
    assert_int_equal(sizeof hs_ghost(1.0f, 1.0f, 1.0f, 1.0f, 1.0f), sizeof(float));
    assert_int_equal(sizeof hs_ghost(1.0, 1.0, 1.0, 1.0, 1.0), sizeof(double));
    /* a sum that float rounds and double does not */
    assert_true(hs_ghost(1.0f, 1.0f, 1.0f, 0x1p-30f, 0.0f) == 1.0f);
    assert_true(hs_ghost(1.0, 1.0, 1.0, 0x1p-30, 0.0) > 1.0);
}
