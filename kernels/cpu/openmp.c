/*
 * openmp: threads, SIMD, cache blocks, and rows that bypass the cache on their way out.
 *
 * The idea: a sweep is bound by memory, so each value is to be read from memory once and written
 * once, and nothing else is to move. Each thread takes a slab of the outermost axis and marches
 * through it by blocks of rows, so narrow that the 2*radius+1 planes of a block stay in its cache:
 *
 *          z |  thread 1      +---- block of rows ----+
 *            |                |  z+1   just read      |  <- memory
 *            |  ----------    |  z     now updated    |  <- cache
 *            |  thread 0      |  z-1   read last      |  <- cache
 *            +------------ y  +-----------------------+
 *
 * An ordinary store would first read the line that it is about to overwrite: a third word. So a
 * row goes out by non-temporal stores, which leave the cache alone. And a core that waits for loads
 * neither adds nor stores, so the plane that is new is asked for ahead of its use. All three take
 * turns by two cache lines of a row, finer than the core's queues are deep, so that they overlap:
 *
 *     for each two lines of the row:  ask for two lines of the plane to come, some rows on
 *                                     add up two lines' points
 *                                     store them past the cache
 *
 * Where the fields fit in the cache stores are plain: there the bypass would cost what it saves
 * otherwise.
 *
 * The rows are plain C with explicit fma() in the order of core/stencil.h, one variant per
 * precision, dims and radius by the macros below, each compiled for the machine's baseline and on
 * x86-64 for AVX2 with FMA too (AVX-512 was tried and is no faster: memory decides); which is taken
 * is found when the program runs. Without FMA hardware fma() is emulated: slow, and the same bits.
 *
 * Words per point: 2 (one read, one written), plus 2*radius/rows of a block.
 * Source: blocking of the middle axis, Rivera and Tseng, SC 2000; streaming stores, Datta et al.,
 * SIAM Review 51 (2009).
 *
 * Measured: 2.0 to 2.2 GCell/s on two cores of an AMD EPYC (Zen 4), double, 3D radius 1, 384^3,
 * 0.74 to 0.77 of the copy (medians of 25, 2026-11-21). On one core, in CPU time: 1.4; 0.8 without
 * asking ahead, 1.1 with rows asked for, added up and stored as a whole.
 */
#include "common.h"
#include "core/stream.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86 1
#endif

enum {
    LINE_BYTES = 64,
    PAIR_BYTES = 2 * LINE_BYTES,   /* what is asked for, added up and stored in turn */
    AHEAD_BYTES = 6144,            /* at least: how far before its use a line is asked for */
    LONG_ROW = 16 * 1024,          /* bytes: here a row ahead would be too far */
    BLOCK_BYTES = 1024 * 1024,     /* of the planes that a block keeps */
    WIDEST_ROW = 1 << 17,          /* bytes: longer rows are cut, so that a block has several */
    POINTS_PER_THREAD = 1 << 14,   /* some microseconds of work */
    CACHE_BYTES = 16 * 1024 * 1024 /* fields that fit in this much last-level cache stay there */
};

/* A row's work: out[i] = start + sum of c * neighbours, for first <= i < last; c in the order of
 * the additions. Streaming computes whole cache lines, 0 <= i < lines_end, and stores what is
 * wanted. */
struct row {
    const void *in; /* point i = 0 */
    int64_t py, pz; /* elements to the next row and plane */
    int64_t lead;   /* bytes from a point to the farthest that its sum reads */
    const void *c;
    const void *source; /* point i = 0, or NULL: start from source_value */
    double source_value;
    int64_t first, last, lines_end;
};
typedef void row_function(const struct row *row, void *out);

/* Asks for what rows to come will read first, into the L2 cache: the L1 cache cannot keep so much.
 */
HS_INLINE void call_in(const void *from, int64_t bytes)
{
#ifdef __GNUC__
    for (int64_t b = 0; b < bytes; b += LINE_BYTES)
        __builtin_prefetch((const void *)((uintptr_t)from + (uintptr_t)b), 0, 2);
#endif
}

