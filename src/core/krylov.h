/*
 * Vectors of a number for each node, and what conjugate gradients ask of who holds them: the host
 * (engine/multigrid/), or a backend in its device's memory.
 *
 * They are in double, and have numbers: T the temperatures, the inflow, r the residual inflow - A
 * T, and further ones for who wants them. Besides there are z = M r by the preconditioner, and p
 * the direction, at first 0. A and M are those of equations (engine/multigrid/equations.h), of
 * which the shift may change from one solution to the next; the inflow is at first theirs.
 */
#ifndef HS_CORE_KRYLOV_H
#define HS_CORE_KRYLOV_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_KRYLOV_NONE,
    HS_KRYLOV_T,
    HS_KRYLOV_INFLOW,
    HS_KRYLOV_RESIDUAL,
    HS_KRYLOV_MORE /* the first of further ones */
};

/* factor C^power (plus - minus), of vectors by number; power is 0, 1 or -1, C the heat capacity of
 * a node, either power of which counts as 0 where the node is not free. */
struct hs_krylov_term {
    double factor;
    int plus, minus; /* the latter may be HS_KRYLOV_NONE */
    int power;
};

enum { HS_KRYLOV_TERMS = 3 }; /* of a sum, at most */

struct hs_krylov_sum {
    int count;
    struct hs_krylov_term term[HS_KRYLOV_TERMS];
};

struct hs_krylov_state; /* each one's own */

struct hs_krylov {
    /* ---- vectors ---- */
    /* Has so many further ones, of zeros. HS_DEVICE where memory is short. */
    enum hs_status (*reserve)(struct hs_krylov_state *self, int count, struct hs_error *err);
    /* From the host. values: [nodes] */
    enum hs_status (*put)(struct hs_krylov_state *self, int vector, const double *values,
                          struct hs_error *err);
    /* Values of some nodes, by their numbers. node, values: [count] */
    enum hs_status (*put_some)(struct hs_krylov_state *self, int vector, int64_t count,
                               const int64_t *node, const double *values, struct hs_error *err);
    /* out = the sum, whose terms may be of out. */
    enum hs_status (*combine)(struct hs_krylov_state *self, int out,
                              const struct hs_krylov_sum *sum, struct hs_error *err);
    /* The largest size of the sum at a node; `free`: at one that is free. */
    enum hs_status (*largest)(struct hs_krylov_state *self, const struct hs_krylov_sum *sum,
                              bool free, double *out, struct hs_error *err);
    /* The sum's total over all nodes. */
    enum hs_status (*total)(struct hs_krylov_state *self, const struct hs_krylov_sum *sum,
                            double *out, struct hs_error *err);
    /* Vectors a and b change numbers; neither is the inflow or r. */
    void (*exchange)(struct hs_krylov_state *self, int a, int b);

    /* ---- conjugate gradients ---- */
    /* A solution begins, of the equations as they are now, with T the guess; after `end` it is the
     * solution. */
    enum hs_status (*begin)(struct hs_krylov_state *self, struct hs_error *err);
    enum hs_status (*end)(struct hs_krylov_state *self, struct hs_error *err);
    /* r anew from T. *largest: its largest rate of change |r|/C [K/s]; *told: the largest that is
     * more than `slack` times what the roundings of its terms may make of it, 0 where there is
     * none. */
    enum hs_status (*residual)(struct hs_krylov_state *self, double slack, double *largest,
                               double *told, struct hs_error *err);
    /* z = M r; *with_r: z.r */
    enum hs_status (*precondition)(struct hs_krylov_state *self, double *with_r,
                                   struct hs_error *err);
    /* p = z + factor p; *curvature: p.A p */
    enum hs_status (*turn)(struct hs_krylov_state *self, double factor, double *curvature,
                           struct hs_error *err);
    /* T += length p, r -= length A p; *largest: as of residual. */
    enum hs_status (*advance)(struct hs_krylov_state *self, double length, double *largest,
                              struct hs_error *err);
    /* T += by at all nodes: where the mean is. */
    enum hs_status (*add)(struct hs_krylov_state *self, double by, struct hs_error *err);
    void (*destroy)(struct hs_krylov_state *self); /* accepts NULL */
};

struct hs_backend_state;
struct hs_equations; /* engine/multigrid/equations.h */
struct hs_problem;

/* What a backend offers besides, that does it on its device. */
struct hs_device_krylov {
    const struct hs_krylov *vectors;
    /* Bytes of the device's memory, beside the backend's, where every axis is coarsened, with so
     * many further vectors. */
    double (*bytes)(const struct hs_problem *problem, int further);
    /* The equations outlive it. HS_DEVICE where memory is short: then *out is NULL. */
    enum hs_status (*create)(struct hs_backend_state *state, const struct hs_equations *equations,
                             struct hs_krylov_state **out, struct hs_error *err);
    /* A vector from a field of the state, by number (core/vectors.h), and to it. */
    enum hs_status (*load)(struct hs_backend_state *state, struct hs_krylov_state *self, int vector,
                           int field, struct hs_error *err);
    enum hs_status (*store)(struct hs_backend_state *state, struct hs_krylov_state *self,
                            int vector, int field, struct hs_error *err);
    /* A vector of what a source that is an expression adds at time t, as a rate of change [K/s]:
     * right at free nodes. */
    enum hs_status (*source)(struct hs_backend_state *state, struct hs_krylov_state *self,
                             int vector, double t, struct hs_error *err);
};

#ifdef __cplusplus
}
#endif

#endif
