/*
 * The rows of openmp.c for one instruction set and one precision, set by instruction_sets.h. Empty
 * without it. dims, radius, planes and recursion are constants wherever these are used.
 */
#ifdef ROWS_T

#define ROWS_AT(address) ((const ROWS_T *)(const void *)(address))

/* The vector `beyond` bytes after the place, in the group's row `n`. */
HS_INLINE ROWS_TARGET ROWS_V ROWS_NAME(sum)(int dims, int radius, const struct place *p, int n,
                                            int beyond, const ROWS_V *c, ROWS_V sum)
{
    const char *const *row = p->row + n + (dims > 1 ? radius : 0);
    if (dims > 1)
        for (int m = radius; m > 0; m--)
            sum = ROWS_FMA(*c++, ROWS_LOAD(ROWS_AT(row[-m] + p->at + beyond)), sum);
    if (dims > 2)
        for (int m = radius; m > 0; m--)
            sum = ROWS_FMA(*c++, ROWS_LOAD(ROWS_AT(row[0] + p->down[m] + beyond)), sum);
    for (int m = -radius; m <= radius; m++)
        sum = ROWS_FMA(*c++, ROWS_LOAD(ROWS_AT(row[0] + p->at + beyond) + m), sum);
    if (dims > 2)
        for (int m = 1; m <= radius; m++)
            sum = ROWS_FMA(*c++, ROWS_LOAD(ROWS_AT(row[0] + p->up[m] + beyond)), sum);
    if (dims > 1)
        for (int m = 1; m <= radius; m++)
            sum = ROWS_FMA(*c++, ROWS_LOAD(ROWS_AT(row[m] + p->at + beyond)), sum);
    return sum;
}

/* Stores points i to i + ROWS_TOGETHER * ROWS_LANES of a row whose end is among them: held points
 * keep their values, and those beyond what is stored are not touched. */
HS_INLINE ROWS_TARGET void ROWS_NAME(end)(bool streamed, int planes, int64_t stride,
                                          const ROWS_T *in, ROWS_T *out, const struct row *row,
                                          int64_t i, ROWS_V (*sum)[ROWS_TOGETHER])
{
    enum { COUNT = ROWS_TOGETHER * ROWS_LANES };
    const unsigned updated = bits_between(row->first - i, row->last - i, COUNT);
    const bool part = i < row->from || i + COUNT > row->to;
    for (int n = 0; n < planes; n++) {
        ROWS_T *to = out + n * stride + i, values[COUNT] = {0};
        for (int v = 0; v < ROWS_TOGETHER; v++) {
            const int at = v * ROWS_LANES;
            const ROWS_V value =
                ROWS_SELECT(updated >> at, sum[n][v], ROWS_LOAD(in + n * stride + i + at));
            if (streamed && !part)
                ROWS_STREAM(to + at, value);
            else
                ROWS_STORE((part ? values : to) + at, value);
        }
        for (int64_t m = hs_larger(row->from - i, 0); part && m < hs_smaller(row->to - i, COUNT);
             m++) {
            to[m] = values[m];
            AS_IT_IS(m); /* so that it is no call, over which registers would be saved */
        }
    }
}

/* The row of each plane, a line of each in turn. Only what goes to `out` may be stored in here, not
 * even an address that has no register: stores leave the core in order, and wait behind streamed
 * ones. */
