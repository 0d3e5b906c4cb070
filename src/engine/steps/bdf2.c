#include "engine/steps/bdf2.h"

#include "core/memory.h"
#include "core/round.h"
#include "engine/walls/boundary_data.h"
#include "functions/fields.h"
#include "functions/time_function.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const double accuracy = 1e-6; /* of the change in a step */
static const double nearly = 1e-3;   /* of the guess's error */
static const double poor = 1e3;      /* times the residual asked for: this is no solution */

/* ---- vectors --------------------------------------------------------------------------------- */

/* factor (plus - minus); `minus` may be HS_KRYLOV_NONE. */
static struct hs_krylov_term times(double factor, int plus, int minus)
{
    return (struct hs_krylov_term){factor, plus, minus, 0};
}

static struct hs_krylov_term times_capacity(double factor, int plus)
{
    return (struct hs_krylov_term){factor, plus, HS_KRYLOV_NONE, 1};
}

static struct hs_krylov_sum one(struct hs_krylov_term a)
{
    return (struct hs_krylov_sum){1, {a}};
}

static struct hs_krylov_sum two(struct hs_krylov_term a, struct hs_krylov_term b)
{
    return (struct hs_krylov_sum){2, {a, b}};
}

static struct hs_krylov_sum three(struct hs_krylov_term a, struct hs_krylov_term b,
                                  struct hs_krylov_term c)
{
    return (struct hs_krylov_sum){3, {a, b, c}};
}

static enum hs_status set(struct hs_bdf2 *bdf2, int out, struct hs_krylov_sum sum,
                          struct hs_error *err)
{
    return bdf2->gradients.vectors->combine(bdf2->gradients.of, out, &sum, err);
}

static enum hs_status copy(struct hs_bdf2 *bdf2, int out, int of, struct hs_error *err)
{
    return set(bdf2, out, one(times(1.0, of, HS_KRYLOV_NONE)), err);
}

static enum hs_status find_largest(struct hs_bdf2 *bdf2, struct hs_krylov_sum sum, bool free,
                                   double *out, struct hs_error *err)
{
    return bdf2->gradients.vectors->largest(bdf2->gradients.of, &sum, free, out, err);
}

static int lasting(const struct hs_bdf2 *bdf2)
{
    return HS_BDF2_VECTORS + bdf2->h_count;
}

/* ---- what walls prescribe -------------------------------------------------------------------- */

static enum hs_status no_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "no memory for implicit steps; take a smaller grid");
}

static bool is_prescribed(const struct hs_bdf2 *bdf2, int64_t node)
{
    const struct hs_problem *problem = bdf2->problem;
    const int32_t kind = hs_network_row_at(bdf2->equations.network, node)->kind;
    if (kind == HS_NODE_FREE || problem->network)
        return kind == HS_NODE_PRESCRIBED;
    int64_t at[HS_AXES];
    hs_grid_node(&problem->grid, node, at);
    return hs_problem_prescribing_face(problem, at) >= 0;
}

static bool is_end(const struct hs_grid *grid, int axis, int64_t i)
{
    return grid->points[axis] > 1 && (i == 0 || i == grid->points[axis] - 1);
}

/* Looks at the nodes of faces: what prescribes is a wall. */
static enum hs_status find_prescribed(struct hs_bdf2 *bdf2, struct hs_error *err)
{
    struct hs_bdf2_prescribed *found = &bdf2->prescribed;
    const struct hs_grid *grid = &bdf2->problem->grid;
    const int64_t nx = grid->points[HS_X], ny = grid->points[HS_Y];
    found->first = hs_new(sizeof *found->first);
    for (int64_t r = 0; r < ny * grid->points[HS_Z]; r++) {
        const bool face = is_end(grid, HS_Y, r % ny) || is_end(grid, HS_Z, r / ny);
        const int64_t before = found->count;
        for (int64_t i = 0; i < nx; i += face ? 1 : hs_larger(nx - 1, 1))
            if (is_prescribed(bdf2, r * nx + i)) {
                found->node = hs_reserve(found->node, (size_t)found->count, sizeof *found->node);
                found->node[found->count++] = r * nx + i;
            }
        if (found->count == before)
            continue;
        found->rows++;
        found->first = hs_reserve(found->first, (size_t)found->rows, sizeof *found->first);
        found->first[found->rows] = found->count;
    }
    found->value = malloc((size_t)(found->count + 1) * sizeof *found->value);
    found->spare = malloc((size_t)(bdf2->equations.threads * nx) * sizeof *found->spare);
    return found->value && found->spare ? HS_OK : no_memory(err);
}

