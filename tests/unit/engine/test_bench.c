#include "engine/measure/bench.h"
#include "engine/registry.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct hs_backend hs_backend_cpu;
extern const struct hs_kernel hs_kernel_cpu_openmp;

static struct hs_bench_request request_of(int dims, int radius, enum hs_precision precision)
{
    struct hs_bench_request request = {
        .dims = dims, .points = {1, 1, 1}, .radius = radius, .precision = precision, .repeats = 3};
    for (int axis = 0; axis < dims; axis++)
        request.points[axis] = 17 + axis;
    return request;
}

static enum hs_status prepare(struct hs_bench *bench, const struct hs_bench_request *request,
                              int64_t sweeps, struct hs_error *err)
{
    const enum hs_status st = hs_bench_init(bench, request, err);
    return st ? st : hs_bench_expect(bench, sweeps, err);
}

void test_bench__coefficients_are_distinct_and_of_sum_one(void **state)
{
    struct hs_bench bench;
    const struct hs_bench_request request = request_of(3, 1, HS_DOUBLE);
    assert_ok(prepare(&bench, &request, 2, &err));
    double sum = 0.0;
    for (int a = 0; a < 7; a++) {
        sum += bench.problem.c[a];
        for (int b = 0; b < a; b++)
            assert_true(bench.problem.c[a] != bench.problem.c[b]);
    }
    assert_near(sum, 1.0, 1e-15); /* seven additions of numbers near 1/7 */
    assert_int_equal(bench.updated, 15 * 16 * 17);
    hs_bench_release(&bench);
}

void test_bench__proves_and_times(void **state)
{
    for (int p = 0; p < HS_PRECISIONS; p++) {
        struct hs_bench bench;
        struct hs_bench_row row;
        const struct hs_bench_request request = request_of(2, 3, (enum hs_precision)p);
        assert_ok(prepare(&bench, &request, 3, &err));
        assert_ok(hs_bench_kernel(&bench, &hs_backend_cpu, &hs_kernel_cpu_openmp, &row, &err));
        assert_true(row.proven);
        assert_true(row.apart <= row.bound);
        assert_true(p == HS_DOUBLE ? row.bound == 0.0 : row.bound > 0.0);
        const struct hs_bench_figures *f = &row.figures[HS_BENCH_CACHE];
        assert_int_equal(f->pairs, 1);
        assert_int_equal(row.figures[HS_BENCH_MEMORY].pairs, 0);
        assert_int_equal(f->seconds.count, 3);
        assert_true(f->seconds.min > 0.0 && f->seconds.min <= f->seconds.median &&
                    f->seconds.median <= f->seconds.max);
        assert_true(f->fraction.count == 3 && f->copy.median > 0.0);
        hs_bench_release(&bench);
    }
}

/* A kernel that forgets one point. */
static enum hs_status forgetful(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                                struct hs_error *err)
{
    struct hs_sweep less = *sweep;
    less.box.hi[HS_X]--;
    return hs_kernel_cpu_openmp.sweep(plan, &less, err);
}

void test_bench__kernel_that_is_wrong_is_not_timed(void **state)
{
    for (int p = 0; p < HS_PRECISIONS; p++) {
        struct hs_kernel wrong = hs_kernel_cpu_openmp;
        wrong.sweep = forgetful;
        struct hs_bench bench;
        struct hs_bench_row row;
        const struct hs_bench_request request = request_of(3, 2, (enum hs_precision)p);
        assert_ok(prepare(&bench, &request, 2, &err));
        assert_ok(hs_bench_kernel(&bench, &hs_backend_cpu, &wrong, &row, &err));
        assert_false(row.proven);
        assert_true(row.apart > row.bound);
        assert_int_equal(row.figures[HS_BENCH_CACHE].seconds.count, 0);
        hs_bench_release(&bench);
    }
}

