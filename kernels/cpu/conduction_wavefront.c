/*
 * conduction_wavefront: several sweeps of a body of many materials in one pass over memory.
 *
 * As in wavefront.c, a thread takes a tile and marches through its planes with several time levels
 * at once: level L sweeps plane s - L of level L - 1, and only the last level goes to memory. The
 * levels between are in a ring of planes in the core's L2, in which a level's new row overwrites
 * the row that its own sweep was the last to read:
 *
 *          z |  s         read: input        <- memory, prefetched some rows ahead
 *            |  s - 1     level 1 swept      +
 *            |  s - 2     level 2 swept      | a ring of 2T - 1 planes, in the cache
 *            |  s - T     level T swept      +-> memory, by non-temporal stores
 *            +------------------------------- y: rows of the tile, and T more on each side of the
 *                                                input, one less with each level
 *
 * Walls are coefficients, so no level has code for them; along periodic axes a tile is swept with
 * the grid's images around it. What takes time is finding each node's coefficients. Bodies have few
 * materials: in most cache lines all nodes have the same number of the palette, and so have the
 * adjacent rows and planes. So each new plane is examined once, and bits of a word for each row say
 * which lines are alike across and along the march, and which of these are uniform. With four
 * levels in 3D one loop over lines then sweeps two rows of all levels (a stack): in uniform lines
 * the coefficients stay in registers from line to line; in lines whose nodes differ they are those
 * kept from the last such line; where rows or planes differ each level is swept by itself. So is
 * each level at the march's ends, with a source field, in 2D and for other numbers of levels.
 *
 * Words per node and sweep at 384^3 in double, T = 4, 96 rows per tile: (1 + 1/8)*(1 + 8/96) read,
 * values and numbers, and 1 written, over T = 0.55 instead of 2; a row in 32 is swept twice. Rows
 * of more than 64 lines are cut; each piece then sweeps one more line on both sides, in which one
 * more node becomes wrong with each level.
 *
 * Source: wavefront temporal blocking, Wellein, Hager, Zeiser, Wittmann and Fehske, COMPSAC 2009;
 * planes in a ring, Nguyen, Satish, Chhugani, Kim and Dubey, SC 2010.
 */
#include "conduction_rows.h"
#include "core/machine.h"
#include "core/stream.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_STEPS = CONDUCTION_MOST_LEVELS,
    STEPS_3D = CONDUCTION_LEVELS, /* sweeps that pay in one call */
    FEWEST_ROWS = 8,              /* rows of a tile: fewest, and most */
    MOST_ROWS = 96,
    RING_ROWS = MOST_ROWS + 2 * MOST_STEPS,
    MOST_CACHE = 4096 * 1024,      /* most of a core's L2, in bytes, that a tile is cut for */
    SMALL_CACHE = 1024 * 1024,     /* not cut for up to this: the overlap would be too large */
    AHEAD = 4,                     /* rows of the input that are prefetched before their use */
    PLANE_APART = 13 * LINE_BYTES, /* between planes of the ring, beyond a multiple of a page */
    PAGE = 4096,
};

/* A thread's memory. The ring comes last and begins at one place for any number of levels: behind a
 * wall a neighbour is whatever is left in it, which must be a valid value. */
enum {
    LINES_AT = CONDUCTION_KEPT,
    RING_AT = (LINES_AT + CONDUCTION_LEVELS * RING_ROWS * (int)sizeof(struct conduction_lines) +
               LINE_BYTES - 1) /
              LINE_BYTES * LINE_BYTES,
};

/* A call, and how it is cut. */
struct wave {
    const struct hs_sweep *s;
    const struct conduction_functions *functions;
    int steps;
    int across, march;  /* axes of adjacent rows, and of planes */
    int64_t size, line; /* bytes of a value; values of a cache line */
    int64_t n[HS_AXES];
    int64_t reach[HS_AXES]; /* 1; 0 along axes that are not there */
    bool wrap[HS_AXES];
    bool streamed; /* the output is written by non-temporal stores */
    bool stack;    /* one loop sweeps two rows of all levels, where all have some */
    int64_t pieces[HS_AXES];
    int64_t slots, ring_plane; /* planes, bytes from one to the next */
};

/* The part that a thread takes. */
struct tile {
    const struct wave *w;
    struct hs_box box;                   /* of the last sweep */
    struct hs_box level[MOST_STEPS + 1]; /* the part of each level that the next one needs; along
                                          * periodic axes beyond the grid */
    void *kept;
    char *ring;
    struct conduction_lines *lines; /* [CONDUCTION_LEVELS][RING_ROWS] */
    int64_t base_x, base_across;    /* of the ring's first value */
};

/* ---- where things are ------------------------------------------------------------------------ */

