/* The network of a slab on its way to the rank that has it. */
#ifndef HS_ENGINE_RANKS_MPI_NETWORK_WIRE_H
#define HS_ENGINE_RANKS_MPI_NETWORK_WIRE_H

#include "core/problem.h"

/* What it points to of the whole problem comes to the same place in that of the other rank. */
void hs_network_send(int to, const struct hs_network *network, const struct hs_problem *whole);

/* Allocated, on a slab's grid. */
struct hs_network *hs_network_receive(int from, const struct hs_grid *grid,
                                      const struct hs_problem *whole);

#endif
