/*
 * The rows of wavefront.c for one instruction set and one precision, set by instruction_sets.h.
 * Empty without it.
 *
 * A function sweeps `group` rows adjacent along y at once, a cache line of each in turn: so a value
 * is loaded once for the sums of its own row and of the adjacent rows. All loads come before any
 * store, since a row may be written over the lowest plane.
 */
#ifdef ROWS_T

#ifndef ROWS_SHIFT
/* Each line's neighbours along x have loads of their own. */
struct ROWS_NAME(window) {
    ROWS_V centre[GROUP];
};

HS_INLINE ROWS_TARGET void ROWS_NAME(window_begin)(int group, const struct rows *r,
                                                   struct ROWS_NAME(window) * w)
{
    (void)group, (void)r, (void)w;
}

HS_INLINE ROWS_TARGET void ROWS_NAME(window_move)(int group, const struct rows *r, int64_t at,
                                                  struct ROWS_NAME(window) * w)
{
    for (int g = 0; g < group; g++)
        w->centre[g] = ROWS_LOAD((const ROWS_T *)r->centre + at + g * r->pitch);
}

HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(window_beside)(const struct ROWS_NAME(window) * w, int g,
                                                      const struct rows *r, int64_t at, int m)
{
    return m == 0 ? w->centre[g] : ROWS_LOAD((const ROWS_T *)r->centre + at + g * r->pitch + m);
}
#else
/* The vectors before, at and behind the point in each row: loaded once, on the way through the row.
 * The neighbours along x are assembled from them. */
struct ROWS_NAME(window) {
    ROWS_V before[GROUP], centre[GROUP], behind[GROUP];
};

HS_INLINE ROWS_TARGET void ROWS_NAME(window_begin)(int group, const struct rows *r,
                                                   struct ROWS_NAME(window) * w)
{
    for (int g = 0; g < group; g++) {
        w->centre[g] = ROWS_LOAD((const ROWS_T *)r->centre + g * r->pitch - ROWS_LANES);
        w->behind[g] = ROWS_LOAD((const ROWS_T *)r->centre + g * r->pitch);
    }
}

HS_INLINE ROWS_TARGET void ROWS_NAME(window_move)(int group, const struct rows *r, int64_t at,
                                                  struct ROWS_NAME(window) * w)
{
    for (int g = 0; g < group; g++) {
        w->before[g] = w->centre[g];
        w->centre[g] = w->behind[g];
        w->behind[g] = ROWS_LOAD((const ROWS_T *)r->centre + at + g * r->pitch + ROWS_LANES);
    }
}

HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(window_beside)(const struct ROWS_NAME(window) * w, int g,
                                                      const struct rows *r, int64_t at, int m)
{
    (void)r, (void)at;
    switch (m) {
    case -3: return ROWS_SHIFT(w->before[g], w->centre[g], ROWS_LANES - 3);
    case -2: return ROWS_SHIFT(w->before[g], w->centre[g], ROWS_LANES - 2);
    case -1: return ROWS_SHIFT(w->before[g], w->centre[g], ROWS_LANES - 1);
    case 1: return ROWS_SHIFT(w->centre[g], w->behind[g], 1);
    case 2: return ROWS_SHIFT(w->centre[g], w->behind[g], 2);
    case 3: return ROWS_SHIFT(w->centre[g], w->behind[g], 3);
    default: return w->centre[g];
    }
}
#endif

/* The vector of row `g` in the group or beside it. */
HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(row)(const struct ROWS_NAME(window) * w, int group, int g,
                                            const struct rows *r, int64_t at)
{
    return g >= 0 && g < group ? w->centre[g]
                               : ROWS_LOAD((const ROWS_T *)r->centre + at + g * r->pitch);
}

HS_INLINE ROWS_TARGET void ROWS_NAME(line)(int dims, int radius, int group, const struct rows *r,
                                           const ROWS_V *c, int64_t at,
                                           struct ROWS_NAME(window) * w)
{
    const ROWS_T *source = r->source;
    ROWS_V sum[GROUP];
    ROWS_NAME(window_move)(group, r, at, w);
    for (int g = 0; g < group; g++)
        sum[g] = source ? ROWS_LOAD(source + at + g * r->source_pitch)
                        : ROWS_SET((ROWS_T)r->source_value);
    int n = 0;
    if (dims > 1)
        for (int m = radius; m > 0; m--, n++)
            for (int g = 0; g < group; g++)
                sum[g] = ROWS_FMA(
                    c[n], ROWS_LOAD((const ROWS_T *)r->below[m - 1] + at + g * r->pitch), sum[g]);
    if (dims > 2)
        for (int m = radius; m > 0; m--, n++)
            for (int g = 0; g < group; g++)
                sum[g] = ROWS_FMA(c[n], ROWS_NAME(row)(w, group, g - m, r, at), sum[g]);
    for (int m = -radius; m <= radius; m++, n++)
        for (int g = 0; g < group; g++)
            sum[g] = ROWS_FMA(c[n], ROWS_NAME(window_beside)(w, g, r, at, m), sum[g]);
    if (dims > 2)
        for (int m = 1; m <= radius; m++, n++)
            for (int g = 0; g < group; g++)
                sum[g] = ROWS_FMA(c[n], ROWS_NAME(row)(w, group, g + m, r, at), sum[g]);
    if (dims > 1)
        for (int m = 1; m <= radius; m++, n++)
            for (int g = 0; g < group; g++)
                sum[g] = ROWS_FMA(
                    c[n], ROWS_LOAD((const ROWS_T *)r->above[m - 1] + at + g * r->pitch), sum[g]);
    for (int g = 0; g < group; g++)
        ROWS_STORE((ROWS_T *)r->out + at + g * r->out_pitch, sum[g]);
}

