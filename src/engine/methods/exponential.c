/*
 * exponential: exact in time, whatever the step.
 *
 * Between the nodes space is as coarse as the stencil makes it; in time the modes of that system of
 * ordinary differential equations, dT/dt = r T + f, are known: exp(r t) T + (exp(r t) - 1)/r f. The
 * modes are those of a short sweep, whose rates over its step are those of the system.
 *
 * Source: Moler and Van Loan, SIAM Review 45 (2003), methods 14 to 16.
 */
#include "core/method.h"
#include "engine/modes.h"

#include <stdlib.h>

struct hs_method_state {
    struct hs_modes modes; /* first: hs_modes_create */
    struct hs_span sweep;  /* that the modes are of; no steps: they have not begun */
    double begun;          /* s: when they did */
    double at;             /* s since then: what the backend's field is of */
};

static enum hs_status create(const struct hs_problem *problem, const struct hs_backend *backend,
                             struct hs_backend_state *state, struct hs_method_state **out,
                             struct hs_error *err)
{
    return hs_modes_create(sizeof **out, problem, backend, state, out, err);
}

static enum hs_status put(struct hs_method_state *self, double time, bool steps,
                          struct hs_error *err)
{
    self->at = time;
    return hs_modes_put(&self->modes, HS_MODE_TIME, time / self->sweep.step, steps, err);
}

static enum hs_status advance(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err)
{
    (void)backend, (void)state;
    const bool keep = span->keep_last || span->keep_before;
    enum hs_status st = HS_OK;
    if (self->sweep.count == 0) {
        self->begun = hs_span_time(span, 0);
        self->sweep = hs_modes_sweep(self->modes.problem);
        st = hs_modes_begin(&self->modes, &self->sweep, HS_MODE_TIME, err);
    }
    const double before = hs_span_time(span, span->count - 1) - self->begun;
    if (!st && keep && self->at != before)
        st = put(self, before, false, err);
    return st ? st : put(self, hs_span_time(span, span->count) - self->begun, keep, err);
}

static enum hs_status suits(const struct hs_problem *problem, struct hs_error *err)
{
    if (problem->raw)
        return hs_error_add(err, HS_BAD_INPUT,
                            "raw coefficients say what a sweep does, not what goes on between "
                            "two; take \"spectral\" or \"euler\"");
    return hs_modes_suit(problem, err);
}

const struct hs_method hs_method_exponential = {
    .name = "exponential",
    .idea = "exact in time for the grid's equations, by the modes of each axis",
    .origin = "Moler and Van Loan 2003, methods 14 to 16",
    .known_as = "expm|etd|matrix_exponential",
    .step_rule = HS_STEP_ANY,
    .jumps = true,
    .suits = suits,
    .memory = hs_modes_memory,
    .create = create,
    .advance = advance,
    .destroy = hs_modes_destroy,
};
