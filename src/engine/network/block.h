/* A lower bound of the largest eigenvalue of a network, from the nodes around a given one. */
#ifndef HS_ENGINE_NETWORK_BLOCK_H
#define HS_ENGINE_NETWORK_BLOCK_H

#include "core/network.h"

/*
 * The Rayleigh quotient of A = C^-1 (L + g) with a vector that is 0 outside a block of 9 nodes
 * along each axis. Power iterations in the block begin with the vector v, which is positive at free
 * nodes and 0 at held ones, and need chequerboard signs to turn |A| into A. The bound is the best
 * quotient of a few iterations: the constant with which they begin decays slowly, but the
 * eigenvector of stiff nodes that stand out is localised near them.
 *
 * A block holds numbers of its nodes and those right below; several ranks may each supply some.
 */
enum { HS_BLOCK_NODES = 10 * 10 * 10 };
struct hs_block {
    int64_t at[HS_AXES][10]; /* places along each axis; -1: none. The first is only for its edges */
    int64_t n[HS_AXES];      /* how many, the first included */
    bool there[HS_AXES];     /* axes that the grid has */
    /* [n_z][n_y][n_x]: conductances along each axis, capacity, sink and v; 0 where not known */
    double number[HS_BLOCK_NODES][6];
};

/* The block around a node, with nothing known yet. */
void hs_block_init(struct hs_block *block, const struct hs_grid *grid, const bool wrap[HS_AXES],
                   int64_t node);

/* Adds what is known of the nodes first <= node < end. Arrays of the network and v begin with node
 * `origin`. */
void hs_block_add(struct hs_block *block, const struct hs_network *network, const float *v,
                  int64_t origin, int64_t first, int64_t end);

double hs_block_bound(const struct hs_block *block);

#endif