/* Sets prescribed nodes to their temperature at time t. */
static enum hs_status prescribe(struct hs_bdf2 *bdf2, int vector, double t, struct hs_error *err)
{
    const struct hs_bdf2_prescribed *prescribed = &bdf2->prescribed;
    const int64_t nx = bdf2->problem->grid.points[HS_X], ny = bdf2->problem->grid.points[HS_Y];
#pragma omp parallel for num_threads(bdf2->equations.threads) schedule(static)
    for (int64_t n = 0; n < prescribed->rows; n++) {
        const int64_t r = prescribed->node[prescribed->first[n]] / nx;
        double *const values = prescribed->spare + omp_get_thread_num() * nx;
        hs_problem_prescribed_row(bdf2->problem, t, r % ny, r / ny, values);
        for (int64_t m = prescribed->first[n]; m < prescribed->first[n + 1]; m++)
            prescribed->value[m] = values[prescribed->node[m] - r * nx];
    }
    return prescribed->count == 0
               ? HS_OK
               : bdf2->gradients.vectors->put_some(bdf2->gradients.of, vector, prescribed->count,
                                                   prescribed->node, prescribed->value, err);
}

/* ---- life ------------------------------------------------------------------------------------ */

int hs_bdf2_vectors(const struct hs_problem *problem, const struct hs_backend *backend)
{
    const bool lasting = backend->krylov && (hs_problem_own_source_varies(problem) & HS_VARIES_T);
    return HS_BDF2_VECTORS - HS_KRYLOV_MORE + lasting +
           hs_walls_varying_h(problem->walls, problem->wall_count);
}

/* The inflow without the source, where that changes and the backend evaluates it. */
static enum hs_status put_lasting(struct hs_bdf2 *bdf2, struct hs_error *err)
{
    const size_t bytes = (size_t)hs_grid_count(&bdf2->problem->grid) * sizeof(double);
    double *const values = malloc(bytes);
    enum hs_status st = HS_OK;
    if (!values || !hs_equations_inflow_at(&bdf2->equations, false, 0.0, values))
        st = no_memory(err);
    else
        st = bdf2->gradients.vectors->put(bdf2->gradients.of, lasting(bdf2), values, err);
    free(values);
    return st;
}

enum hs_status hs_bdf2_init(struct hs_bdf2 *bdf2, const struct hs_problem *problem,
                            const struct hs_backend *backend, struct hs_backend_state *state,
                            struct hs_error *err)
{
    *bdf2 = (struct hs_bdf2){.problem = problem, .t = NAN};
    bdf2->h_count = hs_walls_varying_h(problem->walls, problem->wall_count);
    bdf2->h_mean = hs_new(((size_t)bdf2->h_count + 1) * sizeof *bdf2->h_mean);
    HS_TRY(hs_equations_init(&bdf2->equations, problem, err));
    HS_TRY(hs_conjugate_gradients_init(&bdf2->gradients, &bdf2->equations, backend, state, err));
    HS_TRY(bdf2->gradients.vectors->reserve(bdf2->gradients.of, hs_bdf2_vectors(problem, backend),
                                            err));
    HS_TRY(find_prescribed(bdf2, err));
    bdf2->in_time = hs_boundary_data_in_time(problem);
    if (bdf2->in_time)
        HS_TRY(hs_acting_init(&bdf2->acting, &bdf2->equations,
                              bdf2->gradients.backend->krylov != NULL, err));
    if (bdf2->acting.elsewhere)
        HS_TRY(put_lasting(bdf2, err));
    return copy(bdf2, HS_BDF2_ACTING, HS_KRYLOV_INFLOW, err);
}

void hs_bdf2_release(struct hs_bdf2 *bdf2)
{
    hs_conjugate_gradients_release(&bdf2->gradients);
    hs_equations_release(&bdf2->equations);
    free(bdf2->h_mean);
    free(bdf2->prescribed.first);
    free(bdf2->prescribed.node);
    free(bdf2->prescribed.value);
    free(bdf2->prescribed.spare);
    hs_acting_release(&bdf2->acting);
}

