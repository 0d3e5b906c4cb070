#include "core/tiling_chunks.h"
#include "core/tiling_parts.h"

#include <string.h>

/* Multiprocessors that are free from the same time on; and all of them, the earliest first. */
struct fused_free {
    int64_t at, count;
};
struct fused_clock {
    struct fused_free free[HS_MULTIPROCESSORS];
    int n;
};

static void fused_set_free(struct fused_clock *clock, struct fused_free who)
{
    int i = clock->n;
    while (i > 0 && clock->free[i - 1].at > who.at)
        i--;
    if (i > 0 && clock->free[i - 1].at == who.at) {
        clock->free[i - 1].count += who.count;
        return;
    }
    memmove(&clock->free[i + 1], &clock->free[i], (size_t)(clock->n - i) * sizeof who);
    clock->free[i] = who;
    clock->n++;
}

/* Every block goes to the multiprocessor that is free first. */
static void fused_hand_out(struct fused_clock *clock, int64_t blocks, int64_t takes)
{
    while (blocks > 0) {
        struct fused_free *const first = &clock->free[0];
        const int64_t at = first->at, some = blocks < first->count ? blocks : first->count;
        first->count -= some;
        if (first->count == 0)
            memmove(first, first + 1, (size_t)--clock->n * sizeof *first);
        fused_set_free(clock, (struct fused_free){at + takes, some});
        blocks -= some;
    }
}

/* What the chunks depend on. */
struct fused_columns {
    int64_t rims, inner; /* columns at faces of x and y, which come first, and others */
    int64_t planes;
    int64_t longest; /* chunk, in planes */
    int reach;
    int ends; /* the planes do not wrap */
};

/*
 * When the last multiprocessor is done, in tenths of what a plane takes inside. A chunk is marched
 * with 2*reach planes more, to fill and to drain, and takes 3 for its beginning; to meet an end of
 * the grid takes 6. Columns at faces take a fifth longer (measured: 1.05 to 1.35 times).
 */
static int64_t fused_time(const struct fused_columns *of, const struct hs_fused_chunks *cut)
{
    struct fused_clock clock = {.free = {{0, HS_MULTIPROCESSORS}}, .n = 1};
    for (int k = 0; k < cut->chunks; k++) {
        const int64_t length = hs_fused_chunk(of->planes, cut->chunks, cut->taper, k + 1) -
                               hs_fused_chunk(of->planes, cut->chunks, cut->taper, k);
        const int met = of->ends ? (k == 0) + (k + 1 == cut->chunks) : 0;
        const int64_t takes = length + 2 * of->reach + 3 + 6 * met;
        fused_hand_out(&clock, of->rims, 12 * takes);
        fused_hand_out(&clock, of->inner, 10 * takes);
    }
    return clock.free[clock.n - 1].at;
}

/*
 * Multiprocessors end together where the last blocks are short, though these fill and drain as long
 * as others: 4 chunks of 512^3 with walls, float, gave 2.27, 2.34, 2.37 and 2.44 of the copy with
 * tapers of 0, 4, 6 and 8, and 4 of 640^3, periodic, with 8 gave 2.89 where 8 equal ones gave 2.68.
 * Chunks are not longer where planes are large: 1024^3 gave 2.33 in chunks of 205 planes, 2.37 to
 * 2.39 of 128, in double the same for both; that blocks drift apart along z is a guess. Where every
 * multiprocessor has many blocks, more of them would balance no better.
 */
static struct hs_fused_chunks fused_chunks(const struct fused_columns *of)
{
    enum { ENOUGH = 64 * HS_MULTIPROCESSORS, MOST = 23, MOST_TAPER = 8 };
    const int from = (int)hs_divide_up(of->planes > 0 ? of->planes : 1, of->longest);
    struct hs_fused_chunks best = {from, 0};
    int64_t least = INT64_MAX;
    for (int chunks = from; chunks <= from + MOST; chunks++) {
        if (chunks > from &&
            (of->planes / chunks < 2 * of->reach || (of->rims + of->inner) * chunks > ENOUGH))
            break;
        for (int taper = 0; taper <= (chunks > 1 ? MOST_TAPER : 0); taper += 2) {
            const struct hs_fused_chunks cut = {chunks, taper};
            if (taper > 0 && hs_fused_chunk(of->planes, chunks, taper, 1) > of->longest)
                break;
            const int64_t time = fused_time(of, &cut);
            if (time < least - least / 1000) {
                least = time;
                best = cut;
            }
        }
    }
    return best;
}

struct hs_fused_chunks hs_fused_cut_z(const struct hs_sweep *sweep, int64_t tiles_x,
                                      int64_t tiles_y)
{
    /* the last answer: a run asks the same before every launch, and it takes tens of microseconds
     */
    static _Thread_local struct fused_columns asked;
    static _Thread_local struct hs_fused_chunks answered;
    const struct hs_box wide = hs_tiling_with_held(sweep);
    const int64_t inner_x = tiles_x - (sweep->face[2 * HS_X].wrap ? 0 : 2);
    const int64_t inner_y = tiles_y - (sweep->face[2 * HS_Y].wrap ? 0 : 2);
    const int64_t area = (wide.hi[HS_X] - wide.lo[HS_X]) * (wide.hi[HS_Y] - wide.lo[HS_Y]);
    const int64_t longest = area > 0 ? HS_FUSED_CHUNK / area : HS_FUSED_PLANES;
    struct fused_columns of = {.planes = wide.hi[HS_Z] - wide.lo[HS_Z],
                               .longest = longest < HS_FUSED_PLANES / 2 ? HS_FUSED_PLANES / 2
                                          : longest > HS_FUSED_PLANES   ? HS_FUSED_PLANES
                                                                        : longest,
                               .reach = hs_tile_reach(sweep),
                               .ends = !sweep->face[2 * HS_Z].wrap};
    of.inner = inner_x > 0 && inner_y > 0 ? inner_x * inner_y : 0;
    of.rims = tiles_x * tiles_y - of.inner;
    if (memcmp(&of, &asked, sizeof of) != 0) {
        answered = fused_chunks(&of);
        asked = of;
    }
    return answered;
}
