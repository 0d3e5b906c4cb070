/*
 * The operator: what one sweep does, as data that is made from the problem once for each step.
 *
 * A stencil is the only kind: out = source + sum of c_i * in_i, the coefficients the same
 * everywhere. Walls are no part of it: faces hold layers, wrap, or fill ghosts (core/boundary.h).
 */
#ifndef HS_CORE_OPERATOR_H
#define HS_CORE_OPERATOR_H

#include "core/stencil.h"

enum hs_operator_kind { HS_OPERATOR_STENCIL };

struct hs_operator {
    enum hs_operator_kind kind;
    struct hs_stencil stencil;
};

#endif