/* dims and radius are constants wherever this is used, so that the loops unroll. */
#define DEFINE_POINT(T, FMA)                                                                       \
    HS_INLINE T point_##T(int dims, int radius, const T *in, int64_t py, int64_t pz, const T *c,   \
                          T sum)                                                                   \
    {                                                                                              \
        if (dims > 2)                                                                              \
            for (int m = radius; m > 0; m--)                                                       \
                sum = FMA(*c++, in[-m * pz], sum);                                                 \
        if (dims > 1)                                                                              \
            for (int m = radius; m > 0; m--)                                                       \
                sum = FMA(*c++, in[-m * py], sum);                                                 \
        for (int m = -radius; m <= radius; m++)                                                    \
            sum = FMA(*c++, in[m], sum);                                                           \
        if (dims > 1)                                                                              \
            for (int m = 1; m <= radius; m++)                                                      \
                sum = FMA(*c++, in[m * py], sum);                                                  \
        if (dims > 2)                                                                              \
            for (int m = 1; m <= radius; m++)                                                      \
                sum = FMA(*c++, in[m * pz], sum);                                                  \
        return sum;                                                                                \
    }
DEFINE_POINT(float, fmaf)
DEFINE_POINT(double, fma)

/* stream_ keeps the request in a local copy, since its stores might else be to the request itself,
 * which would then be read anew for each pair. plain_: the row into the cache. pair_: `points` of
 * it from i on, a constant number of lines, past the cache. stream_: the row by such pairs. */
#define DEFINE_ROW(ISA, TARGET, STREAM, T, D, R)                                                   \
    TARGET static void plain_##ISA##_##T##_##D##R(const struct row *row, void *to)                 \
    {                                                                                              \
        T *restrict out = to;                                                                      \
        const T *in = row->in, *source = row->source;                                              \
        const int64_t py = row->py, pz = row->pz, last = row->last;                                \
        const T start = (T)row->source_value;                                                      \
        T c[HS_MAX_COEFFICIENTS];                                                                  \
        memcpy(c, row->c, sizeof c);                                                               \
        if (source)                                                                                \
            for (int64_t i = row->first; i < last; i++)                                            \
                out[i] = point_##T(D, R, in + i, py, pz, c, source[i]);                            \
        else                                                                                       \
            for (int64_t i = row->first; i < last; i++)                                            \
                out[i] = point_##T(D, R, in + i, py, pz, c, start);                                \
    }                                                                                              \
    TARGET HS_INLINE void pair_##ISA##_##T##_##D##R(const struct row *row, const T *c, T *out,     \
                                                    int64_t i, int points)                         \
    {                                                                                              \
        const T *in = (const T *)row->in + i, *source = row->source;                               \
        const int64_t py = row->py, pz = row->pz;                                                  \
        const T start = (T)row->source_value;                                                      \
        _Alignas(LINE_BYTES) T sums[PAIR_BYTES / sizeof(T)];                                       \
        call_in((const char *)in + row->lead, points * (int64_t)sizeof(T));                        \
        if (source)                                                                                \
            for (int n = 0; n < points; n++)                                                       \
                sums[n] = point_##T(D, R, in + n, py, pz, c, source[i + n]);                       \
        else                                                                                       \
            for (int n = 0; n < points; n++)                                                       \
                sums[n] = point_##T(D, R, in + n, py, pz, c, start);                               \
        if (i >= row->first && i + points <= row->last) {                                          \
            STREAM((char *)(out + i), (const char *)sums, (size_t)points * sizeof(T));             \
        } else {                                                                                   \
            const int64_t from = i > row->first ? i : row->first;                                  \
            const int64_t to = i + points < row->last ? i + points : row->last;                    \
            hs_stream_copy(out + from, sums + (from - i), (size_t)(to - from) * sizeof(T));        \
        }                                                                                          \
    }                                                                                              \
    TARGET static void stream_##ISA##_##T##_##D##R(const struct row *given, void *to)              \
    {                                                                                              \
        enum { LINE = LINE_BYTES / sizeof(T) };                                                    \
        const struct row local = *given, *const row = &local;                                      \
        T c[HS_MAX_COEFFICIENTS];                                                                  \
        memcpy(c, row->c, sizeof c);                                                               \
        int64_t i = 0;                                                                             \
        for (; i + 2 * LINE <= row->lines_end; i += 2 * LINE)                                      \
            pair_##ISA##_##T##_##D##R(row, c, to, i, 2 * LINE);                                    \
        if (i < row->lines_end)                                                                    \
            pair_##ISA##_##T##_##D##R(row, c, to, i, LINE);                                        \
        call_in((const char *)row->in + row->lines_end * (int64_t)sizeof(T) + row->lead, 1);       \
    }

