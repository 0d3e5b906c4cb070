/* Barriers in shared memory. Kernels poll them by __all_sync(), which lets other threads run. */
#ifndef HS_EMULATOR_CUDA_AWBARRIER_PRIMITIVES_H
#define HS_EMULATOR_CUDA_AWBARRIER_PRIMITIVES_H

#include "cuda_runtime.h"

struct alignas(8) __mbarrier_t {
    uint16_t expected, arrived, phase, known;
};

inline void __mbarrier_init(__mbarrier_t *barrier, uint32_t expected)
{
    *barrier = {(uint16_t)expected, 0, 0, 0xba5};
}
inline void __mbarrier_arrive(__mbarrier_t *barrier)
{
    emulator_expect(barrier->known == 0xba5, "a barrier that is not initialised");
    if (++barrier->arrived == barrier->expected)
        barrier->arrived = 0, barrier->phase++;
}
/* Whether the phase of that parity is over; it must be the current phase or the previous one. */
inline bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool parity, uint32_t)
{
    emulator_expect(barrier->known == 0xba5, "a barrier that is not initialised");
    return (barrier->phase & 1) != parity;
}

#endif
