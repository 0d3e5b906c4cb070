/*
 * Conjugate gradients for the steady equations, preconditioned by a V-cycle.
 *
 * Residuals and temperatures are in double; the cycle is in float, so it is symmetric but for
 * rounding. The next direction is made conjugate to the last one with that in mind (Polak and
 * Ribiere; Notay, SIAM J. Sci. Comput. 22 (2000)).
 *
 * Source: Saad, Iterative Methods for Sparse Linear Systems (2003), 9.2.
 */
#ifndef HS_ENGINE_MULTIGRID_CONJUGATE_GRADIENTS_H
#define HS_ENGINE_MULTIGRID_CONJUGATE_GRADIENTS_H

#include "core/method.h"
#include "engine/multigrid/equations.h"

/*
 * T: [nodes] the initial guess, then the steady state. It is reached where the largest residual, as
 * a rate of change and computed anew from T, is at most `tolerance` times that of the guess, or is
 * nothing but the rounding of its terms. On the way what CG itself minimises falls likewise. It
 * ends, too, where the residual falls no more. Where the mean is free, sum C T stays as it is.
 * HS_DEVICE when memory is short.
 */
enum hs_status hs_conjugate_gradients(const struct hs_equations *equations, double tolerance,
                                      double *T, struct hs_solution *out, struct hs_error *err);

#endif
