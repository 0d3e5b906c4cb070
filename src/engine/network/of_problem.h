/* The network of a problem's body (core/network.h). */
#ifndef HS_ENGINE_NETWORK_OF_PROBLEM_H
#define HS_ENGINE_NETWORK_OF_PROBLEM_H

#include "core/problem.h"
#include "engine/network/network.h"

/* What the network is made from; points into the problem. */
struct hs_network_spec hs_network_problem_spec(const struct hs_problem *problem);

/* Makes the network, with its longest stable step, and finds the volume of each material; for a
 * body that a stencil computes, finds the volume only. On a rank other than the first there is no
 * network afterwards: it gets its slab's (engine/ranks/slab.h). `together`: all ranks call this,
 * and share the work if it can be shared; with short odd periodic axes the first does all of it. */
enum hs_status hs_network_of_problem(struct hs_problem *problem, bool together,
                                     struct hs_error *err);

#endif
