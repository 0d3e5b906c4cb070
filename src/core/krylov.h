/*
 * Vectors with a value for each node, and the operations on them that conjugate gradients need. The
 * vectors are held by the host (engine/multigrid/) or by a backend in its device's memory.
 *
 * They are in double and are identified by numbers: T the temperatures, the inflow, r the residual
 * inflow - A T, and further vectors on request. In addition there are z = M r with the
 * preconditioner M, and the search direction p, at first 0. A and M belong to the equations
 * (engine/multigrid/equations.h), whose shift may change from one solution to the next; the inflow
 * is initially that of the equations.
 */
#ifndef HS_CORE_KRYLOV_H
#define HS_CORE_KRYLOV_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    HS_KRYLOV_NONE,
    HS_KRYLOV_T,
    HS_KRYLOV_INFLOW,
    HS_KRYLOV_RESIDUAL,
    HS_KRYLOV_MORE /* the first further vector */
};

/* factor * C^power * (plus - minus); plus and minus are vector numbers, power is 0, 1 or -1, and C
 * is the heat capacity of a node. C^1 and C^-1 count as 0 at nodes that are not free. */
struct hs_krylov_term {
    double factor;
    int plus, minus; /* minus may be HS_KRYLOV_NONE */
    int power;
};

enum { HS_KRYLOV_TERMS = 3 }; /* most terms of a sum */

struct hs_krylov_sum {
    int count;
    struct hs_krylov_term term[HS_KRYLOV_TERMS];
};

/* A sum, with pointers to its vectors. */
struct hs_krylov_terms {
    int count;
    double factor[HS_KRYLOV_TERMS];
    const double *plus[HS_KRYLOV_TERMS], *minus[HS_KRYLOV_TERMS]; /* `minus` may be NULL */
    int power[HS_KRYLOV_TERMS];
};

/* vector: by number; NULL for HS_KRYLOV_NONE */
static inline struct hs_krylov_terms hs_krylov_terms_of(double *const *vector,
                                                        const struct hs_krylov_sum *sum)
{
    struct hs_krylov_terms out; /* terms beyond the count are not read */
    out.count = sum->count;
    for (int n = 0; n < sum->count; n++) {
        out.factor[n] = sum->term[n].factor;
        out.plus[n] = vector[sum->term[n].plus];
        out.minus[n] = vector[sum->term[n].minus];
        out.power[n] = sum->term[n].power;
    }
    return out;
}

/* A residual r as rates of change r/C [K/s], and the squares of fields in the norm of A [W K]. */
struct hs_krylov_rates {
    double largest;
    double told;  /* the largest of those above `slack` times the rounding of their terms, or 0 */
    double field; /* of T itself: half of G (difference of T)^2 over each free node's edges */
    double gross; /* the same without cancellation: the terms' sizes times |T| */
};

struct hs_krylov_state; /* each implementation's own */

struct hs_krylov {
    /* ---- vectors ---- */
    /* Provides `count` further vectors of zeros. HS_DEVICE if memory is short. */
    enum hs_status (*reserve)(struct hs_krylov_state *self, int count, struct hs_error *err);
    /* From the host. values: [nodes] */
    enum hs_status (*put)(struct hs_krylov_state *self, int vector, const double *values,
                          struct hs_error *err);
    /* Values of some nodes, by their numbers. node, values: [count] */
    enum hs_status (*put_some)(struct hs_krylov_state *self, int vector, int64_t count,
                               const int64_t *node, const double *values, struct hs_error *err);
    /* out = the sum; its terms may include out. */
    enum hs_status (*combine)(struct hs_krylov_state *self, int out,
                              const struct hs_krylov_sum *sum, struct hs_error *err);
    /* The largest |sum| over all nodes; `free`: over free nodes. */
    enum hs_status (*largest)(struct hs_krylov_state *self, const struct hs_krylov_sum *sum,
                              bool free, double *out, struct hs_error *err);
    /* The sum's total over all nodes. */
    enum hs_status (*total)(struct hs_krylov_state *self, const struct hs_krylov_sum *sum,
                            double *out, struct hs_error *err);
    /* Swaps the numbers of vectors a and b; neither may be the inflow or r. */
    void (*exchange)(struct hs_krylov_state *self, int a, int b);

    /* ---- conjugate gradients ---- */
    /* Begins a solution of the equations as they are now, with T as initial guess; after `end` T is
     * the solution. */
    enum hs_status (*begin)(struct hs_krylov_state *self, struct hs_error *err);
    enum hs_status (*end)(struct hs_krylov_state *self, struct hs_error *err);
    /* Recomputes r from T. */
    enum hs_status (*residual)(struct hs_krylov_state *self, double slack,
                               struct hs_krylov_rates *out, struct hs_error *err);
    /* z = M r; *with_r: z.r */
    enum hs_status (*precondition)(struct hs_krylov_state *self, double *with_r,
                                   struct hs_error *err);
    /* p = z + factor p; *curvature: p.A p */
    enum hs_status (*turn)(struct hs_krylov_state *self, double factor, double *curvature,
                           struct hs_error *err);
    /* T += length p, r -= length A p; *largest: the largest |r|/C. */
    enum hs_status (*advance)(struct hs_krylov_state *self, double length, double *largest,
                              struct hs_error *err);
    /* T += by at all nodes: shifts the mean. */
    enum hs_status (*add)(struct hs_krylov_state *self, double by, struct hs_error *err);
    void (*destroy)(struct hs_krylov_state *self); /* accepts NULL */
};

struct hs_backend_state;
struct hs_equations; /* engine/multigrid/equations.h */
struct hs_problem;

/* Offered by a backend that performs these operations on its device. */
struct hs_device_krylov {
    const struct hs_krylov *vectors;
    /* Bytes of device memory in addition to the backend's, with `further` vectors, if every axis is
     * coarsened. */
    double (*bytes)(const struct hs_problem *problem, int further);
    /* The equations must outlive it. HS_DEVICE if memory is short; *out is then NULL. */
    enum hs_status (*create)(struct hs_backend_state *state, const struct hs_equations *equations,
                             struct hs_krylov_state **out, struct hs_error *err);
    /* Copies a field of the state, by its number (core/vectors.h), to a vector, or a vector to a
     * field. */
    enum hs_status (*load)(struct hs_backend_state *state, struct hs_krylov_state *self, int vector,
                           int field, struct hs_error *err);
    enum hs_status (*store)(struct hs_backend_state *state, struct hs_krylov_state *self,
                            int vector, int field, struct hs_error *err);
    /* Sets a vector to the rate of change [K/s] due to the source at time t, if the source is an
     * expression; valid at free nodes only. */
    enum hs_status (*source)(struct hs_backend_state *state, struct hs_krylov_state *self,
                             int vector, double t, struct hs_error *err);
};

#endif
