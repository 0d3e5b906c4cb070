/*
 * implicit: steps of any length that solve equations, of second order in time.
 *
 * BDF2, L-stable, on networks of conduction and stencils of radius 1 (engine/bdf2.h). It goes on
 * the host, by the threads of the CPU: of another device the field comes and goes back at stops.
 *
 * With time.tolerance each step of the plan is cut into steps whose error in time, as it is
 * estimated, is at most that: a step is made longer where the estimate allows, at most twice as
 * long, and tried again, shorter, where it was too long.
 *
 * Sources: those of engine/bdf2.h; Hairer, Norsett and Wanner, Solving Ordinary Differential
 * Equations I (1993), II.4 for the choice of steps.
 */
#include "core/memory.h"
#include "core/method.h"
#include "core/vectors.h"
#include "engine/bdf2.h"
#include "engine/host_field.h"

#include <math.h>
#include <stdlib.h>

static const double same = 1e-6;      /* of a step: two times are one */
static const double solved = 0.1;     /* of a step's error in time: what solving it may leave */
static const double careful = 0.9;    /* of the step that the estimate allows */
static const double least = 0.2;      /* of a step that was too long */
static const double most = 2.0;       /* times the last step */
static const double worth = 1.2;      /* times the last step, that the matrix changes for */
static const double shortest = 1e-12; /* of the time so far: what shorter steps are is rounding */

enum { BEFORE = 2 }; /* the backend's field that keeps the one before the last step */

struct hs_method_state {
    const struct hs_problem *problem;
    struct hs_bdf2 bdf2;
    bool begun;
    double wanted; /* s: the next step, by the estimate; 0: not known yet */
    double error;  /* K: the last step's in time, by the estimate; 0: not known yet */
};

static enum hs_status suits(const struct hs_problem *problem, struct hs_error *err)
{
    if (problem->raw)
        return hs_error_add(err, HS_BAD_INPUT,
                            "raw coefficients say what a sweep does, not what a step solves; give "
                            "a material, or take \"euler\"");
    if (problem->radius > 1)
        return hs_error_add(err, HS_BAD_INPUT,
                            "a stencil of radius %d is no network of conduction; take radius 1, or "
                            "\"rkl2\"",
                            problem->radius);
    if (problem->schedule.steady)
        return hs_error_add(err, HS_BAD_INPUT,
                            "steady.tolerance is about the change of a sweep; remove steady, make "
                            "steady.method \"multigrid\", or take \"euler\"");
    return HS_OK;
}

/* Nine fields and the levels: see methods/multigrid.c. Of another device it takes one field. */
static double memory(const struct hs_problem *problem, const struct hs_backend *backend)
{
    enum { NODE_BYTES = 9 * 8 + 2 * 38 };
    const int64_t *n = problem->grid.points;
    const double field = backend->vectors ? backend->vectors->bytes(problem, 1 + BEFORE) : 0.0;
    return backend->device == HS_CPU
               ? field + NODE_BYTES * (double)n[HS_X] * (double)n[HS_Y] * (double)n[HS_Z]
               : field;
}

static void destroy(struct hs_method_state *self)
{
    if (!self)
        return;
    hs_bdf2_release(&self->bdf2);
    free(self);
}

static enum hs_status create(const struct hs_problem *problem, const struct hs_backend *backend,
                             struct hs_backend_state *state, struct hs_method_state **out,
                             struct hs_error *err)
{
    if (!backend->vectors)
        return hs_error_add(err, HS_BAD_INPUT,
                            "time.method = \"implicit\": the %s backend keeps no field besides",
                            backend->name);
    struct hs_method_state *self = hs_new(sizeof *self);
    self->problem = problem;
    enum hs_status st = hs_bdf2_init(&self->bdf2, problem, err);
    if (!st)
        st = backend->vectors->reserve(state, 1 + BEFORE, err);
    *out = st ? NULL : self;
    if (st)
        destroy(self);
    return st;
}

/* ---- steps within the tolerance -------------------------------------------------------------- */

static enum hs_status too_short(const struct hs_method_state *self, double step,
                                struct hs_error *err)
{
    return hs_error_add(err, HS_FAILED_CHECK,
                        "%s: time.tolerance = %.3g: at t = %.9g s it asks for steps of %.3g s; "
                        "give a larger one, or time.step instead",
                        hs_problem_place(self->problem, HS_PLACE_TOLERANCE),
                        self->problem->schedule.tolerance, self->bdf2.t, step);
}

/* The first one changes no node by more than the tolerance. Of what is no number any step shows it.
 */
