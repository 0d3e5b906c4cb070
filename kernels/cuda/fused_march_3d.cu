/*
 * fused_march_3d: several sweeps in one pass over memory.
 *
 * One sweep a launch must move two words a point, so the device copy bounds it. Here a block
 * marches a column of the grid along z and carries LEVELS time levels with it: when plane z of
 * level 0 arrives, plane z-1 of level 1 is made, from that plane z-2 of level 2, and so on, all
 * within one step of the march. Only level 0 is read and only the last level is written.
 *
 *        y                       a thread owns ROWS rows of WIDTH neighbouring points (16 bytes) of
 *        |  +--------------+     the tile, and of each level the two newest planes, in registers
 *        |  | halo         |
 *        |  |  +--------+  |     x neighbours: in the thread, or by shuffle from the next lane
 *        |  |  | stored |  |     y neighbours: in the thread, or its neighbours' edge rows by way
 * of |  |  +--------+  |                   shared memory, written one step before they are read, |
 * |              |                   so that one barrier a step serves all levels |
 * +--------------+     z neighbours: the two planes held, and the plane just made
 *        +------------- x
 *
 * Nothing is exchanged between blocks: the tile's rim of LEVELS points is swept redundantly. At the
 * grid's faces there is no rim: a ghost of a star of radius 1 depends on the node and its opposite
 * neighbour only, so the thread that needs one makes it on the spot, at every level. Blocks in the
 * grid's interior run a variant without any of that.
 *
 * Four levels; sources and boundary values may change with time but not from point to point
 * (fused_fields_3d takes those). Tiles of 64 x 64 points in float and 64 x 32 in double.
 *
 * Words per point and sweep: (1.3 + 1)/4 from and to device memory; in shared memory 2/4 read and
 * 2/4 written (edge rows of 4), and 2/4 (float) or 2/2 (double) shuffled.
 *
 * Blocks that run at the same time are at about the same z, so that tiles find in the caches what
 * their neighbours read and wrote, and few pages of memory are in use. Handing every block an equal
 * share of all columns instead took 1.1 (periodic) to 1.4 times (fixed walls) as long at 512^3 in
 * float with four levels, on an H200, 2026-11-21.
 *
 * Source: 3.5D blocking, Nguyen, Satish, Chhugani, Kim, Dubey, SC'10; one barrier a plane for all
 * levels and several rows a thread are ours.
 */
#include "fused_march.cuh"

namespace
{

void geometry(const hs_sweep *sweep, hs_geometry *out)
{
    hs_tiling_launch("fused_march_3d", sweep, out);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    return fused_march::launch<HS_FUSED_STEPS, false>("fused_march_3d", sweep, err);
}

bool suits(const hs_problem *problem, char *reason, size_t size)
{
    return fused_march::suits("fused_march_3d", problem, reason, size);
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_fused_march_3d = {
    .name = "fused_march_3d",
    .idea = "3D: four sweeps in one march along z, their planes in registers",
    .origin = "3.5D blocking: Nguyen et al., SC'10",
    .device = HS_CUDA,
    .dims = 1u << 3,
    .radius = 1u << 1,
    .precision = HS_ALL_PRECISIONS,
    .steps = HS_FUSED_STEPS,
    .own_ghosts = true,
    .uniform = true,
    .suits = suits,
    .geometry = geometry,
    .sweep = sweep,
};
