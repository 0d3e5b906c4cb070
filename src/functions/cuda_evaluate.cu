/* Programs over boxes of nodes, on the device. */
#include "functions/device.cuh"

#include "core/cuda_call.h"
#include "core/cuda_shared.h"
#include "core/round.h"
#include "functions/evaluate.h"

namespace
{

enum {
    POINTS = 4, /* of a thread in a row, which share the reading of an instruction */
    /* A block's threads, and how deep a program's stack may be for them within 48 KiB; fewer
     * threads for any other. */
    USUAL = 128,
    USUAL_DEPTH = 12,
    FEW = 32,
};

struct request {
    const hs_instruction *code;
    int length;
    hs_cuda_patch patch;
    int along, other[2]; /* axes: of the rows, and those that number them */
    unsigned segments;   /* of a row */
    double scale;
    hs_precision precision;
    hs_cuda_moments moments;
    const double *table[HS_MOST_TABLES]; /* NULL: the moment's number */
    int64_t apart[HS_MOST_TABLES];
    int64_t stride[HS_MOST_TABLES][HS_AXES];
    double number[HS_CUDA_TIMES][HS_MOST_TABLES];
};

/* exp is written out for each of a thread's points, since moving sources are mostly that. */
__device__ __noinline__ double call(int operation, double a, double b)
{
    switch (operation) {
#define HS_CALL_CASE(name, arguments, meaning)                                                     \
    case HS_OP_##name:                                                                             \
        if constexpr (HS_OP_##name != HS_OP_EXP)                                                   \
            return (meaning);                                                                      \
        break;
        HS_CALL_OPERATIONS(HS_CALL_CASE)
#undef HS_CALL_CASE
    default: break;
    }
    return b; /* exp does not come here */
}

/* The values of a thread's points: the topmost in registers, the others in shared memory. */
template <int THREADS>
struct stack {
    double top[POINTS];
    double *below; /* where the next one goes; a thread's are THREADS apart */

    __device__ void push()
    {
#pragma unroll
        for (int p = 0; p < POINTS; p++)
            below[p * THREADS] = top[p];
        below += POINTS * THREADS;
    }
    __device__ void pop(double (&to)[POINTS])
    {
        below -= POINTS * THREADS;
#pragma unroll
        for (int p = 0; p < POINTS; p++)
            to[p] = below[p * THREADS];
    }
    /* The arguments of an operation, the last of which is on top. */
    template <int COUNT>
    __device__ void take(double (&first)[POINTS], double (&second)[POINTS], double (&third)[POINTS])
    {
        double(&last)[POINTS] = COUNT == 1 ? first : COUNT == 2 ? second : third;
#pragma unroll
        for (int p = 0; p < POINTS; p++) {
            second[p] = third[p] = 0.0;
            last[p] = top[p];
        }
        if (COUNT > 2)
            pop(second);
        if (COUNT > 1)
            pop(first);
    }
    __device__ void apply(int operation)
    {
        double first[POINTS], second[POINTS], third[POINTS];
        switch (operation) {
#define HS_APPLY_CASE(arguments, meaning)                                                          \
    take<arguments>(first, second, third);                                                         \
    _Pragma("unroll") for (int p = 0; p < POINTS; p++)                                             \
    {                                                                                              \
        const double a = first[p], b = second[p], c = third[p];                                    \
        (void)b, (void)c;                                                                          \
        top[p] = (meaning);                                                                        \
    }                                                                                              \
    break;
#define HS_PLAIN_CASE(name, arguments, meaning)                                                    \
    case HS_OP_##name:                                                                             \
        HS_APPLY_CASE(arguments, meaning)
#define HS_CALL_CASE(name, arguments, meaning)                                                     \
    case HS_OP_##name:                                                                             \
        HS_APPLY_CASE(arguments, HS_OP_##name == HS_OP_EXP ? exp(a) : call(operation, a, b))
            HS_PLAIN_OPERATIONS(HS_PLAIN_CASE)
            HS_CALL_OPERATIONS(HS_CALL_CASE)
#undef HS_CALL_CASE
#undef HS_PLAIN_CASE
#undef HS_APPLY_CASE
        default: break;
        }
    }
};

/* A stretch of a row, by the node of the patch that it begins with. */
struct segment {
    int64_t along, first, second; /* on the rows' axis, and on the two others */
    int nodes;

    __device__ int64_t on(const request &r, int axis) const
    {
        return axis == r.along ? along : axis == r.other[0] ? first : second;
    }
};

template <int THREADS>
__device__ segment segment_of(const request &r, unsigned number)
{
    constexpr int SEGMENT = POINTS * THREADS;
    const unsigned row = number / r.segments, first = (unsigned)r.patch.count[r.other[0]];
    segment s = {(int64_t)(number - row * r.segments) * SEGMENT, row % first, row / first, SEGMENT};
    const int64_t left = r.patch.count[r.along] - s.along;
    s.nodes = left < SEGMENT ? (int)left : SEGMENT;
    return s;
}

/* Puts what an instruction pushes on top: a thread's points are THREADS apart. */
template <int THREADS>
__device__ void load(const request &r, const hs_instruction &in, const segment &at, unsigned m,
                     double (&top)[POINTS])
{
    const hs_cuda_patch &p = r.patch;
    const int table = in.operation - HS_OP_TABLE, axis = in.operation - HS_OP_X;
    if (table >= 0 && r.table[table]) {
        const double *from = r.table[table] + m * r.apart[table];
        const int64_t step = r.stride[table][r.along];
        for (int a = 0; a < HS_AXES; a++)
            from += (p.first[a] + at.on(r, a)) * r.stride[table][a];
#pragma unroll
        for (int n = 0; n < POINTS; n++)
            top[n] = from[min((int)threadIdx.x + n * THREADS, at.nodes - 1) * step];
    } else if (axis >= 0 && axis < HS_AXES) {
        const int64_t first = p.first[axis] + at.on(r, axis);
#pragma unroll
        for (int n = 0; n < POINTS; n++) {
            const int further = axis == r.along ? (int)threadIdx.x + n * THREADS : 0;
            top[n] = p.lower[axis] + (double)(first + further) * p.spacing[axis];
        }
    } else {
        const double value = table >= 0                       ? r.number[m][table]
                             : in.operation == HS_OP_CONSTANT ? in.constant
                                                              : r.moments.t[m];
#pragma unroll
        for (int n = 0; n < POINTS; n++)
            top[n] = value;
    }
}

/* A block takes a segment at one moment; the moments of one follow each other, so that tables are
 * read from memory once. Shared memory: [depth - 1][POINTS][THREADS]. */
template <int THREADS>
__global__ void __launch_bounds__(THREADS) evaluate(const __grid_constant__ request r)
{
    STAR_SHARED(memory, double, [THREADS]);
    const unsigned moments = (unsigned)r.moments.count, m = blockIdx.x % moments;
    const segment at = segment_of<THREADS>(r, blockIdx.x / moments);
    stack<THREADS> s = {{0.0}, memory + threadIdx.x};
#pragma unroll 1
    for (int i = 0; i < r.length; i++) {
        const hs_instruction in = r.code[i];
        if (in.operation > HS_OP_T && in.operation < HS_OP_TABLE) {
            s.apply(in.operation);
            continue;
        }
        if (i > 0)
            s.push();
        load<THREADS>(r, in, at, m, s.top);
    }
    int64_t out = 0;
    for (int axis = 0; axis < HS_AXES; axis++)
        out += at.on(r, axis) * r.patch.stride[axis];
#pragma unroll
    for (int n = 0; n < POINTS; n++) {
        const int node = (int)threadIdx.x + n * THREADS;
        const int64_t to = out + node * r.patch.stride[r.along];
        const double value = s.top[n] * r.scale;
        if (node < at.nodes && r.precision == HS_FLOAT)
            ((float *)r.moments.out[m])[to] = (float)value;
        else if (node < at.nodes)
            ((double *)r.moments.out[m])[to] = value;
    }
}

/* Rows run along the first axis that has any length: a face across x has none there. */
void choose_rows(request *r, int threads)
{
    r->along = HS_X;
    while (r->along < HS_Z && r->patch.count[r->along] == 1)
        r->along++;
    r->other[0] = r->along == HS_X ? HS_Y : HS_X;
    r->other[1] = r->along == HS_Z ? HS_Y : HS_Z;
    r->segments = (unsigned)hs_divide_up(r->patch.count[r->along], POINTS * threads);
}

void set_tables(request *r, const hs_cuda_function *function)
{
    const double *const lower = r->patch.lower;
    for (int n = 0; n < function->tabulation.tables; n++) {
        const hs_expression &part = function->tabulation.table[n];
        r->table[n] = function->table[n];
        r->apart[n] = function->apart[n];
        for (int axis = 0; axis < HS_AXES; axis++)
            r->stride[n][axis] = function->stride[n][axis];
        for (int m = 0; m < r->moments.count && !r->table[n]; m++)
            r->number[m][n] = hs_expression_at(part.code, part.length, lower[HS_X], lower[HS_Y],
                                               lower[HS_Z], r->moments.t[m]);
    }
}

} // namespace

cudaError_t hs_cuda_code_present(void)
{
    cudaFuncAttributes code;
    return cudaFuncGetAttributes(&code, (const void *)evaluate<USUAL>);
}

hs_status hs_cuda_function_create(const hs_expression *expression, const hs_grid *grid,
                                  hs_tables_of which, hs_cuda_function *out, hs_error *err)
{
    *out = {};
    if (!hs_tabulation_init(&out->tabulation, expression, grid, which))
        return hs_error_add(err, HS_DEVICE, "not enough memory for a program");
    const hs_tabulation &left = out->tabulation;
    const size_t bytes = (size_t)left.length * sizeof(hs_instruction);
    out->depth = hs_program_depth(left.code, left.length);
    HS_CUDA_TRY(err, cudaMalloc(&out->code, bytes));
    HS_CUDA_TRY(err, cudaMemcpy(out->code, left.code, bytes, cudaMemcpyHostToDevice));
    HS_CUDA_TRY(err, cudaDeviceSynchronize()); /* other streams do not wait for that copy */
    return HS_OK;
}

void hs_cuda_function_destroy(hs_cuda_function *function)
{
    cudaFree(function->code);
    hs_tabulation_release(&function->tabulation);
    *function = {};
}

hs_cuda_patch hs_cuda_patch_of(const hs_grid *grid)
{
    hs_cuda_patch patch = {};
    for (int axis = 0; axis < HS_AXES; axis++) {
        patch.count[axis] = grid->points[axis];
        patch.lower[axis] = grid->lower[axis];
        patch.spacing[axis] = grid->spacing[axis];
    }
    return patch;
}

hs_status hs_cuda_evaluate(const hs_cuda_function *function, const hs_cuda_patch *patch,
                           const hs_cuda_moments *moments, double scale, hs_precision precision,
                           cudaStream_t stream, hs_error *err)
{
    const bool deep = function->depth > USUAL_DEPTH;
    const int threads = deep ? FEW : USUAL;
    request r = {};
    r.code = function->code;
    r.length = function->tabulation.length;
    r.patch = *patch;
    r.scale = scale;
    r.precision = precision;
    r.moments = *moments;
    choose_rows(&r, threads);
    set_tables(&r, function);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)(r.segments * r.patch.count[r.other[0]] *
                                     r.patch.count[r.other[1]] * r.moments.count));
    config.blockDim = dim3((unsigned)threads);
    config.dynamicSmemBytes =
        sizeof(double) * POINTS * (size_t)threads * (size_t)(function->depth - 1);
    config.stream = stream;
    HS_CUDA_TRY(err, cudaLaunchKernelEx(&config, deep ? evaluate<FEW> : evaluate<USUAL>, r));
    return HS_OK;
}
