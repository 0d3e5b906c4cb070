/*
 * Numbers on a device, for kernels and the engine: sixteen bytes of neighbouring points, and
 * operations that the compiler must not choose by itself.
 */
#ifndef HS_CORE_CUDA_NUMBERS_CUH
#define HS_CORE_CUDA_NUMBERS_CUH

#include <cuda_runtime.h>

namespace star
{

/* The most that one instruction loads or stores. */
template <typename T>
struct alignas(16) vec {
    enum {
        WIDTH = 16 / sizeof(T),
        LINE = 128 / sizeof(T) /* a row begins at a multiple of this many points */
    };
    T v[WIDTH];
};

/* a*b + c, rounded once. */
__device__ __forceinline__ float fused(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}
__device__ __forceinline__ double fused(double a, double b, double c)
{
    return __fma_rn(a, b, c);
}

/* The smaller and the larger; a NaN in `b` is never taken. In double by a comparison: the library's
 * functions would check both for NaN first. */
__device__ __forceinline__ float smaller(float a, float b)
{
    return fminf(a, b);
}
__device__ __forceinline__ double smaller(double a, double b)
{
    return b < a ? b : a;
}
__device__ __forceinline__ float larger(float a, float b)
{
    return fmaxf(a, b);
}
__device__ __forceinline__ double larger(double a, double b)
{
    return b > a ? b : a;
}

__device__ __forceinline__ float distance(float a, float b)
{
    return fabsf(a - b);
}
__device__ __forceinline__ double distance(double a, double b)
{
    return fabs(a - b);
}

} // namespace star

#endif
