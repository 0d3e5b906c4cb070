/* How much a source or a flux gives in all, by nodes and by finer places. */
#ifndef HS_FUNCTIONS_INTEGRAL_H
#define HS_FUNCTIONS_INTEGRAL_H

#include "core/grid.h"
#include "functions/program.h"

/* The absolute value, integrated over the grid or a face (`face` >= 0) and summed over several
 * times from 0 to `end` [s]. `wraps`: the periodic axes. A node counts for half a cell on each
 * side. Only the ratio means something: axes along which the value is the same are left out. */
struct hs_integral {
    double nodes; /* each node by the value that it has */
    double fine;  /* by the values at two or four places for each node along each axis, along one up
                     to 64 */
};

/* False, and nothing is known, if that are more places than are looked at within half a second, or
 * if it is not finite. */
bool hs_integral_of(const struct hs_grid *grid, const bool wraps[HS_AXES], int face,
                    const struct hs_value *value, double end, struct hs_integral *out);

#endif
