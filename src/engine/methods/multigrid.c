/*
 * multigrid: the steady state of a network, by conjugate gradients with a V-cycle as
 * preconditioner.
 *
 * For bodies of many materials and for stencils of radius 1, whose walls and sources do not change
 * in time. It works in the backend's vectors, where there are some; else on the host, to which the
 * field is copied and back. The number of iterations hardly depends on the grid, and little on the
 * materials: see docs/numerics.md.
 *
 * Sources: those of engine/multigrid/.
 */
#include "core/memory.h"
#include "core/method.h"
#include "engine/multigrid/conjugate_gradients.h"
#include "engine/multigrid/pieces.h"
#include "engine/stability.h"

#include <math.h>
#include <stdlib.h>

/* Sources that should balance do so up to rounding, relative to the flows. */
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
                        "%s: steady.method = \"multigrid\": there is no steady state: no wall "
                        "holds a temperature or exchanges "
                        "heat by convection, and sources and walls together bring %.6g %s; make "
                        "them balance, or hold the temperature of a wall",
                        hs_problem_place(problem, HS_PLACE_STEADY),
                        equations->balance * factor *
                            (problem->network ? 1.0 : hs_problem_heat_capacity(problem)),
                        unit);
}

static double memory(const struct hs_problem *problem, const struct hs_backend *backend)
{
    return hs_conjugate_gradients_bytes(problem, backend, 0);
}

struct hs_method_state {
    const struct hs_problem *problem;
    struct hs_equations equations; /* made by check_solve */
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

static enum hs_status check_solve(struct hs_method_state *self, double tolerance,
                                  struct hs_error *err)
{
    (void)tolerance;
    HS_TRY(hs_equations_init(&self->equations, self->problem, err));
    HS_TRY(check_balance(self->problem, &self->equations, err));
    return hs_pieces_check(&self->equations, err);
}

static void watch(struct hs_method_state *self, const struct hs_solve_watch *by)
{
    self->watch = by;
}

static enum hs_status solve(struct hs_method_state *self, const struct hs_backend *backend,
                            struct hs_backend_state *state, double tolerance,
                            struct hs_solution *out, struct hs_error *err)
{
    struct hs_conjugate_gradients gradients = {.equations = NULL};
    const struct hs_span sweep = hs_stability_sweep(self->problem);
    enum hs_status st =
        hs_conjugate_gradients_init(&gradients, &self->equations, backend, state, err);
    gradients.watch = self->watch;
    if (!st)
        st = hs_conjugate_gradients_load(&gradients, HS_KRYLOV_T, 0, err);
    if (!st)
        st = hs_conjugate_gradients_solve(&gradients, tolerance, 0.0, out, err);
    if (!st)
        st = hs_conjugate_gradients_store(&gradients, HS_KRYLOV_T, 0, err);
    if (!st) /* the flow through walls is that of a sweep, which changes nothing else */
        st = backend->sweep(state, &sweep, err);
    hs_conjugate_gradients_release(&gradients);
    return st;
}

static void destroy(struct hs_method_state *self)
{
    if (self)
        hs_equations_release(&self->equations);
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
    .check_solve = check_solve,
    .watch = watch,
    .solve = solve,
    .destroy = destroy,
};
