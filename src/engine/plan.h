/*
 * The plan: which kernel on which backend, with which steps, and when what is due.
 *
 * Outputs and the end are hit exactly: each interval between them is cut into equal steps not
 * longer than the longest allowed. All full intervals have the same step; the stretch after the
 * last of them may have its own.
 */
#ifndef HS_ENGINE_PLAN_H
#define HS_ENGINE_PLAN_H

#include "core/backend.h"

struct hs_plan {
    const struct hs_backend *backend;
    const struct hs_kernel *kernel;
    double limit;            /* s: longest stable step; NaN for a raw stencil */
    double amplification;    /* of a raw stencil's sweep; NaN otherwise */
    int64_t sweeps;          /* in all (the most, if steady) */
    int64_t interval_sweeps; /* sweeps of each full interval */
    int64_t intervals;       /* full intervals */
    double interval_step;    /* s */
    double tail_step;        /* s: of the sweeps after the last full interval */
    double interval;         /* s: length of a full interval */
    double end;              /* s */
    int64_t output_every;    /* sweeps between snapshots, or -1 if only first and last */
    char note[256];          /* one line about the choice, or "" */
};

/* Chooses backend, kernel and steps. A step above the limit is refused with the limit. */
enum hs_status hs_plan_make(const struct hs_problem *problem, struct hs_plan *out,
                            struct hs_error *err);

/* Simulated time [s] after `sweep` sweeps; exact at outputs and at the end. */
double hs_plan_time(const struct hs_plan *plan, int64_t sweep);

/* The longest span of equal steps that begins at `sweep` and ends at `until` or before. */
struct hs_span hs_plan_span(const struct hs_plan *plan, const struct hs_problem *problem,
                            int64_t sweep, int64_t until);

#endif
