/* CUDA graphs of launches. */
#ifndef HS_ENGINE_BACKENDS_CUDA_CAPTURE_CUH
#define HS_ENGINE_BACKENDS_CUDA_CAPTURE_CUH

#include "core/cuda_call.h"

#include <cuda_runtime.h>

/* Captures what run() launches in the stream. */
template <typename Run>
hs_status hs_cuda_capture(cudaStream_t stream, Run run, cudaGraphExec_t *out, hs_error *err)
{
    cudaGraph_t graph = NULL;
    HS_CUDA_TRY(err, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    const hs_status st = run();
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (st) {
        cudaGraphDestroy(graph);
        return st;
    }
    HS_CUDA_TRY(err, ended);
    const cudaError_t made = cudaGraphInstantiate(out, graph, 0);
    cudaGraphDestroy(graph);
    HS_CUDA_TRY(err, made);
    return HS_OK;
}

#endif
