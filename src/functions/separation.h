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

#ifdef __cplusplus
}
#endif

#endif
