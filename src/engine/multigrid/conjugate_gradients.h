/*
 * Conjugate gradients for the equations of a network, preconditioned by a V-cycle.
 *
 * Residuals and temperatures are in double. The cycle is in float, so it is symmetric only up to
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

/* What successive solutions on one network share. */
struct hs_conjugate_gradients {
    const struct hs_equations *equations;
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    const struct hs_krylov *vectors; /* they hold T and the inflow (core/krylov.h) */
    struct hs_krylov_state *of;
    const struct hs_solve_watch *watch; /* NULL: none */
};

/* Bytes of the device's or else the host's memory that conjugate gradients with `further`
 * additional vectors take beside the backend's fields, where every axis is coarsened. */
double hs_conjugate_gradients_bytes(const struct hs_problem *problem,
                                    const struct hs_backend *backend, int further);

/* Uses the backend's vectors where it has them; `backend` NULL: the host's. HS_DEVICE when memory
 * is short; release in either case. The equations outlive it; their shift may change from one
 * solution to the next. */
enum hs_status hs_conjugate_gradients_init(struct hs_conjugate_gradients *gradients,
                                           const struct hs_equations *equations,
                                           const struct hs_backend *backend,
                                           struct hs_backend_state *state, struct hs_error *err);
void hs_conjugate_gradients_release(struct hs_conjugate_gradients *gradients);

/* Copies a vector from a field of the backend, given by number (core/vectors.h), or to it. */
enum hs_status hs_conjugate_gradients_load(struct hs_conjugate_gradients *gradients, int vector,
                                           int field, struct hs_error *err);
enum hs_status hs_conjugate_gradients_store(struct hs_conjugate_gradients *gradients, int vector,
                                            int field, struct hs_error *err);

/*
 * Solves for T, which holds the initial guess. The solution is reached when the largest residual,
 * as a rate of change computed anew from T, is at most `tolerance` times that of the guess or at
 * most `rate` [K/s], and the error in the norm of A, which CG minimises, has fallen likewise;
 * without a shift the error must also be at most `tolerance` times the norm of T's own differences,
 * or times the rounding of the guess, since the solution may be 0.
 * Nodes whose residual is within the rounding of its own terms do not count: at a thin film that
 * rounding may exceed all changes elsewhere. Iterations also end when the residual stops falling;
 * the solution is then reached if every residual above the limit is at most 100 roundings of its
 * terms. Where the matrix is singular, sum C T is conserved. HS_INTERRUPTED, without a message,
 * where the watch asks for it; HS_DEVICE when memory is short.
 */
enum hs_status hs_conjugate_gradients_solve(struct hs_conjugate_gradients *gradients,
                                            double tolerance, double rate, struct hs_solution *out,
                                            struct hs_error *err);

/* Adds to T, at all nodes alike, what makes sum C T equal to `heat`: where nothing fixes the mean,
 * any constant may be added. */
enum hs_status hs_conjugate_gradients_set_heat(const struct hs_conjugate_gradients *gradients,
                                               double heat, struct hs_error *err);

#ifdef __cplusplus
}
#endif

#endif