#define DEFINE_RADII(ISA, TARGET, STREAM, T, D)                                                    \
    DEFINE_ROW(ISA, TARGET, STREAM, T, D, 1)                                                       \
    DEFINE_ROW(ISA, TARGET, STREAM, T, D, 2)                                                       \
    DEFINE_ROW(ISA, TARGET, STREAM, T, D, 3)
#define DEFINE_DIMS(ISA, TARGET, STREAM, T)                                                        \
    DEFINE_RADII(ISA, TARGET, STREAM, T, 1)                                                        \
    DEFINE_RADII(ISA, TARGET, STREAM, T, 2)                                                        \
    DEFINE_RADII(ISA, TARGET, STREAM, T, 3)

#define NAME_RADII(HOW, ISA, T, D)                                                                 \
    {                                                                                              \
        HOW##_##ISA##_##T##_##D##1, HOW##_##ISA##_##T##_##D##2, HOW##_##ISA##_##T##_##D##3         \
    }
#define NAME_DIMS(HOW, ISA, T)                                                                     \
    {                                                                                              \
        NAME_RADII(HOW, ISA, T, 1), NAME_RADII(HOW, ISA, T, 2), NAME_RADII(HOW, ISA, T, 3)         \
    }
#define NAME_HOW(HOW, ISA)                                                                         \
    {                                                                                              \
        [HS_FLOAT] = NAME_DIMS(HOW, ISA, float), [HS_DOUBLE] = NAME_DIMS(HOW, ISA, double)         \
    }
/* All rows for one instruction set: [streaming][precision][dims - 1][radius - 1]. */
#define DEFINE_ISA(ISA, TARGET, STREAM)                                                            \
    DEFINE_DIMS(ISA, TARGET, STREAM, float)                                                        \
    DEFINE_DIMS(ISA, TARGET, STREAM, double)                                                       \
    static row_function *const rows_##ISA[2][HS_PRECISIONS][HS_AXES][HS_MAX_RADIUS] = {            \
        NAME_HOW(plain, ISA), NAME_HOW(stream, ISA)};

DEFINE_ISA(baseline, , hs_stream_lines_16)
#ifdef HAS_X86
DEFINE_ISA(avx2, __attribute__((target("avx2,fma"))), hs_stream_lines_32)
#endif

static row_function *find_row(const struct hs_sweep *s, bool streaming)
{
    const int dims = s->stencil->dims - 1, radius = s->stencil->radius - 1;
#ifdef HAS_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return rows_avx2[streaming][s->precision][dims][radius];
#endif
    return rows_baseline[streaming][s->precision][dims][radius];
}

struct job {
    const struct hs_sweep *sweep;
    row_function *row;
    double c[HS_MAX_COEFFICIENTS]; /* or floats, in the order of the additions */
    size_t size;                   /* bytes of a value */
    int64_t lead;
    int threads;
    int64_t cut[HS_AXES]; /* pieces that the box is cut into along each axis */
};

/*
 * Row (j, k) from i0 to i1. What streaming computes beside the box, up to whole lines, comes from
 * the layout's gaps: a row ends at a line at the soonest, and one more line follows the last.
 */
static void sweep_row(const struct job *job, int64_t i0, int64_t i1, int64_t j, int64_t k)
{
    const struct hs_sweep *s = job->sweep;
    const int64_t line = LINE_BYTES / (int64_t)job->size, begin = i0 / line * line;
    const int64_t at = hs_layout_offset(&s->layout, begin, j, k) * (int64_t)job->size;
    const struct row row = {
        .in = (const char *)s->in + at,
        .py = s->layout.pitch[HS_Y],
        .pz = s->layout.pitch[HS_Z],
        .lead = job->lead,
        .c = job->c,
        .source = s->source ? (const char *)s->source + at : NULL,
        .source_value = s->source ? 0.0 : s->source_value[0],
        .first = i0 - begin,
        .last = i1 - begin,
        .lines_end = (i1 - begin + line - 1) / line * line,
    };
    job->row(&row, (char *)s->out + at);
}

static int64_t cut_at(int64_t lo, int64_t hi, int64_t pieces, int64_t piece)
{
    return lo + (hi - lo) * piece / pieces;
}