/* Right as often as it is checked, then wrong, like a launch that fails under load. */
static int calls;
static enum hs_status breaks_down(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                                  struct hs_error *err)
{
    const enum hs_status st = hs_kernel_cpu_openmp.sweep(plan, sweep, err);
    if (++calls > 2)
        ((double *)sweep->out)[hs_layout_offset(&sweep->layout, 4, 4, 4)] = calls % 2 ? NAN : 1e9;
    return st;
}

void test_bench__kernel_that_breaks_down_while_timed_is_not_proven(void **state)
{
    struct hs_kernel wrong = hs_kernel_cpu_openmp;
    wrong.sweep = breaks_down;
    struct hs_bench bench;
    struct hs_bench_row row;
    const struct hs_bench_request request = request_of(3, 1, HS_DOUBLE);
    assert_ok(prepare(&bench, &request, 2, &err));
    assert_ok(hs_bench_kernel(&bench, &hs_backend_cpu, &wrong, &row, &err));
    assert_false(row.proven);
    assert_true(isinf(row.apart));
    hs_bench_release(&bench);
}

static double cache_bytes;
static double a_cache(int device)
{
    return cache_bytes;
}

static int rotated;
static enum hs_status rotate(struct hs_backend_state *state, int pairs, struct hs_error *err)
{
    rotated = pairs;
    return HS_OK;
}

/* Fields too large for the cache are timed from memory, others in both places, and if no pairs can
 * be rotated, in the cache only. In a cache of which a pair is a quarter, 8 pairs are twice it. */
void test_bench__times_where_the_fields_are(void **state)
{
    const double pair = 2.0 * 8.0 * 17 * 18 * 19;
    const struct {
        double cache;
        bool rotates;
        int pairs[HS_BENCH_PLACES], rotated;
    } cases[] = {{0.1 * pair, true, {1, 0}, 0},  {0.6 * pair, true, {2, 0}, 2},
                 {0.6 * pair, false, {1, 0}, 0}, {1.9 * pair, true, {4, 1}, 4},
                 {1.9 * pair, false, {0, 1}, 0}, {3.6 * pair, true, {8, 1}, 8},
                 {0.48 * pair, true, {1, 0}, 0}, {0.95 * pair, true, {2, 0}, 2},
                 {32.2 * pair, true, {0, 1}, 0}, {900.0 * pair, true, {0, 1}, 0},
                 {0.0, true, {1, 0}, 0}};
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct hs_backend backend = hs_backend_cpu;
        backend.cache = a_cache;
        backend.rotate = cases[n].rotates ? rotate : NULL;
        cache_bytes = cases[n].cache;
        rotated = 0;
        struct hs_bench bench;
        struct hs_bench_row row;
        const struct hs_bench_request request = request_of(3, 1, HS_DOUBLE);
        assert_ok(prepare(&bench, &request, 2, &err));
        assert_ok(hs_bench_kernel(&bench, &backend, &hs_kernel_cpu_openmp, &row, &err));
        assert_int_equal(rotated, cases[n].rotated);
        for (int place = 0; place < HS_BENCH_PLACES; place++) {
            assert_int_equal(row.figures[place].pairs, cases[n].pairs[place]);
            assert_int_equal(row.figures[place].seconds.count, cases[n].pairs[place] ? 3 : 0);
        }
        hs_bench_release(&bench);
    }
}

/* Two words per point, and points per second. */
void test_bench__counts_points_and_bytes(void **state)
{
    struct hs_bench bench = {.request = {.precision = HS_FLOAT}, .updated = 1000000000};
    assert_near(hs_bench_gcells(&bench, 0.5), 2.0, 1e-12);
    assert_near(hs_bench_bytes(&bench, 0.5), 16e9, 1.0);
}

void test_bench__too_many_points_are_a_device_error(void **state)
{
    struct hs_bench bench;
    struct hs_bench_request request = request_of(3, 1, HS_DOUBLE);
    for (int axis = 0; axis < HS_AXES; axis++)
        request.points[axis] = 1000000;
    assert_fails(prepare(&bench, &request, 2, &err), HS_DEVICE, "--points");
    hs_bench_release(&bench);
}
