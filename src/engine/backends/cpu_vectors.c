/* Fields by number on the CPU: sums for methods of many stages (core/vectors.h), and layers for
 * ranks (core/halo.h). */
#include "core/machine.h"
#include "core/memory.h"
#include "engine/backends/cpu_parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static double bytes(const struct hs_problem *problem, int fields)
{
    return fields > 2 ? (fields - 2) * hs_cpu_field_bytes(problem) : 0.0;
}

static struct hs_cpu_field *field_of(struct hs_backend_state *state, int number)
{
    assert(number >= 0 && number < 2 + state->more_count);
    return number == 0 ? &state->now : number == 1 ? &state->next : &state->more[number - 2];
}

static struct hs_layers layers(struct hs_backend_state *state, int field, int64_t from, int64_t to)
{
    const struct hs_layout *layout = &state->layout;
    const int axis = state->problem->grid.dims - 1;
    const int64_t size =
        layout->pitch[axis] * (int64_t)hs_precision_size(state->problem->precision);
    return (struct hs_layers){.at = (char *)field_of(state, field)->origin + from * size,
                              .bytes = (size_t)((to - from) * size)};
}

static enum hs_status wait(struct hs_backend_state *state, struct hs_error *err)
{
    (void)state, (void)err; /* sweeps are done when they return */
    return HS_OK;
}

const struct hs_halo hs_cpu_halo = {.layers = layers, .ask = hs_cpu_sweep, .wait = wait};

static enum hs_status no_memory(const struct hs_backend_state *state, int fields,
                                struct hs_error *err)
{
    const double wanted = bytes(state->problem, fields);
    return hs_error_add(err, HS_DEVICE,
                        "not enough memory for the stages of time.method: %d more fields need %.0f "
                        "bytes (%.2f GiB), %.0f are free; take fewer grid.points, or euler",
                        fields - 2, wanted, wanted / 0x1p30, hs_machine_memory_free("").bytes);
}

static enum hs_status reserve(struct hs_backend_state *state, int fields, struct hs_error *err)
{
    const int count = fields - 2;
    if (count <= state->more_count)
        return HS_OK;
    state->more = hs_grow(state->more, (size_t)count, sizeof *state->more);
    if (bytes(state->problem, 2 + count - state->more_count) > hs_machine_memory_free("").bytes)
        return no_memory(state, fields, err);
    const enum hs_precision precision = state->problem->precision;
    for (; state->more_count < count; state->more_count++) {
        struct hs_cpu_field *field = &state->more[state->more_count];
        const size_t shift = state->more_count % 2 ? hs_cpu_shift(&state->layout, precision) : 0;
        if (!hs_cpu_field_create(&state->layout, precision, state->threads, shift, field))
            return no_memory(state, fields, err);
        hs_cpu_field_copy(&state->layout, precision, state->threads, &state->now, field);
    }
    return HS_OK;
}

void hs_cpu_vectors_release(struct hs_backend_state *state)
{
    for (int n = 0; n < state->more_count; n++)
        hs_cpu_field_destroy(&state->more[n]);
    free(state->more);
}

static enum hs_status call(struct hs_backend_state *state, const struct hs_span *span, int steps,
                           int from, int to, const struct hs_recursion *recursion,
                           struct hs_error *err)
{
    assert(from != to);
    return hs_cpu_call(state, span, 0, steps, field_of(state, from)->origin,
                       field_of(state, to)->origin, recursion, err);
}

static enum hs_status sweep(struct hs_backend_state *state, const struct hs_span *span, int from,
                            int to, struct hs_error *err)
{
    return call(state, span, 1, from, to, NULL, err);
}

static int recursion(const struct hs_backend_state *state)
{
    return state->plan.recursion;
}

