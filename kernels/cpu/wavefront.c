/*
 * wavefront: several sweeps in one pass over memory.
 *
 * The idea: one sweep at a time reads and writes every value once, and no kernel that does so is
 * faster than a copy. So a thread takes a tile of the grid and marches through its planes with
 * several levels of time at once: level 1 sweeps plane s - R of the input, level 2 plane s - 2R of
 * level 1, and so on to the last, which alone goes to memory. What lies between stays in the core's
 * second cache (R: the radius):
 *
 *          z |  s         read: input        <- memory, asked for a plane ahead
 *            |  s - R     level 1 swept      +
 *            |  s - 2R    level 2 swept      | a ring of planes, in the cache
 *            |  s - TR    level T swept      +-> memory, past the cache, a line at a time
 *            +------------------------------- y: rows of the tile, and T*R more on each side of the
 *                                                input, one R less with each level
 *
 * The ring: when level t + 1 has swept row (y, z), nobody will read row (y, z - R) of level t
 * again, and there the new row is stored, where its line is in the first cache already. So all
 * levels share 2R(T-1) + 1 planes. In 2D the march is along y, by single rows; in 1D levels take
 * turns on a piece of the line.
 *
 * In 3D level 1 is ahead of the others: every fourth step it sweeps four planes straight from the
 * input, row by row, a line of each in turn, and asks for the lines to come (as `openmp` does, and
 * why is said there). The other levels go some rows after some: level 2 sweeps them, then level 3
 * and so on, since a star needs of the plane above only the point above. Two are swept together,
 * along the row from vectors that stay in registers. What is done for a row besides its sums is
 * done for all that are visited at once, or it would take as long as the sums.
 *
 * With radius 1 and four levels, levels 2 to 4 of two rows are one loop (`step_stack`): the point
 * above is then in a register, since the level before has just added it up, and the last level's
 * line goes to memory at once, six sums to two lines. The other form is for what is left: held
 * rows, the march's ends, prescribed or periodic faces along x, source fields. Rows are cut into
 * strips along x, so short that neighbours along y are still in the first cache, and one call
 * sweeps a strip of all rows of a tile: with a call for each two rows these levels took a sixth to
 * a third longer. Level 1 is two planes ahead, every second step, and what it will read is asked
 * for while the other levels are added up: memory has their time too.
 *
 * Where the second cache has room for planes of the input too (more than 1 MiB), level 1 is in that
 * loop as well, `whole`: it reads the input and hands its point on in a register, eight sums to two
 * lines. A plane of the input is asked for one step of the march before it is read, two rows of it
 * along with each two that are added up, so that memory is read all the time.
 *
 * Elsewhere rows of the last level wait in the ring, and each line that is added up there carries a
 * share of a line out (`carry`); in 1D and 2D it asks for a share of what is to come, too.
 *
 * Each level applies the boundary itself: held and prescribed nodes, and ghosts by the affine rule,
 * in the ring; along periodic axes a tile is swept with the grid's images around it. The input's
 * own ghosts the backend has filled.
 *
 * Sources: wavefront temporal blocking, Wellein, Hager, Zeiser, Wittmann and Fehske, COMPSAC 2009;
 * planes through a tile in a ring ("3.5D blocking"), Nguyen, Satish, Chhugani, Kim and Dubey, SC
 * 2010; one array for all levels ("compressed grid"), Wittmann, Hager, Treibig and Wellein,
 * Parallel Processing Letters 20 (2010).
 *
 * Prediction, 384^3 double, R = 1, T = 4, a second cache of 1 MiB: tiles of 32 rows, so a sweep
 * moves (1 + (32 + 8)/32)/4 = 0.56 words a point instead of 2, and adds up (6 + 4 + 2)/4/32 = 9 %
 * more rows than there are. In the cache a row of 384 points takes 0.10 us (Zen 5), so 3.5 GCell/s
 * a core with the rims, the bound as long as memory gives half of what a copy takes.
 *
 * Measured, and what else was tried: docs/performance/two-cores.md, "Fused: `wavefront`".
 */
#include "core/stream.h"
#include "wavefront_carry.h"
#include "wavefront_faces.h"
#include "wavefront_tile.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86 1
#endif

/* ---- rows ------------------------------------------------------------------------------------ */

struct rows {
    const void *below[HS_MAX_RADIUS], *centre, *above[HS_MAX_RADIUS]; /* first points; planes 1, 2,
                                                                         3 down and up */
    void *out;
    void *outs[PLANES];       /* of each of several planes */
    int64_t pitch, out_pitch; /* values between rows; of several planes, between these */
    int64_t beside, lead;     /* then: between rows; to what is asked for */
    int64_t count;            /* then: rows, one after the other */
    int64_t points;           /* whole cache lines are swept */
    const void *c;
    const void *source; /* or NULL: start from source_value */
    int64_t source_pitch;
    double source_value;
};

