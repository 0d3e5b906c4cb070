/* The emulator's last launch, held against the plan that `explain` prints. */
#ifndef HS_EMULATOR_LAUNCHED_H
#define HS_EMULATOR_LAUNCHED_H

#include "core/kernel.h"
#include "test.h"

void emulator_launched_c(int64_t *blocks, int threads[HS_AXES], int64_t *shared_bytes);

/* A call in two parts launches some of the blocks at a time. One of a recursion or with the fused
 * max-norm keeps more in shared memory than the plan's, if plain calls take as many sweeps too. */
static inline void hold_launch(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                               const char *what)
{
    const struct hs_geometry *due = &plan->launch;
    int64_t blocks, bytes;
    int threads[HS_AXES];
    emulator_launched_c(&blocks, threads, &bytes);
    if (sweep->part == HS_SWEEP_ALL && blocks != due->launched)
        fail_msg("%s: %lld blocks were launched, not %lld", what, (long long)blocks,
                 (long long)due->launched);
    for (int axis = 0; axis < HS_AXES; axis++)
        if (threads[axis] != due->threads[axis])
            fail_msg("%s: a block has %d threads along axis %d, not %d", what, threads[axis], axis,
                     due->threads[axis]);
    const bool plain = !plan->takes || plan->takes >> (sweep->steps - 1) & 1u;
    const bool more = ((sweep->recursion && plain) || sweep->change) && bytes > due->shared_bytes;
    if (bytes != due->shared_bytes && !more)
        fail_msg("%s: a block has %lld bytes of shared memory, not %lld", what, (long long)bytes,
                 (long long)due->shared_bytes);
}

#endif
