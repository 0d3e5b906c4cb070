/*
 * Steps within a tolerance: a step of the plan is cut into steps whose error in time, as the method
 * estimates it, is at most time.tolerance [K]. Steps become longer where the estimate allows, at
 * most twice as long; a step that was too long is tried again, shorter. No step is so long that
 * what acts comes and goes within it (engine/steps/pulses.h).
 *
 * Source: Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I (1993), II.4.
 */
#ifndef HS_ENGINE_STEPS_CUT_H
#define HS_ENGINE_STEPS_CUT_H

#include "core/problem.h"

struct hs_cut {
    const struct hs_problem *problem;
    double t;      /* s: the time reached; NaN: not begun */
    double last;   /* s: the step before; 0: none */
    double wanted; /* s: the next step, by the estimate; 0: not known yet */
};

/* What a method does for it. */
struct hs_method_state;
struct hs_cut_steps {
    /* *rate: K/s, how fast the field changes now, at the node where it changes fastest. */
    enum hs_status (*look)(struct hs_method_state *self, double *rate, struct hs_error *err);
    /* Tries a step of `step` [s] to time t. *error [K] goes as the step to the power of *order. */
    enum hs_status (*attempt)(struct hs_method_state *self, double step, double t, double *error,
                              double *order, struct hs_error *err);
    /* The step tried becomes the field (NULL: it is already); or the field becomes what it was. */
    enum hs_status (*accept)(struct hs_method_state *self, double step, double t,
                             struct hs_error *err);
    void (*refuse)(struct hs_method_state *self);
};

/* Goes to `end` [s]. Errors: HS_FAILED_CHECK if no step is short enough; the method's. */
enum hs_status hs_cut_go(struct hs_cut *cut, const struct hs_cut_steps *steps,
                         struct hs_method_state *self, double end, struct hs_error *err);

#endif
