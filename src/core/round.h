/* Division and rounding of counts, upwards; minimum and maximum. */
#ifndef HS_CORE_ROUND_H
#define HS_CORE_ROUND_H

#include <stdint.h>

/* count / by, rounded up; 0 if either is not positive. */
static inline int64_t hs_divide_up(int64_t count, int64_t by)
{
    return count > 0 && by > 0 ? (count + by - 1) / by : 0;
}

/* The least multiple of `multiple` (> 0) that is at least `count`; 0 for `count` < 1. */
static inline int64_t hs_round_up(int64_t count, int64_t multiple)
{
    return hs_divide_up(count, multiple) * multiple;
}

static inline int64_t hs_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t hs_larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
