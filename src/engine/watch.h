/*
 * The watch for divergence: is the field finite, and within bounds that no stable run leaves?
 *
 * A stable sweep does not amplify, so |T| cannot exceed its initial value plus what walls and
 * source add, sweep by sweep. A million times that is not physical.
 */
#ifndef HS_ENGINE_WATCH_H
#define HS_ENGINE_WATCH_H

#include "engine/step_state.h"

struct hs_watch {
    double bound;      /* |T| beyond it counts as blow-up; infinite if nothing sets a scale */
    int64_t last_good; /* latest sweep seen to be in order */
    int64_t apart;     /* sweeps from check to check, so that checking costs about one percent */
};

/* Checks the field that the run begins with: HS_BAD_INPUT if it is not finite. */
enum hs_status hs_watch_begin(struct hs_watch *watch, const struct hs_step_state *step_state,
                              const struct hs_reduction *reduction, struct hs_error *err);

/* HS_FAILED_CHECK, with a message of where and when, if the field of this stop is not finite or out
 * of bounds. */
enum hs_status hs_watch_judge(struct hs_watch *watch, const struct hs_step_state *step_state,
                              const struct hs_reduction *reduction, struct hs_error *err);

/* Takes account of the cost of a check and of a sweep [s]; NaN if not known. */
void hs_watch_cost(struct hs_watch *watch, double look_seconds, double sweep_seconds);

#endif