static enum hs_status first_step(struct hs_method_state *self, struct hs_error *err)
{
    double rate;
    const enum hs_status st = hs_bdf2_look(&self->bdf2, &rate, err);
    self->wanted = INFINITY;
    if (!st && isfinite(rate) && rate > 0.0)
        self->wanted = self->problem->schedule.tolerance / rate;
    return st;
}

/* By how much the step should be longer, of one whose error is known. */
static double factor_of(const struct hs_method_state *self, double error)
{
    const double order = self->bdf2.step > 0.0 ? 3.0 : 2.0;
    const double tolerance = self->problem->schedule.tolerance;
    return fmin(fmax(careful * pow(tolerance / error, 1.0 / order), least), most);
}

/* To the end, in steps of the same length as far as the estimate allows. */
static enum hs_status go(struct hs_method_state *self, double end, struct hs_error *err)
{
    struct hs_bdf2 *bdf2 = &self->bdf2;
    const double tolerance = self->problem->schedule.tolerance, begin = bdf2->t;
    enum hs_status st = self->wanted > 0.0 ? HS_OK : first_step(self, err);
    while (!st && bdf2->t < end) {
        const double left = end - bdf2->t, count = ceil(left / self->wanted * (1.0 - same));
        const double step = count > 1.0 ? left / count : left;
        const double t = count > 1.0 ? bdf2->t + step : end;
        if (step < shortest * fmax(fabs(bdf2->t), 1e-3 * (end - begin)))
            return too_short(self, step, err);
        st = hs_bdf2_try(bdf2, step, t, solved * tolerance, err);
        if (st)
            return st;
        const double error = hs_bdf2_error(bdf2, step), factor = factor_of(self, error);
        const bool accepted = error <= tolerance;
        self->wanted = step * (accepted && factor < worth ? fmin(factor, 1.0) : factor);
        if (accepted)
            hs_bdf2_accept(bdf2, step, t);
        else
            bdf2->effort.refused++;
    }
    return st;
}

/* ---- from stop to stop ----------------------------------------------------------------------- */

/* Where a run begins, or goes on, or begins again: from the backend's field. */
static enum hs_status begin(struct hs_method_state *self, const struct hs_backend *backend,
                            struct hs_backend_state *state, const struct hs_span *span,
                            struct hs_error *err)
{
    const double t = hs_span_time(span, 0);
    if (self->begun && fabs(t - self->bdf2.t) <= same * span->step)
        return HS_OK;
    self->begun = true;
    self->wanted = self->error = 0.0;
    const enum hs_status st =
        hs_host_field_download(self->problem, backend, state, self->bdf2.T, err);
    return st ? st : hs_bdf2_begin(&self->bdf2, t, err);
}

static enum hs_status do_step(struct hs_method_state *self, const struct hs_span *span, int64_t n,
                              struct hs_error *err)
{
    const double end = hs_span_time(span, n + 1);
    if (self->problem->schedule.tolerance > 0.0)
        return go(self, end, err);
    const enum hs_status st = hs_bdf2_try(&self->bdf2, span->step, end, solved * self->error, err);
    if (st)
        return st;
    if (self->bdf2.sloped)
        self->error = hs_bdf2_error(&self->bdf2, span->step);
    hs_bdf2_accept(&self->bdf2, span->step, end);
    return HS_OK;
}

static enum hs_status upload(struct hs_method_state *self, const struct hs_backend *backend,
                             struct hs_backend_state *state, struct hs_error *err)
{
    return hs_host_field_upload(self->problem, backend, state, self->bdf2.T, err);
}

static enum hs_status advance(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err)
{
    enum hs_status st = begin(self, backend, state, span, err);
    for (int64_t n = 0; n < span->count && !st; n++) {
        if (span->keep_last && n == span->count - 1) {
            st = upload(self, backend, state, err);
            backend->vectors->exchange(state, 0, BEFORE);
        }
        if (!st)
            st = do_step(self, span, n, err);
    }
    if (!st)
        st = upload(self, backend, state, err); /* into fields 0 and 1 */
    if (st)
        return st;
    if (span->keep_last)
        backend->vectors->exchange(state, 1, BEFORE);
    return backend->vectors->finish(state, span->keep_last, err);
}

static void effort(const struct hs_method_state *self, struct hs_effort *out)
{
    *out = self->bdf2.effort;
}

const struct hs_method hs_method_implicit = {
    .name = "implicit",
    .idea = "steps of any length, of second order, each solved for by multigrid on the host",
    .origin = "Gear 1971; Alexander 1977",
    .step_rule = HS_STEP_GIVEN,
    .implicit = true,
    .suits = suits,
    .memory = memory,
    .create = create,
    .advance = advance,
    .effort = effort,
    .destroy = destroy,
};
