/* Sends the network of a slab to the rank that owns the slab. */
#ifndef HS_ENGINE_RANKS_MPI_NETWORK_WIRE_H
#define HS_ENGINE_RANKS_MPI_NETWORK_WIRE_H

#include "core/problem.h"

/* Pointers into the whole problem come to point to the same place in the other rank's. */
void hs_network_send(int to, const struct hs_network *network, const struct hs_problem *whole);

/* Allocated, with the slab's grid. */
struct hs_network *hs_network_receive(int from, const struct hs_grid *grid,
                                      const struct hs_problem *whole);

#endif
