/*
 * rkl2: Runge-Kutta-Legendre super time stepping, second order in time.
 *
 * A step of length tau has s stages of one sweep each, and is stable up to (s^2 + s - 2)/4 times
 * the longest stable sweep: s sweeps go about as far as s^2/4 of euler's. Let S be a sweep of dt =
 * 4 tau/(s^2 + s - 2), which is never longer than a stable one. Then tau L(Y) is (S(Y) - Y) tau/dt,
 * and the stages of Meyer, Balsara and Aslam become
 *
 *     Y_1 = Y_0 + b_1 (S(Y_0) - Y_0)
 *     Y_j = mu_j S(Y_j-1) + nu_j Y_j-2 + (1 - mu_j - nu_j + g_j) Y_0 - g_j S(Y_0)
 *     b_j = (j^2 + j - 2)/(2 j (j + 1)), at least 1/3;  mu_j = (2j - 1)/j b_j/b_j-1;
 *     nu_j = -(j - 1)/j b_j/b_j-2;  g_j = (1 - b_j-1) mu_j
 *
 * Stage j is the field at t + c_j tau, where c_j = (j^2 + j - 2)/(s^2 + s - 2), c_1 = c_2/3. A
 * sweep takes walls and sources at the time of the stage from which it starts; nodes that walls
 * prescribe have the value for the time of each stage.
 *
 * Where nothing changes with time the step is Y_0 + b_s (P_s(S) Y_0 - Y_0) with the Legendre
 * polynomial P_s, whose recursion needs two fields instead of four:
 *
 *     X_1 = S(Y_0);  X_j = S(X_j-1) + (j - 1)/j (S(X_j-1) - X_j-2)
 *
 * Both are written as sums of differences, so that a uniform field stays uniform to the last bit
 * and coefficients cause no rounding of the field's own size: docs/numerics.md.
 *
 * What a step stores is tau L of a mean of its stages, whose weights add up to 1. With the harmonic
 * numbers H, the weights of the recursion's X_j and of the stages are
 *
 *     w_j = 2 (2j + 1)/(s (s + 1)) (H_s - H_j);   w_j/b_j for j > 0, and w_0 the rest of 1
 *
 * since (P_s(x) - 1)/(x - 1) is the sum of (2j + 1) (H_s - H_j) P_j(x) by Christoffel and Darboux.
 * The mean is added up in the last step before a stop, if its heat balance is wanted.
 *
 * Source: Meyer, Balsara and Aslam, J. Comput. Phys. 257 (2014) 594-626; their section 4 for the
 * stages, 3.2 for the recursion.
 */
#include "core/memory.h"
#include "core/method.h"
#include "core/vectors.h"
#include "engine/balance/balance.h"
#include "engine/stability.h"
#include "engine/steps/cut.h"
#include "engine/walls/boundary_data.h"
#include "functions/time_function.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { FEWEST = 3 };           /* stages */
enum { OLD, MOST_FIELDS = 5 }; /* the state's own, Y_0; number of fields */
/* With cut steps: before the plan's last step, at the start of a stretch; number of fields. */
enum { BEFORE = MOST_FIELDS, START, MOST_CUT_FIELDS };
static const double most = 4e6;       /* stages; plans have no longer steps */
static const double same = 1e-6;      /* of a step: closer times are equal */
static const double rounding = 1e-12; /* of the longest step that a number of stages can take */
static const double told = 8.0;       /* units in the last place: what an estimate can resolve */

/* The mean of the last step before a stop. */
struct mean {
    int field;   /* of the last fields reserved; 0: there is no balance */
    int h_count; /* the fields after it are those weighted by walls' h (core/method.h) */
    bool spares; /* a box of nodes is left out */
    struct hs_box spared;
    double *weight;     /* [1 + h_count][stages] */
    double *time;       /* [stages] */
    double step, sweep; /* s */
    int64_t stages;
};

struct hs_method_state {
    const struct hs_problem *problem;
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    double limit; /* s: longest stable sweep */
    bool in_time; /* walls or sources change with time */
    struct mean mean;
    struct hs_cut cut;
    double largest; /* K: of the field when a step was last judged */
    double mean_at; /* s: end of the step whose mean is wanted; NaN: none */
    struct hs_effort effort;
    const struct hs_solve_watch *watch;
};

/* For a step of this many times the longest stable sweep: the smallest odd number. Even numbers of
 * stages do not damp the shortest waves. */
