/* Conductance of the edge above a node. */
#ifndef HS_ENGINE_NETWORK_EDGES_H
#define HS_ENGINE_NETWORK_EDGES_H

#include "engine/network/octants.h"

/* W/K, for the node whose octants were found; 0 without an edge. Sets `empty` if part of the edge
 * has no substance. */
double hs_edge(struct hs_octants *octants, int axis, bool *empty);

#endif
