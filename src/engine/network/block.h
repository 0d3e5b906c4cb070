/*
 * A bound of the largest eigenvalue of C^-1 (L + g) from below, by the nodes around one.
 *
 * Where materials differ the eigenvector is large in a small place only, which power iteration of
 * all nodes takes long to find. Any vector's quotient is a bound; so is that of one that is 0 but
 * in a block, which costs next to nothing.
 */
#ifndef HS_ENGINE_NETWORK_BLOCK_H
#define HS_ENGINE_NETWORK_BLOCK_H

#include "core/network.h"

/* 1/s. `v` [nodes]: of free nodes positive, and 0 of others; iterations in the block
 * around `node` begin with it. */
double hs_network_block_bound(const struct hs_network *network, const float *v, int64_t node);

#endif
