/* How far a field is from the exact solution. */
#ifndef HS_ENGINE_EXACT_H
#define HS_ENGINE_EXACT_H

#include "core/problem.h"

struct hs_exact_error {
    double max; /* largest |T - exact| over all nodes; NaN if any is */
    double l2;  /* root of the volume average of (T - exact)^2 */
};

/* `field`: dense [nz][ny][nx] in the problem's precision, at `time` [s]. The sums go row by row in
 * the same order whatever the number of threads. HS_DEVICE without memory. */
enum hs_status hs_exact_error(const struct hs_problem *problem, const void *field, double time,
                              struct hs_exact_error *out, struct hs_error *err);

#endif
