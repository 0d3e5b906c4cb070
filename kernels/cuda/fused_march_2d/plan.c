#include "plan.h"
#include "tiles.h"

#include <stddef.h>
#include <string.h>

/* Points of so many warps side by side. */
static int strip_points(int width, int warps)
{
    return (HS_WARP * width - HS_STRIP_OVERLAP) * (warps - 1) + HS_WARP * width;
}

/* Blocks that it takes if the parts of each may cost `cut->most`, as many rows as that allows. */
static int64_t share_out(struct hs_strip_cut *cut)
{
    const struct hs_strip_costs *cost = &cut->cost;
    int64_t left = 0, block = -1; /* what the newest block may still cost */
    for (int s = 0; s < cut->strips; s++) {
        const int64_t one = s == 0 || s == cut->strips - 1 ? cost->outer : cost->inside;
        const int64_t first = cost->part + cost->low, whole = first + cost->high + one * cut->rows;
        const int64_t begun = left > first ? (left - first) / one : 0;
        const int64_t most = cut->rows - cut->least_high;
        const int64_t row = left >= whole            ? cut->rows
                            : begun < cut->least_low ? 0
                            : begun < most           ? begun
                                                     : most;
        cut->table[s].block = (int)block + 1;
        cut->table[s].row = (int)row;
        if (row == cut->rows) {
            left -= whole;
            continue;
        }
        int64_t parts = 0; /* before that which makes the end */
        if (row > 0 || cut->most < whole) {
            const int64_t each = (cut->most - cost->part) / one;
            const int64_t last = (cut->most - cost->part - cost->high) / one;
            const int64_t second = row > 0 ? row : hs_strip_next(cut, s, 0, 1);
            const int64_t rest =
                cut->rows - second - (last > cut->least_high ? last : cut->least_high);
            parts = (row > 0 ? 0 : 1) + hs_divide_up(rest, each > 1 ? each : 1);
        }
        block += parts + 1;
        const int64_t at = hs_strip_next(cut, s, (int)row, (int)parts);
        left = cut->most - cost->part - cost->high - one * (cut->rows - at) -
               (at == 0 ? cost->low : 0);
    }
    return block + 1;
}

/* With the least that makes the blocks enough. */
static void share_evenly(struct hs_strip_cut *cut)
{
    int64_t few = 0, enough = 1;
    for (cut->most = 1; share_out(cut) > cut->blocks; cut->most = enough)
        few = enough, enough *= 2;
    while (enough - few > 1) {
        cut->most = few + (enough - few) / 2;
        if (share_out(cut) > cut->blocks)
            few = cut->most;
        else
            enough = cut->most;
    }
    cut->most = enough;
    cut->used = (int)share_out(cut);
}

/* What a part of rows lo to hi - 1 costs, also where it goes through an end that another makes. */
static int64_t cost_of(const struct hs_strip_cut *cut, int strip, int lo, int hi)
{
    const struct hs_strip_costs *cost = &cut->cost;
    const bool outer = strip == 0 || strip == cut->strips - 1;
    int64_t rows = hi - lo, ends = 0; /* steps through rows at faces */
    if (cost->end_step > 0) {
        const int before = lo < cut->steps ? lo : cut->steps; /* rows that are swept redundantly */
        const int low = 2 + before - (lo - cut->steps), high = hi + cut->steps - cut->rows + 1;
        rows -= cut->steps - before;
        ends += low < 0 ? 0 : low < cut->steps + 2 ? low : cut->steps + 2;
        ends += high < 0 ? 0 : high < cut->steps ? high : cut->steps;
    }
    return cost->part + rows * (outer ? cost->outer : cost->inside) + ends * cost->end_step;
}

static int64_t dearest(const struct hs_strip_cut *cut)
{
    int64_t most = 0;
    struct hs_strip_place from = hs_strip_begin(cut, 0);
    for (int b = 1; b <= cut->used; b++) {
        const struct hs_strip_place to = hs_strip_begin(cut, b);
        int64_t cost = 0;
        for (int s = from.strip; s <= to.strip && s < cut->strips; s++) {
            const int lo = s == from.strip ? from.row : 0, hi = s == to.strip ? to.row : cut->rows;
            cost += lo < hi ? cost_of(cut, s, lo, hi) : 0;
        }
        most = cost > most ? cost : most;
        from = to;
    }
    return most;
}

