#include "engine/modes/eigenbasis.h"
#include "engine/modes/openblas.h"
#include "test.h"
#include "walls.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct axis {
    struct hs_face face[2];
    struct hs_axis_matrix matrix;
};

/* c/h^2 of a second difference between two walls, robin with h spacing/k = 0.3. */
static void make_axis(struct axis *out, const char *low, const char *high, int radius, int nodes)
{
    const char *const kind[] = {low, high};
    for (int side = 0; side < 2; side++)
        out->face[side] = make_wall(
            kind[side], (struct hs_value){.constant = 1.0}, 0.3,
            (struct hs_boundary_spec){.conductivity = 1.0, .spacing = 1.0, .radius = radius});
    out->matrix = (struct hs_axis_matrix){.radius = radius, .face = out->face, .nodes = nodes};
    for (int offset = -radius; offset <= radius; offset++)
        out->matrix.c[radius + offset] = 0.2 * hs_second_difference(radius, abs(offset));
}

static void make(const struct axis *axis, struct hs_eigenbasis *out)
{
    assert_ok(hs_eigenbasis_make(&axis->matrix, out, &err));
}

/* Largest entry of inverse * vector - 1. */
static double off_identity(const struct hs_eigenbasis *basis)
{
    const int64_t n = basis->count;
    double most = 0.0;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++) {
            double sum = a == b ? -1.0 : 0.0;
            for (int64_t i = 0; i < n; i++)
                sum += hs_eigenbasis_inverse(basis, a, i) * hs_eigenbasis_vector(basis, i, b);
            most = fmax(most, fabs(sum));
        }
    return most;
}

/* Largest entry of matrix * vector - vector * rate; the neighbours' sum gives the diagonal. */
static double off_modes(const struct hs_axis_matrix *matrix, const struct hs_eigenbasis *basis)
{
    const int64_t n = basis->count;
    double most = 0.0;
    for (int64_t i = 0; i < n; i++) {
        struct hs_axis_entry row[HS_AXIS_ENTRIES];
        struct hs_axis_matrix beside = *matrix;
        double sum = 0.0;
        beside.c[beside.radius] = 0.0;
        for (int m = 0; m <= 2 * beside.radius; m++)
            sum += beside.c[m];
        const int entries = hs_axis_matrix_row(&beside, i, row);
        for (int64_t k = 0; k < n; k++) {
            double image = -(sum + basis->rate[k]) * hs_eigenbasis_vector(basis, i, k);
            for (int e = 0; e < entries; e++)
                image += row[e].c * row[e].share * hs_eigenbasis_vector(basis, row[e].column, k);
            most = fmax(most, fabs(image));
        }
    }
    return most;
}

void test_eigenbasis__has_the_modes_between_walls_of_all_kinds(void **state)
{
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int low = 0; low < count_kinds(); low++)
            for (int high = 0; high < count_kinds(); high++)
                for (int nodes = 2 * radius + 1; nodes < 40; nodes += 11) {
                    const char *a = hs_boundary_kinds[low].name, *b = hs_boundary_kinds[high].name;
                    if (hs_boundary_kinds[low].wrap != hs_boundary_kinds[high].wrap)
                        continue;
                    struct axis axis;
                    struct hs_eigenbasis basis;
                    make_axis(&axis, a, b, radius, nodes);
                    make(&axis, &basis);
                    /* sums of 40 products of numbers below 2 */
                    if (off_identity(&basis) > 1e-14 || off_modes(&axis.matrix, &basis) > 4e-15)
                        fail_msg("%s, %s, radius %d, %d nodes: off by %g and %g", a, b, radius,
                                 nodes, off_identity(&basis), off_modes(&axis.matrix, &basis));
                    assert_true(basis.condition < 3.0);
                    if (low == high)
                        assert_int_equal(basis.even, (basis.count + 1) / 2);
                    hs_eigenbasis_release(&basis);
                }
}

