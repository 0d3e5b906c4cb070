/*
 * The bulk copy engine of GPUs of compute capability 9 and later: rows from device memory into
 * shared memory without a thread's registers, counted in by a barrier in shared memory.
 *
 * One phase of such a barrier: the threads that it was made for arrive, one of them with the number
 * of bytes that copies are to bring; when all have, and the bytes are there, the phase is over.
 */
#ifndef HS_KERNELS_CUDA_BULK_CUH
#define HS_KERNELS_CUDA_BULK_CUH

#include "common.cuh"

#ifdef HS_EMULATOR_CUDA_RUNTIME_H
#include <map>
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of its own */
#include <cuda_awbarrier_primitives.h>
#pragma GCC diagnostic pop

namespace bulk
{

using barrier = __mbarrier_t;

/* Waits until the barrier's phase of this parity is over. All lanes of the warp call it. Seconds
 * without an answer are a failure that is said rather than waited out. */
__device__ __forceinline__ void wait(barrier *b, unsigned parity)
{
    for (int refused = 0;
         !__all_sync(0xffffffffu, __mbarrier_try_wait_parity(b, parity != 0, 2000)); refused++)
        if (refused == 1 << 21)
            __trap();
}

/* How long L2 keeps what was copied. */
enum keep { USUAL, KEEP };

#ifdef HS_EMULATOR_CUDA_RUNTIME_H

inline void publish()
{
}
inline uint64_t policy(keep)
{
    return 0;
}
/* What a phase still waits for: bytes, and arrivals that count when these are there. */
struct due {
    int64_t bytes;
    int arrivals;
};
inline std::map<barrier *, due> &missing()
{
    static std::map<barrier *, due> of;
    return of;
}
inline void after_loads()
{
}
inline void settle(barrier *b)
{
    for (due &d = missing()[b]; d.bytes == 0 && d.arrivals > 0; d.arrivals--)
        __mbarrier_arrive(b);
}
inline void arrive_with(barrier *b, unsigned bytes)
{
    due &d = missing()[b];
    d.bytes += bytes, d.arrivals++;
    settle(b);
}
inline void copy(void *to, const void *from, unsigned bytes, barrier *b, uint64_t)
{
    emulator_check_alignment(to, 16);
    emulator_check_alignment(from, 16);
    emulator_expect(bytes % 16 == 0, "a bulk copy of no multiple of 16 bytes");
    memcpy(to, from, bytes);
    missing()[b].bytes -= bytes;
    settle(b);
}

#else

__device__ __forceinline__ unsigned address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* Makes barriers that this thread has initialised known to the copy engine. */
__device__ __forceinline__ void publish()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ __forceinline__ uint64_t policy(keep how)
{
    uint64_t policy = 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    if (how == USUAL)
        asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    else
        asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
#endif
    return policy;
}

/* Arrives, and has the phase wait for that many bytes. */
__device__ __forceinline__ void arrive_with(barrier *b, unsigned bytes)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(b)),
                 "r"(bytes)
                 : "memory");
#endif
}

/* What this thread knows to have been read by ordinary loads is read before its next copies write
 * there. */
__device__ __forceinline__ void after_loads()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/* Both at multiples of 16 bytes, and as many; after the arrival with them. `policy` is of this
 * thread's making. */
__device__ __forceinline__ void copy(void *to, const void *from, unsigned bytes, barrier *b,
                                     uint64_t policy)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(address(to)),
                 "l"(from), "r"(bytes), "r"(address(b)), "l"(policy)
                 : "memory");
#endif
}

#endif

} // namespace bulk

#endif
