/* The network that is equivalent to a stencil of radius 1. */
#ifndef HS_ENGINE_MULTIGRID_STENCIL_NETWORK_H
#define HS_ENGINE_MULTIGRID_STENCIL_NETWORK_H

#include "core/problem.h"

/*
 * Capacities are shares of a cell, so conductances are in 1/s. A ghost a*inner + b*edge + c*data
 * becomes an edge to the inner node and a sink for the remainder. The data are not part of the
 * network: see hs_stencil_network_inflow. For problems of radius 1 that have no body and are not
 * raw. HS_DEVICE when memory is short.
 */
enum hs_status hs_stencil_network_make(const struct hs_problem *problem, int threads,
                                       struct hs_network *out, struct hs_error *err);

/* The inflow through the faces that node (i, j, k) lies on, at time t. */
double hs_stencil_network_inflow(const struct hs_problem *problem, double t,
                                 const int64_t node[HS_AXES]);

#endif
