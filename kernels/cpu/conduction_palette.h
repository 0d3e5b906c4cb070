/*
 * conduction_lines.h: rows whose nodes have numbers of type ROWS_N into a palette; ROWS_OF(x) makes
 * the names.
 *
 * Bodies have few materials: in most cache lines all nodes have the same number, and so have the
 * nodes below them. Their coefficients stay in registers from line to line. If numbers differ
 * within a line, coefficients are looked up lane by lane, and kept for some lines: adjacent rows
 * most likely have the same.
 */
#ifdef ROWS_N

enum {
    ROWS_OF(BYTES) = ROWS_NAME(LINE) * sizeof(ROWS_N), /* of a line's numbers */
    ROWS_OF(MANY) = 64 / ROWS_OF(BYTES),               /* lines that are compared together */
    ROWS_OF(KEPT) = 16
};

/* A word of numbers that are all the same. */
HS_INLINE uint64_t ROWS_OF(word)(ROWS_N number)
{
    return number * (~(uint64_t)0 / (ROWS_N) ~(ROWS_N)0);
}

/* Sets bits of `differ` where any of `bytes` bytes of numbers differ from the word. */
HS_INLINE void ROWS_OF(differ)(const ROWS_N *at, uint64_t word, int bytes, uint64_t *differ)
{
    for (int n = 0; n < bytes / 8; n++) {
        uint64_t next;
        memcpy(&next, (const char *)at + 8 * n, sizeof next);
        differ[n] |= next ^ word;
    }
}

HS_INLINE bool ROWS_OF(any)(const uint64_t *differ, int bytes)
{
    uint64_t any = 0;
    for (int n = 0; n < bytes / 8; n++)
        any |= differ[n];
    return any != 0;
}

struct ROWS_OF(numbers) {
    const ROWS_N *own, *before, *lower; /* of a line, and below it across and along the march */
};

HS_INLINE struct ROWS_OF(numbers) ROWS_OF(numbers_at)(const struct conduction_rows *r, int64_t at)
{
    const ROWS_N *own = (const ROWS_N *)r->network->number + at;
    return (struct ROWS_OF(numbers)){own, own - r->across_pitch, own - r->march_pitch};
}

HS_INLINE ROWS_TARGET struct ROWS_NAME(nodes)
    ROWS_OF(same)(const struct conduction_rows *r, struct ROWS_OF(numbers) n)
{
    const ROWS_T *palette = r->network->row, *own = palette + *n.own * HS_ROW_NUMBERS;
    return (struct ROWS_NAME(nodes)){
        .lower = ROWS_SET(palette[*n.lower * HS_ROW_NUMBERS + r->march]),
        .before = ROWS_SET(palette[*n.before * HS_ROW_NUMBERS + r->across]),
        .left = ROWS_SET(own[HS_X]),
        .right = ROWS_SET(own[HS_X]),
        .after = ROWS_SET(own[r->across]),
        .upper = ROWS_SET(own[r->march]),
        .sink = ROWS_SET(-own[4]),
        .rate = ROWS_SET(own[3]),
        .keep = ROWS_SET(own[5]),
    };
}

/* The coefficients of a vector of nodes, each by its own numbers. */
HS_INLINE ROWS_TARGET struct ROWS_NAME(nodes)
    ROWS_OF(each)(const struct conduction_rows *r, struct ROWS_OF(numbers) n)
{
    const ROWS_T *palette = r->network->row, *across = palette + r->across,
                 *march = palette + r->march;
#define ROWS_LOWER(lane) march[n.lower[lane] * HS_ROW_NUMBERS]
#define ROWS_BEFORE(lane) across[n.before[lane] * HS_ROW_NUMBERS]
#define ROWS_LEFT(lane) palette[n.own[(lane)-1] * HS_ROW_NUMBERS]
#define ROWS_RIGHT(lane) palette[n.own[lane] * HS_ROW_NUMBERS]
#define ROWS_AFTER(lane) across[n.own[lane] * HS_ROW_NUMBERS]
#define ROWS_UPPER(lane) march[n.own[lane] * HS_ROW_NUMBERS]
#define ROWS_SINK(lane) -palette[n.own[lane] * HS_ROW_NUMBERS + 4]
#define ROWS_RATE(lane) palette[n.own[lane] * HS_ROW_NUMBERS + 3]
#define ROWS_KEEP(lane) palette[n.own[lane] * HS_ROW_NUMBERS + 5]
    return (struct ROWS_NAME(nodes)){
        .lower = ROWS_GATHER(ROWS_LOWER),
        .before = ROWS_GATHER(ROWS_BEFORE),
        .left = ROWS_GATHER(ROWS_LEFT),
        .right = ROWS_GATHER(ROWS_RIGHT),
        .after = ROWS_GATHER(ROWS_AFTER),
        .upper = ROWS_GATHER(ROWS_UPPER),
        .sink = ROWS_GATHER(ROWS_SINK),
        .rate = ROWS_GATHER(ROWS_RATE),
        .keep = ROWS_GATHER(ROWS_KEEP),
    };
#undef ROWS_LOWER
#undef ROWS_BEFORE
#undef ROWS_LEFT
#undef ROWS_RIGHT
#undef ROWS_AFTER
#undef ROWS_UPPER
#undef ROWS_SINK
#undef ROWS_RATE
#undef ROWS_KEEP
}