static int64_t stages_for(double sweeps)
{
    double s = ceil(0.5 * (sqrt(9.0 + 16.0 * sweeps * (1.0 - rounding)) - 1.0));
    s = fmin(fmax(s, FEWEST), most);
    return (int64_t)s + ((int64_t)s % 2 == 0);
}

static int64_t sweeps(const struct hs_problem *problem, double limit, double step)
{
    return stages_for(step / (problem->schedule.safety * limit));
}

static enum hs_status suits(const struct hs_problem *problem, struct hs_error *err)
{
    if (problem->raw)
        return hs_error_add(err, HS_BAD_INPUT,
                            "raw coefficients define sweeps of one length, and this method needs "
                            "others; give a material, or take \"euler\"");
    if (problem->schedule.steady)
        return hs_error_add(err, HS_BAD_INPUT,
                            "steady.tolerance is about the change of a sweep, and its steps are "
                            "many sweeps long; remove steady, or take \"euler\"");
    return HS_OK;
}

/* ---- one step -------------------------------------------------------------------------------- */

struct step {
    const struct hs_vectors *vectors;
    struct hs_backend_state *state;
    int64_t stages;
    struct hs_span sweep; /* of one stage */
    double begin, end;    /* s */
    struct mean *mean;    /* NULL: it is not wanted */
};

/* The new field becomes the state's, the old one the field before it. */
static void take(const struct step *step, int field)
{
    step->vectors->exchange(step->state, 0, field);
    if (field != 1)
        step->vectors->exchange(step->state, 1, field);
}

static double b_of(int64_t stage)
{
    const double j = (double)stage;
    return stage < 3 ? 1.0 / 3.0 : (j * j + j - 2.0) / (2.0 * j * (j + 1.0));
}

/* ---- its mean -------------------------------------------------------------------------------- */

/* Weights of the recursion's fields, or of stages as they are. */
static void weigh(const struct step *step, bool stages)
{
    const double s = (double)step->stages;
    double *weight = step->mean->weight;
    double harmonic = 1.0 / s, all = 0.0; /* H_s - H_j */
    for (int64_t j = step->stages - 1; j > 0; j--) {
        weight[j] = 2.0 * (2.0 * (double)j + 1.0) / (s * (s + 1.0)) * harmonic;
        weight[j] /= stages ? b_of(j) : 1.0;
        all += weight[j];
        harmonic += 1.0 / (double)j;
    }
    weight[0] = 1.0 - all;
}

/* After an even stage j: adds that stage and the one before. */
static enum hs_status add_to_mean(const struct step *step, int64_t stage, int now, int before,
                                  struct hs_error *err)
{
    const struct mean *mean = step->mean;
    if (!mean || stage % 2 || stage >= step->stages)
        return HS_OK;
    for (int n = 0; n <= mean->h_count; n++) {
        const double *weight = mean->weight + n * step->stages;
        const struct hs_term terms[] = {{weight[stage - 1], before, OLD},
                                        {weight[stage], now, OLD},
                                        {1.0, mean->field + n, OLD}};
        HS_TRY(step->vectors->combine(step->state, mean->field + n, OLD, terms, stage == 2 ? 2 : 3,
                                      mean->spares ? &mean->spared : NULL, err));
    }
    return HS_OK;
}

/* Weights for each of the walls' h that change (core/method.h), after those of the mean. */
static void weigh_by_h(const struct hs_problem *problem, struct mean *mean)
{
    for (int w = 0; w < problem->wall_count; w++) {
        const struct hs_wall *wall = &problem->walls[w];
        if (wall->h_function < 0)
            continue;
        const struct hs_time_function *h = &problem->time_functions[wall->h_function];
        double *weight = mean->weight + (wall->h_number + 1) * mean->stages, of_all = 0.0;
        for (int64_t j = 0; j < mean->stages; j++) {
            weight[j] = hs_time_function_at(h, mean->time[j]);
            of_all += mean->weight[j] * weight[j];
        }
        for (int64_t j = 0; j < mean->stages; j++)
            weight[j] = mean->weight[j] * (1.0 + (weight[j] - of_all) / wall->h);
    }
}

/* ---- the recursion --------------------------------------------------------------------------- */

enum { MOST_AT_ONCE = 8 };

/* X_j and X_j-1, and the fields that may be overwritten: never Y_0, the state's own. */
struct recursion {
    int now, before;
    int free[MOST_FIELDS], free_count;
};

