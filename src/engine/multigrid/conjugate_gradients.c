#include "engine/multigrid/conjugate_gradients.h"

#include "core/vectors.h"
#include "engine/multigrid/host_krylov.h"
#include "engine/multigrid/kept.h"
#include "engine/multigrid/level.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A node's residual may stay at this multiple of the rounding of its terms: steps add their own. */
static const double settled = 100.0;

/* What an iteration works with. */
struct work {
    const struct hs_conjugate_gradients *gradients;
    double first; /* K/s: the guess's largest rate of change */
    double unit;  /* of the preconditioner's matrix */
    /* squares in the norm of A, times the unit: */
    double error;    /* about that of T's error: z.r */
    double most;     /* what it may be; not known before there is a z */
    double guess;    /* the rounding of the guess */
    double rounding; /* that of T itself */
    double least;    /* below this it need not fall any further */
    bool interrupted;
    struct hs_error *err;
};

static void note(struct work *work, struct hs_solution *out, double largest)
{
    out->residual = largest / work->first;
    if (out->iterations < HS_SOLUTION_RESIDUALS)
        out->residuals[out->iterations] = out->residual;
    const struct hs_solve_watch *watch = work->gradients->watch;
    if (watch && watch->notify(watch->self, out))
        work->interrupted = true;
}

/* Iterates from the residual in r until the residual of the recurrence is at most `rate` and the
 * error in the norm of A is small enough. Both are needed: where a few nodes change far faster than
 * all others, the largest rate says little about the others. Also ends where a small error grows:
 * if nothing holds the mean, the residual's sum is rounding that no iteration takes away, and once
 * nothing else is left it makes them diverge. */
static enum hs_status iterate(struct work *work, double tolerance, double rate,
                              struct hs_solution *out)
{
    const struct hs_krylov *vectors = work->gradients->vectors;
    struct hs_krylov_state *of = work->gradients->of;
    double left, curvature, zr, factor = 0.0;
    HS_TRY(vectors->precondition(of, &zr, work->err));
    if (out->iterations == 0)
        work->most = fmax(tolerance * tolerance * zr, work->rounding);
    while (out->iterations < HS_SOLUTION_ITERATIONS) {
        HS_TRY(vectors->turn(of, factor, &curvature, work->err));
        if (!(curvature > 0.0) || !(zr > 0.0))
            break;
        const double length = zr / curvature, before = zr;
        HS_TRY(vectors->advance(of, length, &left, work->err));
        out->iterations++;
        note(work, out, left);
        if (left == 0.0 || work->interrupted)
            break;
        HS_TRY(vectors->precondition(of, &zr, work->err));
        if (left <= rate && zr <= work->most)
            break;
        if (zr > before && before <= fmin(work->most, work->least)) {
            zr = before;
            break;
        }
        factor = zr / before;
    }
    work->error = zr;
    return HS_OK;
}

static enum hs_status find_heat(const struct hs_conjugate_gradients *gradients, double *out,
                                struct hs_error *err)
{
    static const struct hs_krylov_sum heat = {1,
                                              {{.factor = 1.0, .plus = HS_KRYLOV_T, .power = 1}}};
    return gradients->vectors->total(gradients->of, &heat, out, err);
}

enum hs_status hs_conjugate_gradients_set_heat(const struct hs_conjugate_gradients *gradients,
                                               double heat, struct hs_error *err)
{
    double now;
    HS_TRY(find_heat(gradients, &now, err));
    return gradients->vectors->add(gradients->of, (heat - now) / gradients->equations->capacity,
                                   err);
}

static double rounding_of(const struct work *work, const struct hs_krylov_rates *rates)
{
    const double half_ulp = 0.5 * DBL_EPSILON;
    return half_ulp * half_ulp * rates->gross * work->unit;
}

/* The error must be small beside the solution as well: a guess that jumps where edges are short is
 * so far off in the norm of A that the tolerance, times that, would leave an error of any size.
 * Beside a solution of 0 it must be small beside the guess's rounding. */