/* The coefficients of a line whose nodes differ, and the numbers that they belong to. `kept` begins
 * with a flag for each such line, set once there is one. */
struct ROWS_OF(kept) {
    struct ROWS_NAME(nodes) nodes[ROWS_NAME(VECTORS)];
    ROWS_V forcing[CONDUCTION_MOST_LEVELS][ROWS_NAME(VECTORS)];
    ROWS_N own[ROWS_NAME(LINE) + 1]; /* the one before the line first */
    ROWS_N before[ROWS_NAME(LINE)], lower[ROWS_NAME(LINE)];
    unsigned levels; /* whose forcing has been looked up; a bit for each */
};
_Static_assert(LINE_BYTES + ROWS_OF(KEPT) * sizeof(struct ROWS_OF(kept)) <= CONDUCTION_KEPT,
               "all that is kept has room");
_Static_assert((int)ROWS_OF(KEPT) <= (int)LINE_BYTES, "and so have its flags");

HS_INLINE const ROWS_T *ROWS_OF(forcing)(const struct conduction_rows *r, int level)
{
    return (const ROWS_T *)r->forcing + level * r->forcing_pitch;
}

ROWS_TARGET static void ROWS_OF(look_up)(const struct conduction_rows *r, struct ROWS_OF(numbers) n,
                                         struct ROWS_OF(kept) * kept)
{
    memcpy(kept->own, n.own - 1, sizeof kept->own);
    memcpy(kept->before, n.before, sizeof kept->before);
    memcpy(kept->lower, n.lower, sizeof kept->lower);
    kept->levels = 0;
    for (int v = 0; v < ROWS_NAME(VECTORS); v++)
        kept->nodes[v] = ROWS_OF(each)(r, (struct ROWS_OF(numbers)){n.own + v * ROWS_LANES,
                                                                    n.before + v * ROWS_LANES,
                                                                    n.lower + v * ROWS_LANES});
}

ROWS_TARGET static void ROWS_OF(look_up_forcing)(const struct conduction_rows *r, int level,
                                                 struct ROWS_OF(kept) * kept)
{
    const ROWS_T *forcing = ROWS_OF(forcing)(r, level);
    kept->levels |= 1u << level;
    for (int v = 0; v < ROWS_NAME(VECTORS); v++) {
        const ROWS_N *own = kept->own + 1 + v * ROWS_LANES;
#define ROWS_FORCING(lane) forcing[own[lane]]
        kept->forcing[level][v] = ROWS_GATHER(ROWS_FORCING);
#undef ROWS_FORCING
    }
}

/* Coefficients of the line at point i of a row, which may end within it, and its forcing for the
 * levels from `level` up to `end`. */
