/*
 * wavefront.c: some rows of all levels at once, in one plane of each.
 */
#ifndef HS_KERNELS_CPU_WAVEFRONT_STACK_H
#define HS_KERNELS_CPU_WAVEFRONT_STACK_H

#include "wavefront_levels.h"

/* Rows of levels 1 to 4, by first points: of the input; in the ring, for each later level, its
 * plane (of the level before) and the plane below, where the level is stored unless it is the last;
 * and the plane above the first of these, where level 1 is stored. Then the input's rows to
 * come. */
struct stack {
    const char *centre[LATER];
    char *below[LATER];
    char *above, *out;
    const char *input;
    int64_t input_pitch, input_plane;
    int64_t count;                          /* groups of adjacent rows, one after the other */
    const char *(*prefetch)[PREFETCH_ROWS]; /* [count] */
    int64_t pitch, bytes;                   /* of `out`, from row to row; bytes swept of a row */
    const void *c;
    const double *source_value;
    unsigned first_bits, last_bits; /* bits of the swept values in the first and the last line */
    bool skip_first, skip_last;     /* these lines belong to the neighbouring tile's output */
    bool prescribed[2];             /* whether the nodes at the ends of the last level's rows are */
    struct face_data hold[2];       /* ... by these; tables begin at the first row */
};

/* Whether all levels of a stack are within the grid along the march, away from its ends. */
static bool stacks(const struct tile *t, int64_t s)
{
    const struct wave *w = t->w;
    for (int level = 1; level <= w->steps; level++) {
        const int64_t k = s - level;
        if (k < level_lo(t, level, w->march) || k >= level_hi(t, level, w->march) ||
            holds(w, w->march, wrapped(k, w->n[w->march])) ||
            (!w->wrap[w->march] && k <= w->radius))
            return false;
    }
    return w->stack;
}

/* What is still to be prefetched: `left` rows of the plane that is read next, from `next` on. */
struct prefetching {
    const char *next;
    int64_t pitch, left;
};

static struct prefetching prefetching_of(const struct tile *t, int64_t s)
{
    const struct wave *w = t->w;
    const int64_t i = round_down(level_lo(t, 2, HS_X), w->line), n = w->n[w->across];
    const int64_t lo = level_lo(t, 0, w->across), row = wrapped(lo, n);
    return (struct prefetching){
        .next = field_at(w, w->s->in, i, row, wrapped(s + 1, w->n[w->march])),
        .pitch = w->s->layout.pitch[w->across] * w->size,
        .left = s + 1 < level_hi(t, 0, w->march)
                    ? hs_smaller(level_hi(t, 0, w->across) - lo, n - row)
                    : 0,
    };
}

/* Gives each group rows to prefetch. If none is left, it prefetches what is in the cache, which
 * costs nothing. */
static void take_rows(struct prefetching *a, const char *near, int64_t groups,
                      const char *(*to)[PREFETCH_ROWS])
{
    for (int64_t group = 0; group < groups; group++)
        for (int n = 0; n < PREFETCH_ROWS; n++) {
            to[group][n] = near;
            if (a->left == 0)
                continue;
            a->left--;
            to[group][n] = a->next;
            a->next += a->pitch;
        }
}

/* Finds what prescribes the ends of the last level's rows from j on. */
static void hold_ends(const struct tile *t, struct stack *stack, int64_t j, int64_t s)
{
    const struct wave *w = t->w;
    const struct hs_face_level *l = &w->s->level[w->steps - 1];
    for (int face = 0; face < 2 && w->prescribed; face++) {
        const bool meets = face ? t->box.hi[HS_X] == w->n[HS_X] : t->box.lo[HS_X] == 0;
        stack->prescribed[face] = meets && w->s->face[face].prescribed;
        if (!stack->prescribed[face])
            continue;
        struct face_data hold = data_of(w, face, l->prescribed, l->prescribed_field);
        if (hold.table)
            hold.table += place(w, &hold, face, j, s - w->steps) * w->size;
        stack->hold[face] = hold;
    }
}

