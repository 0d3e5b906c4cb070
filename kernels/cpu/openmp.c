/*
 * openmp: threads, SIMD, cache blocks, and rows that bypass the cache on their way out.
 *
 * A sweep is bound by memory, so each value should be read from memory once and written once, and
 * nothing else should move. Each thread takes a slab of the outermost axis and marches through it
 * in blocks of rows, so narrow that the 2*radius+1 planes of a block stay in its cache:
 *
 *          z |  thread 1      +---- block of rows ----+
 *            |                |  z+1   just read      |  <- memory
 *            |  ----------    |  z     now updated    |  <- cache
 *            |  thread 0      |  z-1   read last      |  <- cache
 *            +------------ y  +-----------------------+
 *
 * An ordinary store first reads the line that it overwrites: a third word. So rows are written by
 * non-temporal stores, which bypass the cache. Four planes are swept together, a cache line of each
 * in turn, so that six lines are read from the cache for four, not twelve, and the lines that are
 * read first two rows further on are prefetched:
 *
 *     for each line of the row:  of four planes:  prefetch that line of the row to come
 *                                                 add up the line's points, in a register
 *                                store the four lines, non-temporal
 *
 * Nothing else is stored in this loop: a store to the stack would wait behind the streamed ones.
 * Nor may a load share the lowest twelve bits of its address with a pending store, so the backend
 * pads planes and shifts one of the two fields (hs_cpu_layout, hs_cpu_shift). Held nodes at the
 * ends of rows are selected in a register. If the fields fit in the cache, stores are ordinary.
 *
 * Rows use vectors with explicit fma() in the order of core/stencil.h. The macros below make one
 * variant per precision, dims and radius, each compiled for the machine's baseline and on x86-64
 * also for AVX2 with FMA and for AVX-512; the program selects one when it runs.
 *
 * Sweeps of a recursion need one more word, X_n-1, over which X_n+1 is stored. If no ghosts have to
 * be filled between them, several go through the field together, some planes apart, so that all but
 * the first find their input in the cache.
 *
 * Words per point: 2 (one read, one written), plus 2*radius/rows of a block. conduction_sweep.c
 * sweeps a body of many materials in the same way. Measurements, and what else was tried:
 * docs/performance/two-cores.md. Source: blocking of the middle axis, Rivera and Tseng, SC 2000;
 * streaming stores, Datta et al., SIAM Review 51 (2009).
 */
#include "conduction_rows.h"
#include "core/stream.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86 1
#endif

enum {
    GROUP = 4,                    /* planes that are swept together */
    AHEAD_BYTES = 6144,           /* at least: how far before its use a line is prefetched */
    LONG_ROW = 16 * 1024,         /* bytes: in longer rows, a row ahead would be too far */
    BLOCK_BYTES = 2048 * 1024,    /* of the planes that a block keeps */
    WIDEST_ROW = 1 << 17,         /* bytes: longer rows are cut, so that a block has several */
    MOST_IN_PASS = 6,             /* most sweeps of a recursion in a pass, ... */
    SLAB = 4,                     /* ... planes that each advances by, ... */
    PASS_BYTES = 8 * 1024 * 1024, /* ... and bytes of all planes in use */
    POINTS_PER_THREAD = 1 << 14   /* some microseconds of work */
};

/* A row's work: out[i] = start + sum of c * neighbours, for first <= i < last; c in the order of
 * the additions. Whole cache lines, 0 <= i < lines_end, are computed, and from <= i < to is stored.
 * Points that are stored but not updated keep their values of `in`. */
struct row {
    const void *in; /* point i = 0 */
    int64_t py, pz; /* elements to the next row and plane */
    int64_t rows;   /* rows, one after the other along y */
    int planes;     /* in which these rows are swept */
    int64_t lead;   /* elements from a point to what is prefetched */
    const void *c;
    const void *source; /* point i = 0, or NULL: start from source_value */
    double source_value;
    int64_t first, last, from, to, lines_end;
    int64_t before; /* of a recursion (core/kernel.h): elements from a point to that of X_-1 */
    double factor;
};
typedef void row_function(const struct row *row, void *out);

