/* The field at one moment, copied on the device and read from there while sweeps go on. */
#include "engine/backends/cuda_parts.cuh"

#include <string.h>

namespace
{

size_t bytes_of(const hs_layout *layout, hs_precision precision)
{
    return (size_t)layout->elements * hs_precision_size(precision);
}

hs_status allocate(hs_readback *readback, hs_error *err)
{
    const size_t bytes = bytes_of(&readback->layout, readback->precision);
    size_t free_bytes = 0, all_bytes = 0;
    HS_CUDA_TRY(err, cudaMemGetInfo(&free_bytes, &all_bytes));
    readback->lacking = (double)free_bytes < (double)bytes + hs_cuda_left_free ||
                        cudaMalloc(&readback->copy, bytes) != cudaSuccess;
    if (readback->lacking) {
        cudaGetLastError(); /* so that no later call reports it */
        return HS_OK;
    }
    HS_CUDA_TRY(err, cudaStreamCreateWithFlags(&readback->stream, cudaStreamNonBlocking));
    HS_CUDA_TRY(err, cudaEventCreateWithFlags(&readback->taken, cudaEventDisableTiming));
    return HS_OK;
}

bool same_box(const hs_box *a, const hs_box *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

size_t box_bytes(const hs_readback *readback, const hs_box *box)
{
    return (size_t)hs_box_count(box) * hs_precision_size(readback->precision);
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
    char *nodes =
        readback->copy + (size_t)readback->layout.origin * hs_precision_size(readback->precision);
    const hs_status st =
        hs_cuda_copy_begin(&readback->layout, readback->precision, box,
                           readback->staging.half[half], nodes, false, readback->stream, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaEventRecord(readback->staging.done[half], readback->stream));
    readback->box[half] = *box;
    readback->there[half] = true;
    return HS_OK;
}

} // namespace

hs_status hs_cuda_readback_begin(hs_readback *readback, int device, const hs_layout *layout,
                                 hs_precision precision, const char *field, cudaStream_t sweeps,
                                 hs_error *err)
{
    readback->device = device;
    readback->layout = *layout;
    readback->precision = precision;
    readback->there[0] = readback->there[1] = false;
    if (!readback->copy && !readback->lacking) {
        const hs_status st = allocate(readback, err);
        if (st)
            return st;
    }
    if (readback->lacking)
        return HS_OK;
    /* in the sweeps' stream: a copy on the device takes as long as a sweep or two */
    HS_CUDA_TRY(err, cudaMemcpyAsync(readback->copy, field, bytes_of(layout, precision),
                                     cudaMemcpyDeviceToDevice, sweeps));
    HS_CUDA_TRY(err, cudaEventRecord(readback->taken, sweeps));
    HS_CUDA_TRY(err, cudaStreamWaitEvent(readback->stream, readback->taken, 0));
    return HS_OK;
}

hs_status hs_cuda_readback_part(hs_readback *readback, const hs_box *box, const hs_box *next,
                                const void **values, hs_error *err)
{
    hs_cuda_staging *staging = &readback->staging;
    HS_CUDA_TRY(err, cudaSetDevice(readback->device));
    hs_status st = reserve(readback, box, next, err);
    const int half = staging->turn;
    if (!st)
        st = fetch(readback, half, box, err);
    if (!st && next)
        st = fetch(readback, half ^ 1, next, err);
    if (st)
        return st;
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
    if (readback->stream)
        cudaStreamDestroy(readback->stream);
    cudaFree(readback->copy);
    *readback = {};
}