static enum hs_status find_inflow(struct hs_bdf2 *bdf2, double t, struct hs_error *err)
{
    const struct hs_conjugate_gradients *gradients = &bdf2->gradients;
    const struct hs_krylov *vectors = gradients->vectors;
    struct hs_acting *acting = &bdf2->acting;
    hs_equations_set_sinks(&bdf2->equations, t);
    if (acting->elsewhere) {
        HS_TRY(gradients->backend->krylov->source(gradients->state, gradients->of, HS_BDF2_ACTING,
                                                  t, err));
        HS_TRY(
            set(bdf2, HS_BDF2_ACTING,
                two(times_capacity(1.0, HS_BDF2_ACTING), times(1.0, lasting(bdf2), HS_KRYLOV_NONE)),
                err));
    }
    if (acting->count == 0)
        return HS_OK;
    if (!hs_acting_at(acting, &bdf2->equations, t))
        return no_memory(err);
    return acting->node ? vectors->put_some(gradients->of, HS_BDF2_ACTING, acting->count,
                                            acting->node, acting->value, err)
                        : vectors->put(gradients->of, HS_BDF2_ACTING, acting->value, err);
}

enum hs_status hs_bdf2_begin(struct hs_bdf2 *bdf2, double t, struct hs_error *err)
{
    bdf2->t = t;
    bdf2->step = bdf2->before = 0.0;
    bdf2->sloped = false;
    HS_TRY(hs_conjugate_gradients_load(&bdf2->gradients, HS_BDF2_NOW, 0, err));
    /* the field has these values rounded to its precision */
    HS_TRY(prescribe(bdf2, HS_BDF2_NOW, t, err));
    HS_TRY(copy(bdf2, HS_BDF2_OLD, HS_BDF2_NOW, err));
    HS_TRY(set(bdf2, HS_BDF2_SLOPE, (struct hs_krylov_sum){.count = 0}, err));
    return find_inflow(bdf2, t, err);
}

enum hs_status hs_bdf2_begin_anew(struct hs_bdf2 *bdf2, struct hs_error *err)
{
    double rate;
    bdf2->step = bdf2->before = 0.0;
    return hs_bdf2_look(bdf2, &rate, err);
}

enum hs_status hs_bdf2_look(struct hs_bdf2 *bdf2, double *rate, struct hs_error *err)
{
    const struct hs_krylov *vectors = bdf2->gradients.vectors;
    struct hs_krylov_state *of = bdf2->gradients.of;
    struct hs_krylov_rates rates = {.largest = NAN};
    bdf2->equations.shift = 0.0;
    HS_TRY(find_inflow(bdf2, bdf2->t, err));
    HS_TRY(copy(bdf2, HS_KRYLOV_INFLOW, HS_BDF2_ACTING, err));
    HS_TRY(copy(bdf2, HS_BDF2_NEXT, HS_BDF2_NOW, err));
    HS_TRY(vectors->begin(of, err));
    HS_TRY(vectors->residual(of, 1.0, &rates, err));
    HS_TRY(vectors->end(of, err));
    *rate = rates.largest;
    bdf2->sloped = true;
    const struct hs_krylov_term slope = {1.0, HS_KRYLOV_RESIDUAL, HS_KRYLOV_NONE, -1};
    return set(bdf2, HS_BDF2_SLOPE, one(slope), err);
}

/* ---- a parabola through what was before ------------------------------------------------------ */

/* The guess T + change (T - old) + slope times the slope. */
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

/* A step's error over its distance from the parabola. Both are proportional to the third
 * derivative; in the first step to the second, as for backward Euler. */
static double share_of_error(const struct hs_bdf2 *bdf2, double step)
{
    const double last = bdf2->step, all = step + last + bdf2->before;
    if (last == 0.0)
        return 0.5;
    const double own = step * (step + last) / (2.0 * step + last);
    return own / (all + own);
}

enum hs_status hs_bdf2_error(struct hs_bdf2 *bdf2, double step, double *out, struct hs_error *err)
{
    const struct prediction p = predict(bdf2, step);
    HS_TRY(find_largest(bdf2,
                        three(times(1.0, HS_BDF2_NEXT, HS_BDF2_NOW),
                              times(-p.change, HS_BDF2_NOW, HS_BDF2_OLD),
                              times(-p.slope, HS_BDF2_SLOPE, HS_KRYLOV_NONE)),
                        true, out, err));
    *out *= share_of_error(bdf2, step);
    return HS_OK;
}

/* ---- one system of equations ----------------------------------------------------------------- */

/* Where nothing fixes the mean, adjusts it so that all that flows in stays, to rounding. */
static enum hs_status keep_heat(struct hs_bdf2 *bdf2, struct hs_error *err)
{
    const struct hs_krylov_sum inflow = one(times(1.0, HS_KRYLOV_INFLOW, HS_KRYLOV_NONE));
    double flows;
    HS_TRY(bdf2->gradients.vectors->total(bdf2->gradients.of, &inflow, &flows, err));
    return hs_conjugate_gradients_set_heat(&bdf2->gradients, flows / bdf2->equations.shift, err);
}