static double allowed(const struct work *work, double tolerance,
                      const struct hs_krylov_rates *rates)
{
    return tolerance * tolerance * (rates->field * work->unit + work->guess) +
           rounding_of(work, rates);
}

/* Whether the guess is the answer. Residuals that are roundings do not say so: together they may be
 * the heat of a wall, whose convection is weak beside a film's edges. */
static enum hs_status is_steady(const struct work *work, double tolerance,
                                const struct hs_krylov_rates *rates, bool *out)
{
    double zr = 0.0;
    enum hs_status st = HS_OK;
    if (rates->told == 0.0 && rates->largest > 0.0)
        st = work->gradients->vectors->precondition(work->gradients->of, &zr, work->err);
    *out = rates->told == 0.0 && zr <= allowed(work, tolerance, rates);
    return st;
}

/* Restarts from a residual computed anew, as long as that helps: it shows what the recurrence has
 * lost to rounding. */
static enum hs_status solve(struct work *work, double tolerance, double rate,
                            struct hs_solution *out)
{
    const struct hs_krylov *vectors = work->gradients->vectors;
    struct hs_krylov_state *of = work->gradients->of;
    const bool singular = hs_equations_are_singular(work->gradients->equations);
    const bool steady = work->gradients->equations->shift == 0.0;
    double heat = 0.0;
    struct hs_krylov_rates now;
    HS_TRY(vectors->residual(of, 1.0, &now, work->err));
    out->reached = isfinite(now.largest);
    work->guess = rounding_of(work, &now);
    bool done = now.told <= rate;
    if (steady)
        HS_TRY(is_steady(work, tolerance, &now, &done));
    if (done)
        return HS_OK;
    work->first = now.largest;
    if (singular)
        HS_TRY(find_heat(work->gradients, &heat, work->err));
    const double told = now.told > 0.0 ? now.told : now.largest;
    tolerance = fmax(tolerance, rate / told);
    rate = tolerance * told;
    note(work, out, now.largest);
    for (bool helps = true; helps && !work->interrupted;) {
        const int iterations = out->iterations;
        const double before = now.told;
        work->rounding = steady ? rounding_of(work, &now) : 0.0;
        work->least = steady && iterations == 0 ? INFINITY : work->rounding;
        HS_TRY(iterate(work, 0.9 * tolerance, 0.9 * rate, out));
        if (singular)
            HS_TRY(hs_conjugate_gradients_set_heat(work->gradients, heat, work->err));
        HS_TRY(vectors->residual(of, 1.0, &now, work->err));
        note(work, out, now.largest);
        if (now.largest == 0.0)
            work->error = 0.0; /* whatever the recurrence says: the answer is exact */
        if (steady)
            work->most = fmin(work->most, allowed(work, tolerance, &now));
        helps = out->iterations > iterations && out->iterations < HS_SOLUTION_ITERATIONS &&
                (work->error > work->most || (now.told > rate && now.told < 0.5 * before));
    }
    if (isfinite(now.largest) && now.told > rate)
        HS_TRY(vectors->residual(of, settled, &now, work->err));
    out->reached = isfinite(now.largest) && now.told <= rate && work->error <= work->most;
    return work->interrupted ? HS_INTERRUPTED : HS_OK;
}

/* On the host: T, r, the inflow, p and q; 28 bytes for each node of the levels; 12 for each node of
 * the steps' coarse sides: two weights and the field between steps. */
double hs_conjugate_gradients_bytes(const struct hs_problem *problem,
                                    const struct hs_backend *backend, int further)
{
    if (backend->krylov)
        return backend->krylov->bytes(problem, further);
    const struct hs_kept_sizes sizes = hs_kept_estimate(problem);
    const struct hs_network *network = problem->network;
    const bool own_rows =
        network && network->form == HS_NETWORK_ARRAYS && hs_network_sinks_vary(network);
    return (double)hs_grid_count(&problem->grid) *
           ((5.0 + further) * sizeof(double) + 28.0 * sizes.levels + 12.0 * sizes.steps + 1.0 +
            (own_rows ? sizeof *network->node : 0));
}

