/*
 * The exact stability limit of the stencil that is really used.
 *
 * The operator is a sum over the axes, so its spectrum is the sum of the axes' spectra. Along an
 * axis: von Neumann's symbol for what happens away from the faces, and the modes that cling to a
 * face from the axis's operator with its boundary rules (Robin and clamp included).
 */
#ifndef HS_ENGINE_STABILITY_H
#define HS_ENGINE_STABILITY_H

#include "core/problem.h"

/* Largest stable step [s] of the problem's stencil and boundaries; not for raw stencils. */
double hs_stability_limit(const struct hs_problem *problem);

/* Largest factor by which one sweep of a stencil amplifies any mode under the problem's faces:
 * stable if not above 1 (to rounding). */
double hs_amplification(const struct hs_problem *problem, const struct hs_stencil *stencil);

#endif