/* Element of the first node of a row; j and k may be beside the grid. */
static int64_t element(const struct wave *w, int64_t j, int64_t k)
{
    return j * w->s->layout.pitch[w->across] + k * w->s->layout.pitch[w->march];
}

static int64_t element_of_node(const struct wave *w, int64_t j, int64_t k)
{
    return element(w, wrapped(j, w->n[w->across]), wrapped(k, w->n[w->march]));
}

/* The first node of a row of a level; along x it may lie before the ring's. Behind a wall a
 * neighbour is a ghost of the input, or whatever is there in the ring. */
static char *row_at(const struct tile *t, int level, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    if (level > 0)
        return t->ring + wrapped(k - level, w->slots) * w->ring_plane +
               (j - t->base_across) * CONDUCTION_PITCH - t->base_x * w->size;
    if (w->wrap[w->across])
        j = wrapped(j, w->n[w->across]);
    if (w->wrap[w->march])
        k = wrapped(k, w->n[w->march]);
    return (char *)(uintptr_t)w->s->in + element(w, j, k) * w->size;
}

static struct conduction_lines *lines_at(const struct tile *t, int64_t j, int64_t k)
{
    return t->lines + wrapped(k, CONDUCTION_LEVELS) * RING_ROWS + (j - t->box.lo[t->w->across]);
}

static struct conduction_level level_at(const struct tile *t, int level, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    const int64_t first = element_of_node(w, j, k), reach = w->reach[w->across];
    const int64_t pitch = w->s->layout.pitch[w->across] * w->size;
    const bool last = level == w->steps;
    return (struct conduction_level){
        .level = level - 1,
        .first = first,
        .in = row_at(t, level - 1, j, k),
        .before = row_at(t, level - 1, j - reach, k),
        .after = row_at(t, level - 1, j + reach, k),
        .lower = row_at(t, level - 1, j, k - 1),
        .upper = row_at(t, level - 1, j, k + 1),
        .out = last ? (char *)w->s->out + first * w->size : row_at(t, level, j, k),
        .in_pitch = level > 1 ? CONDUCTION_PITCH : pitch,
        .out_pitch = last ? pitch : CONDUCTION_PITCH,
    };
}

/* `count` rows of a level. */
static struct conduction_rows rows_of(const struct tile *t, int level, int64_t count)
{
    const struct wave *w = t->w;
    const struct hs_network_view *network = w->s->op->network;
    const int64_t *pitch = w->s->layout.pitch;
    return (struct conduction_rows){
        .network = network,
        .source = hs_source_field(&w->s->source),
        .across = w->across,
        .march = w->march,
        .across_pitch = w->reach[w->across] * pitch[w->across],
        .march_pitch = pitch[w->march],
        .points = w->n[HS_X],
        .from = t->level[level].lo[HS_X],
        .to = t->level[level].hi[HS_X],
        .count = count,
        .forcing = network->forcing,
        .forcing_pitch = network->row_count,
        .kept = t->kept,
        .streamed = level == w->steps && w->streamed,
    };
}

/* The row to prefetch: AHEAD rows after row j of plane k, there or in the next plane. */
static const char *row_ahead(const struct tile *t, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    const struct hs_box *input = &t->level[0];
    j += AHEAD;
    if (j >= input->hi[w->across])
        j += input->lo[w->across] - input->hi[w->across], k++;
    return w->streamed && k < input->hi[w->march] ? row_at(t, 0, j, k) : NULL;
}

/* ---- the march ------------------------------------------------------------------------------- */

static bool has_plane(const struct tile *t, int level, int64_t k)
{
    const int march = t->w->march;
    return k >= t->level[level].lo[march] && k < t->level[level].hi[march];
}

/* Sweeps rows j to j_end, as far as it has them, of plane k of a level. At periodic ends neighbours
 * are not adjacent in the input. */
static void sweep_rows(const struct tile *t, int level, int64_t j, int64_t j_end, int64_t k)
{
    const struct wave *w = t->w;
    const struct hs_box *box = &t->level[level];
    const int64_t n = w->n[w->across];
    const bool wrap = w->wrap[w->across];
    if (!has_plane(t, level, k))
        return;
    j_end = hs_smaller(j_end, box->hi[w->across]);
    for (int64_t count; (j = hs_larger(j, box->lo[w->across])) < j_end; j += count) {
        const int64_t real = wrapped(j, n);
        const bool at_end = wrap && (real == 0 || real == n - 1);
        count = at_end ? 1 : hs_smaller(j_end - j, n - wrap - real);
        struct conduction_rows rows = rows_of(t, level, count);
        const struct conduction_level one = level_at(t, level, j, k);
        if (level == 1)
            rows.prefetch = row_ahead(t, j, k + 1);
        w->functions->rows[w->s->op->network->form](&rows, &one);
    }
}

