/*
 * Blocks that march along z in step, so that what they ask for at one time lies together in device
 * memory: there a multiprocessor's request is served faster where the same page is open already.
 *
 * They count, plane by plane, how many of them have asked for it, and none asks for more than DRIFT
 * planes beyond what all have asked for. It is for speed only: the blocks may be more than run at
 * the same time; one that waits in vain goes on, and does not wait again.
 */
#ifndef HS_KERNELS_CUDA_LOCKSTEP_CUH
#define HS_KERNELS_CUDA_LOCKSTEP_CUH

#include "common.cuh"

#include "core/tiling.h"

namespace lockstep
{

/* In the kernel's own memory: zero before and after each launch. */
struct progress {
    unsigned ended;                         /* blocks */
    unsigned asked[HS_BULK_COUNTED_PLANES]; /* blocks that have asked for their n-th plane */
};

/* Of one block; one thread calls it. */
class pace
{
    enum { PATIENCE = 40, DRIFT = HS_BULK_DRIFT };
    progress *const all;
    bool keeping;

  public:
    __device__ __forceinline__ explicit pace(progress *of_all) : all(of_all), keeping(of_all)
    {
    }

    /* Says that the block asks for its n-th plane, after waiting for the others. */
    __device__ __forceinline__ void ask(int n)
    {
        if (!all || n >= HS_BULK_COUNTED_PLANES)
            return;
        atomicAdd(&all->asked[n], 1u);
        if (!keeping || n < DRIFT)
            return;
        const volatile unsigned *const before = &all->asked[n - DRIFT];
        for (int asked = 0; *before < gridDim.x; asked++)
            if (asked == PATIENCE) {
                keeping = false;
                return;
            }
    }

    /* The block's `n` planes are all; those of others may be up to `most`. */
    __device__ __forceinline__ void end(int n, int most)
    {
        if (!all)
            return;
        for (most = min(most, (int)HS_BULK_COUNTED_PLANES); n < most; n++)
            atomicAdd(&all->asked[n], 1u);
        __threadfence();
        if (atomicAdd(&all->ended, 1u) + 1 < gridDim.x)
            return;
        for (n = 0; n < most; n++)
            all->asked[n] = 0;
        all->ended = 0;
    }
};

} // namespace lockstep

#endif
