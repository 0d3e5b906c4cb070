#include "core/tiling_strips.h"
#include "core/tiling_parts.h"

/* Points of so many warps side by side, which overlap by those that levels make wrong. */
static int strip_points(int width, int warps, int deep)
{
    return width * HS_WARP * warps - 2 * deep * (warps - 1);
}

struct hs_strip_cut hs_strip_cuts(const struct hs_sweep *sweep)
{
    const bool single = sweep->precision == HS_FLOAT;
    const int size = (int)hs_precision_size(sweep->precision);
    const int steps = hs_tile_steps(sweep);
    const int width = single ? HS_STRIP_WIDTH_FLOAT : HS_STRIP_WIDTH_DOUBLE;
    const int deepest = single ? HS_STRIP_DEEP_FLOAT : HS_STRIP_DEEP_DOUBLE;
    const bool wrap_x = sweep->face[2 * HS_X].wrap;
    const struct hs_box wide = hs_tiling_with_held(sweep);
    const int64_t nx = wide.hi[HS_X] - wide.lo[HS_X];
    const int64_t ny = wide.hi[HS_Y] - wide.lo[HS_Y];
    struct hs_strip_cut cut = {.groups = hs_divide_up(steps, deepest)};
    const int deep = hs_divide_up(steps, cut.groups);
    cut.warps = cut.groups > 1 ? HS_STRIP_WARPS : 1;
    while (cut.warps > 1 && strip_points(width, cut.warps, deep) > nx)
        cut.warps--;
    cut.points = strip_points(width, cut.warps, deep);
    cut.rim = hs_divide_up(steps, HS_VECTOR_BYTES / size) * (HS_VECTOR_BYTES / size);
    cut.stored = cut.points - 2 * cut.rim;
    /* as in hs_fused_cut_x: the first strip is stored to a multiple of 32 bytes */
    cut.lead = wrap_x ? cut.stored : (cut.points - cut.rim) / (32 / size) * (32 / size);
    const int64_t more = wrap_x ? nx - cut.stored : nx - cut.points - cut.lead + cut.rim;
    cut.strips = nx <= (wrap_x ? cut.stored : cut.points) ? 1
                 : wrap_x                                 ? 1 + hs_divide_up(more, cut.stored)
                 : more > 0                               ? 2 + hs_divide_up(more, cut.stored)
                                                          : 2;
    cut.fill = 2 * steps + (cut.groups > 1 ? 2 * HS_STRIP_PLACES : 0);
    /* Measured on an H200, which moves only where blocks end, so that a wrong one costs time, not
     * values. Of one warp 4 to 24 rows a level at faces make no difference that could be seen;
     * outer strips that are counted as a sixteenth too cheap cost 1 to 4 %, as one too dear 0.2 %:
     * with held faces 18 to 21 sixteenths do, across a wrap more than 24. Of groups by the clocks
     * that each block took: a row of an outer strip 18.8, across a wrap 15.7 and with other
     * faces 26.8 sixteenths of another, an end at a face of y 140 to 180 rows. */
    const bool held = sweep->face[2 * HS_X].held && sweep->face[2 * HS_X + 1].held;
    const bool alone = cut.groups == 1;
    cut.slow = alone ? 12 * deep : held ? 160 : 200;
    cut.outer = wrap_x ? (alone ? 29 : 16) : held ? (alone ? 21 : 20) : alone ? 26 : 29;
    const int64_t blocks = HS_MULTIPROCESSORS * (int64_t)(cut.groups > 1 ? 1 : HS_STRIP_BLOCKS);
    const int64_t most = cut.strips * ny / 8;
    cut.blocks = (int)(most < 1 ? 1 : most < blocks ? most : blocks);
    return cut;
}

static struct hs_blocking usual_strip(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius;
    const int warps = precision == HS_FLOAT ? 1 : HS_STRIP_WARPS;
    return (struct hs_blocking){.threads = {HS_WARP * warps, 1, 1}};
}

static void geometry_strip(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                           struct hs_geometry *out)
{
    const struct hs_strip_cut cut = hs_strip_cuts(sweep);
    const int steps = hs_tile_steps(sweep);
    const int size = (int)hs_precision_size(sweep->precision);
    const struct hs_box wide = hs_tiling_with_held(sweep);
    const int64_t rows = wide.hi[HS_Y] - wide.lo[HS_Y];
    const int deep = hs_divide_up(steps, cut.groups), threads = HS_WARP * cut.warps * cut.groups;
    const int tile = hs_divide_up(rows, hs_divide_up(cut.blocks, cut.strips));
    hs_tile_set(sweep, cut.stored, tile, 1, out);
    out->input_tile[HS_X] = cut.points;
    out->input_tile[HS_Y] = tile + 2 * steps;
    hs_tile_finish(sweep, &wide, blocking->threads, out);
    out->threads[HS_X] = threads;
    /* about: cut.blocks is no multiple of the strips, of which a block may have parts of two */
    out->blocks[HS_X] = cut.strips;
    out->blocks[HS_Y] = hs_divide_up(rows, tile);
    /* pairs of rows on their way: from memory, between groups and to memory; of a warp that is
     * alone also those of its levels, at the ends of y, where the last ones are elsewhere */
    const int alone = 2 * HS_STRIP_PLACES + (deep > HS_STRIP_PLACES ? deep - HS_STRIP_PLACES : 0);
    const int pairs = cut.groups > 1 ? HS_STRIP_AHEAD + cut.groups * HS_STRIP_PLACES + 1 : alone;
    out->shared_bytes = (int64_t)cut.points * size * 2 * pairs;
}

const struct hs_tiling hs_tiling_fused_march_2d = {
    .kernel = "fused_march_2d",
    .dims = 1u << 2,
    .radius = 1u << 1,
    .steps = {HS_STRIP_STEPS_FLOAT, HS_STRIP_STEPS_DOUBLE},
    .usual = usual_strip,
    .geometry = geometry_strip,
};
