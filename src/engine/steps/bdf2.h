/*
 * Steps in time by the backward differentiation formula of second order, in double; its equations
 * are solved by conjugate gradients (engine/multigrid/), among whose vectors its own are.
 *
 * From T_n-1 and T_n, with h the step and w = h over the one before, at free nodes
 *
 *     C ((1 + 2w)/(1 + w) T_n+1 - (1 + w) T_n + w^2/(1 + w) T_n-1)/h = inflow(t_n+1) - A T_n+1
 *
 * so walls and sources act with their values of the step's end; other nodes have there what walls
 * prescribe, or keep what they have. Of second order, and stable for whatever A where w is at most
 * 2.4.
 *
 * The first step has no step before it. It has two stages, each one of backward Euler's:
 *
 *     C (Y - T_0)/(g h) = inflow(t_0 + g h) - A Y                         g = 1 - 1/sqrt(2)
 *     C (T_1 - T_0)/(g h) = (1 - g)/g C (Y - T_0)/(g h) + inflow(t_1) - A T_1
 *
 * Both are L-stable: what a step is far too long for is damped, not turned over.
 *
 * With D the change in a step, the former is D_n+1/h = (w D_n/(h/w) + (1 + w) (inflow - A
 * T_n+1)/C)/ (1 + 2w). So what a step stores is what a mean of the fields at the ends of steps so
 * far brings, of which older ones count less and less,
 *
 *     M_n+1 = (w M_n + (1 + w) T_n+1)/(1 + 2w);   M_1 = (1 - g) Y + g T_1
 *
 * with the inflows' mean likewise; in the middle of the step, to second order.
 *
 * Sources: Hairer and Wanner, Solving Ordinary Differential Equations II (1996), V.1 and III.5 of
 * volume I for steps that differ; Alexander, SIAM J. Numer. Anal. 14 (1977), for the first step.
 */
#ifndef HS_ENGINE_STEPS_BDF2_H
#define HS_ENGINE_STEPS_BDF2_H

#include "engine/multigrid/acting.h"
#include "engine/multigrid/conjugate_gradients.h"

/* Older ones weigh less than 2^-64. */
enum { HS_BDF2_TIMES = 64 };

/* Vectors (core/krylov.h). */
enum {
    HS_BDF2_NEXT = HS_KRYLOV_T,   /* the field that a step tries */
    HS_BDF2_NOW = HS_KRYLOV_MORE, /* the field */
    HS_BDF2_OLD,                  /* ... a step before */
    HS_BDF2_SLOPE,  /* K/s: what changed in the step before the last; before the first step dT/dt */
    HS_BDF2_ACTING, /* the inflow of walls and sources */
    HS_BDF2_MEAN,   /* the field that the last step stores the heat of */
    HS_BDF2_VECTORS,
    HS_BDF2_LASTING = HS_BDF2_VECTORS /* W: what does not change, beside a source that does; where
                                         the backend knows what that brings */
};

/* Nodes whose temperature walls prescribe, by rows along x. */
struct hs_bdf2_prescribed {
    int64_t rows, count;
    int64_t *row;   /* [rows] j + ny k */
    int64_t *first; /* [rows + 1] of the following */
    int64_t *node;  /* [count] */
    double *value;  /* [count] */
    double *spare;  /* [threads][nx] */
};

struct hs_bdf2 {
    const struct hs_problem *problem;
    struct hs_equations equations;
    struct hs_conjugate_gradients gradients;
    struct hs_bdf2_prescribed prescribed;
    bool in_time;            /* walls or sources change */
    struct hs_acting acting; /* what walls and sources bring, if in time */
    double t;                /* s: of the field */
    double step;             /* s: the last one; 0: none yet */
    double before;           /* s: the one before that; 0: none yet */
    bool sloped;             /* the slope is known */
    int times;               /* [times] when walls and sources of the mean are, and their weights */
    double time[HS_BDF2_TIMES], weight[HS_BDF2_TIMES];
    double unsolved;         /* K/s: what solving leaves of its equations at a node, at most */
    double tried;            /* ... those of the step tried */
    struct hs_effort effort; /* so far */
};

/* Vectors beside those of conjugate gradients. */
int hs_bdf2_vectors(const struct hs_problem *problem, const struct hs_backend *backend);

/* Of a problem of radius 1 that is not raw. HS_DEVICE when memory is short; to be released either
 * way. */
enum hs_status hs_bdf2_init(struct hs_bdf2 *bdf2, const struct hs_problem *problem,
                            const struct hs_backend *backend, struct hs_backend_state *state,
                            struct hs_error *err);
void hs_bdf2_release(struct hs_bdf2 *bdf2);

/* The field is that of the backend, at t: what was before does not count. */
enum hs_status hs_bdf2_begin(struct hs_bdf2 *bdf2, double t, struct hs_error *err);

/* From the field that it has, where steps before it say nothing of what comes. */
enum hs_status hs_bdf2_begin_anew(struct hs_bdf2 *bdf2, struct hs_error *err);

/* Finds dT/dt where a run begins. *rate: the largest [K/s]. */
enum hs_status hs_bdf2_look(struct hs_bdf2 *bdf2, double *rate, struct hs_error *err);

/*
 * A step of `step` [s] to time t, in `next`. No node is farther from what the equations say than
 * `most` [K]; 0: than 1e-6 of what the field changes by in the step. Errors: HS_FAILED_CHECK where
 * they cannot be solved; HS_DEVICE when memory is short.
 */
enum hs_status hs_bdf2_try(struct hs_bdf2 *bdf2, double step, double t, double most,
                           struct hs_error *err);

/* *out: K, the largest of a node: the error that the step tried makes in time, about, by how far
 * off the parabola through the steps before it is. Where the slope is known. */
enum hs_status hs_bdf2_error(struct hs_bdf2 *bdf2, double step, double *out, struct hs_error *err);

/* What was tried becomes the field. */
enum hs_status hs_bdf2_accept(struct hs_bdf2 *bdf2, double step, double t, struct hs_error *err);

#endif
