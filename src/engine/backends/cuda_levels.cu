/* The levels of multigrid, made on the device. */
#include "engine/backends/cuda_multigrid.cuh"
#include "engine/multigrid/coarse_node.h"
#include "engine/multigrid/level.h"

#include <stdlib.h>

namespace
{

/* ---- what a network is ----------------------------------------------------------------------- */

/* The squares of hs_spans along each axis, in device memory. */
struct squares {
    double *of[HS_AXES];
};

/* Inverses of the diagonal; along each axis the sum over nodes of the share of its edges, each
 * times the square of its cell; and the largest of a node's edges to unknowns over its diagonal. */
__global__ void __launch_bounds__(march::THREADS)
    look_at(const __grid_constant__ hs_coarse_network net, const __grid_constant__ squares cells,
            float *inverse, march::reduction to)
{
    const int64_t *n = net.lattice.n, nodes = hs_lattice_count(&net.lattice);
    const int64_t stride[HS_AXES] = {1, n[HS_X], n[HS_X] * n[HS_Y]};
    march::found mine = {};
    for (int64_t node = march::first_node(); node < nodes; node += march::threads_of_all()) {
        const int64_t at[HS_AXES] = {node % n[HS_X], node / n[HS_X] % n[HS_Y], node / stride[HS_Z]};
        double along[HS_AXES] = {}, sum = 0.0;
        float unknowns = 0.0f;
        for (int axis = 0; axis < HS_AXES; axis++) {
            double edges = 0.0;
            for (int side = -1; side <= 1 && net.edge[axis]; side += 2) {
                const int64_t to_node =
                    hs_lattice_next(&net.lattice, axis, at[axis], stride[axis], side, node);
                if (to_node < 0)
                    continue;
                const float g = net.edge[axis][side > 0 ? node : to_node];
                const int64_t cell = side > 0       ? at[axis]
                                     : at[axis] > 0 ? at[axis] - 1
                                                    : n[axis] - 1;
                along[axis] += (double)g * cells.of[axis][cell];
                edges += (double)g;
                if (!isinf(net.sink[to_node]))
                    unknowns += g;
            }
            sum += edges;
        }
        const double diagonal = sum + (double)net.sink[node];
        const bool unknown = diagonal > 0.0 && !isinf(diagonal);
        inverse[node] = unknown ? (float)(1.0 / diagonal) : 0.0f;
        if (!unknown || sum == 0.0)
            continue;
        const double share = (double)unknowns / diagonal;
        const double all = along[HS_X] + along[HS_Y] + along[HS_Z];
        for (int axis = 0; axis < HS_AXES; axis++)
            mine.sum[axis] += along[axis] / all;
        mine.most[0] = share > mine.most[0] ? share : mine.most[0];
    }
    march::reduce(mine, to);
}

/* ---- the next network ------------------------------------------------------------------------ */

/* How a step's fine nodes lie on the level at which the steps began. */
struct origin {
    int64_t stride[HS_AXES]; /* of that level's nodes */
    hs_kept kept[HS_AXES];   /* along the axes of earlier steps; else all are kept */
    float *before, *after;   /* that level's weights */
};

__device__ __forceinline__ int64_t place_of(const hs_kept &kept, int64_t at)
{
    return kept.count < kept.n ? hs_kept_place(&kept, at) : at;
}

__global__ void __launch_bounds__(march::THREADS)
    weigh_nodes(hs_coarse_work work, hs_coarse_network fine, hs_coarse_step step, origin of)
{
    work.fine = &fine;
    work.step = &step;
    const int64_t *c = step.coarse.n, nodes = hs_lattice_count(&step.coarse);
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all()) {
        const int64_t at[HS_AXES] = {n % c[HS_X], n / c[HS_X] % c[HS_Y], n / (c[HS_X] * c[HS_Y])};
        hs_coarse_weigh(&work, at);
        if (!hs_kept_skips(&step.kept, at[step.axis]))
            continue;
        int64_t node = 0;
        for (int axis = 0; axis < HS_AXES; axis++)
            node += of.stride[axis] * (axis == step.axis ? hs_kept_place(&step.kept, at[axis]) + 1
                                                         : place_of(of.kept[axis], at[axis]));
        of.before[node] = step.before[n];
        of.after[node] = step.after[n];
    }
}

