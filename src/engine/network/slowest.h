/* The slowest mode of a body, which limits its search for a steady state. */
#ifndef HS_ENGINE_NETWORK_SLOWEST_H
#define HS_ENGINE_NETWORK_SLOWEST_H

#include "core/network.h"

struct hs_network_slowest {
    /* 1/s: the smallest eigenvalue of A = C^-1 (L + g) at the free nodes, to 1 %, without the
     * constant mode if nothing holds the mean. NaN if no node is free, if it would take more than
     * 1e9 node updates (some seconds of a core), or for lack of memory. */
    double rate;
    /* s: if no node changes by more than 1 K/s, none is farther than this [K] from the steady
     * state. NaN if nothing holds the mean, or as above. */
    double longest;
};

/*
 * Lanczos iteration on C^-1/2 (L + g) C^-1/2. It begins with temperatures of 1, or with asymmetric
 * ones where the constant is left out. Its smallest Ritz value falls to the eigenvalue, which lies
 * no farther below than the residual, and much less where the next one is not near. There is no
 * reorthogonalisation: that leads to copies of eigenvalues, but to none smaller. The same bits with
 * any number of threads.
 *
 * The same iteration solves A v = 1. A is an M-matrix, so A^-1 has no negative entry, and max v /
 * min (A v) bounds its row sums for any v for which A v is positive everywhere.
 *
 * Sources: Golub and Van Loan, Matrix Computations (2013), 10.1 and 10.3; Saad, Iterative Methods
 * for Sparse Linear Systems (2003), 6.7; Berman and Plemmons, Nonnegative Matrices (1994), ch. 6.
 */
struct hs_network_slowest hs_network_slowest(const struct hs_network *network, bool free_mean,
                                             int threads);

#endif
