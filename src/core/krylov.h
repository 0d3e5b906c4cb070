/*
 * What conjugate gradients ask of who holds their vectors: the host (engine/multigrid/), or a
 * backend in its device's memory.
 *
 * Vectors: T temperatures, r the residual inflow - A T, z = M r by the preconditioner, p the
 * direction, at first 0. A, M and the inflow are those of equations (engine/multigrid/equations.h),
 * of which the shift and the inflow may change from one solution to the next.
 */
#ifndef HS_CORE_KRYLOV_H
#define HS_CORE_KRYLOV_H

#include "core/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_krylov_state; /* each one's own */

struct hs_krylov {
    /* A solution begins, of the equations as they are now. T: [nodes] on the host, the guess, where
     * `end` leaves the solution. */
    enum hs_status (*begin)(struct hs_krylov_state *self, double *T, struct hs_error *err);
    enum hs_status (*end)(struct hs_krylov_state *self, struct hs_error *err);
    /* r anew from T. *largest: its largest rate of change |r|/C [K/s]; *rounding: what the
     * roundings of its terms may make of that. */
    enum hs_status (*residual)(struct hs_krylov_state *self, double *largest, double *rounding,
                               struct hs_error *err);
    /* z = M r; *with_r: z.r */
    enum hs_status (*precondition)(struct hs_krylov_state *self, double *with_r,
                                   struct hs_error *err);
    /* p = z + factor p; *curvature: p.A p */
    enum hs_status (*turn)(struct hs_krylov_state *self, double factor, double *curvature,
                           struct hs_error *err);
    /* T += length p, r -= length A p; *largest: as of residual. */
    enum hs_status (*advance)(struct hs_krylov_state *self, double length, double *largest,
                              struct hs_error *err);
    /* Sum of C T over the nodes that are free, and T += by at all nodes: where the mean is. */
    enum hs_status (*heat)(struct hs_krylov_state *self, double *out, struct hs_error *err);
    enum hs_status (*add)(struct hs_krylov_state *self, double by, struct hs_error *err);
    void (*destroy)(struct hs_krylov_state *self); /* accepts NULL */
};

struct hs_backend_state;
struct hs_equations; /* engine/multigrid/equations.h */
struct hs_problem;

/* What a backend offers besides, that does it on its device. */
struct hs_device_krylov {
    const struct hs_krylov *vectors;
    /* Bytes of the device's memory, beside the backend's, where every axis is coarsened. */
    double (*bytes)(const struct hs_problem *problem);
    /* The equations outlive it. HS_DEVICE where memory is short: then *out is NULL. */
    enum hs_status (*create)(struct hs_backend_state *state, const struct hs_equations *equations,
                             struct hs_krylov_state **out, struct hs_error *err);
    /* As those of the vectors, where T is the state's field. */
    enum hs_status (*begin)(struct hs_backend_state *state, struct hs_krylov_state *self,
                            struct hs_error *err);
    enum hs_status (*end)(struct hs_backend_state *state, struct hs_krylov_state *self,
                          struct hs_error *err);
};

#ifdef __cplusplus
}
#endif

#endif
