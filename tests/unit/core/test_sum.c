#include "core/sum.h"
#include "test.h"

void test_sum__keeps_what_doubles_lose(void **state)
{
    struct hs_sum sum = {0.0, 0.0}, more = {0.0, 0.0};
    hs_sum_add(&sum, 1.0);
    hs_sum_add(&sum, 1e100);
    hs_sum_add(&more, 1.0);
    hs_sum_add(&more, -1e100);
    hs_sum_join(&sum, &more);
    assert_true(hs_sum_value(&sum) == 2.0);
}
