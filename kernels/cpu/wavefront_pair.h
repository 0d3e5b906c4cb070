/*
 * wavefront.c: levels that go by pairs of planes. Rows at a face go level by level, as elsewhere,
 * the rest in strips of all levels at once.
 */
#ifndef HS_KERNELS_CPU_WAVEFRONT_PAIR_H
#define HS_KERNELS_CPU_WAVEFRONT_PAIR_H

#include "wavefront_levels.h"

/* What happens at an end of a row: the ghost beside it, in bytes from the row's first point, or the
 * prescribed node. Tables begin at the level's row in its lower plane. */
struct pair_end {
    bool there, prescribed;
    int64_t ghost, edge, inner;
    struct rule rule;
    struct face_data data[LATER], hold[STEPS];
};

/* A strip of rows of all levels, given by first points in the lower of two planes: of the input; in
 * the ring, where level 1 is stored, and where each next level reads its lowest plane and is
 * stored; and of the output. All else is in bytes. */
struct pair {
    const char *input;
    char *level[STEPS], *out;
    const char *prefetch;             /* what is prefetched: the strip's first line in two planes */
    char *overlap[LATER];             /* of each later level, the line before the strip */
    int64_t input_pitch, input_plane; /* `out` likewise */
    int64_t ring_plane;
    int64_t rows;        /* rows, one after the other */
    int64_t from, lines; /* level 1's begin in the row; each next level begins a line before */
    int64_t last;        /* begin of a row's last line */
    int64_t out_first, out_last;    /* begins of the lines that are written */
    unsigned first_bits, last_bits; /* bits of the values that are swept in these lines */
    const void *c;
    const double *source_value;
    const char *source[STEPS]; /* or the source of each level's row, in its lower plane */
    int64_t source_apart;      /* from the input's line to the source's */
    bool plain;
    struct pair_end end[2];
};

/* A level's lower plane in the step in which level 1's is k. */
static int64_t lower_plane(int64_t k, int level)
{
    return k - (level - 1);
}

/* Rows j to j_end of a level's pair, one level at a time. */
static void advance_pair(struct carry *carry, int level, int64_t j, int64_t j_end, int64_t k)
{
    const int64_t lower = lower_plane(k, level);
    if (level == 1)
        advance_first(carry, j, j_end, lower);
    else
        for (int64_t plane = lower; plane < lower + PAIR; plane++)
            advance(carry, level, j, j_end, plane);
}

/* Whether all levels' planes are within the grid along the march, away from its ends: none held or
 * beyond an end, also of a periodic axis, since a pair's planes are adjacent in memory. */
static bool pairs(const struct tile *t, int64_t k)
{
    const struct wave *w = t->w;
    for (int level = 1; level <= w->steps; level++) {
        const int64_t lower = lower_plane(k, level), real = wrapped(lower, w->n[w->march]);
        if (lower < level_lo(t, level, w->march) || lower + PAIR > level_hi(t, level, w->march) ||
            holds(w, w->march, real) || holds(w, w->march, real + PAIR - 1) ||
            (!w->wrap[w->march] && lower <= w->radius))
            return false;
    }
    return true;
}

/* Level 1's rows in whose passes all rows away from faces are swept; level t is t - 1 rows behind.
 * In tiles beside a face each pass has all levels; else the first passes have only level 1. */
struct passes {
    int64_t begin, end;
    bool lower, upper; /* face */
};

static struct passes find_passes(const struct tile *t)
{
    const struct wave *w = t->w;
    const int64_t lo = t->box.lo[w->across], hi = t->box.hi[w->across];
    const bool wrap = w->wrap[w->across];
    struct passes p = {
        .lower = !wrap && lo <= LATER,
        .upper = !wrap && hi + LATER >= w->n[w->across],
    };
    /* below it are the rows from which a ghost row is made */
    p.begin = p.lower ? hs_larger(lo + LATER, STEPS) : lo - LATER;
    p.end = p.upper ? hs_smaller(hi + LATER, w->n[w->across] - 1) : hi + LATER;
    return p;
}

/* The number of levels in a pass, and the number of passes from it on that have as many. */
static int levels_in(const struct tile *t, const struct passes *p, int64_t j, int64_t *count)
{
    const int64_t behind = j - (t->box.lo[t->w->across] - LATER), each = 2;
    const int64_t levels = p->lower ? STEPS : hs_smaller(STEPS, 1 + behind / each);
    *count = levels < STEPS ? each - behind % each : p->end - j;
    return (int)levels;
}

