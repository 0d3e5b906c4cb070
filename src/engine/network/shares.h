/* The substances in a control volume. */
#ifndef HS_ENGINE_NETWORK_SHARES_H
#define HS_ENGINE_NETWORK_SHARES_H

#include "engine/network/octants.h"

struct hs_share {
    int substance;
    double volume;    /* m^3 */
    double octant[8]; /* m^3, in each octant; only while shares are found */
};

struct hs_shares {
    int count;
    struct hs_share *share; /* in the order of substances */
    double volume;          /* m^3, of all */
};

void hs_shares_init(struct hs_shares *shares, const struct hs_body *body);
void hs_shares_release(struct hs_shares *shares);

/* For the node whose octants were found. Sets `empty` if part of it has no substance. */
void hs_shares_find(struct hs_shares *shares, struct hs_octants *octants, bool *empty);

#endif
