/* What the CPU kernels share: the contract, forcing inlining, prefetches, periodic axes. */
#ifndef HS_KERNELS_CPU_COMMON_H
#define HS_KERNELS_CPU_COMMON_H

#include "core/kernel.h"

#if defined(__GNUC__)
#define HS_INLINE static inline __attribute__((always_inline))
#else
#define HS_INLINE static inline
#endif

/* Prefetches a line: into L2 if it is read much later, as L1 cannot hold so much; or into L1. */
HS_INLINE void prefetch_l2(const void *line)
{
#ifdef __GNUC__
    __builtin_prefetch(line, 0, 2);
#else
    (void)line;
#endif
}

HS_INLINE void prefetch_l1(const void *line)
{
#ifdef __GNUC__
    __builtin_prefetch(line, 0, 3);
#else
    (void)line;
#endif
}

/* Node i of a periodic axis, or of another one if i is inside it. */
HS_INLINE int64_t wrapped(int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i; /* a division takes as long as twenty additions */
    i %= n;
    return i < 0 ? i + n : i;
}

#endif
