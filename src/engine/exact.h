/* How far a field is from the problem's exact solution. */
#ifndef HS_ENGINE_EXACT_H
#define HS_ENGINE_EXACT_H

#include "core/problem.h"

/* Over all nodes; NaN where the field or the exact solution is. */
struct hs_error_norms {
    double max;             /* largest |T - exact| */
    double mean;            /* volume average of |T - exact| */
    double rms;             /* root of the volume average of (T - exact)^2 */
    int64_t worst[HS_AXES]; /* the first node where `max` is */
};

/* field: dense [nz][ny][nx] in the problem's precision, at time t [s]. HS_DEVICE if memory is
 * short. Needs problem->exact.present. */
enum hs_status hs_exact_norms(const struct hs_problem *problem, double t, const void *field,
                              struct hs_error_norms *out, struct hs_error *err);

#endif
