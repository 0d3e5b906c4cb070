/* CUDA graphs of stretches of launches, captured once and launched often. */
#include "engine/backends/cuda_parts.cuh"

#include <string.h>

void hs_cuda_graph_release(hs_cuda_graph *kept)
{
    if (kept->graph)
        cudaGraphExecDestroy(kept->graph);
    *kept = {};
}

bool hs_cuda_graph_fits(const hs_cuda_graph *kept, int now, const hs_span *span)
{
    return kept->graph && kept->now == now && kept->step == span->step &&
           memcmp(&kept->op, &span->op, sizeof span->op) == 0;
}

hs_status hs_cuda_graph_keep(hs_cuda_graph *kept, cudaGraph_t graph, int now, const hs_span *span,
                             hs_error *err)
{
    hs_cuda_graph_release(kept);
    const cudaError_t status = cudaGraphInstantiate(&kept->graph, graph, 0);
    cudaGraphDestroy(graph);
    HS_CUDA_TRY(err, status);
    kept->now = now;
    kept->step = span->step;
    kept->op = span->op;
    return HS_OK;
}