/* Ordinary or non-temporal stores; or those of a recursion, which are ordinary, since what they
 * overwrite has just been read. */
enum way { PLAIN, STREAMED, RECURSION, WAYS };

/* dims, radius and `how` are constants wherever these are used. */

/* The addresses of a group's rows: the first bytes of all rows that it reads along the outermost
 * axis, and offsets from there to the current line, its neighbours along y, and others. So an
 * address is the sum of two registers, few of which change from line to line. */
struct place {
    const char *row[GROUP + 2 * HS_MAX_RADIUS]; /* from `radius` below the group on */
    int64_t at, far, out, before;
    int64_t down[HS_MAX_RADIUS + 1], up[HS_MAX_RADIUS + 1]; /* 1 to radius */
};

HS_INLINE void move_by(enum way how, struct place *place, int dims, int radius, int64_t bytes)
{
    place->at += bytes, place->far += bytes, place->out += bytes;
    AS_IT_IS(place->at);
    AS_IT_IS(place->far);
    AS_IT_IS(place->out);
    if (how == RECURSION) {
        place->before += bytes;
        AS_IT_IS(place->before);
    }
    for (int m = 1; m <= radius && dims > 2; m++) {
        place->down[m] += bytes, place->up[m] += bytes;
        AS_IT_IS(place->down[m]);
        AS_IT_IS(place->up[m]);
    }
}

/* `outer`: stride in bytes along the outermost axis; `row`: to the next row. */
HS_INLINE struct place place_at(enum way how, int dims, int radius, int planes, const char *in,
                                const char *out, int64_t outer, int64_t row, int64_t lead,
                                int64_t before)
{
    struct place place = {.far = lead - radius * outer, .out = out - in, .before = before};
    for (int n = 0; n < planes + 2 * (dims > 1 ? radius : 0); n++) {
        place.row[n] = in + (n - (dims > 1 ? radius : 0)) * outer;
        AS_IT_IS(place.row[n]);
    }
    for (int m = 1; m <= radius; m++)
        place.down[m] = -m * row, place.up[m] = m * row;
    move_by(how, &place, dims, radius, 0);
    return place;
}

/* sum_: the vector `beyond` bytes after the place, in the group's row `n`. lines_: the lines from
 * `first` to `last` of each row, non-temporal, a line of each in turn. Only streamed data may be
 * stored in there, not even an address that has no register: stores leave the core in order, and
 * wait behind streamed ones.
 * end_: a line that is stored whole but updated in part. part_: a line that is stored in part.
 * planes_: a row of each plane, except for part_, in the order of its lines: reading memory in
 * another order was a tenth slower. */
