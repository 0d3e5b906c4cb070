#include "plan.h"

HS_CUDA_SWEEP(bulk_march);

/* The number of tiles of a plane. `large` is chosen if there were more small tiles than
 * multiprocessors. */
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

/* Chunks along the marching axis are chosen so that multiprocessors finish together. */
static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    if (!hs_bulk_capable("bulk_march", limits, reason, size))
        return false;
    const int dims = of->dims, radius = of->radius, march = dims - 1;
    const int x = (dims == 2 ? HS_BULK_X_2D : HS_BULK_X) * HS_WARP * hs_tile_vector(of);
    const struct hs_box aligned = hs_tile_aligned(of);
    bool large;
    const int64_t tiles = tiles_of(of, &aligned, x, limits, &large);
    const int own = hs_bulk_rows(dims, large), stage = dims == 2 ? own : 1; /* planes per stage */
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
    hs_bulk_share(limits, g);
    const bool source = of->asked & HS_SOURCE_FIELD;
    const int stages = hs_bulk_stages(dims, radius, large, source),
              barriers = HS_BULK_BARRIER_BYTES * stages;
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
