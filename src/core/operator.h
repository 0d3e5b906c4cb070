/*
 * The operator: what one sweep does, as data that is made from the problem once per step length.
 *
 * Stencil: out = source + sum of c_i * in_i, with the same coefficients everywhere. Walls are not
 * part of it: faces hold layers, wrap, or fill ghosts (core/boundary.h).
 * Conduction: a network of nodes and edges (core/network.h), whose coefficients include the walls.
 */
#ifndef HS_CORE_OPERATOR_H
#define HS_CORE_OPERATOR_H

#include "core/network.h"
#include "core/stencil.h"

enum hs_operator_kind { HS_OPERATOR_STENCIL, HS_OPERATOR_CONDUCTION };

struct hs_operator {
    enum hs_operator_kind kind;
    struct hs_stencil stencil;             /* stencil only */
    const struct hs_network_view *network; /* conduction only; NULL if no kernel is called */
};

#endif
