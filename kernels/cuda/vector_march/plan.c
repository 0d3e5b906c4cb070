#include "plan.h"

HS_CUDA_SWEEP(vector_march);

static bool plan(const struct hs_case *of, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    (void)reason, (void)size;
    const int radius = of->radius, vector = hs_tile_vector(of);
    const struct hs_box aligned = hs_tile_aligned(of);
    const int64_t *lo = aligned.lo, *hi = aligned.hi;
    struct hs_blocking own = {{HS_WARP, HS_VECTOR_WARPS, 1}, 0};
    int x = HS_WARP * vector, y = 1;
    if (of->dims == 1) {
        own.threads[HS_X] = HS_VECTOR_1D_THREADS, own.threads[HS_Y] = 1;
        x = HS_VECTOR_1D_THREADS * vector * HS_VECTOR_1D_VECTORS;
    } else if (of->dims == 2) {
        x *= HS_VECTOR_WARPS;
        own.planes =
            (int)hs_tile_chunk(hs_divide_up(hi[HS_X] - lo[HS_X], x), hi[HS_Y] - lo[HS_Y], radius,
                               (int64_t)limits->multiprocessors * hs_vector_blocks(2, radius));
    } else {
        y = HS_VECTOR_WARPS * hs_vector_rows(3, radius);
        own.planes = radius < 3 ? HS_VECTOR_PLANES : 2 * HS_VECTOR_PLANES;
    }
    const struct hs_blocking blocking = hs_tile_blocking(of, own);
    hs_tile_set(of, x, of->dims == 2 ? blocking.planes : y, of->dims == 3 ? blocking.planes : 1,
                &out->launch);
    hs_tile_finish(of, &aligned, blocking.threads, &out->launch);
    out->recursion = 1;
    out->launch.points_loaded = hs_tile_star_points(of, out->launch.output_tile);
    return true;
}

const struct hs_kernel hs_kernel_cuda_vector_march = {
    .name = "vector_march",
    .idea = "march along the slowest axis with 16-byte loads, registers and shuffles only",
    .origin = "Micikevicius, GPGPU-2 (2009); Rawat et al., PPoPP'18",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_TAKES_PLANES,
    .steps = 1,
    .plan = plan,
    .sweep = hs_sweep_cuda_vector_march,
};