#define DEFINE_LINES(ISA, TARGET, T, V, LANES, LOAD, SET, FMA, SELECT, STORE, STREAM)              \
    TARGET HS_INLINE void put_##ISA##_##T(enum way how, T *to, V value)                            \
    {                                                                                              \
        if (how == STREAMED)                                                                       \
            STREAM(to, value);                                                                     \
        else                                                                                       \
            STORE(to, value);                                                                      \
    }                                                                                              \
    TARGET HS_INLINE V sum_##ISA##_##T(int dims, int radius, const struct place *p, int n,         \
                                       int beyond, const V *c, V sum)                              \
    {                                                                                              \
        const char *const *row = p->row + n + (dims > 1 ? radius : 0);                             \
        if (dims > 1)                                                                              \
            for (int m = radius; m > 0; m--)                                                       \
                sum = FMA(*c++, LOAD((const T *)(const void *)(row[-m] + p->at + beyond)), sum);   \
        if (dims > 2)                                                                              \
            for (int m = radius; m > 0; m--)                                                       \
                sum =                                                                              \
                    FMA(*c++, LOAD((const T *)(const void *)(row[0] + p->down[m] + beyond)), sum); \
        for (int m = -radius; m <= radius; m++)                                                    \
            sum = FMA(*c++, LOAD((const T *)(const void *)(row[0] + p->at + beyond) + m), sum);    \
        if (dims > 2)                                                                              \
            for (int m = 1; m <= radius; m++)                                                      \
                sum = FMA(*c++, LOAD((const T *)(const void *)(row[0] + p->up[m] + beyond)), sum); \
        if (dims > 1)                                                                              \
            for (int m = 1; m <= radius; m++)                                                      \
                sum = FMA(*c++, LOAD((const T *)(const void *)(row[m] + p->at + beyond)), sum);    \
        return sum;                                                                                \
    }                                                                                              \
    TARGET HS_INLINE void sums_##ISA##_##T(                                                        \
        enum way how, int dims, int radius, int planes, const struct place *p, const T *source,    \
        int64_t stride, V start, V factor, const V *c, V(*sum)[LINE_BYTES / sizeof(T) / (LANES)])  \
    {                                                                                              \
        enum { VECTORS = LINE_BYTES / sizeof(T) / (LANES), SIZE = sizeof(T) };                     \
        for (int n = 0; n < planes; n++) {                                                         \
            const char *own = p->row[n + (dims > 1 ? radius : 0)];                                 \
            prefetch_l2(p->row[n + 2 * (dims > 1 ? radius : 0)] + p->far);                         \
            for (int v = 0; v < VECTORS; v++) {                                                    \
                V value =                                                                          \
                    sum_##ISA##_##T(dims, radius, p, n, v * (LANES)*SIZE, c,                       \
                                    source ? LOAD(source + n * stride + v * (LANES)) : start);     \
                if (how == RECURSION)                                                              \
                    value = FMA(                                                                   \
                        factor,                                                                    \
                        value - LOAD((const T *)(const void *)(own + p->before) + v * (LANES)),    \
                        value);                                                                    \
                sum[n][v] = value;                                                                 \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    TARGET HS_INLINE void lines_##ISA##_##T(                                                       \
        enum way how, int dims, int radius, int planes, const T *in, const T *source, T *out,      \
        const struct row *row, const V *c, int64_t first, int64_t last)                            \
    {                                                                                              \
        enum { VECTORS = LINE_BYTES / sizeof(T) / (LANES), SIZE = sizeof(T) };                     \
        const int64_t stride = dims > 2 ? row->pz : row->py;                                       \
        struct place p = place_at(how, dims, radius, planes, (const char *)(in + first),           \
                                  (const char *)(out + first), stride * SIZE, row->py * SIZE,      \
                                  row->lead * SIZE, row->before * SIZE);                           \
        const V start = SET((T)row->source_value), factor = SET((T)row->factor);                   \
        for (int64_t i = first; i < last; i += VECTORS * (LANES)) {                                \
            V sum[GROUP][VECTORS];                                                                 \
            sums_##ISA##_##T(how, dims, radius, planes, &p, source ? source + i : NULL, stride,    \
                             start, factor, c, sum);                                               \
            for (int n = 0; n < planes; n++)                                                       \
                for (int v = 0; v < VECTORS; v++)                                                  \
                    put_##ISA##_##T(how,                                                           \
                                    (T *)(uintptr_t)(p.row[n + (dims > 1 ? radius : 0)] + p.out) + \
                                        v * (LANES),                                               \
                                    sum[n][v]);                                                    \
            move_by(how, &p, dims, radius, LINE_BYTES);                                            \
        }                                                                                          \
    }                                                                                              \
    TARGET HS_INLINE void end_##ISA##_##T(enum way how, int dims, int radius, int planes,          \
                                          const T *in, const T *source, T *out,                    \
                                          const struct row *row, const V *c, int64_t i)            \
    {                                                                                              \
        enum { LINE = LINE_BYTES / sizeof(T), VECTORS = LINE / (LANES), SIZE = sizeof(T) };        \
        const int64_t stride = dims > 2 ? row->pz : row->py;                                       \
        const unsigned updated = bits_between(row->first - i, row->last - i, LINE);                \
        const struct place p =                                                                     \
            place_at(how, dims, radius, planes, (const char *)(in + i), (const char *)(out + i),   \
                     stride * SIZE, row->py * SIZE, row->lead * SIZE, row->before * SIZE);         \
        V sum[GROUP][VECTORS];                                                                     \
        sums_##ISA##_##T(how, dims, radius, planes, &p, source ? source + i : NULL, stride,        \
                         SET((T)row->source_value), SET((T)row->factor), c, sum);                  \
        for (int n = 0; n < planes; n++)                                                           \
            for (int v = 0; v < VECTORS; v++) {                                                    \
                const int64_t at = n * stride + i + v * (LANES);                                   \
                put_##ISA##_##T(how, out + at,                                                     \
                                SELECT(updated >> v * (LANES), sum[n][v], LOAD(in + at)));         \
            }                                                                                      \
    }                                                                                              \
    TARGET HS_INLINE void part_##ISA##_##T(enum way how, int dims, int radius, const T *in,        \
                                           const T *source, T *out, const struct row *row,         \
                                           const V *c, int64_t i)                                  \
    {                                                                                              \
        enum { LINE = LINE_BYTES / sizeof(T), VECTORS = LINE / (LANES), SIZE = sizeof(T) };        \
        const int64_t stride = dims > 2 ? row->pz : row->py;                                       \
        const int64_t lo = row->from > i ? row->from : i;                                          \
        const int64_t hi = row->to < i + LINE ? row->to : i + LINE;                                \
        const unsigned updated = bits_between(row->first - i, row->last - i, LINE);                \
        for (int plane = 0; plane < row->planes; plane++) {                                        \
            const int64_t at = plane * stride + i;                                                 \
            const struct place p =                                                                 \
                place_at(how, dims, radius, 1, (const char *)(in + at), (const char *)(out + at),  \
                         stride * SIZE, row->py * SIZE, row->lead * SIZE, row->before * SIZE);     \
            _Alignas(LINE_BYTES) T part[LINE];                                                     \
            V sum[GROUP][VECTORS];                                                                 \
            sums_##ISA##_##T(how, dims, radius, 1, &p, source ? source + at : NULL, stride,        \
                             SET((T)row->source_value), SET((T)row->factor), c, sum);              \
            for (int v = 0; v < VECTORS; v++)                                                      \
                STORE(part + v * (LANES),                                                          \
                      SELECT(updated >> v * (LANES), sum[0][v], LOAD(in + at + v * (LANES))));     \
            memcpy(out + at + (lo - i), part + (lo - i), (size_t)(hi - lo) * SIZE);                \
        }                                                                                          \
    }                                                                                              \
    TARGET HS_INLINE void planes_##ISA##_##T(enum way how, int dims, int radius, int planes,       \
                                             const T *in, const T *source, T *out,                 \
                                             const struct row *row, const V *c)                    \
    {                                                                                              \
        enum { LINE = LINE_BYTES / sizeof(T) };                                                    \
        const int64_t first = row->first > 0 ? LINE : 0;                                           \
        const int64_t last = row->lines_end - (row->last < row->lines_end ? LINE : 0);             \
        const bool ends[2] = {first > 0 && row->from == 0 && row->to >= LINE,                      \
                              last >= first && last < row->lines_end &&                            \
                                  row->to == row->lines_end};                                      \
        for (int side = 0; side < 2; side++) {                                                     \
            if (ends[side])                                                                        \
                end_##ISA##_##T(how, dims, radius, planes, in, source, out, row, c,                \
                                side ? last : 0);                                                  \
            if (side == 0 && source)                                                               \
                lines_##ISA##_##T(how, dims, radius, planes, in, source, out, row, c, first,       \
                                  last);                                                           \
            else if (side == 0)                                                                    \
                lines_##ISA##_##T(how, dims, radius, planes, in, NULL, out, row, c, first, last);  \
        }                                                                                          \
    }

