/* Stretches of launches that are recorded once and replayed. */
#include "engine/backends/cuda_parts.cuh"

#include <string.h>

void hs_cuda_graph_release(hs_cuda_graph *replay)
{
    if (replay->graph)
        cudaGraphExecDestroy(replay->graph);
    *replay = {};
}

bool hs_cuda_graph_fits(const hs_cuda_graph *replay, int now, const hs_span *span)
{
    return replay->graph && replay->now == now && replay->step == span->step &&
           memcmp(&replay->op, &span->op, sizeof span->op) == 0;
}

hs_status hs_cuda_graph_keep(hs_cuda_graph *replay, cudaGraph_t graph, int now, const hs_span *span,
                             hs_error *err)
{
    hs_cuda_graph_release(replay);
    const cudaError_t status = cudaGraphInstantiate(&replay->graph, graph, 0);
    cudaGraphDestroy(graph);
    HS_CUDA_TRY(err, status);
    replay->now = now;
    replay->step = span->step;
    replay->op = span->op;
    return HS_OK;
}