enum hs_status hs_conjugate_gradients_init(struct hs_conjugate_gradients *gradients,
                                           const struct hs_equations *equations,
                                           const struct hs_backend *backend,
                                           struct hs_backend_state *state, struct hs_error *err)
{
    const struct hs_device_krylov *device = backend ? backend->krylov : NULL;
    *gradients =
        (struct hs_conjugate_gradients){.equations = equations,
                                        .backend = backend,
                                        .state = state,
                                        .vectors = device ? device->vectors : &hs_host_krylov};
    return device ? device->create(state, equations, &gradients->of, err)
                  : hs_host_krylov_create(equations, &gradients->of, err);
}

void hs_conjugate_gradients_release(struct hs_conjugate_gradients *gradients)
{
    if (gradients->vectors)
        gradients->vectors->destroy(gradients->of);
}

/* The whole field between the backend and the doubles at T, plane by plane in float. */
static enum hs_status move(const struct hs_problem *problem, const struct hs_backend *backend,
                           struct hs_backend_state *state, bool up, double *T, struct hs_error *err)
{
    const struct hs_box all = hs_grid_box(&problem->grid);
    if (problem->precision == HS_DOUBLE)
        return up ? backend->upload(state, &all, T, err) : backend->download(state, &all, T, err);
    const int64_t *n = problem->grid.points, nodes = n[HS_X] * n[HS_Y];
    float *plane = malloc((size_t)nodes * sizeof *plane);
    enum hs_status st = HS_OK;
    if (!plane)
        return hs_error_add(err, HS_DEVICE, "no memory for a plane of the field");
    for (int64_t k = 0; k < n[HS_Z] && !st; k++, T += nodes) {
        const struct hs_box box = {{0, 0, k}, {n[HS_X], n[HS_Y], k + 1}};
        for (int64_t m = 0; m < nodes && up; m++)
            plane[m] = (float)T[m];
        st = up ? backend->upload(state, &box, plane, err)
                : backend->download(state, &box, plane, err);
        for (int64_t m = 0; m < nodes && !up && !st; m++)
            T[m] = (double)plane[m];
    }
    free(plane);
    return st;
}

/* By way of field 0, which is restored afterwards. */
static enum hs_status move_on_host(struct hs_conjugate_gradients *gradients, int vector, int field,
                                   bool to_field, struct hs_error *err)
{
    const struct hs_problem *problem = gradients->equations->problem;
    const struct hs_backend *backend = gradients->backend;
    double *const values = hs_host_krylov_vector(gradients->of, vector);
    if (field)
        backend->vectors->exchange(gradients->state, 0, field);
    const enum hs_status st = move(problem, backend, gradients->state, to_field, values, err);
    if (field)
        backend->vectors->exchange(gradients->state, 0, field);
    return st;
}

enum hs_status hs_conjugate_gradients_load(struct hs_conjugate_gradients *gradients, int vector,
                                           int field, struct hs_error *err)
{
    const struct hs_device_krylov *device = gradients->backend->krylov;
    return device ? device->load(gradients->state, gradients->of, vector, field, err)
                  : move_on_host(gradients, vector, field, false, err);
}

enum hs_status hs_conjugate_gradients_store(struct hs_conjugate_gradients *gradients, int vector,
                                            int field, struct hs_error *err)
{
    const struct hs_device_krylov *device = gradients->backend->krylov;
    return device ? device->store(gradients->state, gradients->of, vector, field, err)
                  : move_on_host(gradients, vector, field, true, err);
}

enum hs_status hs_conjugate_gradients_solve(struct hs_conjugate_gradients *gradients,
                                            double tolerance, double rate, struct hs_solution *out,
                                            struct hs_error *err)
{
    const bool steady = gradients->equations->shift == 0.0; /* else no such bound is used */
    struct work work = {.gradients = gradients,
                        .unit = steady ? hs_levels_unit(gradients->equations) : 1.0,
                        .err = err};
    *out = (struct hs_solution){.reached = true};
    HS_TRY(gradients->vectors->begin(gradients->of, err));
    HS_TRY(solve(&work, tolerance, rate, out));
    return gradients->vectors->end(gradients->of, err);
}
