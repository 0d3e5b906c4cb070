#include "engine/bench.h"
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

void test_bench__coefficients_are_distinct_and_of_sum_one(void **state)
{
    (void)state;
    struct hs_bench bench;
    struct hs_error err;
    hs_error_init(&err);
    const struct hs_bench_request request = request_of(3, 1, HS_DOUBLE);
    assert_int_equal(hs_bench_init(&bench, &request, 2, &err), HS_OK);
    double sum = 0.0;
    for (int a = 0; a < 7; a++) {
        sum += bench.stencil.c[a];
        for (int b = 0; b < a; b++)
            assert_true(bench.stencil.c[a] != bench.stencil.c[b]);
    }
    assert_near(sum, 1.0, 1e-15); /* seven additions of numbers near 1/7 */
    assert_int_equal(bench.updated, 15 * 16 * 17);
    hs_bench_release(&bench);
    hs_error_release(&err);
}

void test_bench__proves_and_times(void **state)
{
    (void)state;
    for (int p = 0; p < HS_PRECISIONS; p++) {
        struct hs_bench bench;
        struct hs_bench_row row;
        struct hs_error err;
        hs_error_init(&err);
        const struct hs_bench_request request = request_of(2, 3, (enum hs_precision)p);
        assert_int_equal(hs_bench_init(&bench, &request, 3, &err), HS_OK);
        assert_int_equal(
            hs_bench_kernel(&bench, &hs_backend_cpu, &hs_kernel_cpu_openmp, &row, &err), HS_OK);
        assert_true(row.proven);
        assert_true(row.apart <= row.bound);
        assert_true(p == HS_DOUBLE ? row.bound == 0.0 : row.bound > 0.0);
        assert_int_equal(row.seconds.count, 3);
        assert_true(row.seconds.min > 0.0 && row.seconds.min <= row.seconds.median &&
                    row.seconds.median <= row.seconds.max);
        assert_true(row.share.count == 3 && row.copy.median > 0.0);
        hs_bench_release(&bench);
        hs_error_release(&err);
    }
}

/* A kernel that forgets one point. */
static enum hs_status forgetful(const struct hs_sweep *sweep, struct hs_error *err)
{
    struct hs_sweep less = *sweep;
    less.box.hi[HS_X]--;
    return hs_kernel_cpu_openmp.sweep(&less, err);
}

void test_bench__kernel_that_is_wrong_is_not_timed(void **state)
{
    (void)state;
    for (int p = 0; p < HS_PRECISIONS; p++) {
        struct hs_kernel wrong = hs_kernel_cpu_openmp;
        wrong.sweep = forgetful;
        struct hs_bench bench;
        struct hs_bench_row row;
        struct hs_error err;
        hs_error_init(&err);
        const struct hs_bench_request request = request_of(3, 2, (enum hs_precision)p);
        assert_int_equal(hs_bench_init(&bench, &request, 2, &err), HS_OK);
        assert_int_equal(hs_bench_kernel(&bench, &hs_backend_cpu, &wrong, &row, &err), HS_OK);
        assert_false(row.proven);
        assert_true(row.apart > row.bound);
        assert_int_equal(row.seconds.count, 0);
        hs_bench_release(&bench);
        hs_error_release(&err);
    }
}

/* 2 words a point, and points a second. */
void test_bench__counts_points_and_bytes(void **state)
{
    (void)state;
    struct hs_bench bench = {.request = {.precision = HS_FLOAT}, .updated = 1000000000};
    assert_near(hs_bench_gcells(&bench, 0.5), 2.0, 1e-12);
    assert_near(hs_bench_bytes(&bench, 0.5), 16e9, 1.0);
}

void test_bench__too_many_points_are_a_device_error(void **state)
{
    (void)state;
    struct hs_bench bench;
    struct hs_error err;
    hs_error_init(&err);
    struct hs_bench_request request = request_of(3, 1, HS_DOUBLE);
    for (int axis = 0; axis < HS_AXES; axis++)
        request.points[axis] = 1000000;
    assert_int_equal(hs_bench_init(&bench, &request, 2, &err), HS_DEVICE);
    assert_non_null(strstr(err.text, "--points"));
    hs_bench_release(&bench);
    hs_error_release(&err);
}
