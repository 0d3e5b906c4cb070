#include "chunks.h"

#include <string.h>

/* `count` multiprocessors that become free at time `at`; and all of them, the earliest first. */
struct fused_free {
    int64_t at, count;
};
enum { MOST_MULTIPROCESSORS = 256 };
struct fused_clock {
    struct fused_free free[MOST_MULTIPROCESSORS];
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

/* Each block goes to the multiprocessor that becomes free first. */
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
    int64_t halos, inner; /* columns at faces of x and y, which come first, and the others */
    int64_t planes;
    int least;       /* chunks */
    int64_t longest; /* chunk, in planes, ... */
    int64_t whole;   /* ... and of a column that is one chunk while others are cut */
    int reach;
    int ends;   /* the planes do not wrap */
    int begins; /* planes' worth of time to begin a chunk */
    int halo;   /* tenths of an interior plane's time that a plane of a column at faces takes */
    int multiprocessors;
};

/*
 * When the last multiprocessor finishes, in tenths of the time of an interior plane. A chunk is
 * marched with 2*reach more planes, to fill and to drain; meeting an end of the grid takes 6 more.
 */
static int64_t fused_time(const struct fused_columns *of, const struct hs_fused_chunks *cut)
{
    struct fused_clock clock = {.free = {{0, of->multiprocessors}}, .n = 1};
    const int64_t halos = of->halos < cut->whole ? of->halos : cut->whole,
                  inner = cut->whole - halos;
    const int64_t once = of->planes + 2 * of->reach + of->begins + (of->ends ? 12 : 0);
    fused_hand_out(&clock, halos, of->halo * once);
    fused_hand_out(&clock, inner, 10 * once);
    for (int k = 0; k < cut->chunks; k++) {
        const int64_t length = hs_fused_chunk(of->planes, cut->chunks, cut->taper, k + 1) -
                               hs_fused_chunk(of->planes, cut->chunks, cut->taper, k);
        const int met = of->ends ? (k == 0) + (k + 1 == cut->chunks) : 0;
        const int64_t takes = length + 2 * of->reach + of->begins + 6 * met;
        fused_hand_out(&clock, of->halos - halos, of->halo * takes);
        fused_hand_out(&clock, of->inner - inner, 10 * takes);
    }
    return clock.free[clock.n - 1].at;
}

/* Multiprocessors finish together if the last blocks are short, though short ones take as long to
 * fill and drain as others. If every multiprocessor has many blocks, more would not balance better.
 * Figures: docs/performance/fused-3d.md. */
static struct hs_fused_chunks fused_chunks(const struct fused_columns *of)
{
    enum { MOST = 23, MOST_TAPER = 8 };
    const int64_t enough = 64 * (int64_t)of->multiprocessors;
    const int fewest = (int)hs_divide_up(of->planes > 0 ? of->planes : 1, of->longest);
    const int from = fewest > of->least ? fewest : of->least;
    const int64_t columns = of->halos + of->inner;
    struct hs_fused_chunks best = {.chunks = from};
    int64_t least = INT64_MAX;
    for (int some = 0; some < (of->planes <= of->whole ? 2 : 1); some++) {
        const int whole = some ? (int)(columns - columns % of->multiprocessors) : 0;
        for (int chunks = from; chunks <= from + MOST; chunks++) {
            if (chunks > from && (of->planes / chunks < 2 * of->reach || columns * chunks > enough))
                break;
            for (int taper = 0; taper <= (chunks > 1 ? MOST_TAPER : 0); taper += 2) {
                const struct hs_fused_chunks cut = {chunks, taper, whole, false};
                if (taper > 0 && hs_fused_chunk(of->planes, chunks, taper, 1) > of->longest)
                    break;
                const int64_t time = fused_time(of, &cut);
                if (time <= least) { /* on a tie the shorter chunks, since real blocks differ */
                    least = time;
                    best = cut;
                }
            }
        }
    }
    return best;
}

static struct fused_columns fused_columns(const struct hs_case *of,
                                          const struct hs_device_limits *limits, int64_t tiles_x,
                                          int64_t tiles_y)
{
    const struct hs_box wide = hs_tile_with_held(of);
    const int64_t inner_x = tiles_x - (of->face[2 * HS_X].wrap ? 0 : 2);
    const int64_t inner_y = tiles_y - (of->face[2 * HS_Y].wrap ? 0 : 2);
    const int64_t area = (wide.hi[HS_X] - wide.lo[HS_X]) * (wide.hi[HS_Y] - wide.lo[HS_Y]);
    const int64_t longest = area > 0 ? HS_FUSED_CHUNK / area : HS_FUSED_PLANES;
    const int64_t inner = inner_x > 0 && inner_y > 0 ? inner_x * inner_y : 0;
    return (struct fused_columns){.halos = tiles_x * tiles_y - inner,
                                  .inner = inner,
                                  .planes = wide.hi[HS_Z] - wide.lo[HS_Z],
                                  .longest = longest < HS_FUSED_PLANES / 2 ? HS_FUSED_PLANES / 2
                                             : longest > HS_FUSED_PLANES   ? HS_FUSED_PLANES
                                                                           : longest,
                                  .reach = hs_tile_reach(of),
                                  .ends = !of->face[2 * HS_Z].wrap,
                                  .begins = 3,
                                  .halo = 12,
                                  .multiprocessors = limits->multiprocessors < MOST_MULTIPROCESSORS
                                                         ? limits->multiprocessors
                                                         : MOST_MULTIPROCESSORS};
}

