/* Evaluates programs over boxes of nodes on the device. */
#include "functions/device.cuh"

#include "core/cuda_call.h"
#include "core/cuda_shared.h"
#include "core/round.h"
#include "functions/evaluate.h"

#include <assert.h>
#include <stdlib.h>

/* An operation and the source of its last argument, which is mostly pushed just before: then a step
 * combines two instructions of the program and leaves the stack alone. */
struct alignas(16) hs_cuda_step {
    int operation; /* or START, PUSH */
    int operand;   /* HS_OP_CONSTANT, HS_OP_X, ..., or FROM_STACK */
    double constant;
};

namespace
{

enum {
    START = HS_OPERATIONS, /* starts the stack with the operand */
    PUSH,
    FROM_STACK = -1
};

enum {
    POINTS = 8, /* per thread, in a row; they share the reading of a step */
    WARP = 32,
    SEGMENT = POINTS * WARP,
    WARPS = 4,         /* per block, at most */
    SHARED = 48 << 10, /* bytes, at most, for a block of several warps */
    ENOUGH = 4096,     /* blocks from which on the times are processed in turn */
};

struct request {
    const hs_cuda_step *step;
    int steps, depth;
    hs_cuda_patch patch;
    int along, other[2]; /* axes: along rows, and across them */
    unsigned segments;   /* of a row */
    unsigned all_segments;
    double scale;
    hs_precision precision;
    hs_cuda_times times;
    unsigned groups;             /* of times; each group has its own blocks */
    int64_t out_stride[HS_AXES]; /* by `along` and `other`, as table strides */
    int64_t stride[HS_MOST_TABLES][HS_AXES];
    /* At the patch's first node; NULL: the table is a single number. */
    const double *table[HS_CUDA_TIMES][HS_MOST_TABLES];
    double number[HS_CUDA_TIMES][HS_MOST_TABLES];
};

/* exp is inlined for each point of a thread, since moving sources are mostly exp. */
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

/* The stack of a thread's points: the top in registers, the rest in shared memory. */
struct stack {
    double top[POINTS];
    double *below; /* next free entry; a thread's values are WARP apart */

