/* Programs brought into the form of functions/separation.h. */
#ifndef HS_FUNCTIONS_REARRANGE_H
#define HS_FUNCTIONS_REARRANGE_H

#include "core/grid.h"
#include "core/value.h"

/*
 * Makes a program of that form, allocated, of an expression that is not; false where the rules do
 * not lead to one, or where one of its parts could be large (1e100) or not finite over the grid
 * and times up to 1e10 s, so that the form might be where the expression is not. Its values
 * are the expression's to rounding: a few units in the last place, times the argument of an exp
 * that was split.
 */
bool hs_expression_rearrange(const struct hs_expression *expression, const struct hs_grid *grid,
                             struct hs_instruction **code, struct hs_expression *out);

#endif
