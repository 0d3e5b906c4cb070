/* A lower bound of the largest eigenvalue of a network, from the nodes around one. */
#ifndef HS_ENGINE_NETWORK_BLOCK_H
#define HS_ENGINE_NETWORK_BLOCK_H

#include "core/network.h"

/*
 * Of A = C^-1 (L + g), by the Rayleigh quotient of a vector that is 0 outside of a block of 9 nodes
 * along each axis: power iterations there begin with the vector v, which is positive at the nodes
 * that are not held and 0 at those that are, and need the signs of a chequerboard to make A of |A|.
 * The best of few of them, since the constant that they begin with is slow to go: where stiff
 * nodes stand out, their eigenvector is near them.
 *
 * A block is what its nodes, and those right below, are like; several ranks may know of some each.
 */
enum { HS_BLOCK_NODES = 10 * 10 * 10 };
struct hs_block {
    int64_t at[HS_AXES][10]; /* places along each axis; -1: none. The first is only for its edges */
    int64_t n[HS_AXES];      /* how many, with that one */
    bool there[HS_AXES];     /* axes that the grid has */
    /* [n_z][n_y][n_x]: conductances along each axis, capacity, sink and v; 0 where there is none */
    double number[HS_BLOCK_NODES][6];
};

/* That around a node, of which nothing is known. */
void hs_block_init(struct hs_block *block, const struct hs_grid *grid, const bool wrap[HS_AXES],
                   int64_t node);

/* Makes what lies among the nodes first <= node < end known. Arrays of the network and v begin with
 * node `origin`. */
void hs_block_add(struct hs_block *block, const struct hs_network *network, const float *v,
                  int64_t origin, int64_t first, int64_t end);

double hs_block_bound(const struct hs_block *block);

#endif
