/*
 * How long a sweep takes: samples of many sweeps each, after a warm-up, by the device's own clock
 * where the backend reads one. For bench, and for the choice between kernels by trying them.
 */
#ifndef HS_ENGINE_MEASURE_TIMING_H
#define HS_ENGINE_MEASURE_TIMING_H

#include "core/backend.h"

enum { HS_TIMING_SAMPLES = 1000 }; /* most that are taken */

/* Of the samples of one measurement. */
struct hs_samples {
    int count;
    double min, median, max; /* NaN where count is 0 */
};

/* Sorts `values` [count]. */
struct hs_samples hs_samples_of(double *values, int count);

/* What is timed; its field is uploaded already. */
struct hs_timing {
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    int fuses;           /* sweeps in one call of its kernel */
    struct hs_span span; /* its count is not used: each sample sweeps the same times again */
    int64_t *bytes;      /* not NULL: of copies of the field instead, with the traffic of one */
};

struct hs_timing_effort {
    int repeats;   /* samples, at most HS_TIMING_SAMPLES */
    double sample; /* s: shortest sample */
    double all;    /* s: of all samples, unless 3 take longer */
};

/* The usual effort: samples far longer than the clock's resolution, and a few seconds a kernel. */
struct hs_timing_effort hs_timing_usual(int repeats);

/* Seconds of `count` sweeps, or copies. */
enum hs_status hs_timing_take(const struct hs_timing *timing, int64_t count, double *seconds,
                              struct hs_error *err);

/* Warms up, and finds how many sweeps make a sample long enough: a multiple of what the kernel
 * fuses. *seconds: how long they took. */
enum hs_status hs_timing_warm_up(const struct hs_timing *timing, double sample, int64_t *count,
                                 double *seconds, struct hs_error *err);

/* The number of samples within the effort, where one takes `seconds`. */
int hs_timing_repeats(const struct hs_timing_effort *effort, double seconds);

#endif
