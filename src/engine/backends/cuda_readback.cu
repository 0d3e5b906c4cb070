/* The field at one moment, copied on the device and read from there while sweeps go on. */
#include "engine/backends/cuda_parts.cuh"

#include <string.h>

namespace
{

hs_status allocate(hs_readback *readback, hs_error *err)
{
    hs_cuda_staging *const staging = &readback->staging;
    const hs_status st =
        hs_cuda_spare((double)hs_cuda_field_bytes(staging->layout, staging->precision),
                      (void **)&readback->copy, err);
    readback->lacking = !readback->copy;
    if (st || readback->lacking)
        return st;
    HS_CUDA_TRY(err, cudaStreamCreateWithFlags(&staging->stream, cudaStreamNonBlocking));
    HS_CUDA_TRY(err, cudaEventCreateWithFlags(&readback->taken, cudaEventDisableTiming));
    return HS_OK;
}

bool same_box(const hs_box *a, const hs_box *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

size_t box_bytes(const hs_readback *readback, const hs_box *box)
{
    return (size_t)hs_box_count(box) * hs_precision_size(readback->staging.precision);
}

/* Makes the halves large enough for both boxes. */
hs_status reserve(hs_readback *readback, const hs_box *box, const hs_box *next, hs_error *err)
{
    const size_t first = box_bytes(readback, box), second = next ? box_bytes(readback, next) : 0;
    const size_t bytes = first > second ? first : second;
    if (bytes > readback->staging.bytes)
        readback->there[0] = readback->there[1] = false;
    return hs_cuda_staging_reserve(&readback->staging, bytes, err);
}

/* Asks for the box, unless it is there or on its way. */
hs_status fetch(hs_readback *readback, int half, const hs_box *box, hs_error *err)
{
    if (readback->there[half] && same_box(&readback->box[half], box))
        return HS_OK;
    const hs_cuda_staging *const staging = &readback->staging;
    char *const nodes =
        readback->copy + (size_t)staging->layout->origin * hs_precision_size(staging->precision);
    HS_TRY(hs_cuda_copy_begin(staging, box, staging->half[half], nodes, false, err));
    HS_CUDA_TRY(err, cudaEventRecord(staging->done[half], staging->stream));
    readback->box[half] = *box;
    readback->there[half] = true;
    return HS_OK;
}

} // namespace

hs_status hs_cuda_readback_begin(hs_readback *readback, int device, const hs_cuda_staging *sweeps,
                                 const char *field, hs_error *err)
{
    readback->device = device;
    readback->staging.layout = sweeps->layout;
    readback->staging.precision = sweeps->precision;
    readback->there[0] = readback->there[1] = false;
    if (!readback->copy && !readback->lacking)
        HS_TRY(allocate(readback, err));
    if (readback->lacking)
        return HS_OK;
    /* in the sweeps' stream: a copy on the device takes as long as a sweep or two */
    HS_CUDA_TRY(err, cudaMemcpyAsync(readback->copy, field,
                                     hs_cuda_field_bytes(sweeps->layout, sweeps->precision),
                                     cudaMemcpyDeviceToDevice, sweeps->stream));
    HS_CUDA_TRY(err, cudaEventRecord(readback->taken, sweeps->stream));
    HS_CUDA_TRY(err, cudaStreamWaitEvent(readback->staging.stream, readback->taken, 0));
    return HS_OK;
}

hs_status hs_cuda_readback_part(hs_readback *readback, const hs_box *box, const hs_box *next,
                                const void **values, hs_error *err)
{
    hs_cuda_staging *staging = &readback->staging;
    HS_CUDA_TRY(err, cudaSetDevice(readback->device));
    HS_TRY(reserve(readback, box, next, err));
    const int half = staging->turn;
    HS_TRY(fetch(readback, half, box, err));
    if (next)
        HS_TRY(fetch(readback, half ^ 1, next, err));
    HS_CUDA_TRY(err, cudaEventSynchronize(staging->done[half]));
    *values = staging->half[half];
    readback->there[half] = false;
    staging->turn ^= 1;
    return HS_OK;
}

void hs_cuda_readback_release(hs_readback *readback)
{
    hs_cuda_staging_release(&readback->staging);
    if (readback->taken)
        cudaEventDestroy(readback->taken);
    if (readback->staging.stream)
        cudaStreamDestroy(readback->staging.stream);
    cudaFree(readback->copy);
    *readback = {};
}
