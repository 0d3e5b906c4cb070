/*
 * The trial that a long run on a CPU begins with: the kernels that "auto" may take are timed by
 * turns for some tenths of a second. Which of them is the faster one is a matter of the CPU's
 * caches and vectors, and of what else the machine does, so that no table can know it.
 *
 * On a GPU there is none: the heuristic of engine/heuristic.h is of the chips that it names.
 */
#ifndef HS_ENGINE_MEASURE_TRIAL_H
#define HS_ENGINE_MEASURE_TRIAL_H

#include "engine/measure/tune.h"

/*
 * Whether a run of the plan from sweep `from` may begin with a trial: "auto" chose by the heuristic
 * between several kernels of the CPU, there is memory for a state of each, and the run is long.
 * Nothing is timed here.
 */
bool hs_trial_due(const struct hs_problem *problem, const struct hs_plan *plan, int64_t from);

/*
 * Times them. The kernel to take comes first in *out: the plan's own, unless another is clearly
 * faster (5 %). `count` is 0 where nothing was found out: the run turned out to be short, or
 * one of them could not be timed. What fails here is not the run's failure.
 */
void hs_trial_make(const struct hs_problem *problem, const struct hs_plan *plan, int64_t from,
                   struct hs_tuning *out);

/* The same with tables of kernels, ending with NULL, instead of this build's. */
bool hs_trial_due_among(const struct hs_kernel *const *kernels, const struct hs_problem *problem,
                        const struct hs_plan *plan, int64_t from);
void hs_trial_make_among(const struct hs_kernel *const *kernels, const struct hs_problem *problem,
                         const struct hs_plan *plan, int64_t from, struct hs_tuning *out);

#endif
