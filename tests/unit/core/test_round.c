#include "core/round.h"
#include "test.h"

void test_round__as_many_as_it_takes(void **state)
{
    for (int64_t by = 1; by < 9; by++)
        for (int64_t count = 1; count < 40; count++) {
            const int64_t n = hs_divide_up(count, by);
            assert_true(n * by >= count && (n - 1) * by < count);
            assert_int_equal(hs_round_up(count, by), n * by);
        }
    const int64_t large = ((int64_t)1 << 40) + 1; /* beyond 32 bits */
    assert_true(hs_divide_up(large, 1 << 20) == ((int64_t)1 << 20) + 1);
}

/* An empty box has no blocks, and nothing is divided by zero. */
void test_round__of_nothing_is_nothing(void **state)
{
    assert_int_equal(hs_divide_up(0, 8), 0);
    assert_int_equal(hs_divide_up(-3, 8), 0);
    assert_int_equal(hs_divide_up(8, 0), 0);
    assert_int_equal(hs_round_up(0, 8), 0);
}
