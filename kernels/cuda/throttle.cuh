/*
 * Keeps blocks that march along z in step, so that their requests at any one time lie together in
 * device memory: a multiprocessor is served faster if the memory page is already open.
 *
 * The blocks count, step by step, how many of them have taken it. No block goes more than DRIFT
 * steps beyond the last step that all have taken. The count that a step needs is read a step
 * before, so that no block waits for the answer. Correctness does not depend on it: there may be
 * more blocks than run at the same time. A block that waits in vain goes on, and does not wait
 * again. What it is worth: docs/performance/one-sweep.md.
 */
#ifndef HS_KERNELS_CUDA_THROTTLE_CUH
#define HS_KERNELS_CUDA_THROTTLE_CUH

#include "common.cuh"

#include "bulk.h"

namespace throttle
{

/* Lies in the kernel's scratch memory: zero before and after each launch. */
struct progress {
    unsigned ended;                         /* blocks */
    unsigned asked[HS_BULK_COUNTED_PLANES]; /* blocks that have taken their n-th step */
};
static_assert(sizeof(progress) == HS_BULK_SCRATCH);

/* One per block, called by one thread. A step is EVERY planes. */
template <int EVERY, int DRIFT>
class limiter
{
    enum { PATIENCE = 40 };
    progress *const all;
    bool keeping;
    unsigned seen; /* blocks counted at the step to wait for next, read a step ago */

    __device__ __forceinline__ unsigned look(int step) const
    {
        return *(const volatile unsigned *)&all->asked[step];
    }

  public:
    __device__ __forceinline__ explicit limiter(progress *of_all)
        : all(of_all), keeping(of_all), seen(0)
    {
    }

    /* Announces that the block requests its n-th plane, after waiting for the others. */
    __device__ __forceinline__ void ask(int n)
    {
        const int step = n / EVERY;
        if (!all || step * EVERY != n || step >= HS_BULK_COUNTED_PLANES)
            return;
        atomicAdd(&all->asked[step], 1u);
        if (!keeping)
            return;
        if (step >= DRIFT)
            for (int asked = 0; seen < gridDim.x; asked++) {
                if (asked == PATIENCE) {
                    keeping = false;
                    return;
                }
                seen = look(step - DRIFT);
            }
        if (step + 1 >= DRIFT) /* the answer is there when the next step needs it */
            seen = look(step + 1 - DRIFT);
    }

    /* The block is done after `n` planes; other blocks may have up to `most`. */
    __device__ __forceinline__ void end(int n, int most)
    {
        if (!all)
            return;
        const int steps = min((most + EVERY - 1) / EVERY, (int)HS_BULK_COUNTED_PLANES);
        for (int step = (n + EVERY - 1) / EVERY; step < steps; step++)
            atomicAdd(&all->asked[step], 1u);
        __threadfence();
        if (atomicAdd(&all->ended, 1u) + 1 < gridDim.x)
            return;
        for (int step = 0; step < steps; step++)
            all->asked[step] = 0;
        all->ended = 0;
    }
};

} // namespace throttle

#endif