/* A pass of several stages writes its two results to other fields than it reads. A pass of one
 * stage writes its result over X_j-2. A plain sweep needs a field of its own for its result. */
static int recursion_fields(int at_once)
{
    return at_once > 1 ? MOST_FIELDS : at_once == 1 ? 3 : 4;
}

static int take_free(struct recursion *r)
{
    assert(r->free_count > 0);
    return r->free[--r->free_count];
}

static void give_free(struct recursion *r, int field)
{
    if (field != OLD)
        r->free[r->free_count++] = field;
}

/* X_j+1 by a sweep and a sum, or by a pass where the kernel can. */
static enum hs_status make_stage(const struct step *step, struct recursion *r, const double *factor,
                                 bool in_pass, struct hs_error *err)
{
    const int out = r->before == OLD ? take_free(r) : r->before;
    if (in_pass) {
        const struct hs_recurrence fields = {.in = r->now, .before = r->before, .out = out};
        HS_TRY(step->vectors->recur(step->state, &step->sweep, &fields, factor, 1, err));
    } else {
        const int swept = r->free[r->free_count - 1];
        const struct hs_term further = {*factor, swept, r->before};
        HS_TRY(step->vectors->sweep(step->state, &step->sweep, r->now, swept, err));
        HS_TRY(step->vectors->combine(step->state, out, swept, &further, 1, NULL, err));
    }
    r->before = r->now;
    r->now = out;
    return HS_OK;
}

/* `count` stages in one pass. */
static enum hs_status make_stages(const struct step *step, struct recursion *r,
                                  const double *factor, int count, struct hs_error *err)
{
    const int out = take_free(r), last_but_one = take_free(r);
    const struct hs_recurrence fields = {r->now, r->before, out, last_but_one};
    const enum hs_status st =
        step->vectors->recur(step->state, &step->sweep, &fields, factor, count, err);
    give_free(r, r->now);
    give_free(r, r->before);
    r->now = out;
    r->before = last_but_one;
    return st;
}

/* A step by the recursion, for walls and sources that do not change. */
static enum hs_status legendre(const struct step *step, struct hs_error *err)
{
    const int pass = step->vectors->recursion(step->state);
    const int at_once = pass < MOST_AT_ONCE ? pass : MOST_AT_ONCE;
    struct recursion r = {.now = OLD + 1, .before = OLD};
    for (int field = recursion_fields(at_once) - 1; field > r.now; field--)
        give_free(&r, field);
    HS_TRY(step->vectors->sweep(step->state, &step->sweep, OLD, r.now, err));
    for (int64_t done = 1; done < step->stages;) {
        const int64_t left = step->stages - done, most_now = step->mean ? 2 - done % 2 : at_once;
        const int count = at_once < 2 ? 1 : (int)(left < most_now ? left : most_now);
        double factor[MOST_AT_ONCE];
        for (int n = 0; n < count; n++)
            factor[n] = (double)(done + n) / (double)(done + n + 1);
        HS_TRY(count > 1 ? make_stages(step, &r, factor, count, err)
                         : make_stage(step, &r, factor, at_once > 0, err));
        done += count;
        HS_TRY(add_to_mean(step, done, r.now, r.before, err));
    }
    const struct hs_term all = {b_of(step->stages), r.now, OLD};
    HS_TRY(step->vectors->combine(step->state, r.before, OLD, &all, 1, NULL, err));
    take(step, r.before);
    return HS_OK;
}

/* ---- the stages as they are ------------------------------------------------------------------ */

static double stage_time(const struct step *step, int64_t stage)
{
    const double j = (double)stage, s = (double)step->stages;
    const double c = (stage == 1 ? 4.0 / 3.0 : j * j + j - 2.0) / (s * s + s - 2.0);
    if (stage == 0 || stage == step->stages)
        return stage == 0 ? step->begin : step->end;
    return step->begin + c * (step->end - step->begin);
}

/* Sweeps from stage j - 1 towards stage j. */
static enum hs_status sweep_to(const struct step *step, int64_t stage, int from, int to,
                               struct hs_error *err)
{
    struct hs_span span = step->sweep;
    span.start = stage_time(step, stage - 1);
    span.pace = stage_time(step, stage) - span.start;
    return step->vectors->sweep(step->state, &span, from, to, err);
}