/* Rows beside a face, of all levels: those before the passes, or after them. */
static void advance_face(struct carry *carry, const struct passes *p, bool upper, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    for (int level = 1; level <= w->steps; level++) {
        const int64_t cut = (upper ? p->end : p->begin) - (level - 1);
        const int64_t lower = lower_plane(k, level);
        advance_pair(carry, level, upper ? cut : level_lo(t, level, w->across),
                     upper ? level_hi(t, level, w->across) : cut, k);
        for (int n = 0; n < PAIR && level < w->steps; n++)
            ghost_rows_beside(t, level, 2 * w->across + upper, lower + n);
    }
}

/* Fills the ghosts along x of the upper planes, for all rows that were swept in passes. They are
 * not read before the next step. */
static void finish_passes(const struct tile *t, const struct passes *p, int64_t k)
{
    const struct wave *w = t->w;
    const int64_t n = w->n[w->across];
    for (int level = 1; level < w->steps; level++) {
        const int64_t first = hs_larger(p->begin - (level - 1), level_lo(t, level, w->across));
        const int64_t end = p->end - (level - 1);
        for (int64_t j = first, count; j < end; j += count) {
            count = hs_smaller(end - j, n - wrapped(j, n));
            ghost_ends(t, level, j, count, lower_plane(k, level) + PAIR - 1);
        }
    }
}

/* Sets up the strip's first pass: level 1's row j. */
static void begin_strip(const struct tile *t, struct pair *pair, int64_t i, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    pair->level[0] = ring_at(t, 1, i, j, k);
    for (int level = 2; level <= w->steps; level++)
        pair->level[level - 1] =
            ring_at(t, level - 1, i, j - (level - 1), lower_plane(k, level) - 1);
    pair->out = (char *)w->s->out + element(w, i, j - LATER, lower_plane(k, w->steps)) * w->size;
    for (int level = 0; level < LATER; level++)
        pair->overlap[level] =
            t->ring + PAIR_SLOTS * w->ring_pair + PAGE + level * w->ring_rows * LINE_BYTES;
}

static void next_passes(struct pair *pair, int64_t pitch)
{
    for (int level = 0; level < STEPS; level++)
        pair->level[level] += pair->rows * pitch;
    for (int level = 0; level < LATER; level++)
        pair->overlap[level] += pair->rows * LINE_BYTES;
    pair->out += pair->rows * pair->input_pitch;
}

/* Finds where the levels' rows of level 1's pass j begin in the source; limits the rows at once to
 * those that are adjacent there. */
static void find_source(const struct tile *t, struct pair *pair, int64_t i, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    const int64_t n = w->n[w->across];
    for (int level = 1; level <= STEPS; level++) {
        const int64_t row = wrapped(j - (level - 1), n);
        pair->source[level - 1] =
            field_at(w, w->source, i, row, wrapped(lower_plane(k, level), w->n[w->march]));
        pair->rows = hs_smaller(pair->rows, n - row);
    }
}

static struct pair_end find_end(const struct tile *t, int face, int64_t i)
{
    const struct wave *w = t->w;
    const int64_t hi = level_hi(t, 1, HS_X);
    const bool meets = face ? hi == w->n[HS_X] : level_lo(t, 1, HS_X) == 0;
    struct pair_end end = {.there = touches(t, 1, face),
                           .prescribed = meets && w->prescribed && w->s->face[face].prescribed};
    if (end.there) {
        const struct hs_face *f = &w->s->face[face];
        const int64_t edge = face ? w->n[HS_X] - 1 : 0, inward = face ? -1 : 1;
        end.edge = (edge - i) * w->size;
        end.inner = end.edge + inward * w->size;
        end.ghost = end.edge - inward * w->size;
        end.rule = (struct rule){f->a[0], f->b[0], f->c[0]};
    }
    return end;
}

/* The data, with its table, if it has one, from a level's row of level 1's pass j on. */
static struct face_data data_at(const struct tile *t, int face, int level, int64_t j, int64_t k,
                                struct face_data data)
{
    const struct wave *w = t->w;
    const int64_t row = wrapped(j - (level - 1), w->n[w->across]);
    const int64_t plane = wrapped(lower_plane(k, level), w->n[w->march]);
    if (data.table)
        data.table += place(w, &data, face, row, plane) * w->size;
    return data;
}

/* Takes the end's data for level 1's row j and the others' of that pass; true if by a table. */
static bool take_data(const struct tile *t, int face, int64_t j, int64_t k, struct pair_end *end)
{
    const struct wave *w = t->w;
    bool table = false;
    for (int level = 1; level < w->steps && end->there; level++) {
        const struct hs_face_level *l = &w->s->level[level];
        end->data[level - 1] =
            data_at(t, face, level, j, k, data_of(w, face, l->data, l->data_field));
        table = table || end->data[level - 1].table;
    }
    for (int level = 1; level <= w->steps && end->prescribed; level++) {
        const struct hs_face_level *l = &w->s->level[level - 1];
        end->hold[level - 1] =
            data_at(t, face, level, j, k, data_of(w, face, l->prescribed, l->prescribed_field));
        table = table || end->hold[level - 1].table;
    }
    return table;
}

