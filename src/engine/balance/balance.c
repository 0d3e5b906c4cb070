#include "engine/balance/parts.h"

#include "core/memory.h"
#include "engine/threads.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { DEEPEST = 2 }; /* layers of a face that are read */

bool hs_balance_is_there(const struct hs_problem *problem)
{
    return problem->body || (!problem->raw && problem->radius == 1);
}

/* Whether there are materials with sinks that depend on the whole field. */
static bool is_perfused(const struct hs_problem *problem)
{
    bool any = false;
    for (int s = 0; problem->body && s < problem->body->substance_count; s++)
        any = any || problem->body->substance[s].perfusion > 0.0;
    return any;
}

bool hs_balance_spares(const struct hs_problem *problem, struct hs_box *out)
{
    *out = hs_grid_box(&problem->grid);
    for (int axis = 0; axis < problem->grid.dims; axis++)
        if (!problem->face[2 * axis].wrap) {
            out->lo[axis] += DEEPEST;
            out->hi[axis] -= DEEPEST;
        }
    return hs_box_count(out) > 0 && !is_perfused(problem);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void forget(struct hs_balance *balance)
{
    double *flux = balance->terms.flux;
    for (int w = 0; w < balance->wall_count; w++)
        flux[w] = NAN;
    balance->terms = (struct hs_balance_terms){flux, NAN, NAN, NAN, NAN, NAN};
}

/* Allocates the outermost `depth` layers of a face. */
static bool init_layers(const struct hs_problem *problem, int face, int depth,
                        struct hs_balance_layers *out)
{
    const int axis = face / 2;
    *out = (struct hs_balance_layers){.depth = depth};
    out->box = hs_grid_face_box(&problem->grid, face);
    if (face % 2)
        out->box.lo[axis] = out->box.hi[axis] - depth;
    else
        out->box.hi[axis] = depth;
    int64_t pitch = 1;
    for (int a = 0; a < HS_AXES; pitch *= out->box.hi[a] - out->box.lo[a], a++)
        out->pitch[a] = pitch;
    if (depth > 0)
        out->values =
            malloc((size_t)hs_box_count(&out->box) * hs_precision_size(problem->precision));
    return depth == 0 || out->values;
}

static enum hs_status init(struct hs_balance *balance, struct hs_error *err)
{
    const struct hs_problem *problem = balance->problem;
    const enum hs_status read = hs_balance_source_init(balance, err);
    if (read)
        return read;
    (problem->body ? hs_balance_of_network : hs_balance_of_stencil)(balance);
    balance->sinks = is_perfused(problem);
    balance->h_count = hs_walls_varying_h(problem->walls, problem->wall_count);
    balance->weighted = hs_new(((size_t)balance->h_count + 1) * sizeof *balance->weighted);
    bool enough = true;
    for (int face = 0; face < 2 * problem->grid.dims && enough; face++) {
        const int depth = problem->face[face].wrap ? 0 : balance->op->depth(balance, face);
        enough = init_layers(problem, face, depth, &balance->mean[face]) &&
                 init_layers(problem, face, depth > 1, &balance->before[face]) &&
                 init_layers(problem, face, depth > 1, &balance->after[face]);
        for (int n = 0; n < balance->h_count && enough; n++)
            enough = init_layers(problem, face, depth > 0, &balance->weighted[n][face]);
    }
    return enough ? HS_OK : hs_error_add(err, HS_DEVICE, "no memory for the heat balance");
}

enum hs_status hs_balance_create(const struct hs_problem *problem, struct hs_balance **out,
                                 struct hs_error *err)
{
    assert(hs_balance_is_there(problem));
    struct hs_balance *balance = hs_new(sizeof *balance);
    balance->problem = problem;
    balance->wall_count = hs_problem_wall_count(problem);
    const size_t walls = (size_t)balance->wall_count + 1;
    balance->terms.flux = hs_new(walls * sizeof *balance->terms.flux);
    struct hs_sum *next = hs_new((1 + HS_FACES * HS_BALANCE_PARTS) * walls * sizeof *next);
    balance->all.leaving = next;
    for (int face = 0; face < HS_FACES; face++)
        for (int part = 0; part < HS_BALANCE_PARTS; part++)
            balance->part[face][part].leaving = next += walls;
    balance->worst = (struct hs_balance_worst){-1, NAN, NAN, NAN};
    forget(balance);
    const enum hs_status st = init(balance, err);
    if (st)
        hs_balance_destroy(balance);
    *out = st ? NULL : balance;
    return st;
}

void hs_balance_destroy(struct hs_balance *balance)
{
    if (!balance)
        return;
    if (balance->op && balance->op->release)
        balance->op->release(balance);
    for (int face = 0; face < HS_FACES; face++) {
        free(balance->mean[face].values);
        free(balance->before[face].values);
        free(balance->after[face].values);
        for (int n = 0; n < balance->h_count; n++)
            free(balance->weighted[n][face].values);
    }
    free(balance->weighted);
    hs_balance_source_release(&balance->source);
    free(balance->terms.flux);
    free(balance->all.leaving);
    free(balance);
}

const struct hs_balance_terms *hs_balance_terms(const struct hs_balance *balance)
{
    return &balance->terms;
}

static bool closes(const struct hs_balance_worst *row)
{
    return fabs(row->imbalance) <= row->rounding;
}

struct hs_balance_worst hs_balance_worst(const struct hs_balance *balance)
{
    struct hs_balance_worst worst = balance->worst;
    /* the largest imbalance may be left while nothing acts: it says little beside that row's terms
     */
    if (closes(&worst))
        worst.largest = balance->largest;
    return worst;
}

/* ---- what the parts use ---------------------------------------------------------------------- */

double hs_balance_at(const struct hs_balance *balance, const struct hs_balance_layers *layers,
                     const int64_t node[HS_AXES])
{
    const struct hs_box *box = &layers->box;
    int64_t element = 0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        assert(node[axis] >= box->lo[axis] && node[axis] < box->hi[axis]);
        element += (node[axis] - box->lo[axis]) * layers->pitch[axis];
    }
    return hs_read(balance->problem->precision, layers->values, element);
}

