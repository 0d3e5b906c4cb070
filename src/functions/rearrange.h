/* Programs brought into the form of functions/separation.h. */
#ifndef HS_FUNCTIONS_REARRANGE_H
#define HS_FUNCTIONS_REARRANGE_H

#include "core/grid.h"
#include "core/value.h"

/*
 * Makes an allocated program in that form from an expression that is not. False if the rules do not
 * lead to the form, or if a part could exceed 1e100 or be non-finite over the grid and times up to
 * 1e10 s: the form might then be non-finite where the expression is finite. The values agree with
 * the expression's to rounding: a few units in the last place, times the argument of an exp that
 * was split.
 */
bool hs_expression_rearrange(const struct hs_expression *expression, const struct hs_grid *grid,
                             struct hs_instruction **code, struct hs_expression *out);

#endif
