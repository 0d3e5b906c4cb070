/*
 * Values handed from block to block while a kernel runs, without a fence or a flag: a letter of 16
 * bytes is empty until its values are there, and the values themselves say that they are.
 *
 * Memory that is all zeros is empty. A value goes as its bits, some of them turned over, so that no
 * value is zero but one not-a-number, in whose place another goes. The hardware stores a value in
 * one piece, so who waits until no value of a letter is zero has them all. Who has read a letter
 * empties it again. Letters are read past the first cache, which other multiprocessors do not
 * write.
 *
 * A letter that was emptied may be written anew only after that. With sets of letters used in turn,
 * and each exchange's emptied in the next: who has fenced (fence()) after emptying those before
 * exchange n, and then sends n+1, tells so who receives n+1; who has received it, and has fenced
 * since, may write them. With a fence every F-th exchange 2F + 1 sets are enough.
 */
#ifndef HS_KERNELS_CUDA_MAILBOX_CUH
#define HS_KERNELS_CUDA_MAILBOX_CUH

#include "common.cuh"

#include <string.h>

namespace mailbox
{

template <typename T>
struct coding;

template <>
struct coding<float> {
    using word = unsigned;
    static constexpr word KEY = 0x7fa5c396u, OTHER = 0x7fffffffu; /* not-a-numbers */
};

template <>
struct coding<double> {
    using word = unsigned long long;
    static constexpr word KEY = 0x7ff5c396a5695a3cull, OTHER = 0x7fffffffffffffffull;
};

template <typename T>
struct alignas(16) letter {
    enum { WIDTH = 16 / sizeof(T) };
    typename coding<T>::word w[WIDTH];
};

#ifdef __CUDACC__

__device__ __forceinline__ void put(letter<float> *to, const letter<float> &l)
{
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(l.w[0]),
                 "r"(l.w[1]), "r"(l.w[2]), "r"(l.w[3])
                 : "memory");
}
__device__ __forceinline__ void put(letter<double> *to, const letter<double> &l)
{
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(l.w[0]), "l"(l.w[1])
                 : "memory");
}
__device__ __forceinline__ void get_if(bool wanted, const letter<float> *from, letter<float> &l)
{
    asm volatile("{.reg .pred p;\n\t"
                 "setp.ne.s32 p, %5, 0;\n\t"
                 "@p ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];}"
                 : "=r"(l.w[0]), "=r"(l.w[1]), "=r"(l.w[2]), "=r"(l.w[3])
                 : "l"(from), "r"((int)wanted)
                 : "memory");
}
__device__ __forceinline__ void get_if(bool wanted, const letter<double> *from, letter<double> &l)
{
    asm volatile("{.reg .pred p;\n\t"
                 "setp.ne.s32 p, %3, 0;\n\t"
                 "@p ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];}"
                 : "=l"(l.w[0]), "=l"(l.w[1])
                 : "l"(from), "r"((int)wanted)
                 : "memory");
}
template <typename T>
__device__ __forceinline__ void empty_if(bool wanted, letter<T> *at)
{
    asm volatile("{.reg .pred p;\n\t"
                 "setp.ne.s32 p, %1, 0;\n\t"
                 "@p st.relaxed.gpu.global.v2.u64 [%0], {%2, %2};}" ::"l"(at),
                 "r"((int)wanted), "l"(0ll)
                 : "memory");
}
/* What this thread and those that it met at a barrier have done before is seen by all who see what
 * it does after. */
__device__ __forceinline__ void fence()
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}
/* Between two looks at what has not come yet, the `looks`-th time. Seconds of it mean that it never
 * will: then the launch fails, and says so, rather than hang. */
__device__ __forceinline__ void wait_for_others(int looks)
{
    if (looks > 8000000)
        __trap();
}
/* Makes the compiler keep the value: it would fetch it from the arguments again and again. */
__device__ __forceinline__ void keep(float &value)
{
    asm volatile("" : "+f"(value));
}
__device__ __forceinline__ void keep(double &value)
{
    asm volatile("" : "+d"(value));
}
__device__ __forceinline__ unsigned bits(float value)
{
    return __float_as_uint(value);
}
__device__ __forceinline__ unsigned long long bits(double value)
{
    return (unsigned long long)__double_as_longlong(value);
}
__device__ __forceinline__ float number_of(unsigned bits)
{
    return __uint_as_float(bits);
}
__device__ __forceinline__ double number_of(unsigned long long bits)
{
    return __longlong_as_double((long long)bits);
}

#else /* the emulator of the tests */

template <typename T>
void put(letter<T> *to, const letter<T> &l)
{
    emulator_check_alignment(to, sizeof l);
    *to = l;
}
template <typename T>
void get_if(bool wanted, const letter<T> *from, letter<T> &l)
{
    emulator_check_alignment(from, sizeof *from);
    if (wanted)
        l = *from;
}
template <typename T>
void empty_if(bool wanted, letter<T> *at)
{
    if (wanted)
        *at = letter<T>{};
}
inline void fence()
{
}
inline void wait_for_others(int)
{
    emulator_yield();
}
template <typename T>
void keep(T &)
{
}
inline unsigned bits(float value)
{
    unsigned b;
    memcpy(&b, &value, sizeof b);
    return b;
}
inline unsigned long long bits(double value)
{
    unsigned long long b;
    memcpy(&b, &value, sizeof b);
    return b;
}
inline float number_of(unsigned b)
{
    float value;
    memcpy(&value, &b, sizeof value);
    return value;
}
inline double number_of(unsigned long long b)
{
    double value;
    memcpy(&value, &b, sizeof value);
    return value;
}

#endif

/* No value may be KEY: see speakable(). */
template <typename T>
__device__ __forceinline__ letter<T> sealed(const T (&v)[letter<T>::WIDTH])
{
    letter<T> l;
#pragma unroll
    for (int e = 0; e < letter<T>::WIDTH; e++)
        l.w[e] = bits(v[e]) ^ coding<T>::KEY;
    return l;
}
template <typename T>
__device__ __forceinline__ T speakable(T v)
{
    return bits(v) == coding<T>::KEY ? number_of(coding<T>::OTHER) : v;
}

template <typename T>
__device__ __forceinline__ bool has_come(const letter<T> &l)
{
    bool all = true;
#pragma unroll
    for (int e = 0; e < letter<T>::WIDTH; e++)
        all = all && l.w[e] != 0;
    return all;
}

template <typename T>
__device__ __forceinline__ void open(const letter<T> &l, T (&v)[letter<T>::WIDTH])
{
#pragma unroll
    for (int e = 0; e < letter<T>::WIDTH; e++)
        v[e] = number_of(l.w[e] ^ coding<T>::KEY);
}

} // namespace mailbox

#endif
