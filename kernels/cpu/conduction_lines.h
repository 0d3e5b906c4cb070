/*
 * The rows of conduction_rows.c for one instruction set and one precision, set by
 * instruction_sets.h. Empty without it.
 */
#ifdef ROWS_T

enum {
    ROWS_NAME(LINE) = LINE_BYTES / sizeof(ROWS_T),
    ROWS_NAME(VECTORS) = ROWS_NAME(LINE) / ROWS_LANES
};

/* Coefficients of a vector of nodes: conductances in the order of the additions, -g, dt/C, keep. */
struct ROWS_NAME(nodes) {
    ROWS_V lower, before, left, right, after, upper, sink, rate, keep;
};

/* A vector's values and those of its neighbours. */
struct ROWS_NAME(values) {
    ROWS_V centre, lower, before, left, right, after, upper;
};

HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(edge)(ROWS_V conductance, ROWS_V neighbour, ROWS_V centre,
                                             ROWS_V sum)
{
    return ROWS_FMA(conductance, ROWS_SUB(neighbour, centre), sum);
}

/* The sum of a vector of nodes, in the order of core/network.h. */
HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(sum)(const struct ROWS_NAME(nodes) * n, ROWS_V forcing,
                                            bool plain, const struct ROWS_NAME(values) * v,
                                            const ROWS_T *source)
{
    ROWS_V sum = ROWS_SET((ROWS_T)0);
    sum = ROWS_NAME(edge)(n->lower, v->lower, v->centre, sum);
    sum = ROWS_NAME(edge)(n->before, v->before, v->centre, sum);
    sum = ROWS_NAME(edge)(n->left, v->left, v->centre, sum);
    sum = ROWS_NAME(edge)(n->right, v->right, v->centre, sum);
    sum = ROWS_NAME(edge)(n->after, v->after, v->centre, sum);
    sum = ROWS_NAME(edge)(n->upper, v->upper, v->centre, sum);
    if (!plain)
        sum = ROWS_FMA(n->sink, v->centre, sum);
    ROWS_V kept = plain ? ROWS_ADD(v->centre, forcing) : ROWS_FMA(n->keep, v->centre, forcing);
    if (source)
        kept = ROWS_ADD(kept, ROWS_LOAD(source));
    return ROWS_FMA(n->rate, sum, kept);
}

HS_INLINE const ROWS_T *ROWS_NAME(at)(const void *row, int64_t byte)
{
    return (const ROWS_T *)(const void *)((const char *)row + byte);
}

/* Beside an end of a periodic row lies its other end. Beside other ends there is no edge: the
 * conductance is 0, and any value will do. */
HS_INLINE ROWS_TARGET void ROWS_NAME(beside)(const struct conduction_rows *r, const void *row,
                                             int64_t byte, struct ROWS_NAME(values) * v)
{
    const int64_t left = r->points - byte / (int64_t)sizeof(ROWS_T);
    const ROWS_T *first = row, *last = first + r->points - 1;
    const bool wrap = r->network->wrap[HS_X];
    if (byte == 0)
        v->left = ROWS_SELECT(1u, ROWS_SET(wrap ? *last : *first), v->left);
    if (left <= ROWS_LANES)
        v->right = ROWS_SELECT(1u << (left - 1), ROWS_SET(wrap ? *first : *last), v->right);
}

/* Stores a vector at byte `to`; at an end of the row, where `byte` is its position, only its
 * nodes. */
HS_INLINE ROWS_TARGET void ROWS_NAME(put)(const struct conduction_rows *r, void *row, int64_t to,
                                          int64_t byte, bool streamed, bool end, ROWS_V value)
{
    ROWS_T *at = (ROWS_T *)(void *)((char *)row + to);
    const int64_t left = r->points - byte / (int64_t)sizeof(ROWS_T);
    if (end && left < ROWS_LANES) {
        ROWS_T values[ROWS_LANES];
        ROWS_STORE(values, value);
        memcpy(at, values, (size_t)left * sizeof *values);
    } else if (streamed) {
        ROWS_STREAM(at, value);
    } else {
        ROWS_STORE(at, value);
    }
}

HS_INLINE const ROWS_T *ROWS_NAME(source)(const struct conduction_rows *r, int64_t first,
                                          int64_t byte)
{
    return r->source ? (const ROWS_T *)r->source + first + byte / (int64_t)sizeof(ROWS_T) : NULL;
}

HS_INLINE void ROWS_NAME(prefetch)(const struct conduction_rows *r, int64_t byte)
{
    if (r->prefetch)
        prefetch_l2(r->prefetch + byte);
}

