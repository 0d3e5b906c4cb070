/*
 * implicit: steps of any length, of second order in time, that solve equations.
 *
 * BDF2, L-stable, on conduction networks and stencils of radius 1 (engine/steps/bdf2.h). It works
 * in the backend's vectors, where there are some; else on the host, to which the field is copied,
 * and back at stops.
 *
 * With time.tolerance each step of the plan is cut (engine/steps/cut.h).
 */
#include "core/memory.h"
#include "core/method.h"
#include "core/vectors.h"
#include "engine/stability.h"
#include "engine/steps/bdf2.h"
#include "engine/steps/cut.h"

#include <math.h>
#include <stdlib.h>

static const double same = 1e-6;      /* of a step: closer times are equal */
static const double begun_anew = 0.1; /* of the step before: a shorter step begins anew */
static const double solved = 0.1;     /* of a step's error in time: what the solution may be off */

/* Fields of the backend that hold, at a stop, the field before the plan's last step; the mean of
 * the last step; where the plan's step was cut, the field before the last of its parts; and at last
 * the means weighted by walls' h. */
enum { BEFORE = 2, MEAN, START, FIELDS };

struct hs_method_state {
    struct hs_bdf2 bdf2;
    double limit; /* s: longest stable sweep */
    struct hs_cut cut;
    double error; /* K: estimated error in time of the last step; 0: not known yet */
};

static enum hs_status suits(const struct hs_problem *problem, struct hs_error *err)
{
    if (problem->raw)
        return hs_error_add(err, HS_BAD_INPUT,
                            "raw coefficients define a sweep, but not the equations that a step "
                            "solves; give a material, or take \"euler\"");
    if (problem->radius > 1)
        return hs_error_add(err, HS_BAD_INPUT,
                            "it can do stencil.radius = 1, not %d; take that, or \"rkl2\"",
                            problem->radius);
    if (problem->schedule.steady)
        return hs_error_add(err, HS_BAD_INPUT,
                            "steady.tolerance is about the change of a sweep; remove steady, make "
                            "steady.method \"multigrid\", or take \"euler\"");
    return HS_OK;
}

static int first_by_h(const struct hs_problem *problem)
{
    return problem->schedule.tolerance > 0.0 ? FIELDS : START;
}

static int fields_of(const struct hs_problem *problem)
{
    return first_by_h(problem) + hs_walls_varying_h(problem->walls, problem->wall_count);
}

/* Conjugate gradients with BDF2's vectors, and the fields kept at stops. */
static double memory(const struct hs_problem *problem, const struct hs_backend *backend)
{
    return backend->vectors->bytes(problem, fields_of(problem)) +
           hs_conjugate_gradients_bytes(problem, backend, hs_bdf2_vectors(problem, backend));
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
    struct hs_method_state *self = hs_new(sizeof *self);
    self->limit = hs_stability_limit(problem);
    enum hs_status st = hs_bdf2_init(&self->bdf2, problem, backend, state, err);
    if (!st)
        st = backend->vectors->reserve(state, fields_of(problem), err);
    *out = st ? NULL : self;
    if (st)
        destroy(self);
    return st;
}

/* ---- steps within the tolerance -------------------------------------------------------------- */

static enum hs_status look(struct hs_method_state *self, double *rate, struct hs_error *err)
{
    return hs_bdf2_look(&self->bdf2, rate, err);
}

static enum hs_status attempt(struct hs_method_state *self, double step, double t, double *error,
                              double *order, struct hs_error *err)
{
    struct hs_bdf2 *bdf2 = &self->bdf2;
    const double tolerance = bdf2->problem->schedule.tolerance;
    if (step < begun_anew * bdf2->step)
        HS_TRY(hs_bdf2_begin_anew(bdf2, err));
    HS_TRY(hs_bdf2_try(bdf2, step, t, solved * tolerance, err));
    HS_TRY(hs_bdf2_error(bdf2, step, error, err));
    *order = bdf2->step > 0.0 ? 3.0 : 2.0;
    return HS_OK;
}

static enum hs_status accept(struct hs_method_state *self, double step, double t,
                             struct hs_error *err)
{
    return hs_bdf2_accept(&self->bdf2, step, t, err);
}

static void refuse(struct hs_method_state *self)
{
    self->bdf2.effort.refused++;
}

