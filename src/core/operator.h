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

struct hs_operator {
    struct hs_stencil stencil;             /* stencil only */
    const struct hs_network_view *network; /* conduction only; set where a kernel is called */
};

#endif
