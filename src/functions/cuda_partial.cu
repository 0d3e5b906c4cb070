/* Expressions over boxes of nodes by functions/partial.h: tables for the parts that do not change
 * along all axes, and what is left of the program at each node. */
#include "functions/device.cuh"

#include "core/cuda_call.h"
#include "core/round.h"

#include <string.h>

namespace
{

enum {
    THREADS = 128,
    POINTS = 4, /* of a thread in a row, which share the reading of an instruction */
    SEGMENT = THREADS * POINTS,
    ALIGN = 16 /* numbers, of a table's rows */
};

struct request {
    hs_cuda_patch patch;
    unsigned segments; /* of a row */
    double scale;
    hs_cuda_moments moments;
    const double *table[HS_PARTIAL_TABLES];
    int64_t level[HS_PARTIAL_TABLES]; /* numbers from a moment's values to the next one's */
    int stride[HS_PARTIAL_TABLES][HS_AXES];
    int length;
    short operation[HS_PARTIAL_LONGEST];
    double constant[HS_PARTIAL_LONGEST];
};

/* A few instructions, which are written out for each point of a thread. The others are called. */
template <int OPERATION>
constexpr bool is_light =
    (OPERATION >= HS_OP_NEGATE && OPERATION <= HS_OP_SELECT && OPERATION != HS_OP_POWER) ||
    OPERATION == HS_OP_SQRT ||
    (OPERATION >= HS_OP_ABS && OPERATION <= HS_OP_RINT) || OPERATION == HS_OP_MIN
    || OPERATION == HS_OP_MAX || OPERATION == HS_OP_EXP;

__device__ __noinline__ double heavy(int operation, double a, double b)
{
    const double c = 0.0;
    (void)c;
    switch (operation) {
#define HS_HEAVY_CASE(name, arguments, meaning)                                                    \
    case HS_OP_##name:                                                                             \
        if constexpr (!is_light<HS_OP_##name>)                                                     \
            return (meaning);                                                                      \
        break;
        HS_EXPRESSION_OPERATIONS(HS_HEAVY_CASE)
#undef HS_HEAVY_CASE
    default: break;
    }
    return 0.0;
}

/* The values of a thread's points: the topmost in registers, the others in shared memory. */
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
    __device__ void apply(int operation)
    {
        double first[POINTS], second[POINTS], third[POINTS];
        switch (operation) {
#define HS_APPLY_CASE(name, arguments, meaning)                                                    \
    case HS_OP_##name:                                                                             \
        take<arguments>(first, second, third);                                                     \
        _Pragma("unroll") for (int p = 0; p < POINTS; p++)                                         \
        {                                                                                          \
            const double a = first[p], b = second[p], c = third[p];                                \
            (void)b, (void)c;                                                                      \
            if constexpr (is_light<HS_OP_##name>)                                                  \
                top[p] = (meaning);                                                                \
            else                                                                                   \
                top[p] = heavy(operation, a, b);                                                   \
        }                                                                                          \
        break;
            HS_EXPRESSION_OPERATIONS(HS_APPLY_CASE)
#undef HS_APPLY_CASE
        default: break;
        }
    }
    /* The arguments of an operation, the last of which is on top. */
    template <int COUNT>
    __device__ void take(double (&first)[POINTS], double (&second)[POINTS], double (&third)[POINTS])
    {
        double(&last)[POINTS] = COUNT == 1 ? first : COUNT == 2 ? second : third;
        if (COUNT < 2)
            memset(second, 0, sizeof second);
        if (COUNT < 3)
            memset(third, 0, sizeof third);
#pragma unroll
        for (int p = 0; p < POINTS; p++)
            last[p] = top[p];
        if (COUNT > 2)
            pop(second);
        if (COUNT > 1)
            pop(first);
    }
};

/* As in cuda_evaluate.cu. */
__device__ double coordinate(const hs_cuda_patch &p, int axis, int64_t at)
{
    return p.lower[axis] + (double)(p.first[axis] + at) * p.spacing[axis];
}

extern __shared__ double stack_memory[]; /* [depth - 1][POINTS][THREADS] */

/* A block takes a segment of a row at one moment. */
template <typename T>
__global__ void __launch_bounds__(THREADS) evaluate_partial(const __grid_constant__ request r)
{
    const hs_cuda_patch &p = r.patch;
    const unsigned row = blockIdx.x / r.segments, ny = (unsigned)p.count[HS_Y], m = blockIdx.y;
    const int j = (int)(row % ny), k = (int)(row / ny);
    /* unsigned: the last segment may end beyond 2^31 */
    const unsigned last = (unsigned)p.count[HS_X] - 1u;
    const unsigned first = (blockIdx.x - row * r.segments) * SEGMENT + threadIdx.x;
    stack s = {{0.0}, stack_memory + threadIdx.x};
#pragma unroll 1
    for (int i = 0; i < r.length; i++) {
        const int operation = r.operation[i];
        if (operation > HS_OP_T && operation < HS_OP_TABLE) {
            s.apply(operation);
            continue;
        }
        if (i > 0)
            s.push();
        if (operation < HS_OP_TABLE) {
            const double y = coordinate(p, HS_Y, j), z = coordinate(p, HS_Z, k);
            const double value = operation == HS_OP_CONSTANT ? r.constant[i]
                                 : operation == HS_OP_T      ? r.moments.t[m]
                                 : operation == HS_OP_Y      ? y
                                                             : z;
#pragma unroll
            for (int n = 0; n < POINTS; n++)
                s.top[n] = operation == HS_OP_X ? coordinate(p, HS_X, first + n * THREADS) : value;
            continue;
        }
        const int t = operation - HS_OP_TABLE;
        const int64_t across = (int64_t)j * r.stride[t][HS_Y] + (int64_t)k * r.stride[t][HS_Z];
        const double *const from = r.table[t] + m * r.level[t] + across;
#pragma unroll
        for (int n = 0; n < POINTS; n++)
            s.top[n] = from[(int64_t)min(first + n * THREADS, last) * r.stride[t][HS_X]];
    }
    T *const out =
        (T *)r.moments.out[m] + ((int64_t)j * p.stride[HS_Y] + (int64_t)k * p.stride[HS_Z]);
#pragma unroll
    for (int n = 0; n < POINTS; n++)
        if (first + n * THREADS <= last)
            out[(int64_t)(first + n * THREADS) * p.stride[HS_X]] = (T)(s.top[n] * r.scale);
}

/* ---- tables ---------------------------------------------------------------------------------- */

bool varies_along(const hs_expression *part, int axis)
{
    return (part->varies & ((unsigned)HS_VARIES_X << axis)) != 0;
}

/* Numbers from node to node of a table, and in all of it. */
int64_t table_stride(const hs_expression *part, const hs_grid *grid, int64_t stride[HS_AXES])
{
    int64_t numbers = 1;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const bool varies = varies_along(part, axis) && grid->points[axis] > 1;
        stride[axis] = varies ? numbers : 0;
        numbers *= varies ? grid->points[axis] : 1;
    }
    return hs_round_up(numbers, ALIGN);
}

int levels_of(const hs_expression *part, int levels)
{
    return part->varies & HS_VARIES_T ? levels : 1;
}

} // namespace

