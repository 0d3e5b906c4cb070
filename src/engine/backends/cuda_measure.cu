/* For measuring: the device's clock, and fields that are not in the cache when they are swept. */
#include "engine/backends/cuda_parts.cuh"

#include <stdlib.h>

void hs_cuda_timer_release(hs_cuda_timer *timer)
{
    if (timer->begin)
        cudaEventDestroy(timer->begin);
    if (timer->end)
        cudaEventDestroy(timer->end);
    *timer = {};
}

hs_status hs_cuda_timer_start(hs_cuda_timer *timer, cudaStream_t stream, hs_error *err)
{
    if (!timer->begin)
        HS_CUDA_TRY(err, cudaEventCreate(&timer->begin));
    if (!timer->end)
        HS_CUDA_TRY(err, cudaEventCreate(&timer->end));
    HS_CUDA_TRY(err, cudaEventRecord(timer->begin, stream));
    return HS_OK;
}

hs_status hs_cuda_timer_stop(hs_cuda_timer *timer, cudaStream_t stream, hs_error *err)
{
    HS_CUDA_TRY(err, cudaEventRecord(timer->end, stream));
    return HS_OK;
}

hs_status hs_cuda_timer_read(const hs_cuda_timer *timer, double *seconds, hs_error *err)
{
    float milliseconds = 0.0f;
    HS_CUDA_TRY(err, cudaEventElapsedTime(&milliseconds, timer->begin, timer->end));
    *seconds = 1e-3 * (double)milliseconds;
    return HS_OK;
}

hs_status hs_cuda_rotation_init(hs_cuda_rotation *rotation, int pairs, char *const field[2],
                                int now, size_t bytes, cudaStream_t stream, hs_error *err)
{
    hs_cuda_rotation_release(rotation);
    if (pairs < 2)
        return HS_OK;
    rotation->pair = hs_cuda_new<hs_cuda_pair>(pairs);
    rotation->pairs = pairs;
    for (int p = 1; p < pairs; p++) {
        rotation->pair[p].now = now;
        for (int f = 0; f < 2; f++) {
            HS_CUDA_TRY(err, cudaMalloc(&rotation->pair[p].field[f], bytes));
            HS_CUDA_TRY(err, cudaMemcpyAsync(rotation->pair[p].field[f], field[f], bytes,
                                             cudaMemcpyDeviceToDevice, stream));
        }
    }
    HS_CUDA_TRY(err, cudaStreamSynchronize(stream));
    return HS_OK;
}

void hs_cuda_rotation_release(hs_cuda_rotation *rotation)
{
    for (int p = 0; p < rotation->pairs; p++)
        for (int f = 0; f < 2 && p != rotation->at; f++)
            cudaFree(rotation->pair[p].field[f]);
    free(rotation->pair);
    *rotation = {};
}

void hs_cuda_rotation_turn(hs_cuda_rotation *rotation, char *field[2], int *now)
{
    if (rotation->pairs < 2)
        return;
    rotation->pair[rotation->at] = {{field[0], field[1]}, *now};
    rotation->at = (rotation->at + 1) % rotation->pairs;
    const hs_cuda_pair next = rotation->pair[rotation->at];
    field[0] = next.field[0];
    field[1] = next.field[1];
    *now = next.now;
}