static enum hs_status recur(struct hs_backend_state *state, const struct hs_span *span,
                            const struct hs_recurrence *fields, const double *factor, int steps,
                            struct hs_error *err)
{
    assert(steps > 0 && steps <= state->plan.recursion);
    const struct hs_recursion recursion = {
        .before = field_of(state, fields->before)->origin,
        .last_but_one = steps > 1 ? field_of(state, fields->last_but_one)->origin : NULL,
        .factor = factor};
    return call(state, span, steps, fields->in, fields->out, &recursion, err);
}

/* ---- sums ------------------------------------------------------------------------------------ */

/* Fields are given by node (0, 0, 0). */
struct sum {
    void *out;
    const void *base, *plus[HS_TERMS], *minus[HS_TERMS];
    double factor[HS_TERMS];
    int count;
};

#define TERM(T, FMA, k, sum_so_far)                                                                \
    FMA((T)row->factor[k], ((const T *)row->plus[k])[i] - ((const T *)row->minus[k])[i], sum_so_far)

#define EACH(T, value)                                                                             \
    _Pragma("omp simd") for (int64_t i = first; i < end; i++)((T *)row->out)[i] = value

/* Elements first <= i < end of the base plus the first `count` terms. */
#define DEFINE_ROW(NAME, T, FMA)                                                                   \
    static void NAME(const struct sum *row, int count, int64_t first, int64_t end)                 \
    {                                                                                              \
        const T *base = row->base;                                                                 \
        if (count == 0)                                                                            \
            EACH(T, base[i]);                                                                      \
        else if (count == 1)                                                                       \
            EACH(T, TERM(T, FMA, 0, base[i]));                                                     \
        else if (count == 2)                                                                       \
            EACH(T, TERM(T, FMA, 1, TERM(T, FMA, 0, base[i])));                                    \
        else                                                                                       \
            EACH(T, TERM(T, FMA, 2, TERM(T, FMA, 1, TERM(T, FMA, 0, base[i]))));                   \
    }

/* Without hardware support fma() is emulated: slow, but with the same bits. */
DEFINE_ROW(any_float, float, fmaf)
DEFINE_ROW(any_double, double, fma)

#if defined(__x86_64__) && defined(__GNUC__)
#define AVX2 __attribute__((target("avx2,fma")))
AVX2 DEFINE_ROW(avx2_float, float, __builtin_fmaf)
AVX2 DEFINE_ROW(avx2_double, double, __builtin_fma)
#endif

    typedef void row_function(const struct sum *row, int count, int64_t first, int64_t end);

static row_function *row_of(enum hs_precision precision)
{
    const bool single = precision == HS_FLOAT;
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return single ? avx2_float : avx2_double;
#endif
    return single ? any_float : any_double;
}

/* Sets nodes lo <= i < hi of a body's row (j, k) that are not free to the base's value. */
static void keep_held(const struct hs_backend_state *state, const struct sum *all, int64_t j,
                      int64_t k, int64_t lo, int64_t hi)
{
    const enum hs_precision precision = state->problem->precision;
    const int64_t first = (k * state->layout.points[HS_Y] + j) * state->layout.points[HS_X];
    const int64_t at = hs_layout_offset(&state->layout, 0, j, k);
    for (int64_t i = lo; i < hi; i++)
        if (hs_network_row_at(state->problem->network, first + i)->kind != HS_NODE_FREE)
            hs_write(precision, all->out, at + i, hs_read(precision, all->base, at + i));
}

/* Held nodes differ from field to field only where walls prescribe values that change. */
static bool holds_differ(const struct hs_backend_state *state)
{
    const struct hs_network *network = state->problem->network;
    return network && (state->network.varies || network->given.count > 0);
}

static int64_t within(int64_t i, int64_t lo, int64_t hi)
{
    return i < lo ? lo : i > hi ? hi : i;
}

