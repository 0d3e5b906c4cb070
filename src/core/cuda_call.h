/* Checked CUDA calls, for .cu files, which include CUDA's own headers. */
#ifndef HS_CORE_CUDA_CALL_H
#define HS_CORE_CUDA_CALL_H

#include "core/status.h"

/* If the call fails, returns from the function with HS_DEVICE and a message with the call. */
#define HS_CUDA_TRY(err, call)                                                                     \
    do {                                                                                           \
        const cudaError_t hs_cuda_status = (call);                                                 \
        if (hs_cuda_status != cudaSuccess)                                                         \
            return hs_error_add(err, HS_DEVICE, "cuda: %s: %s", #call,                             \
                                cudaGetErrorString(hs_cuda_status));                               \
    } while (0)

/* The same check after `name<<<blocks, threads>>>(...)`. */
#define HS_CUDA_LAUNCHED(err, name, blocks, threads)                                               \
    do {                                                                                           \
        const cudaError_t hs_cuda_status = cudaGetLastError();                                     \
        if (hs_cuda_status != cudaSuccess)                                                         \
            return hs_error_add(                                                                   \
                err, HS_DEVICE, "cuda: launch of %s, %lld blocks of %d threads: %s", name,         \
                (long long)(blocks), (int)(threads), cudaGetErrorString(hs_cuda_status));          \
    } while (0)

#endif