#define DEFINE_ROWS(HOW, ISA, TARGET, T, V, SET, D, R)                                             \
    TARGET static void HOW##_##ISA##_##T##_##D##R(const struct row *row, void *to)                 \
    {                                                                                              \
        enum { LINE = LINE_BYTES / sizeof(T) };                                                    \
        const T *in = row->in, *source = row->source, *value = row->c;                             \
        const int64_t stride = (D) > 2 ? row->pz : row->py;                                        \
        T *out = to;                                                                               \
        V c[HS_MAX_COEFFICIENTS];                                                                  \
        for (int n = 0; n < 1 + 2 * (D) * (R); n++)                                                \
            c[n] = SET(value[n]);                                                                  \
        for (int64_t n = 0; n < row->rows; n++) {                                                  \
            if (row->planes == GROUP)                                                              \
                planes_##ISA##_##T(HOW, D, R, GROUP, in, source, out, row, c);                     \
            else                                                                                   \
                for (int64_t at = 0; at < row->planes * stride; at += stride)                      \
                    planes_##ISA##_##T(HOW, D, R, 1, in + at, source ? source + at : NULL,         \
                                       out + at, row, c);                                          \
            if (row->from > 0)                                                                     \
                part_##ISA##_##T(HOW, D, R, in, source, out, row, c, 0);                           \
            if (row->to < row->lines_end && (row->from == 0 || row->lines_end > LINE))             \
                part_##ISA##_##T(HOW, D, R, in, source, out, row, c, row->lines_end - LINE);       \
            in += row->py, out += row->py;                                                         \
            source = source ? source + row->py : NULL;                                             \
        }                                                                                          \
    }