void hs_balance_leave(struct hs_balance_sums *sums, int wall, int holder, double power,
                      double gross)
{
    hs_sum_add(&sums->leaving[wall], power);
    if (holder >= 0)
        hs_sum_add(&sums->leaving[holder], -power);
    sums->gross += gross;
}

void hs_balance_put_in(struct hs_balance *balance, double power)
{
    hs_sum_add(&balance->put_in, power);
    balance->all.gross += fabs(power);
}

/* ---- walls that hold ------------------------------------------------------------------------- */

/* The next node along an axis, up or down; false if a wall is there. */
static bool step_along(const struct hs_problem *problem, int axis, int way,
                       const int64_t node[HS_AXES], int64_t out[HS_AXES])
{
    const int64_t points = problem->grid.points[axis];
    for (int a = 0; a < HS_AXES; a++)
        out[a] = node[a];
    out[axis] += way;
    const bool inside = out[axis] >= 0 && out[axis] < points;
    if (!inside)
        out[axis] = way > 0 ? 0 : points - 1;
    return inside || problem->face[2 * axis].wrap;
}

/* What neighbours along an axis bring to a node of the face. Adds the magnitudes of which that is
 * the difference to *gross. */
static double brought(const struct hs_balance *balance, int face, int axis,
                      const int64_t node[HS_AXES], double *gross)
{
    const struct hs_balance_layers *layers = &balance->mean[face];
    const double T = hs_balance_at(balance, layers, node);
    double sum = 0.0;
    for (int way = -1; way <= 1; way += 2) {
        int64_t other[HS_AXES];
        if (!step_along(balance->problem, axis, way, node, other))
            continue;
        const int64_t *lower = way > 0 ? node : other; /* has the edge's conductance */
        const double G = balance->op->conductance(balance, lower, axis);
        const double its = hs_balance_at(balance, layers, other);
        sum += G * (its - T);
        *gross += G * (fabs(its) + fabs(T));
    }
    return sum;
}

