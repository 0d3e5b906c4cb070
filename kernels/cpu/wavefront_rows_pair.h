/*
 * The rows of wavefront_rows.h that go by pairs of planes; included there.
 *
 * A row of level 1 is swept in two planes of the input. Each later level's row is in two planes one
 * lower, a row and a line behind the level before: so all that it needs is there. A level's sums
 * are stored where the level before has just been read for the last time: the lower plane's where
 * its older lower plane was, row for row, the upper plane's where its older upper plane was, a row
 * before. So each level's upper planes lie a row further back.
 */
#ifdef ROWS_T

#define ROWS_AT(base, where) ((ROWS_T *)(void *)((base) + (where)))

#define ROWS_EACH for (int h = 0; h < ROWS_TOGETHER; h++)

/* ROWS_TOGETHER vectors of two planes. below, lower, upper, above: four planes of the level before;
 * the middle ones have neighbours `pitch` bytes away. left: what is left of the first vector of
 * `lower`. before: on entry the vectors before these in lower and upper; on return these
 * themselves. sum: on entry what the sums begin with; on return the sums. */
HS_INLINE ROWS_TARGET void ROWS_NAME(pair_level)(const char *below, const char *lower,
                                                 const char *upper, const char *above,
                                                 const char *left, int64_t pitch, const ROWS_V *c,
                                                 ROWS_V *before, ROWS_V *sum)
{
    enum { SIZE = sizeof(ROWS_V), ONE = sizeof(ROWS_T), UP = ROWS_TOGETHER };
    ROWS_V centre[UP], next[UP];
    ROWS_EACH centre[h] = ROWS_LOAD(ROWS_AT(lower, h * SIZE));
    ROWS_EACH next[h] = ROWS_LOAD(ROWS_AT(upper, h * SIZE));
    ROWS_EACH sum[h] = ROWS_FMA(c[0], ROWS_LOAD(ROWS_AT(below, h * SIZE)), sum[h]);
    ROWS_EACH sum[UP + h] = ROWS_FMA(c[0], centre[h], sum[UP + h]);
    ROWS_EACH sum[h] = ROWS_FMA(c[1], ROWS_LOAD(ROWS_AT(lower, h * SIZE - pitch)), sum[h]);
    ROWS_EACH sum[UP + h] =
        ROWS_FMA(c[1], ROWS_LOAD(ROWS_AT(upper, h * SIZE - pitch)), sum[UP + h]);
    ROWS_EACH sum[h] = ROWS_FMA(
        c[2], ROWS_NAME(left)(h ? lower + h * SIZE - ONE : left, before[h], centre[h]), sum[h]);
    ROWS_EACH sum[UP + h] = ROWS_FMA(
        c[2], ROWS_NAME(left)(upper + h * SIZE - ONE, before[UP + h], next[h]), sum[UP + h]);
    ROWS_EACH sum[h] = ROWS_FMA(c[3], centre[h], sum[h]);
    ROWS_EACH sum[UP + h] = ROWS_FMA(c[3], next[h], sum[UP + h]);
    ROWS_EACH sum[h] = ROWS_FMA(c[4], ROWS_NAME(right)(lower + h * SIZE, centre[h]), sum[h]);
    ROWS_EACH sum[UP + h] =
        ROWS_FMA(c[4], ROWS_NAME(right)(upper + h * SIZE, next[h]), sum[UP + h]);
    ROWS_EACH sum[h] = ROWS_FMA(c[5], ROWS_LOAD(ROWS_AT(lower, h * SIZE + pitch)), sum[h]);
    ROWS_EACH sum[UP + h] =
        ROWS_FMA(c[5], ROWS_LOAD(ROWS_AT(upper, h * SIZE + pitch)), sum[UP + h]);
    ROWS_EACH sum[h] = ROWS_FMA(c[6], next[h], sum[h]);
    ROWS_EACH sum[UP + h] = ROWS_FMA(c[6], ROWS_LOAD(ROWS_AT(above, h * SIZE)), sum[UP + h]);
    ROWS_EACH before[h] = centre[h];
    ROWS_EACH before[UP + h] = next[h];
}

/* Held values at the ends of a row are those of the level before, or prescribed. line: from the
 * row's first; v: bytes into it. */
