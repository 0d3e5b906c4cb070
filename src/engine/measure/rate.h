/* How long a sweep takes here, and a reduction of the field, tried out on the problem's own grid.
 */
#ifndef HS_ENGINE_MEASURE_RATE_H
#define HS_ENGINE_MEASURE_RATE_H

#include "engine/plan.h"

struct hs_rate {
    double seconds_per_sweep;     /* with what its method adds; NaN if the plan has no sweep */
    double seconds_per_reduction; /* at a stop, for the history; 0 where they are too rare to be
                                     tried */
    char device[128];             /* what the backend says it runs on */
};

/*
 * Takes a field of ones on the whole grid through the plan's steps by its method and kernel, from
 * stop to stop as a run does, until about `budget` [s] are spent, after one step to warm up, or the
 * whole run was made three times. Steps of very many sweeps are cut to fewer. HS_DEVICE if the
 * memory is short, as a run would be.
 */
enum hs_status hs_rate_measure(const struct hs_problem *problem, const struct hs_plan *plan,
                               double budget, struct hs_rate *out, struct hs_error *err);

#endif
