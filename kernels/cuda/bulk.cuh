/*
 * TMA, the bulk asynchronous copies of GPUs of compute capability 9 and later: they move rows from
 * device memory into shared memory without registers; a barrier in shared memory counts them in.
 *
 * A phase of such a barrier is over when all threads that it was made for have arrived and all
 * bytes are there. One of the arriving threads states how many bytes the copies will bring.
 */
#ifndef HS_KERNELS_CUDA_BULK_CUH
#define HS_KERNELS_CUDA_BULK_CUH

#include "common.cuh"

#include "core/cuda_asynchronous.cuh"

namespace bulk
{

using barrier = __mbarrier_t;

/* How long L2 keeps what was copied. */
enum keep { USUAL, KEEP };

} // namespace bulk

#ifdef HS_EMULATOR_CUDA_RUNTIME_H
#include <emulator_bulk.h>
#else
/* Instructions that only GPUs of compute capability 9 and later have; others get none. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define BULK_ASM(...) asm volatile(__VA_ARGS__)
#else
#define BULK_ASM(...) (void)0
#endif

namespace bulk
{

/* An address in shared memory that the compiler keeps: otherwise it would compute it from a special
 * register at each use. */
using spot = unsigned;
__device__ __forceinline__ spot spot_of(const void *shared)
{
    spot kept;
    asm volatile("mov.u32 %0, %1;" : "=r"(kept) : "r"((unsigned)__cvta_generic_to_shared(shared)));
    return kept;
}
/* The value stored there. */
template <typename V>
__device__ __forceinline__ V &value(spot s)
{
    return *(V *)__cvta_shared_to_generic(s);
}
/* Whether the barrier's phase of this parity is over; waits a little before it returns false. */
__device__ __forceinline__ bool is_over(spot b, unsigned parity)
{
    unsigned over = 0;
    BULK_ASM("{.reg .pred p;\n\t"
             "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
             "selp.u32 %0, 1, 0, p;}"
             : "=r"(over)
             : "r"(b), "r"(parity)
             : "memory");
    return over != 0;
}
__device__ __forceinline__ bool is_over(barrier *b, unsigned parity)
{
    return is_over((unsigned)__cvta_generic_to_shared(b), parity);
}
/* True in one lane of the warp, always the same; all lanes call it. The compiler knows that it is
 * one lane, which it does not know from a lane number: there it puts a loop over lanes around each
 * TMA instruction, with the addresses in the lanes' registers. */
__device__ __forceinline__ bool is_leader()
{
    unsigned leads = 0;
    BULK_ASM("{.reg .pred p;\n\t"
             "elect.sync _|p, 0xffffffff;\n\t"
             "selp.u32 %0, 1, 0, p;}"
             : "=r"(leads));
    return leads != 0;
}
__device__ __forceinline__ uint64_t nanoseconds()
{
    uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
__device__ __forceinline__ void pause()
{
    __nanosleep(1000);
}

__device__ __forceinline__ unsigned address(const void *shared)
{
    return (unsigned)__cvta_generic_to_shared(shared);
}

/* Makes barriers that this thread has initialised visible to TMA. */
__device__ __forceinline__ void publish()
{
    BULK_ASM("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ uint64_t policy(keep how)
{
    uint64_t policy = 0;
    if (how == USUAL)
        BULK_ASM("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
    else
        BULK_ASM("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

/* Arrives, and makes the phase wait for `bytes` bytes. */
__device__ __forceinline__ void arrive_with(spot b, unsigned bytes)
{
    BULK_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes)
             : "memory");
}
__device__ __forceinline__ void arrive_with(barrier *b, unsigned bytes)
{
    arrive_with(address(b), bytes);
}

/* Orders this thread's copies after ordinary loads: what it knows to have been read is not
 * overwritten before. */
__device__ __forceinline__ void after_loads()
{
    BULK_ASM("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Copies `bytes` bytes, after the arrival that announces them. Addresses and size are multiples of
 * 16 bytes. This thread must have made `policy`. */
__device__ __forceinline__ void copy(void *to, const void *from, unsigned bytes, barrier *b,
                                     uint64_t policy)
{
    BULK_ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
             "[%0], [%1], %2, [%3], %4;" ::"r"(address(to)),
             "l"(from), "r"(bytes), "r"(address(b)), "l"(policy)
             : "memory");
}

__device__ __forceinline__ void copy(spot to, const void *from, unsigned bytes, spot b)
{
    BULK_ASM("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
             "[%0], [%1], %2, [%3];" ::"r"(to),
             "l"(from), "r"(bytes), "r"(b)
             : "memory");
}
__device__ __forceinline__ void copy(void *to, const void *from, unsigned bytes, barrier *b)
{
    copy(address(to), from, bytes, address(b));
}

/* Copies from shared memory to device memory. Call after_loads() first, so that TMA sees what was
 * written there. */
__device__ __forceinline__ void store(void *to, spot from, unsigned bytes)
{
    BULK_ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
             "r"(bytes)
             : "memory");
}
__device__ __forceinline__ void store(void *to, const void *from, unsigned bytes)
{
    store(to, address(from), bytes);
}

/* Closes the group of this thread's stores since the previous group. */
__device__ __forceinline__ void end_stores()
{
    BULK_ASM("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until all but this thread's last LEFT groups have read shared memory. */
template <int LEFT>
__device__ __forceinline__ void await_stores()
{
    BULK_ASM("cp.async.bulk.wait_group.read %0;" ::"n"(LEFT) : "memory");
}

} // namespace bulk
#endif

namespace bulk
{

/* As below, for a barrier at this address. A minute without an answer is a failure. The clock
 * decides since under a tool that checks every access an answer takes a million attempts. There a
 * waiter that does not pause may also keep others from arriving. */
__device__ __forceinline__ void wait(spot b, unsigned parity)
{
    enum { PATIENCE = 64 };
    uint64_t since = 0;
    for (unsigned refused = 0; !__all_sync(0xffffffffu, is_over(b, parity)); refused++) {
        if (refused < PATIENCE)
            continue;
        const uint64_t now = nanoseconds();
        since = refused == PATIENCE ? now : since;
        if (now - since > 60u * UINT64_C(1000000000))
            __trap();
        pause();
    }
}

/* Waits until the barrier's phase of this parity is over. All lanes of the warp call it. Seconds
 * without an answer are reported as a failure instead of waiting on. */
__device__ __forceinline__ void wait(barrier *b, unsigned parity)
{
    for (int refused = 0; !__all_sync(0xffffffffu, is_over(b, parity)); refused++)
        if (refused == 1 << 21)
            __trap();
}

} // namespace bulk

#endif
