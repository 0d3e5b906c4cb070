/*
 * Observers: what watches a run. The step loop asks each for its next due sweep, sweeps up to the
 * nearest, and notifies those that are due. What an observer does not ask for is not computed: the
 * field is downloaded, and the reduction made, once per stop and only when asked.
 */
#ifndef HS_ENGINE_OBSERVER_H
#define HS_ENGINE_OBSERVER_H

#include "engine/step_state.h"

struct hs_observer {
    const char *name;
    void *self;
    bool wants_change;
    bool wants_before; /* with it: the field one sweep before, too */
    bool by_clock;     /* `next` only fits the clock: with a method that jumps, any stop will do */
    /* The first due sweep after `sweep`; INT64_MAX if none. Every observer is notified at sweep 0,
     * and at the end, besides. */
    int64_t (*next)(void *self, int64_t sweep);
    enum hs_status (*notify)(void *self, const struct hs_step_state *step_state,
                             struct hs_error *err);
    /* While a method solves for the steady state, before the start is told: the residuals from the
     * initial guess on. May be NULL. */
    void (*solving)(void *self, const struct hs_solution *so_far);
    /* HS_OK, or how what it does while the loop sweeps has failed; asked about every quarter
     * second. May be NULL. */
    enum hs_status (*ask)(void *self, struct hs_error *err);
    /* Gives back what it still holds of earlier moments: called before the run's backend goes,
     * however the run ended. May be NULL. */
    void (*drain)(void *self);
    void (*destroy)(void *self); /* for the owner; NULL where it has another way */
};

#endif