#define DEFINE_RADII(HOW, ISA, TARGET, T, V, SET, D)                                               \
    DEFINE_ROWS(HOW, ISA, TARGET, T, V, SET, D, 1)                                                 \
    DEFINE_ROWS(HOW, ISA, TARGET, T, V, SET, D, 2)                                                 \
    DEFINE_ROWS(HOW, ISA, TARGET, T, V, SET, D, 3)
#define DEFINE_HOW(HOW, ISA, TARGET, T, V, SET)                                                    \
    DEFINE_RADII(HOW, ISA, TARGET, T, V, SET, 1)                                                   \
    DEFINE_RADII(HOW, ISA, TARGET, T, V, SET, 2)                                                   \
    DEFINE_RADII(HOW, ISA, TARGET, T, V, SET, 3)
/* All rows of a precision, with vectors V of LANES values. The arguments after LANES: how a vector
 * is loaded, made from one value, multiplied and added, selected from two by bits, stored, and
 * stored non-temporal. */
#define DEFINE_PRECISION(ISA, TARGET, T, V, LANES, LOAD, SET, FMA, SELECT, STORE, STREAM)          \
    DEFINE_LINES(ISA, TARGET, T, V, LANES, LOAD, SET, FMA, SELECT, STORE, STREAM)                  \
    DEFINE_HOW(STREAMED, ISA, TARGET, T, V, SET)                                                   \
    DEFINE_HOW(RECURSION, ISA, TARGET, T, V, SET)

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
/* All rows for one instruction set: [way][precision][dims - 1][radius - 1]. */
#define NAME_ISA(ISA, HOW)                                                                         \
    static row_function *const rows_##ISA[WAYS][HS_PRECISIONS][HS_AXES][HS_MAX_RADIUS] = {         \
        [PLAIN] = NAME_HOW(HOW, ISA),                                                              \
        [STREAMED] = NAME_HOW(STREAMED, ISA),                                                      \
        [RECURSION] = NAME_HOW(RECURSION, ISA)};

/* Vectors of one value for any machine, with ordinary stores only. */
#define VALUE_AT(p) (*(p))
#define SAME(x) (x)
#define PUT(p, v) (*(p) = (v))
#define EITHER(bits, a, b) ((bits)&1 ? (a) : (b))
DEFINE_PRECISION(baseline, , double, double, 1, VALUE_AT, SAME, fma, EITHER, PUT, PUT)
DEFINE_PRECISION(baseline, , float, float, 1, VALUE_AT, SAME, fmaf, EITHER, PUT, PUT)
NAME_ISA(baseline, STREAMED)

#ifdef HAS_X86
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f,fma")))
/* In each lane a if its bit is set, else b. */
AVX2 HS_INLINE __m256d select_256d(unsigned bits, __m256d a, __m256d b)
{
    const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi64x((int64_t)bits), lane);
    return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, lane)));
}
AVX2 HS_INLINE __m256 select_256(unsigned bits, __m256 a, __m256 b)
{
    const __m256i lane = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi32((int)bits), lane);
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lane)));
}
#define SELECT_512D(bits, a, b) _mm512_mask_blend_pd((__mmask8)(bits), b, a)
#define SELECT_512(bits, a, b) _mm512_mask_blend_ps((__mmask16)(bits), b, a)
DEFINE_PRECISION(avx2, AVX2, double, __m256d, 4, _mm256_loadu_pd, _mm256_set1_pd, _mm256_fmadd_pd,
                 select_256d, _mm256_store_pd, _mm256_stream_pd)