HS_INLINE ROWS_TARGET void ROWS_NAME(lines)(bool recursion, int dims, int radius, int planes,
                                            const ROWS_T *in, const ROWS_T *source, ROWS_T *out,
                                            const struct row *row, const ROWS_V *c)
{
    enum { SIZE = sizeof(ROWS_T), COUNT = ROWS_TOGETHER * ROWS_LANES };
    const int64_t stride = dims > 2 ? row->pz : row->py;
    const int below = dims > 1 ? radius : 0; /* rows of the place below the group's */
    const ROWS_V start = ROWS_SET((ROWS_T)row->source_value);
    const ROWS_V factor = ROWS_SET((ROWS_T)row->factor);
    const volatile bool streamed = row->streamed; /* one loop for both */
    struct place p = place_at(recursion, dims, radius, planes, (const char *)in, (const char *)out,
                              stride * SIZE, row->py * SIZE, row->lead * SIZE, row->before * SIZE);
    /* lines whose points are all updated, in bytes from the row's first */
    const uint64_t first = row->first > 0 ? LINE_BYTES : 0;
    const uint64_t inner = (uint64_t)(row->last * SIZE / LINE_BYTES * LINE_BYTES) - first;
    const int64_t end = row->lines_end * SIZE;
    while (p.at < end) {
        ROWS_V sum[GROUP][ROWS_TOGETHER];
        for (int n = 0; n < planes; n++) {
            if (COUNT * SIZE == LINE_BYTES || p.at % LINE_BYTES == 0)
                prefetch_l2(p.row[n + 2 * below] + p.far);
            for (int v = 0; v < ROWS_TOGETHER; v++) {
                const int at = v * (int)sizeof(ROWS_V);
                ROWS_V value =
                    source ? ROWS_LOAD(ROWS_AT((const char *)(source + n * stride) + p.at + at))
                           : start;
                value = ROWS_NAME(sum)(dims, radius, &p, n, at, c, value);
                if (recursion)
                    value = ROWS_FMA(
                        factor,
                        ROWS_SUB(value, ROWS_LOAD(ROWS_AT(p.row[n + below] + p.before + at))),
                        value);
                sum[n][v] = value;
            }
        }
#define ROWS_TO(n, v) ((ROWS_T *)(uintptr_t)(p.row[(n) + below] + p.out) + (v)*ROWS_LANES)
        if (SELDOM((uint64_t)p.at - first >= inner)) {
            ROWS_V copy[GROUP][ROWS_TOGETHER]; /* the sums themselves stay in registers */
            for (int n = 0; n < planes; n++)
                for (int v = 0; v < ROWS_TOGETHER; v++)
                    copy[n][v] = sum[n][v];
            ROWS_NAME(end)(streamed, planes, stride, in, out, row, p.at / SIZE, copy);
        } else if (!recursion && streamed) {
            for (int n = 0; n < planes; n++)
                for (int v = 0; v < ROWS_TOGETHER; v++)
                    ROWS_STREAM(ROWS_TO(n, v), sum[n][v]);
        } else {
            for (int n = 0; n < planes; n++)
                for (int v = 0; v < ROWS_TOGETHER; v++)
                    ROWS_STORE(ROWS_TO(n, v), sum[n][v]);
        }
#undef ROWS_TO
        move_by(recursion, &p, dims, radius, COUNT * SIZE);
    }
}

HS_INLINE ROWS_TARGET void ROWS_NAME(rows)(bool recursion, int dims, int radius,
                                           const struct row *row, ROWS_T *out)
{
    const ROWS_T *in = row->in, *source = row->source, *value = row->c;
    const int64_t stride = dims > 2 ? row->pz : row->py;
    ROWS_V c[HS_MAX_COEFFICIENTS];
    for (int n = 0; n < 1 + 2 * dims * radius; n++)
        c[n] = ROWS_SET(value[n]);
    for (int64_t n = 0; n < row->rows; n++) {
        if (dims > 1 && row->planes == GROUP && source)
            ROWS_NAME(lines)(recursion, dims, radius, GROUP, in, source, out, row, c);
        else if (dims > 1 && row->planes == GROUP)
            ROWS_NAME(lines)(recursion, dims, radius, GROUP, in, NULL, out, row, c);
        else
            for (int64_t at = 0; at < row->planes * stride; at += stride)
                ROWS_NAME(lines)
        (recursion, dims, radius, 1, in + at, source ? source + at : NULL, out + at, row, c);
        in += row->py, out += row->py;
        source = source ? source + row->py : NULL;
    }
}

#define ROWS_ONE(D, R, RECURSION)                                                                  \
    ROWS_TARGET static void ROWS_NAME(rows_##D##R##RECURSION)(const struct row *row, void *out)    \
    {                                                                                              \
        ROWS_NAME(rows)(RECURSION, D, R, row, out);                                                \
    }
#define ROWS_RADII(D, RECURSION)                                                                   \
    ROWS_ONE(D, 1, RECURSION) ROWS_ONE(D, 2, RECURSION) ROWS_ONE(D, 3, RECURSION)
#define ROWS_ALL(RECURSION)                                                                        \
    ROWS_RADII(1, RECURSION) ROWS_RADII(2, RECURSION) ROWS_RADII(3, RECURSION)
ROWS_ALL(0)
ROWS_ALL(1)

#define ROWS_OF(D, RECURSION)                                                                      \
    {                                                                                              \
        ROWS_NAME(rows_##D##1##RECURSION), ROWS_NAME(rows_##D##2##RECURSION),                      \
            ROWS_NAME(rows_##D##3##RECURSION)                                                      \
    }
static const struct row_functions ROWS_NAME(functions) = {
    {{ROWS_OF(1, 0), ROWS_OF(2, 0), ROWS_OF(3, 0)}, {ROWS_OF(1, 1), ROWS_OF(2, 1), ROWS_OF(3, 1)}}};

#undef ROWS_AT
#undef ROWS_ONE
#undef ROWS_RADII
#undef ROWS_ALL
#undef ROWS_OF

#endif
