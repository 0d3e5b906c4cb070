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
 * row is computed into a strip in the L1 cache and copied out from there by non-temporal stores,
 * which leave the cache alone; while they drain, the next row is computed and those after it are
 * asked for. Where both fields fit in the cache, stores are plain: there the bypass would cost what
 * it saves otherwise.
 *
 * The rows are plain C with explicit fma() in the order of core/stencil.h, one variant per
 * precision, dims and radius by the macros at the end, each compiled for the machine's baseline
 * and on x86-64 for AVX2 + FMA and AVX-512 too; the widest that runs is chosen when the program
 * runs. Without FMA hardware fma() is emulated: slow, and the same bits.
 *
 * Words per point: 2 (one read, one written), plus 2*radius/rows of a block.
 * Source: blocking of the middle axis, Rivera and Tseng, SC 2000; streaming stores, Datta et al.,
 * SIAM Review 51 (2009).
 *
 * Measured: 1.2 GCell/s on one core of an AMD EPYC (Zen 4), double, 3D radius 1, 384^3, 2026-11-21;
 * 0.8 without asking ahead. heatsolve bench measures it anywhere, against a copy beside it.
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
    STRIP_BYTES = 8192,        /* of a row at a time: a quarter of the L1 cache */
    BLOCK_BYTES = 1024 * 1024, /* of the planes that a block keeps */
    WIDEST_ROW = 1 << 17,      /* bytes: longer rows are cut, so that a block has several */
    LINE_BYTES = 64,
    POINTS_PER_THREAD = 1 << 14,   /* some microseconds of work */
    AHEAD_BYTES = 6144,            /* how far before its use a row is asked for */
    CACHE_BYTES = 16 * 1024 * 1024 /* fields that fit in this much last-level cache stay there */
};

/* One row's work: out[i] = start + sum of c * neighbours, i < n; c in the order of the additions.
 */
struct row {
    const void *in; /* the row's first point */
    int64_t py, pz; /* elements to the next row and plane */
    const void *c;
    const void *source; /* at the row's first point, or NULL: start from source_value */
    double source_value;
    int64_t n;
};
typedef void row_function(const struct row *row, void *out);

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

#define DEFINE_ROW(ISA, TARGET, T, D, R)                                                           \
    TARGET static void row_##ISA##_##T##_##D##R(const struct row *row, void *to)                   \
    {                                                                                              \
        T *restrict out = to;                                                                      \
        const T *in = row->in, *source = row->source;                                              \
        const int64_t py = row->py, pz = row->pz, n = row->n;                                      \
        const T start = (T)row->source_value;                                                      \
        T c[HS_MAX_COEFFICIENTS];                                                                  \
        memcpy(c, row->c, sizeof c);                                                               \
        if (source)                                                                                \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = point_##T(D, R, in + i, py, pz, c, source[i]);                            \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++)                                                        \
                out[i] = point_##T(D, R, in + i, py, pz, c, start);                                \
    }

#define DEFINE_RADII(ISA, TARGET, T, D)                                                            \
    DEFINE_ROW(ISA, TARGET, T, D, 1)                                                               \
    DEFINE_ROW(ISA, TARGET, T, D, 2)                                                               \
    DEFINE_ROW(ISA, TARGET, T, D, 3)
#define DEFINE_DIMS(ISA, TARGET, T)                                                                \
    DEFINE_RADII(ISA, TARGET, T, 1)                                                                \
    DEFINE_RADII(ISA, TARGET, T, 2)                                                                \
    DEFINE_RADII(ISA, TARGET, T, 3)

#define NAME_RADII(ISA, T, D)                                                                      \
    {                                                                                              \
        row_##ISA##_##T##_##D##1, row_##ISA##_##T##_##D##2, row_##ISA##_##T##_##D##3               \
    }
#define NAME_DIMS(ISA, T)                                                                          \
    {                                                                                              \
        NAME_RADII(ISA, T, 1), NAME_RADII(ISA, T, 2), NAME_RADII(ISA, T, 3)                        \
    }
/* All rows for one instruction set, found by [precision][dims - 1][radius - 1]. */
#define DEFINE_ISA(ISA, TARGET)                                                                    \
    DEFINE_DIMS(ISA, TARGET, float)                                                                \
    DEFINE_DIMS(ISA, TARGET, double)                                                               \
    static row_function *const rows_##ISA[HS_PRECISIONS][HS_AXES][HS_MAX_RADIUS] = {               \
        [HS_FLOAT] = NAME_DIMS(ISA, float), [HS_DOUBLE] = NAME_DIMS(ISA, double)};

