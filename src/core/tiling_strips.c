#include "core/tiling_strips.h"
#include "core/tiling_parts.h"

/* Points of so many warps side by side. */
static int strip_points(int width, int warps)
{
    return (HS_WARP * width - HS_STRIP_SEAM) * (warps - 1) + HS_WARP * width;
}

struct hs_strip_cut hs_strip_cuts(const struct hs_sweep *sweep)
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
    const int deep = hs_divide_up(steps, cut.groups);
    cut.warps = single ? HS_STRIP_WARPS_FLOAT : few ? HS_STRIP_WARPS_DOUBLE : HS_STRIP_WARPS_MANY;
    while (cut.warps > 1 && strip_points(width, cut.warps) > nx)
        cut.warps--;
    cut.points = strip_points(width, cut.warps);
    cut.rim = hs_divide_up(steps, HS_VECTOR_BYTES / size) * (HS_VECTOR_BYTES / size);
    cut.stored = cut.points - 2 * cut.rim;
    /* as in hs_fused_cut_x: rows are stored from multiples of 32 bytes */
    cut.lead = wrap_x ? cut.stored : (cut.points - cut.rim) / (32 / size) * (32 / size);
    const int64_t more = wrap_x ? nx - cut.stored : nx - cut.points - cut.lead + cut.rim;
    cut.strips = nx <= (wrap_x ? cut.stored : cut.points) ? 1
                 : wrap_x                                 ? 1 + hs_divide_up(more, cut.stored)
                 : more > 0                               ? 2 + hs_divide_up(more, cut.stored)
                                                          : 2;
    cut.fill = 2 * steps;
    /* Measured on an H200, which moves only where blocks end, so that a wrong one costs time, not
     * values: 4 to 24 rows a level at faces make no difference that could be seen. Outer strips
     * that are counted as a sixteenth too cheap cost 1 to 4 %, as one too dear 0.2 %: with held
     * faces 18 to 21 sixteenths do, with others in double more than 23, across a wrap more than 24.
     * With many levels an end at a face takes as long as 90 rows by the clocks of blocks; 100 are 1
     * % faster than 36 with reflective faces, the same with fixed ones, where 280 are 2 % slower.
     */
    const bool held = sweep->face[2 * HS_X].held && sweep->face[2 * HS_X + 1].held;
    cut.slow = few ? 12 * deep : 100;
    cut.outer = wrap_x ? 29 : held ? 21 : 26;
    const int64_t blocks = HS_MULTIPROCESSORS * (int64_t)(cut.groups > 2 ? 1
                                                          : single       ? HS_STRIP_BLOCKS_FLOAT
                                                                         : HS_STRIP_BLOCKS_DOUBLE);
    const int64_t most = cut.strips * ny / 8;
    cut.blocks = (int)(most < 1 ? 1 : most < blocks ? most : blocks);
    return cut;
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
    .dims = 1u << 2,
    .radius = 1u << 1,
    .steps = {HS_STRIP_STEPS_FLOAT, HS_STRIP_STEPS_DOUBLE},
    .few = {0, HS_STRIP_FEW_DOUBLE},
    .usual = usual_strip,
    .geometry = geometry_strip,
};