/* Sweeps a vector of a row. */
HS_INLINE ROWS_TARGET void ROWS_NAME(vector)(const struct conduction_rows *r,
                                             const struct conduction_level *l, int64_t byte,
                                             const struct ROWS_NAME(nodes) * n, ROWS_V forcing,
                                             bool end)
{
    struct ROWS_NAME(values) v = {
        .centre = ROWS_LOAD(ROWS_NAME(at)(l->in, byte)),
        .lower = ROWS_LOAD(ROWS_NAME(at)(l->lower, byte)),
        .before = ROWS_LOAD(ROWS_NAME(at)(l->before, byte)),
        .after = ROWS_LOAD(ROWS_NAME(at)(l->after, byte)),
        .upper = ROWS_LOAD(ROWS_NAME(at)(l->upper, byte)),
        .left = ROWS_LOAD(ROWS_NAME(at)(l->in, byte) - 1),
        .right = ROWS_LOAD(ROWS_NAME(at)(l->in, byte) + 1),
    };
    const ROWS_T *source = ROWS_NAME(source)(r, l->first, byte);
    if (end)
        ROWS_NAME(beside)(r, l->in, byte, &v);
    ROWS_V out = ROWS_NAME(sum)(n, forcing, false, &v, source);
    if (r->recurs)
        out = ROWS_FMA(ROWS_SET((ROWS_T)r->factor),
                       ROWS_SUB(out, ROWS_LOAD(ROWS_NAME(at)(l->out, byte + r->before))), out);
    ROWS_NAME(put)(r, l->out, byte, byte, r->streamed, end, out);
}

/* Moves on to the adjacent row. */
HS_INLINE void ROWS_NAME(next_row)(struct conduction_rows *r, struct conduction_level *l)
{
    l->first += r->across_pitch;
    l->in = ROWS_NAME(at)(l->in, l->in_pitch);
    l->before = ROWS_NAME(at)(l->before, l->in_pitch);
    l->after = ROWS_NAME(at)(l->after, l->in_pitch);
    l->lower = ROWS_NAME(at)(l->lower, l->in_pitch);
    l->upper = ROWS_NAME(at)(l->upper, l->in_pitch);
    l->out = (char *)l->out + l->out_pitch;
    if (r->prefetch)
        r->prefetch += r->across_pitch * (int64_t)sizeof(ROWS_T);
    r->count--;
}

/* A vector of two adjacent rows. */
struct ROWS_NAME(pair) {
    ROWS_V row, next;
};

/* Sweeps a vector of two rows of one level of a stack. `upper` has their upper neighbours on entry,
 * and the sums on return. */
HS_INLINE ROWS_TARGET void ROWS_NAME(two)(const struct conduction_rows *r, const char *in,
                                          const char *lower, struct conduction_place at,
                                          int64_t pitch, const struct ROWS_NAME(nodes) * n,
                                          ROWS_V forcing, bool plain, bool end,
                                          struct ROWS_NAME(pair) * upper)
{
    struct ROWS_NAME(values) one, next;
    one.centre = next.before = ROWS_LOAD(ROWS_NAME(at)(in, at.row));
    next.centre = one.after = ROWS_LOAD(ROWS_NAME(at)(in, at.next));
    one.lower = ROWS_LOAD(ROWS_NAME(at)(lower, at.row));
    next.lower = ROWS_LOAD(ROWS_NAME(at)(lower, at.next));
    one.before = ROWS_LOAD(ROWS_NAME(at)(in, at.before));
    next.after = ROWS_LOAD(ROWS_NAME(at)(in, at.after));
    one.upper = upper->row;
    next.upper = upper->next;
    one.left = ROWS_LOAD(ROWS_NAME(at)(in, at.row) - 1);
    one.right = ROWS_LOAD(ROWS_NAME(at)(in, at.row) + 1);
    next.left = ROWS_LOAD(ROWS_NAME(at)(in, at.next) - 1);
    next.right = ROWS_LOAD(ROWS_NAME(at)(in, at.next) + 1);
    if (end) {
        ROWS_NAME(beside)(r, in, at.row, &one);
        ROWS_NAME(beside)(r, in + pitch, at.row, &next);
    }
    upper->row = ROWS_NAME(sum)(n, forcing, plain, &one, NULL);
    upper->next = ROWS_NAME(sum)(n, forcing, plain, &next, NULL);
}

/* Sweeps a vector of two rows in all levels, a tower. The levels' values in `forcing` are `apart`
 * vectors apart. */