/* Calls of a slab need several blocks for each multiprocessor, which make up for differences, as
 * ranks wait for the slowest one. Not if chunks would mostly fill and drain. Figures:
 * docs/performance/many-gpus.md. */
static int least_chunks(const struct hs_case *of, const struct fused_columns *columns)
{
    enum { BLOCKS_OF_TWO = 9, SHORTEST = 8 }; /* blocks of two multiprocessors; times the reach */
    const int64_t tiles = columns->halos + columns->inner;
    const int64_t least =
        hs_divide_up((int64_t)BLOCKS_OF_TWO * columns->multiprocessors, 2 * tiles);
    return of->slab && least * SHORTEST * columns->reach <= columns->planes ? (int)least : 1;
}

static bool keep_all(const struct hs_face *face, int faces, int radius)
{
    bool all = true;
    for (int f = 0; f < faces; f++)
        all = all && face[f].held == radius && !face[f].prescribed && !face[f].wrap;
    return all;
}

/* As many columns as multiprocessors, or a multiple of that, stay one chunk each, and only the
 * others are cut: then these columns sweep no plane twice, and the last blocks belong to few
 * columns. In double only; not for long columns, nor if the last columns, whose vectors are not
 * aligned, take longer than the rest. Figures: docs/performance/radius-2.md. */
static int64_t whole_planes(const struct hs_case *of)
{
    enum { WIDTH = HS_VECTOR_BYTES / 8 };
    const bool even = of->layout.points[HS_X] % WIDTH == 0;
    const bool kept = keep_all(of->face, 2 * HS_Z, of->radius);
    return of->precision == HS_DOUBLE && (even || kept) ? HS_WHOLE_PLANES : 0;
}

struct hs_fused_chunks hs_fused_cut_z(const struct hs_case *of,
                                      const struct hs_device_limits *limits, int64_t tiles_x,
                                      int64_t tiles_y)
{
    struct fused_columns columns = fused_columns(of, limits, tiles_x, tiles_y);
    columns.least = least_chunks(of, &columns);
    return fused_chunks(&columns);
}

/* Power limits the speed in double, so the planes swept to fill and drain are costly in short
 * chunks. */
struct hs_fused_chunks hs_march_cut_z(const struct hs_case *of,
                                      const struct hs_device_limits *limits, int64_t tiles_x,
                                      int64_t tiles_y)
{
    struct fused_columns columns = fused_columns(of, limits, tiles_x, tiles_y);
    if (of->precision == HS_DOUBLE)
        columns.longest = HS_MARCH_PLANES;
    columns.whole = whole_planes(of);
    columns.least = least_chunks(of, &columns);
    return fused_chunks(&columns);
}

/* All blocks run at the speed of the slowest, so throttling loses with few columns, with faces that
 * do not keep their values, with rows that are not whole vectors, and in double. Figures:
 * docs/performance/radius-2.md. */
bool hs_radius2_throttles(const struct hs_case *of, const struct hs_device_limits *limits,
                          int64_t tiles_x, int64_t tiles_y)
{
    enum { WIDTH = HS_VECTOR_BYTES / 4, RADIUS = 2 };
    return of->precision == HS_FLOAT && of->layout.points[HS_X] % WIDTH == 0 && tiles_x > 1 &&
           3 * tiles_x * tiles_y >= limits->multiprocessors &&
           keep_all(of->face, 2 * HS_Z, RADIUS) &&
           (of->face[2 * HS_Z].wrap || keep_all(&of->face[2 * HS_Z], 2, RADIUS));
}

/* The number of equal chunks for which the waves of blocks take the least time. */
static struct hs_fused_chunks throttled_waves(const struct fused_columns *of)
{
    enum { MOST = 23 };
    struct hs_fused_chunks best = {.chunks = 1, .throttled = true};
    int64_t least = INT64_MAX;
    const int64_t more = 2 * of->reach + of->begins + 6 * of->ends;
    for (int chunks = 1; chunks <= MOST && of->planes / chunks >= 2 * of->reach; chunks++) {
        const int64_t waves = hs_divide_up((of->halos + of->inner) * chunks, of->multiprocessors);
        const int64_t time = waves * (hs_divide_up(of->planes, chunks) + more);
        if (time < least) {
            least = time;
            best.chunks = chunks;
        }
    }
    return best;
}

/* In double, columns at faces of x and y that keep their values take about as long as others, and
 * long chunks are better even if planes are large. */
struct hs_fused_chunks hs_radius2_cut_z(const struct hs_case *of,
                                        const struct hs_device_limits *limits, int64_t tiles_x,
                                        int64_t tiles_y)
{
    struct fused_columns columns = fused_columns(of, limits, tiles_x, tiles_y);
    if (of->precision == HS_DOUBLE && keep_all(of->face, 2 * HS_Z, of->radius)) {
        columns.longest = HS_FUSED_PLANES;
        columns.begins = 6;
        columns.halo = 10;
    }
    columns.whole = whole_planes(of);
    return of->steps > 1 && hs_radius2_throttles(of, limits, tiles_x, tiles_y)
               ? throttled_waves(&columns)
               : fused_chunks(&columns);
}