/* Whether a wall of a face of the axis would hold the node. */
static bool is_held_along(const struct hs_balance *balance, int axis, const int64_t node[HS_AXES])
{
    return balance->op->holding(balance, 2 * axis, node) >= 0 ||
           balance->op->holding(balance, 2 * axis + 1, node) >= 0;
}

/* What a held node gets from its source, and along the other axes on which no wall would hold it,
 * less what it stores: that leaves through the wall that holds it. */
static void add_rest(const struct hs_balance *balance, int face, int wall,
                     const int64_t node[HS_AXES], struct hs_balance_sums *sums)
{
    const bool same = balance->step.before == balance->step.mean;
    const double before =
        hs_balance_at(balance, same ? &balance->mean[face] : &balance->before[face], node);
    const double after = hs_balance_at(balance, &balance->after[face], node);
    const double stored =
        balance->op->capacity_at(balance, node) * (after - before) / balance->step.step;
    double rest = hs_balance_source_at(balance, node);
    double gross = fabs(rest) + fabs(stored);
    for (int axis = 0; axis < balance->problem->grid.dims; axis++)
        if (axis != face / 2 && !is_held_along(balance, axis, node))
            rest += brought(balance, face, axis, node, &gross);
    hs_balance_leave(sums, wall, -1, rest - stored, gross);
}

/* At walls that hold, what comes along the face's axis leaves through the face, also where several
 * of them meet in a node; the rest leaves through the wall that has the node. */
static void add_holding_walls(const struct hs_balance *balance, int face, int part,
                              struct hs_balance_sums *sums)
{
    const struct hs_problem *problem = balance->problem;
    const int64_t count = hs_grid_face_count(&problem->grid, face);
    for (int64_t n = hs_balance_part(count, part); n < hs_balance_part(count, part + 1); n++) {
        int64_t node[HS_AXES];
        hs_grid_face_node(&problem->grid, face, n, node);
        const int wall = balance->op->holding(balance, face, node);
        if (wall < 0)
            continue;
        double gross = 0.0;
        const double along = brought(balance, face, face / 2, node, &gross);
        hs_balance_leave(sums, wall, -1, along, gross);
        if (balance->op->holder(balance, node) == wall)
            add_rest(balance, face, wall, node, sums);
    }
}

/* ---- a look ---------------------------------------------------------------------------------- */

static enum hs_status fetch(const struct hs_balance_layers layers[HS_FACES], bool before,
                            const struct hs_step_state *step_state, struct hs_error *err)
{
    for (int face = 0; face < HS_FACES; face++)
        if (layers[face].values)
            HS_TRY(
                hs_step_state_box(step_state, before, &layers[face].box, layers[face].values, err));
    return HS_OK;
}

/* Fetches the means with the weights of each h; of one time they are all the same. */
static enum hs_status fetch_weighted(struct hs_balance *balance,
                                     const struct hs_step_state *step_state, struct hs_error *err)
{
    for (int n = 0; n < balance->h_count; n++) {
        const int field = balance->step.h_mean > 0 ? balance->step.h_mean + n : balance->step.mean;
        HS_TRY(hs_step_state_exchange(step_state, field, err));
        HS_TRY(fetch(balance->weighted[n], true, step_state, err));
        HS_TRY(hs_step_state_exchange(step_state, field, err));
    }
    return HS_OK;
}

