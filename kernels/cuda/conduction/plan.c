#include "plan.h"

#include <stdio.h>

HS_CUDA_SWEEP(conduction_march);
HS_CUDA_SWEEP(conduction_bulk);
HS_CUDA_SWEEP(conduction_fused);

static int number_bytes(const struct hs_case *of)
{
    return of->asked & HS_BYTES ? 1 : 2;
}

/* The palette's copy in shared memory: G and dt/C of each row. */
static int64_t palette_bytes(const struct hs_case *of, int rows)
{
    enum { NUMBERS = 4 };
    return rows * hs_round_up(NUMBERS * (int64_t)hs_precision_size(of->precision), HS_VECTOR_BYTES);
}

static bool plan_march(const struct hs_case *of, const struct hs_device_limits *limits,
                       struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)reason, (void)size;
    const struct hs_box aligned = hs_tile_aligned(of);
    const int64_t *lo = aligned.lo, *hi = aligned.hi;
    struct hs_blocking own = {{HS_WARP, HS_CONDUCTION_WARPS, 1}, HS_CONDUCTION_PLANES};
    const int warps_x = of->dims == 2 ? HS_CONDUCTION_WARPS : 1,
              x = HS_WARP * hs_tile_vector(of) * warps_x;
    if (of->dims == 2)
        own.planes = (int)hs_tile_chunk(hs_divide_up(hi[HS_X] - lo[HS_X], x), hi[HS_Y] - lo[HS_Y],
                                        1, (int64_t)limits->multiprocessors * HS_CONDUCTION_BLOCKS);
    const struct hs_blocking blocking = hs_tile_blocking(of, own);
    hs_tile_set(of, x, of->dims == 2 ? blocking.planes : HS_CONDUCTION_WARPS,
                of->dims == 3 ? blocking.planes : 1, &out->launch);
    hs_tile_finish(of, &aligned, blocking.threads, &out->launch);
    out->recursion = 1;
    out->launch.points_loaded = hs_tile_star_points(of, out->launch.output_tile);
    out->launch.flops_per_point = hs_tile_conduction_flops(of);
    out->launch.shared_bytes =
        of->asked & HS_BYTES ? palette_bytes(of, HS_CONDUCTION_BYTE_ROWS) : 0;
    return true;
}

/* Chunks along z are chosen so that multiprocessors finish together. */
static bool plan_bulk(const struct hs_case *of, const struct hs_device_limits *limits,
                      struct hs_kernel_plan *out, char *reason, size_t size)
{
    if (!hs_bulk_capable("conduction_bulk", limits, reason, size))
        return false;
    const int bytes = (int)hs_precision_size(of->precision);
    const int x = HS_CONDUCTION_BULK_X * HS_WARP * hs_tile_vector(of);
    const int y = HS_CONDUCTION_BULK_Y;
    const struct hs_box box = hs_tile_aligned(of);
    const int64_t tiles =
        hs_divide_up(box.hi[HS_X] - box.lo[HS_X], x) * hs_divide_up(box.hi[HS_Y] - box.lo[HS_Y], y);
    const int64_t planes =
        hs_tile_chunk(tiles, box.hi[HS_Z] - box.lo[HS_Z], 1, limits->multiprocessors);
    const struct hs_blocking blocking =
        hs_tile_blocking(of, (struct hs_blocking){{HS_WARP, 1, 1}, (int)planes});
    const int threads[HS_AXES] = {HS_WARP * (HS_CONDUCTION_BULK_SUMMING + HS_BULK_COPYING), 1, 1};
    struct hs_geometry *g = &out->launch;
    hs_tile_set(of, x, y, blocking.planes, g);
    hs_tile_finish(of, &box, threads, g);
    const struct hs_bulk_chunks chunks = {(int)g->launched, blocking.planes, false};
    HS_PLAN_PUT(out, chunks);
    hs_bulk_share(limits, g);
    g->flops_per_point = hs_tile_conduction_flops(of);
    const int number = number_bytes(of);
    const int palette = (int)palette_bytes(of, hs_conduction_rows(number));
    const int stages = hs_conduction_bulk_stages(bytes, number, palette);
    const int stage = hs_conduction_bulk_stage_bytes(bytes, number) + HS_BULK_BARRIER_BYTES;
    g->shared_bytes = hs_round_up(stages * stage + palette, HS_BULK_LINE_BYTES);
    out->scratch = HS_BULK_SCRATCH;
    return true;
}

