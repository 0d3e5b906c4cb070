/* Layers of fields for ranks: core/halo.h on the GPU. */
#include "core/halo.h"
#include "core/slab.h"

#include "engine/backends/cuda_state.cuh"

namespace
{

hs_layers layers(hs_backend_state *state, int field, int64_t from, int64_t to)
{
    const int axis = state->problem->grid.dims - 1;
    const int64_t layer =
        state->layout.pitch[axis] * (int64_t)hs_precision_size(state->problem->precision);
    return {hs_cuda_field(state, field) + from * layer, (size_t)((to - from) * layer),
            state->stream};
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

/* What is submitted to `then` from now on waits for what was submitted to `first`. */
hs_status order(const hs_cuda_parts *parts, cudaStream_t first, cudaStream_t then, hs_error *err)
{
    HS_CUDA_TRY(err, cudaEventRecord(parts->asked, first));
    HS_CUDA_TRY(err, cudaStreamWaitEvent(then, parts->asked, 0));
    return HS_OK;
}

/* The layers that the ends must have at each end of the slab: the halo, and what a call reads
 * beyond the inside. */
int64_t ends_wanted(const hs_backend_state *state)
{
    const hs_problem *problem = state->problem;
    const hs_slab *slab = problem->slab;
    const int64_t above = state->layout.points[problem->grid.dims - 1] - slab->hi;
    return (slab->lo > above ? slab->lo : above) + state->plan.steps * problem->radius;
}

bool can_split(const hs_backend_state *state, int64_t sweeps)
{
    return sweeps == state->plan.steps && state->plan.ends >= ends_wanted(state);
}

hs_status part(hs_backend_state *state, int64_t sweeps, bool *splits, hs_error *err)
{
    int least = 0, most = 0;
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    HS_CUDA_TRY(err, cudaDeviceGetStreamPriorityRange(&least, &most));
    HS_CUDA_TRY(err, cudaEventCreateWithFlags(&state->parts.asked, cudaEventDisableTiming));
    HS_CUDA_TRY(err,
                cudaStreamCreateWithPriority(&state->parts.ahead, cudaStreamNonBlocking, most));
    HS_CUDA_TRY(err, cudaStreamCreateWithFlags(&state->parts.ends, cudaStreamNonBlocking));
    *splits = can_split(state, sweeps);
    return HS_OK;
}

hs_status ahead(hs_backend_state *state, int64_t sweeps, void **stream, hs_error *err)
{
    hs_cuda_parts *parts = &state->parts;
    parts->wanted = parts->ahead && can_split(state, sweeps);
    *stream = parts->wanted ? parts->ahead : NULL;
    return parts->wanted ? order(parts, state->stream, parts->ahead, err) : HS_OK;
}

} // namespace

hs_status hs_cuda_field_take(hs_backend_state *state, char **out, hs_error *err)
{
    const hs_precision precision = state->problem->precision;
    const hs_slab *slab = state->problem->slab;
    size_t bytes = hs_cuda_field_bytes(&state->layout, precision);
    if (!slab || !slab->memory) {
        HS_CUDA_TRY(err, cudaMalloc(out, bytes));
        return HS_OK;
    }
    const int axis = state->problem->grid.dims - 1;
    bytes +=
        (size_t)((slab->memory->layers - state->layout.points[axis]) * state->layout.pitch[axis]) *
        hs_precision_size(precision);
    *out = (char *)slab->memory->take(bytes);
    return *out ? HS_OK
                : hs_error_add(err, HS_DEVICE,
                               "not enough device memory for a field that ranks share: %zu bytes",
                               bytes);
}

void hs_cuda_field_give(const hs_backend_state *state, char *field)
{
    const hs_slab *slab = state->problem->slab;
    if (slab && slab->memory)
        slab->memory->give(field);
    else
        cudaFree(field);
}

hs_status hs_cuda_wait(hs_backend_state *state, hs_error *err)
{
    HS_CUDA_TRY(err, cudaStreamSynchronize(state->stream));
    return HS_OK;
}

/* One of several calls of fewer sweeps is not split, and waits for what is ahead. */
hs_status hs_cuda_sweep_parts(hs_backend_state *state, const hs_kernel_plan *plan, hs_sweep *sweep,
                              hs_error *err)
{
    hs_cuda_parts *parts = &state->parts;
    const bool wanted = parts->wanted;
    parts->wanted = false;
    if (!wanted || sweep->steps != state->plan.steps) {
        if (wanted)
            HS_TRY(order(parts, parts->ahead, state->stream, err));
        return state->kernel->sweep(plan, sweep, err);
    }
    HS_TRY(order(parts, state->stream, parts->ends, err));
    sweep->part = HS_SWEEP_INSIDE;
    HS_TRY(state->kernel->sweep(plan, sweep, err));
    HS_TRY(order(parts, parts->ahead, parts->ends, err));
    sweep->part = HS_SWEEP_ENDS;
    sweep->stream = parts->ends;
    HS_TRY(state->kernel->sweep(plan, sweep, err));
    return order(parts, parts->ends, state->stream, err);
}

void hs_cuda_parts_release(hs_cuda_parts *parts)
{
    if (parts->ahead)
        cudaStreamDestroy(parts->ahead);
    if (parts->ends)
        cudaStreamDestroy(parts->ends);
    if (parts->asked)
        cudaEventDestroy(parts->asked);
}

extern "C" const hs_halo hs_cuda_halo = {.layers = layers,
                                         .part = part,
                                         .ahead = ahead,
                                         .ask = hs_cuda_ask,
                                         .wait = hs_cuda_wait,
                                         .space = space,
                                         .take = take,
                                         .put = put};
