/* Numbers of walls that change along them and in time at once (core/network.h). */
#ifndef HS_FUNCTIONS_MOVING_H
#define HS_FUNCTIONS_MOVING_H

#include "core/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The sum of what acts on each node at time t [s]: weights times values. out: [count]. No bit
 * depends on the threads. */
void hs_moving_at(const struct hs_moving *moving, const struct hs_grid *grid, double t, int threads,
                  double *out);

/* Puts it at those nodes of row (j, k) that one number acts on, as of prescribed ones. out: [nx].
 */
void hs_moving_put_row(const struct hs_moving *moving, const struct hs_grid *grid, double t,
                       int64_t j, int64_t k, double *out);

/* Places of the first node that is not before this one, and, of a grid of several rows, of the
 * first stretch that begins at such a place of the nodes or later. */
int64_t hs_moving_node_from(const struct hs_moving *moving, int64_t node);
int64_t hs_moving_stretch_from(const struct hs_moving *moving, int64_t first);

/* The stretch that a weight is of. */
const struct hs_moving_stretch *hs_moving_stretch_of(const struct hs_moving *moving,
                                                     int64_t weight);

/* Takes what a row, whose first node is `first`, has at these nodes. out: [count]. */
void hs_moving_take_row(const struct hs_moving *moving, int64_t first, int64_t nx,
                        const double *row, double *out);

#ifdef __cplusplus
}
#endif

#endif
