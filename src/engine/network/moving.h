/* Where walls act by numbers that change along them and in time at once. */
#ifndef HS_ENGINE_NETWORK_MOVING_H
#define HS_ENGINE_NETWORK_MOVING_H

#include "engine/network/axes.h"

/* Sets what the network has of them: inflow and given. */
void hs_network_find_moving(const struct hs_network_spec *spec, const struct hs_axis *axis,
                            struct hs_network *out);

#endif
