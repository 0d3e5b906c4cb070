/* How long a sweep takes here, tried out on the problem's own grid. */
#ifndef HS_ENGINE_RATE_H
#define HS_ENGINE_RATE_H

#include "engine/plan.h"

/*
 * Sweeps the plan's kernel over a field of ones on the whole grid until about `budget` [s] of
 * sweeps are done, after one to warm up, and gives the time of one [s]. HS_DEVICE if the memory is
 * short, as a run would.
 */
enum hs_status hs_rate_measure(const struct hs_problem *problem, const struct hs_plan *plan,
                               double budget, double *seconds_per_sweep, struct hs_error *err);

#endif
