/* What the CPU kernels share: reading a field of either precision, and forcing inlining. */
#ifndef HS_KERNELS_CPU_COMMON_H
#define HS_KERNELS_CPU_COMMON_H

#include "core/kernel.h"

#if defined(__GNUC__)
#define HS_INLINE static inline __attribute__((always_inline))
#else
#define HS_INLINE static inline
#endif

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