/* Judges a solution that is less accurate than asked for; *rate: its residual. Where walls or
 * sources bring values that are not finite, so becomes the temperature, for the watch to see. */
static enum hs_status judge(struct hs_bdf2 *bdf2, const struct hs_solution *solution, double most,
                            double t, double *rate, struct hs_error *err)
{
    const double shift = bdf2->equations.shift;
    struct hs_krylov_rates rates;
    HS_TRY(bdf2->gradients.vectors->residual(bdf2->gradients.of, 1.0, &rates, err));
    const double left = *rate = rates.told;
    if (!isfinite(left))
        return set(bdf2, HS_BDF2_NEXT,
                   two(times(1.0, HS_BDF2_NEXT, HS_KRYLOV_NONE),
                       times(0.0, HS_KRYLOV_RESIDUAL, HS_KRYLOV_NONE)),
                   err);
    if (left > poor * shift * most || solution->iterations == 0)
        return hs_error_add(err, HS_FAILED_CHECK,
                            "the equations of the step to t = %.9g s are not solved: after %d "
                            "iterations a node may be off by %.3g; take time.method = \"rkl2\"",
                            t, solution->iterations, left / shift);
    return HS_OK;
}

/*
 * Solves for `next`, which holds the guess. By the signs of the matrix and its inverse, no node is
 * farther from the solution than the largest residual, as a rate of change, over the shift. *rate:
 * an upper bound of that residual [K/s], apart from its rounding.
 */
static enum hs_status solve(struct hs_bdf2 *bdf2, double shift, double most, double t, double *rate,
                            struct hs_error *err)
{
    struct hs_equations *equations = &bdf2->equations;
    struct hs_conjugate_gradients *gradients = &bdf2->gradients;
    struct hs_solution solution = {.iterations = 0};
    enum hs_status st = HS_OK;
    equations->shift = shift;
    if (most == 0.0) { /* a rough solution shows how far the field goes */
        st = hs_conjugate_gradients_solve(gradients, nearly, 0.0, &solution, err);
        bdf2->effort.iterations += solution.iterations;
        if (!st)
            st = find_largest(bdf2, one(times(accuracy, HS_BDF2_NEXT, HS_BDF2_NOW)), false, &most,
                              err);
    }
    if (!st)
        st = hs_conjugate_gradients_solve(gradients, 0.0, shift * most, &solution, err);
    bdf2->effort.iterations += solution.iterations;
    *rate = shift * most;
    if (!st && !solution.reached)
        st = judge(bdf2, &solution, most, t, rate, err);
    if (!st && equations->floating)
        st = keep_heat(bdf2, err);
    return st;
}

/* ---- the mean that a step stores the heat of ------------------------------------------------- */

/* Multiplies the weights so far by `before`; adds the step tried: time t with weight `now`. */
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

/* The vector becomes `before` times itself, which is not read if that is 0, and `now` times the
 * step tried. */
static enum hs_status mix(struct hs_bdf2 *bdf2, int vector, double before, double now,
                          struct hs_error *err)
{
    const struct hs_krylov_term next = times(now, HS_BDF2_NEXT, HS_KRYLOV_NONE);
    return set(bdf2, vector,
               before == 0.0 ? one(next) : two(times(before, vector, HS_KRYLOV_NONE), next), err);
}

/* The mean becomes `before` times itself and `now` times the step tried, at time t; at the first,
 * `before` is 0. So do those of h * T. */
