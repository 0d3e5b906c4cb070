/*
 * Blocks that march along z in step, so that what they ask for at one time lies together in device
 * memory: there a multiprocessor's request is served faster where the same page is open already.
 *
 * They count, step by step, how many of them have taken it, and none goes more than DRIFT steps
 * beyond what all have taken. The count that a step needs is read a step before, so that
 * nobody waits for the answer; without that, and with a step of every plane, the counting itself
 * took 0.8 us a plane. It is for speed only: the blocks may be more than run at the same time; one
 * that waits in vain goes on, and does not wait again.
 */
#ifndef HS_KERNELS_CUDA_THROTTLE_CUH
#define HS_KERNELS_CUDA_THROTTLE_CUH

#include "common.cuh"

#include "bulk.h"

namespace throttle
{

/* In the kernel's own memory: zero before and after each launch. */
struct progress {
    unsigned ended;                         /* blocks */
    unsigned asked[HS_BULK_COUNTED_PLANES]; /* blocks that have taken their n-th step */
};
static_assert(sizeof(progress) == HS_BULK_SCRATCH);

/* Of one block; one thread calls it. A step is EVERY planes. */
template <int EVERY, int DRIFT>
class limiter
{
    enum { PATIENCE = 40 };
    progress *const all;
    bool keeping;
    unsigned seen; /* of the blocks that the next step waits for: read a step ago */

    __device__ __forceinline__ unsigned look(int step) const
    {
        return *(const volatile unsigned *)&all->asked[step];
    }

  public:
    __device__ __forceinline__ explicit limiter(progress *of_all)
        : all(of_all), keeping(of_all), seen(0)
    {
    }

    /* Says that the block asks for its n-th plane, after waiting for the others. */
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

    /* The block's `n` planes are all; those of others may be up to `most`. */
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
