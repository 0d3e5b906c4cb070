/* Space that superseded contents leave in a file. */
#include "test.h"

#include "output/room.h"

#include <string.h>

void test_room__is_found_after_its_while(void **state)
{
    (void)state;
    struct hs_room room = {0};
    struct hs_gap gap;
    hs_room_leave(&room, 1000, 80, 5.0);
    assert_false(hs_room_find(&room, 80, 4.9, &gap));
    assert_false(hs_room_find(&room, 81, 5.0, &gap));
    assert_true(hs_room_find(&room, 80, 5.0, &gap));
    assert_int_equal(gap.at, 1000);
    assert_int_equal(gap.bytes, 80);
    hs_room_release(&room);
}

void test_room__the_smallest_that_is_large_enough(void **state)
{
    (void)state;
    struct hs_room room = {0};
    struct hs_gap gap;
    hs_room_leave(&room, 5000, 300, 1.0);
    hs_room_leave(&room, 1000, 900, 1.0);
    hs_room_leave(&room, 3000, 200, 1.0);
    assert_true(hs_room_find(&room, 210, 2.0, &gap));
    assert_int_equal(gap.at, 5000);
    hs_room_release(&room);
}

void test_room__neighbours_are_one_when_both_have_waited(void **state)
{
    (void)state;
    struct hs_room room = {0};
    struct hs_gap gap;
    hs_room_leave(&room, 1100, 50, 2.0);
    hs_room_leave(&room, 1000, 100, 1.0);
    assert_false(hs_room_find(&room, 101, 1.5, &gap));
    assert_true(hs_room_find(&room, 150, 2.0, &gap));
    assert_int_equal(gap.at, 1000);
    assert_int_equal(hs_room_take(&room, 1000, 120), 120);
    assert_false(hs_room_find(&room, 31, 9.0, &gap));
    assert_true(hs_room_find(&room, 30, 9.0, &gap));
    assert_int_equal(gap.at, 1120);
    assert_int_equal(hs_room_take(&room, 1120, 31), 30);
    assert_false(hs_room_find(&room, 1, 9.0, &gap));
    hs_room_release(&room);
}

/* A history of 10 minutes that grows to 10 MB, written every 5 s, each left for 10 s: the file
 * stays within some times its last contents (two that wait, one to come, what lies between), and
 * nothing is written over what a reader may still read. */
void test_room__growing_contents_use_it_again(void **state)
{
    (void)state;
    enum { COUNT = 120 };
    struct hs_room room = {0};
    struct {
        int64_t at, bytes;
        double left;
    } past[COUNT];
    int64_t end = 0;
    for (int n = 0; n < COUNT; n++) {
        const double now = 5.0 * n;
        const int64_t bytes = 10000000 / COUNT * (n + 1);
        struct hs_gap gap = {.at = end};
        if (hs_room_find(&room, bytes, now - 10.0, &gap))
            hs_room_take(&room, gap.at, bytes);
        else
            end += bytes;
        past[n].at = gap.at;
        past[n].bytes = bytes;
        past[n].left = now + 5.0;
        for (int old = 0; old < n; old++)
            assert_true(past[old].left <= now - 10.0 || past[old].at + past[old].bytes <= gap.at ||
                        gap.at + bytes <= past[old].at);
        if (n > 0)
            hs_room_leave(&room, past[n - 1].at, past[n - 1].bytes, now);
    }
    assert_true(end < 50000000); /* 600 MB if none were used again */
    hs_room_release(&room);
}
