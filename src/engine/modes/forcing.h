/*
 * The forcing: what a sweep of a stencil makes of a field of zeros, from the source, the walls'
 * data and the held nodes. Mostly each of these is one number, and then it is a sum of one vector
 * per axis.
 */
#ifndef HS_ENGINE_MODES_FORCING_H
#define HS_ENGINE_MODES_FORCING_H

#include "core/problem.h"

/* Where source and walls' data do not vary, and no wall keeps what the initial field had there. */
bool hs_forcing_is_sum(const struct hs_problem *problem);

/* That sum's vector, of the swept nodes along an axis, for a sweep of `step` [s] by this stencil.
 */
void hs_forcing_along(const struct hs_problem *problem, const struct hs_stencil *stencil,
                      double step, int axis, double *out);

#endif
