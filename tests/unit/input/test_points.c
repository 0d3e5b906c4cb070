#include "input/points.h"
#include "test.h"

#include <string.h>

static void assert_read(const char *text, int64_t given_dims, int dims, int64_t x, int64_t y,
                        int64_t z)
{
    int found;
    int64_t points[HS_AXES];
    assert_ok(hs_points_read("bench", text, given_dims, &found, points, &err));
    assert_int_equal(found, dims);
    assert_true(points[0] == x && points[1] == y && points[2] == z);
}

static void assert_refused(const char *text, int64_t given_dims, const char *why)
{
    int found;
    int64_t points[HS_AXES];
    assert_fails(hs_points_read("explain", text, given_dims, &found, points, &err), HS_BAD_INPUT,
                 why);
}

void test_points__a_lone_number_is_for_every_axis(void **state)
{
    assert_read("256", 0, 3, 256, 256, 256);
    assert_read("256", 2, 2, 256, 256, 1);
    assert_read("1e6", 1, 1, 1000000, 1, 1);
    assert_read("512,256", 0, 2, 512, 256, 1);
    assert_read("512x256x128", 3, 3, 512, 256, 128);
}

void test_points__says_what_is_wrong(void **state)
{
    assert_refused("1,2,3,4", 0, "explain: --points 1,2,3,4: \"4\" is one axis too many");
    assert_refused("8,,8", 0, "\"\" is not a number; give 256 for every axis, or 512,512,256");
    assert_refused("8,", 0, "\"\" is not a number");
    assert_refused("a", 0, "\"a\" is not a number");
    assert_refused("0", 0, "\"0\" is less than 1");
    assert_refused("8,8", 3, "2 numbers for --dims 3");
    assert_refused("8", 4, "--dims 4: give 1, 2 or 3");
}