/* Fetches the step's fields; `found` begins as the reduction of those that the loop kept. */
static enum hs_status fetch_all(struct hs_balance *balance, const struct hs_step_state *step_state,
                                struct hs_reduction *found, struct hs_error *err)
{
    const struct hs_step_mean *step = &balance->step;
    const struct hs_step_state_cache *cache = step_state->cache;
    struct hs_reduction other = *found;
    HS_TRY(hs_step_state_exchange(step_state, step->before, err));
    if (step->before != 1)
        HS_TRY(hs_reduce(cache->backend, cache->state, step_state->problem, &other, err));
    found->stored = other.stored;
    if (step->before != step->mean)
        HS_TRY(fetch(balance->before, true, step_state, err));
    HS_TRY(fetch(balance->after, false, step_state, err));
    HS_TRY(hs_step_state_exchange(step_state, step->before, err));
    HS_TRY(hs_step_state_exchange(step_state, step->mean, err));
    if (step->mean != 1 && balance->sinks)
        HS_TRY(hs_reduce(cache->backend, cache->state, step_state->problem, &other, err));
    found->sunk = other.sunk;
    HS_TRY(fetch(balance->mean, true, step_state, err));
    HS_TRY(hs_step_state_exchange(step_state, step->mean, err));
    return fetch_weighted(balance, step_state, err);
}

/* Nodes that walls prescribe have no mean in the field: it is the mean of the prescribed values. */
static void put_prescribed(const struct hs_balance *balance, int face)
{
    const struct hs_balance_layers *layers = &balance->mean[face];
    const struct hs_box *box = &layers->box;
    int64_t element = 0;
    for (int64_t k = box->lo[HS_Z]; layers->values && k < box->hi[HS_Z]; k++)
        for (int64_t j = box->lo[HS_Y]; j < box->hi[HS_Y]; j++)
            for (int64_t i = box->lo[HS_X]; i < box->hi[HS_X]; i++, element++) {
                const double T =
                    balance->op->prescribed(balance, (const int64_t[HS_AXES]){i, j, k});
                if (!isnan(T))
                    hs_write(balance->problem->precision, layers->values, element, T);
            }
}

/*
 * Upper bound of what rounding makes of a balance. In each sweep a node's new value is rounded at
 * each of its 2*dims + 3 additions and at a ghost's, and so are the coefficients, each by at most a
 * unit roundoff of |T|, which counts as heat by the capacity. The terms are rounded by that share
 * of the magnitudes that cancel in them, as is the mean. Solved equations leave a residual.
 */
static double rounding(const struct hs_balance *balance, const struct hs_reduction *reduction)
{
    const struct hs_problem *problem = balance->problem;
    const struct hs_step_mean *step = &balance->step;
    const double precise = 0.5 * DBL_EPSILON;
    const double unit = problem->precision == HS_FLOAT ? 0.5 * (double)FLT_EPSILON : precise;
    const double hottest = fmax(fabs(reduction->min), fabs(reduction->max)) + reduction->change;
    const double rates = (4.0 * problem->grid.dims + 12.0) * hottest *
                         (unit / step->sweep + precise * step->fastest);
    return balance->capacity * (rates + step->unsolved) +
           (16.0 + step->roundings) * unit * balance->all.gross;
}

/* Also right for a rounding of 0, where nothing acts. */
static bool is_worse(const struct hs_balance_worst *one, const struct hs_balance_worst *other)
{
    if (closes(one) && closes(other))
        return fabs(one->imbalance) > fabs(other->imbalance);
    return !(fabs(one->imbalance) * other->rounding <= fabs(other->imbalance) * one->rounding);
}

static void conclude(struct hs_balance *balance, const struct hs_reduction *reduction,
                     int64_t sweep)
{
    struct hs_balance_terms *terms = &balance->terms;
    struct hs_sum all = {0.0, 0.0};
    terms->stored = reduction->stored / balance->step.step;
    terms->source = hs_sum_value(&balance->put_in);
    terms->largest = fmax(fabs(terms->stored), fabs(terms->source));
    hs_sum_add(&all, terms->stored);
    hs_sum_add(&all, -terms->source);
    for (int w = 0; w < balance->wall_count; w++) {
        terms->flux[w] = hs_sum_value(&balance->all.leaving[w]);
        terms->largest = fmax(terms->largest, fabs(terms->flux[w]));
        hs_sum_add(&all, terms->flux[w]);
    }
    terms->imbalance = hs_sum_value(&all);
    terms->rounding = rounding(balance, reduction);
    const struct hs_balance_worst now = {sweep, terms->imbalance, terms->largest, terms->rounding};
    if (balance->worst.sweep < 0 || is_worse(&now, &balance->worst))
        balance->worst = now;
    balance->largest = fmax(balance->largest, now.largest);
}

