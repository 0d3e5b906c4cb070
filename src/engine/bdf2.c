#include "engine/bdf2.h"

#include "core/sum.h"
#include "engine/boundary_data.h"
#include "functions/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double accuracy = 1e-6; /* of what changes in a step */
static const double nearly = 1e-3;   /* of what the guess is off by */
static const double poor = 1e3;      /* times what was asked for, is no solution */

/* ---- life ------------------------------------------------------------------------------------ */

static enum hs_status no_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "no memory for implicit steps; take a smaller grid");
}

enum hs_status hs_bdf2_init(struct hs_bdf2 *bdf2, const struct hs_problem *problem,
                            const struct hs_device_krylov *device, struct hs_backend_state *state,
                            struct hs_error *err)
{
    const size_t bytes = (size_t)hs_grid_count(&problem->grid) * sizeof *bdf2->T;
    *bdf2 = (struct hs_bdf2){.problem = problem, .in_time = hs_boundary_data_in_time(problem)};
    enum hs_status st = hs_equations_init(&bdf2->equations, problem, err);
    if (!st)
        st = hs_conjugate_gradients_init(&bdf2->gradients, &bdf2->equations, device, state, err);
    bdf2->T = malloc(bytes);
    bdf2->old = malloc(bytes);
    bdf2->next = malloc(bytes);
    bdf2->slope = malloc(bytes);
    bdf2->inflow = malloc(bytes);
    bdf2->mean = malloc(bytes);
    if (!st && !(bdf2->T && bdf2->old && bdf2->next && bdf2->slope && bdf2->inflow && bdf2->mean))
        st = no_memory(err);
    if (!st)
        memcpy(bdf2->inflow, bdf2->equations.inflow, bytes);
    return st;
}

void hs_bdf2_release(struct hs_bdf2 *bdf2)
{
    hs_conjugate_gradients_release(&bdf2->gradients);
    hs_equations_release(&bdf2->equations);
    free(bdf2->T);
    free(bdf2->old);
    free(bdf2->next);
    free(bdf2->slope);
    free(bdf2->inflow);
    free(bdf2->mean);
}

static int64_t nodes_of(const struct hs_bdf2 *bdf2)
{
    return hs_grid_count(&bdf2->problem->grid);
}

static const struct hs_network_row *row_at(const struct hs_bdf2 *bdf2, int64_t node)
{
    return hs_network_row_at(bdf2->equations.network, node);
}

/* What acts at time t. */
static enum hs_status find_inflow(struct hs_bdf2 *bdf2, double t, struct hs_error *err)
{
    return !bdf2->in_time || hs_equations_inflow_at(&bdf2->equations, t, bdf2->inflow)
               ? HS_OK
               : no_memory(err);
}

enum hs_status hs_bdf2_begin(struct hs_bdf2 *bdf2, double t, struct hs_error *err)
{
    const int64_t nodes = nodes_of(bdf2);
    bdf2->t = t;
    bdf2->step = bdf2->before = 0.0;
    bdf2->sloped = false;
    memcpy(bdf2->old, bdf2->T, (size_t)nodes * sizeof *bdf2->old);
    memset(bdf2->slope, 0, (size_t)nodes * sizeof *bdf2->slope);
    return find_inflow(bdf2, t, err);
}

enum hs_status hs_bdf2_look(struct hs_bdf2 *bdf2, double *rate, struct hs_error *err)
{
    const int64_t nodes = nodes_of(bdf2);
    const enum hs_status st = find_inflow(bdf2, bdf2->t, err);
    if (st)
        return st;
    bdf2->equations.shift = 0.0;
    memcpy(bdf2->equations.inflow, bdf2->inflow, (size_t)nodes * sizeof *bdf2->inflow);
    *rate = hs_equations_residual(&bdf2->equations, bdf2->T, bdf2->slope).largest;
    for (int64_t n = 0; n < nodes; n++)
        bdf2->slope[n] /= row_at(bdf2, n)->kind == HS_NODE_FREE ? row_at(bdf2, n)->capacity : 1.0;
    bdf2->sloped = true;
    return HS_OK;
}

/* ---- a parabola through what was before ------------------------------------------------------ */

/* T + change (T - old) + slope times the slope. */
struct prediction {
    double change, slope;
};

static struct prediction predict(const struct hs_bdf2 *bdf2, double step)
{
    const double last = bdf2->step, both = last + bdf2->before;
    if (last == 0.0)
        return (struct prediction){0.0, bdf2->sloped ? step : 0.0};
    if (!bdf2->sloped)
        return (struct prediction){step / last, 0.0};
    const double curvature = step * (step + last) / both;
    return (struct prediction){(step + curvature) / last, -curvature};
}

static double predicted(const struct hs_bdf2 *bdf2, struct prediction p, int64_t n)
{
    return bdf2->T[n] + p.change * (bdf2->T[n] - bdf2->old[n]) + p.slope * bdf2->slope[n];
}

/* What a step is off by over how far it is from the parabola: both go with the third derivative, or
 * the second in the first step, as of backward Euler. */
