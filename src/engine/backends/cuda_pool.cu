#include "engine/backends/cuda_common.cuh"

#include <stdlib.h>

hs_status hs_cuda_copy_now(const void *from, size_t bytes, void *to, cudaMemcpyKind kind,
                           cudaStream_t stream, hs_error *err)
{
    HS_CUDA_TRY(err, cudaMemcpyAsync(to, from, bytes, kind, stream));
    HS_CUDA_TRY(err, cudaStreamSynchronize(stream));
    return HS_OK;
}

hs_status hs_cuda_pool_take(hs_cuda_pool *pool, size_t bytes, void **out, hs_error *err)
{
    *out = NULL;
    pool->piece = (void **)hs_reserve(pool->piece, pool->count, sizeof *pool->piece);
    if (cudaMalloc(out, bytes > 0 ? bytes : 1) != cudaSuccess) {
        cudaGetLastError(); /* so that no later call reports it */
        *out = NULL;
        return hs_error_add(err, HS_DEVICE,
                            "not enough device memory: %zu bytes more are not free; take fewer "
                            "grid.points, or solver.backend = \"cpu\"",
                            bytes);
    }
    pool->piece[pool->count++] = *out;
    return HS_OK;
}

hs_status hs_cuda_pool_zeros(hs_cuda_pool *pool, size_t bytes, void **out, cudaStream_t stream,
                             hs_error *err)
{
    HS_TRY(hs_cuda_pool_take(pool, bytes, out, err));
    HS_CUDA_TRY(err, cudaMemsetAsync(*out, 0, bytes, stream));
    return HS_OK;
}

hs_status hs_cuda_pool_put(hs_cuda_pool *pool, const void *from, size_t bytes, void **out,
                           cudaStream_t stream, hs_error *err)
{
    HS_TRY(hs_cuda_pool_take(pool, bytes, out, err));
    HS_CUDA_TRY(err, cudaMemcpyAsync(*out, from, bytes, cudaMemcpyHostToDevice, stream));
    return HS_OK;
}

void hs_cuda_pool_drop(hs_cuda_pool *pool, const void *piece)
{
    for (size_t n = 0; n < pool->count && piece; n++)
        if (pool->piece[n] == piece) {
            cudaFree(pool->piece[n]);
            pool->piece[n] = pool->piece[--pool->count];
            return;
        }
}

void hs_cuda_pool_release(hs_cuda_pool *pool)
{
    for (size_t n = 0; n < pool->count; n++)
        cudaFree(pool->piece[n]);
    free(pool->piece);
    *pool = {};
}
