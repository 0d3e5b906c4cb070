/* What the CPU kernels share: reading a field of either precision, and forcing inlining. */
#ifndef HS_KERNELS_CPU_COMMON_H
#define HS_KERNELS_CPU_COMMON_H

#include "core/kernel.h"

#if defined(__GNUC__)
#define HS_INLINE static inline __attribute__((always_inline))
#else
#define HS_INLINE static inline
#endif

enum {
    HS_ALL_DIMS = 1u << 1 | 1u << 2 | 1u << 3,
    HS_ALL_RADII = 1u << 1 | 1u << 2 | 1u << 3,
    HS_ALL_PRECISIONS = 1u << HS_FLOAT | 1u << HS_DOUBLE
};

HS_INLINE double hs_read(enum hs_precision precision, const void *field, int64_t element)
{
    return precision == HS_FLOAT ? (double)((const float *)field)[element]
                                 : ((const double *)field)[element];
}

HS_INLINE void hs_write(enum hs_precision precision, void *field, int64_t element, double value)
{
    if (precision == HS_FLOAT)
        ((float *)field)[element] = (float)value;
    else
        ((double *)field)[element] = value;
}

#endif
