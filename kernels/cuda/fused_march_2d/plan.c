#include "plan.h"

#include <stdio.h>

HS_CUDA_SWEEP(fused_march_2d);

/* Width in points of this many warps side by side. */
static int strip_points(int width, int warps)
{
    return (HS_WARP * width - HS_STRIP_OVERLAP) * (warps - 1) + HS_WARP * width;
}

/* The blocks needed if the parts of each may cost `cut->most`, with as many rows as that allows. */
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
        int64_t parts = 0; /* before the part that makes the strip's end */
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

/* Shares out with the least cut->most for which the blocks suffice. */
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

/* The cost of a part of rows lo to hi - 1, including its steps through an end that another part
 * stores. */
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

/* If the parts at the ends of y have enough rows, their neighbours take no step at a face. On small
 * grids that would be more rows than the other parts have. */
static struct hs_strip_cut shared_best(const struct hs_strip_cut *cut)
{
    enum { FEW = 8 };
    const struct hs_strip_cut few = shared_by(*cut, FEW, FEW);
    if (cut->cost.end_step == 0)
        return few;
    const struct hs_strip_cut enough = shared_by(*cut, 2 * cut->steps + 2, cut->steps + 1);
    return dearest(&few) < dearest(&enough) ? few : enough;
}

/* The cut without the table and the members that are computed with it. */
static struct hs_strip_cut cut_strips(const struct hs_case *of,
                                      const struct hs_device_limits *limits)
{
    const bool single = of->precision == HS_FLOAT;
    const int size = (int)hs_precision_size(of->precision);
    const int steps = of->steps;
    const struct hs_strip_block block = hs_strip_block_of(size, steps);
    const bool few = single || steps <= HS_STRIP_FEW_DOUBLE;
    const bool wrap_x = of->face[2 * HS_X].wrap;
    const struct hs_box wide = hs_tile_with_held(of);
    const int64_t nx = wide.hi[HS_X] - wide.lo[HS_X];
    const int64_t ny = wide.hi[HS_Y] - wide.lo[HS_Y];
    struct hs_strip_cut cut = {
        .groups = block.groups, .warps = block.warps, .places = block.places, .pairs = block.pairs};
    while (cut.warps > 1 && strip_points(block.width, cut.warps) > nx)
        cut.warps--;
    cut.points = strip_points(block.width, cut.warps);
    cut.halo = (int)hs_round_up(steps, hs_tile_vector(of));
    cut.stored = cut.points - 2 * cut.halo;
    /* as in hs_fused_cut_x: rows are stored from multiples of 32 bytes */
    cut.lead = wrap_x ? cut.stored : (cut.points - cut.halo) / (32 / size) * (32 / size);
    const int64_t more = wrap_x ? nx - cut.stored : nx - cut.points - cut.lead + cut.halo;
    cut.strips = nx <= (wrap_x ? cut.stored : cut.points) ? 1
                 : wrap_x                                 ? 1 + hs_divide_up(more, cut.stored)
                 : more > 0                               ? 2 + hs_divide_up(more, cut.stored)
                                                          : 2;
    const bool wrap_y = of->face[2 * HS_Y].wrap;
    const bool held = of->face[2 * HS_X].held && of->face[2 * HS_X + 1].held;
    /* Fitted to what an H200 took (docs/performance/fused-2d-1d.md); a wrong figure costs time but
     * changes no values. In float eight blocks share a multiprocessor, so a block that waits at an
     * end leaves it to the others. */
    const int end_step = wrap_y ? 0 : 16 * (single ? 6 : 2);
    cut.steps = steps;
    cut.rows = (int)of->layout.points[HS_Y];
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
    const int64_t blocks = limits->multiprocessors * (int64_t)block.beside;
    const int64_t most = cut.strips * ny / 8;
    cut.blocks = (int)(most < 1 ? 1 : most < blocks ? most : blocks);
    return cut;
}

struct hs_strip_cut hs_strip_cuts(const struct hs_case *of, const struct hs_device_limits *limits)
{
    const struct hs_strip_cut cut = cut_strips(of, limits);
    return cut.strips > HS_STRIP_TABLE ? cut : shared_best(&cut);
}

static void launch_of(const struct hs_case *of, const struct hs_strip_cut *cut,
                      struct hs_geometry *g)
{
    const int size = (int)hs_precision_size(of->precision);
    const struct hs_box wide = hs_tile_with_held(of);
    const int64_t rows = wide.hi[HS_Y] - wide.lo[HS_Y];
    const int64_t share = hs_divide_up(cut->strips * rows, cut->blocks); /* rows a block */
    const int tile = (int)(share < rows ? share : rows);
    const int threads[HS_AXES] = {HS_WARP * cut->warps * cut->groups, 1, 1};
    hs_tile_set(of, cut->stored, tile, 1, g);
    g->input_tile[HS_X] = cut->points;
    g->input_tile[HS_Y] = tile + 2 * of->steps;
    hs_tile_finish(of, &wide, threads, g);
    g->blocks[HS_X] = cut->strips;
    g->blocks[HS_Y] = hs_divide_up(rows, tile);
    g->launched = cut->blocks;
    /* on average: every strip that two blocks share adds a part to the number of blocks */
    const int64_t parts = cut->blocks + cut->strips - 1;
    g->points_loaded = cut->points * (share + 2 * of->steps * parts / cut->blocks);
    g->points_written = cut->stored * share;
    g->shared_bytes = hs_strip_shared_bytes(size, of->steps);
}

static bool plan(const struct hs_case *given, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    const bool single = given->precision == HS_FLOAT;
    const int64_t *points = given->layout.points;
    const int least = HS_WARP * (single ? HS_STRIP_WIDTH_FLOAT : HS_STRIP_WIDTH_DOUBLE);
    if (!hs_tile_capable("fused_march_2d", limits, 9, reason, size))
        return false;
    if (points[HS_X] < least) {
        snprintf(reason, size, "fused_march_2d needs at least %d points along x, not %lld", least,
                 (long long)points[HS_X]);
        return false;
    }
    if (points[HS_X] > INT32_MAX / 4 || points[HS_Y] > INT32_MAX / 4) {
        snprintf(reason, size, "fused_march_2d needs fewer than 2^29 points along an axis");
        return false;
    }
    out->steps = single ? HS_STRIP_STEPS_FLOAT : HS_STRIP_STEPS_DOUBLE;
    out->takes = single ? HS_STRIP_TAKES_FLOAT : HS_STRIP_TAKES_DOUBLE;
    const struct hs_case of = hs_tile_case(given, out->steps, 0);
    const struct hs_strip_cut cut = hs_strip_cuts(&of, limits);
    HS_PLAN_PUT(out, cut);
    launch_of(&of, &cut, &out->launch);
    return true;
}

const struct hs_kernel hs_kernel_cuda_fused_march_2d = {
    .name = "fused_march_2d",
    .idea = "2D: up to 24 sweeps in one march along y, their rows in registers",
    .origin = "3.5D blocking: Nguyen et al., SC'10; AN5D: Matsumura et al., CGO'20",
    .device = HS_CUDA,
    .features =
        HS_STENCIL | HS_2D | HS_RADIUS_1 | HS_ALL_PRECISIONS | HS_UNIFORM_VALUES | HS_APPLIES_WALLS,
    .steps = HS_STRIP_STEPS_DOUBLE,
    .plan = plan,
    .sweep = hs_sweep_cuda_fused_march_2d,
};