/* Where level 1 is: planes of the input from `radius` below on, and those of the ring, by their
 * first bytes; and how far from there the line at hand, its neighbours along y, and what is asked
 * for. One line's addresses are then sums of two registers, of which few change from line to line:
 * the compiler would rather keep more than there are. */
struct place {
    const char *plane[PLANES + 2 * HS_MAX_RADIUS];
    char *out[PLANES];
    int64_t at, far, down[HS_MAX_RADIUS], up[HS_MAX_RADIUS];
};

#ifdef __GNUC__
#define AS_IT_IS(x) __asm__("" : "+r"(x))
#else
#define AS_IT_IS(x) (void)(x)
#endif

HS_INLINE void move_by(struct place *p, int radius, int64_t bytes)
{
    p->at += bytes, p->far += bytes;
    AS_IT_IS(p->at);
    AS_IT_IS(p->far);
    for (int m = 0; m < radius; m++) {
        p->down[m] += bytes, p->up[m] += bytes;
        AS_IT_IS(p->down[m]);
        AS_IT_IS(p->up[m]);
    }
}

HS_INLINE struct place place_at(const struct rows *r, int radius, int planes, int size)
{
    struct place p = {.at = 0, .far = r->lead * size};
    for (int n = 0; n < planes + 2 * radius; n++) {
        p.plane[n] = (const char *)r->centre + (n - radius) * r->pitch * size;
        AS_IT_IS(p.plane[n]);
    }
    for (int n = 0; n < planes; n++) {
        p.out[n] = r->outs[n];
        AS_IT_IS(p.out[n]);
    }
    for (int m = 1; m <= radius; m++)
        p.down[m - 1] = -m * r->beside * size, p.up[m - 1] = m * r->beside * size;
    move_by(&p, radius, 0);
    return p;
}

/* Rows of levels 2 to 4, first points, in the ring: of the plane below of each, which is where it
 * goes, but for the last, and its own, of the level before; and of that above the first, which is
 * where level 1 goes if it is added up here too. Then the input's rows, and those to come. */
struct stack {
    const char *centre[STACK];
    char *below[STACK];
    char *above, *out;
    const char *input, *input_below, *input_above;
    int64_t input_pitch;
    int64_t count;            /* groups of rows beside each other, one after the other */
    const char *(*ask)[ASKS]; /* [count] */
    int64_t pitch, bytes;     /* of `out`, from row to row; of what is swept of a row */
    const void *c;
    const double *source_value;
    unsigned first_bits, last_bits; /* the values of the first and the last line that are swept */
    bool skip_first, skip_last;     /* these lines belong to the neighbouring tile's output */
};

#define EITHER(bits, a, b) ((bits)&1 ? (a) : (b))
#define PUT(p, v) (*(p) = (v))
#ifdef HAS_X86
/* Of each lane the first where its bit is set. */
__attribute__((target("avx2,fma"))) HS_INLINE __m256d select_256d(unsigned bits, __m256d a,
                                                                  __m256d b)
{
    const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi64x((int64_t)bits), lane);
    return _mm256_blendv_pd(b, a, _mm256_castsi256_pd(_mm256_cmpeq_epi64(set, lane)));
}
__attribute__((target("avx2,fma"))) HS_INLINE __m256 select_256(unsigned bits, __m256 a, __m256 b)
{
    const __m256i lane = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    const __m256i set = _mm256_and_si256(_mm256_set1_epi32((int)bits), lane);
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lane)));
}
#define SELECT_512D(bits, a, b) _mm512_mask_blend_pd((__mmask8)(bits), b, a)
#define SELECT_512(bits, a, b) _mm512_mask_blend_ps((__mmask16)(bits), b, a)

#define ROWS_T double
#define ROWS_V __m512d
#define ROWS_LANES 8
#define ROWS_LOAD(p) _mm512_loadu_pd(p)
#define ROWS_STORE(p, v) _mm512_storeu_pd(p, v)
#define ROWS_SET(x) _mm512_set1_pd(x)
#define ROWS_FMA(a, b, c) _mm512_fmadd_pd(a, b, c)
#define ROWS_FMA1(a, b, c) fma(a, b, c)
#define ROWS_SHIFT(a, b, n)                                                                        \
    _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(b), _mm512_castpd_si512(a), n))
#define ROWS_STREAM(to, from) hs_stream_lines_64(to, from, LINE_BYTES)
#define ROWS_TARGET __attribute__((target("avx512f,fma")))
#define ROWS_SELECT SELECT_512D
#define ROWS_PUT _mm512_stream_pd
#define ROWS_NAME(x) avx512_double_##x
#include "wavefront_rows.h"