/* What is carried between the lines: some lines to memory and, unless level 1 prefetches its lines
 * itself, some from memory. Its addresses are in registers meanwhile: stores to anywhere wait
 * behind those to memory, with little room to wait in. */
HS_INLINE ROWS_TARGET void ROWS_NAME(carry)(int dims, struct carry *carry, struct load *load)
{
    load->credit += carry->earned;
    if (load->credit < carry->cost)
        return;
    load->credit -= carry->cost;
    if (load->from == load->end && carry->count > 0) {
        carry_next(carry);
        *load = (struct load){carry->from, carry->from_end, carry->to, load->credit};
    }
    if (load->from < load->end) {
        if (carry->plain)
            memcpy(load->to, load->from, LINE_BYTES);
        else
            ROWS_STREAM_LINE(load->to, load->from);
        load->to += LINE_BYTES;
        load->from += LINE_BYTES;
    }
    for (int n = 0; n < PREFETCH_TIMES && dims < 3; n++)
        if (carry->prefetch[n].at < carry->prefetch[n].end ||
            (carry->prefetch[n].row < carry->prefetch[n].row_end &&
             prefetch_next(carry, &carry->prefetch[n]))) {
            prefetch_l2(carry->prefetch[n].at);
            carry->prefetch[n].at += LINE_BYTES;
        }
}

HS_INLINE ROWS_TARGET void ROWS_NAME(rows)(int dims, int radius, int group,
                                           const struct rows *given, struct carry *carry)
{
    const struct rows rows = *given; /* a copy that no store can alias */
    const ROWS_T *value = rows.c;
    ROWS_V c[HS_MAX_COEFFICIENTS];
    for (int n = 0; n < 1 + 2 * dims * radius; n++)
        c[n] = ROWS_SET(value[n]);
    struct ROWS_NAME(window) w;
    ROWS_NAME(window_begin)(group, &rows, &w);
    struct load load = carry_begin(carry);
    for (int64_t i = 0; i < rows.points; i += LINE_BYTES / (int64_t)sizeof(ROWS_T)) {
        ROWS_NAME(carry)(dims, carry, &load);
        for (int v = 0; v < LINE_BYTES / (int)sizeof(ROWS_T); v += ROWS_LANES)
            ROWS_NAME(line)(dims, radius, group, &rows, c, i + v, &w);
    }
    carry_end(carry, &load);
}

/* A line in `planes` adjacent planes of the input. Registers hold the first bytes of planes, from
 * `radius` below on, and the offsets of the line and its neighbours. Neighbours along x are loaded:
 * assembling them was slower with data from memory. */
HS_INLINE ROWS_TARGET void ROWS_NAME(column)(int radius, int planes, const struct rows *r,
                                             const ROWS_V *c, const struct place *p, int beyond)
{
#define ROWS_AT(g, where)                                                                          \
    ((const ROWS_T *)(const void *)(p->plane[(g) + radius] + (where) + beyond))
    const ROWS_T *source = r->source;
    ROWS_V sum[PLANES], value[PLANES];
    for (int g = 0; g < planes; g++) {
        value[g] = ROWS_LOAD(ROWS_AT(g, p->at));
        sum[g] =
            source
                ? ROWS_LOAD(source + (p->at + beyond) / (int)sizeof(ROWS_T) + g * r->source_pitch)
                : ROWS_SET((ROWS_T)r->source_value);
    }
    int n = 0;
    for (int m = radius; m > 0; m--, n++)
        for (int g = 0; g < planes; g++)
            sum[g] =
                ROWS_FMA(c[n], g >= m ? value[g - m] : ROWS_LOAD(ROWS_AT(g - m, p->at)), sum[g]);
    for (int m = radius; m > 0; m--, n++)
        for (int g = 0; g < planes; g++)
            sum[g] = ROWS_FMA(c[n], ROWS_LOAD(ROWS_AT(g, p->down[m - 1])), sum[g]);
    for (int m = -radius; m <= radius; m++, n++)
        for (int g = 0; g < planes; g++)
            sum[g] = ROWS_FMA(c[n], m == 0 ? value[g] : ROWS_LOAD(ROWS_AT(g, p->at) + m), sum[g]);
    for (int m = 1; m <= radius; m++, n++)
        for (int g = 0; g < planes; g++)
            sum[g] = ROWS_FMA(c[n], ROWS_LOAD(ROWS_AT(g, p->up[m - 1])), sum[g]);
    for (int m = 1; m <= radius; m++, n++)
        for (int g = 0; g < planes; g++)
            sum[g] = ROWS_FMA(
                c[n], g + m < planes ? value[g + m] : ROWS_LOAD(ROWS_AT(g + m, p->at)), sum[g]);
    for (int g = 0; g < planes; g++)
        ROWS_STORE((ROWS_T *)(void *)(p->out[g] + p->at + beyond), sum[g]);
#undef ROWS_AT
}

