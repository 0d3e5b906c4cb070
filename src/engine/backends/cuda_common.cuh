/* What the parts of the CUDA backend share: memory, and the choice of a kernel by precision. */
#ifndef HS_ENGINE_BACKENDS_CUDA_COMMON_CUH
#define HS_ENGINE_BACKENDS_CUDA_COMMON_CUH

#include "core/cuda_call.h"
#include "core/grid.h"
#include "core/memory.h"

#include <cuda_runtime.h>
#include <stdint.h>

/* Zeros in host memory; for what is small beside a field (core/memory.h). */
template <typename T>
T *hs_cuda_new(int64_t count)
{
    return (T *)hs_new((size_t)count * sizeof(T));
}

/* Calls run with a 0 of the precision's type. */
template <typename Run>
auto hs_cuda_typed(hs_precision precision, Run run)
{
    return precision == HS_FLOAT ? run(0.0f) : run(0.0);
}

/* Copies bytes from or to the host; done when the call returns. */
hs_status hs_cuda_copy_now(const void *from, size_t bytes, void *to, cudaMemcpyKind kind,
                           cudaStream_t stream, hs_error *err);

/* Pieces of device memory that are released together; zero: none yet. */
struct hs_cuda_pool {
    void **piece; /* [count] */
    size_t count;
};

/* Takes a piece of so many bytes, 0 included: as it is; of zeros; or as a copy of host memory. If
 * that is not locked, the copy has read it when the call returns. *out is NULL after failure. */
hs_status hs_cuda_pool_take(hs_cuda_pool *pool, size_t bytes, void **out, hs_error *err);
hs_status hs_cuda_pool_zeros(hs_cuda_pool *pool, size_t bytes, void **out, cudaStream_t stream,
                             hs_error *err);
hs_status hs_cuda_pool_put(hs_cuda_pool *pool, const void *from, size_t bytes, void **out,
                           cudaStream_t stream, hs_error *err);
/* Frees a piece before the others; accepts NULL. */
void hs_cuda_pool_drop(hs_cuda_pool *pool, const void *piece);
/* Frees all; the pool may be used again. */
void hs_cuda_pool_release(hs_cuda_pool *pool);

/* The same for `count` values of a type. */
template <typename T>
hs_status hs_cuda_take(hs_cuda_pool *pool, int64_t count, T **out, hs_error *err)
{
    return hs_cuda_pool_take(pool, (size_t)count * sizeof(T), (void **)out, err);
}
template <typename T, typename OUT>
hs_status hs_cuda_put(hs_cuda_pool *pool, const T *from, int64_t count, OUT **out,
                      cudaStream_t stream, hs_error *err)
{
    return hs_cuda_pool_put(pool, from, (size_t)count * sizeof(T), (void **)out, stream, err);
}

#endif