#define ROWS_T float
#define ROWS_V __m512
#define ROWS_LANES 16
#define ROWS_LOAD(p) _mm512_loadu_ps(p)
#define ROWS_STORE(p, v) _mm512_storeu_ps(p, v)
#define ROWS_SET(x) _mm512_set1_ps(x)
#define ROWS_FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define ROWS_FMA1(a, b, c) fmaf(a, b, c)
#define ROWS_SHIFT(a, b, n)                                                                        \
    _mm512_castsi512_ps(_mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), n))
#define ROWS_STREAM(to, from) hs_stream_lines_64(to, from, LINE_BYTES)
#define ROWS_TARGET __attribute__((target("avx512f,fma")))
#define ROWS_SELECT SELECT_512
#define ROWS_PUT _mm512_stream_ps
#define ROWS_NAME(x) avx512_float_##x
#include "wavefront_rows.h"

#define ROWS_T double
#define ROWS_V __m256d
#define ROWS_LANES 4
#define ROWS_LOAD(p) _mm256_loadu_pd(p)
#define ROWS_STORE(p, v) _mm256_storeu_pd(p, v)
#define ROWS_SET(x) _mm256_set1_pd(x)
#define ROWS_FMA(a, b, c) _mm256_fmadd_pd(a, b, c)
#define ROWS_FMA1(a, b, c) fma(a, b, c)
#define ROWS_STREAM(to, from) hs_stream_lines_32(to, from, LINE_BYTES)
#define ROWS_TARGET __attribute__((target("avx2,fma")))
#define ROWS_SELECT select_256d
#define ROWS_PUT _mm256_stream_pd
#define ROWS_NAME(x) avx2_double_##x
#include "wavefront_rows.h"

#define ROWS_T float
#define ROWS_V __m256
#define ROWS_LANES 8
#define ROWS_LOAD(p) _mm256_loadu_ps(p)
#define ROWS_STORE(p, v) _mm256_storeu_ps(p, v)
#define ROWS_SET(x) _mm256_set1_ps(x)
#define ROWS_FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define ROWS_FMA1(a, b, c) fmaf(a, b, c)
#define ROWS_STREAM(to, from) hs_stream_lines_32(to, from, LINE_BYTES)
#define ROWS_TARGET __attribute__((target("avx2,fma")))
#define ROWS_SELECT select_256
#define ROWS_PUT _mm256_stream_ps
#define ROWS_NAME(x) avx2_float_##x
#include "wavefront_rows.h"
#endif

#define ROWS_T double
#define ROWS_V double
#define ROWS_LANES 1
#define ROWS_LOAD(p) (*(p))
#define ROWS_STORE(p, v) (*(p) = (v))
#define ROWS_SET(x) (x)
#define ROWS_FMA(a, b, c) fma(a, b, c)
#define ROWS_FMA1(a, b, c) fma(a, b, c)
#define ROWS_STREAM(to, from) hs_stream_lines_16(to, from, LINE_BYTES)
#define ROWS_TARGET
#define ROWS_SELECT EITHER
#define ROWS_PUT PUT
#define ROWS_NAME(x) baseline_double_##x
#include "wavefront_rows.h"

#define ROWS_T float
#define ROWS_V float
#define ROWS_LANES 1
#define ROWS_LOAD(p) (*(p))
#define ROWS_STORE(p, v) (*(p) = (v))
#define ROWS_SET(x) (x)
#define ROWS_FMA(a, b, c) fmaf(a, b, c)
#define ROWS_FMA1(a, b, c) fmaf(a, b, c)
#define ROWS_STREAM(to, from) hs_stream_lines_16(to, from, LINE_BYTES)
#define ROWS_TARGET
#define ROWS_SELECT EITHER
#define ROWS_PUT PUT
#define ROWS_NAME(x) baseline_float_##x
#include "wavefront_rows.h"

static const struct row_functions *find_functions(enum hs_precision precision)
{
    const bool single = precision == HS_FLOAT;
#ifdef HAS_X86
    if (__builtin_cpu_supports("avx512f"))
        return single ? &avx512_float_functions : &avx512_double_functions;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return single ? &avx2_float_functions : &avx2_double_functions;
#endif
    return single ? &baseline_float_functions : &baseline_double_functions;
}

static void call_rows(struct carry *carry, struct rows *rows, int64_t count)
{
    const struct wave *w = carry->t->w;
    rows->c = w->c;
    carry->earned = 9 * count;
    w->functions->rows[w->dims - 1][w->radius - 1][count - 1](rows, carry);
}

/* From a point to what level 1 asks for while it sweeps it: some rows on. */
static int64_t lead(const struct wave *w)
{
    const int64_t row = w->s->layout.pitch[w->across];
    return divide_up(AHEAD_BYTES, row * w->size) * row;
}

