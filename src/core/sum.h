/*
 * Compensated sums of doubles: almost no rounding error, whatever the magnitudes of the terms.
 *
 * Source: Neumaier, Z. angew. Math. Mech. 54 (1974).
 */
#ifndef HS_CORE_SUM_H
#define HS_CORE_SUM_H

#include <math.h>

struct hs_sum {
    double sum, error; /* the sum is sum + error */
};

static inline void hs_sum_add(struct hs_sum *to, double value)
{
    const double total = to->sum + value;
    to->error +=
        fabs(to->sum) >= fabs(value) ? (to->sum - total) + value : (value - total) + to->sum;
    to->sum = total;
}

static inline void hs_sum_join(struct hs_sum *to, const struct hs_sum *part)
{
    hs_sum_add(to, part->sum);
    to->error += part->error;
}

static inline double hs_sum_value(const struct hs_sum *of)
{
    return of->sum + of->error;
}

#endif