static struct hs_strip_cut shared_by(struct hs_strip_cut cut, int low, int high)
{
    const int most = cut.rows / 4 > 1 ? cut.rows / 4 : 1;
    cut.least_low = low < most ? low : most;
    cut.least_high = high < most ? high : most;
    share_evenly(&cut);
    return cut;
}

/* With enough rows in the parts at the ends, those beside them go through no step there; but on
 * small grids these are more than the rows of other parts. */
static struct hs_strip_cut shared_best(const struct hs_strip_cut *cut)
{
    enum { FEW = 8 };
    const struct hs_strip_cut few = shared_by(*cut, FEW, FEW);
    if (cut->cost.end_step == 0)
        return few;
    const struct hs_strip_cut enough = shared_by(*cut, 2 * cut->steps + 2, cut->steps + 1);
    return dearest(&few) < dearest(&enough) ? few : enough;
}

/* All but the table and what comes with it. */
static struct hs_strip_cut cut_strips(const struct hs_sweep *sweep)
{
    const bool single = sweep->precision == HS_FLOAT;
    const int size = (int)hs_precision_size(sweep->precision);
    const int steps = hs_tile_steps(sweep);
    const int width = single ? HS_STRIP_WIDTH_FLOAT : HS_STRIP_WIDTH_DOUBLE;
    const int deepest = single ? HS_STRIP_DEEP_FLOAT : HS_STRIP_DEEP_DOUBLE;
    const bool few = single || steps <= HS_STRIP_FEW_DOUBLE;
    const bool wrap_x = sweep->face[2 * HS_X].wrap;
    const struct hs_box wide = hs_tiling_with_held(sweep);
    const int64_t nx = wide.hi[HS_X] - wide.lo[HS_X];
    const int64_t ny = wide.hi[HS_Y] - wide.lo[HS_Y];
    struct hs_strip_cut cut = {.groups = hs_divide_up(steps, deepest),
                               .places = few ? HS_STRIP_PLACES_FEW : HS_STRIP_PLACES_MANY,
                               .pairs = few ? HS_STRIP_PAIRS_FEW : HS_STRIP_PAIRS_MANY};
    cut.warps = single ? HS_STRIP_WARPS_FLOAT : few ? HS_STRIP_WARPS_DOUBLE : HS_STRIP_WARPS_MANY;
    while (cut.warps > 1 && strip_points(width, cut.warps) > nx)
        cut.warps--;
    cut.points = strip_points(width, cut.warps);
    cut.halo = hs_divide_up(steps, HS_VECTOR_BYTES / size) * (HS_VECTOR_BYTES / size);
    cut.stored = cut.points - 2 * cut.halo;
    /* as in hs_fused_cut_x: rows are stored from multiples of 32 bytes */
    cut.lead = wrap_x ? cut.stored : (cut.points - cut.halo) / (32 / size) * (32 / size);
    const int64_t more = wrap_x ? nx - cut.stored : nx - cut.points - cut.lead + cut.halo;
    cut.strips = nx <= (wrap_x ? cut.stored : cut.points) ? 1
                 : wrap_x                                 ? 1 + hs_divide_up(more, cut.stored)
                 : more > 0                               ? 2 + hs_divide_up(more, cut.stored)
                                                          : 2;
    const bool wrap_y = sweep->face[2 * HS_Y].wrap;
    const bool held = sweep->face[2 * HS_X].held && sweep->face[2 * HS_X + 1].held;
    /* Measured on an H200, 1024^2 to 16384^2; a wrong one costs time, not values. By the clocks of
     * blocks of 24 levels a part of h rows that meets no end takes as long as h + 62 rows, of which
     * 48 are the rows before and behind it, and a step at an end as long as two or three others;
     * up to twelve levels are taken to be alike, which was not measured. In float eight blocks
     * share a multiprocessor, and one that waits at an end leaves it to them: there ends of 62 and
     * 60 rows come out, near what gave most of 30, 60, 100 and 120. Rows of outer strips: with held
     * faces 19 to 21 sixteenths gave the highest rates, with others 24 to 26, across a wrap 17
     * to 18. */
    const int end_step = wrap_y ? 0 : 16 * (single ? 6 : 2);
    cut.steps = steps;
    cut.rows = (int)sweep->layout.points[HS_Y];
    cut.cost = (struct hs_strip_costs){
        .part = 16 * 2 * steps,
        .low = wrap_y ? 0 : end_step * (steps + 2) - 16 * steps,
        .high = end_step * steps,
        .end_step = end_step,
        .inside = 16,
        .outer = wrap_x  ? 18
                 : !held ? 26
                 : few   ? 21
                         : 20,
    };
    const int64_t blocks = HS_MULTIPROCESSORS * (int64_t)(cut.groups > 2 ? 1
                                                          : single       ? HS_STRIP_BLOCKS_FLOAT
                                                                         : HS_STRIP_BLOCKS_DOUBLE);
    const int64_t most = cut.strips * ny / 8;
    cut.blocks = (int)(most < 1 ? 1 : most < blocks ? most : blocks);
    return cut;
}