HS_INLINE ROWS_TARGET const struct ROWS_OF(kept) *
    ROWS_OF(find)(const struct conduction_rows *r, int64_t first, int level, int end, int64_t i)
{
    enum { LINE = ROWS_NAME(LINE) };
    struct ROWS_OF(numbers) n = ROWS_OF(numbers_at)(r, first + i);
    const int64_t left = r->points - i;
    ROWS_N copy[3][LINE + 1];
    if (left < LINE) {
        memset(copy, 0, sizeof copy);
        memcpy(copy[0], n.own - 1, (size_t)(left + 1) * sizeof *n.own);
        memcpy(copy[1], n.before, (size_t)left * sizeof *n.own);
        memcpy(copy[2], n.lower, (size_t)left * sizeof *n.own);
        n = (struct ROWS_OF(numbers)){copy[0] + 1, copy[1], copy[2]};
    }
    const int64_t place = i / LINE % ROWS_OF(KEPT);
    char *flags = r->kept;
    struct ROWS_OF(kept) *kept = (struct ROWS_OF(kept) *)(void *)(flags + LINE_BYTES) + place;
    if (!flags[place] || memcmp(kept->own, n.own - 1, sizeof kept->own) != 0 ||
        memcmp(kept->before, n.before, sizeof kept->before) != 0 ||
        memcmp(kept->lower, n.lower, sizeof kept->lower) != 0)
        ROWS_OF(look_up)(r, n, kept);
    flags[place] = 1;
    for (; level < end; level++)
        if (!(kept->levels >> level & 1))
            ROWS_OF(look_up_forcing)(r, level, kept);
    return kept;
}

/* ---- a row of one level ---------------------------------------------------------------------- */

HS_INLINE ROWS_TARGET void ROWS_OF(line_of_many)(const struct conduction_rows *r,
                                                 const struct conduction_level *l, int64_t i)
{
    const struct ROWS_OF(kept) *k = ROWS_OF(find)(r, l->first, l->level, l->level + 1, i);
    for (int v = 0; v < ROWS_NAME(VECTORS) && i < r->points; v++, i += ROWS_LANES) {
        const int64_t byte = i * (int64_t)sizeof(ROWS_T);
        ROWS_NAME(vector)(r, l, byte, &k->nodes[v], k->forcing[l->level][v], true);
    }
}

/* Whether all numbers, `bytes` bytes of each, are these. */
HS_INLINE bool ROWS_OF(are)(struct ROWS_OF(numbers) n, int bytes, uint64_t own, uint64_t before,
                            uint64_t lower)
{
    uint64_t differ[8] = {0};
    ROWS_OF(differ)(n.own, own, bytes, differ);
    ROWS_OF(differ)(n.before, before, bytes, differ);
    ROWS_OF(differ)(n.lower, lower, bytes, differ);
    return !ROWS_OF(any)(differ, bytes);
}

/* Points from..to of a row. */
HS_INLINE ROWS_TARGET void ROWS_OF(row)(const struct conduction_rows *r,
                                        const struct conduction_level *l, int64_t from, int64_t to)
{
    enum { LINE = ROWS_NAME(LINE), BYTES = ROWS_OF(BYTES), MANY = ROWS_OF(MANY) };
    const int64_t inner =
        to < r->points ? to : (r->points - 1) / LINE * LINE; /* without the end's line */
    for (int64_t i = from; i < to;) {
        struct ROWS_OF(numbers) n = ROWS_OF(numbers_at)(r, l->first + i);
        const uint64_t own = ROWS_OF(word)(*n.own), before = ROWS_OF(word)(*n.before),
                       lower = ROWS_OF(word)(*n.lower);
        if (i == 0 || i >= inner || n.own[-1] != *n.own ||
            !ROWS_OF(are)(n, BYTES, own, before, lower)) {
            ROWS_NAME(prefetch)(r, i * (int64_t)sizeof(ROWS_T));
            ROWS_OF(line_of_many)(r, l, i);
            i += LINE;
            continue;
        }
        const struct ROWS_NAME(nodes) nodes = ROWS_OF(same)(r, n);
        const ROWS_V forcing = ROWS_SET(ROWS_OF(forcing)(r, l->level)[*n.own]);
        int64_t lines = 1;
        do {
            for (const int64_t end = i + lines * LINE; i < end;) {
                ROWS_NAME(prefetch)(r, i * (int64_t)sizeof(ROWS_T));
                for (int v = 0; v < ROWS_NAME(VECTORS); v++, i += ROWS_LANES)
                    ROWS_NAME(vector)(r, l, i * (int64_t)sizeof(ROWS_T), &nodes, forcing, false);
            }
            n = ROWS_OF(numbers_at)(r, l->first + i);
            lines = i + MANY * LINE <= inner && ROWS_OF(are)(n, 64, own, before, lower) ? MANY
                    : i < inner && ROWS_OF(are)(n, BYTES, own, before, lower)           ? 1
                                                                                        : 0;
        } while (lines > 0);
    }
}

