#include "engine/measure/timing.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct hs_samples hs_samples_of(double *values, int count)
{
    if (count == 0)
        return (struct hs_samples){0, NAN, NAN, NAN};
    qsort(values, (size_t)count, sizeof *values, ascending);
    const double median =
        count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
    return (struct hs_samples){count, values[0], median, values[count - 1]};
}

struct hs_timing_effort hs_timing_usual(int repeats)
{
    return (struct hs_timing_effort){.repeats = repeats, .sample = 0.02, .all = 5.0};
}

enum hs_status hs_timing_take(const struct hs_timing *timing, int64_t count, double *seconds,
                              struct hs_error *err)
{
    struct hs_span span = timing->span;
    span.count = count;
    if (timing->bytes)
        return timing->backend->copy(timing->state, count, timing->bytes, seconds, err);
    return timing->backend->time_sweeps(timing->state, &span, seconds, err);
}

enum hs_status hs_timing_warm_up(const struct hs_timing *timing, double sample, int64_t *count,
                                 double *seconds, struct hs_error *err)
{
    const int64_t at_once = timing->fuses;
    *count = at_once;
    HS_TRY(hs_timing_take(timing, *count, seconds, err)); /* cold */
    HS_TRY(hs_timing_take(timing, *count, seconds, err));
    /* a few sweeps say little about many, whose launches overlap: so approach it in steps */
    while (*seconds < sample) {
        const double times = fmin(16.0, 1.1 * sample / fmax(*seconds, 1e-9));
        *count = at_once * (int64_t)ceil(times * (double)*count / (double)at_once);
        HS_TRY(hs_timing_take(timing, *count, seconds, err));
        if (*seconds >= sample) /* something else may have slowed it down */
            HS_TRY(hs_timing_take(timing, *count, seconds, err));
    }
    return HS_OK;
}

int hs_timing_repeats(const struct hs_timing_effort *effort, double seconds)
{
    const int most = effort->repeats < HS_TIMING_SAMPLES ? effort->repeats : HS_TIMING_SAMPLES;
    return most > 3 && seconds * most > effort->all ? (int)fmax(3.0, effort->all / seconds) : most;
}
