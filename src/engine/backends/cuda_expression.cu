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

template <typename T>
__global__ void __launch_bounds__(THREADS) evaluate(request r, T *out)
{
    const int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (n >= r.nodes)
        return;
    const hs_cuda_patch &p = r.patch;
    const int64_t row = n / p.count[HS_X];
    const int64_t at[HS_AXES] = {n - row * p.count[HS_X], row % p.count[HS_Y], row / p.count[HS_Y]};
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
    const int64_t nodes = patch->count[HS_X] * patch->count[HS_Y] * patch->count[HS_Z];
    const request r = {program->code, program->length, *patch, nodes, t, scale};
    const int64_t blocks = (nodes + THREADS - 1) / THREADS;
    if (precision == HS_FLOAT)
        evaluate<<<(unsigned)blocks, THREADS, 0, stream>>>(r, (float *)out);
    else
        evaluate<<<(unsigned)blocks, THREADS, 0, stream>>>(r, (double *)out);
    HS_CUDA_LAUNCHED(err, "evaluate", blocks, THREADS);
    return HS_OK;
}
