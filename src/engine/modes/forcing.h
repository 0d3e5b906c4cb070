/*
 * The forcing: the result of a stencil's sweep over a field of zeros, from the source, the walls'
 * data and the held nodes. Usually each of these is one number, and the forcing is a sum of one
 * vector per axis.
 */
#ifndef HS_ENGINE_MODES_FORCING_H
#define HS_ENGINE_MODES_FORCING_H

#include "core/problem.h"

/* Whether it is one: source and walls' data do not vary, and no wall keeps the initial field. */
bool hs_forcing_is_sum(const struct hs_problem *problem);

/* That sum's vector for the swept nodes along an axis, for a sweep of `step` [s] with this
 * stencil. */
void hs_forcing_along(const struct hs_problem *problem, const struct hs_stencil *stencil,
                      double step, int axis, double *out);

#endif
