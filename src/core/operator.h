/*
 * The operator: what one sweep does, as data that is made from the problem once for each step.
 *
 * A stencil: out = source + sum of c_i * in_i, the coefficients the same everywhere. Walls are no
 * part of it: faces hold layers, wrap, or fill ghosts (core/boundary.h).
 * Conduction: a network of nodes and edges (core/network.h), walls among its coefficients.
 */
#ifndef HS_CORE_OPERATOR_H
#define HS_CORE_OPERATOR_H

#include "core/network.h"
#include "core/stencil.h"

enum hs_operator_kind { HS_OPERATOR_STENCIL, HS_OPERATOR_CONDUCTION };

struct hs_operator {
    enum hs_operator_kind kind;
    struct hs_stencil stencil;             /* of a stencil */
    const struct hs_network_view *network; /* of conduction; NULL where no kernel is called */
};

#endif