/* A step by the stages as they are, for walls and sources that change. */
static enum hs_status runge_kutta(const struct step *step, struct hs_error *err)
{
    enum { SWEPT_OLD = OLD + 1, FIRST, SECOND, SWEPT };
    static_assert(SWEPT + 1 == MOST_FIELDS, "all are reserved");
    const struct hs_vectors *vectors = step->vectors;
    const struct hs_term part = {b_of(1) - 1.0, SWEPT_OLD, OLD};
    int now = FIRST, before = OLD, out = SECOND;
    HS_TRY(sweep_to(step, 1, OLD, SWEPT_OLD, err));
    HS_TRY(vectors->combine(step->state, FIRST, SWEPT_OLD, &part, 1, NULL, err));
    for (int64_t stage = 2; stage <= step->stages; stage++) {
        const double j = (double)stage;
        const double mu = (2.0 * j - 1.0) / j * b_of(stage) / b_of(stage - 1);
        const double nu = (1.0 - j) / j * b_of(stage) / b_of(stage - 2);
        const struct hs_term terms[] = {{mu - 1.0, SWEPT, OLD},
                                        {(b_of(stage - 1) - 1.0) * mu, SWEPT_OLD, OLD},
                                        {nu, before, OLD}};
        HS_TRY(sweep_to(step, stage, now, SWEPT, err));
        /* for stage 2 the last term is 0 */
        HS_TRY(vectors->combine(step->state, out, SWEPT, terms, stage == 2 ? 2 : 3, NULL, err));
        HS_TRY(add_to_mean(step, stage, out, now, err));
        before = now;
        now = out;
        out = before;
    }
    take(step, now);
    return HS_OK;
}

/* ---- the method ------------------------------------------------------------------------------ */

/* The last fields are those of means. */
static int fields_of(const struct hs_problem *problem, int at_once)
{
    const int means = hs_balance_is_there(problem)
                          ? 1 + hs_walls_varying_h(problem->walls, problem->wall_count)
                          : 0;
    if (problem->schedule.tolerance > 0.0)
        return MOST_CUT_FIELDS + means;
    return (hs_boundary_data_in_time(problem) ? MOST_FIELDS : recursion_fields(at_once)) + means;
}

/* An upper bound: a kernel that makes one stage in a pass needs two fields less. */
static double memory(const struct hs_problem *problem, const struct hs_backend *backend)
{
    return backend->vectors->bytes(problem, fields_of(problem, MOST_AT_ONCE));
}

static enum hs_status create(const struct hs_problem *problem, const struct hs_backend *backend,
                             struct hs_backend_state *state, struct hs_method_state **out,
                             struct hs_error *err)
{
    struct hs_method_state *self = hs_new(sizeof *self);
    self->problem = problem;
    self->backend = backend;
    self->state = state;
    self->limit = hs_stability_limit(problem);
    self->in_time = hs_boundary_data_in_time(problem);
    self->mean_at = self->cut.t = NAN;
    *out = self;
    const int fields = fields_of(problem, backend->vectors->recursion(state));
    self->mean.h_count = hs_walls_varying_h(problem->walls, problem->wall_count);
    self->mean.field = hs_balance_is_there(problem) ? fields - 1 - self->mean.h_count : 0;
    self->mean.spares = hs_balance_spares(problem, &self->mean.spared);
    return backend->vectors->reserve(state, fields, err);
}

static void destroy(struct hs_method_state *self)
{
    if (!self)
        return;
    free(self->mean.weight);
    free(self->mean.time);
    free(self);
}

static void begin_mean(const struct hs_problem *problem, struct mean *mean, const struct step *step,
                       double length, bool in_time)
{
    const size_t count = (size_t)step->stages;
    mean->weight = hs_grow(mean->weight, count * (1 + (size_t)mean->h_count), sizeof *mean->weight);
    mean->time = hs_grow(mean->time, count, sizeof *mean->time);
    mean->step = length;
    mean->sweep = step->sweep.step;
    mean->stages = step->stages;
    weigh(step, in_time);
    for (int64_t j = 0; j < step->stages; j++)
        mean->time[j] = stage_time(step, j);
    weigh_by_h(problem, mean);
}

