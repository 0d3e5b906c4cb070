/* Makes the plan of a run from the problem: its steps, method, backend and kernel. */
#ifndef HS_ENGINE_MAKE_PLAN_H
#define HS_ENGINE_MAKE_PLAN_H

#include "engine/plan.h"

/* Chooses steps, then backend and kernel; for steady.method "auto" also a solver that has the
 * memory. A step above the limit is refused, and the message gives the limit. */
enum hs_status hs_plan_make(const struct hs_problem *problem, struct hs_plan *out,
                            struct hs_error *err);

/* The same without backend and kernel, which stay NULL. */
enum hs_status hs_plan_steps(const struct hs_problem *problem, struct hs_plan *out,
                             struct hs_error *err);

/* From the plan of an earlier run: hs_plan_step, output.interval and time.end [s]; NaN: none. */
struct hs_plan_past {
    double step, interval, end;
};

/* Whether the plan continues that run: its sweep `sweep` is at `time` [s], to the rounding of
 * summed steps, and the steps up to there have the same bits. */
bool hs_plan_goes_on(const struct hs_plan *plan, const struct hs_plan_past *past, int64_t sweep,
                     double time);

/* For a method whose steps are many sweeps: sweeps that one pass over the fields makes; 0: each
 * sweep needs a second pass for a sum. */
int hs_plan_sweeps_at_once(const struct hs_plan *plan, const struct hs_problem *problem);

#endif