bool hs_cuda_partial_suit(const hs_problem *problem, hs_partial *out)
{
    const hs_field &field = problem->source.field;
    return problem->source.present && !field.data && field.value.expression.code &&
           hs_expression_partial(&field.value.expression, (1u << problem->grid.dims) - 1, out);
}

double hs_cuda_partial_bytes(const hs_problem *problem, const hs_partial *plan, int levels)
{
    double numbers = 0.0;
    for (int n = 0; n < plan->tables; n++) {
        int64_t stride[HS_AXES];
        numbers += (double)table_stride(&plan->table[n], &problem->grid, stride) *
                   levels_of(&plan->table[n], levels);
    }
    return numbers * (double)sizeof(double);
}

hs_status hs_cuda_partial_init(hs_cuda_partial *partial, const hs_problem *problem,
                               const hs_partial *plan, int levels, void *memory, hs_error *err)
{
    *partial = {};
    partial->plan = *plan;
    partial->levels = levels;
    partial->memory = (double *)memory;
    double *at = partial->memory;
    hs_status st = HS_OK;
    for (int n = 0; n < plan->tables && !st; n++) {
        partial->table[n] = at;
        partial->apart[n] = table_stride(&plan->table[n], &problem->grid, partial->stride[n]);
        at += partial->apart[n] * levels_of(&plan->table[n], levels);
        st = hs_cuda_program_create(&plan->table[n], &partial->program[n], err);
    }
    return st;
}