static enum hs_status make_step(struct hs_method_state *self, double begin, double length,
                                double end, struct step *out, struct hs_error *err)
{
    const bool mean = end == self->mean_at;
    const int64_t stages = sweeps(self->problem, self->limit, length);
    const double s = (double)stages, dt = 4.0 * length / (s * s + s - 2.0);
    *out = (struct step){.vectors = self->backend->vectors,
                         .state = self->state,
                         .stages = stages,
                         .begin = begin,
                         .end = end,
                         .sweep = {.count = 1,
                                   .start = begin,
                                   .step = dt,
                                   .op = hs_problem_operator(self->problem, dt)},
                         .mean = mean ? &self->mean : NULL};
    if (mean)
        begin_mean(self->problem, &self->mean, out, length, self->in_time);
    self->effort.steps++;
    self->effort.sweeps += stages;
    return self->in_time ? runge_kutta(out, err) : legendre(out, err);
}

/* ---- steps within the tolerance -------------------------------------------------------------- */

/* K: the largest difference between field `other` and field 0 at a node; NaN where a value is not a
 * number. */
static enum hs_status distance_to(struct hs_method_state *self, int other, double *out,
                                  struct hs_error *err)
{
    const struct hs_vectors *vectors = self->backend->vectors;
    struct hs_reduction reduction = {.change = NAN};
    vectors->exchange(self->state, 1, other);
    enum hs_status st = vectors->finish(self->state, true, err);
    if (!st)
        st = hs_reduce(self->backend, self->state, self->problem, &reduction, err);
    vectors->exchange(self->state, 1, other);
    *out = reduction.change;
    self->largest = fmax(fabs(reduction.min), fabs(reduction.max));
    return st;
}

static enum hs_status look(struct hs_method_state *self, double *rate, struct hs_error *err)
{
    const double dt = self->problem->schedule.safety * self->limit;
    const struct hs_span sweep = {
        .count = 1, .start = self->cut.t, .step = dt, .op = hs_problem_operator(self->problem, dt)};
    HS_TRY(self->backend->vectors->sweep(self->state, &sweep, OLD, 2, err));
    HS_TRY(distance_to(self, 2, rate, err));
    *rate /= dt;
    self->effort.sweeps++;
    return HS_OK;
}

/*
 * Estimates the error from the step's distance to the trapezoidal rule, tau/2 (L(Y_0) + L(Y_s)).
 * With c = (s^2 + s - 6)/(9 (s^2 + s - 2)), the third term of the step's polynomial, the two are
 * off by tau^3 L^3 Y times c - 1/6 and 1/4 - 1/6. The step is in field 0, Y_0 in field 1.
 */
static enum hs_status estimate(struct hs_method_state *self, const struct step *step, double *error,
                               struct hs_error *err)
{
    const struct hs_vectors *vectors = step->vectors;
    const double s = (double)step->stages, all = s * s + s - 2.0, c = (all - 4.0) / (9.0 * all);
    const double share = (1.0 / 6.0 - c) / (0.25 - c), half = share * all / 8.0;
    const struct hs_term terms[] = {{share, 0, 1}, {-half, 2, 1}, {-half, 3, 0}};
    struct hs_span after = step->sweep;
    after.start = step->end;
    HS_TRY(vectors->sweep(self->state, &step->sweep, 1, 2, err));
    HS_TRY(vectors->sweep(self->state, &after, 0, 3, err));
    HS_TRY(vectors->combine(self->state, 4, 0, terms, 3, NULL, err));
    self->effort.sweeps += 2;
    return distance_to(self, 4, error, err);
}

/* An estimate is a difference of sweeps, so it cannot resolve less than their rounding. Steps
 * shortened to get below that would shrink to nothing. */
static enum hs_status check_rounding(const struct hs_method_state *self, enum hs_status refusal,
                                     struct hs_error *err)
{
    const struct hs_problem *problem = self->problem;
    const double least = told * hs_precision_epsilon(problem->precision) * self->largest;
    if (!(problem->schedule.tolerance < least))
        return HS_OK;
    return hs_error_add(err, refusal,
                        "%s: time.tolerance = %.3g: %s cannot resolve less than %.2g K at these "
                        "temperatures; give at least %.1g%s",
                        hs_problem_place(problem, HS_PLACE_TOLERANCE), problem->schedule.tolerance,
                        hs_precision_name(problem->precision), least, 2.0 * least,
                        problem->precision == HS_FLOAT ? ", or precision = \"double\"" : "");
}

static enum hs_status check_advance(struct hs_method_state *self, struct hs_error *err)
{
    struct hs_reduction field;
    if (!(self->problem->schedule.tolerance > 0.0))
        return HS_OK;
    HS_TRY(hs_reduce(self->backend, self->state, self->problem, &field, err));
    self->largest = fmax(fabs(field.min), fabs(field.max));
    return check_rounding(self, HS_BAD_INPUT, err);
}

