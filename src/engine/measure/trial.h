/*
 * The trial at the beginning of a long run on a CPU: the kernels that "auto" may take are timed in
 * turn for some tenths of a second. Which one is the fastest depends on the CPU's caches and
 * vectors, and on what else the machine does, so no table can know it.
 *
 * On a GPU there is no trial: the heuristic of engine/heuristic.h covers the chips that it names.
 */
#ifndef HS_ENGINE_MEASURE_TRIAL_H
#define HS_ENGINE_MEASURE_TRIAL_H

#include "engine/measure/tune.h"

/*
 * Whether a run of the plan from sweep `from` may begin with a trial: "auto" chose by the heuristic
 * between several of the kernels (a table that ends with NULL) of the CPU, there is memory for a
 * state of each, and the run is long. Nothing is timed here.
 */
bool hs_trial_due(const struct hs_kernel *const *kernels, const struct hs_problem *problem,
                  const struct hs_plan *plan, int64_t from);

/*
 * Times the kernels. The one to take comes first in *out: the plan's own, unless another is clearly
 * faster (5 %). `count` is 0 where there is no result: the run turned out to be short, or a kernel
 * could not be timed. Such a failure is not the run's.
 */
void hs_trial_make(const struct hs_kernel *const *kernels, const struct hs_problem *problem,
                   const struct hs_plan *plan, int64_t from, struct hs_tuning *out);

#endif
