/*
 * euler: a step is a sweep.
 *
 * Forward Euler, first order in time; stable up to the limit of engine/stability.h. Bit for bit the
 * same on every backend and with every kernel, however a run is cut into stops.
 *
 * Source: LeVeque, Finite Difference Methods for Ordinary and Partial Differential Equations
 * (2007), ch. 9.
 */
#include "core/method.h"

static enum hs_status advance(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err)
{
    (void)self;
    return backend->sweep(state, span, err);
}

const struct hs_method hs_method_euler = {
    .name = "euler",
    .idea = "forward Euler: a step is a sweep",
    .origin = "LeVeque 2007, ch. 9",
    .known_as = "forward_euler|explicit_euler|explicit|ftcs",
    .ranks = true,
    .step_rule = HS_STEP_STABLE,
    .advance = advance,
};
