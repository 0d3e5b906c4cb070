/*
 * Sources that are, along one axis, a factor and a term: value = plane * column + offset, with
 * `plane` free of that axis, and `column` and `offset` free of the other two. Three small tables
 * then make a whole field with two operations a point: a heat source that moves, mostly.
 *
 * hs_expression_separate finds that form where a program has it as it stands, so tables give the
 * program's own bits. hs_expression_rearrange makes it of programs that do not, by the rules of
 * arithmetic and by exp(a + b) = exp(a)*exp(b), which changes their last bits: it is done once,
 * when a config is read, so that all devices and kernels see the same program.
 */
#ifndef HS_FUNCTIONS_SEPARATION_H
#define HS_FUNCTIONS_SEPARATION_H

#include "core/grid.h"
#include "functions/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parts of the expression's code; a length of 0: column 1, offset -0 (which leaves even -0). */
struct hs_separation {
    int axis;
    struct hs_expression plane, column, offset;
};

/* Whether the expression, which varies along all `dims` axes, is such along one of them; the last
 * one that fits. */
bool hs_expression_separate(const struct hs_expression *expression, int dims,
                            struct hs_separation *out);

#ifdef __cplusplus
}
#endif

#endif
