#include "plan.h"

#include <stdio.h>

HS_CUDA_SWEEP(bulk_march);

/* The tiles of a plane: `large` where those of the other shape are more than multiprocessors. */
static int64_t tiles_of(const struct hs_case *of, const struct hs_box *box, int x,
                        const struct hs_device_limits *limits, bool *large)
{
    const int64_t columns = hs_divide_up(box->hi[HS_X] - box->lo[HS_X], x);
    const int64_t rows = box->hi[HS_Y] - box->lo[HS_Y];
    *large = false;
    if (of->dims == 2)
        return columns;
    *large = of->radius == 1 &&
             columns * hs_divide_up(rows, hs_bulk_rows(3, false)) > limits->multiprocessors;
    return columns * hs_divide_up(rows, hs_bulk_rows(3, *large));
}

/* No more blocks than run at once, each with as many chunks as the others or one less. */
static void share(const struct hs_device_limits *limits, struct hs_geometry *g)
{
    const int64_t chunks = g->launched;
    if (chunks <= limits->multiprocessors)
        return;
    g->launched = hs_divide_up(chunks, hs_divide_up(chunks, limits->multiprocessors));
    g->points_loaded = g->points_loaded * chunks / g->launched;
    g->points_written = g->points_written * chunks / g->launched;
}

/* The chunks along the axis that is marched along are such that the multiprocessors end together.
 */
static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    if (limits->capability[0] < 9 || limits->shared_bytes_per_block < HS_BULK_SHARED_BYTES) {
        snprintf(reason, size,
                 "bulk_march needs a GPU of compute capability 9 or later with %d bytes of shared "
                 "memory a block",
                 HS_BULK_SHARED_BYTES);
        return false;
    }
    const int dims = of->dims, radius = of->radius, march = dims - 1;
    const int vector = HS_VECTOR_BYTES / (int)hs_precision_size(of->precision);
    const int line = HS_BULK_LINE_BYTES / (int)hs_precision_size(of->precision);
    const int x = (dims == 2 ? HS_BULK_X_2D : HS_BULK_X) * HS_WARP * vector;
    struct hs_box aligned = of->box;
    aligned.lo[HS_X] = of->box.lo[HS_X] / line * line;
    bool large;
    const int64_t tiles = tiles_of(of, &aligned, x, limits, &large);
    const int own = hs_bulk_rows(dims, large), stage = dims == 2 ? own : 1; /* planes of a stage */
    const int64_t stages_in_all = hs_divide_up(aligned.hi[march] - aligned.lo[march], stage);
    const struct hs_blocking blocking = hs_tile_blocking(
        of, (struct hs_blocking){
                {HS_WARP, 1, 1},
                stage * (int)hs_tile_chunk(tiles, stages_in_all, radius, limits->multiprocessors)});
    const int planes = blocking.planes;
    struct hs_geometry *g = &out->launch;
    hs_tile_set(of, x, dims == 2 ? planes : own, dims == 2 ? 1 : planes, g);
    const int above = large ? HS_BULK_Y_LARGE : HS_BULK_Y;
    const int summing = dims == 2 ? HS_BULK_X_2D : HS_BULK_X * above;
    const int threads[HS_AXES] = {HS_WARP * (summing + HS_BULK_COPYING), 1, 1};
    hs_tile_finish(of, &aligned, threads, g);
    const struct hs_bulk_chunks chunks = {(int)g->launched, planes, large};
    HS_PLAN_PUT(out, chunks);
    share(limits, g);
    const bool source = of->asked & HS_SOURCE_FIELD;
    const int stages = hs_bulk_stages(dims, radius, large, source), barriers = 3 * 8 * stages;
    const int64_t all = stages * hs_bulk_stage_bytes(dims, radius, large, source) + barriers +
                        hs_bulk_end_bytes(dims, radius, large);
    g->shared_bytes = hs_round_up(all, HS_BULK_LINE_BYTES);
    out->scratch = HS_BULK_SCRATCH;
    return true;
}

const struct hs_kernel hs_kernel_cuda_bulk_march = {
    .name = "bulk_march",
    .idea = "throttled march along the slowest axis, whole rows ahead by TMA",
    .origin = "warps for loads and for sums: Bauer et al., CudaDMA, SC'11",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_2D | HS_3D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_TAKES_PLANES,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_bulk_march,
};