static enum hs_status attempt(struct hs_method_state *self, double length, double t, double *error,
                              double *order, struct hs_error *err)
{
    const struct hs_solution nothing = {.residual = NAN};
    struct step step;
    if (self->watch && self->watch->notify(self->watch->self, &nothing))
        return HS_INTERRUPTED;
    HS_TRY(check_rounding(self, HS_FAILED_CHECK, err));
    HS_TRY(make_step(self, self->cut.t, length, t, &step, err));
    HS_TRY(estimate(self, &step, error, err));
    if (isnan(*error))
        *error = 0.0; /* the watch finds values that are not numbers */
    *order = 3.0;
    return HS_OK;
}

static void refuse(struct hs_method_state *self)
{
    self->backend->vectors->exchange(self->state, 0, 1);
    self->effort.refused++;
}

/* A step of the plan. `keep`: the field before it becomes field 1, and the field before the last of
 * its parts goes to BEFORE. */
static enum hs_status cut_step(struct hs_method_state *self, double begin, double end, bool keep,
                               struct hs_error *err)
{
    static const struct hs_cut_steps steps = {.look = look, .attempt = attempt, .refuse = refuse};
    const struct hs_vectors *vectors = self->backend->vectors;
    enum hs_status st = HS_OK;
    if (!(fabs(begin - self->cut.t) <= same * (end - begin)))
        self->cut = (struct hs_cut){.problem = self->problem};
    self->cut.t = begin;
    if (keep)
        st = vectors->combine(self->state, BEFORE, 0, NULL, 0, NULL, err);
    if (!st)
        st = hs_cut_go(&self->cut, &steps, self, end, err);
    if (keep)
        vectors->exchange(self->state, 1, BEFORE);
    return st;
}

/* ---- from stop to stop ----------------------------------------------------------------------- */

static void watch(struct hs_method_state *self, const struct hs_solve_watch *by)
{
    self->watch = by;
}

static enum hs_status advance(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err)
{
    const bool cut = self->problem->schedule.tolerance > 0.0;
    bool known = span->keep_last;
    enum hs_status st =
        cut ? backend->vectors->combine(state, START, 0, NULL, 0, NULL, err) : HS_OK;
    for (int64_t n = 0; n < span->count && !st; n++) {
        const double begin = hs_span_time(span, n), end = hs_span_time(span, n + 1);
        const bool keep = span->keep_last && n == span->count - 1;
        struct step step;
        self->mean_at = keep && span->keep_before && self->mean.field ? end : NAN;
        st = cut ? cut_step(self, begin, end, keep, err)
                 : make_step(self, begin, span->step, end, &step, err);
    }
    if (st == HS_INTERRUPTED) { /* as if it had not begun */
        backend->vectors->exchange(state, 0, START);
        known = false;
    } else if (st) {
        return st;
    }
    const enum hs_status finished = backend->vectors->finish(state, known, err);
    return finished ? finished : st;
}

/* Where nothing changes with time, one time is enough. */
static void mean_of(const struct hs_method_state *self, struct hs_step_mean *out)
{
    const struct mean *mean = &self->mean;
    static const double all = 1.0;
    *out = (struct hs_step_mean){
        .step = mean->step,
        .sweep = mean->sweep,
        .before = self->problem->schedule.tolerance > 0.0 ? BEFORE : 1,
        .mean = mean->field,
        .h_mean = mean->field + 1,
        .count = self->in_time ? mean->stages : 1,
        .time = mean->time,
        .weight = self->in_time ? mean->weight : &all,
        .roundings = 2.0 * (double)mean->stages,
    };
}

static void effort(const struct hs_method_state *self, struct hs_effort *out)
{
    *out = self->effort;
}

const struct hs_method hs_method_rkl2 = {
    .name = "rkl2",
    .idea = "super time stepping of second order: s sweeps go as far as s^2/4 of euler's",
    .origin = "Meyer, Balsara, Aslam 2014",
    .known_as = "rkl1|rkl|rkc|rkc2|sts|super_time_stepping|runge_kutta",
    .ranks = true,
    .step_rule = HS_STEP_GIVEN,
    .recursion = true,
    .cuts = true,
    .suits = suits,
    .sweeps = sweeps,
    .memory = memory,
    .create = create,
    .check_advance = check_advance,
    .watch = watch,
    .advance = advance,
    .mean = mean_of,
    .effort = effort,
    .destroy = destroy,
};
