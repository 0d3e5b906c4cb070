#include "engine/measure/timing.h"
#include "test.h"

#include <math.h>

/* A device whose sweeps take 3 us each and each call 1 us more; the first call is cold. */
struct hs_backend_state {
    int calls;
    int64_t sweeps;
    int64_t smallest_multiple;
    double slow; /* added to every third call */
};

static enum hs_status pretend(struct hs_backend_state *state, const struct hs_span *span,
                              double *seconds, struct hs_error *err)
{
    state->calls++;
    state->sweeps += span->count;
    if (span->count % state->smallest_multiple)
        state->smallest_multiple = 1;
    *seconds = 1e-6 + 3e-6 * (double)span->count + (state->calls == 1 ? 1.0 : 0.0) +
               (state->calls % 3 == 0 ? state->slow : 0.0);
    return HS_OK;
}

static const struct hs_backend device = {.name = "pretended", .time_sweeps = pretend};

void test_timing__samples_are_ordered(void **state)
{
    double odd[] = {5.0, 1.0, 3.0}, even[] = {4.0, 1.0, 2.0, 8.0};
    const struct hs_samples three = hs_samples_of(odd, 3), four = hs_samples_of(even, 4);
    assert_true(three.count == 3 && three.min == 1.0 && three.median == 3.0 && three.max == 5.0);
    assert_true(four.min == 1.0 && four.median == 3.0 && four.max == 8.0);
    assert_true(isnan(hs_samples_of(odd, 0).median));
}

void test_timing__warms_up_to_a_long_enough_sample(void **state)
{
    struct hs_backend_state pretended = {.smallest_multiple = 4};
    const struct hs_timing timing = {.backend = &device, .state = &pretended, .fuses = 4};
    int64_t count = 0;
    double seconds = 0.0;
    assert_int_equal(hs_timing_warm_up(&timing, 0.02, &count, &seconds, NULL), HS_OK);
    assert_true(seconds >= 0.02 && seconds < 0.04);
    assert_int_equal(count % 4, 0);
    assert_int_equal(pretended.smallest_multiple, 4); /* always whole calls of the kernel */
    assert_near(seconds, 1e-6 + 3e-6 * (double)count, 1e-12);
}

void test_timing__a_sweep_is_the_median_of_samples(void **state)
{
    struct hs_backend_state pretended = {.smallest_multiple = 4, .slow = 0.5};
    const struct hs_timing timing = {.backend = &device, .state = &pretended, .fuses = 4};
    const struct hs_timing_effort effort = {.repeats = 9, .sample = 0.01, .all = 10.0};
    double sample[HS_TIMING_SAMPLES], seconds = 0.0;
    int64_t count = 0;
    assert_int_equal(hs_timing_warm_up(&timing, effort.sample, &count, &seconds, NULL), HS_OK);
    const int repeats = hs_timing_repeats(&effort, seconds);
    for (int n = 0; n < repeats; n++) {
        assert_int_equal(hs_timing_take(&timing, count, &seconds, NULL), HS_OK);
        sample[n] = seconds / (double)count;
    }
    const struct hs_samples out = hs_samples_of(sample, repeats);
    assert_int_equal(out.count, 9);
    assert_near(out.median, 3e-6, 0.01e-6); /* neither the cold one nor the slow third */
    assert_true(out.max > 1e-5);
}

void test_timing__long_samples_are_few(void **state)
{
    const struct hs_timing_effort effort = {.repeats = 15, .sample = 0.02, .all = 5.0};
    assert_int_equal(hs_timing_repeats(&effort, 0.02), 15);
    assert_int_equal(hs_timing_repeats(&effort, 0.5), 10);
    assert_int_equal(hs_timing_repeats(&effort, 100.0), 3);
    const struct hs_timing_effort one = {.repeats = 1, .sample = 0.02, .all = 5.0};
    assert_int_equal(hs_timing_repeats(&one, 100.0), 1);
}
