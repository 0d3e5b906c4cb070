/* Nodes on which walls act by numbers that change along the wall and in time at once. */
#ifndef HS_ENGINE_NETWORK_MOVING_H
#define HS_ENGINE_NETWORK_MOVING_H

#include "engine/network/axes.h"

/* Sets the network's `inflow` and `given`. */
void hs_network_find_moving(const struct hs_network_spec *spec, const struct hs_axis *axis,
                            struct hs_network *out);

#endif
