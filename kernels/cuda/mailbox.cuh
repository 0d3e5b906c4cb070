/*
 * Values handed from block to block while a kernel runs: each goes with a tag in one store, so that
 * who reads the tag has the value, and no fence is needed.
 *
 * A packet is one 64-bit word for a float, {value, tag}, and two for a double, {half, tag} each.
 * The hardware stores and loads an aligned word as one. Words are read past the first cache, which
 * other multiprocessors do not write.
 */
#ifndef HS_KERNELS_CUDA_MAILBOX_CUH
#define HS_KERNELS_CUDA_MAILBOX_CUH

#include "common.cuh"

#include <string.h>

namespace mailbox
{

using word = unsigned long long;

struct alignas(16) pair {
    word a, b;
};

#ifdef __CUDACC__

__device__ __forceinline__ void put(word *to, word value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
__device__ __forceinline__ void put(pair *to, pair value)
{
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(value.a),
                 "l"(value.b)
                 : "memory");
}
__device__ __forceinline__ word get(const word *from)
{
    word value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}
__device__ __forceinline__ pair get(const pair *from)
{
    pair value;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(value.a), "=l"(value.b)
                 : "l"(from)
                 : "memory");
    return value;
}
/* Hides from the compiler what an integer is, so that it computes what follows from it here, and
 * not once for all to keep it in registers. */
__device__ __forceinline__ int afresh(int value)
{
    asm volatile("" : "+r"(value));
    return value;
}
__device__ __forceinline__ int lowest_bit(unsigned bits)
{
    return __ffs((int)bits) - 1;
}
/* Between two looks at what has not come yet, the `looks`-th time. Seconds of it mean that it never
 * will: then the launch fails, and says so, rather than hang. */
__device__ __forceinline__ void wait_for_others(int looks)
{
    if (looks > 8000000)
        __trap();
}
__device__ __forceinline__ unsigned bits(float value)
{
    return __float_as_uint(value);
}
__device__ __forceinline__ word bits(double value)
{
    return (word)__double_as_longlong(value);
}
__device__ __forceinline__ float number_of(unsigned bits)
{
    return __uint_as_float(bits);
}
__device__ __forceinline__ double number_of(word bits)
{
    return __longlong_as_double((long long)bits);
}

#else /* the emulator of the tests */

template <typename W>
void put(W *to, W value)
{
    emulator_check_alignment(to, sizeof value);
    *to = value;
}
template <typename W>
W get(const W *from)
{
    emulator_check_alignment(from, sizeof(W));
    return *from;
}
inline int afresh(int value)
{
    return value;
}
inline int lowest_bit(unsigned bits)
{
    return __builtin_ctz(bits);
}
inline void wait_for_others(int)
{
    emulator_yield();
}
inline unsigned bits(float value)
{
    unsigned b;
    memcpy(&b, &value, sizeof b);
    return b;
}
inline word bits(double value)
{
    word b;
    memcpy(&b, &value, sizeof b);
    return b;
}
inline float number_of(unsigned b)
{
    float value;
    memcpy(&value, &b, sizeof value);
    return value;
}
inline double number_of(word b)
{
    double value;
    memcpy(&value, &b, sizeof value);
    return value;
}

#endif

/* 32 bits of a value above the tag. */
__device__ __forceinline__ word sealed(unsigned half, unsigned tag)
{
    return (word)half << 32 | tag;
}

template <typename T>
struct packet;

template <>
struct packet<float> {
    word w;
    static __device__ __forceinline__ packet of(float value, unsigned tag)
    {
        return {sealed(bits(value), tag)};
    }
    static __device__ __forceinline__ packet from(const packet *at)
    {
        return {get(&at->w)};
    }
    __device__ __forceinline__ bool has(unsigned tag) const
    {
        return (unsigned)w == tag;
    }
    __device__ __forceinline__ float value() const
    {
        return number_of((unsigned)(w >> 32));
    }
};

template <>
struct alignas(16) packet<double> {
    word low, high;
    static __device__ __forceinline__ packet of(double value, unsigned tag)
    {
        return {sealed((unsigned)bits(value), tag), sealed((unsigned)(bits(value) >> 32), tag)};
    }
    static __device__ __forceinline__ packet from(const packet *at)
    {
        const pair both = get((const pair *)at);
        return {both.a, both.b};
    }
    __device__ __forceinline__ bool has(unsigned tag) const
    {
        return (unsigned)low == tag && (unsigned)high == tag;
    }
    __device__ __forceinline__ double value() const
    {
        return number_of((high & 0xffffffff00000000ull) | low >> 32);
    }
};

/* The packets of 16 bytes of values: 4 floats or 2 doubles, at a multiple of 32 bytes. */
template <typename T>
struct packets {
    pair first, second;
    static __device__ __forceinline__ packets from(const packet<T> *at)
    {
        return {get((const pair *)at), get((const pair *)at + 1)};
    }
    __device__ __forceinline__ bool has(unsigned tag) const
    {
        return (((unsigned)first.a ^ tag) | ((unsigned)first.b ^ tag) | ((unsigned)second.a ^ tag) |
                ((unsigned)second.b ^ tag)) == 0;
    }
    __device__ __forceinline__ void take(float (&v)[4]) const
    {
        v[0] = number_of((unsigned)(first.a >> 32));
        v[1] = number_of((unsigned)(first.b >> 32));
        v[2] = number_of((unsigned)(second.a >> 32));
        v[3] = number_of((unsigned)(second.b >> 32));
    }
    __device__ __forceinline__ void take(double (&v)[2]) const
    {
        v[0] = number_of((first.b & 0xffffffff00000000ull) | first.a >> 32);
        v[1] = number_of((second.b & 0xffffffff00000000ull) | second.a >> 32);
    }
};

__device__ __forceinline__ void put_values(packet<float> *to, const float (&v)[4], unsigned tag)
{
    put((pair *)to, pair{sealed(bits(v[0]), tag), sealed(bits(v[1]), tag)});
    put((pair *)to + 1, pair{sealed(bits(v[2]), tag), sealed(bits(v[3]), tag)});
}
__device__ __forceinline__ void put_values(packet<double> *to, const double (&v)[2], unsigned tag)
{
#pragma unroll
    for (int n = 0; n < 2; n++) {
        const packet<double> p = packet<double>::of(v[n], tag);
        put((pair *)to + n, pair{p.low, p.high});
    }
}

} // namespace mailbox

#endif