/* Nodes lo <= i < hi of row (j, k): those that are free, and those on both sides of them. */
static void combine_nodes(const struct hs_backend_state *state, const struct sum *all,
                          row_function *row, int64_t j, int64_t k, int64_t lo, int64_t hi)
{
    const struct hs_box *free_nodes = &state->interior;
    const bool is_free = j >= free_nodes->lo[HS_Y] && j < free_nodes->hi[HS_Y] &&
                         k >= free_nodes->lo[HS_Z] && k < free_nodes->hi[HS_Z];
    const int64_t begin = is_free ? within(free_nodes->lo[HS_X], lo, hi) : hi;
    const int64_t end = is_free ? within(free_nodes->hi[HS_X], lo, hi) : hi;
    const int64_t first = hs_layout_offset(&state->layout, 0, j, k);
    row(all, 0, first + lo, first + begin);
    row(all, all->count, first + begin, first + end);
    row(all, 0, first + end, first + hi);
    if (holds_differ(state))
        keep_held(state, all, j, k, lo, hi);
}

/* Prefetches a row's end, of a few nodes, ROWS rows ahead. */
static void ask_ahead(const struct hs_backend_state *state, const struct sum *all, int64_t r)
{
    enum { ROWS = 8 };
    const int64_t ny = state->layout.points[HS_Y], nx = state->layout.points[HS_X];
    const int64_t end = hs_layout_offset(&state->layout, nx - 1, (r + ROWS) % ny, (r + ROWS) / ny);
    if (r + ROWS >= ny * state->layout.points[HS_Z])
        return;
    const size_t bytes = (size_t)end * hs_precision_size(state->problem->precision);
    __builtin_prefetch((const char *)all->base + bytes);
    for (int k = 0; k < all->count; k++)
        __builtin_prefetch((const char *)all->plus[k] + bytes);
}

static void combine_row(const struct hs_backend_state *state, const struct sum *all,
                        row_function *row, const struct hs_box *but, int64_t r)
{
    const int64_t nx = state->layout.points[HS_X], ny = state->layout.points[HS_Y];
    const int64_t j = r % ny, k = r / ny;
    const bool inside =
        but && j >= but->lo[HS_Y] && j < but->hi[HS_Y] && k >= but->lo[HS_Z] && k < but->hi[HS_Z];
    if (!inside) {
        combine_nodes(state, all, row, j, k, 0, nx);
        return;
    }
    ask_ahead(state, all, r);
    combine_nodes(state, all, row, j, k, 0, but->lo[HS_X]);
    combine_nodes(state, all, row, j, k, but->hi[HS_X], nx);
}

static enum hs_status combine(struct hs_backend_state *state, int out, int base,
                              const struct hs_term *terms, int count, const struct hs_box *but,
                              struct hs_error *err)
{
    (void)err;
    assert(out != base && count <= HS_TERMS);
    row_function *const row = row_of(state->problem->precision);
    struct sum all = {
        field_of(state, out)->origin, field_of(state, base)->origin, {NULL}, {NULL}, {0.0}, count};
    for (int k = 0; k < count; k++) {
        all.plus[k] = field_of(state, terms[k].plus)->origin;
        all.minus[k] = field_of(state, terms[k].minus)->origin;
        all.factor[k] = terms[k].factor;
    }
    const int64_t rows = state->layout.points[HS_Y] * state->layout.points[HS_Z];
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t r = 0; r < rows; r++)
        combine_row(state, &all, row, but, r);
    return HS_OK;
}

static void exchange(struct hs_backend_state *state, int a, int b)
{
    hs_cpu_field_exchange(field_of(state, a), field_of(state, b));
}

static enum hs_status finish(struct hs_backend_state *state, bool known, struct hs_error *err)
{
    (void)err;
    state->change_known = known;
    return HS_OK;
}

const struct hs_vectors hs_cpu_vectors = {
    .bytes = bytes,
    .reserve = reserve,
    .sweep = sweep,
    .combine = combine,
    .recursion = recursion,
    .recur = recur,
    .exchange = exchange,
    .finish = finish,
};
