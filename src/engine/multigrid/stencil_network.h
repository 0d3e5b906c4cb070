/* The network that does what a stencil of radius 1 does. */
#ifndef HS_ENGINE_MULTIGRID_STENCIL_NETWORK_H
#define HS_ENGINE_MULTIGRID_STENCIL_NETWORK_H

#include "core/problem.h"

/*
 * Capacities are shares of a cell, so conductances are in 1/s. A ghost a*inner + b*edge + c*data is
 * an edge to the node inside and a sink of what is left of it; the data are no part of the network:
 * see hs_stencil_network_inflow. Of a problem without a body, of radius 1, that is not raw.
 * HS_DEVICE when memory is short.
 */
enum hs_status hs_stencil_network_make(const struct hs_problem *problem, int threads,
                                       struct hs_network *out, struct hs_error *err);

/* What enters through the faces that node (i, j, k) lies on, at time t. */
double hs_stencil_network_inflow(const struct hs_problem *problem, double t,
                                 const int64_t node[HS_AXES]);

#endif
