/* The network of a problem's body (core/network.h). */
#ifndef HS_ENGINE_NETWORK_OF_PROBLEM_H
#define HS_ENGINE_NETWORK_OF_PROBLEM_H

#include "core/problem.h"
#include "engine/network/network.h"

/* What it is made of; points into the problem. */
struct hs_network_spec hs_network_problem_spec(const struct hs_problem *problem);

/* Makes it, with its longest stable step, and finds the volume of each material, also of a body
 * that a stencil does; else nothing to do for a stencil, nor on a rank that is not the first, which
 * gets its slab's (engine/ranks/slab.h). `together`: all ranks call it, to share the work where it
 * can be shared: of short periodic axes it is the first one's. */
enum hs_status hs_network_of_problem(struct hs_problem *problem, bool together,
                                     struct hs_error *err);

#endif
