/* The network of a problem's body (core/network.h). */
#ifndef HS_ENGINE_NETWORK_OF_PROBLEM_H
#define HS_ENGINE_NETWORK_OF_PROBLEM_H

#include "core/problem.h"
#include "engine/network/network.h"

/* What it is made of; points into the problem. */
struct hs_network_spec hs_network_problem_spec(const struct hs_problem *problem);

/* Makes it, with its longest stable step; nothing to do for a stencil. */
enum hs_status hs_network_of_problem(struct hs_problem *problem, struct hs_error *err);

/* Of each of the body's materials [m^3, for each metre along axes that are not there]; `out` has
 * room for them. */
enum hs_status hs_network_problem_volumes(const struct hs_problem *problem, double *out,
                                          struct hs_error *err);

#endif
