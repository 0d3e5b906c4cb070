/*
 * temporal_3d: two sweeps per launch; a 3D tile and its halo stay in shared memory throughout.
 *
 * As temporal_2d (see there). In 3D the halo is the cost: a tile of 32 x 8 x 8 points in float
 * loads 36 x 12 x 12 for two sweeps of radius 1, 2.5 times what it writes, and its first sweep
 * covers 1.7 times as much. Words per point and sweep: (2.5 + 1)/2 = 1.77 instead of 2, of which
 * the caches serve a part. A tile can hardly be larger: it lies in shared memory twice. So fast
 * kernels in 3D march along z and keep planes instead (fused_march_3d).
 *
 * Radius 1 and 2: with radius 3 a tile of 64 KiB would be all halo.
 *
 * Source: overlapped tiling: Krishnamoorthy et al., PLDI'07; Holewinski et al., ICS'12; its limits
 * in 3D: Nguyen et al., 3.5-D blocking optimization for stencil computations, SC'10.
 */
#include "temporal.cuh"

HS_CUDA_SWEEP(temporal_3d)
{
    return temporal::launch<3, 2>("temporal_3d", plan, sweep, err);
}
