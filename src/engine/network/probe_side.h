/* Probes whose node counts on the other side of a contact than their place. */
#ifndef HS_ENGINE_NETWORK_PROBE_SIDE_H
#define HS_ENGINE_NETWORK_PROBE_SIDE_H

#include "core/problem.h"

struct hs_probe_side {
    int probe;
    int node, place; /* substances: on whose side the node is; and the other one, at the place */
    bool between;    /* the place touches both */
};

/* The first such probe of a body of shapes. False: there is none. */
bool hs_probe_side_find(const struct hs_problem *problem, struct hs_probe_side *out);

#endif