HS_INLINE ROWS_TARGET void ROWS_NAME(pair_hold)(const struct pair *p, int level, int64_t line,
                                                int v, const ROWS_V *before, ROWS_V *sum)
{
    for (int face = 0; face < 2; face++) {
        const struct pair_end *end = &p->end[face];
        if (line != (face ? p->last : 0))
            continue;
        const unsigned bits = (face ? p->last_bits : p->first_bits) >> (v / (int)sizeof(ROWS_T));
        const struct face_data *hold = end->prescribed ? &end->hold[level - 1] : NULL;
        for (int n = 0; n < 2; n++)
            ROWS_EACH sum[n * ROWS_TOGETHER + h] =
                ROWS_NAME(hold)(bits >> h * ROWS_LANES, hold, hold ? n * hold->pitch : 0,
                                sum[n * ROWS_TOGETHER + h], before[n * ROWS_TOGETHER + h]);
    }
}

/* Stores the sums of two planes, by non-temporal stores or ordinary ones. */
HS_INLINE ROWS_TARGET void ROWS_NAME(pair_put)(bool streamed, char *lower, char *upper,
                                               const ROWS_V *sum)
{
    for (int n = 0; n < 2 * ROWS_TOGETHER; n++) {
        ROWS_T *to =
            ROWS_AT(n < ROWS_TOGETHER ? lower : upper, n % ROWS_TOGETHER * (int)sizeof(ROWS_V));
        if (streamed)
            ROWS_STREAM(to, sum[n]);
        else
            ROWS_STORE(to, sum[n]);
    }
}

/* What the sums begin with: a number, or a field's two planes, `apart` bytes from each other. */
HS_INLINE ROWS_TARGET void ROWS_NAME(pair_start)(const char *field, int64_t apart, ROWS_V value,
                                                 ROWS_V *sum)
{
    for (int n = 0; n < 2; n++)
        ROWS_EACH sum[n * ROWS_TOGETHER + h] =
            field ? ROWS_LOAD(ROWS_AT(field, n * apart + h * (int)sizeof(ROWS_V))) : value;
}

/* Fills the ghosts beside a row of the lower planes, which the next pass reads. Each is stored with
 * its whole vector: the vector is loaded at once, and after a store of a part of it would have to
 * wait until all earlier stores have left the core. */
HS_INLINE ROWS_TARGET void ROWS_NAME(pair_ghosts)(int levels, const struct pair *p,
                                                  const struct pair_end *end)
{
    for (int n = 0; n < levels && n < LATER; n++) {
        ROWS_T *to = ROWS_AT(p->level[n], end->ghost), one;
        ROWS_NAME(rule)
        (&one, ROWS_AT(p->level[n], end->inner), ROWS_AT(p->level[n], end->edge), &end->rule,
         (const ROWS_T *)(const void *)end->data[n].table, (ROWS_T)end->data[n].value, 1, 1);
        const int lane = (int)((uintptr_t)to % (ROWS_LANES * sizeof(ROWS_T)) / sizeof(ROWS_T));
        ROWS_STORE(to - lane, ROWS_SELECT(1u << lane, ROWS_SET(one), ROWS_LOAD(to - lane)));
    }
}

