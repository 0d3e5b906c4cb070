/*
 * What bounds a kernel: its operations a second against the ceilings of memory and of arithmetic.
 *
 * A point lies at its operational intensity: operations (multiplications and additions of a point
 * and sweep, as explain counts them, without what is computed twice in the halos of fused tiles)
 * over the bytes moved. A kernel that does one sweep a launch moves 2 words a point, one read and
 * one written. One that fuses sweeps moves what its blocks load and write, halos included, divided
 * by the sweeps. Where caches save part of that, a point may lie above the ceiling. Source:
 * Williams, Waterman, Patterson, Communications of the ACM 52 (2009).
 */
#ifndef HS_ENGINE_MEASURE_ROOFLINE_H
#define HS_ENGINE_MEASURE_ROOFLINE_H

#include "core/device.h"
#include "engine/measure/bench.h"

enum hs_roofline_bound {
    HS_BOUND_MEMORY,
    HS_BOUND_CACHE, /* where the fields stay in the cache */
    HS_BOUND_COMPUTE,
    HS_BOUND_NEITHER, /* waiting: for latencies, barriers, shared memory, issue slots */
};
const char *hs_roofline_bound_name(enum hs_roofline_bound bound);

struct hs_roofline_point {
    const char *name;
    double words;                 /* moved per point and sweep */
    double intensity;             /* operations a byte */
    double flops;                 /* operations a second */
    double ceiling;               /* the lower one at this intensity, operations a second */
    double fraction;              /* of that ceiling */
    enum hs_roofline_bound bound; /* NEITHER where the fraction is less than 3/4 */
};

struct hs_roofline {
    enum hs_bench_place place; /* where the fields of these points are */
    double bandwidth;          /* bytes/s, of the copy taken with them */
    struct hs_ceilings ceilings;
    double flops_per_point;
    struct hs_roofline_point point[HS_BENCH_MOST];
    int count;
};

/* For rows that were proven and timed: from memory where any was, else in the cache. */
void hs_roofline_make(const struct hs_bench *bench, const struct hs_bench_row *rows, int count,
                      const struct hs_ceilings *ceilings, struct hs_roofline *out);

#endif