/* Moves on to the adjacent row. */
HS_INLINE void ROWS_NAME(next_row)(int planes, struct rows *r)
{
    const int64_t size = (int64_t)sizeof(ROWS_T);
    r->centre = (const char *)r->centre + r->beside * size;
    if (r->source)
        r->source = (const char *)r->source + r->beside * size;
    for (int g = 0; g < planes; g++)
        r->outs[g] = (char *)r->outs[g] + r->out_pitch * size;
}

HS_INLINE ROWS_TARGET void ROWS_NAME(planes)(int radius, int planes, const struct rows *given,
                                             struct carry *carry)
{
    struct rows rows = *given; /* a copy that no store can alias */
    const ROWS_T *value = rows.c;
    ROWS_V c[HS_MAX_COEFFICIENTS];
    for (int n = 0; n < 1 + 6 * radius; n++)
        c[n] = ROWS_SET(value[n]);
    const bool ahead = !carry->plain;
    struct load load = carry_begin(carry);
    for (; rows.count > 0; rows.count--) {
        struct place place = place_at(&rows, radius, planes, (int)sizeof(ROWS_T));
        for (int64_t end = rows.points * (int)sizeof(ROWS_T); place.at < end;) {
            if (planes == 1)
                ROWS_NAME(carry)(3, carry, &load);
            for (int g = 0; g < planes && ahead; g++)
                prefetch_l2(place.plane[g + 2 * radius] + place.far);
            for (int v = 0; v < LINE_BYTES / (int)sizeof(ROWS_T); v += ROWS_LANES)
                ROWS_NAME(column)(radius, planes, &rows, c, &place, v * (int)sizeof(ROWS_T));
            move_by(&place, radius, LINE_BYTES);
        }
        ROWS_NAME(next_row)(planes, &rows);
    }
    if (planes == 1)
        carry_end(carry, &load);
}

/* The affine rule for `count` ghosts `stride` values apart. table: the data of each; NULL: `data`
 * for all. */
HS_INLINE ROWS_TARGET void ROWS_NAME(rule)(ROWS_T *ghost, const ROWS_T *inner, const ROWS_T *edge,
                                           const struct rule *rule, const ROWS_T *table,
                                           ROWS_T data, int64_t count, int64_t stride)
{
    const ROWS_T a = (ROWS_T)rule->a, b = (ROWS_T)rule->b, c = (ROWS_T)rule->c;
    for (int64_t i = 0; i < count; i++) {
        const ROWS_T outer = c * (table ? table[i] : data);
        ghost[i * stride] = hs_ghost(a, inner[i * stride], b, edge[i * stride], outer);
    }
}

ROWS_TARGET static void ROWS_NAME(ghosts)(void *ghost, const void *inner, const void *edge,
                                          const struct rule *rule, const void *table, double data,
                                          int64_t count, int64_t stride)
{
    if (stride == 1)
        ROWS_NAME(rule)(ghost, inner, edge, rule, table, (ROWS_T)data, count, 1);
    else
        ROWS_NAME(rule)(ghost, inner, edge, rule, table, (ROWS_T)data, count, stride);
}

/* A vector at an end of a row: lanes whose bit is not set are held. They are prescribed by `hold`,
 * at node n of its table if it has one; without `hold` they keep the values of the level before. */
HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(hold)(unsigned bits, const struct face_data *hold, int64_t n,
                                             ROWS_V sum, ROWS_V before)
{
    ROWS_V held = before;
    if (hold) {
        const ROWS_T *table = (const ROWS_T *)(const void *)hold->table;
        held = ROWS_SET(table ? table[n] : (ROWS_T)hold->value);
    }
    return ROWS_SELECT(bits, sum, held);
}