HS_INLINE ROWS_TARGET void
ROWS_NAME(tower)(const struct conduction_rows *r, const struct conduction_stack *s,
                 struct conduction_place at, const struct ROWS_NAME(nodes) * n,
                 const ROWS_V *forcing, int apart, bool plain, bool streamed, bool end)
{
    enum { PITCH = CONDUCTION_PITCH, LAST = CONDUCTION_LATER - 1 };
    const int64_t pitch = r->across_pitch * (int64_t)sizeof(ROWS_T);
    const struct conduction_place ring = {at.row, at.row + PITCH, at.row - PITCH,
                                          at.row + 2 * PITCH};
    struct ROWS_NAME(pair) v = {ROWS_LOAD(ROWS_NAME(at)(s->upper, at.row)),
                                ROWS_LOAD(ROWS_NAME(at)(s->upper, at.next))};
    ROWS_NAME(two)(r, s->input, s->lower, at, pitch, n, forcing[0], plain, end, &v);
    ROWS_NAME(put)(r, s->next, at.row, at.row, false, end, v.row);
    ROWS_NAME(put)(r, s->next, ring.next, at.row, false, end, v.next);
    for (int later = 0; later < LAST; later++) {
        char *below = s->below[later];
        ROWS_NAME(two)
        (r, s->centre[later], below, ring, PITCH, n, forcing[(later + 1) * apart], plain, end, &v);
        ROWS_NAME(put)(r, below, at.row, at.row, false, end, v.row);
        ROWS_NAME(put)(r, below, ring.next, at.row, false, end, v.next);
    }
    ROWS_NAME(two)
    (r, s->centre[LAST], s->below[LAST], ring, PITCH, n, forcing[(LAST + 1) * apart], plain, end,
     &v);
    ROWS_NAME(put)(r, s->out, at.row, at.row, streamed, end, v.row);
    ROWS_NAME(put)(r, s->out, at.next, at.row, streamed, end, v.next);
}

/* Moves on to the next two rows. */
HS_INLINE void ROWS_NAME(next_rows)(struct conduction_rows *r, struct conduction_stack *s)
{
    const int64_t pitch = 2 * r->across_pitch * (int64_t)sizeof(ROWS_T);
    for (int n = 0; n < CONDUCTION_LEVELS; n++)
        s->first[n] += 2 * r->across_pitch, s->lines[n] += 2;
    for (int n = 0; n < CONDUCTION_LATER; n++)
        s->centre[n] += 2 * CONDUCTION_PITCH, s->below[n] += 2 * CONDUCTION_PITCH;
    s->next += 2 * CONDUCTION_PITCH;
    s->input += pitch, s->lower += pitch, s->upper += pitch, s->out += pitch;
    if (r->prefetch)
        r->prefetch += pitch;
    r->count -= 2;
}

#define ROWS_N uint8_t
#define ROWS_OF(x) ROWS_NAME(x##_bytes)
#include "conduction_palette.h"
#define ROWS_N uint16_t
#define ROWS_OF(x) ROWS_NAME(x##_shorts)
#include "conduction_palette.h"

/* ---- as arrays ------------------------------------------------------------------------------- */

HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(array)(const void *field, int64_t at)
{
    return field ? ROWS_LOAD((const ROWS_T *)field + at) : ROWS_SET((ROWS_T)0);
}

ROWS_TARGET static void ROWS_NAME(rows_arrays)(const struct conduction_rows *rows,
                                               const struct conduction_level *level)
{
    struct conduction_rows r = *rows; /* copies that no store can alias */
    struct conduction_level l = *level;
    const struct hs_network_view w = *r.network;
    const void *across = w.conductance[r.across], *march = w.conductance[r.march];
    for (; r.count > 0; ROWS_NAME(next_row)(&r, &l))
        for (int64_t i = r.from; i < r.to; i += ROWS_LANES) {
            const int64_t at = l.first + i, byte = i * (int64_t)sizeof(ROWS_T);
            const struct ROWS_NAME(nodes) nodes = {
                .lower = ROWS_NAME(array)(march, at - r.march_pitch),
                .before = ROWS_NAME(array)(across, at - r.across_pitch),
                .left = ROWS_NAME(array)(w.conductance[HS_X], at - 1),
                .right = ROWS_NAME(array)(w.conductance[HS_X], at),
                .after = ROWS_NAME(array)(across, at),
                .upper = ROWS_NAME(array)(march, at),
                .sink = ROWS_SUB(ROWS_SET((ROWS_T)0), ROWS_NAME(array)(w.sink, at)),
                .rate = ROWS_NAME(array)(w.rate, at),
                .keep = ROWS_SET((ROWS_T)1),
            };
            if (i % ROWS_NAME(LINE) == 0)
                ROWS_NAME(prefetch)(&r, byte);
            ROWS_NAME(vector)
            (&r, &l, byte, &nodes, ROWS_NAME(array)(w.added, at),
             i == 0 || i + ROWS_LANES >= r.points);
        }
}

static const struct conduction_functions ROWS_NAME(functions) = {
    .rows = {[HS_NETWORK_BYTES] = ROWS_NAME(rows_bytes),
             [HS_NETWORK_SHORTS] = ROWS_NAME(rows_shorts),
             [HS_NETWORK_ARRAYS] = ROWS_NAME(rows_arrays)},
    .look =
        {[HS_NETWORK_BYTES] = ROWS_NAME(look_bytes), [HS_NETWORK_SHORTS] = ROWS_NAME(look_shorts)},
    .stack = {[HS_NETWORK_BYTES] = ROWS_NAME(stack_bytes),
              [HS_NETWORK_SHORTS] = ROWS_NAME(stack_shorts)},
};

#endif