ROWS_TARGET static void ROWS_OF(rows)(const struct conduction_rows *rows,
                                      const struct conduction_level *level)
{
    struct conduction_rows r = *rows;
    struct conduction_level l = *level;
    for (; r.count > 0; ROWS_NAME(next_row)(&r, &l)) {
        const struct conduction_rows row = r; /* copies that no store can alias */
        const struct conduction_level one = l;
        ROWS_OF(row)(&row, &one, row.from, row.to);
    }
}

/* ---- two rows of all levels ------------------------------------------------------------------ */

/* Not 0 if the numbers of two lines differ. */
HS_INLINE uint64_t ROWS_OF(between)(const ROWS_N *a, const ROWS_N *b)
{
    uint64_t differ[8] = {0};
    for (int n = 0; n < ROWS_OF(BYTES) / 8; n++) {
        uint64_t word;
        memcpy(&word, (const char *)b + 8 * n, sizeof word);
        ROWS_OF(differ)((const ROWS_N *)(const void *)((const char *)a + 8 * n), word, 8, differ);
    }
    return differ[0];
}

/* All differences first, then all bits: loops that the compiler vectorises. */
HS_INLINE ROWS_TARGET void ROWS_OF(look_at_row)(const struct conduction_rows *r, int64_t first,
                                                struct conduction_lines *lines)
{
    enum { LINE = ROWS_NAME(LINE), MANY = ROWS_OF(MANY) };
    const struct ROWS_OF(numbers) n = ROWS_OF(numbers_at)(r, first);
    const int64_t count = (r->points + LINE - 1) / LINE;
    uint64_t apart[1 + CONDUCTION_LINES], uneven[CONDUCTION_LINES];
    apart[0] = (n.own[-1] ^ n.before[-1]) | (n.own[-1] ^ n.lower[-1]);
    for (int64_t line = 0; line < count; line++) {
        const int64_t i = line * LINE;
        apart[1 + line] =
            ROWS_OF(between)(n.own + i, n.before + i) | ROWS_OF(between)(n.own + i, n.lower + i);
        uneven[line] = ROWS_OF(between)(n.own + i, n.own + i - 1);
    }
    uneven[0] = uneven[count - 1] = 1;
    uint64_t alike = 0, uniform = 0;
    for (int64_t line = 0; line < count; line++) {
        alike |= (uint64_t)((apart[line] | apart[1 + line]) == 0) << line;
        uniform |= (uint64_t)(uneven[line] == 0) << line;
    }
    *lines = (struct conduction_lines){alike, uniform};
    for (int64_t line = 0; line < count; line += MANY)
        prefetch_l2(n.own + line * LINE + r->march_pitch);
}

ROWS_TARGET static void ROWS_OF(look)(const struct conduction_rows *r, int64_t first,
                                      struct conduction_lines *lines)
{
    for (int64_t row = 0; row < r->count; row++)
        ROWS_OF(look_at_row)(r, first + row * r->across_pitch, lines + row);
}

/* Sweeps lines that differ between levels or rows: each level and row by itself. */
ROWS_TARGET static __attribute__((noinline)) void ROWS_OF(apart)(const struct conduction_rows *rows,
                                                                 const struct conduction_stack *s,
                                                                 int64_t from, int64_t to)
{
    enum { PITCH = CONDUCTION_PITCH };
    const int64_t pitch = rows->across_pitch * (int64_t)sizeof(ROWS_T);
    for (int n = 0; n < CONDUCTION_LEVELS; n++) {
        const bool last = n == CONDUCTION_LATER;
        struct conduction_rows r = *rows;
        r.from = from;
        r.to = to;
        r.count = 2;
        r.streamed = last && rows->streamed;
        r.prefetch = n == 0 ? r.prefetch : NULL;
        const char *in = n > 0 ? s->centre[n - 1] : s->input,
                   *lower = n > 0 ? s->below[n - 1] : s->lower;
        const int64_t in_pitch = n > 0 ? PITCH : pitch;
        const struct conduction_level level = {
            .first = s->first[n],
            .level = n,
            .in = in,
            .before = in - in_pitch,
            .after = in + in_pitch,
            .lower = lower,
            .upper = n > 1   ? s->below[n - 2]
                     : n > 0 ? s->next
                             : s->upper,
            .out = last    ? s->out
                   : n > 0 ? s->below[n - 1]
                           : s->next,
            .in_pitch = in_pitch,
            .out_pitch = last ? pitch : PITCH,
        };
        ROWS_OF(rows)(&r, &level);
    }
}

