/*
 * How well kernels scale: the same kernel on one rank and on all of them, each proven and timed as
 * engine/measure/bench.h does. Weak: each rank has as many points as the one rank; strong: all
 * ranks share that many.
 */
#ifndef HS_ENGINE_MEASURE_SCALING_H
#define HS_ENGINE_MEASURE_SCALING_H

#include "engine/measure/bench.h"

struct hs_scaling {
    bool weak;
    int ranks;
    struct hs_bench one, all; /* all.problem is that of hs_ranks_enter; strong: one is the same */
};

struct hs_scaling_row {
    struct hs_bench_row one, all;
    double efficiency; /* of a rank, relative to the one alone; NaN where a proof failed */
    double owned;      /* share of the swept layers that are the ranks' own, not overlap */
};

/* `request`: of one rank if weak, else of all. Release after failure too. */
enum hs_status hs_scaling_init(struct hs_scaling *scaling, const struct hs_bench_request *request,
                               bool weak, struct hs_error *err);
void hs_scaling_release(struct hs_scaling *scaling);

/* After hs_bench_expect of both; on the first rank only. `own`: the backend of that rank alone;
 * `all`: that of all ranks. */
enum hs_status hs_scaling_kernel(struct hs_scaling *scaling, const struct hs_backend *own,
                                 const struct hs_backend *all, const struct hs_kernel *kernel,
                                 struct hs_scaling_row *out, struct hs_error *err);

/* Median seconds of a sweep, from memory where that was measured. */
double hs_scaling_seconds(const struct hs_bench_row *row);

#endif
