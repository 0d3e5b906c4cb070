/*
 * The rows of wavefront_rows.h that are swept on all levels at once; included there.
 *
 * `group` rows of level 1 are swept from the input, those of level 2 a plane below, and so on. From
 * the plane above, a later level needs only the point that the level before has just summed, which
 * is in a register. A level's row is stored where its lowest plane was read; the last level's goes
 * to memory.
 */
#ifdef ROWS_T

#define ROWS_AT(base, where) ((ROWS_T *)(void *)((base) + (where)))

/* The sums of a level, from the first bytes of the rows of its plane and of the one below. above:
 * on entry of the level before; on return its own sums. */
HS_INLINE ROWS_TARGET void ROWS_NAME(level)(int group, const char *middle, const char *below,
                                            int64_t pitch, const ROWS_V *c, ROWS_V start,
                                            int64_t at, ROWS_V *before, ROWS_V *above)
{
    ROWS_V centre[GROUP], sum[GROUP];
    for (int g = 0; g < group; g++) {
        centre[g] = ROWS_LOAD(ROWS_AT(middle, at + g * pitch));
        sum[g] = ROWS_FMA(c[0], ROWS_LOAD(ROWS_AT(below, at + g * pitch)), start);
    }
    for (int g = 0; g < group; g++)
        sum[g] =
            ROWS_FMA(c[1], g > 0 ? centre[g - 1] : ROWS_LOAD(ROWS_AT(middle, at - pitch)), sum[g]);
    const int64_t one = (int64_t)sizeof(ROWS_T);
    for (int g = 0; g < group; g++)
        sum[g] = ROWS_FMA(
            c[2], ROWS_NAME(left)(middle + at + g * pitch - one, before[g], centre[g]), sum[g]);
    for (int g = 0; g < group; g++)
        sum[g] = ROWS_FMA(c[3], centre[g], sum[g]);
    for (int g = 0; g < group; g++)
        sum[g] = ROWS_FMA(c[4], ROWS_NAME(right)(middle + at + g * pitch, centre[g]), sum[g]);
    for (int g = 0; g < group; g++)
        sum[g] = ROWS_FMA(
            c[5], g + 1 < group ? centre[g + 1] : ROWS_LOAD(ROWS_AT(middle, at + (g + 1) * pitch)),
            sum[g]);
    for (int g = 0; g < group; g++) {
        above[g] = ROWS_FMA(c[6], above[g], sum[g]);
        before[g] = centre[g];
    }
}

HS_INLINE ROWS_TARGET void ROWS_NAME(keep_level)(int group, char *to, int64_t pitch, int64_t at,
                                                 const ROWS_V *sum)
{
    for (int g = 0; g < group; g++)
        ROWS_STORE(ROWS_AT(to, at + g * pitch), sum[g]);
}

/* Held values at the ends of a row are those of the level before, or prescribed. */
HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(hold_level)(const struct stack *s, int64_t line, int v,
                                                   int g, ROWS_V sum, ROWS_V before)
{
    for (int face = 0; face < 2; face++) {
        if (line != (face ? s->bytes - LINE_BYTES : 0))
            continue;
        const unsigned bits = (face ? s->last_bits : s->first_bits) >> (v / (int)sizeof(ROWS_T));
        sum = ROWS_NAME(hold)(bits, s->prescribed[face] ? &s->hold[face] : NULL, g, sum, before);
    }
    return sum;
}

/* Stores the last level's vector. */
HS_INLINE ROWS_TARGET void ROWS_NAME(put_level)(int group, bool plain, const struct stack *s,
                                                int64_t line, int v, const ROWS_V *sum,
                                                const ROWS_V *before)
{
    if ((line == 0 && s->skip_first) || (line == s->bytes - LINE_BYTES && s->skip_last))
        return;
    for (int g = 0; g < group; g++) {
        ROWS_T *to = ROWS_AT(s->out, line + v + g * s->pitch);
        const ROWS_V value = ROWS_NAME(hold_level)(s, line, v, g, sum[g], before[g]);
        if (plain)
            ROWS_STORE(to, value);
        else
            ROWS_STREAM(to, value);
    }
}

/* Loads the vectors before the first of each row. */
HS_INLINE ROWS_TARGET void ROWS_NAME(before_rows)(int group, const char *middle, int64_t pitch,
                                                  ROWS_V *before)
{
    for (int g = 0; g < group; g++)
        before[g] = ROWS_LOAD(ROWS_AT(middle, g * pitch) - ROWS_LANES);
}