static bool plan_fused(const struct hs_case *given, const struct hs_device_limits *limits,
                       struct hs_kernel_plan *out, char *reason, size_t size)
{
    enum { THREADS = HS_WARP * HS_CONDUCTION_FUSED_WARPS };
    const int width = hs_tile_vector(given), lanes = HS_FUSED_X / width;
    const int rows =
        hs_fused_tile_y(given->precision, HS_CONDUCTION_FUSED_WARPS, HS_CONDUCTION_ROWS);
    const int groups = rows / HS_CONDUCTION_ROWS;
    const int least[HS_AXES] = {HS_FUSED_X, rows, HS_CONDUCTION_STEPS};
    if (!hs_tile_capable("conduction_fused", limits, 10, reason, size) ||
        !hs_fused_large_enough("conduction_fused", given, least, HS_CONDUCTION_STEPS, reason, size))
        return false;
    if (given->face[2 * HS_X].wrap && given->layout.points[HS_X] % width != 0) {
        snprintf(reason, size,
                 "conduction_fused needs a multiple of %d points along x where that is periodic, "
                 "not %lld",
                 width, (long long)given->layout.points[HS_X]);
        return false;
    }
    out->shift = hs_fused_shift(given);
    const struct hs_case of = hs_tile_case(given, out->steps, out->shift);
    const struct hs_fused_columns columns =
        hs_fused_tiles(&of, limits, THREADS, rows, hs_fused_cut_z, &out->launch);
    HS_PLAN_PUT(out, columns);
    out->launch.flops_per_point = hs_tile_conduction_flops(&of);
    /* the queue of level 0, and a line, up to which its rows may begin later; two edge rows of
     * every group of lanes, at the other levels, twice; numbers; and two barriers per warp */
    const int edges = of.steps > 1 ? of.steps - 1 : 1, number = number_bytes(&of);
    const int64_t all =
        HS_VECTOR_BYTES * lanes * (HS_CONDUCTION_DEPTH * rows + 4 * edges * (groups + 2)) +
        HS_FUSED_LINE_BYTES + palette_bytes(&of, hs_conduction_rows(number)) +
        of.steps * (HS_CONDUCTION_ROWS + 1) * THREADS * width * number +
        2 * 8 * HS_CONDUCTION_FUSED_WARPS;
    out->launch.shared_bytes = hs_round_up(all, HS_VECTOR_BYTES);
    return true;
}

const struct hs_kernel hs_kernel_cuda_conduction_march = {
    .name = "conduction_march",
    .idea = "a body of many materials: march with 16-byte loads, a node's row kept while it stays",
    .origin = "Micikevicius, GPGPU-2 (2009); Rawat et al., PPoPP'18",
    .device = HS_CUDA,
    .features = HS_CONDUCTION | HS_ALL_FORMS | HS_2D | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS |
                HS_ALL_VALUES | HS_SINK_TIME | HS_TAKES_PLANES,
    .steps = 1,
    .plan = plan_march,
    .sweep = hs_sweep_cuda_conduction_march,
};

const struct hs_kernel hs_kernel_cuda_conduction_bulk = {
    .name = "conduction_bulk",
    .idea = "a body of many materials: throttled march along z, rows and numbers ahead by TMA",
    .origin = "warps for loads and for sums: Bauer et al., CudaDMA, SC'11",
    .device = HS_CUDA,
    .features = HS_CONDUCTION | HS_PALETTE | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS |
                HS_ALL_VALUES | HS_SINK_TIME | HS_TAKES_PLANES,
    .steps = 1,
    .plan = plan_bulk,
    .sweep = hs_sweep_cuda_conduction_bulk,
};

const struct hs_kernel hs_kernel_cuda_conduction_fused = {
    .name = "conduction_fused",
    .idea = "a body of many materials: three sweeps in one march along z",
    .origin = "3.5D blocking: Nguyen et al., SC'10",
    .device = HS_CUDA,
    .features = HS_CONDUCTION | HS_PALETTE | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS |
                HS_UNIFORM_VALUES | HS_APPLIES_WALLS,
    .steps = HS_CONDUCTION_STEPS,
    .plan = plan_fused,
    .sweep = hs_sweep_cuda_conduction_fused,
};
