/*
 * Synchronises the warps of a block if a warp shares rows only with the warps next to it: each
 * waits for its two neighbours, not for all.
 *
 * A warp has two barriers in shared memory, for odd and even steps, since a neighbour may finish a
 * step that this warp has not begun. Every lane arrives for itself at the barriers of the warps
 * that share its rows. One arrival for the whole warp would do, but racecheck then takes the rows
 * of the other lanes for unguarded (docs/design-notes.md).
 */
#ifndef HS_KERNELS_CUDA_NEIGHBOURS_CUH
#define HS_KERNELS_CUDA_NEIGHBOURS_CUH

#include "common.cuh"

#include "core/cuda_asynchronous.cuh"

/* WARPS warps, one above the other; LANES lanes, all or half of a warp, share a row. */
template <int WARPS, int LANES>
struct neighbours {
    using barriers = __mbarrier_t[2][WARPS]; /* in shared memory */
    enum { TELLS = 2 * LANES / 32 };         /* warps that a lane shares rows with */

    barriers &arrived;
    unsigned steps;  /* steps that this warp has finished */
    int told[TELLS]; /* the warps at whose barriers this lane arrives, or -1 */

    __device__ explicit neighbours(barriers &memory) : arrived(memory)
    {
    }
    /* All threads of the block call it. */
    __device__ void start()
    {
        steps = 0;
        const int warp = threadIdx.x / 32;
        const bool lower = threadIdx.x % 32 < 16;
#pragma unroll
        for (int n = 0; n < TELLS; n++) {
            const int to = (TELLS == 1 ? lower : n == 0) ? warp - 1 : warp + 1;
            told[n] = to >= 0 && to < WARPS ? to : -1;
        }
        if (threadIdx.x < 2 * WARPS) {
            const int of = threadIdx.x % WARPS, next_to_it = of % (WARPS - 1) == 0 ? 1 : 2;
            __mbarrier_init(&arrived[threadIdx.x / WARPS][of], LANES * next_to_it);
        }
        __syncthreads();
    }
    /* This warp has finished a step. */
    __device__ __forceinline__ void arrive()
    {
        __syncwarp(); /* its groups of lanes share rows as well */
#pragma unroll
        for (int n = 0; n < TELLS; n++)
            if (told[n] >= 0)
                __mbarrier_arrive(&arrived[steps % 2][told[n]]);
        steps++;
    }
    /* Waits until the neighbours have arrived as often as this warp. */
    __device__ __forceinline__ void wait()
    {
        const unsigned last = steps - 1;
        __mbarrier_t *const barrier = &arrived[last % 2][threadIdx.x / 32];
        while (!__all_sync(0xffffffffu, __mbarrier_try_wait_parity(barrier, last / 2 % 2, 2000)))
            ;
    }
};

#endif