/* Moves on to the adjacent group of rows. */
HS_INLINE void ROWS_NAME(next_rows)(int group, struct stack *s)
{
    for (int n = 0; n < LATER; n++)
        s->centre[n] += group * STACK_PITCH, s->below[n] += group * STACK_PITCH;
    s->above += group * STACK_PITCH;
    s->out += group * s->pitch;
    for (int face = 0; face < 2; face++)
        if (s->hold[face].table)
            s->hold[face].table += group * (int)sizeof(ROWS_T);
    s->prefetch++;
    s->input += group * s->input_pitch;
}

/* Sweeps level 1 and `later` of the others. */
HS_INLINE ROWS_TARGET void ROWS_NAME(stack)(int later, int group, bool plain,
                                            const struct stack *given)
{
    struct stack s = *given; /* a copy that no store can alias */
    const ROWS_T *value = s.c;
    ROWS_V c[7];
    for (int n = 0; n < 7; n++)
        c[n] = ROWS_SET(value[n]);
    const ROWS_V start = ROWS_SET((ROWS_T)s.source_value[0]);
    const ROWS_V start0 = ROWS_SET((ROWS_T)s.source_value[1]);
    const ROWS_V start1 = ROWS_SET((ROWS_T)s.source_value[2]);
    const ROWS_V start2 = ROWS_SET((ROWS_T)s.source_value[3]);
    for (; s.count > 0; s.count--) {
        ROWS_V input[GROUP], before0[GROUP], before1[GROUP], before2[GROUP];
        ROWS_NAME(before_rows)(group, s.input, s.input_pitch, input);
        ROWS_NAME(before_rows)(group, s.centre[0], STACK_PITCH, before0);
        ROWS_NAME(before_rows)(group, s.centre[1], STACK_PITCH, before1);
        ROWS_NAME(before_rows)(group, s.centre[2], STACK_PITCH, before2);
        const char *input_below = s.input - s.input_plane, *input_above = s.input + s.input_plane;
        const char *ahead[PREFETCH_ROWS];
        for (int n = 0; n < PREFETCH_ROWS; n++)
            ahead[n] = (*s.prefetch)[n];
        for (int64_t line = 0; line < s.bytes; line += LINE_BYTES) {
            for (int n = 0; n < PREFETCH_ROWS && !plain; n++)
                prefetch_l2(ahead[n] + line);
            for (int v = 0; v < LINE_BYTES; v += ROWS_LANES * (int)sizeof(ROWS_T)) {
                const int64_t at = line + v;
                ROWS_V above[GROUP];
                for (int g = 0; g < group; g++)
                    above[g] = ROWS_LOAD(ROWS_AT(input_above, at + g * s.input_pitch));
                ROWS_NAME(level)
                (group, s.input, input_below, s.input_pitch, c, start, at, input, above);
                ROWS_NAME(keep_level)(group, s.above, STACK_PITCH, at, above);
                if (later == 0)
                    continue;
                ROWS_NAME(level)
                (group, s.centre[0], s.below[0], STACK_PITCH, c, start0, at, before0, above);
                ROWS_NAME(keep_level)(group, s.below[0], STACK_PITCH, at, above);
                ROWS_NAME(level)
                (group, s.centre[1], s.below[1], STACK_PITCH, c, start1, at, before1, above);
                ROWS_NAME(keep_level)(group, s.below[1], STACK_PITCH, at, above);
                if (later == LATER) {
                    ROWS_NAME(level)
                    (group, s.centre[2], s.below[2], STACK_PITCH, c, start2, at, before2, above);
                    ROWS_NAME(put_level)(group, plain, &s, line, v, above, before2);
                }
            }
        }
        ROWS_NAME(next_rows)(group, &s);
    }
}
#undef ROWS_AT

#define ROWS_STACK(L, G, P)                                                                        \
    ROWS_TARGET static void ROWS_NAME(stack_##L##G##P)(const struct stack *stack)                  \
    {                                                                                              \
        ROWS_NAME(stack)(L, G, P, stack);                                                          \
    }
#define ROWS_STACKS(P)                                                                             \
    ROWS_STACK(2, 2, P)                                                                            \
    ROWS_STACK(3, 1, P) ROWS_STACK(3, 2, P) ROWS_STACK(0, 1, P)
ROWS_STACKS(0)
ROWS_STACKS(1)

#undef ROWS_STACK
#undef ROWS_STACKS

#endif