DEFINE_PRECISION(avx2, AVX2, float, __m256, 8, _mm256_loadu_ps, _mm256_set1_ps, _mm256_fmadd_ps,
                 select_256, _mm256_store_ps, _mm256_stream_ps)
DEFINE_HOW(PLAIN, avx2, AVX2, double, __m256d, _mm256_set1_pd)
DEFINE_HOW(PLAIN, avx2, AVX2, float, __m256, _mm256_set1_ps)
NAME_ISA(avx2, PLAIN)
DEFINE_PRECISION(avx512, AVX512, double, __m512d, 8, _mm512_loadu_pd, _mm512_set1_pd,
                 _mm512_fmadd_pd, SELECT_512D, _mm512_store_pd, _mm512_stream_pd)
DEFINE_PRECISION(avx512, AVX512, float, __m512, 16, _mm512_loadu_ps, _mm512_set1_ps,
                 _mm512_fmadd_ps, SELECT_512, _mm512_store_ps, _mm512_stream_ps)
DEFINE_HOW(PLAIN, avx512, AVX512, double, __m512d, _mm512_set1_pd)
DEFINE_HOW(PLAIN, avx512, AVX512, float, __m512, _mm512_set1_ps)
NAME_ISA(avx512, PLAIN)
#endif

static row_function *find_row(const struct hs_sweep *s, enum way how)
{
    const int dims = s->op->stencil.dims - 1, radius = s->op->stencil.radius - 1;
#ifdef HAS_X86
    if (__builtin_cpu_supports("avx512f"))
        return rows_avx512[how][s->precision][dims][radius];
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return rows_avx2[how][s->precision][dims][radius];
#endif
    return rows_baseline[how][s->precision][dims][radius];
}

struct job {
    const struct hs_sweep *sweep;
    row_function *row;
    double c[HS_MAX_COEFFICIENTS]; /* or floats, in the order of the additions */
    size_t size;                   /* bytes of a value */
    int64_t lead;
    int group; /* planes that are swept together */
    int threads;
    int64_t cut[HS_AXES]; /* pieces of the box along each axis */
};

/*
 * Sweeps points i0 to i1 of rows j to j_end in `planes` planes along the outermost axis. What is
 * computed beside the box, up to whole lines, is in the layout's gaps: a row's end is padded to a
 * line at least, and one more line follows the last row. If the caller allows it, held nodes at the
 * box's ends are stored with their lines: part of a line would need an ordinary store, which first
 * reads the rest.
 */
static void sweep_rows(const struct job *job, int64_t i0, int64_t i1, int64_t j, int64_t j_end,
                       int64_t k, int planes)
{
    const struct hs_sweep *s = job->sweep;
    const int64_t line = LINE_BYTES / (int64_t)job->size, begin = i0 / line * line;
    const int64_t at = hs_layout_offset(&s->layout, begin, j, k) * (int64_t)job->size;
    const int64_t lines_end = (i1 - begin + line - 1) / line * line;
    const bool lower = s->may_copy && i0 == s->box.lo[HS_X];
    const bool upper =
        s->may_copy && i1 == s->box.hi[HS_X] && begin + lines_end <= s->layout.points[HS_X];
    const void *source = hs_source_field(&s->source);
    const char *before = s->recursion ? s->recursion->before : NULL;
    const struct row row = {
        .in = (const char *)s->in + at,
        .py = s->layout.pitch[HS_Y],
        .pz = s->layout.pitch[HS_Z],
        .rows = j_end - j,
        .planes = planes,
        .lead = job->lead / (int64_t)job->size,
        .c = job->c,
        .source = source ? (const char *)source + at : NULL,
        .source_value = source ? 0.0 : s->source.value[0],
        .first = i0 - begin,
        .last = i1 - begin,
        .from = lower ? 0 : i0 - begin,
        .to = upper ? lines_end : i1 - begin,
        .lines_end = lines_end,
        .before = before ? (before - (const char *)s->in) / (int64_t)job->size : 0,
        .factor = before ? *s->recursion->factor : 0.0,
    };
    job->row(&row, (char *)s->out + at);
}