static enum hs_status add_to_mean(struct hs_bdf2 *bdf2, double before, double now, double t,
                                  struct hs_error *err)
{
    const struct hs_problem *problem = bdf2->problem;
    HS_TRY(mix(bdf2, HS_BDF2_MEAN, before, now, err));
    for (int n = 0; n < bdf2->h_count; n++) {
        const struct hs_wall *wall = problem->walls;
        while (wall->h_function < 0 || wall->h_number != n)
            wall++;
        const double h =
            hs_time_function_at(&problem->time_functions[wall->h_function], t) / wall->h;
        bdf2->h_mean[n] = before * bdf2->h_mean[n] + now * h;
        HS_TRY(mix(bdf2, HS_BDF2_VECTORS + n, before, now * h, err));
    }
    return HS_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* g, of the first step's stages. */
static double part_of_end(void)
{
    return 1.0 - sqrt(0.5);
}

/* Solves shift C T - (the terms `before`) = inflow(t) - A T; leaves T in `next`. */
static enum hs_status solve_stage(struct hs_bdf2 *bdf2, double t, double shift,
                                  const struct hs_krylov_term before[2], struct prediction guess,
                                  double most, struct hs_error *err)
{
    HS_TRY(find_inflow(bdf2, t, err));
    HS_TRY(set(bdf2, HS_KRYLOV_INFLOW,
               three(times(1.0, HS_BDF2_ACTING, HS_KRYLOV_NONE), before[0], before[1]), err));
    HS_TRY(set(bdf2, HS_BDF2_NEXT,
               three(times(1.0, HS_BDF2_NOW, HS_KRYLOV_NONE),
                     times(guess.change, HS_BDF2_NOW, HS_BDF2_OLD),
                     times(guess.slope, HS_BDF2_SLOPE, HS_KRYLOV_NONE)),
               err));
    if (bdf2->in_time)
        HS_TRY(prescribe(bdf2, HS_BDF2_NEXT, t, err));
    return solve(bdf2, shift, most, t, &bdf2->tried, err);
}

/* The first step, in two stages. */
static enum hs_status start(struct hs_bdf2 *bdf2, double step, double t, double most,
                            struct hs_error *err)
{
    const double g = part_of_end(), shift = 1.0 / (g * step), more = (1.0 - g) / g;
    const double middle = bdf2->t + g * step;
    const struct prediction part = {0.0, bdf2->sloped ? g * step : 0.0};
    const struct hs_krylov_term first[] = {times_capacity(shift, HS_BDF2_NOW),
                                           times_capacity(0.0, HS_BDF2_NOW)};
    const struct hs_krylov_term second[] = {times_capacity(shift * (1.0 - more), HS_BDF2_NOW),
                                            times_capacity(shift * more, HS_BDF2_NEXT)};
    HS_TRY(solve_stage(bdf2, middle, shift, first, part, most, err));
    bdf2->times = 0;
    bdf2->unsolved = 0.0;
    add_time(bdf2, 0.0, 1.0 - g, middle);
    HS_TRY(add_to_mean(bdf2, 0.0, 1.0 - g, middle, err));
    return solve_stage(bdf2, t, shift, second, predict(bdf2, step), most, err);
}

enum hs_status hs_bdf2_try(struct hs_bdf2 *bdf2, double step, double t, double most,
                           struct hs_error *err)
{
    bdf2->effort.steps++;
    if (bdf2->step == 0.0)
        return start(bdf2, step, t, most, err);
    const double w = step / bdf2->step;
    const struct hs_krylov_term before[] = {
        times_capacity((1.0 + w) / step, HS_BDF2_NOW),
        times_capacity(-w * w / ((1.0 + w) * step), HS_BDF2_OLD)};
    return solve_stage(bdf2, t, (1.0 + 2.0 * w) / ((1.0 + w) * step), before, predict(bdf2, step),
                       most, err);
}

enum hs_status hs_bdf2_weigh(struct hs_bdf2 *bdf2, int n, struct hs_error *err)
{
    return set(bdf2, HS_BDF2_NEXT,
               two(times(1.0, HS_BDF2_VECTORS + n, HS_KRYLOV_NONE),
                   times(1.0 - bdf2->h_mean[n], HS_BDF2_MEAN, HS_KRYLOV_NONE)),
               err);
}

enum hs_status hs_bdf2_accept(struct hs_bdf2 *bdf2, double step, double t, struct hs_error *err)
{
    const struct hs_krylov *vectors = bdf2->gradients.vectors;
    struct hs_krylov_state *of = bdf2->gradients.of;
    const double last = bdf2->step, w = last > 0.0 ? step / last : 0.0;
    const double before = last > 0.0 ? w / (1.0 + 2.0 * w) : 1.0;
    const double now = last > 0.0 ? (1.0 + w) / (1.0 + 2.0 * w) : part_of_end();
    add_time(bdf2, before, now, t);
    HS_TRY(add_to_mean(bdf2, before, now, t, err));
    if (last > 0.0)
        HS_TRY(set(bdf2, HS_BDF2_SLOPE, one(times(1.0 / last, HS_BDF2_NOW, HS_BDF2_OLD)), err));
    bdf2->sloped = bdf2->sloped || last > 0.0;
    vectors->exchange(of, HS_BDF2_OLD, HS_BDF2_NOW);
    vectors->exchange(of, HS_BDF2_NOW, HS_BDF2_NEXT);
    bdf2->before = last;
    bdf2->step = step;
    bdf2->t = t;
    return HS_OK;
}
