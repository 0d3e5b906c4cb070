/*
 * wavefront.c: levels one at a time, some rows of each: the form for any dims, radius and faces.
 */
#ifndef HS_KERNELS_CPU_WAVEFRONT_LEVELS_H
#define HS_KERNELS_CPU_WAVEFRONT_LEVELS_H

#include "wavefront_carry.h"
#include "wavefront_faces.h"
#include "wavefront_tile.h"

#include <string.h>

struct rows {
    const void *below[HS_MAX_RADIUS], *centre, *above[HS_MAX_RADIUS]; /* first points; planes 1, 2,
                                                                         3 down and up */
    void *out;
    void *outs[PLANES];       /* of each of several planes */
    int64_t pitch, out_pitch; /* values between rows; with several planes, between those */
    int64_t beside, lead;     /* with several planes: between rows; to what is prefetched */
    int64_t count;            /* with several planes: rows, one after the other */
    int64_t points;           /* whole cache lines are swept */
    const void *c;
    const void *source; /* or NULL: start from source_value */
    int64_t source_pitch;
    double source_value;
};

static void call_rows(struct carry *carry, struct rows *rows, int64_t count)
{
    const struct wave *w = carry->t->w;
    rows->c = w->c;
    carry->earned = 9 * count;
    w->functions->rows[w->dims - 1][w->radius - 1][count - 1](rows, carry);
}

/* Distance from a point to what level 1 prefetches while it sweeps it: some rows. */
static int64_t lead(const struct wave *w)
{
    const int64_t row = w->s->layout.pitch[w->across];
    return hs_divide_up(AHEAD_BYTES, row * w->size) * row;
}

/* Sweeps points from real i on, at a line's begin, in row j of `planes` planes from k on. */
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
    rows->source = w->source ? w->source + at * w->size : NULL;
    rows->source_value = w->source ? 0.0 : s->source.value[0];
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

/* Sweeps `count` rows of level 1 from j on in `planes` planes; they are adjacent in the input too.
 * Reads directly from the input, in runs of adjacent points. Beside a run lie ghosts, which are
 * filled. */
static void sweep_first(struct carry *carry, int64_t j, int64_t count, int64_t k, int planes)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int64_t end = level_hi(t, 1, HS_X), n = w->n[HS_X];
    for (int64_t i = level_lo(t, 1, HS_X), length; i < end; i += length) {
        const int64_t from = wrapped(i, n), back = from % w->line; /* to a line's begin */
        length = hs_smaller(end - i, n - from);
        struct rows rows = {.points = length + back, .count = count, .out_pitch = w->ring_pitch};
        for (int g = 0; g < planes; g++)
            rows.outs[g] = ring_at(t, 1, i - back, j, k + g);
        rows.out = rows.outs[0];
        sweep_piece(carry, &rows, from - back, j, k, planes);
    }
}

/* Copies rows of the source together as in the ring, if the grid's image begins within them. */
static const char *gather_source(const struct tile *t, int64_t i, int64_t end, int64_t j,
                                 int64_t count, int64_t k)
{
    const struct wave *w = t->w;
    char *gathered = t->ring + w->slots * w->ring_plane;
    for (int64_t row = 0; row < count; row++)
        for (int64_t x = i, length; x < end; x += length) {
            const int64_t from = wrapped(x, w->n[HS_X]);
            length = hs_smaller(end - x, w->n[HS_X] - from);
            memcpy(gathered + (row * w->ring_pitch + (x - i)) * w->size,
                   field_at(w, w->source, from, wrapped(j + row, w->n[w->across]),
                            wrapped(k, w->n[w->march])),
                   (size_t)(length * w->size));
        }
    return gathered;
}

/* Moves on to the rows of the ring after a group of `group` rows. */
static void next_rows(struct rows *rows, const struct wave *w, int64_t group)
{
    const int64_t bytes = group * rows->pitch * w->size;
    rows->centre = (const char *)rows->centre + bytes;
    rows->out = (char *)rows->out + bytes;
    for (int m = 0; m < w->radius; m++) {
        rows->below[m] = (const char *)rows->below[m] + bytes;
        rows->above[m] = (const char *)rows->above[m] + bytes;
    }
    if (rows->source)
        rows->source = (const char *)rows->source + group * rows->source_pitch * w->size;
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
        .source_value = w->source ? 0.0 : s->source.value[level - 1],
    };
    if (w->source && w->wrap[HS_X]) {
        rows.source = gather_source(t, i, end, j, count, k);
        rows.source_pitch = w->ring_pitch;
    } else if (w->source) {
        rows.source =
            field_at(w, w->source, i, wrapped(j, w->n[w->across]), wrapped(k, w->n[w->march]));
        rows.source_pitch = s->layout.pitch[w->across];
    }
    for (int m = 1; m <= w->radius && w->dims > 1; m++) {
        rows.below[m - 1] = ring_at(t, level - 1, i, j, k - m);
        rows.above[m - 1] = ring_at(t, level - 1, i, j, k + m);
    }
    const int64_t group =
        w->pair ? 1 : GROUP; /* a pair's upper row goes where its lower was read */
    for (; count > group; count -= group) {
        call_rows(carry, &rows, group);
        next_rows(&rows, w, group);
    }
    call_rows(carry, &rows, count);
}

/* Completes `count` rows of a plane that have been swept, or are held. */
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
 * by one, the others in runs that end with the grid, since held rows or its image lie beyond. */
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

/* Sweeps `rows` adjacent rows of level 1 from j on, none held, in its planes k to k_end, also in
 * runs. They are completed later. */
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

/* What follows plane k of a level in its rows j to j_end: ghost planes, or output. */
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

/* Does all that a level has to do in rows j to j_end at its plane k. */
static void advance(struct carry *carry, int level, int64_t j, int64_t j_end, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    j = hs_larger(j, level_lo(t, level, w->across));
    j_end = hs_smaller(j_end, level_hi(t, level, w->across));
    if (j >= j_end || k < level_lo(t, level, w->march))
        return;
    if (k < level_hi(t, level, w->march))
        sweep_rows(carry, level, j, j_end, k);
    follow(carry, level, j, j_end, k);
}

/* The same for level 1 at its planes from k on: sweeps row by row in all planes, then completes
 * plane by plane. */
static void advance_first(struct carry *carry, int64_t j, int64_t j_end, int64_t k)
{
    const struct tile *t = carry->t;
    const struct wave *w = t->w;
    const int64_t swept = hs_smaller(k + w->planes, level_hi(t, 1, w->march));
    j_end = hs_smaller(j_end, level_hi(t, 1, w->across));
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

/* Fills the ghost rows beside plane k, at both faces. */
static void ghost_rows_of(const struct tile *t, int level, int64_t k)
{
    const int march = t->w->march;
    if (level < t->w->steps && k >= level_lo(t, level, march) && k < level_hi(t, level, march))
        for (int face = 2 * t->w->across; t->w->dims > 2 && face <= 2 * t->w->across + 1; face++)
            ghost_rows_beside(t, level, face, k);
}

#endif