__global__ void __launch_bounds__(march::THREADS)
    make_nodes(hs_coarse_work work, hs_coarse_network fine, hs_coarse_step step,
               hs_coarse_network coarse)
{
    work.fine = &fine;
    work.step = &step;
    work.coarse = &coarse;
    const int64_t *c = step.coarse.n, nodes = hs_lattice_count(&step.coarse);
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all()) {
        const int64_t at[HS_AXES] = {n % c[HS_X], n / c[HS_X] % c[HS_Y], n / (c[HS_X] * c[HS_Y])};
        hs_coarse_make_node(&work, at, n);
    }
}

/* Kept nodes get the weights of nodes within a material, so that they have its row. */
__global__ void __launch_bounds__(march::THREADS)
    set_weights(int64_t nodes, float *before, float *after)
{
    for (int64_t n = march::first_node(); n < nodes; n += march::threads_of_all())
        before[n] = after[n] = 0.5f;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void drop_network(hs_cuda_levels *levels, hs_coarse_network *network)
{
    for (int axis = 0; axis < HS_AXES; axis++)
        hs_cuda_pool_drop(&levels->pool, network->edge[axis]);
    hs_cuda_pool_drop(&levels->pool, network->sink);
    *network = {};
}

/* ---- the coarsest ---------------------------------------------------------------------------- */

hs_status read_floats(const hs_cuda_levels *levels, const float *from, int64_t count, float *to,
                      hs_error *err)
{
    return hs_cuda_copy_now(from, (size_t)count * sizeof *to, to, cudaMemcpyDeviceToHost,
                            levels->stream, err);
}

/* The direct solution as a matrix, for unknowns that are not scaled. */
void invert(hs_coarsest *coarsest, const float *inverse, double *out)
{
    const int64_t nodes = coarsest->nodes;
    hs_coarsest_invert(coarsest, out);
    for (int64_t n = 0; n < nodes * nodes; n++) {
        const double row = (double)inverse[n / nodes], column = (double)inverse[n % nodes];
        out[n] *= sqrt(row * column);
    }
}

/* For the last level's network. */
hs_status make_coarsest(hs_cuda_levels *levels, const hs_coarse_network *net, bool floating,
                        hs_error *err)
{
    const int64_t nodes = hs_lattice_count(&net->lattice);
    const hs_cuda_level *level = &levels->level[levels->count - 1];
    if (nodes > HS_COARSEST_NODES)
        return HS_OK;
    hs_coarse_network here;
    hs_coarsest coarsest = {};
    float *const inverse = hs_cuda_new<float>(nodes);
    double *const out = hs_cuda_new<double>(nodes * nodes);
    hs_status st = HS_OK;
    if (!hs_coarse_network_init(&here, &net->lattice))
        st = hs_error_add(err, HS_DEVICE, "not enough memory for the coarsest network");
    if (!st)
        st = read_floats(levels, net->sink, nodes, here.sink, err);
    for (int axis = 0; axis < HS_AXES && !st; axis++)
        if (net->edge[axis])
            st = read_floats(levels, net->edge[axis], nodes, here.edge[axis], err);
    if (!st)
        st = read_floats(levels, level->rows.inverse, nodes, inverse, err);
    if (!st && !hs_coarsest_init(&coarsest, &here, floating))
        st = hs_error_add(err, HS_DEVICE, "not enough memory for the coarsest network");
    if (!st) {
        invert(&coarsest, inverse, out);
        st = hs_cuda_put(&levels->pool, out, nodes * nodes, &levels->inverse, levels->stream, err);
    }
    hs_coarsest_release(&coarsest);
    hs_coarse_network_release(&here);
    free(inverse);
    free(out);
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* One step from `fine` to `coarse`. */
hs_status make_step(hs_cuda_levels *levels, hs_coarse_network *fine, int axis, const hs_kept *kept,
                    const origin *of, hs_coarse_network *coarse, hs_error *err)
{
    hs_coarse_step step;
    const hs_coarse_work work = hs_coarse_work_of(fine, axis, kept, &step, coarse);
    const int64_t nodes = hs_lattice_count(&step.coarse);
    hs_status st = hs_cuda_take(&levels->pool, nodes, &step.before, err);
    if (!st)
        st = hs_cuda_take(&levels->pool, nodes, &step.after, err);
    if (!st)
        st = hs_cuda_levels_take(levels, &step.coarse, coarse, err);
    if (!st)
        st = march::launch("weigh_nodes", weigh_nodes, march::blocks_for(nodes), levels->stream,
                           err, work, *fine, step, *of);
    if (!st)
        st = march::launch("make_nodes", make_nodes, march::blocks_for(nodes), levels->stream, err,
                           work, *fine, step, *coarse);
    hs_cuda_pool_drop(&levels->pool, step.before);
    hs_cuda_pool_drop(&levels->pool, step.after);
    return st;
}

/* Steps along axes with dropped nodes, from the level's network to the next one's. Networks in
 * between are released. */
hs_status make_steps(hs_cuda_levels *levels, hs_cuda_level *level, hs_coarse_network *net,
                     hs_coarse_network *next, hs_error *err)
{
    const int64_t *n = net->lattice.n, nodes = hs_lattice_count(&net->lattice);
    origin of = {{1, n[HS_X], n[HS_X] * n[HS_Y]}, {}, NULL, NULL};
    hs_coarse_network from = *net;
    HS_TRY(hs_cuda_take(&levels->pool, nodes, &of.before, err));
    HS_TRY(hs_cuda_take(&levels->pool, nodes, &of.after, err));
    HS_TRY(march::launch("set_weights", set_weights, march::blocks_for(nodes), levels->stream, err,
                         nodes, of.before, of.after));
    level->rows.before = of.before;
    level->rows.after = of.after;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const hs_kept *kept = &level->kept[axis];
        if (kept->count == kept->n)
            continue;
        HS_TRY(make_step(levels, &from, axis, kept, &of, next, err));
        if (from.sink != net->sink)
            drop_network(levels, &from);
        from = *next;
        of.kept[axis] = *kept;
    }
    return HS_OK;
}

/* Makes a level, and finds how strong edges are along each axis (kept.h). */
hs_status make_level(hs_cuda_levels *levels, hs_coarse_network *net, const hs_spans *spans,
                     double strength[HS_AXES], hs_error *err)
{
    hs_cuda_level *level = &levels->level[levels->count++];
    const int64_t nodes = hs_lattice_count(&net->lattice);
    float *inverse = NULL;
    squares cells = {};
    *level = {};
    level->lattice = net->lattice;
    hs_status st = hs_cuda_take(&levels->pool, nodes, &inverse, err);
    for (int axis = 0; axis < HS_AXES && !st; axis++)
        st = hs_cuda_put(&levels->pool, spans->square[axis], net->lattice.n[axis], &cells.of[axis],
                         levels->stream, err);
    if (!st)
        st = march::launch("look_at", look_at, march::blocks_for(nodes), levels->stream, err, *net,
                           cells, inverse, levels->reduction);
    march::found found;
    if (!st)
        st = hs_cuda_levels_found(levels, &found, err);
    for (double *square : cells.of)
        hs_cuda_pool_drop(&levels->pool, square);
    if (st)
        return st;
    for (int axis = 0; axis < HS_AXES; axis++) {
        strength[axis] = found.sum[axis];
        level->rows.edge[axis] = net->edge[axis];
    }
    level->rows.inverse = inverse;
    level->largest = 1.0 + found.most[0];
    return HS_OK;
}

/* Chooses the kept nodes and puts their places into device memory. */
hs_status choose_kept(hs_cuda_levels *levels, hs_cuda_level *level, hs_spans *spans,
                      const double strength[HS_AXES], hs_error *err)
{
    hs_kept kept[HS_AXES];
    hs_status st = HS_OK;
    if (!hs_kept_choose(spans, &level->lattice, strength, kept))
        st = hs_error_add(err, HS_DEVICE, "not enough memory for the levels");
    else
        hs_spans_merge(spans, kept);
    for (int axis = 0; axis < HS_AXES && !st; axis++) {
        level->kept[axis] = kept[axis];
        level->kept[axis].place = level->kept[axis].run = NULL;
        if (kept[axis].place)
            st = hs_cuda_put(&levels->pool, kept[axis].place, kept[axis].count + 1,
                             &level->kept[axis].place, levels->stream, err);
    }
    for (hs_kept &of : kept)
        hs_kept_release(&of);
    return st;
}

hs_status take_fields(hs_cuda_levels *levels, hs_error *err)
{
    for (int k = 0; k < levels->count; k++) {
        hs_cuda_level *level = &levels->level[k];
        const int64_t nodes = hs_lattice_count(&level->lattice);
        float **const fields[] = {&level->right, &level->x, &level->other};
        for (float **field : fields)
            HS_TRY(hs_cuda_take(&levels->pool, nodes, field, err));
    }
    return HS_OK;
}

} // namespace

