/*
 * Time steps by the backward differentiation formula of second order, in double. Its equations are
 * solved by conjugate gradients (engine/multigrid/), which hold its vectors, too.
 *
 * From T_n-1 and T_n, with h the step and w = h over the step before, at free nodes
 *
 *     C ((1 + 2w)/(1 + w) T_n+1 - (1 + w) T_n + w^2/(1 + w) T_n-1)/h = inflow(t_n+1) - A T_n+1
 *
 * so walls and sources act with their values at the step's end. All other nodes have what walls
 * prescribe then, or keep their temperature. The formula is of second order, and stable for any A
 * where w is at most 2.4.
 *
 * The first step has no step before it. It has two stages, each one of backward Euler's:
 *
 *     C (Y - T_0)/(g h) = inflow(t_0 + g h) - A Y                         g = 1 - 1/sqrt(2)
 *     C (T_1 - T_0)/(g h) = (1 - g)/g C (Y - T_0)/(g h) + inflow(t_1) - A T_1
 *
 * Both are L-stable: modes that are far too fast for a step are damped, not reversed.
 *
 * With D the change in a step, the former is D_n+1/h = (w D_n/(h/w) + (1 + w) (inflow - A
 * T_n+1)/C)/ (1 + 2w). So what a step stores is what flows in for a mean of the fields at the ends
 * of the steps so far, older ones counting less and less,
 *
 *     M_n+1 = (w M_n + (1 + w) T_n+1)/(1 + 2w);   M_1 = (1 - g) Y + g T_1
 *
 * and for the same mean of the inflows. The mean is that of the middle of the step, to second
 * order.
 *
 * Sources: Hairer and Wanner, Solving Ordinary Differential Equations II (1996), V.1 and III.5 of
 * volume I for steps that differ; Alexander, SIAM J. Numer. Anal. 14 (1977), for the first step.
 */
#ifndef HS_ENGINE_STEPS_BDF2_H
#define HS_ENGINE_STEPS_BDF2_H

#include "engine/multigrid/acting.h"
#include "engine/multigrid/conjugate_gradients.h"

/* Older times have weights below 2^-64. */
enum { HS_BDF2_TIMES = 64 };

/* Vectors (core/krylov.h). */
enum {
    HS_BDF2_NEXT = HS_KRYLOV_T,   /* the field that a step tries */
    HS_BDF2_NOW = HS_KRYLOV_MORE, /* the field */
    HS_BDF2_OLD,                  /* the field a step before */
    HS_BDF2_SLOPE,  /* K/s: change in the step before the last; before the first step dT/dt */
    HS_BDF2_ACTING, /* the inflow of walls and sources */
    HS_BDF2_MEAN,   /* the mean M of the last step */
    HS_BDF2_VECTORS,
    /* Then for each of the walls' h that change the mean of h/(largest h) * T, with the same
     * weights; and, where the backend evaluates a source that changes, the inflow [W] that does
     * not. */
};

/* Nodes whose temperature walls prescribe, by rows along x. */
struct hs_bdf2_prescribed {
    int64_t rows, count;
    int64_t *first; /* [rows + 1] place of each row's first node below */
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
    int h_count;             /* of walls' h that change */
    double *h_mean;          /* [h_count] of h/(largest h), with the same weights */
    struct hs_acting acting; /* the inflow that changes, if in_time */
    double t;                /* s: of the field; NaN: not begun */
    double step;             /* s: the last one; 0: none yet */
    double before;           /* s: the one before that; 0: none yet */
    bool sloped;             /* the slope is known */
    int times; /* [times] at which walls and sources enter the mean, and their weights */
    double time[HS_BDF2_TIMES], weight[HS_BDF2_TIMES];
    double unsolved; /* K/s: largest residual at a node of the equations that the mean stands for */
    double tried;    /* K/s: the same of the step tried */
    struct hs_effort effort; /* so far */
};

/* The number of vectors beside those of conjugate gradients. */
int hs_bdf2_vectors(const struct hs_problem *problem, const struct hs_backend *backend);

/* For a problem of radius 1 that is not raw. HS_DEVICE when memory is short; release in either
 * case. */
enum hs_status hs_bdf2_init(struct hs_bdf2 *bdf2, const struct hs_problem *problem,
                            const struct hs_backend *backend, struct hs_backend_state *state,
                            struct hs_error *err);
void hs_bdf2_release(struct hs_bdf2 *bdf2);

/* Begins with the backend's field, at time t; earlier fields no longer count. */
enum hs_status hs_bdf2_begin(struct hs_bdf2 *bdf2, double t, struct hs_error *err);

/* Begins again with the present field, where earlier steps say nothing about what comes. */
enum hs_status hs_bdf2_begin_anew(struct hs_bdf2 *bdf2, struct hs_error *err);

/* Finds dT/dt at the beginning of a run. *rate: its largest value [K/s]. */
enum hs_status hs_bdf2_look(struct hs_bdf2 *bdf2, double *rate, struct hs_error *err);

/*
 * Tries a step of `step` [s] to time t, into `next`. Every node is within `most` [K] of the
 * solution of the equations; 0: within 1e-6 of the field's largest change in the step. Errors:
 * HS_FAILED_CHECK where they cannot be solved; HS_DEVICE when memory is short.
 */
enum hs_status hs_bdf2_try(struct hs_bdf2 *bdf2, double step, double t, double most,
                           struct hs_error *err);

/* *out: K, the estimated error in time of the step tried, at the worst node, from its distance to
 * the parabola through the steps before. Only where the slope is known. */
enum hs_status hs_bdf2_error(struct hs_bdf2 *bdf2, double step, double *out, struct hs_error *err);

/* Puts the mean with the weights of the n-th of the walls' h (core/method.h) into `next`. */
enum hs_status hs_bdf2_weigh(struct hs_bdf2 *bdf2, int n, struct hs_error *err);

/* The step that was tried becomes the field. */
enum hs_status hs_bdf2_accept(struct hs_bdf2 *bdf2, double step, double t, struct hs_error *err);

#endif