/* Points from real i on, at a line's begin, of row j in `planes` planes from k on. */
static void sweep_piece(struct carry *carry, struct rows *rows, int64_t i, int64_t j, int64_t k,
                        int planes)
{
    const struct wave *w = carry->t->w;
    const struct hs_sweep *s = w->s;
    const int64_t up = s->layout.pitch[w->march];
    const int64_t at = element(w, i, wrapped(j, w->n[w->across]), wrapped(k, w->n[w->march]));
    const char *centre = (const char *)s->in + at * w->size;
    rows->c = w->c;
    rows->centre = centre;
    rows->source = s->source ? (const char *)s->source + at * w->size : NULL;
    rows->source_value = s->source ? 0.0 : s->source_value[0];
    rows->pitch = rows->source_pitch = up;
    if (w->dims == 3) {
        rows->beside = s->layout.pitch[w->across];
        rows->lead = lead(w);
        carry->earned = 9;
        w->functions->planes[w->radius - 1][planes - 1](rows, carry);
        return;
    }
    for (int m = 1; m <= w->radius; m++) {
        rows->below[m - 1] = centre - m * up * w->size;
        rows->above[m - 1] = centre + m * up * w->size;
    }
    call_rows(carry, rows, 1);
}

/* So many rows from j on of the first level in `planes` planes, all neighbours in the input too,
 * straight from there: whole runs of points that are neighbours. Beside a run lie ghosts, which are
 * filled. */
static void sweep_first(struct carry *carry, int64_t j, int64_t count, int64_t k, int planes)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int64_t end = level_hi(t, 1, HS_X), n = w->n[HS_X];
    for (int64_t i = level_lo(t, 1, HS_X), length; i < end; i += length) {
        const int64_t from = wrapped(i, n), back = from % w->line; /* to a line's begin */
        length = smaller(end - i, n - from);
        struct rows rows = {.points = length + back, .count = count, .out_pitch = w->ring_pitch};
        for (int g = 0; g < planes; g++)
            rows.outs[g] = ring_at(t, 1, i - back, j, k + g);
        rows.out = rows.outs[0];
        sweep_piece(carry, &rows, from - back, j, k, planes);
    }
}

/* Rows of the source side by side with those of the ring, where the grid's image begins within. */
static const char *gather_source(const struct tile *t, int64_t i, int64_t end, int64_t j,
                                 int64_t count, int64_t k)
{
    const struct wave *w = t->w;
    char *gathered = t->ring + w->slots * w->ring_plane;
    for (int64_t row = 0; row < count; row++)
        for (int64_t x = i, length; x < end; x += length) {
            const int64_t from = wrapped(x, w->n[HS_X]);
            length = smaller(end - x, w->n[HS_X] - from);
            memcpy(gathered + (row * w->ring_pitch + (x - i)) * w->size,
                   field_at(w, w->s->source, from, wrapped(j + row, w->n[w->across]),
                            wrapped(k, w->n[w->march])),
                   (size_t)(length * w->size));
        }
    return gathered;
}

/* The rows of the ring after a group of them. */
static void next_rows(struct rows *rows, const struct wave *w)
{
    const int64_t bytes = GROUP * rows->pitch * w->size;
    rows->centre = (const char *)rows->centre + bytes;
    rows->out = (char *)rows->out + bytes;
    for (int m = 0; m < w->radius; m++) {
        rows->below[m] = (const char *)rows->below[m] + bytes;
        rows->above[m] = (const char *)rows->above[m] + bytes;
    }
    if (rows->source)
        rows->source = (const char *)rows->source + GROUP * rows->source_pitch * w->size;
}

static void sweep_later(struct carry *carry, int level, int64_t j, int64_t count, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const struct hs_sweep *s = w->s;
    const int64_t i = round_down(level_lo(t, level, HS_X), w->line);
    const int64_t end = level_hi(t, level, HS_X);
    struct rows rows = {
        .centre = ring_at(t, level - 1, i, j, k),
        .out = ring_at(t, level, i, j, k),
        .pitch = w->ring_pitch,
        .out_pitch = w->ring_pitch,
        .points = end - i,
        .source_value = s->source ? 0.0 : s->source_value[level - 1],
    };
    if (s->source && w->wrap[HS_X]) {
        rows.source = gather_source(t, i, end, j, count, k);
        rows.source_pitch = w->ring_pitch;
    } else if (s->source) {
        rows.source =
            field_at(w, s->source, i, wrapped(j, w->n[w->across]), wrapped(k, w->n[w->march]));
        rows.source_pitch = s->layout.pitch[w->across];
    }
    for (int m = 1; m <= w->radius && w->dims > 1; m++) {
        rows.below[m - 1] = ring_at(t, level - 1, i, j, k - m);
        rows.above[m - 1] = ring_at(t, level - 1, i, j, k + m);
    }
    for (; count > GROUP; count -= GROUP) {
        call_rows(carry, &rows, GROUP);
        next_rows(&rows, w);
    }
    call_rows(carry, &rows, count);
}

/* ---- the march ------------------------------------------------------------------------------- */

