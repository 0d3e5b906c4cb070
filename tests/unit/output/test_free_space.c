/* Space that superseded contents leave in a file. */
#include "test.h"

#include "output/free_space.h"
#include "output/store.h"

#include <math.h>

void test_free_space__is_found_after_its_while(void **state)
{
    struct hs_free_space space = {0};
    struct hs_gap gap;
    hs_free_space_leave(&space, 1000, 80, 5.0);
    assert_false(hs_free_space_find(&space, 80, 4.9, &gap));
    assert_false(hs_free_space_find(&space, 81, 5.0, &gap));
    assert_true(hs_free_space_find(&space, 80, 5.0, &gap));
    assert_int_equal(gap.at, 1000);
    assert_int_equal(gap.bytes, 80);
    hs_free_space_release(&space);
}

void test_free_space__the_smallest_that_is_large_enough(void **state)
{
    struct hs_free_space space = {0};
    struct hs_gap gap;
    hs_free_space_leave(&space, 5000, 300, 1.0);
    hs_free_space_leave(&space, 1000, 900, 1.0);
    hs_free_space_leave(&space, 3000, 200, 1.0);
    assert_true(hs_free_space_find(&space, 210, 2.0, &gap));
    assert_int_equal(gap.at, 5000);
    hs_free_space_release(&space);
}

void test_free_space__neighbours_are_one_when_both_have_waited(void **state)
{
    struct hs_free_space space = {0};
    struct hs_gap gap;
    hs_free_space_leave(&space, 1100, 50, 2.0);
    hs_free_space_leave(&space, 1000, 100, 1.0);
    assert_false(hs_free_space_find(&space, 101, 1.5, &gap));
    assert_true(hs_free_space_find(&space, 150, 2.0, &gap));
    assert_int_equal(gap.at, 1000);
    assert_int_equal(hs_free_space_take(&space, 1000, 120), 120);
    assert_false(hs_free_space_find(&space, 31, 9.0, &gap));
    assert_true(hs_free_space_find(&space, 30, 9.0, &gap));
    assert_int_equal(gap.at, 1120);
    assert_int_equal(hs_free_space_take(&space, 1120, 31), 30);
    assert_false(hs_free_space_find(&space, 1, 9.0, &gap));
    hs_free_space_release(&space);
}

enum { MOST = 4000 };

/* A history that grows to `last` bytes within 10 minutes and is rewritten every `pause` [s], or as
 * the store chooses. Each version has a quarter of spare space to grow, is given up when the next
 * is there, and has readers for 10 s more; it must not be overwritten before. Returns the file's
 * end. */
static int64_t grow(double last, double pause)
{
    static struct {
        int64_t at, bytes;
        double left;
    } past[MOST];
    struct hs_free_space space = {0};
    int64_t end = 0;
    int count = 0;
    for (double now = 0.0; now < 600.0; count++) {
        assert_true(count < MOST);
        const int64_t used = 50000 + (int64_t)(last * now / 600.0), bytes = used + used / 4;
        struct hs_gap gap = {.at = end};
        if (count > 0) {
            hs_free_space_leave(&space, past[count - 1].at, past[count - 1].bytes, now);
            past[count - 1].left = now;
        }
        int64_t taken = bytes;
        if (hs_free_space_find(&space, used, now - 10.0, &gap))
            taken = hs_free_space_take(&space, gap.at, bytes);
        else
            end += bytes;
        assert_true(taken >= used);
        for (int old = 0; old < count; old++)
            assert_true(past[old].left <= now - 10.0 || past[old].at + past[old].bytes <= gap.at ||
                        gap.at + taken <= past[old].at);
        past[count].at = gap.at;
        past[count].bytes = taken;
        now += pause > 0.0 ? pause : fmax(0.25, hs_store_pause((double)used, (double)end));
    }
    hs_free_space_release(&space);
    return end;
}

/* The version in use, those that wait for their readers (twice that, or three times with what was
 * begun before), and the next one; each with its spare space. */
void test_free_space__growing_contents_use_it_again(void **state)
{
    assert_true(grow(11e6, 0.0) < (int64_t)(5 * 1.25 * 11e6));
    /* without pauses, forty versions wait: that many times as much */
    assert_true(grow(11e6, 0.25) > (int64_t)(20 * 11e6));
}

void test_free_space__small_contents_hardly_pause(void **state)
{
    assert_true(hs_store_pause(50e3, 1e6) < 0.25);
    assert_true(hs_store_pause(1e6, 1e9) < 0.25); /* little beside the fields */
    assert_true(hs_store_pause(1e6, 2e6) > 2.0);
    assert_true(hs_store_pause(1e9, 2e9) <= 5.0); /* what a kill may lose */
    /* the first alone; another after 1/4 s, nearly as large as the last; those of ten seconds */
    assert_near(hs_store_superseded(1e3, 2e6, 3e6, 0.25, 0.2), 1e3, 0.0);
    assert_near(hs_store_superseded(1e3, 2e6, 3e6, 0.25, 0.26), 1e3 + 1e3 + 1.999e6 * 0.25 / 0.26,
                1.0);
    const double hour = hs_store_superseded(1e3, 50e3, 1e9, 0.25, 3600.0);
    assert_near(hour, 40.0 * 50e3, 0.05 * hour);
}
