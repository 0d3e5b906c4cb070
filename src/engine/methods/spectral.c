/*
 * spectral: any number of sweeps at once.
 *
 * A sweep multiplies a mode T by 1 + r and adds f to it, so n sweeps make it
 *
 *     (1 + r)^n T + ((1 + r)^n - 1)/r f
 *
 * and the steady state is -f/r. The results are those of as many sweeps of euler, to rounding. Each
 * stop is computed from the field at the beginning of the run, or at the last change of the step.
 * Where the change of the last sweep is wanted, that sweep is a real one.
 *
 * Where a mode's rate is 0 in a search for the steady state, as in a body whose walls are all
 * insulated, source and walls must balance; the mode stays as it is in the initial field.
 */
#include "core/method.h"
#include "engine/modes/modes.h"
#include "engine/stability.h"

#include <math.h>
#include <string.h>

struct hs_method_state {
    struct hs_modes modes; /* first: hs_modes_create */
    struct hs_span from;   /* its steps are those of the modes; step 0: they have not begun */
    int64_t done;          /* sweeps since it began */
};

static enum hs_status create(const struct hs_problem *problem, const struct hs_backend *backend,
                             struct hs_backend_state *state, struct hs_method_state **out,
                             struct hs_error *err)
{
    return hs_modes_create(sizeof **out, problem, backend, state, out, err);
}

/* Begins with the field as it is, unless the steps are those of the present modes. `jump`: sweeps
 * until a state is wanted. */
static enum hs_status begin(struct hs_method_state *self, const struct hs_span *span, int64_t jump,
                            struct hs_error *err)
{
    if (self->from.step == span->step &&
        !memcmp(&self->from.op.stencil, &span->op.stencil, sizeof span->op.stencil))
        return HS_OK;
    self->from = *span;
    self->done = 0;
    return hs_modes_begin(&self->modes, span, HS_MODE_STEPS, (double)jump, err);
}

static enum hs_status advance(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err)
{
    struct hs_span last = *span;
    last.count = span->keep_last || span->keep_before ? 1 : 0;
    last.first = span->first + span->count - last.count;
    const int64_t jump = span->count - last.count;
    enum hs_status st = begin(self, span, jump, err);
    if (!st && jump > 0)
        st = hs_modes_put(
            &self->modes,
            (struct hs_mode_filter){.rule = HS_MODE_STEPS, .amount = (double)(self->done + jump)},
            false, err);
    if (!st && last.count > 0)
        st = backend->sweep(state, &last, err);
    self->done += span->count;
    return st;
}

/* Where nothing fixes the mean, source and walls must add nothing to it. */
static enum hs_status check_balance(struct hs_modes *modes, double step, struct hs_error *err)
{
    /* of a mean over so many nodes */
    const double rounding = modes->problem->precision == HS_FLOAT ? 1e-6 : 1e-12;
    double drift;
    if (!hs_modes_have_still(modes))
        return HS_OK;
    HS_TRY(hs_modes_drift(modes, &drift, err));
    if (fabs(drift) <= rounding * modes->largest_forcing)
        return HS_OK;
    const char *unit = modes->problem->raw ? "a sweep" : "K/s";
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: steady.method = \"spectral\": there is no steady state: no wall holds "
                        "the mean temperature, and source and walls change it by %.3g %s; balance "
                        "them, or give a wall a temperature",
                        hs_problem_place(modes->problem, HS_PLACE_STEADY),
                        modes->problem->raw ? drift : drift / step, unit);
}

