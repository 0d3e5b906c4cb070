/* Wall values that change along the wall and in time at once (core/network.h). */
#ifndef HS_FUNCTIONS_MOVING_H
#define HS_FUNCTIONS_MOVING_H

#include "core/network.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For each node the sum of weights times values at time t [s]. out: [count]. The bits do not depend
 * on the threads. */
void hs_moving_at(const struct hs_moving *moving, const struct hs_grid *grid, double t, int threads,
                  double *out);

/* Writes that sum to the moving nodes of row (j, k), for prescribed values. out: [nx]. */
void hs_moving_put_row(const struct hs_moving *moving, const struct hs_grid *grid, double t,
                       int64_t j, int64_t k, double *out);

/* The index of the first moving node that is not before `node`; the index of the first stretch
 * whose `first` is at least `first`. */
int64_t hs_moving_node_from(const struct hs_moving *moving, int64_t node);
int64_t hs_moving_stretch_from(const struct hs_moving *moving, int64_t first);

/* The stretch to which the weight at this index belongs. */
const struct hs_moving_stretch *hs_moving_stretch_of(const struct hs_moving *moving,
                                                     int64_t weight);

/* Copies a row's values at the moving nodes to out: [count]. `first`: the row's first node. */
void hs_moving_take_row(const struct hs_moving *moving, int64_t first, int64_t nx,
                        const double *row, double *out);

#ifdef __cplusplus
}
#endif

#endif
