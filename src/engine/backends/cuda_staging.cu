#include "engine/backends/cuda_staging.cuh"

#include "engine/backends/cuda_common.cuh"

#include <stdlib.h>

void hs_cuda_staging_release(hs_cuda_staging *staging)
{
    for (int h = 0; h < 2; h++) {
        if (staging->done[h])
            cudaEventDestroy(staging->done[h]);
        if (staging->locked)
            cudaFreeHost(staging->half[h]);
        else
            free(staging->half[h]);
    }
    *staging = {staging->layout, staging->precision, staging->stream};
}

hs_status hs_cuda_staging_reserve(hs_cuda_staging *staging, size_t bytes, hs_error *err)
{
    if (bytes <= staging->bytes)
        return HS_OK;
    for (int h = 0; h < 2 && staging->bytes > 0; h++)
        HS_CUDA_TRY(err, cudaEventSynchronize(staging->done[h]));
    hs_cuda_staging_release(staging);
    for (int h = 0; h < 2; h++)
        HS_CUDA_TRY(err, cudaEventCreateWithFlags(&staging->done[h],
                                                  cudaEventDisableTiming | cudaEventBlockingSync));
    staging->locked = true;
    if (cudaMallocHost(&staging->half[0], bytes) || cudaMallocHost(&staging->half[1], bytes)) {
        cudaGetLastError();
        cudaFreeHost(staging->half[0]);
        staging->half[1] = NULL;
        staging->locked = false;
        for (char *&half : staging->half)
            half = (char *)malloc(bytes);
    }
    if (!staging->half[0] || !staging->half[1])
        return hs_error_add(err, HS_DEVICE, "not enough memory for copies (%zu bytes)", 2 * bytes);
    staging->bytes = bytes;
    return HS_OK;
}

hs_status hs_cuda_staging_wait(const hs_cuda_staging *staging, int half, hs_error *err)
{
    HS_CUDA_TRY(err, cudaEventSynchronize(staging->done[half]));
    return HS_OK;
}

hs_status hs_cuda_staging_space(hs_cuda_staging *staging, size_t bytes, void **space, hs_error *err)
{
    HS_TRY(hs_cuda_staging_reserve(staging, bytes, err));
    HS_TRY(hs_cuda_staging_wait(staging, staging->turn, err));
    *space = staging->half[staging->turn];
    return HS_OK;
}

hs_status hs_cuda_staging_send(hs_cuda_staging *staging, size_t bytes, void *to, hs_error *err)
{
    const int half = staging->turn;
    HS_CUDA_TRY(err, cudaMemcpyAsync(to, staging->half[half], bytes, cudaMemcpyHostToDevice,
                                     staging->stream));
    HS_CUDA_TRY(err, cudaEventRecord(staging->done[half], staging->stream));
    staging->turn ^= 1;
    return HS_OK;
}

hs_status hs_cuda_staging_finish(hs_cuda_staging *staging, hs_status so_far, hs_error *err)
{
    hs_status st = so_far;
    for (int h = 0; h < 2 && staging->bytes > 0 && !st; h++)
        st = hs_cuda_staging_wait(staging, h, err);
    hs_cuda_staging_release(staging);
    return st;
}
