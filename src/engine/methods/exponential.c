/*
 * exponential: exact in time, for any step.
 *
 * Space is discretised by the stencil. The modes of the resulting ordinary differential equations,
 * dT/dt = r T + f, are known exactly: exp(r t) T + (exp(r t) - 1)/r f. They are the modes of a
 * short sweep, whose rates over its step are those of the system.
 *
 * Source: Moler and Van Loan, SIAM Review 45 (2003), methods 14 to 16.
 */
#include "core/method.h"
#include "core/vectors.h"
#include "engine/balance/balance.h"
#include "engine/modes/modes.h"

enum { MEAN = 2, FIELDS }; /* the backend's fields; MEAN: of the last step before a stop */

struct hs_method_state {
    struct hs_modes modes; /* first: hs_modes_create */
    struct hs_span sweep;  /* the modes' own; count 0: they have not begun */
    double begun;          /* s: when the modes began */
    double at;             /* s since then: the time of the backend's field */
    double step;           /* s: of the mean */
};

static double memory(const struct hs_problem *problem, const struct hs_backend *backend)
{
    return hs_modes_memory(problem, backend) +
           (hs_balance_is_there(problem) ? backend->vectors->bytes(problem, FIELDS) : 0.0);
}

static enum hs_status create(const struct hs_problem *problem, const struct hs_backend *backend,
                             struct hs_backend_state *state, struct hs_method_state **out,
                             struct hs_error *err)
{
    const enum hs_status st = hs_modes_create(sizeof **out, problem, backend, state, out, err);
    return st || !hs_balance_is_there(problem) ? st : backend->vectors->reserve(state, FIELDS, err);
}

static enum hs_status put(struct hs_method_state *self, double time, bool steps,
                          struct hs_error *err)
{
    const struct hs_mode_filter then = {.rule = HS_MODE_TIME, .amount = time / self->sweep.step};
    self->at = time;
    return hs_modes_put(&self->modes, then, steps, err);
}

/* The mean from self->at to `end`. */
static enum hs_status put_mean(struct hs_method_state *self, double end, struct hs_error *err)
{
    const struct hs_vectors *vectors = self->modes.backend->vectors;
    const double step = self->sweep.step;
    const struct hs_mode_filter over = {
        .rule = HS_MODE_MEAN, .begin = self->at / step, .amount = end / step};
    vectors->exchange(self->modes.state, 0, MEAN);
    const enum hs_status st = hs_modes_put(&self->modes, over, false, err);
    vectors->exchange(self->modes.state, 0, MEAN);
    self->step = end - self->at;
    return st;
}

static enum hs_status advance(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err)
{
    (void)backend, (void)state;
    const bool keep = span->keep_last || span->keep_before;
    const bool begins = self->sweep.count == 0;
    if (begins)
        self->begun = hs_span_time(span, 0);
    const double before = hs_span_time(span, span->count - 1) - self->begun;
    const double end = hs_span_time(span, span->count) - self->begun;
    if (begins) {
        self->sweep = hs_modes_sweep(self->modes.problem);
        HS_TRY(hs_modes_begin(&self->modes, &self->sweep, HS_MODE_TIME,
                              (keep ? before : end) / self->sweep.step, err));
    }
    if (keep && self->at != before)
        HS_TRY(put(self, before, false, err));
    if (span->keep_before && hs_balance_is_there(self->modes.problem))
        HS_TRY(put_mean(self, end, err));
    return put(self, end, keep, err);
}

/* Nothing changes with time, so any time does. A product of matrices rounds each of its terms. */
static void mean(const struct hs_method_state *self, struct hs_step_mean *out)
{
    static const double all = 1.0;
    double terms = 0.0;
    for (int axis = 0; axis < HS_AXES; axis++)
        terms += (double)self->modes.extent[axis];
    *out = (struct hs_step_mean){
        .step = self->step,
        .sweep = self->step,
        .before = 1,
        .mean = MEAN,
        .count = 1,
        .time = &self->begun,
        .weight = &all,
        .roundings = 2.0 * terms,
        .fastest = 0.5 / self->sweep.step, /* which is half the longest stable one */
    };
}

static enum hs_status suits(const struct hs_problem *problem, struct hs_error *err)
{
    if (problem->raw)
        return hs_error_add(err, HS_BAD_INPUT,
                            "raw coefficients define sweeps, not an equation in continuous time; "
                            "take \"spectral\" or \"euler\"");
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
    .memory = memory,
    .create = create,
    .advance = advance,
    .mean = mean,
    .destroy = hs_modes_destroy,
};
