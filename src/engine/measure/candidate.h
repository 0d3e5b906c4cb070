/*
 * A kernel that is tried on a case: its own state on the case's device, with a field, and how long
 * a sweep takes. For whoever chooses between kernels: engine/measure/tune.h,
 * engine/measure/trial.h.
 */
#ifndef HS_ENGINE_MEASURE_CANDIDATE_H
#define HS_ENGINE_MEASURE_CANDIDATE_H

#include "engine/measure/timing.h"
#include "engine/plan.h"

enum { HS_CANDIDATE_LONG = 1024 }; /* sweeps; beyond it a stop more or less is not felt */

struct hs_candidate {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    int64_t stretch; /* hs_candidate_stretch */
    const void *plane;
    struct hs_timing timing; /* set by begin */
};

/*
 * Sweeps from stop to stop of a run, as a power of two: a kernel that fuses many cannot where a
 * history is taken of every other one.
 */
int64_t hs_candidate_stretch(const struct hs_problem *problem, const struct hs_plan *plan);

/* The values of each of the field's planes, allocated; NULL with the error. */
void *hs_candidate_plane(const struct hs_problem *problem, struct hs_error *err);

/* `end` is to be called, whatever the status. */
enum hs_status hs_candidate_begin(struct hs_candidate *candidate, const struct hs_kernel *kernel,
                                  struct hs_error *err);
void hs_candidate_end(struct hs_candidate *candidate);

/* Seconds of a sweep, from stretches of sweeps that end as a run's do; `sweeps` in all. */
enum hs_status hs_candidate_sample(const struct hs_candidate *candidate, int64_t sweeps,
                                   double *out, struct hs_error *err);

#endif
