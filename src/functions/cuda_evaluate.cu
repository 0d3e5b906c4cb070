/* Expressions of x, y, z and t over boxes of nodes, on the device, by the bytecode both read. */
#include "functions/device.cuh"

#include "core/cuda_call.h"
#include "core/round.h"

namespace
{

enum {
    THREADS = 128,
    POINTS = 4, /* of a thread in a row */
    SEGMENT = THREADS * POINTS,
};

struct request {
    const hs_instruction *code;
    int length;
    hs_cuda_patch patch;
    int64_t nodes;
    double scale;
    hs_cuda_moments moments;
};

__device__ void place(const hs_cuda_patch &p, int64_t n, int64_t at[HS_AXES])
{
    const int64_t row = n / p.count[HS_X];
    at[HS_X] = n - row * p.count[HS_X];
    at[HS_Y] = row % p.count[HS_Y];
    at[HS_Z] = row / p.count[HS_Y];
}

__device__ double coordinate(const hs_cuda_patch &p, int axis, int64_t at)
{
    return p.lower[axis] + (double)(p.first[axis] + at) * p.spacing[axis];
}

/* A thread a node. */
template <typename T>
__global__ void __launch_bounds__(THREADS) evaluate(const __grid_constant__ request r)
{
    const int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (n >= r.nodes)
        return;
    const hs_cuda_patch &p = r.patch;
    int64_t at[HS_AXES];
    place(p, n, at);
    double position[HS_AXES];
    int64_t element = 0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        position[axis] = coordinate(p, axis, at[axis]);
        element += at[axis] * p.stride[axis];
    }
    T *const out = (T *)r.moments.out[blockIdx.y];
    out[element] = (T)(hs_expression_at(r.code, r.length, position[HS_X], position[HS_Y],
                                        position[HS_Z], r.moments.t[blockIdx.y]) *
                       r.scale);
}

/* ---- products -------------------------------------------------------------------------------- */

struct scaling {
    hs_cuda_patch patch;
    unsigned segments; /* of a row */
    double scale;
    double factor[HS_CUDA_TIMES][HS_MOST_FACTORS];
    bool divides[HS_MOST_FACTORS];
    int factors;
    hs_cuda_moments moments;
};

/* A block takes a segment of a row. */
template <typename T>
__global__ void __launch_bounds__(THREADS)
    apply_factors(const __grid_constant__ scaling s, const double *__restrict__ part)
{
    const hs_cuda_patch &p = s.patch;
    const unsigned row = blockIdx.x / s.segments, ny = (unsigned)p.count[HS_Y];
    const int64_t first = (int64_t)(blockIdx.x - row * s.segments) * SEGMENT + threadIdx.x;
    const int64_t to = row % ny * p.stride[HS_Y] + row / ny * p.stride[HS_Z];
#pragma unroll
    for (int n = 0; n < POINTS; n++) {
        const int64_t x = first + n * THREADS;
        if (x >= p.count[HS_X])
            return;
        const double value = part[row * p.count[HS_X] + x];
        for (int m = 0; m < s.moments.count; m++)
            ((T *)s.moments.out[m])[to + x * p.stride[HS_X]] =
                (T)(hs_product_value(value, s.factors, s.factor[m], s.divides) * s.scale);
    }
}

int64_t nodes_of(const hs_cuda_patch *patch)
{
    return patch->count[HS_X] * patch->count[HS_Y] * patch->count[HS_Z];
}

} // namespace

cudaError_t hs_cuda_code_present(void)
{
    cudaFuncAttributes code;
    return cudaFuncGetAttributes(&code, (const void *)evaluate<float>);
}

hs_status hs_cuda_program_create(const hs_expression *expression, hs_cuda_program *out,
                                 hs_error *err)
{
    const size_t bytes = (size_t)expression->length * sizeof(hs_instruction);
    *out = {};
    HS_CUDA_TRY(err, cudaMalloc(&out->code, bytes));
    out->length = expression->length;
    HS_CUDA_TRY(err, cudaMemcpy(out->code, expression->code, bytes, cudaMemcpyHostToDevice));
    HS_CUDA_TRY(err, cudaDeviceSynchronize()); /* other streams do not wait for that copy */
    return HS_OK;
}

void hs_cuda_program_destroy(hs_cuda_program *program)
{
    cudaFree(program->code);
    *program = {};
}

hs_status hs_cuda_evaluate(const hs_cuda_program *program, const hs_cuda_patch *patch,
                           const hs_cuda_moments *moments, double scale, hs_precision precision,
                           cudaStream_t stream, hs_error *err)
{
    const int64_t nodes = nodes_of(patch);
    const request r = {program->code, program->length, *patch, nodes, scale, *moments};
    const int64_t blocks = hs_divide_up(nodes, THREADS);
    const dim3 grid((unsigned)blocks, (unsigned)moments->count);
    if (precision == HS_FLOAT)
        evaluate<float><<<grid, THREADS, 0, stream>>>(r);
    else
        evaluate<double><<<grid, THREADS, 0, stream>>>(r);
    HS_CUDA_LAUNCHED(err, "evaluate", blocks, THREADS);
    return HS_OK;
}

hs_status hs_cuda_apply_factors(const hs_product *product, const double *part,
                                const hs_cuda_patch *patch, const hs_cuda_moments *moments,
                                double scale, hs_precision precision, cudaStream_t stream,
                                hs_error *err)
{
    const int64_t segments = hs_divide_up(patch->count[HS_X], SEGMENT);
    scaling s = {*patch, (unsigned)segments, scale, {}, {}, product->factors, *moments};
    for (int m = 0; m < moments->count; m++)
        hs_product_at(product, moments->t[m], s.factor[m]);
    for (int n = 0; n < product->factors; n++)
        s.divides[n] = product->divides[n];
    const int64_t blocks = segments * patch->count[HS_Y] * patch->count[HS_Z];
    if (precision == HS_FLOAT)
        apply_factors<float><<<(unsigned)blocks, THREADS, 0, stream>>>(s, part);
    else
        apply_factors<double><<<(unsigned)blocks, THREADS, 0, stream>>>(s, part);
    HS_CUDA_LAUNCHED(err, "apply_factors", blocks, THREADS);
    return HS_OK;
}