/* Sweeps `levels` levels of a strip of rows; `ends` if it has an end of them. */
HS_INLINE ROWS_TARGET void ROWS_NAME(pair)(bool wide, int levels, bool ends, bool field,
                                           const struct pair *given)
{
    enum { LINE = LINE_BYTES };
    const int64_t beside = wide ? PAIR_WIDE : PAIR_PITCH;
    struct pair p = *given; /* a copy that no store can alias */
    const ROWS_T *value = p.c;
    ROWS_V c[7], start[STEPS];
    for (int n = 0; n < 7; n++)
        c[n] = ROWS_SET(value[n]);
    for (int n = 0; n < STEPS; n++)
        start[n] = ROWS_SET(field ? 0 : (ROWS_T)p.source_value[n]);
/* for a later level: the older upper plane of the level before, and both newer ones, the upper of
 * which is a row further back */
#define ROWS_LOWER2 (level2 + up)
#define ROWS_LOWER3 (level3 + up - beside)
#define ROWS_LOWER4 (level4 + up - 2 * beside)
#define ROWS_UPPER2 (level1 - beside - LINE)
#define ROWS_UPPER3 (level2 - beside - LINE)
#define ROWS_UPPER4 (level3 - beside - LINE)
#define ROWS_ABOVE2 (level1 + up - beside - LINE)
#define ROWS_ABOVE3 (level2 + up - 2 * beside - LINE)
#define ROWS_ABOVE4 (level3 + up - 3 * beside - LINE)
/* in the first strip of a row a level begins where the row does, later than the level before */
#ifdef ROWS_SHIFT
#define ROWS_BEGIN(L)                                                                              \
    if (levels >= L) {                                                                             \
        const int64_t first = (p.from > 0 ? 0 : (L - 1) * LINE) - SIZE;                            \
        before##L[0] =                                                                             \
            ROWS_LOAD(p.from > 0 ? ROWS_AT(p.overlap[L - 2], 0) : ROWS_AT(ROWS_LOWER##L, first));  \
        before##L[1] = ROWS_LOAD(ROWS_AT(ROWS_UPPER##L, first));                                   \
    }
#define ROWS_OVERLAP(L) before##L[0]
#else
#define ROWS_BEGIN(L)
#define ROWS_OVERLAP(L) ROWS_LOAD(ROWS_AT(ROWS_LOWER##L, 0) - 1)
#endif
/* the value left of a strip's first line in the lower plane has been overwritten */
#define ROWS_BESIDE(L)                                                                             \
    (v == 0 && count == p.lines && p.from > 0 ? p.overlap[L - 2]                                   \
                                              : ROWS_LOWER##L + v - (int)sizeof(ROWS_T))
#define ROWS_IN(AHEAD) (!ends || (line + (AHEAD)*LINE >= 0 && line + (AHEAD)*LINE <= p.last))
#define ROWS_NEXT(L, AHEAD)                                                                        \
    if (levels >= L && ROWS_IN(AHEAD)) {                                                           \
        ROWS_NAME(pair_start)(field ? source##L + v : NULL, plane, start[L - 1], sum);             \
        ROWS_NAME(pair_level)                                                                      \
        (level##L + v, ROWS_LOWER##L + v, ROWS_UPPER##L + v, ROWS_ABOVE##L + v, ROWS_BESIDE(L),    \
         beside, c, before##L, sum);                                                               \
        if (ends)                                                                                  \
            ROWS_NAME(pair_hold)(&p, L, line + (AHEAD)*LINE, v, before##L, sum);                   \
        if (L < STEPS)                                                                             \
            ROWS_NAME(pair_put)(false, level##L + v, ROWS_LOWER##L - beside + v, sum);             \
        else if (!ends || (line >= p.out_first && line <= p.out_last))                             \
            ROWS_NAME(pair_put)                                                                    \
        (!p.plain, out + v, out + v + plane, sum);                                                 \
    }
    enum { SIZE = sizeof(ROWS_V), BOTH = 2 * ROWS_TOGETHER };
    for (; p.rows > 0; p.rows--) {
        /* the lower planes: of the input, and where the levels' rows are read and stored */
        const char *in = p.input + p.from, *in_up = in + p.input_plane, *ahead = p.prefetch;
        const char *near = in - p.input_plane + PAIR_NEAR * p.input_pitch;
        char *level1 = p.level[0] + p.from, *level2 = p.level[1] + p.from - LINE;
        char *level3 = p.level[2] + p.from - 2 * LINE, *level4 = p.level[3] + p.from - 3 * LINE;
        char *out = p.out + p.from - 3 * LINE;
        const char *source1 = field ? p.source[0] + p.from : NULL;
        const char *source2 = field ? p.source[1] + p.from - LINE : NULL;
        const char *source3 = field ? p.source[2] + p.from - 2 * LINE : NULL;
        const char *source4 = field ? p.source[3] + p.from - 3 * LINE : NULL;
        int64_t plane = p.input_plane, planes3 = 3 * plane, pitch = p.input_pitch,
                up = p.ring_plane;
        int64_t line = p.from - 3 * LINE;
        const int64_t near_rows = PAIR_NEAR * p.input_pitch;
        AS_IT_IS(in);
        AS_IT_IS(in_up);
        AS_IT_IS(ahead);
        AS_IT_IS(near);
        AS_IT_IS(out);
        AS_IT_IS(level1);
        AS_IT_IS(level2);
        AS_IT_IS(level3);
        AS_IT_IS(level4);
        AS_IT_IS(plane);
        AS_IT_IS(planes3);
        AS_IT_IS(pitch);
        AS_IT_IS(up);
        ROWS_V before1[BOTH], before2[BOTH], before3[BOTH], before4[BOTH];
        before1[0] = ROWS_LOAD(ROWS_AT(in, -SIZE));
        before1[ROWS_TOGETHER] = ROWS_LOAD(ROWS_AT(in_up, -SIZE));
        ROWS_BEGIN(2)
        ROWS_BEGIN(3)
        ROWS_BEGIN(4)
        for (int64_t count = p.lines; count > 0; count--) {
            prefetch_l2(ahead);
            prefetch_l2(ahead + plane);
            if (field) {
                prefetch_l2(ahead + p.source_apart);
                prefetch_l2(ahead + plane + p.source_apart);
                prefetch_l1(source1 + near_rows);
                prefetch_l1(source1 + near_rows + plane);
                prefetch_l1(source2 + near_rows);
                prefetch_l1(source3 + near_rows);
                prefetch_l1(source4 + near_rows);
            }
            ahead += LINE;
            prefetch_l1(near);
            prefetch_l1(near + plane);
            prefetch_l1(near + 2 * plane);
            prefetch_l1(near + planes3);
            near += LINE;
            for (int v = 0; v < LINE; v += ROWS_TOGETHER * SIZE) {
                ROWS_V sum[BOTH];
                ROWS_NEXT(4, 0)
                ROWS_NEXT(3, 1)
                ROWS_NEXT(2, 2)
                if (ROWS_IN(3)) {
                    ROWS_NAME(pair_start)(field ? source1 + v : NULL, plane, start[0], sum);
                    ROWS_NAME(pair_level)
                    (in - plane + v, in + v, in_up + v, in + 2 * plane + v,
                     in + v - (int)sizeof(ROWS_T), pitch, c, before1, sum);
                    if (ends)
                        ROWS_NAME(pair_hold)(&p, 1, line + 3 * LINE, v, before1, sum);
                    ROWS_NAME(pair_put)(false, level1 + v, level1 + up + v, sum);
                }
            }
            in += LINE, in_up += LINE;
            level1 += LINE, level2 += LINE, level3 += LINE;
            if (levels >= 4)
                level4 += LINE, out += LINE;
            if (field)
                source1 += LINE, source2 += LINE, source3 += LINE, source4 += LINE;
            if (ends)
                line += LINE;
        }
        if (levels >= 2)
            ROWS_STORE(ROWS_AT(p.overlap[0], 0), ROWS_OVERLAP(2));
        if (levels >= 3)
            ROWS_STORE(ROWS_AT(p.overlap[1], 0), ROWS_OVERLAP(3));
        if (levels >= 4)
            ROWS_STORE(ROWS_AT(p.overlap[2], 0), ROWS_OVERLAP(4));
        for (int face = 0; face < 2 && ends; face++)
            if (p.end[face].there)
                ROWS_NAME(pair_ghosts)(levels, &p, &p.end[face]);
        p.input += p.input_pitch;
        p.prefetch += p.input_pitch;
        p.out += p.input_pitch;
        for (int n = 0; n < STEPS; n++) {
            p.level[n] += beside;
            if (field)
                p.source[n] += p.input_pitch;
        }
        for (int n = 0; n < LATER; n++)
            p.overlap[n] += LINE;
    }
#undef ROWS_LOWER2
#undef ROWS_LOWER3
#undef ROWS_LOWER4
#undef ROWS_UPPER2
#undef ROWS_UPPER3
#undef ROWS_UPPER4
#undef ROWS_ABOVE2
#undef ROWS_ABOVE3
#undef ROWS_ABOVE4
#undef ROWS_BEGIN
#undef ROWS_NEXT
#undef ROWS_IN
#undef ROWS_OVERLAP
#undef ROWS_BESIDE
#undef ROWS_EACH
}
#undef ROWS_AT

#define ROWS_PAIR(W, L, E, F)                                                                      \
    ROWS_TARGET static void ROWS_NAME(pair_##W##L##E##F)(const struct pair *pair)                  \
    {                                                                                              \
        ROWS_NAME(pair)(W, L, E, F, pair);                                                         \
    }
#define ROWS_PAIRS(W, F)                                                                           \
    ROWS_PAIR(W, 1, 1, F)                                                                          \
    ROWS_PAIR(W, 2, 1, F) ROWS_PAIR(W, 3, 1, F) ROWS_PAIR(W, 4, 0, F) ROWS_PAIR(W, 4, 1, F)
ROWS_PAIRS(0, 0)
ROWS_PAIRS(0, 1)
ROWS_PAIRS(1, 0)
ROWS_PAIRS(1, 1)

#undef ROWS_PAIR
#undef ROWS_PAIRS

#endif