/* Sweeps `count` lines of a stack from point i on, with coefficients and forcings for each vector,
 * or the same for all. */
HS_INLINE ROWS_TARGET void ROWS_OF(towers)(const struct conduction_rows *r,
                                           const struct conduction_stack *s, int64_t i,
                                           int64_t count, const struct ROWS_NAME(nodes) * n,
                                           const ROWS_V *forcing, bool each, bool plain,
                                           bool streamed)
{
    const int64_t size = (int64_t)sizeof(ROWS_T), pitch = r->across_pitch * size;
    const int64_t to = (i + count * ROWS_NAME(LINE)) * size, row_end = r->points * size;
    const int64_t end = each && to > row_end ? row_end : to; /* there: beyond it are no nodes */
    struct conduction_place at = conduction_place(i * size, pitch);
    while (at.row < end) {
        ROWS_NAME(prefetch)(r, at.row);
        ROWS_NAME(prefetch)(r, at.next);
        for (int v = 0; v < ROWS_NAME(VECTORS) && (!each || at.row < end); v++) {
            ROWS_NAME(tower)
            (r, s, at, each ? n + v : n, each ? forcing + v : forcing,
             each ? ROWS_NAME(VECTORS) : 1, plain, streamed, each);
            conduction_move(&at, ROWS_LANES * size);
        }
    }
}

/* The number of ones at a word's low end. */
HS_INLINE int ROWS_OF(ones)(uint64_t word)
{
    int count = 0;
    for (; word & 1; word >>= 1)
        count++;
    return count;
}

/* Two rows of a stack. */
HS_INLINE ROWS_TARGET void ROWS_OF(pair)(const struct conduction_rows *r,
                                         const struct conduction_stack *s, bool streamed)
{
    enum { LINE = ROWS_NAME(LINE), LEVELS = CONDUCTION_LEVELS };
    uint64_t alike = ~(uint64_t)0, uniform = s->lines[0][0].uniform;
    for (int n = 0; n < LEVELS; n++)
        alike &= s->lines[n][0].alike & s->lines[n][1].alike;
    uniform &= alike;
    for (int64_t i = r->from, count; i < r->to; i += count * LINE,
                 alike = count < 64 ? alike >> count : 0,
                 uniform = count < 64 ? uniform >> count : 0) {
        if (!(alike & 1)) {
            count = ROWS_OF(ones)(~alike);
            const int64_t to = i + count * LINE;
            ROWS_OF(apart)(r, s, i, to < r->to ? to : r->to);
        } else if (!(uniform & 1)) {
            const struct ROWS_OF(kept) *k = ROWS_OF(find)(r, s->first[0], 0, LEVELS, i);
            ROWS_OF(towers)(r, s, i, 1, k->nodes, k->forcing[0], true, false, streamed);
            count = 1;
        } else {
            const struct ROWS_OF(numbers) n = ROWS_OF(numbers_at)(r, s->first[0] + i);
            const struct ROWS_NAME(nodes) nodes = ROWS_OF(same)(r, n);
            ROWS_V forcing[LEVELS];
            for (int level = 0; level < LEVELS; level++)
                forcing[level] = ROWS_SET(ROWS_OF(forcing)(r, level)[*n.own]);
            count = ROWS_OF(ones)(uniform);
            const ROWS_T *own = (const ROWS_T *)r->network->row + *n.own * HS_ROW_NUMBERS;
            if (own[4] == 0 && own[5] == 1)
                ROWS_OF(towers)(r, s, i, count, &nodes, forcing, false, true, streamed);
            else
                ROWS_OF(towers)(r, s, i, count, &nodes, forcing, false, false, streamed);
        }
    }
}

ROWS_TARGET static void ROWS_OF(stack)(const struct conduction_rows *rows,
                                       const struct conduction_stack *stack)
{
    struct conduction_rows r = *rows;
    struct conduction_stack s = *stack;
    for (; r.count > 0; ROWS_NAME(next_rows)(&r, &s)) {
        const struct conduction_rows two = r; /* copies that no store can alias */
        const struct conduction_stack levels = s;
        if (r.streamed)
            ROWS_OF(pair)(&two, &levels, true);
        else
            ROWS_OF(pair)(&two, &levels, false);
    }
}

#undef ROWS_N
#undef ROWS_OF
#endif
