/*
 * The method contract: how to advance in time, or how to find a steady state. A method uses the
 * backend's sweeps and its optional tables, never a kernel by name.
 *
 * A method is one file in src/engine/methods/NAME.c that defines
 *     const struct hs_method hs_method_NAME = { ... };
 * The build finds it by its file name.
 */
#ifndef HS_CORE_METHOD_H
#define HS_CORE_METHOD_H

#include "core/backend.h"

/* How long a method's steps may be, and what time.step = "auto" means. */
enum hs_step_rule {
    HS_STEP_STABLE, /* up to the longest stable sweep; auto: time.safety times that */
    HS_STEP_GIVEN,  /* any; the config must give it, since the error depends on it. A method that
                       `cuts` also takes time.tolerance; then as HS_STEP_ANY */
    HS_STEP_ANY     /* any, without time error; auto: one step from stop to stop */
};

/* A steady state that was found without time stepping. */
enum { HS_SOLUTION_ITERATIONS = 500, HS_SOLUTION_RESIDUALS = HS_SOLUTION_ITERATIONS + 1 };
struct hs_solution {
    int iterations; /* at most HS_SOLUTION_ITERATIONS */
    /* largest remaining |rate of change|, divided by that of the initial guess */
    double residual;
    bool reached; /* the residual is at most the tolerance, or at the rounding level of its terms */
    double residuals[HS_SOLUTION_RESIDUALS]; /* [iterations + 1], from the initial guess on; empty
                                                for a method without iterations */
};

/* An observer of iterative solutions. */
struct hs_solve_watch {
    void *self;
    /* Called at the initial guess and after each iteration, with what is known so far. True:
     * stop. */
    bool (*notify)(void *self, const struct hs_solution *so_far);
};

/* The effort of methods that cut steps or solve equations. */
struct hs_effort {
    int64_t steps;   /* steps made: more than the plan's if those were cut */
    int64_t refused; /* of these, steps that the tolerance refused; they were repeated, shorter */
    int64_t iterations; /* of conjugate gradients */
    int64_t sweeps;     /* of methods that use sweeps */
};

/*
 * What acted in a step that is not a sweep, for its heat balance. With C the heat capacities and L
 * the effect of conduction, walls and sources:
 *
 *     C (T after - T before)/step = L
 *
 * where L is taken at the field `mean`, with wall and source values averaged over the times `time`
 * with the weights `weight`. `mean` need not be known where hs_balance_spares says so. Fields are
 * given by number (core/vectors.h); field 0 is the one after the step. The method owns what `time`
 * and `weight` point to, until its next call.
 */
struct hs_step_mean {
    double step;  /* s; 0: not known */
    double sweep; /* s: step of the sweeps whose operator gives L */
    int before, mean;
    int64_t count;
    const double *time;   /* [count] s */
    const double *weight; /* [count] their sum is 1 */
    /* The fields from h_mean on are, for each of walls' h that change with time (h_number in
     * core/wall.h), the mean with other weights: each times 1 + (h - mean of h)/(largest h), which
     * add up to 1, too. So the mean of h*T is (mean of h)*T in `mean`, and the largest h times what
     * the field exceeds `mean` by. 0: there is only one time. */
    int h_mean;
    double roundings; /* number of roundings, in the fields' precision, in a node of the mean */
    double unsolved;  /* K/s: largest residual at a node of the equations that a step solves */
    double fastest;   /* 1/s: times |T| and double's rounding, a further residual; 0 */
};

struct hs_method_state; /* each method's own */

/* A method with `advance` is a choice for time.method, one with `solve` for steady.method. */
struct hs_method {
    const char *name;
    const char *idea;     /* one line */
    const char *origin;   /* literature */
    const char *known_as; /* what others call it: "crank_nicolson|bdf2"; NULL: nothing else */
    enum hs_step_rule step_rule;
    bool ranks; /* all that it uses of the backend works on several ranks (engine/ranks/ranks.h) */
    bool implicit; /* its steps solve equations, without sweeps */
    bool cuts;  /* with time.tolerance it cuts the plan's steps, which may then have any length */
    bool jumps; /* a span's run time does not depend on its steps, so wall time cuts no span */
    /* If nothing changes with time, its sweeps are those of a recursion (core/kernel.h). */
    bool recursion;
    /* HS_OK, or HS_BAD_INPUT with the reason why it cannot do this problem. NULL: it can do all. */
    enum hs_status (*suits)(const struct hs_problem *problem, struct hs_error *err);
    /* Number of sweeps in a step of `step` [s] if the longest stable sweep is `limit` [s]. NULL:
     * one. */
    int64_t (*sweeps)(const struct hs_problem *problem, double limit, double step);
    /* Bytes of device memory in addition to the backend's. NULL: none. */
    double (*memory)(const struct hs_problem *problem, const struct hs_backend *backend);
    /* Creates what the method keeps from stop to stop; the field is already uploaded. NULL:
     * nothing. */
    enum hs_status (*create)(const struct hs_problem *problem, const struct hs_backend *backend,
                             struct hs_backend_state *state, struct hs_method_state **out,
                             struct hs_error *err);
    /* HS_OK, or HS_BAD_INPUT and why the run ends before it begins: what `suits` does not say, as
     * it takes the state's field or all nodes. Called after create, check_solve once before solve,
     * check_advance once if there are steps to make. NULL: nothing more to say. */
    enum hs_status (*check_solve)(struct hs_method_state *self, double tolerance,
                                  struct hs_error *err);
    enum hs_status (*check_advance)(struct hs_method_state *self, struct hs_error *err);
    /* Sets the observer of the iterations in advance and solve. If it stops them, they return
     * HS_INTERRUPTED without a message, and the state's field is unchanged. NULL: no iterations. */
    void (*watch)(struct hs_method_state *self, const struct hs_solve_watch *watch);
    /* Advances the state from stop to stop, through all steps of the span. Returns when that is
     * done, so that it can be timed. */
    enum hs_status (*advance)(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err);
    /* What acted in the last step, if advance was asked to keep the field before it. NULL: not
     * known, or steps are sweeps. */
    void (*mean)(const struct hs_method_state *self, struct hs_step_mean *out);
    /* For methods that cut or solve equations: the effort of all steps so far. */
    void (*effort)(const struct hs_method_state *self, struct hs_effort *out);
    /* Replaces the field, which is the initial guess, by the steady state. HS_OK whether or not it
     * was reached. */
    enum hs_status (*solve)(struct hs_method_state *self, const struct hs_backend *backend,
                            struct hs_backend_state *state, double tolerance,
                            struct hs_solution *out, struct hs_error *err);
    void (*destroy)(struct hs_method_state *self); /* accepts NULL; NULL: nothing to do */
};

/* check_solve, then solve. */
static inline enum hs_status hs_method_solve(const struct hs_method *method,
                                             struct hs_method_state *self,
                                             const struct hs_backend *backend,
                                             struct hs_backend_state *state, double tolerance,
                                             struct hs_solution *out, struct hs_error *err)
{
    if (method->check_solve)
        HS_TRY(method->check_solve(self, tolerance, err));
    return method->solve(self, backend, state, tolerance, out, err);
}

#endif