/* What is left to do for `count` rows of a plane that have been swept, or are held. */
static void finish_rows(const struct tile *t, int level, bool held, int64_t j, int64_t count,
                        int64_t k)
{
    if (held)
        keep(t, level, level_lo(t, level, HS_X), level_hi(t, level, HS_X), j, k);
    else
        keep_ends(t, level, j, count, k);
    if (t->w->prescribed)
        prescribe(t, level, j, count, k);
    if (level < t->w->steps)
        ghost_ends(t, level, j, count, k);
}

/* Rows j to j_end of plane k of a later level, or of level 1, which has been swept: held rows one
 * by one, the others by runs that end where the grid does, since beyond it lie held rows or its
 * image. */
static void sweep_rows(struct carry *carry, int level, int64_t j, int64_t j_end, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int64_t n = w->n[w->across];
    const bool held_plane = holds(w, w->march, wrapped(k, w->n[w->march]));
    for (int64_t count; j < j_end; j += count) {
        const int64_t real = wrapped(j, n);
        const bool held = held_plane || holds(w, w->across, real);
        count = 1;
        while (!held && j + count < j_end && !holds(w, w->across, real + count))
            count++;
        if (!held && level > 1)
            sweep_later(carry, level, j, count, k);
        finish_rows(t, level, held, j, count, k);
    }
}

/* So many rows from j on of level 1, neighbours and none held, in its planes k to k_end: likewise,
 * and finished later. */
static void sweep_planes(struct carry *carry, int64_t j, int64_t rows, int64_t k, int64_t k_end)
{
    const struct wave *w = carry->t->w;
    for (int count; k < k_end; k += count) {
        const int64_t real = wrapped(k, w->n[w->march]);
        const bool held = holds(w, w->march, real);
        count = 1;
        while (!held && k + count < k_end && !holds(w, w->march, real + count))
            count++;
        if (!held)
            sweep_first(carry, j, rows, k, count);
    }
}

/* What follows plane k of a level in its rows j to j_end: ghost planes, or the way out. */
static void follow(struct carry *carry, int level, int64_t j, int64_t j_end, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int lower = 2 * w->march, upper = lower + 1;
    const bool inside = k < level_hi(t, level, w->march);
    if (level == w->steps) {
        for (int64_t row = j; row < j_end && inside; row++)
            wait_row(carry, row, k);
    } else if (w->dims > 1 && inside && k == w->radius && touches(t, level, lower)) {
        for (int m = 1; m <= w->depth[lower]; m++)
            ghost_plane_rows(t, level, lower, m, j, j_end);
    } else if (w->dims > 1 && !inside && touches(t, level, upper)) {
        const int64_t m = k - w->n[w->march] + 1;
        if (m <= w->depth[upper])
            ghost_plane_rows(t, level, upper, (int)m, j, j_end);
    }
}

/* Rows j to j_end of what a level has to do at its plane k. */
static void advance(struct carry *carry, int level, int64_t j, int64_t j_end, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    j = larger(j, level_lo(t, level, w->across));
    j_end = smaller(j_end, level_hi(t, level, w->across));
    if (j >= j_end || k < level_lo(t, level, w->march))
        return;
    if (k < level_hi(t, level, w->march))
        sweep_rows(carry, level, j, j_end, k);
    follow(carry, level, j, j_end, k);
}

/* The same of level 1 at its planes from k on: row by row of them all, and what is left to do then
 * plane by plane. */
static void advance_first(struct carry *carry, int64_t j, int64_t j_end, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int64_t swept = smaller(k + w->planes, level_hi(t, 1, w->march));
    j_end = smaller(j_end, level_hi(t, 1, w->across));
    for (int64_t row = j, count; row < j_end; row += count) {
        const int64_t real = wrapped(row, w->n[w->across]);
        const bool held = holds(w, w->across, real);
        count = 1;
        while (!held && row + count < j_end && real + count < w->n[w->across] &&
               !holds(w, w->across, real + count))
            count++;
        if (!held)
            sweep_planes(carry, row, count, k, swept);
    }
    for (int64_t plane = k; plane < k + w->planes; plane++)
        advance(carry, 1, j, j_end, plane);
}

static void ghost_rows_of(const struct tile *t, int level, int64_t k)
{
    const int march = t->w->march;
    if (level < t->w->steps && k >= level_lo(t, level, march) && k < level_hi(t, level, march))
        ghost_rows_beside(t, level, k);
}

/* Level 1 ahead of the others: what waits lies where its newest plane will. */
static void lead_on(struct carry *carry, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    drain(carry, 0);
    advance_first(carry, level_lo(t, 1, w->across), level_hi(t, 1, w->across), k);
    for (int64_t plane = k; plane < k + w->planes; plane++)
        ghost_rows_of(t, 1, plane);
}

