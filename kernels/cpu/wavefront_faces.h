/*
 * wavefront.c: what a level needs in the ring besides its sweep: ghosts by the affine rule, held
 * and prescribed nodes.
 */
#ifndef HS_KERNELS_CPU_WAVEFRONT_FACES_H
#define HS_KERNELS_CPU_WAVEFRONT_FACES_H

#include "wavefront_tile.h"

#include <string.h>

/* A face's data at one time: a number, or a table of its nodes, the lower axis fastest. */
struct face_data {
    double value;
    const char *table;
    int64_t pitch;
};

static struct face_data data_of(const struct wave *w, int face, const double *values,
                                void const *const *tables)
{
    return (struct face_data){values[face], tables[face], w->n[face / 2 == HS_X ? HS_Y : HS_X]};
}

/* Index in the table of a row's first node, of real indices (0, j, k). */
static int64_t place(const struct wave *w, const struct face_data *data, int face, int64_t j,
                     int64_t k)
{
    int64_t at[HS_AXES] = {0};
    at[w->across] = j;
    at[w->march] = k;
    if (face / 2 == HS_X)
        return at[HS_Y] + at[HS_Z] * data->pitch;
    return (face / 2 == HS_Y ? at[HS_Z] : at[HS_Y]) * data->pitch;
}

static double value_at(const struct wave *w, const struct face_data *data, int64_t at)
{
    return data->table ? hs_read(w->s->precision, data->table, at) : data->value;
}

/* Fills ghost row `ghost` of the level from the rows `inner` and `edge`, along x. */
static void ghost_row(const struct tile *t, int level, int face, int m, char *ghost,
                      const char *inner, const char *edge, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    const struct hs_face *f = &w->s->face[face];
    const struct rule rule = {f->a[m - 1], f->b[m - 1], f->c[m - 1]};
    const struct face_data data =
        data_of(w, face, w->s->level[level].data, w->s->level[level].data_field);
    const int64_t at = place(w, &data, face, j, k), lo = level_lo(t, level, HS_X);
    const int64_t hi = level_hi(t, level, HS_X), n = w->n[HS_X];
    for (int64_t i = lo, length; i < hi; i += length) {
        const int64_t from = wrapped(i, n), byte = (i - lo) * w->size;
        length = hs_smaller(hi - i, n - from);
        w->functions->ghosts(ghost + byte, inner + byte, edge + byte, &rule,
                             data.table ? data.table + (at + from) * w->size : NULL, data.value,
                             length, 1);
    }
}

/* Fills rows j to j_end of the ghost plane m planes beyond the face's edge. */
static void ghost_plane_rows(const struct tile *t, int level, int face, int m, int64_t j,
                             int64_t j_end)
{
    const struct wave *w = t->w;
    const int64_t edge = face % 2 ? w->n[w->march] - 1 : 0, out = face % 2 ? m : -m;
    const int64_t i = level_lo(t, level, HS_X);
    for (; j < j_end; j++)
        ghost_row(t, level, face, m, ring_at(t, level, i, j, edge + out),
                  ring_at(t, level, i, j, edge - out), ring_at(t, level, i, j, edge),
                  wrapped(j, w->n[w->across]), edge);
}

/* Fills the ghost rows beside plane k at one face. */
static void ghost_rows_beside(const struct tile *t, int level, int face, int64_t k)
{
    const struct wave *w = t->w;
    const int64_t i = level_lo(t, level, HS_X);
    const int64_t edge = face % 2 ? w->n[w->across] - 1 : 0;
    for (int m = 1; m <= w->depth[face] && touches(t, level, face); m++) {
        const int64_t out = face % 2 ? m : -m;
        ghost_row(t, level, face, m, ring_at(t, level, i, edge + out, k),
                  ring_at(t, level, i, edge - out, k), ring_at(t, level, i, edge, k), edge,
                  wrapped(k, w->n[w->march]));
    }
}

/* Fills the ghosts at both ends of `count` rows that are adjacent on the grid's faces too. */
static void ghost_ends(const struct tile *t, int level, int64_t j, int64_t count, int64_t k)
{
    const struct wave *w = t->w;
    for (int face = 0; face < 2; face++) {
        if (!touches(t, level, face))
            continue;
        const struct hs_face *f = &w->s->face[face];
        const struct face_data data =
            data_of(w, face, w->s->level[level].data, w->s->level[level].data_field);
        const char *table = data.table;
        if (table)
            table +=
                place(w, &data, face, wrapped(j, w->n[w->across]), wrapped(k, w->n[w->march])) *
                w->size;
        char *node = ring_at(t, level, face ? w->n[HS_X] - 1 : 0, j, k);
        for (int m = 1; m <= w->depth[face]; m++) {
            const struct rule rule = {f->a[m - 1], f->b[m - 1], f->c[m - 1]};
            const int64_t out = (face ? m : -m) * w->size;
            w->functions->ghosts(node + out, node - out, node, &rule, table, data.value, count,
                                 w->ring_pitch);
        }
    }
}

