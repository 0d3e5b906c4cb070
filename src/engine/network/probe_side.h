/* Probes whose node counts on the other side of a contact, or of a layer, than their place. */
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

struct hs_probe_layer {
    int probe, axis;
    int substance; /* that resists most between the probe and its node */
    double share;  /* of what the materials on the line along the axis resist in all, in between */
};

/* The first probe of a body of shapes between which and its node, along some axis, the materials
 * resist much: a twentieth of their whole line, and five times their share of its length. False:
 * there is none. */
bool hs_probe_layer_find(const struct hs_problem *problem, struct hs_probe_layer *out);

#endif
