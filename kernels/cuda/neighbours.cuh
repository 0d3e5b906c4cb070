/*
 * How warps of a block meet that share rows with the warps next to them only: each waits for its
 * two neighbours, not for all.
 *
 * A warp has two barriers in shared memory, for odd and even steps, as a neighbour may be done with
 * a step that this warp has not begun. Every lane says for itself that it is done, to the warps
 * that its own rows are shared with: one that said it for all of its warp would do, but racecheck
 * then takes the rows of the others for unguarded (docs/design-notes.md).
 */
#ifndef HS_KERNELS_CUDA_NEIGHBOURS_CUH
#define HS_KERNELS_CUDA_NEIGHBOURS_CUH

#include "common.cuh"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of its own */
#include <cuda_awbarrier_primitives.h>
#pragma GCC diagnostic pop

/* WARPS of them, one above the other; LANES lanes share a row, all or half of a warp. */
template <int WARPS, int LANES>
struct neighbours {
    using barriers = __mbarrier_t[2][WARPS]; /* in shared memory */
    enum { TELLS = 2 * LANES / 32 };         /* warps that a lane shares rows with */

    barriers &arrived;
    unsigned steps;  /* that this warp is done with */
    int told[TELLS]; /* the warps whose barriers this lane tells of every step, or -1 */

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
    /* This warp is done with a step. */
    __device__ __forceinline__ void arrive()
    {
        __syncwarp(); /* its groups of lanes share rows as well */
#pragma unroll
        for (int n = 0; n < TELLS; n++)
            if (told[n] >= 0)
                __mbarrier_arrive(&arrived[steps % 2][told[n]]);
        steps++;
    }
    /* Until the neighbours have arrived as often as this warp has. */
    __device__ __forceinline__ void wait()
    {
        const unsigned last = steps - 1;
        __mbarrier_t *const barrier = &arrived[last % 2][threadIdx.x / 32];
        while (!__all_sync(0xffffffffu, __mbarrier_try_wait_parity(barrier, last / 2 % 2, 2000)))
            ;
    }
};

#endif