/* A field that is the sum of two modes has these amplitudes, and none of the others. */
void test_eigenbasis__says_how_much_of_each_mode_a_field_has(void **state)
{
    enum { NODES = 13 };
    static const char *const high[] = {"robin", "dirichlet"}; /* mirrored or not */
    for (int n = 0; n < 2; n++) {
        struct axis axis;
        struct hs_eigenbasis basis;
        double field[NODES], amount[NODES];
        make_axis(&axis, "robin", high[n], 2, NODES);
        make(&axis, &basis);
        const int64_t first = 1, second = basis.count - 2;
        for (int64_t i = 0; i < basis.count; i++)
            field[i] = 3.0 * hs_eigenbasis_vector(&basis, i, first) -
                       2.0 * hs_eigenbasis_vector(&basis, i, second);
        hs_eigenbasis_project(&basis, field, amount);
        for (int64_t k = 0; k < basis.count; k++)
            assert_near(amount[k], k == first ? 3.0 : k == second ? -2.0 : 0.0, 1e-14);
        hs_eigenbasis_release(&basis);
    }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sines between cold walls: -4 c sin(k pi / (2 (n + 1)))^2. The sine may account for half of the
 * rates' relative error. */
void test_eigenbasis__rates_are_known_to_their_own_rounding(void **state)
{
    enum { NODES = 402, FREE = NODES - 2 };
    struct axis axis;
    struct hs_eigenbasis basis;
    make_axis(&axis, "dirichlet", "dirichlet", 1, NODES);
    make(&axis, &basis);
    qsort(basis.rate, FREE, sizeof *basis.rate, ascending);
    for (int k = 1; k <= FREE; k++) {
        const double half = sin(M_PI * k / (2.0 * (FREE + 1)));
        const double exact = -0.8 * half * half;
        assert_near(basis.rate[FREE - k], exact, 4.0 * DBL_EPSILON * fabs(exact));
    }
    hs_eigenbasis_release(&basis);
}

/* Between insulated walls of any kind. */
void test_eigenbasis__a_constant_stays(void **state)
{
    static const char *const kinds[] = {"reflective", "clamp", "periodic", "neumann"};
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
            struct axis axis;
            struct hs_eigenbasis basis;
            make_axis(&axis, kinds[n], kinds[n], radius, 100);
            make(&axis, &basis);
            assert_true(basis.slow_stays);
            assert_true(basis.rate[basis.slow] == 0.0);
            hs_eigenbasis_release(&basis);
        }
}

/* One wall convects, the other insulates; b = h spacing/k. For small b the slowest mode is nearly
 * constant, and all intervals share the wall's b c. For large b it is a quarter of a wave. */
void test_eigenbasis__the_slowest_rate_beside_far_larger_or_smaller_ones(void **state)
{
    enum { INTERVALS = 20 };
    const double half = sin(M_PI / (4.0 * INTERVALS)), held = -0.8 * half * half;
    for (double b = 1e-18; b < 1e19; b *= 100.0) {
        struct axis axis;
        struct hs_eigenbasis basis;
        make_axis(&axis, "robin", "reflective", 1, INTERVALS + 1);
        axis.face[0].c[0] = 2.0 * b;
        axis.face[0].b[0] = -2.0 * b;
        make(&axis, &basis);
        const double expected = b < 1.0 ? -0.2 * b / INTERVALS : held;
        const double nearly = b < 1.0 ? INTERVALS * b : 2.0 / (b * INTERVALS);
        const double rate = basis.rate[basis.slow], doubt = basis.slow_off / fabs(rate);
        assert_false(basis.slow_stays);
        if (doubt < 1e-3 && basis.slow_mixed < 1e-3)
            assert_near(rate, expected, (nearly + doubt + 1e-14) * fabs(expected));
        if (b > 1e-14 && b < 1e15)
            assert_true(doubt < 1e-9 && basis.slow_mixed < 1e-9);
        hs_eigenbasis_release(&basis);
    }
}

static void expect_refusal(const struct axis *axis, const char *words)
{
    struct hs_eigenbasis basis;
    assert_fails(hs_eigenbasis_make(&axis->matrix, &basis, &err), HS_BAD_INPUT, words);
    hs_eigenbasis_release(&basis);
}

void test_eigenbasis__refuses_modes_that_travel_turn_or_nearly_agree(void **state)
{
    struct axis axis;
    struct hs_eigenbasis basis;
    make_axis(&axis, "periodic", "periodic", 1, 20);
    axis.matrix.c[0] *= 1.01;
    expect_refusal(&axis, "travel");
    make_axis(&axis, "fixed", "fixed", 1, 102);
    axis.matrix.c[0] *= 1.1; /* a factor of sqrt(1.1) from node to node, 112 over 99 of them */
    make(&axis, &basis);
    assert_near(basis.condition, pow(1.1, 49.5), 1e-9);
    assert_true(off_identity(&basis) < 1e-11);
    hs_eigenbasis_release(&basis);
    axis.matrix.c[0] *= 1.3;
    expect_refusal(&axis, "ill-conditioned (condition number 4.9e+07");
    make_axis(&axis, "fixed", "fixed", 1, 30);
    axis.matrix.c[0] *= -1.0;
    expect_refusal(&axis, "complex");
}

void test_openblas__multiplies(void **state)
{
    const double a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
    double c[] = {1, 1, 1, 1};
    const struct hs_openblas *blas;
    assert_ok(hs_openblas_find(&blas, &err));
    hs_openblas_product(blas, 2, 2, 3, -1.0, a, b, 2.0, c);
    const double expected[] = {-56, -62, -137, -152};
    assert_memory_equal(c, expected, sizeof c);
}