    __device__ void push()
    {
#pragma unroll
        for (int p = 0; p < POINTS; p++)
            below[p * WARP] = top[p];
        below += SEGMENT;
    }
    __device__ void pop(double (&to)[POINTS])
    {
        below -= SEGMENT;
#pragma unroll
        for (int p = 0; p < POINTS; p++)
            to[p] = below[p * WARP];
    }
    template <typename LAST>
    __device__ void set(LAST last)
    {
#pragma unroll
        for (int p = 0; p < POINTS; p++)
            top[p] = last(p);
    }
    /* The operation's last argument at point p is last(p), read from `top` if POPPED. The other
     * arguments are on the stack. */
    template <bool POPPED, typename LAST>
    __device__ void apply(int operation, LAST last)
    {
        double first[POINTS] = {};
        switch (operation) {
        case PUSH: push(); [[fallthrough]];
        case START: set(last); break;
#define HS_APPLY_CASE(arguments, meaning)                                                          \
    if constexpr (POPPED && arguments > 1)                                                         \
        pop(top);                                                                                  \
    if constexpr (arguments > 2)                                                                   \
        pop(first);                                                                                \
    if constexpr (POPPED || arguments > 1)                                                         \
        set([&](int p) {                                                                           \
            const double c = last(p), b = arguments == 2 ? c : top[p];                             \
            const double a = arguments == 1 ? c : arguments == 2 ? top[p] : first[p];              \
            (void)b, (void)c;                                                                      \
            return meaning;                                                                        \
        });                                                                                        \
    break;
#define HS_PLAIN_CASE(name, arguments, meaning)                                                    \
    case HS_OP_##name:                                                                             \
        HS_APPLY_CASE(arguments, (meaning))
#define HS_CALL_CASE(name, arguments, meaning)                                                     \
    case HS_OP_##name:                                                                             \
        HS_APPLY_CASE(arguments, (HS_OP_##name == HS_OP_EXP ? exp(a) : call(operation, a, b)))
            HS_PLAIN_OPERATIONS(HS_PLAIN_CASE)
            HS_CALL_OPERATIONS(HS_CALL_CASE)
#undef HS_CALL_CASE
#undef HS_PLAIN_CASE
#undef HS_APPLY_CASE
        default: break;
        }
    }
};

/* The first of a thread's points as a node of the patch; the points are in a row, WARP apart. */
struct place {
    int64_t along;          /* on the rows' axis */
    unsigned first, second; /* on the others */
    int left;               /* nodes from there to the end of the segment; <= 0 if past it */

    __device__ int64_t on(const request &r, int axis) const
    {
        return axis == r.along ? along : axis == r.other[0] ? first : second;
    }
    __device__ int64_t times(const int64_t (&stride)[HS_AXES]) const
    {
        return along * stride[0] + first * stride[1] + second * stride[2];
    }
};

__device__ place place_of(const request &r, unsigned segment, int lane)
{
    const unsigned row = segment / r.segments, first = (unsigned)r.patch.count[r.other[0]];
    const int64_t begin = (int64_t)(segment - row * r.segments) * SEGMENT;
    const int64_t nodes = min(r.patch.count[r.along] - begin, (int64_t)SEGMENT);
    return {begin + lane, row % first, row / first, (int)nodes - lane};
}

__device__ void load(const double *from, int64_t stride, int left, double (&to)[POINTS])
{
#pragma unroll
    for (int n = 0; n < POINTS; n++)
        to[n] = n * WARP < left ? from[n * WARP * stride] : 0.0;
}

template <typename T>
__device__ void store(T *out, int64_t stride, int left, const double (&from)[POINTS], double scale)
{
#pragma unroll
    for (int n = 0; n < POINTS; n++)
        if (n * WARP < left)
            out[n * WARP * stride] = (T)(from[n] * scale);
}

/* m: of node i along an axis. */
__device__ double coordinate(const hs_cuda_patch &patch, int axis, int64_t i)
{
    if (patch.place[axis])
        return patch.place[axis][min(i, patch.again[axis] - 1)];
    const int64_t node = i + patch.ahead[axis];
    const int64_t n = node < patch.again[axis] ? node : node % patch.again[axis];
    return patch.lower[axis] + (double)n * patch.spacing[axis];
}

/* Whether the nodes of a row have different values of an operand. */
__device__ bool varies(const request &r, int operand)
{
    return operand >= HS_OP_TABLE ? r.stride[operand - HS_OP_TABLE][0] != 0
                                  : operand == HS_OP_X + r.along;
}

__device__ void fetch(const request &r, int operand, const place &at, unsigned m,
                      double (&to)[POINTS])
{
    if (operand >= HS_OP_TABLE) {
        const int64_t(&stride)[HS_AXES] = r.stride[operand - HS_OP_TABLE];
        const double *const from = r.table[m][operand - HS_OP_TABLE] + at.times(stride);
        if (stride[0] == 1) /* a constant stride makes the addresses one base plus offsets */
            load(from, 1, at.left, to);
        else
            load(from, stride[0], at.left, to);
        return;
    }
    const int64_t first = r.patch.first[r.along] + at.along;
#pragma unroll
    for (int n = 0; n < POINTS; n++)
        to[n] = coordinate(r.patch, r.along, first + n * WARP);
}

/* An operand that is the same for a whole row. */
__device__ double fetch(const request &r, const hs_cuda_step &in, const place &at, unsigned m)
{
    const int table = in.operand - HS_OP_TABLE, axis = in.operand - HS_OP_X;
    if (table >= 0)
        return r.table[m][table] ? r.table[m][table][at.times(r.stride[table])]
                                 : r.number[m][table];
    if (axis >= 0 && axis < HS_AXES)
        return coordinate(r.patch, axis, r.patch.first[axis] + at.on(r, axis));
    return in.operand == HS_OP_T ? r.times.t[m] : in.constant;
}

__device__ void evaluate_at(const request &r, const place &at, unsigned m, stack &s)
{
#pragma unroll 1
    for (int i = 0; i < r.steps; i++) {
        const hs_cuda_step in = r.step[i];
        double last[POINTS];
        if (in.operand == FROM_STACK) {
#pragma unroll
            for (int p = 0; p < POINTS; p++)
                last[p] = s.top[p];
            s.apply<true>(in.operation, [&](int p) { return last[p]; });
        } else if (varies(r, in.operand)) {
            fetch(r, in.operand, at, m, last);
            s.apply<false>(in.operation, [&](int p) { return last[p]; });
        } else {
            const double value = fetch(r, in, at, m);
            s.apply<false>(in.operation, [&](int) { return value; });
        }
    }
}

__device__ double share_at(const hs_cuda_shares &share, const int64_t (&node)[HS_AXES])
{
    int64_t at = 0;
    for (int axis = 0; axis < HS_AXES; axis++)
        at += node[axis] * share.pitch[axis];
    double capacity;
    if (share.form == HS_NETWORK_ARRAYS)
        capacity = share.capacity[at];
    else {
        const hs_network_row &row =
            share.row[share.form == HS_NETWORK_BYTES ? ((const uint8_t *)share.number)[at]
                                                     : ((const uint16_t *)share.number)[at]];
        capacity = row.kind == HS_NODE_FREE ? row.capacity : 0.0;
    }
    return capacity > 0.0 ? share.width[HS_X][node[HS_X]] * share.width[HS_Y][node[HS_Y]] *
                                share.width[HS_Z][node[HS_Z]] / capacity
                          : 0.0;
}

/* Multiplies the values by the scale and the nodes' shares. */
__device__ void weigh(const request &r, const place &at, stack &s)
{
    int64_t node[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        node[axis] = r.patch.first[axis] + at.on(r, axis);
#pragma unroll
    for (int p = 0; p < POINTS; p++) {
        if (p * WARP < at.left)
            s.top[p] = s.top[p] * r.scale * share_at(r.patch.share, node);
        node[r.along] += WARP;
    }
}

/* A warp processes a segment of a row, at one time or at several in turn, so that constant data is
 * read from memory once. Shared memory: [warps][depth - 1][POINTS][WARP]. */
template <bool WEIGHS>
__global__ void __launch_bounds__(WARPS *WARP) evaluate(const __grid_constant__ request r)
{
    STAR_SHARED(memory, double, [WARP]);
    const unsigned warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const unsigned segment = blockIdx.x / r.groups * (blockDim.x / WARP) + warp;
    const place at = place_of(r, segment, (int)lane);
    if (segment >= r.all_segments || at.left <= 0)
        return;
    const int64_t to = at.times(r.out_stride), stride = r.out_stride[0];
    stack s = {{}, memory + warp * (r.depth - 1) * SEGMENT + lane};
#pragma unroll 1
    for (unsigned m = blockIdx.x % r.groups; m < (unsigned)r.times.count; m += r.groups) {
        evaluate_at(r, at, m, s);
        if constexpr (WEIGHS)
            weigh(r, at, s);
        const double scale = WEIGHS ? 1.0 : r.scale;
        if (r.precision == HS_DOUBLE)
            store((double *)r.times.out[m] + to, stride, at.left, s.top, scale);
        else if (stride == 1)
            store((float *)r.times.out[m] + to, 1, at.left, s.top, scale);
        else
            store((float *)r.times.out[m] + to, stride, at.left, s.top, scale);
    }
}

/* Rows run along the first axis with more than one node: a face normal to x has only one along
 * x. */
void choose_rows(request *r)
{
    const int64_t *const count = r->patch.count;
    r->along = HS_X;
    while (r->along < HS_Z && count[r->along] == 1)
        r->along++;
    r->other[0] = r->along == HS_X ? HS_Y : HS_X;
    r->other[1] = r->along == HS_Z ? HS_Y : HS_Z;
    r->segments = (unsigned)hs_divide_up(count[r->along], SEGMENT);
    r->all_segments = (unsigned)(r->segments * count[r->other[0]] * count[r->other[1]]);
}

void take_strides(const request *r, const int64_t from[HS_AXES], int64_t to[HS_AXES])
{
    to[0] = from[r->along];
    to[1] = from[r->other[0]];
    to[2] = from[r->other[1]];
}

void set_table(request *r, const hs_cuda_function *function, int n)
{
    const hs_expression &part = function->tabulation.table[n];
    const double *const lower = r->patch.lower;
    int64_t first = 0;
    for (int axis = 0; axis < HS_AXES; axis++)
        first += r->patch.first[axis] * function->stride[n][axis];
    take_strides(r, function->stride[n], r->stride[n]);
    for (int m = 0; m < r->times.count; m++)
        if (function->table[n])
            r->table[m][n] = function->table[n] + first + m * function->apart[n];
        else
            r->number[m][n] = hs_expression_at(part.code, part.length, lower[HS_X], lower[HS_Y],
                                               lower[HS_Z], r->times.t[m]);
}

/* Converts the program to steps; returns their number. */
int make_steps(const hs_instruction *code, int length, hs_cuda_step *step, int *depth)
{
    int steps = 0, values = 0;
    *depth = 0;
    for (int i = 0; i < length; i++) {
        hs_cuda_step made = {code[i].operation, FROM_STACK, code[i].constant};
        int popped = hs_operation_arguments(made.operation);
        if (popped == 0) {
            const int next = i + 1 < length ? code[i + 1].operation : (int)HS_OP_CONSTANT;
            const int arguments = hs_operation_arguments(next);
            made.operand = made.operation;
            made.operation = arguments > 1 ? next : values > 0 ? (int)PUSH : (int)START;
            popped = arguments > 1 ? arguments - 1 : 0;
            i += arguments > 1 ? 1 : 0;
        }
        step[steps++] = made;
        values += 1 - popped;
        *depth = values > *depth ? values : *depth;
    }
    return steps;
}

} // namespace

cudaError_t hs_cuda_code_present(void)
{
    cudaFuncAttributes code;
    return cudaFuncGetAttributes(&code, (const void *)evaluate<false>);
}

hs_status hs_cuda_function_create(const hs_expression *expression, const hs_grid *grid,
                                  hs_tables_of which, hs_cuda_function *out, hs_error *err)
{
    *out = {};
    const hs_tabulation &left = out->tabulation;
    hs_cuda_step *step = (hs_cuda_step *)malloc((size_t)expression->length * sizeof *step);
    if (!step)
        return hs_error_add(err, HS_DEVICE, "not enough memory for a program");
    hs_tabulation_init(&out->tabulation, expression, grid, which);
    out->steps = make_steps(left.code, left.length, step, &out->depth);
    const size_t bytes = (size_t)out->steps * sizeof *step;
    cudaError_t failed = cudaMalloc(&out->step, bytes);
    if (!failed)
        failed = cudaMemcpy(out->step, step, bytes, cudaMemcpyHostToDevice);
    if (!failed)
        failed = cudaDeviceSynchronize(); /* other streams do not wait for that copy */
    free(step);
    HS_CUDA_TRY(err, failed);
    return HS_OK;
}

void hs_cuda_function_destroy(hs_cuda_function *function)
{
    cudaFree(function->step);
    hs_tabulation_release(&function->tabulation);
    *function = {};
}

hs_cuda_patch hs_cuda_patch_of(const hs_grid *grid, const double *const place[HS_AXES])
{
    hs_cuda_patch patch = {};
    for (int axis = 0; axis < HS_AXES; axis++) {
        assert(!grid->coordinate[axis] || (place && place[axis]));
        patch.place[axis] = grid->coordinate[axis] ? place[axis] : NULL;
        patch.count[axis] = grid->points[axis];
        patch.lower[axis] = grid->lower[axis];
        patch.spacing[axis] = grid->spacing[axis];
        const bool slab = grid->whole > 0 && axis == grid->dims - 1 && !patch.place[axis];
        patch.ahead[axis] = slab ? grid->first : 0;
        patch.again[axis] = slab ? grid->whole : grid->points[axis];
    }
    return patch;
}

hs_status hs_cuda_evaluate(const hs_cuda_function *function, const hs_cuda_patch *patch,
                           const hs_cuda_times *times, double scale, hs_precision precision,
                           cudaStream_t stream, hs_error *err)
{
    request r = {};
    r.step = function->step;
    r.steps = function->steps;
    r.depth = function->depth;
    r.patch = *patch;
    r.scale = scale;
    r.precision = precision;
    r.times = *times;
    choose_rows(&r);
    take_strides(&r, patch->stride, r.out_stride);
    for (int n = 0; n < function->tabulation.tables; n++)
        set_table(&r, function, n);
    const int bytes = (int)sizeof(double) * SEGMENT * (r.depth - 1); /* per warp */
    int warps = WARPS;
    while (warps > 1 && warps * bytes > SHARED)
        warps /= 2;
    const auto kernel = patch->share.width[HS_X] ? evaluate<true> : evaluate<false>;
    if (bytes > SHARED) /* more than the default must be requested */
        HS_CUDA_TRY(err, cudaFuncSetAttribute((const void *)kernel,
                                              cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    const unsigned blocks = (unsigned)hs_divide_up(r.all_segments, warps);
    cudaLaunchConfig_t config = {};
    r.groups = blocks < ENOUGH ? (unsigned)times->count : 1;
    config.gridDim = dim3(blocks * r.groups);
    config.blockDim = dim3((unsigned)(warps * WARP));
    config.dynamicSmemBytes = (size_t)(warps * bytes);
    config.stream = stream;
    HS_CUDA_TRY(err, cudaLaunchKernelEx(&config, kernel, r));
    return HS_OK;
}
