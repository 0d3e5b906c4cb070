/* How long a sweep and a reduction of the field take here, measured on the problem's own grid. */
#ifndef HS_ENGINE_MEASURE_RATE_H
#define HS_ENGINE_MEASURE_RATE_H

#include "engine/plan.h"

struct hs_rate {
    double seconds_per_sweep;     /* including its method's work; NaN if the plan has no sweep */
    double seconds_per_reduction; /* at a stop, for the history; 0 where they are too rare to be
                                     tried */
    char device[128];             /* what the backend says it runs on */
};

/*
 * Takes a field of ones on the whole grid through the plan's steps with its method and kernel, from
 * stop to stop as a run does. One step warms up; then this goes on until about `budget` [s] are
 * spent or the whole run was made three times. Steps of very many sweeps are shortened. HS_DEVICE
 * if memory is short, as in a run.
 */
enum hs_status hs_rate_measure(const struct hs_problem *problem, const struct hs_plan *plan,
                               double budget, struct hs_rate *out, struct hs_error *err);

#endif
