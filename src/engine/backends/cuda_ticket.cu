/* A field of one moment, copied on the device and read from there while sweeps go on. */
#include "engine/backends/cuda_parts.cuh"

#include <string.h>

namespace
{

size_t bytes_of(const hs_layout *layout, hs_precision precision)
{
    return (size_t)layout->elements * hs_precision_size(precision);
}

hs_status allocate(hs_ticket *ticket, hs_error *err)
{
    const size_t bytes = bytes_of(&ticket->layout, ticket->precision);
    size_t free_bytes = 0, all_bytes = 0;
    HS_CUDA_TRY(err, cudaMemGetInfo(&free_bytes, &all_bytes));
    ticket->lacking = (double)free_bytes < (double)bytes + hs_cuda_left_free ||
                      cudaMalloc(&ticket->copy, bytes) != cudaSuccess;
    if (ticket->lacking) {
        cudaGetLastError(); /* it is no failure of a later call */
        return HS_OK;
    }
    HS_CUDA_TRY(err, cudaStreamCreateWithFlags(&ticket->stream, cudaStreamNonBlocking));
    HS_CUDA_TRY(err, cudaEventCreateWithFlags(&ticket->taken, cudaEventDisableTiming));
    return HS_OK;
}

bool same_box(const hs_box *a, const hs_box *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

size_t box_bytes(const hs_ticket *ticket, const hs_box *box)
{
    return (size_t)hs_box_count(box) * hs_precision_size(ticket->precision);
}

/* Halves large enough for both boxes. */
hs_status reserve(hs_ticket *ticket, const hs_box *box, const hs_box *next, hs_error *err)
{
    const size_t first = box_bytes(ticket, box), second = next ? box_bytes(ticket, next) : 0;
    const size_t bytes = first > second ? first : second;
    if (bytes > ticket->staging.bytes)
        ticket->there[0] = ticket->there[1] = false;
    return hs_cuda_staging_reserve(&ticket->staging, bytes, err);
}

/* Asks for the box, unless it is there or on its way. */
hs_status fetch(hs_ticket *ticket, int half, const hs_box *box, hs_error *err)
{
    if (ticket->there[half] && same_box(&ticket->box[half], box))
        return HS_OK;
    char *nodes =
        ticket->copy + (size_t)ticket->layout.origin * hs_precision_size(ticket->precision);
    const hs_status st =
        hs_cuda_copy_begin(&ticket->layout, ticket->precision, box, ticket->staging.half[half],
                           nodes, false, ticket->stream, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaEventRecord(ticket->staging.done[half], ticket->stream));
    ticket->box[half] = *box;
    ticket->there[half] = true;
    return HS_OK;
}

} // namespace

hs_status hs_cuda_ticket_begin(hs_ticket *ticket, int device, const hs_layout *layout,
                               hs_precision precision, const char *field, cudaStream_t sweeps,
                               hs_error *err)
{
    ticket->device = device;
    ticket->layout = *layout;
    ticket->precision = precision;
    ticket->there[0] = ticket->there[1] = false;
    if (!ticket->copy && !ticket->lacking) {
        const hs_status st = allocate(ticket, err);
        if (st)
            return st;
    }
    if (ticket->lacking)
        return HS_OK;
    /* in the sweeps' own order: a copy on the device takes as long as a sweep or two */
    HS_CUDA_TRY(err, cudaMemcpyAsync(ticket->copy, field, bytes_of(layout, precision),
                                     cudaMemcpyDeviceToDevice, sweeps));
    HS_CUDA_TRY(err, cudaEventRecord(ticket->taken, sweeps));
    HS_CUDA_TRY(err, cudaStreamWaitEvent(ticket->stream, ticket->taken, 0));
    return HS_OK;
}

hs_status hs_cuda_ticket_part(hs_ticket *ticket, const hs_box *box, const hs_box *next,
                              const void **values, hs_error *err)
{
    hs_cuda_staging *staging = &ticket->staging;
    HS_CUDA_TRY(err, cudaSetDevice(ticket->device));
    hs_status st = reserve(ticket, box, next, err);
    const int half = staging->turn;
    if (!st)
        st = fetch(ticket, half, box, err);
    if (!st && next)
        st = fetch(ticket, half ^ 1, next, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaEventSynchronize(staging->done[half]));
    *values = staging->half[half];
    ticket->there[half] = false;
    staging->turn ^= 1;
    return HS_OK;
}

void hs_cuda_ticket_release(hs_ticket *ticket)
{
    hs_cuda_staging_release(&ticket->staging);
    if (ticket->taken)
        cudaEventDestroy(ticket->taken);
    if (ticket->stream)
        cudaStreamDestroy(ticket->stream);
    cudaFree(ticket->copy);
    *ticket = {};
}
