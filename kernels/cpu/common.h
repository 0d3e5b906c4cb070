/* What the CPU kernels share: the contract, and forcing inlining. */
#ifndef HS_KERNELS_CPU_COMMON_H
#define HS_KERNELS_CPU_COMMON_H

#include "core/kernel.h"

#if defined(__GNUC__)
#define HS_INLINE static inline __attribute__((always_inline))
#else
#define HS_INLINE static inline
#endif

#endif
