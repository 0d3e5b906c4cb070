/* The slowest mode of a body against closed forms. For random bodies against dense matrices see
 * tests/cases/test_body_definition.py. */
#include "engine/network/slowest.h"

#include "network_case.h"

static const double size[HS_AXES] = {1.0, 2.0, 0.5};

/* One material; with `held`, the first axis is between held walls. */
static struct hs_network_slowest slowest_in(int dims, const int64_t points[HS_AXES], bool held,
                                            int threads)
{
    struct network_case c;
    case_init(&c, dims, points, size);
    case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 3.0, 2.0));
    for (int face = 0; face < 2 && held; face++)
        case_wall(&c, face, HS_WALL_HOLDS);
    struct hs_network network = case_make(&c);
    const struct hs_network_slowest found = hs_network_slowest(&network, !held, threads);
    hs_network_release(&network);
    return found;
}

static double slowest_of(int dims, const int64_t points[HS_AXES], bool held, int threads)
{
    return slowest_in(dims, points, held, threads).rate;
}

/* 4 k/(C h^2) sin^2(pi/2/intervals) */
static double wave(int axis, int64_t points)
{
    const double h = size[axis] / (double)(points - 1);
    const double half = sin(0.5 * M_PI / (double)(points - 1));
    return 4.0 * 3.0 / 2.0 / (h * h) * half * half;
}

void test_network_slowest__between_held_walls(void **state)
{
    const int64_t points[] = {41, 23, 9};
    for (int dims = 1; dims <= 3; dims++)
        assert_near(slowest_of(dims, points, true, 2), wave(HS_X, 41), 1e-3 * wave(HS_X, 41));
}

/* 1 K/s everywhere gives C/k x (L - x)/2, also at nodes: L^2/8 C/k in the middle. */
void test_network_slowest__and_how_far_it_is_from_the_steady_state(void **state)
{
    const int64_t points[] = {41, 23, 9};
    for (int dims = 1; dims <= 3; dims++) {
        const double longest = slowest_in(dims, points, true, 2).longest;
        assert_true(longest >= (1.0 - 1e-12) / 8.0 * 2.0 / 3.0);
        assert_true(longest < 1.12 / 8.0 * 2.0 / 3.0);
    }
    assert_true(isnan(slowest_in(2, points, false, 2).longest));
}

/* Without the constant, the slowest wave is that of the longest axis. */
void test_network_slowest__of_what_nothing_holds(void **state)
{
    const int64_t points[] = {41, 23, 9};
    assert_near(slowest_of(1, points, false, 2), wave(HS_X, 41), 1e-3 * wave(HS_X, 41));
    for (int dims = 2; dims <= 3; dims++)
        assert_near(slowest_of(dims, points, false, 2), wave(HS_Y, 23), 1e-3 * wave(HS_Y, 23));
}

void test_network_slowest__is_the_same_with_any_threads(void **state)
{
    const int64_t points[] = {30, 20, 10};
    const struct hs_network_slowest alone = slowest_in(3, points, true, 1);
    for (int threads = 2; threads <= 5; threads++) {
        const struct hs_network_slowest with = slowest_in(3, points, true, threads);
        assert_true(with.rate == alone.rate && with.longest == alone.longest);
    }
}

void test_network_slowest__is_not_known_of_what_cannot_change_or_is_too_large(void **state)
{
    const int64_t two[] = {2, 1, 1};
    assert_true(isnan(slowest_of(1, two, true, 1)));
    const struct hs_network large = {.grid = {.dims = 3, .points = {600, 600, 600}}};
    assert_true(isnan(hs_network_slowest(&large, false, 1).rate));
}
