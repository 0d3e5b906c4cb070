/* Walls whose data change along them and in time at once: the host evaluates the data at each of
 * their nodes, and the device puts the values into a field. */
#include "engine/backends/cuda_parts.cuh"

#include <stdlib.h>

namespace
{

enum { THREADS = 256 };

template <typename T>
__global__ void __launch_bounds__(THREADS)
    put(const int64_t *at, const double *value, int64_t count, T *field)
{
    const int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (n < count)
        field[at[n]] = (T)value[n];
}

} // namespace

hs_status hs_cuda_moving_init(hs_cuda_moving *moving, const hs_moving *of, const hs_layout *layout,
                              hs_precision precision, cudaStream_t stream, hs_error *err)
{
    *moving = {};
    moving->of = of;
    moving->precision = precision;
    moving->stream = stream;
    if (of->count == 0)
        return HS_OK;
    int64_t *const at = hs_cuda_new<int64_t>(of->count);
    for (int64_t n = 0; n < of->count; n++)
        at[n] = hs_layout_node(layout, of->node[n]);
    hs_status st = hs_cuda_take(&moving->pool, of->count, &moving->there, err);
    if (!st)
        st = hs_cuda_put(&moving->pool, at, of->count, &moving->at, stream, err);
    free(at);
    return st;
}

void hs_cuda_moving_release(hs_cuda_moving *moving)
{
    hs_cuda_pool_release(&moving->pool);
    hs_cuda_staging_release(&moving->here);
    *moving = {};
}

static size_t bytes_of(const hs_cuda_moving *moving)
{
    return (size_t)moving->of->count * sizeof *moving->there;
}

hs_status hs_cuda_moving_space(hs_cuda_moving *moving, double **values, hs_error *err)
{
    *values = NULL;
    return moving->there
               ? hs_cuda_staging_space(&moving->here, bytes_of(moving), (void **)values, err)
               : HS_OK;
}

hs_status hs_cuda_moving_put(hs_cuda_moving *moving, void *field, hs_error *err)
{
    hs_cuda_staging *const here = &moving->here;
    if (!moving->there)
        return HS_OK;
    HS_CUDA_TRY(err, cudaMemcpyAsync(moving->there, here->half[here->turn], bytes_of(moving),
                                     cudaMemcpyHostToDevice, moving->stream));
    HS_CUDA_TRY(err, cudaEventRecord(here->done[here->turn], moving->stream));
    here->turn ^= 1;
    const int64_t blocks = hs_divide_up(moving->of->count, THREADS);
    hs_cuda_typed(moving->precision, [&](auto zero) {
        put<<<(unsigned)blocks, THREADS, 0, moving->stream>>>(
            moving->at, moving->there, moving->of->count, (decltype(zero) *)field);
    });
    HS_CUDA_LAUNCHED(err, "put", blocks, THREADS);
    return HS_OK;
}