/* The values one to the left of `centre`, from address `from`; `before` is the vector preceding it.
 * And those one to the right of `centre`, which is at `there`. Vectors that are whole lines are
 * assembled, since a load across two lines takes twice as long; for shorter ones that would take
 * more instructions than loads, and more registers. */
HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(left)(const char *from, ROWS_V before, ROWS_V centre)
{
#ifdef ROWS_SHIFT
    (void)from;
    return ROWS_SHIFT(before, centre, ROWS_LANES - 1);
#else
    (void)before, (void)centre;
    return ROWS_LOAD((const ROWS_T *)(const void *)from);
#endif
}

HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(right)(const char *there, ROWS_V centre)
{
    const ROWS_T *at = (const ROWS_T *)(const void *)there;
#ifdef ROWS_SHIFT
    return ROWS_SHIFT(centre, ROWS_LOAD(at + ROWS_LANES), 1);
#else
    (void)centre;
    return ROWS_LOAD(at + 1);
#endif
}

#include "wavefront_rows_pair.h"
#include "wavefront_rows_stack.h"

#define ROWS_ONE(D, R, G)                                                                          \
    ROWS_TARGET static void ROWS_NAME(rows_##D##R##G)(const struct rows *rows,                     \
                                                      struct carry *carry)                         \
    {                                                                                              \
        ROWS_NAME(rows)(D, R, G, rows, carry);                                                     \
    }
#define ROWS_RADII(D, G) ROWS_ONE(D, 1, G) ROWS_ONE(D, 2, G) ROWS_ONE(D, 3, G)
ROWS_RADII(1, 1)
ROWS_RADII(2, 1)
ROWS_RADII(3, 1)
ROWS_RADII(3, 2)

#define ROWS_PLANES(R, P)                                                                          \
    ROWS_TARGET static void ROWS_NAME(planes_##R##P)(const struct rows *rows, struct carry *carry) \
    {                                                                                              \
        ROWS_NAME(planes)(R, P, rows, carry);                                                      \
    }
#define ROWS_UP_TO_4(R) ROWS_PLANES(R, 1) ROWS_PLANES(R, 2) ROWS_PLANES(R, 3) ROWS_PLANES(R, 4)
ROWS_UP_TO_4(1)
ROWS_UP_TO_4(2)
ROWS_UP_TO_4(3)

/* [dims - 1][radius - 1][rows - 1], [radius - 1][planes - 1] */
#define ROWS_FEW(D, R)                                                                             \
    {                                                                                              \
        ROWS_NAME(rows_##D##R##1)                                                                  \
    }
#define ROWS_MANY(D, R)                                                                            \
    {                                                                                              \
        ROWS_NAME(rows_##D##R##1), ROWS_NAME(rows_##D##R##2)                                       \
    }
#define ROWS_FIRST(R)                                                                              \
    {                                                                                              \
        ROWS_NAME(planes_##R##1), ROWS_NAME(planes_##R##2), ROWS_NAME(planes_##R##3),              \
            ROWS_NAME(planes_##R##4)                                                               \
    }
#define ROWS_BOTH(NAME, L, G)                                                                      \
    {                                                                                              \
        ROWS_NAME(NAME##_##L##G##0), ROWS_NAME(NAME##_##L##G##1)                                   \
    }
static const struct row_functions ROWS_NAME(functions) = {
    ROWS_NAME(ghosts),
    {
        {ROWS_FEW(1, 1), ROWS_FEW(1, 2), ROWS_FEW(1, 3)},
        {ROWS_FEW(2, 1), ROWS_FEW(2, 2), ROWS_FEW(2, 3)},
        {ROWS_MANY(3, 1), ROWS_MANY(3, 2), ROWS_MANY(3, 3)},
    },
    {ROWS_FIRST(1), ROWS_FIRST(2), ROWS_FIRST(3)},
    {ROWS_BOTH(stack, 2, 2), ROWS_BOTH(stack, 3, 1), ROWS_BOTH(stack, 3, 2),
     ROWS_BOTH(stack, 0, 1)},
    {{ROWS_BOTH(pair, 01, 1), ROWS_BOTH(pair, 02, 1), ROWS_BOTH(pair, 03, 1),
      ROWS_BOTH(pair, 04, 1)},
     {ROWS_BOTH(pair, 11, 1), ROWS_BOTH(pair, 12, 1), ROWS_BOTH(pair, 13, 1),
      ROWS_BOTH(pair, 14, 1)}},
    {ROWS_BOTH(pair, 04, 0), ROWS_BOTH(pair, 14, 0)},
};

#undef ROWS_BOTH
#undef ROWS_ONE
#undef ROWS_RADII
#undef ROWS_FEW
#undef ROWS_MANY
#undef ROWS_PLANES
#undef ROWS_UP_TO_4
#undef ROWS_FIRST

#endif