/* The group of planes at *at. The last one begins earlier if it would be smaller, since sweeping
 * some planes again costs less than sweeping each by itself. Not in a recursion, which may have
 * overwritten its input. */
static int group_at(const struct job *job, int64_t lo, int64_t hi, int64_t *at)
{
    const int64_t from = hi - job->group < *at ? hi - job->group : *at;
    if (!job->sweep->recursion)
        *at = from > lo ? from : lo;
    return (int)(hi - *at < job->group ? hi - *at : job->group);
}

static void sweep_block(const struct job *job, int64_t number)
{
    const struct hs_box block = piece_of(&job->sweep->box, job->cut, 1, number);
    const int64_t *lo = block.lo, *hi = block.hi;
    const int dims = job->sweep->op->stencil.dims;
    if (dims == 1) {
        sweep_rows(job, lo[HS_X], hi[HS_X], 0, 1, 0, 1);
        return;
    }
    for (int64_t at = lo[dims - 1]; at < hi[dims - 1]; at += job->group) {
        int64_t from = at;
        const int planes = group_at(job, lo[dims - 1], hi[dims - 1], &from);
        if (dims == 2)
            sweep_rows(job, lo[HS_X], hi[HS_X], from, from + 1, 0, planes);
        else
            sweep_rows(job, lo[HS_X], hi[HS_X], lo[HS_Y], hi[HS_Y], from, planes);
    }
}

/* Cuts blocks whose planes stay in the cache, in slabs of the outermost axis, one per thread. If
 * that axis is too short, the next inner one is cut for the threads too. */