static double share_of_error(const struct hs_bdf2 *bdf2, double step)
{
    const double last = bdf2->step, all = step + last + bdf2->before;
    if (last == 0.0)
        return 0.5;
    const double own = step * (step + last) / (2.0 * step + last);
    return own / (all + own);
}

double hs_bdf2_error(const struct hs_bdf2 *bdf2, double step)
{
    const struct prediction p = predict(bdf2, step);
    const int64_t nodes = nodes_of(bdf2);
    double largest = 0.0;
#pragma omp parallel for num_threads(bdf2->equations.threads) schedule(static)                     \
    reduction(max                                                                                  \
              : largest)
    for (int64_t n = 0; n < nodes; n++)
        if (row_at(bdf2, n)->kind == HS_NODE_FREE)
            largest = fmax(largest, fabs(bdf2->next[n] - predicted(bdf2, p, n)));
    return share_of_error(bdf2, step) * largest;
}

/* ---- one system of equations ----------------------------------------------------------------- */

/* Right sides: inflow + C (own T + other * of). */
static void set_right_side(struct hs_bdf2 *bdf2, double own, double other, const double *of)
{
    const int64_t nodes = nodes_of(bdf2);
#pragma omp parallel for num_threads(bdf2->equations.threads) schedule(static)
    for (int64_t n = 0; n < nodes; n++) {
        const struct hs_network_row *row = row_at(bdf2, n);
        bdf2->equations.inflow[n] =
            row->kind == HS_NODE_FREE
                ? bdf2->inflow[n] + row->capacity * (own * bdf2->T[n] + other * of[n])
                : 0.0;
    }
}

/* The guess, where nodes that are prescribed have their temperature of time t. */
static void guess(struct hs_bdf2 *bdf2, struct prediction p, double t)
{
    const int64_t nx = bdf2->problem->grid.points[HS_X], ny = bdf2->problem->grid.points[HS_Y];
    const int64_t nodes = nodes_of(bdf2);
#pragma omp parallel for num_threads(bdf2->equations.threads) schedule(static)
    for (int64_t r = 0; r < nodes / nx; r++) {
        for (int64_t n = r * nx; n < (r + 1) * nx; n++)
            bdf2->next[n] = predicted(bdf2, p, n);
        hs_problem_prescribed_row(bdf2->problem, t, r % ny, r / ny, bdf2->next + r * nx);
    }
}

/* K: the largest of a node. */
static double change_of(const struct hs_bdf2 *bdf2)
{
    const int64_t nodes = nodes_of(bdf2);
    double largest = 0.0;
#pragma omp parallel for num_threads(bdf2->equations.threads) schedule(static)                     \
    reduction(max                                                                                  \
              : largest)
    for (int64_t n = 0; n < nodes; n++)
        largest = fmax(largest, fabs(bdf2->next[n] - bdf2->T[n]));
    return largest;
}

/* Where nothing holds the mean, all that flows in stays, to rounding. */
static void keep_heat(struct hs_bdf2 *bdf2)
{
    const struct hs_equations *equations = &bdf2->equations;
    const int64_t nodes = nodes_of(bdf2);
    struct hs_sum flows = {0.0, 0.0};
    for (int64_t n = 0; n < nodes; n++)
        hs_sum_add(&flows, equations->inflow[n]);
    const double lacking =
        (hs_sum_value(&flows) / equations->shift - hs_equations_heat(equations, bdf2->next)) /
        equations->capacity;
    for (int64_t n = 0; n < nodes; n++)
        bdf2->next[n] += lacking;
}

/* What walls or sources bring is no number, or too large: so is the temperature there, for the
 * watch to see. */
static void spoil(struct hs_bdf2 *bdf2, const double *residual)
{
    for (int64_t n = 0; n < nodes_of(bdf2); n++)
        if (!isfinite(residual[n]))
            bdf2->next[n] = NAN;
}

/* Of what is not solved as well as it should be: *rate becomes what is left. */
static enum hs_status judge(struct hs_bdf2 *bdf2, const struct hs_solution *solution, double most,
                            double t, double *rate, struct hs_error *err)
{
    const double shift = bdf2->equations.shift;
    enum hs_status st = HS_OK;
    double *residual = malloc((size_t)nodes_of(bdf2) * sizeof *residual);
    if (!residual)
        return no_memory(err);
    const struct hs_rates left = hs_equations_residual(&bdf2->equations, bdf2->next, residual);
    if (!isfinite(left.largest))
        spoil(bdf2, residual);
    else if (left.largest > poor * fmax(shift * most, left.rounding))
        st = hs_error_add(err, HS_FAILED_CHECK,
                          "the equations of the step to t = %.9g s are not solved: after %d "
                          "iterations a node may be off by %.3g; take time.method = \"rkl2\"",
                          t, solution->iterations, left.largest / shift);
    *rate = left.largest;
    free(residual);
    return st;
}

/*
 * `next` becomes the solution, from the guess that it is. The matrix and its inverse have signs
 * such that no node is farther from it than the largest residual, as a rate of change, over the
 * shift. *rate: that residual [K/s], at most, but for its rounding.
 */
