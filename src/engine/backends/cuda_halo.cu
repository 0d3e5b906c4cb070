/* Layers of fields for ranks: core/halo.h on the GPU. */
#include "core/halo.h"

#include "engine/backends/cuda_state.cuh"

namespace
{

hs_layers layers(hs_backend_state *state, int field, int64_t from, int64_t to)
{
    const int axis = state->problem->grid.dims - 1;
    const int64_t size = (int64_t)hs_precision_size(state->problem->precision);
    const int64_t layer = state->layout.pitch[axis] * size;
    char *const origin = *hs_cuda_field_of(state, field) + state->layout.origin * size;
    return {origin + from * layer, (size_t)((to - from) * layer), state->stream};
}

hs_status space(hs_backend_state *state, size_t bytes, void **out, hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    if (bytes > state->halo_bytes) {
        cudaFreeHost(state->halo_space);
        state->halo_space = NULL;
        state->halo_bytes = 0;
        HS_CUDA_TRY(err, cudaMallocHost(&state->halo_space, bytes));
        state->halo_bytes = bytes;
    }
    *out = state->halo_space;
    return HS_OK;
}

hs_status take(hs_backend_state *state, const hs_layers *layers, void *host, hs_error *err)
{
    HS_CUDA_TRY(err, cudaMemcpyAsync(host, layers->at, layers->bytes, cudaMemcpyDeviceToHost,
                                     state->stream));
    return HS_OK;
}

hs_status put(hs_backend_state *state, const hs_layers *layers, const void *host, hs_error *err)
{
    HS_CUDA_TRY(err, cudaMemcpyAsync(layers->at, host, layers->bytes, cudaMemcpyHostToDevice,
                                     state->stream));
    return HS_OK;
}

hs_status wait(hs_backend_state *state, hs_error *err)
{
    HS_CUDA_TRY(err, cudaStreamSynchronize(state->stream));
    return HS_OK;
}

} // namespace

extern "C" const hs_halo hs_cuda_halo = {
    .layers = layers, .ask = hs_cuda_ask, .wait = wait, .space = space, .take = take, .put = put};