/* Block number `n` of the box: x fastest, z slowest, so that consecutive ones share a slab. */
static void sweep_block(const struct job *job, int64_t n)
{
    const struct hs_box *box = &job->sweep->box;
    int64_t lo[HS_AXES], hi[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t piece = n % job->cut[axis];
        n /= job->cut[axis];
        lo[axis] = cut_at(box->lo[axis], box->hi[axis], job->cut[axis], piece);
        hi[axis] = cut_at(box->lo[axis], box->hi[axis], job->cut[axis], piece + 1);
    }
    for (int64_t k = lo[HS_Z]; k < hi[HS_Z]; k++)
        for (int64_t j = lo[HS_Y]; j < hi[HS_Y]; j++)
            sweep_row(job, lo[HS_X], hi[HS_X], j, k);
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Blocks whose planes stay in the cache, in slabs of the outermost axis, one per thread; where that
 * axis is too short, the next one in is cut for the threads too. */
static void cut_box(struct job *job)
{
    static const int64_t shortest[HS_AXES] = {512, 8, 8}; /* piece worth a thread, in points */
    const struct hs_sweep *s = job->sweep;
    const int dims = s->stencil->dims;
    int64_t extent[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        extent[axis] = s->box.hi[axis] - s->box.lo[axis];
    const int64_t planes = 2 * s->stencil->radius + 1;
    const int64_t row_bytes = extent[HS_X] * (int64_t)job->size;

    job->cut[HS_X] = dims > 1 ? divide_up(row_bytes, WIDEST_ROW) : 1;
    const int64_t rows = BLOCK_BYTES / (planes * divide_up(row_bytes, job->cut[HS_X]));
    job->cut[HS_Y] = dims > 2 ? divide_up(extent[HS_Y], rows > 1 ? rows : 1) : 1;
    job->cut[HS_Z] = 1;
    int64_t needed = job->threads;
    for (int axis = dims - 1; axis >= 0 && needed > 1; axis--) {
        const int64_t most = divide_up(extent[axis], shortest[axis]);
        const int64_t pieces = needed < most ? needed : most;
        if (pieces > job->cut[axis])
            job->cut[axis] = pieces;
        needed = divide_up(needed, pieces);
    }
}

/* From a point to what is asked for while it is added up: the farthest that its sum reads, whole
 * rows further on, so that every line of a row is asked for equally early; long rows, some way on.
 */
static int64_t lead_bytes(const struct hs_sweep *s)
{
    const int64_t size = (int64_t)hs_precision_size(s->precision);
    const int64_t farthest = s->stencil->radius * s->layout.pitch[s->stencil->dims - 1] * size;
    const int64_t row = s->layout.pitch[HS_Y] * size;
    return farthest + (row <= LONG_ROW ? divide_up(AHEAD_BYTES, row) * row : AHEAD_BYTES);
}

static enum hs_status sweep(const struct hs_sweep *s, struct hs_error *err)
{
    (void)err;
    const int64_t points = hs_box_count(&s->box);
    if (points == 0)
        return HS_OK;
    struct job job = {.sweep = s, .size = hs_precision_size(s->precision)};
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(s->stencil, terms);
    for (int n = 0; n < count; n++)
        hs_write(s->precision, job.c, n, terms[n].c);
    const int words = s->source ? 3 : 2;
    job.row = find_row(s, points * words * (int64_t)job.size > CACHE_BYTES);
    /* a thread is worth waking for some microseconds of work */
    const int64_t worth = divide_up(points, POINTS_PER_THREAD);
    job.threads = worth < s->threads ? (int)worth : s->threads;
    cut_box(&job);
    job.lead = lead_bytes(s);

    const int64_t blocks = job.cut[HS_X] * job.cut[HS_Y] * job.cut[HS_Z];
#pragma omp parallel num_threads(job.threads) if (job.threads > 1)
    {
#pragma omp for schedule(static)
        for (int64_t n = 0; n < blocks; n++)
            sweep_block(&job, n);
        hs_stream_fence();
    }
    return HS_OK;
}

const struct hs_kernel hs_kernel_cpu_openmp = {
    .name = "openmp",
    .idea = "threads, SIMD, cache blocks; rows streamed past the cache",
    .origin = "Rivera and Tseng, SC 2000; Datta et al., SIAM Review 51 (2009)",
    .device = HS_CPU,
    .dims = HS_ALL_DIMS,
    .radius = HS_ALL_RADII,
    .precision = HS_ALL_PRECISIONS,
    .steps = 1,
    .sweep = sweep,
};
