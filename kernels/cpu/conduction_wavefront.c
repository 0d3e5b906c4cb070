#include "common.h"
#include "conduction_rows.h"
#include "core/machine.h"
#include "core/stream.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE_BYTES = CONDUCTION_LINE_BYTES,
    MOST_STEPS = 8,
    PAGE = 4096,
};
static int TILE_ROWS = 24, AHEAD = 4, APART = 13;

struct wave {
    const struct hs_sweep *s;
    const struct conduction_functions *functions;
    bool stack; /* */
    int steps;
    int across, march;
    int64_t size, line;
    int64_t n[HS_AXES];
    int64_t reach[HS_AXES];
    bool wrap[HS_AXES];
    bool past;
    int64_t pieces[HS_AXES];
    int64_t slots, ring_rows, ring_plane; /* bytes */
};

struct tile {
    const struct wave *w;
    struct hs_box box;
    struct hs_box level[MOST_STEPS + 1];
    char *ring;
    int64_t base_x, base_across;
    struct conduction_lines *lines; /* [slot][rows] */
    void *kept;
};

static int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t wrapped(int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    i %= n;
    return i < 0 ? i + n : i;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t element(const struct wave *w, int64_t j, int64_t k)
{
    return wrapped(j, w->n[w->across]) * w->s->layout.pitch[w->across] +
           wrapped(k, w->n[w->march]) * w->s->layout.pitch[w->march];
}

/* first node of a row of a level; level 0 is the input */
static const char *row_at(const struct tile *t, int level, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    if (level == 0) {
        /* a neighbour beyond a wall: the ghost */
        const int64_t wj = w->wrap[w->across] ? wrapped(j, w->n[w->across]) : j;
        const int64_t wk = w->wrap[w->march] ? wrapped(k, w->n[w->march]) : k;
        return (const char *)w->s->in +
               (wj * w->s->layout.pitch[w->across] + wk * w->s->layout.pitch[w->march]) * w->size;
    }
    const int64_t slot = wrapped(k - level, w->slots);
    return t->ring + slot * w->ring_plane + ((j - t->base_across) * CONDUCTION_PITCH - t->base_x * w->size);
}

static struct conduction_level level_at(const struct tile *t, int level, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    const struct hs_sweep *s = w->s;
    const int64_t pitch = s->layout.pitch[w->across], first = element(w, j, k);
    static int fake=-1; if(fake<0)fake=getenv("FAKE")?atoi(getenv("FAKE")):0;
    const int64_t ofirst = fake&1 ? element(w, j-t->box.lo[w->across]+10, 5) : first;
    const int64_t kk = fake & 2 && level==1 ? 5 : k; const int64_t jj= fake & 2 && level==1 ? j-t->box.lo[w->across]+10:j; 
    return (struct conduction_level){
        .first = first,
        .level = level - 1,
        .in = row_at(t, level - 1, jj, kk),
        .before = row_at(t, level - 1, jj - w->reach[w->across], kk),
        .after = row_at(t, level - 1, jj + w->reach[w->across], kk),
        .lower = row_at(t, level - 1, jj, kk - 1),
        .upper = row_at(t, level - 1, jj, kk + 1),
        .out = level < w->steps ? (char *)(uintptr_t)row_at(t, level, j, k) : (char *)s->out + ofirst * w->size,
        .in_pitch = level > 1 ? CONDUCTION_PITCH : pitch * w->size,
        .out_pitch = level < w->steps ? CONDUCTION_PITCH : pitch * w->size,
    };
}

static struct conduction_rows rows_of(const struct tile *t, int level, int64_t count)
{
    const struct wave *w = t->w;
    const int64_t *pitch = w->s->layout.pitch;
    return (struct conduction_rows){
        .network = w->s->op->network,
        .forcing = w->s->op->network->forcing,
        .forcing_pitch = w->s->op->network->row_count,
        .kept = t->kept,
        .source = hs_source_field(&w->s->source),
        .across = w->across,
        .march = w->march,
        .across_pitch = w->reach[w->across] * pitch[w->across],
        .march_pitch = pitch[w->march],
        .points = w->n[HS_X],
        .from = t->level[level].lo[HS_X],
        .to = t->level[level].hi[HS_X],
        .count = count,
        .past = level == w->steps && w->past,
    };
}

/* What is read AHEAD rows later, asked for meanwhile: of plane k, or the next one. */
static const char *ask(const struct tile *t, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    const struct hs_box *box = &t->level[0];
    j += AHEAD;
    if (j >= box->hi[w->across])
        j += box->lo[w->across] - box->hi[w->across], k++;
    return !getenv("NOASK") && w->past && k < box->hi[w->march] ? row_at(t, 0, j, k) : NULL;
}

/* Rows j to j_end of plane k of a level. */
static void sweep_rows(const struct tile *t, int level, int64_t j, int64_t j_end, int64_t k)
{
    const struct wave *w = t->w;
    const struct hs_box *box = &t->level[level];
    const int64_t n = w->n[w->across];
    j = larger(j, box->lo[w->across]);
    j_end = smaller(j_end, box->hi[w->across]);
    if (k < box->lo[w->march] || k >= box->hi[w->march])
        return;
    for (int64_t count; j < j_end; j += count) {
        const int64_t real = wrapped(j, n);
        count = w->wrap[w->across] && (real == 0 || real == n - 1) ? 1 : smaller(j_end - j, n - w->wrap[w->across] - real);
        struct conduction_rows rows = rows_of(t, level, count);
        const struct conduction_level one = level_at(t, level, j, k);
        if (level <= 2)
            rows.ask = ask(t, level == 1 ? j : j + 3, k + level);
        w->functions->rows[w->s->op->network->form](&rows, &one);
    }
}

static struct conduction_lines *lines_at(const struct tile *t, int64_t j, int64_t k)
{
    return t->lines + wrapped(k, CONDUCTION_LEVELS) * t->w->ring_rows + (j - t->box.lo[t->w->across]);
}

/* Rows j to j_end of all levels, neighbours in the fields. */
static void sweep_stack(const struct tile *t, int64_t j, int64_t j_end, int64_t s)
{
    const struct wave *w = t->w;
    if (j >= j_end)
        return;
    struct conduction_rows rows = rows_of(t, w->steps, j_end - j);
    const struct conduction_level input = level_at(t, 1, j, s - 1);
    struct conduction_stack stack = {.input = input.in, .lower = input.lower, .upper = input.upper, .next = input.out};
    for (int level = 1; level <= w->steps; level++) {
        const struct conduction_level one = level_at(t, level, j, s - level);
        stack.first[level - 1] = one.first;
        if (level > 1)
            stack.centre[level - 2] = (char *)(uintptr_t)one.in, stack.below[level - 2] = (char *)(uintptr_t)one.lower;
        stack.out = one.out;
        stack.lines[level - 1] = lines_at(t, j, s - level);
    }
    rows.ask = ask(t, j, s);
    w->functions->stack[w->s->op->network->form](&rows, &stack);
}

static void look(const struct tile *t, int64_t j, int64_t j_end, int64_t k)
{
    const struct wave *w = t->w;
    if (j >= j_end || k < t->level[1].lo[w->march] || k >= t->level[1].hi[w->march])
        return;
    const struct conduction_rows rows = rows_of(t, 1, j_end - j);
    w->functions->look[w->s->op->network->form](&rows, element(w, j, k), lines_at(t, j, k));
}

static void step(const struct tile *t, int64_t s)
{
    const struct wave *w = t->w;
    const int64_t first = t->level[1].lo[w->across], end = t->level[1].hi[w->across];
    int64_t from = t->box.lo[w->across], to = t->box.hi[w->across];
    if (w->wrap[w->across])
        from = larger(from, 1), to = smaller(to, w->n[w->across] - 1);
    to -= (to - from) % 2;
    const bool stack = w->stack && !hs_source_field(&w->s->source) && w->pieces[HS_X] == 1;
    if (stack)
        look(t, from, to, s - 1);
    bool all = w->stack && !hs_source_field(&w->s->source) && w->pieces[HS_X] == 1;
    for (int level = 1; level <= w->steps; level++)
        all = all && s - level >= t->level[level].lo[w->march] && s - level < t->level[level].hi[w->march];
    if (!all)
        from = to = end;
    for (int level = 1; level <= w->steps; level++)
        sweep_rows(t, level, first, from, s - level);
    sweep_stack(t, from, to, s);
    for (int level = 1; level <= w->steps; level++)
        sweep_rows(t, level, to, end, s - level);
}

static int64_t cut_at(const struct wave *w, int axis, int64_t piece)
{
    const int64_t at = w->n[axis] * piece / w->pieces[axis];
    return axis == HS_X && piece < w->pieces[axis] ? at / w->line * w->line : at;
}

static void find_level(struct tile *t, int level)
{
    const struct wave *w = t->w;
    for (int axis = 0; axis < HS_AXES; axis++) {
        int64_t more = (w->steps - level) * w->reach[axis];
        if (axis == HS_X) /* whole lines */
            more = level < w->steps && w->pieces[HS_X] > 1 ? w->line : 0;
        int64_t *lo = &t->level[level].lo[axis], *hi = &t->level[level].hi[axis];
        *lo = t->box.lo[axis] - more;
        *hi = t->box.hi[axis] + more;
        if (!w->wrap[axis]) {
            *lo = larger(*lo, 0);
            *hi = smaller(*hi, w->n[axis]);
        }
    }
}

static void sweep_tile(const struct wave *w, int64_t number, char *ring)
{
    struct tile t = {.w = w, .ring = ring, .lines = (struct conduction_lines *)(void *)(ring + CONDUCTION_KEPT + w->slots * w->ring_plane), .kept = ring};
    t.ring += CONDUCTION_KEPT;
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
    t.base_x = t.level[1].lo[HS_X] - w->line;
    t.base_across = t.box.lo[w->across] - w->steps * w->reach[w->across];
    for (int64_t s = t.level[1].lo[w->march] + 1; s < t.box.hi[w->march] + w->steps; s++)
        step(&t, s);
}

static void describe(const struct hs_sweep *s, int steps, bool source, struct wave *w)
{
    const int64_t *points = s->layout.points;
    *w = (struct wave){.s = s, .steps = steps, .size = (int64_t)hs_precision_size(s->precision)};
    const char *e;
    if ((e = getenv("TILE_ROWS"))) TILE_ROWS = atoi(e);
    if ((e = getenv("AHEAD"))) AHEAD = atoi(e);
    if ((e = getenv("APART"))) APART = atoi(e);
    w->line = LINE_BYTES / w->size;
    w->march = points[HS_Z] > 1 ? HS_Z : HS_Y;
    w->across = points[HS_Z] > 1 ? HS_Y : HS_Z;
    for (int axis = 0; axis < HS_AXES; axis++) {
        w->n[axis] = points[axis];
        w->reach[axis] = points[axis] > 1;
    }
    w->past = s->layout.elements * w->size * (source ? 3 : 2) > 16 << 20;
    w->slots = 2 * steps - 1;
    w->pieces[HS_X] = w->pieces[HS_Y] = w->pieces[HS_Z] = 1;
    if (w->across == HS_Y)
        w->pieces[HS_Y] = divide_up(divide_up(w->n[HS_Y], TILE_ROWS), s->threads) * s->threads;
    else
        w->pieces[HS_Y] = s->threads;
    const int64_t rows = divide_up(w->n[w->across], w->pieces[w->across]) + 2 * steps * w->reach[w->across];
    w->ring_rows = rows;
    w->ring_plane = divide_up(rows * CONDUCTION_PITCH, PAGE) * PAGE + APART * LINE_BYTES;
}

static size_t ring_bytes(const struct wave *w)
{
    return (size_t)divide_up(CONDUCTION_KEPT + w->slots * w->ring_plane + CONDUCTION_LEVELS * w->ring_rows * (int64_t)sizeof(struct conduction_lines), PAGE) * PAGE;
}

static enum hs_status sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *s,
                            struct hs_error *err)
{
    (void)plan, (void)err;
    struct wave w;
    describe(s, s->steps, hs_source_field(&s->source), &w);
    const struct hs_network_view *view = s->op->network;
    for (int axis = 0; axis < HS_AXES; axis++)
        w.wrap[axis] = view->wrap[axis];
    w.functions = hs_conduction_functions(s->precision);
    w.stack = s->steps == CONDUCTION_LEVELS && w.across == HS_Y && !getenv("NOSTACK");
    const size_t bytes = ring_bytes(&w);
    const int64_t tiles = w.pieces[HS_X] * w.pieces[HS_Y] * w.pieces[HS_Z];
    const int threads = (int)smaller(s->threads, tiles);
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        char *ring = (char *)s->scratch + (size_t)omp_get_thread_num() * bytes;
        memset(ring, 0, CONDUCTION_KEPT);
#pragma omp for schedule(static, 1)
        for (int64_t n = 0; n < tiles; n++)
            sweep_tile(&w, n, ring);
        hs_stream_fence();
    }
    return HS_OK;
}

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)limits, (void)reason, (void)size;
    struct hs_sweep s = {.precision = of->precision, .layout = of->layout, .threads = of->threads};
    out->steps = of->dims > 2 ? 4 : 8;
    for (int steps = 1; steps <= MOST_STEPS; steps++) {
        struct wave w;
        describe(&s, steps, true, &w);
        if (ring_bytes(&w) * (size_t)of->threads > out->scratch) out->scratch = ring_bytes(&w) * (size_t)of->threads;
    }
    return true;
}

const struct hs_kernel hs_kernel_cpu_conduction_wavefront = {
    .name = "conduction_wavefront",
    .idea = "conduction, several sweeps in one pass: levels march through the planes behind each other",
    .origin = "Wellein et al., COMPSAC 2009; Nguyen et al., SC 2010",
    .device = HS_CPU,
    .features = HS_CONDUCTION | HS_PALETTE | HS_2D | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS |
                HS_ALL_VALUES | HS_APPLIES_WALLS,
    .steps = MOST_STEPS,
    .plan = plan,
    .sweep = sweep,
};
