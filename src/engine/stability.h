/*
 * The stability limit of the stencil that is really used.
 *
 * The operator is a sum over the axes, each acting along its own, on a box of nodes; so its
 * eigenvalues are the sums of the axes' eigenvalues. Along an axis they are von Neumann's symbol,
 * for what happens away from the faces, and the eigenvalues of the axis's matrix with its two
 * boundary rules, for the modes that cling to a face (Robin and clamp included). Held nodes do not
 * change, so they drop out of the matrix; boundary data do not bear on stability. The symbol is
 * that of a grid without end, so that of a tiny grid more than the limit may be stable.
 *
 * Sources: von Neumann and Richtmyer 1950; Godunov and Ryabenkii 1963 for the modes at a face.
 */
#ifndef HS_ENGINE_STABILITY_H
#define HS_ENGINE_STABILITY_H

#include "core/problem.h"

/* Longest step [s] that is stable with the problem's stencil and boundaries whatever the number of
 * nodes: the largest dt for which |1 + dt*lambda| <= 1 for every such lambda. 0 if a mode grows
 * whatever the step. Not for raw stencils; of a body's network a proven bound of it
 * (engine/network/network.h). */
double hs_stability_limit(const struct hs_problem *problem);

/* Of one sweep [s]: time.step, which may be a method's that takes any, as far as it is stable; of
 * raw coefficients as it is. */
double hs_stability_step(const struct hs_problem *problem);

/* Largest factor by which one sweep of a stencil amplifies any mode under the problem's faces:
 * stable if not above 1 (to rounding). */
double hs_amplification(const struct hs_problem *problem, const struct hs_stencil *stencil);

#endif
