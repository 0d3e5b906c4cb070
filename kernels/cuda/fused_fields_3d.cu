/*
 * fused_fields_3d: fused_march_3d for sources and boundary values that differ from point to point.
 *
 * As fused_march_3d, which see, with the source's planes queued in shared memory beside level 0's,
 * and the faces' values read where they are needed. That takes registers and shared memory, so
 * three levels are what fits.
 *
 * Words per point and sweep: (1.3 + 1.3 + 1)/3 from and to device memory with a source field.
 */
#include "fused_march.cuh"

namespace
{

void geometry(const hs_sweep *sweep, hs_geometry *out)
{
    hs_tiling_launch("fused_fields_3d", sweep, out);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    return fused_march::launch<HS_FUSED_FIELDS_STEPS, true>("fused_fields_3d", sweep, err);
}

bool suits(const hs_problem *problem, char *reason, size_t size)
{
    return fused_march::suits("fused_fields_3d", problem, reason, size);
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_fused_fields_3d = {
    .name = "fused_fields_3d",
    .idea = "3D: three sweeps in one march along z, with sources and boundary values that vary",
    .origin = "3.5D blocking: Nguyen et al., SC'10",
    .device = HS_CUDA,
    .dims = 1u << 3,
    .radius = 1u << 1,
    .precision = HS_ALL_PRECISIONS,
    .steps = HS_FUSED_FIELDS_STEPS,
    .own_ghosts = true,
    .suits = suits,
    .geometry = geometry,
    .sweep = sweep,
};
