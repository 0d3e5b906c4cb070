#include "core/largest_grid.h"
#include "test.h"

/* 8 bytes per node, plus the bytes that `context` points to. */
static double bytes_of(const struct hs_problem *problem, const void *context)
{
    double bytes = 8.0;
    for (int axis = 0; axis < HS_AXES; axis++)
        bytes *= (double)problem->grid.points[axis];
    return bytes + *(const double *)context;
}

static const double nothing = 0.0, some = 1000.0;

static struct hs_largest_grid limit_of(double free_bytes, const double *besides)
{
    return (struct hs_largest_grid){bytes_of, besides, free_bytes};
}

void test_largest_grid__a_cube_to_the_byte(void **state)
{
    const struct hs_problem asked = {.radius = 1,
                                     .grid = {.dims = 3, .points = {4096, 4096, 4096}}};
    struct hs_grid found;
    for (int edge = 3; edge < 4096; edge += 31) {
        const double just = 8.0 * edge * edge * edge + some;
        const struct hs_largest_grid limit = limit_of(just, &some),
                                     less = limit_of(just - 1.0, &some);
        assert_true(hs_largest_grid_find(&limit, &asked, &found));
        for (int axis = 0; axis < HS_AXES; axis++)
            assert_int_equal(found.points[axis], edge);
        if (edge > 3) {
            assert_true(hs_largest_grid_find(&less, &asked, &found));
            assert_int_equal(found.points[HS_X], edge - 1);
        }
    }
}

/* One more point along the longest axis would not fit. Each axis keeps its share to a point. */
void test_largest_grid__other_axes_keep_their_share(void **state)
{
    const struct hs_problem asked = {.radius = 1,
                                     .grid = {.dims = 3, .points = {1000, 4001, 2000}}};
    struct hs_grid found;
    for (double free_bytes = 1e4; free_bytes < 8.0 * 1000 * 4000 * 2000; free_bytes *= 1.7) {
        const struct hs_largest_grid limit = limit_of(free_bytes, &nothing);
        assert_true(hs_largest_grid_find(&limit, &asked, &found));
        struct hs_problem largest = {.grid = found};
        assert_true(bytes_of(&largest, &nothing) <= free_bytes);
        const double share = (double)found.points[HS_Y] / 4001.0;
        assert_near((double)found.points[HS_X], 1000.0 * share, 1.0);
        assert_near((double)found.points[HS_Z], 2000.0 * share, 1.0);
        int64_t *points = largest.grid.points;
        points[HS_Y]++;
        points[HS_X] = 1000 * points[HS_Y] / 4001;
        points[HS_Z] = 2000 * points[HS_Y] / 4001;
        assert_true(bytes_of(&largest, &nothing) > free_bytes);
    }
}

void test_largest_grid__a_thin_axis_keeps_what_the_stencil_needs(void **state)
{
    const struct hs_problem asked = {.radius = 1,
                                     .grid = {.dims = 2, .points = {2147483647, 4, 1}}};
    const struct hs_largest_grid limit = limit_of(8.0 * 3 * 1000, &nothing);
    struct hs_grid found;
    assert_true(hs_largest_grid_find(&limit, &asked, &found));
    assert_int_equal(found.points[HS_X], 1000);
    assert_int_equal(found.points[HS_Y], 3);
    assert_int_equal(found.points[HS_Z], 1);
}

void test_largest_grid__counts_that_no_integer_holds(void **state)
{
    const struct hs_problem asked = {
        .radius = 1, .grid = {.dims = 3, .points = {2147483647, 2147483647, 2147483647}}};
    const struct hs_largest_grid limit = limit_of(8e27, &nothing); /* 1e9 along each */
    struct hs_grid found;
    assert_true(hs_largest_grid_find(&limit, &asked, &found));
    assert_int_equal(found.points[HS_Z], 1000000000);
    const struct hs_problem line = {
        .radius = 1, .grid = {.dims = 1, .points = {(int64_t)1 << 40, 1, 1}}}; /* of bench */
    const struct hs_largest_grid less = limit_of(8e11, &nothing);
    assert_true(hs_largest_grid_find(&less, &line, &found));
    assert_true(found.points[HS_X] == 100000000000);
}

void test_largest_grid__says_it_with_the_axes_there_are(void **state)
{
    const struct hs_problem asked = {.radius = 1, .grid = {.dims = 2, .points = {4000, 2000, 1}}};
    const struct hs_largest_grid limit = limit_of(8.0 * 101 * 50, &nothing),
                                 none = limit_of(71.0, &nothing);
    char text[HS_LARGEST_GRID_TEXT];
    hs_largest_grid_say(&limit, &asked, text, sizeof text);
    assert_string_equal(text, "the largest grid of these proportions that fits is 101 x 50");
    hs_largest_grid_say(&none, &asked, text, sizeof text); /* 3 x 3 nodes take 72 bytes */
    assert_string_equal(text, "no grid of these proportions fits");
}
