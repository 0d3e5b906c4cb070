/*
 * The method contract: how time goes, or how a steady state is found. A method asks the backend for
 * sweeps and for what its optional tables offer, never a kernel by name.
 *
 * A method is one file in src/engine/methods/NAME.c that defines
 *     const struct hs_method hs_method_NAME = { ... };
 * The build finds it by its file name.
 */
#ifndef HS_CORE_METHOD_H
#define HS_CORE_METHOD_H

#include "core/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How long its steps may be, and what time.step = "auto" stands for. */
enum hs_step_rule {
    HS_STEP_STABLE, /* up to the longest stable sweep; auto: time.safety of that */
    HS_STEP_GIVEN,  /* any; the config must give it, since the error depends on it, or, of a
                       method that cuts, time.tolerance: then as the next */
    HS_STEP_ANY     /* any, without an error in time; auto: one from stop to stop */
};

/* A steady state that was found without going through time. */
enum { HS_SOLUTION_ITERATIONS = 500, HS_SOLUTION_RESIDUALS = HS_SOLUTION_ITERATIONS + 1 };
struct hs_solution {
    int iterations; /* at most HS_SOLUTION_ITERATIONS */
    /* largest |rate of change| that is left over the largest of the initial guess */
    double residual;
    bool reached; /* the residual is at most the tolerance, or at the rounding of its terms */
    double residuals[HS_SOLUTION_RESIDUALS]; /* [iterations + 1], from the initial guess on; of a
                                                method without iterations nothing */
};

/* Who watches solutions of equations while they are found. */
struct hs_solve_watch {
    void *self;
    /* At the initial guess and after each iteration, with what is known by then. True: it is to
     * stop. */
    bool (*notify)(void *self, const struct hs_solution *so_far);
};

/* What steps took that are cut, or that solve equations. */
struct hs_effort {
    int64_t steps;      /* that were made: more than the plan's where those were cut */
    int64_t refused;    /* of which a tolerance had tried again, shorter */
    int64_t iterations; /* of conjugate gradients */
    int64_t sweeps;     /* of a method that makes some */
};

/*
 * What acted in a step that is no sweep, for its heat balance: with C the heat capacities and L
 * what conduction, walls and sources bring,
 *
 *     C (T after - T before)/step = L
 *
 * of the field `mean`, which need not be known where hs_balance_spares says so, and where walls and
 * sources have the mean of their values at `time`, by `weight`. Fields are the backend's
 * (core/vectors.h); 0 is the one after. What `time` and `weight` point to is the method's, until
 * its next call.
 */
struct hs_step_mean {
    double step;  /* s; 0: it is not known */
    double sweep; /* s: of the sweeps whose operator L is */
    int before, mean;
    int64_t count;
    const double *time;   /* [count] s */
    const double *weight; /* [count] add up to 1 */
    double roundings;     /* of the fields' precision, that a node of the mean has */
    double unsolved; /* K/s: what equations that a step solves leave of it at a node, at most */
    double fastest;  /* 1/s: times |T| and the rounding of double, what that leaves besides; 0 */
};

struct hs_method_state; /* each method's own */

/* Which of advance and solve it has says whether it is one of time.method, steady.method, or both.
 */
struct hs_method {
    const char *name;
    const char *idea;     /* one line */
    const char *origin;   /* literature */
    const char *known_as; /* what others call it: "crank_nicolson|bdf2"; NULL: nothing else */
    enum hs_step_rule step_rule;
    bool ranks; /* it goes on several (engine/ranks/ranks.h), since all it asks of the backend does
                 */
    bool implicit; /* its steps solve equations and sweep nothing */
    bool cuts;     /* with time.tolerance it cuts the plan's steps, of which any is short enough */
    bool jumps;    /* a span takes as long however many steps it has, so none is cut by the clock */
    /* Its sweeps are those of a recursion (core/kernel.h) where nothing changes with time. */
    bool recursion;
    /* HS_OK, or HS_BAD_INPUT and the reason why it cannot do this problem. NULL: it can do all. */
    enum hs_status (*suits)(const struct hs_problem *problem, struct hs_error *err);
    /* Sweeps that a step of so many seconds makes, where the longest stable sweep is `limit` [s].
     * NULL: one. */
    int64_t (*sweeps)(const struct hs_problem *problem, double limit, double step);
    /* Bytes of the device's memory beside the backend's. NULL: none. */
    double (*memory)(const struct hs_problem *problem, const struct hs_backend *backend);
    /* What it keeps from stop to stop, for a field that is uploaded already. NULL: nothing. */
    enum hs_status (*create)(const struct hs_problem *problem, const struct hs_backend *backend,
                             struct hs_backend_state *state, struct hs_method_state **out,
                             struct hs_error *err);
    /* Who watches from now on what advance and solve find by iterations. Where it has them stop,
     * they return HS_INTERRUPTED, without a message, and the state's field is as it was. NULL:
     * there are none. */
    void (*watch)(struct hs_method_state *self, const struct hs_solve_watch *watch);
    /* From stop to stop: takes the state through all steps of the span, and returns when that is
     * done, so that its time can be measured. */
    enum hs_status (*advance)(struct hs_method_state *self, const struct hs_backend *backend,
                              struct hs_backend_state *state, const struct hs_span *span,
                              struct hs_error *err);
    /* What acted in the last step, where advance was asked to keep the field before it. NULL: it is
     * not known, or steps are sweeps. */
    void (*mean)(const struct hs_method_state *self, struct hs_step_mean *out);
    /* Of one that cuts: in all steps so far. */
    void (*effort)(const struct hs_method_state *self, struct hs_effort *out);
    /* Leaves the steady state in the place of the field, which is the initial guess. HS_OK whether
     * or not it was reached. */
    enum hs_status (*solve)(struct hs_method_state *self, const struct hs_backend *backend,
                            struct hs_backend_state *state, double tolerance,
                            struct hs_solution *out, struct hs_error *err);
    void (*destroy)(struct hs_method_state *self); /* accepts NULL; NULL: nothing to do */
};

#ifdef __cplusplus
}
#endif

#endif