/* ---- for others ------------------------------------------------------------------------------ */

hs_status hs_cuda_levels_take(hs_cuda_levels *levels, const hs_lattice *lattice,
                              hs_coarse_network *out, hs_error *err)
{
    const int64_t nodes = hs_lattice_count(lattice);
    *out = {};
    out->lattice = *lattice;
    HS_TRY(hs_cuda_take(&levels->pool, nodes, &out->sink, err));
    for (int axis = 0; axis < HS_AXES; axis++)
        if (lattice->n[axis] > 1)
            HS_TRY(hs_cuda_take(&levels->pool, nodes, &out->edge[axis], err));
    return HS_OK;
}

hs_status hs_cuda_levels_init(hs_cuda_levels *levels, const hs_lattice *finest, cudaStream_t stream,
                              hs_error *err)
{
    *levels = {};
    levels->stream = stream;
    const int64_t most = march::blocks_of(march::box_of(*finest, false)) + march::ENOUGH;
    int device;
    HS_CUDA_TRY(err, cudaGetDevice(&device));
    HS_CUDA_TRY(err, cudaDeviceGetAttribute(&levels->multiprocessors,
                                            cudaDevAttrMultiProcessorCount, device));
    HS_CUDA_TRY(err, cudaDeviceGetAttribute(&levels->shared_bytes,
                                            cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    HS_CUDA_TRY(err, cudaMallocHost(&levels->here, sizeof *levels->here));
    HS_CUDA_TRY(err, cudaMalloc(&levels->reduction.part,
                                (size_t)(most + 1) * sizeof(march::found) + sizeof(unsigned)));
    levels->reduction.all = levels->reduction.part + most;
    levels->reduction.ended = (unsigned *)(levels->reduction.all + 1);
    HS_CUDA_TRY(err, cudaMemsetAsync(levels->reduction.ended, 0, sizeof(unsigned), stream));
    return HS_OK;
}

void hs_cuda_levels_clear(hs_cuda_levels *levels)
{
    if (levels->cycle)
        cudaGraphExecDestroy(levels->cycle);
    levels->cycle = NULL;
    hs_cuda_pool_release(&levels->pool);
    levels->inverse = NULL;
    levels->count = 0;
}

void hs_cuda_levels_release(hs_cuda_levels *levels)
{
    hs_cuda_levels_clear(levels);
    cudaFree(levels->reduction.part);
    cudaFreeHost(levels->here);
    *levels = {};
}

hs_status hs_cuda_levels_found(const hs_cuda_levels *levels, march::found *out, hs_error *err)
{
    HS_CUDA_TRY(err, cudaMemcpyAsync(levels->here, levels->reduction.all, sizeof *levels->here,
                                     cudaMemcpyDeviceToHost, levels->stream));
    HS_CUDA_TRY(err, cudaStreamSynchronize(levels->stream));
    *out = *levels->here;
    return HS_OK;
}

static hs_status make_all(hs_cuda_levels *levels, hs_spans *spans, hs_coarse_network *finest,
                          bool floating, hs_error *err)
{
    hs_coarse_network net = *finest;
    hs_status st = HS_OK;
    for (bool last = false; !last && !st;) {
        double strength[HS_AXES];
        st = make_level(levels, &net, spans, strength, err);
        if (st)
            return st;
        hs_cuda_level *level = &levels->level[levels->count - 1];
        const double most = fmax(strength[HS_X], fmax(strength[HS_Y], strength[HS_Z]));
        last = hs_lattice_count(&net.lattice) <= HS_COARSEST_NODES || most == 0.0 ||
               levels->count == HS_LEVELS;
        hs_coarse_network next = {};
        if (!last)
            st = choose_kept(levels, level, spans, strength, err);
        if (!st)
            st = last ? make_coarsest(levels, &net, floating, err)
                      : make_steps(levels, level, &net, &next, err);
        if (!st && !last)
            st = hs_cuda_rows_number(levels, &net.lattice, &level->rows, err);
        hs_cuda_pool_drop(&levels->pool, net.sink);
        net = next;
    }
    return st ? st : take_fields(levels, err);
}

hs_status hs_cuda_levels_make(hs_cuda_levels *levels, const hs_grid *grid,
                              hs_coarse_network *finest, bool floating, hs_error *err)
{
    hs_spans spans;
    const hs_status st = hs_spans_init(&spans, grid, &finest->lattice)
                             ? make_all(levels, &spans, finest, floating, err)
                             : hs_error_add(err, HS_DEVICE, "not enough memory for the levels");
    hs_spans_release(&spans);
    return st;
}