static enum hs_status solve(struct hs_bdf2 *bdf2, double shift, double most, double t, double *rate,
                            struct hs_error *err)
{
    struct hs_equations *equations = &bdf2->equations;
    struct hs_conjugate_gradients *gradients = &bdf2->gradients;
    struct hs_solution solution = {.iterations = 0};
    enum hs_status st = HS_OK;
    equations->shift = shift;
    if (most == 0.0) { /* how far the field goes is seen when it is nearly there */
        st = hs_conjugate_gradients_solve(gradients, nearly, 0.0, bdf2->next, &solution, err);
        bdf2->effort.iterations += solution.iterations;
        most = accuracy * change_of(bdf2);
    }
    if (!st)
        st = hs_conjugate_gradients_solve(gradients, 0.0, shift * most, bdf2->next, &solution, err);
    bdf2->effort.iterations += solution.iterations;
    *rate = shift * most;
    if (!st && !solution.reached)
        st = judge(bdf2, &solution, most, t, rate, err);
    if (!st && equations->floating)
        keep_heat(bdf2);
    return st;
}

/* ---- the mean that a step stores the heat of --------------------------------------------------
 */

/* What it had counts `before` of what it did, and `now` what acted at time t, of the step tried. */
static void add_time(struct hs_bdf2 *bdf2, double before, double now, double t)
{
    if (bdf2->times == HS_BDF2_TIMES) {
        bdf2->times--;
        memmove(bdf2->time, bdf2->time + 1, sizeof bdf2->time - sizeof *bdf2->time);
        memmove(bdf2->weight, bdf2->weight + 1, sizeof bdf2->weight - sizeof *bdf2->weight);
    }
    for (int i = 0; i < bdf2->times; i++)
        bdf2->weight[i] *= before;
    bdf2->time[bdf2->times] = t;
    bdf2->weight[bdf2->times++] = now;
    bdf2->unsolved = before * bdf2->unsolved + now * bdf2->tried;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Of the first step's stages. */
static double part_of_end(void)
{
    return 1.0 - sqrt(0.5);
}

/* In two stages. */
static enum hs_status start(struct hs_bdf2 *bdf2, double step, double t, double most,
                            struct hs_error *err)
{
    const double g = part_of_end(), shift = 1.0 / (g * step), more = (1.0 - g) / g;
    const double middle = bdf2->t + g * step;
    enum hs_status st = find_inflow(bdf2, middle, err);
    if (st)
        return st;
    set_right_side(bdf2, shift, 0.0, bdf2->T);
    guess(bdf2, (struct prediction){0.0, bdf2->sloped ? g * step : 0.0}, middle);
    st = solve(bdf2, shift, most, middle, &bdf2->tried, err);
    if (!st)
        st = find_inflow(bdf2, t, err);
    if (st)
        return st;
    bdf2->times = 0;
    bdf2->unsolved = 0.0;
    add_time(bdf2, 0.0, 1.0 - g, middle);
    for (int64_t n = 0; n < nodes_of(bdf2); n++)
        bdf2->mean[n] = (1.0 - g) * bdf2->next[n];
    set_right_side(bdf2, shift * (1.0 - more), shift * more, bdf2->next);
    guess(bdf2, predict(bdf2, step), t);
    return solve(bdf2, shift, most, t, &bdf2->tried, err);
}

enum hs_status hs_bdf2_try(struct hs_bdf2 *bdf2, double step, double t, double most,
                           struct hs_error *err)
{
    bdf2->effort.steps++;
    if (bdf2->step == 0.0)
        return start(bdf2, step, t, most, err);
    const double w = step / bdf2->step;
    const enum hs_status st = find_inflow(bdf2, t, err);
    if (st)
        return st;
    set_right_side(bdf2, (1.0 + w) / step, -w * w / ((1.0 + w) * step), bdf2->old);
    guess(bdf2, predict(bdf2, step), t);
    return solve(bdf2, (1.0 + 2.0 * w) / ((1.0 + w) * step), most, t, &bdf2->tried, err);
}

void hs_bdf2_accept(struct hs_bdf2 *bdf2, double step, double t)
{
    const int64_t nodes = nodes_of(bdf2);
    const double last = bdf2->step, w = last > 0.0 ? step / last : 0.0;
    const double before = last > 0.0 ? w / (1.0 + 2.0 * w) : 1.0;
    const double now = last > 0.0 ? (1.0 + w) / (1.0 + 2.0 * w) : part_of_end();
    add_time(bdf2, before, now, t);
#pragma omp parallel for num_threads(bdf2->equations.threads) schedule(static)
    for (int64_t n = 0; n < nodes; n++) {
        bdf2->mean[n] = before * bdf2->mean[n] + now * bdf2->next[n];
        if (last > 0.0)
            bdf2->slope[n] = (bdf2->T[n] - bdf2->old[n]) / last;
    }
    bdf2->sloped = bdf2->sloped || last > 0.0;
    double *const free_now = bdf2->old;
    bdf2->old = bdf2->T;
    bdf2->T = bdf2->next;
    bdf2->next = free_now;
    bdf2->before = last;
    bdf2->step = step;
    bdf2->t = t;
}