/* Copies node values of the level before, from virtual x = i to end. */
static void keep(const struct tile *t, int level, int64_t i, int64_t end, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    for (int64_t length; i < end; i += length) {
        const int64_t from = wrapped(i, w->n[HS_X]);
        length = hs_smaller(end - i, w->n[HS_X] - from);
        const char *before = level > 1 ? ring_at(t, level - 1, i, j, k)
                                       : field_at(w, w->s->in, from, wrapped(j, w->n[w->across]),
                                                  wrapped(k, w->n[w->march]));
        memcpy(ring_at(t, level, i, j, k), before, (size_t)(length * w->size));
    }
}

/* Prescribes the nodes of an x face at the end of `count` rows. */
static void prescribe_ends(const struct tile *t, int level, int face, int64_t j, int64_t count,
                           int64_t k)
{
    const struct wave *w = t->w;
    const int64_t edge = face % 2 ? w->n[HS_X] - 1 : 0;
    if (edge < level_lo(t, level, HS_X) || edge >= level_hi(t, level, HS_X))
        return;
    const struct face_data hold = data_of(w, face, w->s->level[level - 1].prescribed,
                                          w->s->level[level - 1].prescribed_field);
    const int64_t at =
        place(w, &hold, face, wrapped(j, w->n[w->across]), wrapped(k, w->n[w->march]));
    char *node = ring_at(t, level, edge, j, k);
    for (int64_t row = 0; row < count; row++)
        hs_write(w->s->precision, node, row * w->ring_pitch, value_at(w, &hold, at + row));
}

/* Prescribes a row if it lies in `face`, which is not a face of x. */
static void prescribe_row(const struct tile *t, int level, int face, int64_t j, int64_t k)
{
    const struct wave *w = t->w;
    const int axis = face / 2;
    const int64_t rj = wrapped(j, w->n[w->across]), rk = wrapped(k, w->n[w->march]);
    const int64_t edge = face % 2 ? w->n[axis] - 1 : 0;
    const int64_t lo = level_lo(t, level, HS_X), hi = level_hi(t, level, HS_X);
    if ((axis == w->across ? rj : rk) != edge)
        return;
    const struct face_data hold = data_of(w, face, w->s->level[level - 1].prescribed,
                                          w->s->level[level - 1].prescribed_field);
    const int64_t at = place(w, &hold, face, rj, rk);
    char *row = ring_at(t, level, lo, j, k);
    for (int64_t i = lo; i < hi; i++)
        hs_write(w->s->precision, row, i - lo, value_at(w, &hold, at + wrapped(i, w->n[HS_X])));
}

/* In the order of the faces: where two meet, the later one has the node. */
static void prescribe(const struct tile *t, int level, int64_t j, int64_t count, int64_t k)
{
    const struct wave *w = t->w;
    for (int face = 0; face < 2 * w->dims; face++) {
        if (!w->s->face[face].prescribed)
            continue;
        if (face / 2 == HS_X)
            prescribe_ends(t, level, face, j, count, k);
        else
            for (int64_t row = j; row < j + count; row++)
                prescribe_row(t, level, face, row, k);
    }
}

static bool holds(const struct wave *w, int axis, int64_t i)
{
    return i < w->s->box.lo[axis] || i >= w->s->box.hi[axis];
}

/* Copies `count` held values at the end of a row that has been swept. */
HS_INLINE void keep_end(const struct wave *w, char *to, const char *before, int64_t count)
{
    for (int64_t n = 0; n < count; n++)
        if (w->size == sizeof(double))
            ((double *)to)[n] = ((const double *)before)[n];
        else
            ((float *)to)[n] = ((const float *)before)[n];
}

/* Puts back the held nodes at the ends of `count` rows that the stencil has swept. Indices along x
 * are real, since an axis with held nodes is not periodic. */
static void keep_ends(const struct tile *t, int level, int64_t j, int64_t count, int64_t k)
{
    const struct wave *w = t->w;
    const int64_t lo = level_lo(t, level, HS_X), hi = level_hi(t, level, HS_X);
    const int64_t left = hs_smaller(w->s->box.lo[HS_X], hi) - lo;
    const int64_t right = hs_larger(w->s->box.hi[HS_X], lo);
    if (w->wrap[HS_X] || (left <= 0 && right >= hi))
        return;
    const int64_t pitch = (level > 1 ? w->ring_pitch : w->s->layout.pitch[w->across]) * w->size;
    const char *before = level > 1 ? ring_at(t, level - 1, 0, j, k)
                                   : field_at(w, w->s->in, 0, wrapped(j, w->n[w->across]),
                                              wrapped(k, w->n[w->march]));
    char *row = ring_at(t, level, 0, j, k);
    for (; count > 0; count--, before += pitch, row += w->ring_pitch * w->size) {
        keep_end(w, row + lo * w->size, before + lo * w->size, left);
        keep_end(w, row + right * w->size, before + right * w->size, hi - right);
    }
}

#endif
