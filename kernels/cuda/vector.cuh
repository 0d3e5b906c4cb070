/*
 * How kernels load and store sixteen bytes of points (core/cuda_numbers.cuh).
 */
#ifndef HS_KERNELS_CUDA_VECTOR_CUH
#define HS_KERNELS_CUDA_VECTOR_CUH

#include "common.cuh"

#include "tiles.h"

namespace star
{

template <typename T>
using vector_type = std::conditional_t<sizeof(T) == 4, float4, double2>;

template <typename T>
__device__ __forceinline__ vec<T> taken(const vector_type<T> &v)
{
    if constexpr (vec<T>::WIDTH == 4)
        return {{v.x, v.y, v.z, v.w}};
    else
        return {{v.x, v.y}};
}

template <typename T>
__device__ __forceinline__ vec<T> load(const T *from)
{
    return taken<T>(__ldg(reinterpret_cast<const vector_type<T> *>(from)));
}

/* Loads values that no thread needs again, so that others stay in the caches longer. */
template <typename T>
__device__ __forceinline__ vec<T> load_once(const T *from)
{
    return taken<T>(__ldcs(reinterpret_cast<const vector_type<T> *>(from)));
}

/* Loads from a field that the kernel may write, if this thread writes each point after loading
 * it. */
template <typename T>
__device__ __forceinline__ vec<T> load_written(const T *from)
{
    return taken<T>(*reinterpret_cast<const vector_type<T> *>(from));
}

/* Those at a place in shared memory. */
template <typename T>
__device__ __forceinline__ vec<T> at(const T *shared)
{
    return *reinterpret_cast<const vec<T> *>(shared);
}

/* Stores, marked as not needed again. */
template <typename T>
__device__ __forceinline__ void store(T *to, const vec<T> &v)
{
    using V = vector_type<T>;
    if constexpr (vec<T>::WIDTH == 4)
        __stcs(reinterpret_cast<V *>(to), V{v.v[0], v.v[1], v.v[2], v.v[3]});
    else
        __stcs(reinterpret_cast<V *>(to), V{v.v[0], v.v[1]});
}

/* The same for some of the points, those with a bit in `points`. */
template <typename T>
__device__ __forceinline__ void store(T *field, int64_t at, const vec<T> &v, unsigned points)
{
    if (points == (1u << vec<T>::WIDTH) - 1u)
        store(field + at, v);
    else
#pragma unroll
        for (int e = 0; e < vec<T>::WIDTH; e++)
            if (points >> e & 1u)
                field[at + e] = v.v[e];
}

/* advanced() for the points of a vector, if any of them is needed. */
template <typename T>
__device__ __forceinline__ void advance(const request<T> &r, bool any, int64_t at, vec<T> &swept)
{
    if (!r.before || !any)
        return;
    const vec<T> before = load_written(r.before + at);
#pragma unroll
    for (int e = 0; e < vec<T>::WIDTH; e++)
        swept.v[e] = advanced(r, swept.v[e], before.v[e]);
}

} // namespace star

#endif