static void find_slots(struct tile *t, int64_t step)
{
    const struct wave *w = t->w;
    const int64_t bytes = w->ring_plane;
    int64_t slot = w->dims > 1 ? wrapped(step + w->planes - 1, w->slots) : 0;
    t->step = step;
    for (int back = 0; back < 2 * w->steps * w->radius + w->planes; back++) {
        t->slot[back] = t->ring + slot * bytes;
        slot = slot > 0 ? slot - 1 : w->slots - 1;
    }
}

/* Whether all levels of a stack are within the grid along the march, away from its ends. */
static bool stacks(const struct tile *t, int64_t s)
{
    const struct wave *w = t->w;
    for (int level = w->whole ? 1 : 2; level <= w->steps; level++) {
        const int64_t k = s - level;
        if (k < level_lo(t, level, w->march) || k >= level_hi(t, level, w->march) ||
            holds(w, w->march, wrapped(k, w->n[w->march])) ||
            (!w->wrap[w->march] && k <= w->radius))
            return false;
    }
    return w->stack;
}

/* Bits from `from` to `to` of a line's, of which the first is value `first`. */
static unsigned bits_between(int64_t from, int64_t to, int64_t first, int64_t line)
{
    const int64_t lo = larger(from - first, 0), hi = smaller(to - first, line);
    return hi > lo ? (unsigned)((1ull << hi) - (1ull << lo)) : 0;
}

/* What is asked for meanwhile: `left` rows of some planes of the input, a row of each in turn; of
 * each the first bytes of the next. */
struct asking {
    const char *next[STACK_PLANES];
    int planes, plane;
    int64_t pitch, left;
};

/* A step's share of the planes that level 1 reads when it is called next. */
static struct asking ask_planes(const struct tile *t, int64_t s, int64_t number)
{
    const struct wave *w = t->w;
    const int64_t i = round_down(level_lo(t, 2, HS_X), w->line), n = w->n[w->across];
    const int64_t lo = level_lo(t, 0, w->across), row = wrapped(lo, n);
    const int64_t rows = smaller(level_hi(t, 0, w->across) - lo, n - row);
    const int64_t share = number % w->planes;
    const int64_t from = rows * share / w->planes, to = rows * (share + 1) / w->planes;
    const int64_t k = w->whole ? s + 1 : s - share + w->planes;
    struct asking asking = {
        .planes = (int)larger(0, smaller(w->planes, level_hi(t, 0, w->march) - k)),
        .pitch = w->s->layout.pitch[w->across] * w->size,
    };
    for (int m = 0; m < asking.planes; m++)
        asking.next[m] = field_at(w, w->s->in, i, row + from, wrapped(k + m, w->n[w->march]));
    asking.left = asking.planes * (to - from);
    return asking;
}

/* So many rows for each group. Where none is left, what is in the cache is asked for, which costs
 * nothing. */
static void ask(struct asking *a, int64_t strip, const char *near, int each, int64_t groups,
                const char *(*to)[ASKS])
{
    for (int64_t group = 0; group < groups; group++)
        for (int n = 0; n < each; n++) {
            to[group][n] = near;
            if (a->left == 0)
                continue;
            a->left--;
            to[group][n] = a->next[a->plane] + strip;
            a->next[a->plane] += a->pitch;
            a->plane = a->plane + 1 < a->planes ? a->plane + 1 : 0;
        }
}

/* Level 1's part: row j of plane k from the input. */
static void add_first(const struct wave *w, struct stack *stack, int64_t i, int64_t j, int64_t k)
{
    const int64_t plane = w->s->layout.pitch[w->march] * w->size;
    stack->input =
        field_at(w, w->s->in, i, wrapped(j, w->n[w->across]), wrapped(k, w->n[w->march]));
    stack->input_below = stack->input - plane;
    stack->input_above = stack->input + plane;
    stack->input_pitch = w->s->layout.pitch[w->across] * w->size;
}

/* Of all levels the same lines along x: those of level 2, or of these a strip. */
struct strip {
    int64_t first, last; /* points at the begins of lines */
    int64_t from, bytes; /* of the row */
    struct asking asking;
};

/* So many groups of rows from j on. */
static void sweep_stack(const struct carry *carry, enum stack_kind kind, int64_t j, int64_t count,
                        int64_t s, struct strip *strip)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const struct hs_sweep *r = w->s;
    const int64_t i = strip->first, last = strip->last;
    const char *asks[MOST_GROUPS][ASKS];
    struct stack stack = {
        .above = ring_at(t, 1, i, j, s - 1),
        .pitch = r->layout.pitch[w->across] * w->size,
        .bytes = strip->bytes,
        .c = w->c,
        .source_value = r->source_value,
        .first_bits = bits_between(r->box.lo[HS_X], r->box.hi[HS_X], i, w->line),
        .last_bits = bits_between(r->box.lo[HS_X], r->box.hi[HS_X], last, w->line),
        .skip_first = i < t->box.lo[HS_X],
        .skip_last = last >= t->box.hi[HS_X],
        .count = count,
        .ask = asks,
    };
    if (kind == ALL_OF_ONE || kind == ALL_OF_TWO)
        stack.out = (char *)r->out + element(w, i, j, s - w->steps) * w->size;
    for (int n = 0; n < STACK; n++) {
        stack.centre[n] = ring_at(t, n + 1, i, j, s - n - 2);
        stack.below[n] = ring_at(t, n + 1, i, j, s - n - 3);
    }
    if (w->whole)
        add_first(w, &stack, i, j, s - 1);
    ask(&strip->asking, strip->from, stack.above, w->whole ? WHOLE_ASKS : ASKS, count, asks);
    (w->whole ? w->functions->whole : w->functions->stack)[kind][w->plain](&stack);
}