static void cut_box(struct job *job)
{
    static const int64_t shortest[HS_AXES] = {512, 8, 8}; /* piece worth a thread, in points */
    const struct hs_sweep *s = job->sweep;
    const int dims = s->op->stencil.dims;
    int64_t extent[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        extent[axis] = s->box.hi[axis] - s->box.lo[axis];
    const int64_t planes = 2 * s->op->stencil.radius + job->group;
    const int64_t row_bytes = extent[HS_X] * (int64_t)job->size;

    job->cut[HS_X] = dims > 1 ? hs_divide_up(row_bytes, WIDEST_ROW) : 1;
    const int64_t rows = BLOCK_BYTES / (planes * hs_divide_up(row_bytes, job->cut[HS_X]));
    job->cut[HS_Y] = dims > 2 ? hs_divide_up(extent[HS_Y], rows > 1 ? rows : 1) : 1;
    job->cut[HS_Z] = 1;
    int64_t needed = job->threads;
    for (int axis = dims - 1; axis >= 0 && needed > 1; axis--) {
        const int64_t most = hs_divide_up(extent[axis], shortest[axis]);
        const int64_t pieces = needed < most ? needed : most;
        if (pieces > job->cut[axis])
            job->cut[axis] = pieces;
        needed = hs_divide_up(needed, pieces);
    }
}

/* Distance from a point to what is prefetched while it is summed: to the farthest point in its sum,
 * plus whole rows, so that every line of a row is prefetched equally early, or AHEAD_BYTES in long
 * rows. */
static int64_t lead_bytes(const struct hs_sweep *s)
{
    const int64_t size = (int64_t)hs_precision_size(s->precision);
    const int64_t farthest =
        s->op->stencil.radius * s->layout.pitch[s->op->stencil.dims - 1] * size;
    const int64_t row = s->layout.pitch[HS_Y] * size;
    return farthest + (row <= LONG_ROW ? hs_round_up(AHEAD_BYTES, row) : AHEAD_BYTES);
}

static enum hs_status sweep_once(const struct hs_sweep *s)
{
    if (s->op->kind == HS_OPERATOR_CONDUCTION)
        return hs_conduction_sweep(s);
    const int64_t points = hs_box_count(&s->box);
    if (points == 0)
        return HS_OK;
    struct job job = {.sweep = s, .size = hs_precision_size(s->precision)};
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(&s->op->stencil, terms);
    for (int n = 0; n < count; n++)
        hs_write(s->precision, job.c, n, terms[n].c);
    const int words = hs_source_field(&s->source) ? 3 : 2;
    const bool streamed = points * words * (int64_t)job.size > CACHE_BYTES;
    job.row = find_row(s, s->recursion ? RECURSION : streamed ? STREAMED : PLAIN);
    job.group = s->op->stencil.dims > 1 ? GROUP : 1;
    /* a thread is worth waking for some microseconds of work */
    const int64_t worth = hs_divide_up(points, POINTS_PER_THREAD);
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

/* ---- several sweeps of a recursion ----------------------------------------------------------- */

/* Bytes of the planes that all sweeps of a pass use: of both fields that they write, and as many of
 * those that the pass begins with. */
static int64_t pass_bytes(const struct hs_case *of, int sweeps)
{
    const int outer = of->dims - 1;
    const int64_t plane = of->layout.pitch[outer] * (int64_t)hs_precision_size(of->precision);
    return 4 * (sweeps * of->radius + SLAB) * plane;
}

/* As many sweeps as stay within the cache; one if ghosts have to be filled between them. */
static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    bool ghosts = false;
    for (int face = 0; face < 2 * of->dims; face++)
        ghosts = ghosts || of->face[face].wrap ||
                 ((of->asked & HS_STENCIL) && of->face[face].held < of->radius);
    out->recursion = ghosts || of->dims == 1 ? 1 : MOST_IN_PASS;
    while (out->recursion > 1 && pass_bytes(of, out->recursion) > PASS_BYTES)
        out->recursion--;
    return true;
}

/*
 * Slab by slab along the outermost axis; each sweep is `radius` planes behind the one before, whose
 * new planes it reads. X_n goes to `out` and `last_but_one` in turn, over X_n-2: each plane of that
 * is read for the last time when X_n is made there.
 */
static enum hs_status sweep_in_pass(const struct hs_sweep *s)
{
    const struct hs_recursion *all = s->recursion;
    const int outer = s->layout.points[HS_Z] > 1 ? HS_Z : HS_Y, last = s->steps - 1;
    const int radius = s->op->kind == HS_OPERATOR_CONDUCTION ? 1 : s->op->stencil.radius;
    const int64_t lo = s->box.lo[outer], hi = s->box.hi[outer];
    void *const field[] = {s->out,
                           all->last_but_one}; /* of the last sweep, the last but one, ... */
    enum hs_status st = HS_OK;
    for (int64_t front = lo; front - last * radius < hi; front += SLAB)
        for (int n = 0; n <= last && !st; n++) {
            struct hs_sweep one = *s;
            one.steps = 1;
            one.in = n == 0 ? s->in : field[(last - n + 1) % 2];
            one.out = field[(last - n) % 2];
            const struct hs_recursion its = {.before = n == 0   ? all->before
                                                       : n == 1 ? s->in
                                                                : one.out,
                                             .factor = all->factor + n};
            one.recursion = &its;
            const int64_t from = front - n * radius, to = from + SLAB;
            one.box.lo[outer] = from > lo ? from : lo;
            one.box.hi[outer] = to < hi ? to : hi;
            if (one.box.lo[outer] < one.box.hi[outer])
                st = sweep_once(&one);
        }
    return st;
}

static enum hs_status sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *s,
                            struct hs_error *err)
{
    (void)plan, (void)err;
    return s->recursion && s->steps > 1 ? sweep_in_pass(s) : sweep_once(s);
}

const struct hs_kernel hs_kernel_cpu_openmp = {
    .name = "openmp",
    .idea = "threads, SIMD, cache blocks; rows written by non-temporal stores",
    .origin = "Rivera and Tseng, SC 2000; Datta et al., SIAM Review 51 (2009)",
    .device = HS_CPU,
    .features = HS_STENCIL | HS_CONDUCTION | HS_ALL_FORMS | HS_ALL_DIMS | HS_ALL_RADII |
                HS_ALL_PRECISIONS | HS_ALL_VALUES,
    .steps = 1,
    .plan = plan,
    .sweep = sweep,
};
