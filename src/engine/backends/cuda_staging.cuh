/* Host memory on its way to the device. */
#ifndef HS_ENGINE_BACKENDS_CUDA_STAGING_CUH
#define HS_ENGINE_BACKENDS_CUDA_STAGING_CUH

#include "core/grid.h"
#include "core/status.h"

#include <cuda_runtime.h>

/* Bytes of a half: enough for the full rate of the bus; to lock memory takes half a millisecond for
 * each MiB. */
enum { HS_CUDA_HALF_BYTES = 4 << 20 };

/* Page-locked host memory, which the device reads and writes at full speed while the host goes on;
 * large copies use its two halves in turn. Zero: none yet. */
struct hs_cuda_staging {
    const hs_layout *layout; /* of the fields; outlives it */
    hs_precision precision;
    cudaStream_t stream;
    char *half[2];
    cudaEvent_t done[2]; /* after the copy that last used the half */
    size_t bytes;        /* of each half */
    bool locked;         /* false: ordinary memory, since none could be locked */
    int turn;
};

/* Makes halves of at least `bytes`; if they had fewer, their contents are lost. Safe to release
 * after failure. */
hs_status hs_cuda_staging_reserve(hs_cuda_staging *staging, size_t bytes, hs_error *err);
void hs_cuda_staging_release(hs_cuda_staging *staging);
/* Waits for the copy that last used the half. */
hs_status hs_cuda_staging_wait(const hs_cuda_staging *staging, int half, hs_error *err);
/* The half whose turn it is, of at least `bytes`, once the device has read its contents. */
hs_status hs_cuda_staging_space(hs_cuda_staging *staging, size_t bytes, void **space,
                                hs_error *err);
/* Starts the copy of its first `bytes` to the device; then it is the other half's turn. */
hs_status hs_cuda_staging_send(hs_cuda_staging *staging, size_t bytes, void *to, hs_error *err);

/* Waits for what was sent and releases it. Returns `so_far`, or else what failed here. */
hs_status hs_cuda_staging_finish(hs_cuda_staging *staging, hs_status so_far, hs_error *err);

#endif