/* Sweeps rows j to j_end, an even number, in step s of all levels. */
static void sweep_stack(const struct tile *t, int64_t j, int64_t j_end, int64_t s)
{
    const struct wave *w = t->w;
    if (j == j_end)
        return;
    struct conduction_rows rows = rows_of(t, w->steps, j_end - j);
    struct conduction_stack stack = {.input = row_at(t, 0, j, s - 1),
                                     .lower = row_at(t, 0, j, s - 2),
                                     .upper = row_at(t, 0, j, s),
                                     .next = row_at(t, 1, j, s - 1)};
    for (int n = 0; n < CONDUCTION_LEVELS; n++) {
        stack.first[n] = element_of_node(w, j, s - n - 1);
        stack.lines[n] = lines_at(t, j, s - n - 1);
    }
    for (int n = 0; n < CONDUCTION_LATER; n++) {
        stack.centre[n] = row_at(t, n + 1, j, s - n - 2);
        stack.below[n] = row_at(t, n + 1, j, s - n - 3);
    }
    stack.out = (char *)w->s->out + stack.first[CONDUCTION_LATER] * w->size;
    rows.prefetch = row_ahead(t, j, s);
    w->functions->stack[w->s->op->network->form](&rows, &stack);
}

static void look(const struct tile *t, int64_t j, int64_t j_end, int64_t k)
{
    const struct wave *w = t->w;
    if (j == j_end || !has_plane(t, 1, k))
        return;
    const struct conduction_rows rows = rows_of(t, 1, j_end - j);
    w->functions->look[w->s->op->network->form](&rows, element_of_node(w, j, k), lines_at(t, j, k));
}

/* Step s of the march: level L sweeps plane s - L. The tile's own rows are swept as stacks, except
 * at the ends of a periodic axis. */
static void step(const struct tile *t, int64_t s)
{
    const struct wave *w = t->w;
    const int64_t first = t->level[1].lo[w->across], end = t->level[1].hi[w->across];
    int64_t from = t->box.lo[w->across], to = t->box.hi[w->across];
    if (w->wrap[w->across]) {
        from = hs_larger(from, 1);
        to = hs_larger(hs_smaller(to, w->n[w->across] - 1), from);
    }
    to -= (to - from) % 2;
    bool all = w->stack;
    for (int level = 1; level <= w->steps; level++)
        all = all && has_plane(t, level, s - level);
    if (w->stack)
        look(t, from, to, s - 1);
    if (!all)
        from = to = end;
    for (int level = 1; level <= w->steps; level++)
        sweep_rows(t, level, first, from, s - level);
    sweep_stack(t, from, to, s);
    for (int level = 1; level <= w->steps; level++)
        sweep_rows(t, level, to, end, s - level);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Along x a level has one more line on both sides, in which one more node becomes wrong with each
 * level. */
static void find_level(struct tile *t, int level)
{
    const struct wave *w = t->w;
    for (int axis = 0; axis < HS_AXES; axis++) {
        int64_t more = (w->steps - level) * w->reach[axis];
        if (axis == HS_X)
            more = level < w->steps && w->pieces[HS_X] > 1 ? w->line : 0;
        t->level[level].lo[axis] = t->box.lo[axis] - more;
        t->level[level].hi[axis] = t->box.hi[axis] + more;
        if (!w->wrap[axis] || axis == HS_X) {
            t->level[level].lo[axis] = hs_larger(t->level[level].lo[axis], 0);
            t->level[level].hi[axis] = hs_smaller(t->level[level].hi[axis], w->n[axis]);
        }
    }
}

static void sweep_tile(const struct wave *w, int64_t number, char *memory)
{
    const struct hs_box grid = {.hi = {w->n[HS_X], w->n[HS_Y], w->n[HS_Z]}};
    struct tile t = {.w = w,
                     .box = piece_of(&grid, w->pieces, w->line, number),
                     .kept = memory,
                     .lines = (struct conduction_lines *)(void *)(memory + LINES_AT),
                     .ring = memory + RING_AT};
    if (hs_box_count(&t.box) == 0)
        return;
    for (int level = 0; level <= w->steps; level++)
        find_level(&t, level);
    t.base_x = t.level[1].lo[HS_X] - w->line;
    t.base_across = t.box.lo[w->across] - w->steps * w->reach[w->across];
    for (int64_t s = t.level[1].lo[w->march] + 1; s < t.box.hi[w->march] + w->steps; s++)
        step(&t, s);
}

/* Pieces of a row: longer rows than a ring's are cut, with room for one more line on each side. */
static int64_t cut_rows(int64_t n, int64_t line)
{
    const int64_t lines = hs_divide_up(n, line);
    return lines <= CONDUCTION_LINES ? 1 : hs_divide_up(lines, CONDUCTION_LINES - 2);
}

/* Rows of a tile whose ring fits in a core's L2, with what passes through it. With a small L2, more
 * than fit: rows from L3 take less time than rows that two tiles sweep. */
static int64_t rows_of_tile(const struct wave *w)
{
    const int64_t cache = hs_smaller(hs_machine_l2_bytes(), MOST_CACHE);
    const int64_t row =
        hs_divide_up(hs_divide_up(w->n[HS_X], w->pieces[HS_X]), w->line) * LINE_BYTES;
    const int64_t bytes = cache > SMALL_CACHE ? cache * 2 / 3 : cache * 7 / 3;
    const int64_t rows = bytes / (w->slots * row) - 2 * w->steps;
    return hs_larger(hs_smaller(rows, MOST_ROWS), FEWEST_ROWS);
}

static void describe(const struct hs_sweep *s, int steps, bool source, struct wave *w)
{
    *w = (struct wave){.s = s, .steps = steps, .size = (int64_t)hs_precision_size(s->precision)};
    const bool planes = s->layout.points[HS_Z] > 1;
    w->line = LINE_BYTES / w->size;
    w->march = planes ? HS_Z : HS_Y;
    w->across = planes ? HS_Y : HS_Z;
    for (int axis = 0; axis < HS_AXES; axis++) {
        w->n[axis] = s->layout.points[axis];
        w->reach[axis] = w->n[axis] > 1;
    }
    w->streamed = s->layout.elements * w->size * (source ? 3 : 2) > CACHE_BYTES;
    w->slots = 2 * steps - 1;
    w->pieces[HS_X] = cut_rows(w->n[HS_X], w->line);
    w->pieces[HS_Y] = w->pieces[HS_Z] = 1;
    const int64_t longest = planes ? rows_of_tile(w) : w->n[HS_Y];
    w->pieces[HS_Y] = hs_round_up(hs_divide_up(w->n[HS_Y], longest), s->threads);
    w->stack = planes && steps == CONDUCTION_LEVELS && w->pieces[HS_X] == 1 && !source;
    const int64_t rows =
        hs_divide_up(w->n[w->across], w->pieces[w->across]) + 2 * steps * w->reach[w->across];
    w->ring_plane = hs_round_up(rows * CONDUCTION_PITCH, PAGE) + PLANE_APART;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static enum hs_status sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *s,
                            struct hs_error *err)
{
    (void)err;
    struct wave w;
    describe(s, s->steps, hs_source_field(&s->source) != NULL, &w);
    memcpy(w.wrap, s->op->network->wrap, sizeof w.wrap);
    w.functions = hs_conduction_functions(s->precision);
    const int64_t tiles = w.pieces[HS_X] * w.pieces[HS_Y];
    const int threads = (int)hs_smaller(s->threads, tiles);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        char *memory = (char *)s->scratch + omp_get_thread_num() * plan->own[0];
        hs_conduction_forget(memory);
#pragma omp for schedule(static, 1)
        for (int64_t n = 0; n < tiles; n++)
            sweep_tile(&w, n, memory);
        hs_stream_fence();
    }
    return HS_OK;
}

