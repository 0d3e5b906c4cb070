/*
 * wavefront: several sweeps in one pass over memory.
 *
 * A thread takes a tile of the grid and marches through its planes with several time levels at
 * once: level 1 sweeps plane s - R of the input (R: the radius), level 2 plane s - 2R of level 1,
 * and so on. Only the last level goes to memory. The levels between stay in the core's L2:
 *
 *          z |  s         read: input        <- memory, prefetched a plane ahead
 *            |  s - R     level 1 swept      +
 *            |  s - 2R    level 2 swept      | a ring of planes, in the cache
 *            |  s - TR    level T swept      +-> memory, by non-temporal stores
 *            +------------------------------- y: rows of the tile, and T*R more on each side of the
 *                                                input, one R less with each level
 *
 * When level t + 1 has swept row (y, z), row (y, z - R) of level t is not read again, and the new
 * row is stored there. So all levels share 2R(T-1) + 1 planes. In 2D the march is along y, by
 * single rows; in 1D levels alternate on a piece of the line. In 3D level 1 sweeps four planes at a
 * time directly from the input; the other levels follow some rows behind.
 *
 * With radius 1 and four levels, one loop does all levels. If L2 is 1 MiB or less, levels go by
 * pairs of planes (wavefront_pair.h): a line of levels 1 to 3 enters and leaves L1 once. If L2 is
 * larger, each level sweeps one plane by pairs of rows (wavefront_stack.h). A general form does the
 * rest: held rows, the march's ends, a periodic axis x, other radii.
 *
 * Each level applies the walls itself, in the ring: held and prescribed nodes, and ghosts by the
 * affine rule; along periodic axes a tile is swept with the grid's images around it. The backend
 * has filled the input's own ghosts. Each level adds the sources.
 *
 * Words per point and sweep, 384^3, R = 1, T = 4: (1 + (64 + 8)/64)/4 = 0.53 instead of 2, and 5 %
 * of the rows are swept twice. Reaches 2.1 of the copy's bandwidth in double on two cores of a Zen
 * 5; what limits it, which steps led there, and other CPUs: docs/performance/two-cores.md.
 *
 * Source: wavefront temporal blocking, Wellein, Hager, Zeiser, Wittmann and Fehske, COMPSAC 2009;
 * planes in a ring ("3.5D blocking"), Nguyen, Satish, Chhugani, Kim and Dubey, SC 2010; one array
 * for all levels ("compressed grid"), Wittmann, Hager, Treibig and Wellein, Parallel Processing
 * Letters 20 (2010).
 */
#include "core/ghost.h"
#include "core/problem.h"
#include "core/stream.h"
#include "wavefront_levels.h"
#include "wavefront_pair.h"
#include "wavefront_stack.h"

#include <omp.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* Addresses for level 1: the first bytes of the input's planes, from `radius` below on, and of the
 * ring's; and offsets from there to the current line, its neighbours along y, and what is
 * prefetched. So an address is the sum of two registers, few of which change from line to line. */
struct place {
    const char *plane[PLANES + 2 * HS_MAX_RADIUS];
    char *out[PLANES];
    int64_t at, far, down[HS_MAX_RADIUS], up[HS_MAX_RADIUS];
};

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

#define ROWS_BODY "wavefront_rows.h"
#include "instruction_sets.h"

/* ---- the march ------------------------------------------------------------------------------- */

/* Advances level 1, which is ahead of the others. Rows that wait are stored first: they lie where
 * its newest plane will. */
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

/* Step `s` of the march, after `number` others: level 1 sweeps plane s - radius, or is some planes
 * ahead, and each next level is a radius behind. */