/* Whether rows lo to hi are within the grid, none held, and neighbours there. */
static bool inside(const struct wave *w, int64_t lo, int64_t hi)
{
    const int64_t real = wrapped(lo, w->n[w->across]);
    return real + hi - lo <= w->n[w->across] && !holds(w, w->across, real) &&
           !holds(w, w->across, real + hi - lo - 1);
}

/* Rows of these levels by the functions for one: what is held, and rims that lie there. */
static void advance_later(struct carry *carry, int64_t j, int64_t j_end, int64_t s)
{
    if (carry->t->w->whole && j < j_end)
        advance_first(carry, j, j_end, s - 1);
    for (int level = 2; level <= carry->t->w->steps && j < j_end; level++)
        advance(carry, level, j, j_end, s - level);
}

/* What is left to do in rows that have been swept. */
static void finish_stack(const struct tile *t, int64_t j, int64_t j_end, int64_t s)
{
    const int across = t->w->across;
    for (int level = t->w->whole ? 1 : 2; level < t->w->steps; level++) {
        const int64_t from = larger(j, level_lo(t, level, across));
        const int64_t to = smaller(j_end, level_hi(t, level, across));
        if (from < to)
            finish_rows(t, level, false, from, to - from, s - level);
    }
}

/* Levels 2 to 4 together, or 1 to 4, at a step of the march. A rim is of two rows, of levels 2 and
 * 3, of which the outer one of level 3 is of no use; and one more of level 1. No level reads what
 * another stores in the same step, so strips of the rows go one after the other. */
static void step_stack(struct carry *carry, int64_t s, int64_t number)
{
    enum { RIM = STACK - 1 };
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int level = w->whole ? 1 : 2, more = w->whole ? 1 : 0;
    const int64_t first = level_lo(t, level, w->across), end = level_hi(t, level, w->across);
    const int64_t from = larger(t->box.lo[w->across], w->s->box.lo[w->across]);
    const int64_t to = smaller(t->box.hi[w->across], w->s->box.hi[w->across]);
    const bool lower = first == from - RIM - more && inside(w, first, from);
    const bool upper = end == to + RIM + more && inside(w, to, end);
    const int64_t row = round_down(level_lo(t, 2, HS_X), w->line);
    const int64_t lines = divide_up(level_hi(t, 2, HS_X) - row, w->line);
    const int64_t strips =
        w->whole ? 1 : larger(1, (lines * LINE_BYTES + STRIP_BYTES / 2) / STRIP_BYTES);
    const struct asking asking = ask_planes(t, s, number);
    if (!lower)
        advance_later(carry, first, from, s);
    for (int64_t n = 0; n < strips; n++) {
        const int64_t line = lines * n / strips, line_end = lines * (n + 1) / strips;
        struct strip strip = {.first = row + line * w->line,
                              .last = row + (line_end - 1) * w->line,
                              .from = line * LINE_BYTES,
                              .bytes = (line_end - line) * LINE_BYTES,
                              .asking = asking};
        if (lower && w->whole)
            sweep_stack(carry, FIRST_OF_ONE, first, 1, s, &strip);
        if (lower)
            sweep_stack(carry, LOWER_OF_TWO, from - RIM, 1, s, &strip);
        for (int64_t j = from, count; j + 1 < to; j += 2 * count) {
            count = smaller((to - j) / 2, MOST_GROUPS);
            sweep_stack(carry, ALL_OF_TWO, j, count, s, &strip);
        }
        if ((to - from) % 2)
            sweep_stack(carry, ALL_OF_ONE, to - 1, 1, s, &strip);
        if (upper)
            sweep_stack(carry, LOWER_OF_TWO, to, 1, s, &strip);
        if (upper && w->whole)
            sweep_stack(carry, FIRST_OF_ONE, end - 1, 1, s, &strip);
    }
    finish_stack(t, lower ? first : from, upper ? end : to, s);
    if (!upper)
        advance_later(carry, to, end, s);
}

/* Step `s` of the march, of which `number` are done: level 1 sweeps plane s - radius, or is some
 * planes ahead, and each next level is a radius behind. */
