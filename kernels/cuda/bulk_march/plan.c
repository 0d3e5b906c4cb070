#include "plan.h"
#include "tiles.h"

static int bulk_threads(int dims, bool large)
{
    const int above = large ? HS_BULK_Y_LARGE : HS_BULK_Y;
    return HS_WARP * ((dims == 2 ? HS_BULK_X_2D : HS_BULK_X * above) + HS_BULK_COPYING);
}

static struct hs_blocking usual_bulk_march(int dims, int radius, enum hs_precision precision)
{
    (void)radius, (void)precision;
    return (struct hs_blocking){{bulk_threads(dims, false), 1, 1}, 0};
}

/* The chunks along the axis that is marched along are such that the multiprocessors end together.
 */
static void geometry_bulk_march(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                struct hs_geometry *out)
{
    const int dims = sweep->stencil->dims, radius = sweep->stencil->radius, march = dims - 1;
    const int size = (int)hs_precision_size(sweep->precision), vector = HS_VECTOR_BYTES / size;
    const int line = HS_BULK_LINE_BYTES / size;
    struct hs_box aligned = sweep->box;
    aligned.lo[HS_X] = sweep->box.lo[HS_X] / line * line;
    const int64_t *lo = aligned.lo, *hi = aligned.hi;
    const int x = (dims == 2 ? HS_BULK_X_2D : HS_BULK_X) * HS_WARP * vector;
    int64_t tiles = hs_divide_up(hi[HS_X] - lo[HS_X], x), columns = tiles;
    bool large = false;
    if (dims == 3) {
        const int64_t rows = hi[HS_Y] - lo[HS_Y];
        large = radius == 1 &&
                columns * hs_divide_up(rows, hs_bulk_rows(dims, false)) > HS_MULTIPROCESSORS;
        tiles = columns * hs_divide_up(rows, hs_bulk_rows(dims, large));
    }
    const int own = hs_bulk_rows(dims, large), stage = dims == 2 ? own : 1; /* planes of a stage */
    const int64_t planes =
        blocking->planes ? blocking->planes
                         : stage * hs_tile_chunk(tiles, hs_divide_up(hi[march] - lo[march], stage),
                                                 radius, HS_MULTIPROCESSORS);
    hs_tile_set(sweep, x, dims == 2 ? (int)planes : own, dims == 2 ? 1 : (int)planes, out);
    const int threads[HS_AXES] = {bulk_threads(dims, large), 1, 1};
    hs_tile_finish(sweep, &aligned, threads, out);
    const bool source = sweep->source != NULL;
    const int stages = hs_bulk_stages(dims, radius, large, source), barriers = 3 * 8 * stages;
    const int64_t all = stages * hs_bulk_stage_bytes(dims, radius, large, source) + barriers +
                        hs_bulk_end_bytes(dims, radius, large);
    out->shared_bytes = hs_divide_up(all, HS_BULK_LINE_BYTES) * HS_BULK_LINE_BYTES;
}

const struct hs_tiling hs_tiling_bulk_march = {
    .kernel = "bulk_march",
    .features = HS_STENCIL | HS_2D | HS_3D | HS_ALL_RADII | HS_ALL_PRECISIONS,
    .steps = {1, 1},
    .usual = usual_bulk_march,
    .geometry = geometry_bulk_march,
};