/* Sweeps a strip of all rows: at once as many passes as have equally many levels and adjacent rows
 * of the input; one by one if the data of an end are a table. */
static void sweep_strip(const struct tile *t, const struct passes *p, struct pair *pair, int64_t k,
                        bool first, bool last)
{
    const struct wave *w = t->w;
    const int64_t i = round_down(level_lo(t, 1, HS_X), w->line), n = w->n[w->across];
    const int64_t next = wrapped(k + PAIR + 1, w->n[w->march]);
    const bool more = k + PAIR + 1 < level_hi(t, 0, w->march);
    begin_strip(t, pair, i, p->begin, k);
    for (int face = 0; face < 2; face++)
        pair->end[face] = (face ? last : first) ? find_end(t, face, i) : (struct pair_end){0};
    for (int64_t j = p->begin; j < p->end; j += pair->rows) {
        const int64_t row = wrapped(j, n);
        const bool lower = take_data(t, 0, j, k, &pair->end[0]);
        const bool upper = take_data(t, 1, j, k, &pair->end[1]);
        int64_t count;
        const int levels = levels_in(t, p, j, &count);
        pair->rows = lower || upper ? 1 : hs_smaller(count, n - row);
        pair->input = field_at(w, w->s->in, i, row, wrapped(k, w->n[w->march]));
        pair->prefetch = more ? field_at(w, w->s->in, i, row, next) + pair->from : pair->input;
        if (w->source)
            find_source(t, pair, i, j, k);
        const bool field = w->source;
        if (levels == w->steps && !first && !last)
            w->functions->pair[w->wide][field](pair);
        else
            w->functions->pair_ends[w->wide][levels - 1][field](pair);
        next_passes(pair, w->ring_pitch * w->size);
    }
}

static void sweep_passes(const struct carry *carry, const struct passes *p, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const struct hs_sweep *s = w->s;
    const int64_t i = round_down(level_lo(t, 1, HS_X), w->line);
    const int64_t last = round_down(level_hi(t, 1, HS_X) - 1, w->line);
    const int64_t lines = (last - i) / w->line + 1 + LATER; /* the last level is behind */
    const int64_t strips = hs_larger(1, (lines * LINE_BYTES + PAIR_STRIP / 2) / PAIR_STRIP);
    struct pair pair = {
        .input_pitch = s->layout.pitch[w->across] * w->size,
        .input_plane = s->layout.pitch[w->march] * w->size,
        .ring_plane = w->ring_plane,
        .last = (last - i) * w->size,
        .out_first = (t->box.lo[HS_X] - i) * w->size,
        .out_last = (round_down(t->box.hi[HS_X] - 1, w->line) - i) * w->size,
        .first_bits = bits_between(s->box.lo[HS_X] - i, w->line, w->line),
        .last_bits = bits_between(0, s->box.hi[HS_X] - last, w->line),
        .c = w->c,
        .source_value = s->source.value,
        .source_apart = w->source ? w->source - (const char *)s->in : 0,
        .plain = w->plain,
    };
    for (int64_t n = 0; n < strips; n++) {
        pair.from = lines * n / strips * LINE_BYTES;
        pair.lines = lines * (n + 1) / strips - lines * n / strips;
        sweep_strip(t, p, &pair, k, n == 0, n == strips - 1);
    }
    finish_passes(t, p, k);
}

static void step_pair(struct carry *carry, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const struct passes passes = find_passes(t);
    const bool together = pairs(t, k) && passes.begin < passes.end;
    if (together && passes.lower)
        advance_face(carry, &passes, false, k);
    if (together)
        sweep_passes(carry, &passes, k);
    if (together && passes.upper)
        advance_face(carry, &passes, true, k);
    for (int level = 1; level <= w->steps && !together; level++) {
        advance_pair(carry, level, level_lo(t, level, w->across), level_hi(t, level, w->across), k);
        for (int n = 0; n < PAIR; n++)
            ghost_rows_of(t, level, lower_plane(k, level) + n);
    }
    drain(carry, 0);
}

static void sweep_pairs(struct carry *carry)
{
    const struct tile *t = carry->t;
    const int march = t->w->march;
    for (int64_t k = level_lo(t, 1, march); lower_plane(k, STEPS) < t->box.hi[march]; k += PAIR)
        step_pair(carry, k);
}

#endif