void hs_cuda_partial_release(hs_cuda_partial *partial)
{
    for (int n = 0; n < partial->plan.tables; n++)
        hs_cuda_program_destroy(&partial->program[n]);
    cudaFree(partial->memory);
    *partial = {};
}

hs_status hs_cuda_partial_fill(hs_cuda_partial *partial, const hs_cuda_patch *nodes, int count,
                               const double *t, cudaStream_t stream, hs_error *err)
{
    for (int n = 0; n < partial->plan.tables; n++) {
        const hs_expression *part = &partial->plan.table[n];
        if (partial->filled && !(part->varies & HS_VARIES_T))
            continue;
        hs_cuda_patch patch = *nodes;
        hs_cuda_moments moments = {};
        moments.count = part->varies & HS_VARIES_T ? count : 1;
        for (int axis = 0; axis < HS_AXES; axis++) {
            patch.stride[axis] = partial->stride[n][axis];
            patch.count[axis] = patch.stride[axis] > 0 ? patch.count[axis] : 1;
        }
        for (int m = 0; m < moments.count; m++) {
            moments.t[m] = t[m];
            moments.out[m] = partial->table[n] + m * partial->apart[n];
        }
        const hs_status st =
            hs_cuda_evaluate(&partial->program[n], &patch, &moments, 1.0, HS_DOUBLE, stream, err);
        if (st)
            return st;
    }
    partial->filled = true;
    return HS_OK;
}

static void take_code(request *r, const hs_instruction *code, int length)
{
    r->length = length;
    for (int i = 0; i < length; i++) {
        r->operation[i] = (short)code[i].operation;
        r->constant[i] = code[i].constant;
    }
}

static hs_status launch(request *r, const hs_cuda_patch *patch, const hs_cuda_moments *moments,
                        double scale, int depth, hs_precision precision, cudaStream_t stream,
                        hs_error *err)
{
    const int64_t segments = hs_divide_up(patch->count[HS_X], SEGMENT);
    r->patch = *patch;
    r->segments = (unsigned)segments;
    r->scale = scale;
    r->moments = *moments;
    const size_t shared = sizeof(double) * POINTS * THREADS * (size_t)(depth - 1);
    const int64_t blocks = segments * patch->count[HS_Y] * patch->count[HS_Z];
    const dim3 grid((unsigned)blocks, (unsigned)moments->count);
    if (precision == HS_FLOAT)
        evaluate_partial<float><<<grid, THREADS, shared, stream>>>(*r);
    else
        evaluate_partial<double><<<grid, THREADS, shared, stream>>>(*r);
    HS_CUDA_LAUNCHED(err, "evaluate_partial", blocks, THREADS);
    return HS_OK;
}

hs_status hs_cuda_partial_evaluate(const hs_cuda_partial *partial, const hs_cuda_patch *patch,
                                   const hs_cuda_moments *moments, double scale,
                                   hs_precision precision, cudaStream_t stream, hs_error *err)
{
    const hs_partial &plan = partial->plan;
    request r = {};
    take_code(&r, plan.code, plan.length);
    for (int n = 0; n < plan.tables; n++) {
        r.table[n] = partial->table[n];
        r.level[n] = plan.table[n].varies & HS_VARIES_T ? partial->apart[n] : 0;
        for (int axis = 0; axis < HS_AXES; axis++)
            r.stride[n][axis] = (int)partial->stride[n][axis];
    }
    return launch(&r, patch, moments, scale, plan.depth, precision, stream, err);
}

/* Values on the stack at most; no more than are counted. */
static int depth_of(const hs_expression *expression)
{
    int depth = 0, most = 0;
    for (int i = 0; i < expression->length; i++) {
        depth += 1 - hs_operation_arguments(expression->code[i].operation);
        most = depth > most ? depth : most;
    }
    return most;
}

bool hs_cuda_is_short(const hs_expression *expression)
{
    return expression->length <= HS_PARTIAL_LONGEST && depth_of(expression) <= HS_PARTIAL_DEPTH;
}

hs_status hs_cuda_evaluate_short(const hs_expression *expression, const hs_cuda_patch *patch,
                                 const hs_cuda_moments *moments, double scale,
                                 hs_precision precision, cudaStream_t stream, hs_error *err)
{
    request r = {};
    take_code(&r, expression->code, expression->length);
    return launch(&r, patch, moments, scale, depth_of(expression), precision, stream, err);
}
