/*
 * Values passed from block to block while a kernel runs, without a fence: packets of 16 bytes that
 * carry their own flag, as in NCCL's LL protocol.
 *
 * A sender writes each packet once for all readers, to a place of its own; exchanges use two places
 * in turn. The lowest bit of a packet tells successive uses of its place apart. The 32 lowest bits
 * that a warp's packets had before go into a header of 8 bytes, with the exchange's number. The
 * hardware reads and writes packets and headers in one piece (b128, b64), so a reader that sees the
 * bit and the number has all of it. Packets are read past L1, which other multiprocessors do not
 * write.
 *
 * A place is overwritten two exchanges later. By then the sender has received the exchange in
 * between from all its readers, which they sent after reading the place.
 *
 * Places are all zeros when made, which matches no exchange: exchanges are numbered from FIRST on,
 * and the numbers go on from launch to launch.
 */
#ifndef HS_KERNELS_CUDA_RESIDENT_PACKETS_CUH
#define HS_KERNELS_CUDA_RESIDENT_PACKETS_CUH

#include "common.cuh"

#include "plan.h"

#include <string.h>

namespace packets
{

enum {
    SETS = HS_RESIDENT_SETS,
    LANES = HS_WARP,
    ROW = (int)SETS * LANES /* both places of each packet of a warp, which lie together */
};
constexpr unsigned FIRST = 2; /* its packets' bit is 1 */

template <typename T>
using packet = star::vec<T>;

/* Header of the packets of a warp's 32 lanes. */
struct alignas(8) header {
    unsigned bits, number;
};
static_assert(sizeof(header) == HS_RESIDENT_HEADER);

__host__ __device__ constexpr unsigned set_of(unsigned number)
{
    return number % SETS;
}
/* From a place of a packet or header to the one of the next exchange. The `places` of an exchange
 * lie together, and begin at a multiple of twice their size. */
template <typename Piece>
__device__ __forceinline__ Piece *other_set(Piece *of, int places)
{
    return (Piece *)((uintptr_t)of ^ (uintptr_t)places * sizeof(Piece));
}
__host__ __device__ constexpr unsigned mark_of(unsigned number)
{
    return number / SETS % 2;
}

#ifdef __CUDACC__

template <typename T>
__device__ __forceinline__ void put_if(bool wanted, packet<T> *to, const packet<T> &l)
{
    unsigned long long w[2];
    memcpy(w, &l, sizeof l);
    asm volatile("{.reg .pred p;\n\t.reg .b128 l;\n\t"
                 "setp.ne.s32 p, %1, 0;\n\t"
                 "mov.b128 l, {%2, %3};\n\t"
                 "@p st.relaxed.gpu.global.b128 [%0], l;}" ::"l"(to),
                 "r"((int)wanted), "l"(w[0]), "l"(w[1])
                 : "memory");
}
template <typename T>
__device__ __forceinline__ void get(const packet<T> *from, packet<T> &l)
{
    unsigned long long w[2];
    asm volatile("{.reg .b128 l;\n\t"
                 "ld.relaxed.gpu.global.b128 l, [%2];\n\t"
                 "mov.b128 {%0, %1}, l;}"
                 : "=l"(w[0]), "=l"(w[1])
                 : "l"(from)
                 : "memory");
    memcpy(&l, w, sizeof l);
}
__device__ __forceinline__ void put_if(bool wanted, header *to, header s)
{
    unsigned long long w;
    memcpy(&w, &s, sizeof s);
    asm volatile("{.reg .pred p;\n\t"
                 "setp.ne.s32 p, %1, 0;\n\t"
                 "@p st.relaxed.gpu.global.b64 [%0], %2;}" ::"l"(to),
                 "r"((int)wanted), "l"(w)
                 : "memory");
}
__device__ __forceinline__ void get(const header *from, header &s)
{
    unsigned long long w;
    asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(w) : "l"(from) : "memory");
    memcpy(&s, &w, sizeof s);
}
/* Waits before a first look. */
__device__ __forceinline__ void wait(int clocks)
{
    if (clocks == 0)
        return;
    const int begin = (int)clock();
    while ((int)clock() - begin < clocks) {
    }
}
/* Called between two looks for missing packets, for the `looks`-th time. If that takes seconds,
 * they will never come: then the launch fails with an error rather than hang. */
__device__ __forceinline__ void wait_for_others(int looks)
{
    if (looks > 8000000)
        __trap();
}
/* Makes the compiler keep the value, which it would otherwise compute again and again. */
__device__ __forceinline__ void keep(int &value)
{
    asm volatile("" : "+r"(value));
}
__device__ __forceinline__ void keep(float &value)
{
    asm volatile("" : "+f"(value));
}
__device__ __forceinline__ void keep(double &value)
{
    asm volatile("" : "+d"(value));
}

#else /* the emulator of the tests */

template <typename Piece>
void put_if(bool wanted, Piece *to, const Piece &piece)
{
    emulator_check_alignment(to, sizeof piece);
    if (wanted)
        *to = piece;
}
template <typename Piece>
void get(const Piece *from, Piece &piece)
{
    emulator_check_alignment(from, sizeof piece);
    piece = *from;
}
inline void wait(int)
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

#endif

/* The lowest bit of a packet, which belongs to its first value. */
template <typename T>
__device__ __forceinline__ unsigned lowest(const packet<T> &l)
{
    unsigned word;
    memcpy(&word, &l, sizeof word);
    return word & 1u;
}
template <typename T>
__device__ __forceinline__ void set_lowest(packet<T> &l, unsigned bit)
{
    unsigned word;
    memcpy(&word, &l, sizeof word);
    word = (word & ~1u) | bit;
    memcpy(&l, &word, sizeof word);
}

/* Sends a packet from each lane in which it is `wanted`; all lanes of the warp call it. Returns the
 * bits for their header. */
template <typename T>
__device__ __forceinline__ unsigned send(bool wanted, packet<T> *to, packet<T> l, unsigned number)
{
    const unsigned bits = __ballot_sync(0xffffffffu, lowest(l));
    set_lowest(l, mark_of(number));
    put_if(wanted, to, l);
    return bits;
}

/* Not zero if the packet or its header does not belong to that exchange. */
template <typename T>
__device__ __forceinline__ unsigned is_missing(const packet<T> &l, header s, unsigned number)
{
    return (lowest(l) ^ mark_of(number)) | (s.number ^ number);
}

/* Restores the original packet; `lane` is the sender's. */
template <typename T>
__device__ __forceinline__ void open(packet<T> &l, header s, int lane)
{
    set_lowest(l, s.bits >> lane & 1u);
}

} // namespace packets

#endif