/* The last answer is kept, as in chunks.c. */
struct hs_strip_cut hs_strip_cuts(const struct hs_sweep *sweep)
{
    static _Thread_local struct hs_strip_cut asked, answered;
    const struct hs_strip_cut cut = cut_strips(sweep);
    if (cut.strips > HS_STRIP_TABLE)
        return cut;
    if (memcmp(&cut, &asked, offsetof(struct hs_strip_cut, most)) != 0) {
        answered = shared_best(&cut);
        asked = cut;
    }
    return answered;
}

static struct hs_blocking usual_strip(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius;
    const int warps = precision == HS_FLOAT ? HS_STRIP_WARPS_FLOAT : HS_STRIP_WARPS_DOUBLE;
    return (struct hs_blocking){.threads = {HS_WARP * warps, 1, 1}};
}

static void geometry_strip(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                           struct hs_geometry *out)
{
    const struct hs_strip_cut cut = cut_strips(sweep);
    const int steps = hs_tile_steps(sweep);
    const int size = (int)hs_precision_size(sweep->precision);
    const struct hs_box wide = hs_tiling_with_held(sweep);
    const int64_t rows = wide.hi[HS_Y] - wide.lo[HS_Y];
    const int deep = hs_divide_up(steps, cut.groups), threads = HS_WARP * cut.warps * cut.groups;
    const int64_t share = hs_divide_up(cut.strips * rows, cut.blocks); /* rows a block */
    const int tile = (int)(share < rows ? share : rows);
    hs_tile_set(sweep, cut.stored, tile, 1, out);
    out->input_tile[HS_X] = cut.points;
    out->input_tile[HS_Y] = tile + 2 * steps;
    hs_tile_finish(sweep, &wide, blocking->threads, out);
    out->threads[HS_X] = threads;
    out->blocks[HS_X] = cut.strips;
    out->blocks[HS_Y] = hs_divide_up(rows, tile);
    out->sharing = cut.blocks;
    /* in the mean: there are as many parts more than blocks as strips that two of these share */
    const int64_t parts = cut.blocks + cut.strips - 1;
    out->points_loaded = cut.points * (share + 2 * steps * parts / cut.blocks);
    out->points_written = cut.stored * share;
    /* rows on their way to each group and to memory; of a warp that is alone in its block also
     * those of its levels, at the ends of y, where the last ones are elsewhere */
    const int width = sweep->precision == HS_FLOAT ? HS_STRIP_WIDTH_FLOAT : HS_STRIP_WIDTH_DOUBLE;
    const int row = HS_WARP * width * size;
    const int places = 2 * cut.pairs * cut.places * cut.warps;
    const bool alone = cut.groups == 1 && blocking->threads[0] == HS_WARP;
    const int last = alone && 2 * deep > places ? 2 * deep : places;
    out->shared_bytes = (int64_t)row * (places * cut.groups + last);
}

const struct hs_tiling hs_tiling_fused_march_2d = {
    .kernel = "fused_march_2d",
    .features = HS_STENCIL | HS_2D | HS_RADIUS_1 | HS_ALL_PRECISIONS,
    .steps = {HS_STRIP_STEPS_FLOAT, HS_STRIP_STEPS_DOUBLE},
    .few = {0, HS_STRIP_FEW_DOUBLE},
    .usual = usual_strip,
    .geometry = geometry_strip,
};
