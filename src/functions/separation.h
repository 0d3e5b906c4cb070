/*
 * Sources that separate along one axis: value = plane * column + offset, with `plane` free of that
 * axis and `column` and `offset` free of the other two. Three small tables then give a whole field
 * with two operations per point. Most are moving heat sources.
 *
 * hs_expression_separate finds the form in a program that has it already, so tables give the
 * program's own bits. hs_expression_rearrange brings other programs into it, by the rules of
 * arithmetic and by exp(a + b) = exp(a)*exp(b), which changes their last bits. It is called once,
 * when a config is read, so that all devices and kernels use the same program.
 */
#ifndef HS_FUNCTIONS_SEPARATION_H
#define HS_FUNCTIONS_SEPARATION_H

#include "core/grid.h"
#include "functions/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parts of the expression's code. Length 0 stands for a column of 1 and an offset of -0 (adding it
 * preserves even -0). */
struct hs_separation {
    int axis;
    struct hs_expression plane, column, offset;
};

/* Whether the expression depends on all `dims` axes and separates along one, the last possible. */
bool hs_expression_separate(const struct hs_expression *expression, int dims,
                            struct hs_separation *out);

/*
 * Makes an allocated program in that form from an expression that is not. False if the rules do not
 * lead to the form, or if a part could exceed 1e100 or be non-finite over the grid and times up to
 * 1e10 s: the form might then be non-finite where the expression is finite. The values agree with
 * the expression's to rounding: a few units in the last place, times the argument of an exp that
 * was split.
 */
bool hs_expression_rearrange(const struct hs_expression *expression, const struct hs_grid *grid,
                             struct hs_instruction **code, struct hs_expression *out);

#ifdef __cplusplus
}
#endif

#endif
