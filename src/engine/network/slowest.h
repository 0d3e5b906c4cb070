/* The slowest mode of a body: what its search for a steady state waits for. */
#ifndef HS_ENGINE_NETWORK_SLOWEST_H
#define HS_ENGINE_NETWORK_SLOWEST_H

#include "core/network.h"

/*
 * 1/s: the smallest eigenvalue of C^-1 (L + g) at the nodes that are free, to 1 %; the constant is
 * left out where nothing holds the mean. NaN where no node is free, where that would take more than
 * 1e9 node updates (some seconds of a core), or for lack of memory. The same bits with any number
 * of threads.
 *
 * Lanczos iteration on C^-1/2 (L + g) C^-1/2, from a vector without symmetry. Its smallest Ritz
 * value comes down to the eigenvalue, which lies no farther below than the residual, and much less
 * where the next one is not near. Without reorthogonalisation: that makes copies, none smaller.
 *
 * Source: Golub and Van Loan, Matrix Computations (2013), 10.1 and 10.3.
 */
double hs_network_slowest(const struct hs_network *network, bool free_mean, int threads);

#endif
