/* Asynchronous copies: they stay pending until they are waited for. */
#ifndef HS_EMULATOR_CUDA_PIPELINE_H
#define HS_EMULATOR_CUDA_PIPELINE_H

#include "cuda_runtime.h"

inline void __pipeline_memcpy_async(void *to, const void *from, size_t size)
{
    emulator_check_alignment(to, size);
    emulator_check_alignment(from, size);
    emulator_copy(to, from, size);
}
inline void __pipeline_commit()
{
    emulator_end_copies();
}
inline void __pipeline_wait_prior(size_t groups)
{
    emulator_await_copies(groups);
}

#endif