/* Where strong convection makes sweeps very short, the next one would not show this error. */
static enum hs_status check_doubt(const struct hs_modes *modes, double tolerance,
                                  struct hs_error *err)
{
    const double doubt = hs_modes_doubt(modes);
    const struct hs_problem *problem = modes->problem;
    if (doubt <= tolerance)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: steady.method = \"spectral\": the slowest mode is so much slower than "
                        "the fastest that its relative error by rounding may be %.2g, more than "
                        "steady.tolerance = %.3g; take %s%s",
                        hs_problem_place(problem, HS_PLACE_STEADY), doubt, tolerance,
                        problem->raw          ? "steady.method \"sweeps\""
                        : problem->radius > 1 ? "stencil.radius = 1 and steady.method \"multigrid\""
                                              : "steady.method \"multigrid\"",
                        doubt < 1e-2 ? ", or a larger tolerance" : "");
}

/* K: the rounding of a sweep over fields up to `largest`; ghosts of strong convection are
 * differences of large terms. */
static double rounding_of(const struct hs_modes *modes, const struct hs_span *span, double largest)
{
    const struct hs_problem *problem = modes->problem;
    const struct hs_stencil *stencil = &span->op.stencil;
    double weight = 1.0;
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        for (int m = 0; m < stencil->radius; m++) {
            const double c = stencil->c[hs_stencil_index(stencil->radius, face / 2, m + 1)];
            weight = fmax(weight, fabs(c) * (fabs(problem->face[face].a[m]) +
                                             fabs(problem->face[face].b[m])));
        }
    return 16.0 * weight * largest * hs_precision_epsilon(problem->precision);
}

/* Leaves values that are not finite in the field, for the loop to find; a sweep makes them if there
 * are none yet. */
static enum hs_status leave_not_finite(const struct hs_modes *modes, const struct hs_span *span,
                                       struct hs_error *err)
{
    struct hs_reduction field;
    HS_TRY(hs_reduce(modes->backend, modes->state, modes->problem, &field, err));
    return field.not_finite > 0 ? HS_OK : modes->backend->sweep(modes->state, span, err);
}

static enum hs_status check_solve(struct hs_method_state *self, double tolerance,
                                  struct hs_error *err)
{
    struct hs_modes *modes = &self->modes;
    const struct hs_span span = hs_stability_sweep(modes->problem);
    HS_TRY(hs_modes_begin(modes, &span, HS_MODE_STEADY, 0.0, err));
    if (modes->not_finite > 0)
        return HS_OK;
    HS_TRY(check_doubt(modes, tolerance, err));
    return check_balance(modes, span.step, err);
}

static enum hs_status solve(struct hs_method_state *self, const struct hs_backend *backend,
                            struct hs_backend_state *state, double tolerance,
                            struct hs_solution *out, struct hs_error *err)
{
    struct hs_modes *modes = &self->modes;
    const struct hs_span span = hs_stability_sweep(modes->problem);
    struct hs_reduction after;
    *out = (struct hs_solution){.residual = NAN};
    if (modes->not_finite > 0)
        return leave_not_finite(modes, &span, err);
    HS_TRY(hs_modes_put(modes, (struct hs_mode_filter){.rule = HS_MODE_STEADY}, false, err));
    HS_TRY(backend->sweep(state, &span, err)); /* a further one, for its change */
    HS_TRY(hs_reduce(backend, state, modes->problem, &after, err));
    const double size = fmax(fabs(after.min), fabs(after.max));
    const double rounding = rounding_of(modes, &span, fmax(modes->largest, size));
    const bool was_steady = modes->change <= rounding && after.change <= rounding;
    out->residual = was_steady ? 0.0 : after.change / modes->change;
    out->reached = out->residual <= tolerance || after.change <= rounding;
    return HS_OK;
}

const struct hs_method hs_method_spectral = {
    .name = "spectral",
    .idea = "any number of sweeps at once, and their limit, by the modes of each axis",
    .origin = "Lynch, Rice and Thomas 1964",
    .known_as = "fft|dct|dst|modes|modal",
    .step_rule = HS_STEP_STABLE,
    .jumps = true,
    .suits = hs_modes_suit,
    .memory = hs_modes_memory,
    .create = create,
    .check_solve = check_solve,
    .advance = advance,
    .solve = solve,
    .destroy = hs_modes_destroy,
};
