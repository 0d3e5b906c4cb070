/*
 * What bounds a kernel: its operations a second against the ceilings of memory and of arithmetic.
 *
 * A point lies at its operational intensity: the operations of a point and sweep (multiplications
 * and additions, as explain counts them; what is computed twice in the halos of fused tiles is not
 * counted) over the bytes that it moves. Those are 2 words a point for a kernel that does a sweep a
 * launch, one read and one written; for one that fuses sweeps what its blocks load and write, over
 * the sweeps, halos included. What the caches save of that lets a point lie above the ceiling.
 * Source: Williams, Waterman, Patterson, Communications of the ACM 52 (2009).
 */
#ifndef HS_ENGINE_MEASURE_ROOFLINE_H
#define HS_ENGINE_MEASURE_ROOFLINE_H

#include "core/device.h"
#include "engine/measure/bench.h"

enum { HS_ROOFLINE_MOST = 64 };

enum hs_roofline_bound {
    HS_BOUND_MEMORY,
    HS_BOUND_CACHE, /* where the fields stay in it */
    HS_BOUND_COMPUTE,
    HS_BOUND_NEITHER, /* waiting: for latencies, barriers, shared memory, issue slots */
};
const char *hs_roofline_bound_name(enum hs_roofline_bound bound);

struct hs_roofline_point {
    const char *name;
    double words;                 /* moved for a point and sweep */
    double intensity;             /* operations a byte */
    double flops;                 /* operations a second */
    double ceiling;               /* the lower one at this intensity, operations a second */
    double fraction;              /* of it */
    enum hs_roofline_bound bound; /* NEITHER where the fraction is less than 3/4 */
};

struct hs_roofline {
    enum hs_bench_place place; /* where the fields of these points are */
    double bandwidth;          /* bytes/s, of the copy taken with them */
    struct hs_ceilings ceilings;
    double flops_per_point;
    struct hs_roofline_point point[HS_ROOFLINE_MOST];
    int count;
};

/* Of the rows that were proven and timed; from memory where any was, else in the cache. */
void hs_roofline_make(const struct hs_bench *bench, const struct hs_bench_row *rows, int count,
                      const struct hs_ceilings *ceilings, struct hs_roofline *out);

#endif
