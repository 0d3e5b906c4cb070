/*
 * Keeps blocks of fused_radius2_3d that march along z in step, so that rows which tiles share are
 * still in the cache when the next tile reads them, and few pages of memory are in use at a time.
 *
 * EVERY steps are a turn. At each turn a block adds itself to the turn's count. It goes on when all
 * blocks have begun the turn DRIFT before the last one. As in bulk_march the count is read a turn
 * ahead, so that no block waits for the answer. Correctness does not depend on it: there may be
 * more blocks than run at the same time, and one that waits in vain goes on and soon stops waiting.
 *
 * One thread counts and looks. It is in a warp in the middle: a warp waits for those beside it, so
 * no warp can be more steps ahead than it is warps away. The code of this one thread has no branch:
 * where the compiler sees threads diverge it keeps nothing in uniform registers, and no others are
 * left.
 */
#ifndef HS_KERNELS_CUDA_FUSED_RADIUS2_3D_THROTTLE_CUH
#define HS_KERNELS_CUDA_FUSED_RADIUS2_3D_THROTTLE_CUH

#include "common.cuh"

#include "chunks.h"

#include "core/cuda_asynchronous.cuh"

namespace radius2
{

/* Blocks that go in step form a wave: as many as run at the same time; waves follow each other. */
struct waves {
    unsigned *counts; /* of all waves, in the kernel's scratch memory: zero before and after each
                       * launch; or nullptr: nobody waits */
    int blocks;       /* of a wave */
    int apart;        /* counts of a wave: how many blocks have ended; turns from AT_TURNS on */
};

template <int WARPS>
class throttle
{
    enum {
        EVERY = HS_RADIUS2_EVERY,
        DRIFT = 1,
        ASKS = WARPS / 2 * 32, /* number of the asking thread */
        AT_TURNS = 4,          /* counts are read four at a time */
        PATIENCE = 1000
    };

  public:
    /* In shared memory. */
    struct memory {
        struct alignas(16) {
            unsigned v[4];
        } seen[2];         /* counts, as read for one turn and the next */
        unsigned members;  /* blocks of the wave: all threads read it */
        unsigned *counted; /* of the block's wave, from its first turn on */
        unsigned patience; /* how often the block still looks again. Only the asking thread uses it,
                            * so it must not be next to what one load might read along with it */
    };

    /* One thread of the block calls it, before the block synchronises. */
    __device__ static void begin(memory &to, const waves &all)
    {
        const int wave = (int)blockIdx.x / all.blocks;
        to.members = (unsigned)min(all.blocks, (int)gridDim.x - wave * all.blocks);
        to.counted = all.counts + wave * all.apart + AT_TURNS;
        to.patience = PATIENCE;
    }

    /* Called before step n; returns the number of steps until it is to be called again. */
    __device__ __forceinline__ static int keep(memory &of, unsigned n, const waves &all)
    {
        if (n % EVERY == 0 && all.counts) {
            const unsigned turn = n / EVERY;
            if (turn > DRIFT)
                wait_for_others(of, turn, turn - 1 - DRIFT);
            count_and_ask(&of.counted[turn], &of.counted[turn < DRIFT ? 0 : (turn - DRIFT) & ~3u],
                          &of.seen[(turn + 1) % 2]);
        }
        return EVERY - (int)(n % EVERY);
    }

    /* Called after all `steps`; other blocks may have more. */
    __device__ __forceinline__ static void end(memory &of, unsigned steps, const waves &all)
    {
        if (threadIdx.x != ASKS || !all.counts)
            return;
        const unsigned turns = (unsigned)all.apart - AT_TURNS;
        for (unsigned turn = (steps + EVERY - 1) / EVERY; turn < turns; turn++)
            atomicAdd(&of.counted[turn], 1u);
        unsigned *const ended = of.counted - AT_TURNS;
        __threadfence();
        if (atomicAdd(ended, 1u) + 1 < of.members)
            return;
        for (unsigned turn = 0; turn < turns; turn++)
            of.counted[turn] = 0;
        *ended = 0;
    }