static void clear(const struct hs_balance *balance, struct hs_balance_sums *sums)
{
    sums->gross = 0.0;
    for (int w = 0; w < balance->wall_count; w++)
        sums->leaving[w] = (struct hs_sum){0.0, 0.0};
}

static void add_part(struct hs_balance *balance, int face, int part)
{
    struct hs_balance_sums *sums = &balance->part[face][part];
    clear(balance, sums);
    balance->op->exchange(balance, face, part, sums);
    if (balance->mean[face].depth > 1)
        add_holding_walls(balance, face, part, sums);
}

static void add_walls(struct hs_balance *balance)
{
    const struct hs_problem *problem = balance->problem;
    const int parts = 2 * problem->grid.dims * HS_BALANCE_PARTS;
    const int threads = hs_threads_of(problem);
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(dynamic) if (hs_grid_count(&problem->grid) > 1 << 16)
    for (int n = 0; n < parts; n++)
        if (!problem->face[n / HS_BALANCE_PARTS].wrap)
            add_part(balance, n / HS_BALANCE_PARTS, n % HS_BALANCE_PARTS);
    clear(balance, &balance->all);
    for (int n = 0; n < parts; n++) {
        const struct hs_balance_sums *sums =
            &balance->part[n / HS_BALANCE_PARTS][n % HS_BALANCE_PARTS];
        if (problem->face[n / HS_BALANCE_PARTS].wrap)
            continue;
        balance->all.gross += sums->gross;
        for (int w = 0; w < balance->wall_count; w++)
            hs_sum_join(&balance->all.leaving[w], &sums->leaving[w]);
    }
}

/* Describes the last step. False: it is not known. */
static bool describe(struct hs_balance *balance, const struct hs_step_state *step_state)
{
    static const double all = 1.0;
    struct hs_step_mean *step = &balance->step;
    const struct hs_method *method = step_state->plan->method;
    const bool sweeps = step_state->plan->steady_method || method->step_rule == HS_STEP_STABLE;
    if (!sweeps && !method->mean)
        return false;
    if (sweeps) {
        /* at sweep 0: the one that checked a method's solution */
        const int64_t before = step_state->sweep > 0 ? step_state->sweep - 1 : 0;
        const struct hs_span span =
            hs_plan_span(step_state->plan, balance->problem, before, step_state->sweep);
        balance->t = hs_span_time(&span, 0);
        *step = (struct hs_step_mean){.step = span.step,
                                      .sweep = span.step,
                                      .before = 1,
                                      .mean = 1,
                                      .count = 1,
                                      .time = &balance->t,
                                      .weight = &all};
        balance->stencil = span.op.stencil;
    } else {
        method->mean(step_state->method, step);
        if (step->step == 0.0)
            return false;
        balance->stencil = hs_problem_stencil(balance->problem, step->sweep);
    }
    return true;
}

enum hs_status hs_balance_look(struct hs_balance *balance, const struct hs_step_state *step_state,
                               struct hs_error *err)
{
    const struct hs_reduction *reduction;
    forget(balance);
    HS_TRY(hs_step_state_reduction(step_state, &reduction, err));
    if (isnan(reduction->stored) || !describe(balance, step_state))
        return HS_OK;
    struct hs_reduction found = *reduction;
    HS_TRY(fetch_all(balance, step_state, &found, err));
    balance->put_in = (struct hs_sum){0.0, 0.0};
    balance->op->begin(balance);
    hs_balance_source_begin(balance);
    for (int face = 0; face < HS_FACES && balance->step.mean != 1; face++)
        put_prescribed(balance, face);
    add_walls(balance);
    hs_balance_put_in(balance, hs_balance_source_total(balance));
    if (balance->op->sources)
        balance->op->sources(balance, found.sunk);
    conclude(balance, &found, step_state->sweep);
    return HS_OK;
}