static void step(struct carry *carry, int64_t s, int64_t number)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int64_t lag = w->reach[w->march], group = w->visit;
    const int64_t first = level_lo(t, 1, w->across), end = level_hi(t, 1, w->across);
    /* rows may wait into the next step where level 1 comes to their place late enough */
    const bool patient = w->dims == 2 || (!w->whole && t->box.hi[w->across] - first >= 4 * GROUP);
    if (w->ahead && number % w->planes == 0)
        lead_on(carry, s - lag);
    if (!w->ahead) {
        call_plane(carry, &carry->call[0], level_lo(t, 0, w->across), s + 1);
        call_plane(carry, &carry->call[1], level_lo(t, 0, w->across) + 2 * group, s);
    }
    if (stacks(t, s))
        step_stack(carry, s, number);
    for (int64_t j = first; j < end && !stacks(t, s); j += group) {
        if (!w->ahead && j == first + 2 * group)
            drain(carry, 0);
        if (!w->ahead)
            advance_first(carry, j, j + group, s - lag);
        for (int level = 2; level <= w->steps; level++)
            advance(carry, level, j, j + group, s - level * lag);
    }
    for (int level = w->ahead ? 2 : 1; level < w->steps; level++)
        ghost_rows_of(t, level, s - level * lag);
    if (!w->ahead)
        drain(carry, patient ? (w->dims > 2 ? 2 * GROUP : 1) : 0);
}

static void sweep_tile(const struct wave *w, int64_t number, char *ring)
{
    struct tile t = {.w = w, .ring = ring};
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t piece = number % w->pieces[axis];
        number /= w->pieces[axis];
        t.box.lo[axis] = cut_at(w, axis, piece);
        t.box.hi[axis] = cut_at(w, axis, piece + 1);
    }
    if (hs_box_count(&t.box) == 0)
        return;
    for (int level = 0; level <= w->steps; level++)
        find_level(&t, level);
    t.base_x = round_down(level_lo(&t, 1, HS_X), w->line) - w->line;
    t.base_across = t.box.lo[w->across] - w->steps * w->reach[w->across];
    struct carry carry = {
        .t = &t,
        .cost = 8 * (w->ahead ? w->steps - 1 : w->steps),
        .plain = w->plain,
        .row_bytes = divide_up(t.box.hi[HS_X] - t.box.lo[HS_X], w->line) * LINE_BYTES,
    };
    const int64_t lag = w->reach[w->march];
    const int64_t begin = level_lo(&t, 1, w->march) + lag;
    for (int64_t s = begin; s < t.box.hi[w->march] + w->steps * lag; s++) {
        find_slots(&t, s);
        step(&carry, s, s - begin);
    }
    drain(&carry, 0);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static size_t scratch(const struct hs_sweep *s)
{
    size_t most = 0;
    for (int steps = 1; steps <= MOST_STEPS; steps++)
        for (int source = 0; source < 2; source++) {
            struct wave w;
            describe(s, steps, source, &w);
            if (ring_bytes(&w) > most)
                most = ring_bytes(&w);
        }
    return most * (size_t)s->threads;
}

static enum hs_status sweep(const struct hs_sweep *s, struct hs_error *err)
{
    (void)err;
    struct wave w;
    describe(s, s->steps, s->source != NULL, &w);
    w.functions = find_functions(s->precision);
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(s->stencil, terms);
    for (int n = 0; n < count; n++)
        hs_write(s->precision, w.c, n, terms[n].c);
    const size_t bytes = ring_bytes(&w);
    const int64_t tiles = w.pieces[HS_X] * w.pieces[HS_Y] * w.pieces[HS_Z];
    const int threads = (int)smaller(s->threads, tiles);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        char *ring = (char *)s->scratch + (size_t)omp_get_thread_num() * bytes;
#pragma omp for schedule(static)
        for (int64_t n = 0; n < tiles; n++)
            sweep_tile(&w, n, ring);
        hs_stream_fence();
    }
    return HS_OK;
}

/* Sweeps that pay in one call: more would cost more at the rims than they save. [dims][radius] */
static const int usual_steps[HS_AXES + 1][HS_MAX_RADIUS + 1] = {
    {0}, {0, 8, 8, 8}, {0, 8, 4, 4}, {0, 4, 2, 2}};

static int fuses(int dims, int radius, enum hs_precision precision)
{
    (void)precision;
    return usual_steps[dims][radius];
}

const struct hs_kernel hs_kernel_cpu_wavefront = {
    .name = "wavefront",
    .idea = "several sweeps in one pass: levels march through the planes behind each other",
    .origin = "Wellein et al., COMPSAC 2009; Nguyen et al., SC 2010",
    .device = HS_CPU,
    .dims = HS_ALL_DIMS,
    .radius = HS_ALL_RADII,
    .precision = HS_ALL_PRECISIONS,
    .steps = MOST_STEPS,
    .fuses = fuses,
    .own_ghosts = true,
    .scratch = scratch,
    .sweep = sweep,
};
