/*
 * temporal_3d: two sweeps a launch; a 3D tile and its halo stay in shared memory meanwhile.
 *
 * As temporal_2d, which see. In 3D the halo is what it costs: a tile of 32 x 8 x 8 points in float
 * loads 36 x 12 x 12 for two sweeps of radius 1, 2.5 times what it writes, and sweeps 1.7 times as
 * much at the first. Words per point and sweep: (2.5 + 1)/2 = 1.77 instead of 2, of which the
 * caches serve a part. A tile can hardly be larger: it stands twice in shared memory. That is why
 * what is fast in 3D marches along z and keeps planes instead (fused_march_3d).
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