static void step(struct carry *carry, int64_t s, int64_t number)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int64_t lag = w->reach[w->march], group = w->visit;
    const int64_t first = level_lo(t, 1, w->across), end = level_hi(t, 1, w->across);
    /* rows may wait into the next step if level 1 comes to their place late enough */
    const bool patient = w->dims == 2 || (!w->stack && t->box.hi[w->across] - first >= 4 * GROUP);
    if (w->ahead && number % w->planes == 0)
        lead_on(carry, s - lag);
    if (!w->ahead) {
        prefetch_plane(carry, &carry->prefetch[0], level_lo(t, 0, w->across), s + 1);
        prefetch_plane(carry, &carry->prefetch[1], level_lo(t, 0, w->across) + 2 * group, s);
    }
    if (stacks(t, s))
        step_stack(carry, s);
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
    const struct hs_box grid = {.hi = {w->n[HS_X], w->n[HS_Y], w->n[HS_Z]}};
    struct tile t = {.w = w, .ring = ring, .box = piece_of(&grid, w->pieces, w->line, number)};
    if (hs_box_count(&t.box) == 0)
        return;
    for (int level = 0; level <= w->steps; level++)
        find_level(&t, level);
    t.base_x =
        round_down(level_lo(&t, 1, HS_X), w->line) - (w->pair ? PAIR_LEAD : LINE_BYTES) / w->size;
    t.base_across = t.box.lo[w->across] - (w->pair ? 2 : 1) * w->steps * w->reach[w->across];
    struct carry carry = {
        .t = &t,
        .cost = 8 * (w->ahead ? w->steps - 1 : w->steps),
        .plain = w->plain,
        .row_bytes = hs_divide_up(t.box.hi[HS_X] - t.box.lo[HS_X], w->line) * LINE_BYTES,
    };
    const int64_t lag = w->reach[w->march];
    const int64_t begin = level_lo(&t, 1, w->march) + lag;
    if (w->pair) {
        sweep_pairs(&carry);
        return;
    }
    for (int64_t s = begin; s < t.box.hi[w->march] + w->steps * lag; s++) {
        find_slots(&t, s);
        step(&carry, s, s - begin);
    }
    drain(&carry, 0);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static enum hs_status sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *s,
                            struct hs_error *err)
{
    (void)plan, (void)err;
    struct wave w;
    const void *source = hs_source_field(&s->source);
    describe(s, s->steps, source != NULL, &w);
    w.source = source;
    w.functions = ROWS_FUNCTIONS(s->precision == HS_FLOAT);
    take_coefficients(s, w.c);
    const size_t bytes = ring_bytes(&w);
    const int64_t tiles = w.pieces[HS_X] * w.pieces[HS_Y] * w.pieces[HS_Z];
    const int threads = (int)hs_smaller(s->threads, tiles);
    /* with pairs, neighbouring tiles run at once, since each reads more of the other's rows */
    const int each = w.pair ? 1 : (int)hs_divide_up(tiles, threads);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        char *ring = (char *)s->scratch + (size_t)omp_get_thread_num() * bytes;
#pragma omp for schedule(static, each)
        for (int64_t n = 0; n < tiles; n++)
            sweep_tile(&w, n, ring);
        hs_stream_fence();
    }
    return HS_OK;
}

/* Number of sweeps that pays in one call: more cost more at the overlaps than they save.
 * [dims][radius] */
static const int usual_steps[HS_AXES + 1][HS_MAX_RADIUS + 1] = {
    {0}, {0, 8, 8, 8}, {0, 8, 4, 4}, {0, 4, 2, 2}};

/* Scratch bytes for all threads or fewer, and calls of any number of sweeps. */
static size_t scratch_of(const struct hs_case *of)
{
    const struct hs_operator op = {.stencil = {.dims = of->dims, .radius = of->radius}};
    struct hs_sweep s = {
        .precision = of->precision, .layout = of->layout, .op = &op, .face = of->face};
    size_t most = 0;
    while (s.threads++ < of->threads)
        for (int steps = 1; steps <= MOST_STEPS; steps++) {
            struct wave w;
            describe(&s, steps, of->asked & HS_SOURCE_FIELD, &w);
            const size_t bytes = ring_bytes(&w) * (size_t)s.threads;
            most = bytes > most ? bytes : most;
        }
    return most;
}

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    out->steps = usual_steps[of->dims][of->radius];
    out->scratch = scratch_of(of);
    return true;
}

const struct hs_kernel hs_kernel_cpu_wavefront = {
    .name = "wavefront",
    .idea = "several sweeps in one pass: levels march through the planes behind each other",
    .origin = "Wellein et al., COMPSAC 2009; Nguyen et al., SC 2010",
    .device = HS_CPU,
    .features = HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_APPLIES_WALLS,
    .steps = MOST_STEPS,
    .plan = plan,
    .sweep = sweep,
};
