/*
 * multigrid: the steady state of a network, by conjugate gradients with a V-cycle as their
 * preconditioner.
 *
 * For bodies of many materials and for stencils of radius 1, whose walls and sources do not change
 * in time. It solves where the backend has vectors for it, else on the host, to which the field
 * comes and goes back. The iterations hardly depend on the grid, and little on the materials: see
 * docs/numerics.md.
 *
 * Sources: those of engine/multigrid/.
 */
#include "core/memory.h"
#include "core/method.h"
#include "engine/host_field.h"
#include "engine/multigrid/conjugate_gradients.h"
#include "engine/stability.h"

#include <math.h>
#include <stdlib.h>

/* Sources that should balance do so but for the rounding of what they are made of. */
static const double balanced = 1e-10;

static enum hs_status check_balance(const struct hs_problem *problem,
                                    const struct hs_equations *equations, struct hs_error *err)
{
    if (!equations->floating || fabs(equations->balance) <= balanced * equations->flows)
        return HS_OK;
    char unit[64];
    double factor = 1.0; /* a stencil's flows are shares of cells */
    for (int axis = 0; axis < HS_AXES && !problem->network; axis++)
        factor *= problem->grid.spacing[axis];
    hs_problem_power_unit(problem, unit, sizeof unit);
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: there is no steady state: no wall holds a temperature or exchanges "
                        "heat by convection, and sources and walls together bring %.6g %s; make "
                        "them balance, or hold the temperature of a wall",
                        hs_problem_place(problem, HS_PLACE_STEADY),
                        equations->balance * factor *
                            (problem->network ? 1.0 : hs_problem_heat_capacity(problem)),
                        unit);
}

/* So that what flows through walls is known: it is that of a sweep, which changes nothing else. */
static enum hs_status sweep_once(const struct hs_problem *problem, const struct hs_backend *backend,
                                 struct hs_backend_state *state, struct hs_error *err)
{
    struct hs_span span = {.count = 1, .step = problem->schedule.step};
    span.keep_last = span.keep_before = true;
    if (isnan(span.step))
        span.step = problem->schedule.safety * hs_stability_limit(problem);
    span.op = hs_problem_operator(problem, span.step);
    return backend->sweep(state, &span, err);
}

/* At most: eight words for the field, the equations and conjugate gradients; levels, each of half
 * the nodes of the one before where one axis is coarsened at a time. Of a device without vectors of
 * its own none. */
static double memory(const struct hs_problem *problem, const struct hs_backend *backend)
{
    enum { NODE_BYTES = 8 * 8 + 2 * 38 };
    const int64_t *n = problem->grid.points;
    if (backend->krylov)
        return backend->krylov->bytes(problem);
    return backend->device == HS_CPU
               ? NODE_BYTES * (double)n[HS_X] * (double)n[HS_Y] * (double)n[HS_Z]
               : 0.0;
}

struct hs_method_state {
    const struct hs_problem *problem;
    const struct hs_solve_watch *watch;
};

static enum hs_status create(const struct hs_problem *problem, const struct hs_backend *backend,
                             struct hs_backend_state *state, struct hs_method_state **out,
                             struct hs_error *err)
{
    (void)backend, (void)state, (void)err;
    *out = hs_new(sizeof **out);
    (*out)->problem = problem;
    return HS_OK;
}

static void watch(struct hs_method_state *self, const struct hs_solve_watch *by)
{
    self->watch = by;
}

/* By way of the host. */
static enum hs_status solve_on_host(const struct hs_problem *problem,
                                    struct hs_conjugate_gradients *gradients,
                                    const struct hs_backend *backend,
                                    struct hs_backend_state *state, double tolerance,
                                    struct hs_solution *out, struct hs_error *err)
{
    double *T = malloc((size_t)hs_grid_count(&problem->grid) * sizeof *T);
    enum hs_status st = HS_OK;
    if (!T)
        st = hs_error_add(err, HS_DEVICE, "no memory for the field; take a smaller grid");
    if (!st)
        st = hs_host_field_download(problem, backend, state, T, err);
    if (!st)
        st = hs_conjugate_gradients_solve(gradients, tolerance, 0.0, T, out, err);
    if (!st)
        st = hs_host_field_upload(problem, backend, state, T, err);
    free(T);
    return st;
}

static enum hs_status solve_on_device(struct hs_conjugate_gradients *gradients,
                                      const struct hs_device_krylov *device,
                                      struct hs_backend_state *state, double tolerance,
                                      struct hs_solution *out, struct hs_error *err)
{
    enum hs_status st = device->begin(state, gradients->of, err);
    if (!st)
        st = hs_conjugate_gradients_iterate(gradients, tolerance, 0.0, out, err);
    return st ? st : device->end(state, gradients->of, err);
}

static enum hs_status solve(struct hs_method_state *self, const struct hs_backend *backend,
                            struct hs_backend_state *state, double tolerance,
                            struct hs_solution *out, struct hs_error *err)
{
    const struct hs_problem *problem = self->problem;
    struct hs_equations equations = {.network = NULL};
    struct hs_conjugate_gradients gradients = {.equations = NULL};
    enum hs_status st = hs_equations_init(&equations, problem, err);
    if (!st)
        st = check_balance(problem, &equations, err);
    if (!st)
        st = hs_conjugate_gradients_init(&gradients, &equations, backend->krylov, state, err);
    gradients.watch = self->watch;
    if (!st && backend->krylov)
        st = solve_on_device(&gradients, backend->krylov, state, tolerance, out, err);
    else if (!st)
        st = solve_on_host(problem, &gradients, backend, state, tolerance, out, err);
    if (!st)
        st = sweep_once(problem, backend, state, err);
    hs_conjugate_gradients_release(&gradients);
    hs_equations_release(&equations);
    return st;
}

static void destroy(struct hs_method_state *self)
{
    free(self);
}

const struct hs_method hs_method_multigrid = {
    .name = "multigrid",
    .idea = "conjugate gradients with a V-cycle",
    .origin = "Trottenberg, Oosterlee, Schueller 2001",
    .known_as = "mg|gmg|amg|cg|pcg|conjugate_gradients|conjugate_gradient|direct",
    .suits = hs_equations_suit,
    .memory = memory,
    .create = create,
    .watch = watch,
    .solve = solve,
    .destroy = destroy,
};
