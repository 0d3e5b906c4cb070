/*
 * A kernel that is tried on a case: its own state on the case's device, with a field, and the time
 * that a sweep takes. For the choice between kernels: engine/measure/tune.h,
 * engine/measure/trial.h.
 */
#ifndef HS_ENGINE_MEASURE_CANDIDATE_H
#define HS_ENGINE_MEASURE_CANDIDATE_H

#include "engine/measure/timing.h"
#include "engine/plan.h"

enum { HS_CANDIDATE_LONG = 1024 }; /* sweeps; beyond it a stop more or less makes no difference */

struct hs_candidate {
    const struct hs_problem *problem;
    const struct hs_plan *plan;
    const void *plane;       /* the values of each plane of the field */
    struct hs_timing timing; /* set by begin */
};

/*
 * The sweeps between two stops of a run, as a power of two: a kernel that fuses many sweeps cannot
 * do so where a history is taken of every other one.
 */
int64_t hs_candidate_stretch(const struct hs_problem *problem, const struct hs_plan *plan);

/* Allocates the values of one plane of the field, random ones or all 1; all planes have the same.
 * NULL with the error. */
void *hs_candidate_plane(const struct hs_problem *problem, bool random, struct hs_error *err);

/* Call `end` whatever the status. */
enum hs_status hs_candidate_begin(struct hs_candidate *candidate, const struct hs_kernel *kernel,
                                  struct hs_error *err);
void hs_candidate_end(struct hs_candidate *candidate);

/* *out: seconds of a sweep, from stretches of sweeps that end as a run's do; `sweeps` in all. */
enum hs_status hs_candidate_sample(const struct hs_candidate *candidate, int64_t sweeps,
                                   double *out, struct hs_error *err);

#endif
