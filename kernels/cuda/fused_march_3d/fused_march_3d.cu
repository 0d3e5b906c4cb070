/*
 * fused_march_3d: four sweeps in one pass over memory.
 *
 * One sweep per launch must move two words per point, so the bandwidth of a copy bounds it. Here a
 * block marches a column of the grid along z and carries LEVELS time levels: when plane z of level
 * 0 arrives, plane z-1 of level 1 is made, from it plane z-2 of level 2, and so on, all within one
 * step of the march. Only level 0 is read and only the last level is written.
 *
 *     y   +--------------+   a thread owns ROWS rows of WIDTH neighbouring points (16 bytes) of
 *     |   | halo         |   the tile, and of each level the two newest planes, in registers
 *     |   |  +--------+  |
 *     |   |  | stored |  |   x neighbours: in the thread, or by shuffle from the next lane
 *     |   |  +--------+  |   y neighbours: in the thread, or its neighbours' edge rows by way of
 *     |   |              |                 shared memory, written one step before they are read
 *     |   +--------------+   z neighbours: the two planes held, and the plane just made
 *     +---------------- x
 *
 * Blocks exchange nothing: the tile's halo of LEVELS points is swept redundantly. At the grid's
 * faces there is no halo: a ghost of a star of radius 1 depends only on the node and its opposite
 * neighbour, so the thread that needs it makes it, at every level. Warps wait for their two
 * neighbours (mbarriers), not for all. A row is aligned in shared memory as in its lines of 128
 * bytes in the field. In double the first and last warps of a tile, which own its halo along y,
 * skip the rows that no later level needs. Chunks along z become shorter towards the end, so that
 * the multiprocessors finish together (chunks.c).
 *
 * A recursion fuses three: X_n-1 comes to shared memory like planes of level 0; the plane before
 * its input that a later level needs is still there. The last two levels are stored.
 *
 * Sources and boundary values may change with time but not from point to point (fused_fields_3d
 * takes those). Tiles of 64 x 64 points in float, 64 x 32 in double.
 *
 * Words per point and sweep: (1.3 + 1)/4 from and to device memory, in a recursion (2.5 + 2)/3; in
 * shared memory 1.5/4 read and 1.5/4 written (edge rows of 4), and 2/4 (float) or 2/2 (double)
 * shuffled.
 *
 * Reaches 2.6 (float) and 2.8 (double) of the copy's bandwidth at 512^3 on an H200; what limits it,
 * which steps led there and what was tried: docs/performance/fused-3d.md.
 *
 * Source: 3.5D blocking, Nguyen, Satish, Chhugani, Kim, Dubey, SC'10; one barrier a plane for all
 * levels, between neighbouring warps only, and several rows a thread are ours.
 */
#include "march.cuh"

namespace
{

template <typename T>
hs_status sweep_in(const hs_kernel_plan *plan, const hs_sweep *sweep, hs_error *err)
{
    using namespace fused_march;
    static const char name[] = "fused_march_3d";
    if (sweep->recursion)
        return launch<T, HS_FUSED_RECURSION, X_BEFORE>(name, plan, sweep, err);
    return sweep->steps == HS_FUSED_STEPS
               ? launch_with_max_norm<T, HS_FUSED_STEPS, NO_FIELDS>(name, plan, sweep, err)
               : launch<T, HS_FUSED_STEPS - 1, NO_FIELDS, HS_FUSED_TAKES>(name, plan, sweep, err);
}

} // namespace

HS_CUDA_SWEEP(fused_march_3d)
{
    return sweep->precision == HS_FLOAT ? sweep_in<float>(plan, sweep, err)
                                        : sweep_in<double>(plan, sweep, err);
}