/* Sweeps `count` groups of rows from j on. */
static void sweep_stack(const struct carry *carry, enum stack_kind kind, int64_t j, int64_t count,
                        int64_t s, struct prefetching *prefetching)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const struct hs_sweep *r = w->s;
    const int64_t i = round_down(level_lo(t, 2, HS_X), w->line); /* the same lines for all levels */
    const int64_t last = round_down(level_hi(t, 2, HS_X) - 1, w->line);
    const char *prefetched[MOST_GROUPS][PREFETCH_ROWS];
    struct stack stack = {
        .above = ring_at(t, 1, i, j, s - 1),
        .input = field_at(w, r->in, i, wrapped(j, w->n[w->across]), wrapped(s - 1, w->n[w->march])),
        .input_pitch = r->layout.pitch[w->across] * w->size,
        .input_plane = r->layout.pitch[w->march] * w->size,
        .pitch = r->layout.pitch[w->across] * w->size,
        .bytes = (last - i + w->line) * w->size,
        .c = w->c,
        .source_value = r->source.value,
        .first_bits = bits_between(r->box.lo[HS_X] - i, w->line, w->line),
        .last_bits = bits_between(0, r->box.hi[HS_X] - last, w->line),
        .skip_first = i < t->box.lo[HS_X],
        .skip_last = last >= t->box.hi[HS_X],
        .count = count,
        .prefetch = prefetched,
    };
    if (kind == ALL_OF_ONE || kind == ALL_OF_TWO) {
        stack.out = (char *)r->out + element(w, i, j, s - w->steps) * w->size;
        hold_ends(t, &stack, j, s);
    }
    for (int n = 0; n < LATER; n++) {
        stack.centre[n] = ring_at(t, n + 1, i, j, s - n - 2);
        stack.below[n] = ring_at(t, n + 1, i, j, s - n - 3);
    }
    take_rows(prefetching, stack.above, count, prefetched);
    w->functions->stack[kind][w->plain](&stack);
}

/* Whether rows lo to hi are within the grid, adjacent there, and none is held. */
static bool inside(const struct wave *w, int64_t lo, int64_t hi)
{
    const int64_t real = wrapped(lo, w->n[w->across]);
    return real + hi - lo <= w->n[w->across] && !holds(w, w->across, real) &&
           !holds(w, w->across, real + hi - lo - 1);
}

/* Rows of all levels by the functions for one level: held ones, and halos that have some. */
static void advance_later(struct carry *carry, int64_t j, int64_t j_end, int64_t s)
{
    if (j < j_end)
        advance_first(carry, j, j_end, s - 1);
    for (int level = 2; level <= carry->t->w->steps && j < j_end; level++)
        advance(carry, level, j, j_end, s - level);
}

/* Completes rows that have been swept. */
static void finish_stack(const struct tile *t, int64_t j, int64_t j_end, int64_t s)
{
    const int across = t->w->across;
    const int64_t n = t->w->n[across];
    for (int level = 1; level < t->w->steps; level++) {
        const int64_t to = hs_smaller(j_end, level_hi(t, level, across));
        for (int64_t from = hs_larger(j, level_lo(t, level, across)), count; from < to;
             from += count) {
            count = hs_smaller(to - from, n - wrapped(from, n)); /* beyond lies the grid's image */
            finish_rows(t, level, false, from, count, s - level);
        }
    }
}

/* All levels together, in a step of the march. An overlap has two rows of levels 2 and 3, of which
 * the outer one is useless at level 3, and one more row of level 1. */
static void step_stack(struct carry *carry, int64_t s)
{
    enum { OVERLAP = LATER };
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int64_t first = level_lo(t, 1, w->across), end = level_hi(t, 1, w->across);
    const int64_t from = hs_larger(t->box.lo[w->across], w->s->box.lo[w->across]);
    const int64_t to = hs_smaller(t->box.hi[w->across], w->s->box.hi[w->across]);
    const bool lower = first == from - OVERLAP && inside(w, first, from);
    const bool upper = end == to + OVERLAP && inside(w, to, end);
    struct prefetching prefetching = prefetching_of(t, s);
    if (!lower)
        advance_later(carry, first, from, s);
    if (lower) {
        sweep_stack(carry, FIRST_OF_ONE, first, 1, s, &prefetching);
        sweep_stack(carry, LOWER_OF_TWO, first + 1, 1, s, &prefetching);
    }
    for (int64_t j = from, count; j + 1 < to; j += 2 * count) {
        count = hs_smaller((to - j) / 2, MOST_GROUPS);
        sweep_stack(carry, ALL_OF_TWO, j, count, s, &prefetching);
    }
    if ((to - from) % 2)
        sweep_stack(carry, ALL_OF_ONE, to - 1, 1, s, &prefetching);
    if (upper) {
        sweep_stack(carry, LOWER_OF_TWO, to, 1, s, &prefetching);
        sweep_stack(carry, FIRST_OF_ONE, end - 1, 1, s, &prefetching);
    }
    finish_stack(t, lower ? first : from, upper ? end : to, s);
    if (!upper)
        advance_later(carry, to, end, s);
}

#endif
