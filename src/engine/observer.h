/*
 * Observers watch a run. The step loop asks each of them for its next due sweep, sweeps up to the
 * nearest, and notifies those that are due. Nothing is computed unless it is asked for: the field
 * is downloaded, and the reduction made, at most once per stop.
 */
#ifndef HS_ENGINE_OBSERVER_H
#define HS_ENGINE_OBSERVER_H

#include "engine/step_state.h"

struct hs_observer {
    const char *name;
    void *self;
    bool wants_change;
    bool wants_before; /* beside wants_change: the field one sweep before, too */
    bool by_clock;     /* `next` follows the clock: with a method that jumps, any stop will do */
    /* The first due sweep after `sweep`; INT64_MAX if none. Every observer is also notified at the
     * start and at the end. */
    int64_t (*next)(void *self, int64_t sweep);
    enum hs_status (*notify)(void *self, const struct hs_step_state *step_state,
                             struct hs_error *err);
    /* Called while a method solves for the steady state, before the start is notified, with the
     * residuals from the initial guess on. May be NULL. */
    void (*solving)(void *self, const struct hs_solution *so_far);
    /* HS_OK, or how the observer's work beside the sweeps has failed; called about every quarter
     * second. May be NULL. */
    enum hs_status (*ask)(void *self, struct hs_error *err);
    /* Releases what it still holds of earlier stops. Called before the run's backend is destroyed,
     * however the run ended. May be NULL. */
    void (*drain)(void *self);
    void (*destroy)(void *self); /* called by the owner; NULL if it has another way */
};

#endif
