/*
 * The rows of wavefront.c for one instruction set and one precision. Included once for each, with
 *
 *     ROWS_T, ROWS_V, ROWS_LANES    a value, a vector of values, how many
 *     ROWS_LOAD(p), ROWS_STORE(p, v), ROWS_SET(x), ROWS_FMA(a, b, c)
 *     ROWS_FMA1(a, b, c)            of single values
 *     ROWS_BESIDE(p, m)             the values m points beside the vector at p
 *     ROWS_STREAM(to, from)         one cache line past the cache
 *     ROWS_TARGET, ROWS_NAME(x)     attribute of the functions, their names
 *
 * and empty without.
 *
 * A function does `group` rows of neighbouring y at once, a cache line of each in turn: a value is
 * then loaded once for the sums of its own row and those of the rows beside it. All is loaded
 * before anything is stored, since a row may be written where the lowest plane was.
 */
#ifdef ROWS_T

HS_INLINE ROWS_TARGET void ROWS_NAME(line)(int dims, int radius, int group, const struct rows *r,
                                           const ROWS_V *c, int64_t at)
{
    const ROWS_T *centre = (const ROWS_T *)r->centre + at, *source = r->source;
    ROWS_V sum[GROUP];
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
                sum[g] = ROWS_FMA(c[n], ROWS_LOAD(centre + (g - m) * r->pitch), sum[g]);
    for (int m = -radius; m <= radius; m++, n++)
        for (int g = 0; g < group; g++)
            sum[g] = ROWS_FMA(c[n], ROWS_BESIDE(centre + g * r->pitch, m), sum[g]);
    if (dims > 2)
        for (int m = 1; m <= radius; m++, n++)
            for (int g = 0; g < group; g++)
                sum[g] = ROWS_FMA(c[n], ROWS_LOAD(centre + (g + m) * r->pitch), sum[g]);
    if (dims > 1)
        for (int m = 1; m <= radius; m++, n++)
            for (int g = 0; g < group; g++)
                sum[g] = ROWS_FMA(
                    c[n], ROWS_LOAD((const ROWS_T *)r->above[m - 1] + at + g * r->pitch), sum[g]);
    for (int g = 0; g < group; g++)
        ROWS_STORE((ROWS_T *)r->out + at + g * r->out_pitch, sum[g]);
}

/* What is carried along between the lines: some to memory, some from there. */
HS_INLINE ROWS_TARGET void ROWS_NAME(carry)(struct carry *carry)
{
    carry->credit += carry->earned;
    while (carry->credit >= carry->cost) {
        carry->credit -= carry->cost;
        if (carry->from < carry->from_end || (carry->count > 0 && carry_next(carry))) {
            if (carry->plain)
                memcpy(carry->to, carry->from, LINE_BYTES);
            else
                ROWS_STREAM(carry->to, carry->from);
            carry->to += LINE_BYTES;
            carry->from += LINE_BYTES;
        }
        for (int n = 0; n < CALLS; n++)
            if (carry->call[n].at < carry->call[n].end ||
                (carry->call[n].row < carry->call[n].row_end &&
                 call_next(carry, &carry->call[n]))) {
                call_in(carry->call[n].at);
                carry->call[n].at += LINE_BYTES;
            }
    }
}

HS_INLINE ROWS_TARGET void ROWS_NAME(rows)(int dims, int radius, int group,
                                           const struct rows *given, struct carry *carry)
{
    const struct rows rows = *given; /* a copy that no store can be to */
    const ROWS_T *value = rows.c;
    ROWS_V c[HS_MAX_COEFFICIENTS];
    for (int n = 0; n < 1 + 2 * dims * radius; n++)
        c[n] = ROWS_SET(value[n]);
    for (int64_t i = 0; i < rows.points; i += LINE_BYTES / (int64_t)sizeof(ROWS_T)) {
        ROWS_NAME(carry)(carry);
        for (int v = 0; v < LINE_BYTES / (int)sizeof(ROWS_T); v += ROWS_LANES)
            ROWS_NAME(line)(dims, radius, group, &rows, c, i + v);
    }
}

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
ROWS_RADII(3, 3)
ROWS_RADII(3, 4)

/* The affine rule in the field's precision, exactly as core/boundary.h states it, for `count`
 * ghosts `stride` values apart. table: what drives each of them; NULL: `drive` all. */
HS_INLINE ROWS_TARGET void ROWS_NAME(rule)(ROWS_T *ghost, const ROWS_T *inner, const ROWS_T *edge,
                                           const struct rule *rule, const ROWS_T *table,
                                           ROWS_T drive, int64_t count, int64_t stride)
{
    const ROWS_T a = (ROWS_T)rule->a, b = (ROWS_T)rule->b, c = (ROWS_T)rule->c;
    for (int64_t i = 0; i < count; i++) {
        const ROWS_T outer = c * (table ? table[i] : drive);
        ghost[i * stride] = ROWS_FMA1(a, inner[i * stride], ROWS_FMA1(b, edge[i * stride], outer));
    }
}

ROWS_TARGET static void ROWS_NAME(ghosts)(void *ghost, const void *inner, const void *edge,
                                          const struct rule *rule, const void *table, double drive,
                                          int64_t count, int64_t stride)
{
    if (stride == 1)
        ROWS_NAME(rule)(ghost, inner, edge, rule, table, (ROWS_T)drive, count, 1);
    else
        ROWS_NAME(rule)(ghost, inner, edge, rule, table, (ROWS_T)drive, count, stride);
}

/* [dims - 1][radius - 1][rows - 1] */
#define ROWS_FEW(D, R)                                                                             \
    {                                                                                              \
        ROWS_NAME(rows_##D##R##1)                                                                  \
    }
#define ROWS_MANY(D, R)                                                                            \
    {                                                                                              \
        ROWS_NAME(rows_##D##R##1), ROWS_NAME(rows_##D##R##2), ROWS_NAME(rows_##D##R##3),           \
            ROWS_NAME(rows_##D##R##4)                                                              \
    }
static const struct row_functions ROWS_NAME(functions) = {
    ROWS_NAME(ghosts),
    {
        {ROWS_FEW(1, 1), ROWS_FEW(1, 2), ROWS_FEW(1, 3)},
        {ROWS_FEW(2, 1), ROWS_FEW(2, 2), ROWS_FEW(2, 3)},
        {ROWS_MANY(3, 1), ROWS_MANY(3, 2), ROWS_MANY(3, 3)},
    },
};

#undef ROWS_T
#undef ROWS_V
#undef ROWS_LANES
#undef ROWS_LOAD
#undef ROWS_STORE
#undef ROWS_SET
#undef ROWS_FMA
#undef ROWS_FMA1
#undef ROWS_BESIDE
#undef ROWS_STREAM
#undef ROWS_TARGET
#undef ROWS_NAME
#undef ROWS_ONE
#undef ROWS_RADII
#undef ROWS_FEW
#undef ROWS_MANY

#endif
