/* How far a field is from the exact solution. */
#ifndef HS_ENGINE_EXACT_H
#define HS_ENGINE_EXACT_H

#include "engine/step_state.h"

struct hs_exact_error {
    double max; /* largest |T - exact| over all nodes; NaN if any is */
    double l2;  /* root of the volume average of (T - exact)^2 */
};

/* Compares the field of a stop, copying some MB at a time to the host. Rows are summed in the same
 * order for any number of threads. Errors: HS_DEVICE without memory, and those of reading the
 * field. */
enum hs_status hs_exact_error(const struct hs_step_state *step_state, struct hs_exact_error *out,
                              struct hs_error *err);

#endif
