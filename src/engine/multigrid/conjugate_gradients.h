/*
 * Conjugate gradients for the equations of a network, preconditioned by a V-cycle.
 *
 * Residuals and temperatures are in double; the cycle is in float, so it is symmetric but for
 * rounding.
 *
 * Source: Saad, Iterative Methods for Sparse Linear Systems (2003), 9.2.
 */
#ifndef HS_ENGINE_MULTIGRID_CONJUGATE_GRADIENTS_H
#define HS_ENGINE_MULTIGRID_CONJUGATE_GRADIENTS_H

#include "core/backend.h"
#include "core/krylov.h"
#include "core/method.h"
#include "engine/multigrid/equations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What solutions of equations of one network have in common. */
struct hs_conjugate_gradients {
    const struct hs_equations *equations;
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    const struct hs_krylov *vectors; /* where T and the inflow are (core/krylov.h) */
    struct hs_krylov_state *of;
    const struct hs_solve_watch *watch; /* NULL: none */
};

/* What they take beside the backend's fields with so many further vectors, of its device or the
 * host, where every axis is coarsened. */
double hs_conjugate_gradients_bytes(const struct hs_problem *problem,
                                    const struct hs_backend *backend, int further);

/* With the vectors of the backend, where it has some; `backend` NULL: of the host. HS_DEVICE when
 * memory is short; to be released either way. The equations outlive it; their shift may change from
 * one solution to the next. */
enum hs_status hs_conjugate_gradients_init(struct hs_conjugate_gradients *gradients,
                                           const struct hs_equations *equations,
                                           const struct hs_backend *backend,
                                           struct hs_backend_state *state, struct hs_error *err);
void hs_conjugate_gradients_release(struct hs_conjugate_gradients *gradients);

/* A vector from a field of the backend, by number (core/vectors.h), and to it. */
enum hs_status hs_conjugate_gradients_load(struct hs_conjugate_gradients *gradients, int vector,
                                           int field, struct hs_error *err);
enum hs_status hs_conjugate_gradients_store(struct hs_conjugate_gradients *gradients, int vector,
                                            int field, struct hs_error *err);

/* A vector of what the problem's source adds at time t, as a rate of change at free nodes [K/s]:
 * where the backend says that, as the first tells. */
bool hs_conjugate_gradients_have_source(const struct hs_conjugate_gradients *gradients);
enum hs_status hs_conjugate_gradients_source(struct hs_conjugate_gradients *gradients, int vector,
                                             double t, struct hs_error *err);

/*
 * T becomes the solution, from the guess that it is. It is reached where the largest residual, as a
 * rate of change and computed anew from T, is at most `tolerance` times that of the guess, or at
 * most `rate` [K/s], of the nodes where it is more than the rounding of its terms: each node has
 * its own, since that of a thin film may be larger than all that others do. On the way what CG
 * itself minimises falls likewise. It ends, too, where the residual falls no more, and is reached
 * there where no node's is more than 100 roundings of its terms. Where the matrix is singular, sum
 * C T stays as it is. HS_INTERRUPTED, without a message, where the watch asks for that; HS_DEVICE
 * when memory is short.
 */
enum hs_status hs_conjugate_gradients_solve(struct hs_conjugate_gradients *gradients,
                                            double tolerance, double rate, struct hs_solution *out,
                                            struct hs_error *err);

#ifdef __cplusplus
}
#endif

#endif