DEFINE_ISA(baseline, )
#ifdef HAS_X86
DEFINE_ISA(avx2, __attribute__((target("avx2,fma"))))
DEFINE_ISA(avx512, __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))))
#endif

static row_function *find_row(const struct hs_sweep *s)
{
    const int dims = s->stencil->dims - 1, radius = s->stencil->radius - 1;
#ifdef HAS_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
        return rows_avx512[s->precision][dims][radius];
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return rows_avx2[s->precision][dims][radius];
#endif
    return rows_baseline[s->precision][dims][radius];
}

struct job {
    const struct hs_sweep *sweep;
    row_function *row;
    double c[HS_MAX_COEFFICIENTS]; /* or floats, in the order of the additions */
    size_t size;                   /* bytes of a value */
    bool streaming;
    int64_t lead;
    int threads;
    int64_t cut[HS_AXES]; /* pieces that the box is cut into along each axis */
};

/* Asks for what the rows to come will read first. Without it the bursts of stores and the loads
 * take turns; with it they overlap. Into the L2 cache: the L1 cache is too small to keep them. */
static void call_in(const char *from, int64_t bytes)
{
#ifdef __GNUC__
    for (int64_t b = 0; b < bytes; b += 64)
        __builtin_prefetch((const void *)((uintptr_t)from + AHEAD_BYTES + (uintptr_t)b), 0, 2);
#endif
}

/* What a row function is told of n points from (i, j, k) on. */
static struct row describe_row(const struct job *job, int64_t i, int64_t j, int64_t k, int64_t n)
{
    const struct hs_sweep *s = job->sweep;
    const int64_t at = hs_layout_offset(&s->layout, i, j, k) * (int64_t)job->size;
    return (struct row){
        .in = (const char *)s->in + at,
        .py = s->layout.pitch[HS_Y],
        .pz = s->layout.pitch[HS_Z],
        .c = job->c,
        .source = s->source ? (const char *)s->source + at : NULL,
        .source_value = s->source ? 0.0 : s->source_value[0],
        .n = n,
    };
}

static char *out_at(const struct job *job, int64_t i, int64_t j, int64_t k)
{
    return (char *)job->sweep->out +
           hs_layout_offset(&job->sweep->layout, i, j, k) * (int64_t)job->size;
}

/*
 * Row (j, k) from i0 to i1 by whole cache lines: the strip begins and ends at lines, which makes
 * most loads aligned and leaves no remainder, and only the points of the box are copied out. What
 * is computed beside them comes from values in the layout's gaps, whatever they are.
 */
static void stream_row(const struct job *job, int64_t i0, int64_t i1, int64_t j, int64_t k)
{
    const int64_t size = (int64_t)job->size, strip = STRIP_BYTES / size, line = LINE_BYTES / size;
    _Alignas(LINE_BYTES) char buffer[STRIP_BYTES];
    for (int64_t from = i0 / line * line; from < i1; from += strip) {
        const int64_t to = from + strip < i1 ? from + strip : i1;
        const int64_t begin = from > i0 ? from : i0;
        const struct row row = describe_row(job, from, j, k, (to - from + line - 1) / line * line);
        call_in((const char *)row.in + job->lead, row.n * size);
        job->row(&row, buffer);
        hs_stream_copy(out_at(job, begin, j, k), buffer + (begin - from) * size,
                       (size_t)((to - begin) * size));
    }
}

static void sweep_row(const struct job *job, int64_t i0, int64_t i1, int64_t j, int64_t k)
{
    if (job->streaming) {
        stream_row(job, i0, i1, j, k);
    } else {
        const struct row row = describe_row(job, i0, j, k, i1 - i0);
        job->row(&row, out_at(job, i0, j, k));
    }
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

static enum hs_status sweep(const struct hs_sweep *s, struct hs_error *err)
{
    (void)err;
    const int64_t points = hs_box_count(&s->box);
    if (points == 0)
        return HS_OK;
    struct job job = {.sweep = s, .row = find_row(s), .size = hs_precision_size(s->precision)};
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(s->stencil, terms);
    for (int n = 0; n < count; n++)
        hs_write(s->precision, job.c, n, terms[n].c);
    const int words = s->source ? 3 : 2;
    job.streaming = points * words * (int64_t)job.size > CACHE_BYTES;
    /* a thread is worth waking for some microseconds of work */
    const int64_t worth = divide_up(points, POINTS_PER_THREAD);
    job.threads = worth < s->threads ? (int)worth : s->threads;
    cut_box(&job);
    job.lead = s->stencil->radius * s->layout.pitch[s->stencil->dims - 1] * (int64_t)job.size;

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