static const struct hs_cut_steps cut_steps = {look, attempt, accept, refuse};

/* ---- from stop to stop ----------------------------------------------------------------------- */

static void watch(struct hs_method_state *self, const struct hs_solve_watch *by)
{
    self->bdf2.gradients.watch = by;
}

/* Begins with the backend's field, where a run begins, goes on, or begins again. */
static enum hs_status begin(struct hs_method_state *self, const struct hs_span *span,
                            struct hs_error *err)
{
    const double t = hs_span_time(span, 0);
    if (fabs(t - self->bdf2.t) <= same * span->step)
        return HS_OK;
    self->cut = (struct hs_cut){.problem = self->bdf2.problem, .t = t};
    self->error = 0.0;
    return hs_bdf2_begin(&self->bdf2, t, err);
}

static enum hs_status do_step(struct hs_method_state *self, const struct hs_span *span, int64_t n,
                              struct hs_error *err)
{
    const double end = hs_span_time(span, n + 1);
    if (self->bdf2.problem->schedule.tolerance > 0.0)
        return hs_cut_go(&self->cut, &cut_steps, self, end, err);
    HS_TRY(hs_bdf2_try(&self->bdf2, span->step, end, solved * self->error, err));
    if (self->bdf2.sloped)
        HS_TRY(hs_bdf2_error(&self->bdf2, span->step, &self->error, err));
    return hs_bdf2_accept(&self->bdf2, span->step, end, err);
}

static enum hs_status advance(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err)
{
    struct hs_conjugate_gradients *gradients = &self->bdf2.gradients;
    enum hs_status st = begin(self, span, err);
    for (int64_t n = 0; n < span->count && !st; n++) {
        if (span->keep_last && n == span->count - 1)
            st = hs_conjugate_gradients_store(gradients, HS_BDF2_NOW, BEFORE, err);
        if (!st)
            st = do_step(self, span, n, err);
    }
    if (st == HS_INTERRUPTED) {
        const enum hs_status finished = backend->vectors->finish(state, false, err);
        return finished ? finished : st;
    }
    HS_TRY(st);
    if (span->keep_before)
        HS_TRY(hs_conjugate_gradients_store(gradients, HS_BDF2_MEAN, MEAN, err));
    for (int n = 0; n < self->bdf2.h_count && span->keep_before; n++) {
        HS_TRY(hs_bdf2_weigh(&self->bdf2, n, err));
        HS_TRY(hs_conjugate_gradients_store(gradients, HS_BDF2_NEXT,
                                            first_by_h(self->bdf2.problem) + n, err));
    }
    if (span->keep_before && self->bdf2.problem->schedule.tolerance > 0.0)
        HS_TRY(hs_conjugate_gradients_store(gradients, HS_BDF2_OLD, START, err));
    HS_TRY(hs_conjugate_gradients_store(gradients, HS_BDF2_NOW, 0, err));
    if (span->keep_last)
        backend->vectors->exchange(state, 1, BEFORE);
    return backend->vectors->finish(state, span->keep_last, err);
}

static void mean(const struct hs_method_state *self, struct hs_step_mean *out)
{
    const struct hs_bdf2 *bdf2 = &self->bdf2;
    *out = (struct hs_step_mean){
        .step = bdf2->step,
        .sweep = bdf2->step,
        .before = bdf2->problem->schedule.tolerance > 0.0 ? START : 1,
        .mean = MEAN,
        .h_mean = first_by_h(bdf2->problem),
        .count = bdf2->times,
        .time = bdf2->time,
        .weight = bdf2->weight,
        .unsolved = bdf2->unsolved,
        .fastest = 1.0 / self->limit,
    };
}

static void effort(const struct hs_method_state *self, struct hs_effort *out)
{
    *out = self->bdf2.effort;
}

const struct hs_method hs_method_implicit = {
    .name = "implicit",
    .idea = "steps of any length, of second order, each solved for by multigrid",
    .origin = "Gear 1971; Alexander 1977",
    .known_as = "backward_euler|implicit_euler|crank_nicolson|bdf|bdf1|bdf2|adi|theta",
    .step_rule = HS_STEP_GIVEN,
    .implicit = true,
    .cuts = true,
    .suits = suits,
    .memory = memory,
    .create = create,
    .watch = watch,
    .advance = advance,
    .mean = mean,
    .effort = effort,
    .destroy = destroy,
};
