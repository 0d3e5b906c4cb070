/* Expressions of x, y, z and t over boxes of nodes, on the device, by the bytecode both read. */
#include "engine/backends/cuda_parts.cuh"

namespace
{

enum { THREADS = 128 };

struct request {
    const hs_instruction *code;
    int length;
    hs_cuda_patch patch;
    int64_t nodes;
    double t, scale;
};

__device__ void place(const hs_cuda_patch &p, int64_t n, int64_t at[HS_AXES])
{
    const int64_t row = n / p.count[HS_X];
    at[HS_X] = n - row * p.count[HS_X];
    at[HS_Y] = row % p.count[HS_Y];
    at[HS_Z] = row / p.count[HS_Y];
}

template <typename T>
__global__ void __launch_bounds__(THREADS) evaluate(request r, T *out)
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
        position[axis] = p.lower[axis] + (double)(p.first[axis] + at[axis]) * p.spacing[axis];
        element += at[axis] * p.stride[axis];
    }
    out[element] = (T)(hs_expression_at(r.code, r.length, position[HS_X], position[HS_Y],
                                        position[HS_Z], r.t) *
                       r.scale);
}

struct scaling {
    hs_cuda_patch patch;
    int64_t nodes;
    double scale;
    double factor[HS_MOST_FACTORS];
    bool divides[HS_MOST_FACTORS];
    int factors;
};

template <typename T>
__global__ void __launch_bounds__(THREADS)
    apply_factors(scaling s, const double *__restrict__ part, T *__restrict__ out)
{
    const int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (n >= s.nodes)
        return;
    int64_t at[HS_AXES], element = 0;
    place(s.patch, n, at);
    for (int axis = 0; axis < HS_AXES; axis++)
        element += at[axis] * s.patch.stride[axis];
    out[element] = (T)(hs_product_value(part[n], s.factors, s.factor, s.divides) * s.scale);
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

hs_status hs_cuda_evaluate(const hs_cuda_program *program, const hs_cuda_patch *patch, double t,
                           double scale, hs_precision precision, void *out, cudaStream_t stream,
                           hs_error *err)
{
    const int64_t nodes = nodes_of(patch);
    const request r = {program->code, program->length, *patch, nodes, t, scale};
    const int64_t blocks = (nodes + THREADS - 1) / THREADS;
    if (precision == HS_FLOAT)
        evaluate<<<(unsigned)blocks, THREADS, 0, stream>>>(r, (float *)out);
    else
        evaluate<<<(unsigned)blocks, THREADS, 0, stream>>>(r, (double *)out);
    HS_CUDA_LAUNCHED(err, "evaluate", blocks, THREADS);
    return HS_OK;
}

hs_status hs_cuda_apply_factors(const hs_product *product, const double *factor, const double *part,
                                const hs_cuda_patch *patch, double scale, hs_precision precision,
                                void *out, cudaStream_t stream, hs_error *err)
{
    scaling s = {*patch, nodes_of(patch), scale, {}, {}, product->factors};
    for (int n = 0; n < product->factors; n++) {
        s.factor[n] = factor[n];
        s.divides[n] = product->divides[n];
    }
    const int64_t blocks = (s.nodes + THREADS - 1) / THREADS;
    if (precision == HS_FLOAT)
        apply_factors<<<(unsigned)blocks, THREADS, 0, stream>>>(s, part, (float *)out);
    else
        apply_factors<<<(unsigned)blocks, THREADS, 0, stream>>>(s, part, (double *)out);
    HS_CUDA_LAUNCHED(err, "apply_factors", blocks, THREADS);
    return HS_OK;
}