  private:
    __device__ __forceinline__ static void wait_for_others(memory &of, unsigned turn, unsigned due)
    {
        if (__any_sync(~0u, mine(&of.seen[turn % 2].v[due % 4]) < of.members)) {
#pragma unroll 1 /* only the asking thread's warp gets here; it is its first thread */
            for (unsigned left = __shfl_sync(~0u, mine(&of.patience), 0);
                 left > 0 && __any_sync(~0u, mine_of_all(&of.counted[due]) < of.members); left--)
                put_mine(&of.patience, left - 1);
        }
    }
    /* For the asking thread a number in shared memory, for all others the largest there is. */
    __device__ __forceinline__ static unsigned mine(const unsigned *in_shared)
    {
#ifdef __CUDA_ARCH__
        unsigned value;
        asm volatile("{\n"
                     ".reg .pred asks;\n"
                     "setp.eq.u32 asks, %1, %3;\n"
                     "mov.u32 %0, 0xffffffff;\n"
                     "@asks ld.shared.u32 %0, [%2];\n"
                     "}"
                     : "=r"(value)
                     : "r"(threadIdx.x), "r"(place(in_shared)), "n"((int)ASKS)
                     : "memory");
        return value;
#else
        return threadIdx.x == ASKS ? *in_shared : ~0u;
#endif
    }
    __device__ __forceinline__ static void put_mine(unsigned *in_shared, unsigned value)
    {
#ifdef __CUDA_ARCH__
        asm volatile("{\n"
                     ".reg .pred asks;\n"
                     "setp.eq.u32 asks, %0, %3;\n"
                     "@asks st.shared.u32 [%1], %2;\n"
                     "}" ::"r"(threadIdx.x),
                     "r"(place(in_shared)), "r"(value), "n"((int)ASKS)
                     : "memory");
#else
        if (threadIdx.x == ASKS)
            *in_shared = value;
#endif
    }
    /* The same for the current value of a count. */
    __device__ __forceinline__ static unsigned mine_of_all(const unsigned *count)
    {
#ifdef __CUDA_ARCH__
        unsigned value;
        asm volatile("{\n"
                     ".reg .pred asks;\n"
                     "setp.eq.u32 asks, %1, %3;\n"
                     "mov.u32 %0, 0xffffffff;\n"
                     "@asks ld.relaxed.gpu.global.u32 %0, [%2];\n"
                     "}"
                     : "=r"(value)
                     : "r"(threadIdx.x), "l"(count), "n"((int)ASKS)
                     : "memory");
        return value;
#else
        return threadIdx.x == ASKS ? *(const volatile unsigned *)count : ~0u;
#endif
    }
    /* The asking thread counts its block, and copies four counts along with its planes. */
    __device__ __forceinline__ static void count_and_ask(unsigned *counted, const unsigned *asked,
                                                         void *answer)
    {
#ifdef __CUDA_ARCH__
        asm volatile("{\n"
                     ".reg .pred asks;\n"
                     "setp.eq.u32 asks, %0, %4;\n"
                     "@asks red.relaxed.gpu.global.add.u32 [%1], 1;\n"
                     "@asks cp.async.cg.shared.global [%2], [%3], 16;\n"
                     "}" ::"r"(threadIdx.x),
                     "l"(counted), "r"(place(answer)), "l"(asked), "n"((int)ASKS)
                     : "memory");
#else
        if (threadIdx.x == ASKS) {
            atomicAdd(counted, 1u);
            __pipeline_memcpy_async(answer, asked, 16);
        }
#endif
    }
#ifdef __CUDA_ARCH__
    __device__ __forceinline__ static unsigned place(const void *in_shared)
    {
        return (unsigned)__cvta_generic_to_shared(in_shared);
    }
#endif
};

/* ---- host ---------------------------------------------------------------------------------- */

/* The waves of a launch whose blocks march `halo` more planes at either end than they store. */
inline waves make_waves(const hs_sweep *sweep, const hs_geometry &g, int multiprocessors, int halo)
{
    const int turns = (g.output_tile[HS_Z] + 1 + 2 * halo) / HS_RADIUS2_EVERY + 1;
    waves all = {nullptr, multiprocessors, 4 + (turns + 3) / 4 * 4};
    if (hs_divide_up(g.launched, multiprocessors) * all.apart <= HS_RADIUS2_COUNTS)
        all.counts = (unsigned *)sweep->scratch;
    return all;
}

} // namespace radius2

#endif
