/* Fields and their sums for methods of many stages: core/vectors.h on the GPU. */
#include "core/cuda_numbers.cuh"
#include "engine/backends/cuda_state.cuh"

#include <assert.h>
#include <stdlib.h>
#include <utility>

namespace
{

enum { THREADS = 256 };
const int64_t most_blocks = 65535; /* along y or z */

/* ---- fields ---------------------------------------------------------------------------------- */

double bytes(const hs_problem *problem, int fields)
{
    const hs_layout layout = hs_cuda_layout(problem);
    const double one = (double)hs_cuda_field_bytes(&layout, problem->precision);
    return fields > 2 ? (fields - 2) * one : 0.0;
}

hs_status no_memory(const hs_backend_state *state, int fields, size_t free_bytes, hs_error *err)
{
    const double wanted = bytes(state->problem, fields);
    return hs_error_add(err, HS_DEVICE,
                        "not enough device memory for the stages of time.method: %d more fields "
                        "need %.0f bytes (%.2f GiB), %zu are free; take fewer grid.points, or "
                        "euler",
                        fields - 2, wanted, wanted / 0x1p30, free_bytes);
}

hs_status reserve(hs_backend_state *state, int fields, hs_error *err)
{
    const int count = fields - 2;
    size_t free_bytes = 0, all_bytes = 0;
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    HS_CUDA_TRY(err, cudaMemGetInfo(&free_bytes, &all_bytes));
    if (count <= state->more_count)
        return HS_OK;
    const size_t each = hs_cuda_field_bytes(&state->layout, state->problem->precision);
    const double wanted = (double)(count - state->more_count) * (double)each;
    state->more = (char **)hs_grow(state->more, (size_t)count, sizeof *state->more);
    if (wanted + hs_cuda_left_free > (double)free_bytes)
        return no_memory(state, fields, free_bytes, err);
    for (; state->more_count < count; state->more_count++) {
        char *field = NULL;
        HS_TRY(hs_cuda_field_take(state, &field, err));
        state->more[state->more_count] = field;
        HS_CUDA_TRY(err, cudaMemcpyAsync(field, state->field[state->now], each,
                                         cudaMemcpyDeviceToDevice, state->stream));
    }
    return HS_OK;
}

/* A CUDA graph of sweeps contains the addresses of fields. */
void exchange(hs_backend_state *state, int a, int b)
{
    hs_cuda_graph_release(&state->graph);
    std::swap(*hs_cuda_field_of(state, a), *hs_cuda_field_of(state, b));
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/* Makes these the state's two fields while the call is submitted. */
hs_status call(hs_backend_state *state, const hs_span *span, int steps, int from, int to,
               const hs_recursion *recursion, hs_error *err)
{
    assert(from != to && state->rotation.pairs == 0);
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    char *const kept[2] = {state->field[0], state->field[1]};
    char *const begins = *hs_cuda_field_of(state, from), *const ends = *hs_cuda_field_of(state, to);
    const int now = state->now;
    state->field[now] = begins;
    state->field[now ^ 1] = ends;
    HS_TRY(hs_cuda_call(state, span, 0, steps, NULL, recursion, err));
    state->field[0] = kept[0];
    state->field[1] = kept[1];
    state->now = now;
    return HS_OK;
}

hs_status sweep(hs_backend_state *state, const hs_span *span, int from, int to, hs_error *err)
{
    return call(state, span, 1, from, to, NULL, err);
}

int recursion(const hs_backend_state *state)
{
    return state->plan.recursion;
}

hs_status recur(hs_backend_state *state, const hs_span *span, const hs_recurrence *fields,
                const double *factor, int steps, hs_error *err)
{
    assert(steps > 0 && steps <= state->plan.recursion);
    const hs_recursion recursion = {hs_cuda_field(state, fields->before),
                                    steps > 1 ? hs_cuda_field(state, fields->last_but_one) : NULL,
                                    factor};
    return call(state, span, steps, fields->in, fields->out, &recursion, err);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Fields are given by the first node of a box. points: the box's; lo, hi: the free nodes, from
 * there. Nodes of a body that are not free get the base's value where `rate` says so: dt/C of each
 * node, or of each row of a palette. */
template <typename T>
struct sum {
    T *out;
    const T *base, *plus[HS_TERMS], *minus[HS_TERMS];
    T factor[HS_TERMS];
    int count;
    int64_t points[HS_AXES], pitch[HS_AXES], lo[HS_AXES], hi[HS_AXES];
    const T *rate;      /* NULL: not checked */
    const void *number; /* NULL: no palette */
    int number_bytes;
};

template <typename T>
__device__ bool changes(const sum<T> &s, int64_t at)
{
    if (!s.rate)
        return true;
    if (!s.number)
        return s.rate[at] != (T)0;
    const int row =
        s.number_bytes == 1 ? ((const uint8_t *)s.number)[at] : ((const uint16_t *)s.number)[at];
    return s.rate[row * HS_ROW_NUMBERS] != (T)0;
}

/* A field that an earlier term has loaded is not loaded again. */
template <typename T>
__device__ void sum_at(const sum<T> &s, int64_t at, bool is_free)
{
    const T base = s.base[at];
    T value = base, minus = base;
    if (is_free && changes(s, at))
        for (int k = 0; k < s.count; k++) {
            const T plus = s.plus[k] == s.base ? base : s.plus[k][at];
            minus = k > 0 && s.minus[k] == s.minus[k - 1] ? minus : s.minus[k][at];
            value = star::fused(s.factor[k], plus - minus, value);
        }
    s.out[at] = value;
}

template <typename T>
__global__ void __launch_bounds__(THREADS) sums(const __grid_constant__ sum<T> s)
{
    for (int64_t k = blockIdx.z; k < s.points[HS_Z]; k += gridDim.z)
        for (int64_t j = (int64_t)blockIdx.y * blockDim.y + threadIdx.y; j < s.points[HS_Y];
             j += (int64_t)gridDim.y * blockDim.y) {
            const int64_t row = j * s.pitch[HS_Y] + k * s.pitch[HS_Z];
            const bool inside =
                j >= s.lo[HS_Y] && j < s.hi[HS_Y] && k >= s.lo[HS_Z] && k < s.hi[HS_Z];
            for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < s.points[HS_X];
                 i += (int64_t)gridDim.x * blockDim.x)
                sum_at(s, row + i, inside && i >= s.lo[HS_X] && i < s.hi[HS_X]);
        }
}

unsigned blocks_of(int64_t count, int64_t each)
{
    const int64_t blocks = (count + each - 1) / each;
    return (unsigned)(blocks < most_blocks ? blocks : most_blocks);
}

/* Sets `rate` and `number`, from `element` on. */
template <typename T>
void ask_rates(const hs_network_view *view, int64_t element, sum<T> *out)
{
    const bool arrays = view->form == HS_NETWORK_ARRAYS;
    out->rate = arrays ? (const T *)view->rate + element : (const T *)view->row + HS_AXES;
    out->number_bytes = view->form == HS_NETWORK_BYTES ? 1 : 2;
    out->number = arrays ? NULL : (const char *)view->number + element * out->number_bytes;
}

template <typename T>
hs_status add(hs_backend_state *state, int out, int base, const hs_term *terms, int count,
              const hs_box *box, hs_error *err)
{
    const int64_t first =
        hs_layout_offset(&state->layout, box->lo[HS_X], box->lo[HS_Y], box->lo[HS_Z]);
    const auto origin_of = [state, first](int number) {
        return (T *)hs_cuda_field(state, number) + first;
    };
    sum<T> s = {};
    s.out = origin_of(out);
    s.base = origin_of(base);
    s.count = count;
    for (int k = 0; k < count; k++) {
        s.plus[k] = origin_of(terms[k].plus);
        s.minus[k] = origin_of(terms[k].minus);
        s.factor[k] = (T)terms[k].factor;
    }
    for (int axis = 0; axis < HS_AXES; axis++) {
        s.points[axis] = box->hi[axis] - box->lo[axis];
        s.pitch[axis] = state->layout.pitch[axis];
        s.lo[axis] = state->of.box.lo[axis] - box->lo[axis];
        s.hi[axis] = state->of.box.hi[axis] - box->lo[axis];
    }
    if (state->network.varies) /* else nodes that are not free are the same in all fields */
        ask_rates(&state->network.view, first, &s);
    /* as many threads along x as a row has nodes, up to a block's; along y the rest of the block */
    unsigned along = 1;
    while (along < THREADS && along < s.points[HS_X])
        along *= 2;
    const dim3 threads(along, THREADS / along);
    const dim3 blocks(blocks_of(s.points[HS_X], threads.x), blocks_of(s.points[HS_Y], threads.y),
                      blocks_of(s.points[HS_Z], 1));
    sums<<<blocks, threads, 0, state->stream>>>(s);
    HS_CUDA_LAUNCHED(err, "sums", (int64_t)blocks.x * blocks.y * blocks.z, THREADS);
    return HS_OK;
}

hs_status combine(hs_backend_state *state, int out, int base, const hs_term *terms, int count,
                  const hs_box *but, hs_error *err)
{
    assert(out != base && count <= HS_TERMS);
    hs_box box[HS_FACES] = {hs_grid_box(&state->problem->grid)};
    const hs_box all = box[0];
    const int boxes = but ? hs_box_shell(&all, but, box) : 1;
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    for (int n = 0; n < boxes; n++)
        HS_TRY(hs_cuda_typed(state->problem->precision, [&](auto zero) {
            return add<decltype(zero)>(state, out, base, terms, count, &box[n], err);
        }));
    return HS_OK;
}

hs_status finish(hs_backend_state *state, bool known, hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    state->change = known ? HS_CUDA_CHANGE_BY_FIELDS : HS_CUDA_CHANGE_NOT_KNOWN;
    const cudaError_t status = cudaStreamSynchronize(state->stream);
    return status == cudaSuccess
               ? HS_OK
               : hs_error_add(err, HS_DEVICE, "cuda: after the stages by kernel %s: %s",
                              state->kernel->name, cudaGetErrorString(status));
}

} // namespace

void hs_cuda_vectors_release(hs_backend_state *state)
{
    for (int n = 0; n < state->more_count; n++)
        hs_cuda_field_give(state, state->more[n]);
    free(state->more);
}

const hs_vectors hs_cuda_vectors = {
    .bytes = bytes,
    .reserve = reserve,
    .sweep = sweep,
    .combine = combine,
    .recursion = recursion,
    .recur = recur,
    .exchange = exchange,
    .finish = finish,
};
