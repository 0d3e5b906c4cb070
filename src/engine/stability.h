/*
 * The stability limit of the stencil that is really used.
 *
 * The operator is a sum over the axes, each term acting along its own axis on a box of nodes, so
 * its eigenvalues are sums of the axes' eigenvalues. Along an axis these are von Neumann's symbol,
 * for modes away from the faces, and the eigenvalues of the axis's matrix with its two boundary
 * rules, for modes localised at a face (Robin and clamp included). Held nodes do not change, so
 * they drop out of the matrix; boundary data do not affect stability. The symbol is that of an
 * infinite grid, so on a tiny grid a step above the limit may be stable.
 *
 * Sources: von Neumann and Richtmyer 1950; Godunov and Ryabenkii 1963 for the modes at a face.
 */
#ifndef HS_ENGINE_STABILITY_H
#define HS_ENGINE_STABILITY_H

#include "core/backend.h"

/* Longest step [s] that is stable with the problem's stencil and boundaries for any number of
 * nodes: the largest dt for which |1 + dt*lambda| <= 1 for every such lambda. 0 if a mode grows
 * with any step. Not for raw stencils. For a body's network, a proven lower bound of it
 * (engine/network/network.h). */
double hs_stability_limit(const struct hs_problem *problem);

/* One sweep, with what a heat balance takes. Its step is time.step, which some methods allow to be
 * longer, but at most time.safety of the limit; for raw coefficients time.step as given. */
struct hs_span hs_stability_sweep(const struct hs_problem *problem);

/* Largest factor by which one sweep of a stencil amplifies any mode with the problem's faces:
 * stable if not above 1 (to rounding). */
double hs_amplification(const struct hs_problem *problem, const struct hs_stencil *stencil);

#endif