/* Bytes that a thread keeps, for any number of threads and of sweeps. */
static int64_t thread_bytes(const struct hs_case *of)
{
    struct hs_sweep s = {.precision = of->precision, .layout = of->layout};
    int64_t most = 0;
    while (s.threads++ < of->threads)
        for (int steps = 1; steps <= MOST_STEPS; steps++) {
            struct wave w;
            describe(&s, steps, false, &w);
            most = hs_larger(most, w.slots * w.ring_plane);
        }
    return hs_round_up(RING_AT + most, PAGE);
}

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits;
    const int64_t line = LINE_BYTES / (int64_t)hs_precision_size(of->precision);
    if (of->face[2 * HS_X].wrap && cut_rows(of->layout.points[HS_X], line) > 1) {
        snprintf(
            reason, size,
            "conduction_wavefront: a periodic axis x may have %d nodes at most in %s, not %lld",
            (int)(CONDUCTION_LINES * line), hs_precision_name(of->precision),
            (long long)of->layout.points[HS_X]);
        return false;
    }
    out->steps = of->dims > 2 ? STEPS_3D : MOST_STEPS;
    out->own[0] = thread_bytes(of);
    out->scratch = (size_t)(out->own[0] * of->threads);
    return true;
}

const struct hs_kernel hs_kernel_cpu_conduction_wavefront = {
    .name = "conduction_wavefront",
    .idea = "a body of many materials, several sweeps in one pass: levels march behind each other",
    .origin = "Wellein et al., COMPSAC 2009; Nguyen et al., SC 2010",
    .device = HS_CPU,
    .features = HS_CONDUCTION | HS_PALETTE | HS_2D | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS |
                HS_ALL_VALUES | HS_APPLIES_WALLS,
    .steps = MOST_STEPS,
    .plan = plan,
    .sweep = sweep,
};
