/*
 * resident: a small grid stays on the chip, in registers, for up to HS_RESIDENT_STEPS sweeps per
 * launch.
 *
 * On a small grid a launch costs more than the sweep: 64^3 points in float are 1 MiB, which all
 * multiprocessors together read from the cache in a quarter of a microsecond, but a launch in a
 * CUDA graph takes 1.3. Here all blocks run at once, and each keeps a box of the grid in its
 * threads' registers (block.cuh):
 *
 *   +-----------------+   a thread has ROWS x PLANES vectors of 16 bytes
 *   | halo: depth     |   x neighbours: in the thread, or by shuffle from the next lane
 *   |   +---------+   |   y, z neighbours: in the thread, or the neighbour's outer vectors through
 *   |   | own     |   |     one of two tiles in shared memory
 *   |   +---------+   |   each sweep makes one layer of the halo invalid; after `depth` sweeps the
 *   |                 |     halo is received anew. Its outermost layer is in the tile only, since
 *   +-----------------+     nothing is swept there
 *
 * Blocks do not meet at a barrier, and there are no flags or fences: vectors are sent as packets
 * that carry their own flag (packets.cuh, exchange.cuh). A sweep is in sweep.cuh.
 *
 * Waiting for each other is safe only if all blocks run: the launch is cooperative, so that
 * otherwise the device refuses it, and plan() requires one multiprocessor per block.
 *
 * Values that change with time come from a table of the launch's sweeps, fetched two sweeps ahead;
 * constant ones come from the arguments. Data that vary from point to point, a source (source.cuh)
 * or boundary data (walls.cuh), must be constant in time: they are read once per launch and kept on
 * the chip too.
 *
 * Measurements, what limits it, and what was tried: docs/performance/small-grids.md.
 *
 * Source: persistent kernels that keep their data on the chip: Zhang, Wahib, Chen, Meng, Wang,
 * Endo, Matsuoka, ICS'23 (PERKS), with grid barriers; data that are their own flag: the "LL"
 * protocol of NVIDIA's NCCL, with half of its words.
 */
#include "plan.h"

namespace resident
{

/* Each is compiled in an object of its own. */
template <typename T, int DIMS>
hs_status launch(const hs_kernel_plan *plan, const hs_sweep *sweep, hs_error *err);
extern template hs_status launch<float, 2>(const hs_kernel_plan *, const hs_sweep *, hs_error *);
extern template hs_status launch<float, 3>(const hs_kernel_plan *, const hs_sweep *, hs_error *);
extern template hs_status launch<double, 2>(const hs_kernel_plan *, const hs_sweep *, hs_error *);
extern template hs_status launch<double, 3>(const hs_kernel_plan *, const hs_sweep *, hs_error *);

} // namespace resident

HS_CUDA_SWEEP(resident)
{
    const bool flat = sweep->op->stencil.dims == 2;
    if (sweep->precision == HS_FLOAT)
        return flat ? resident::launch<float, 2>(plan, sweep, err)
                    : resident::launch<float, 3>(plan, sweep, err);
    return flat ? resident::launch<double, 2>(plan, sweep, err)
                : resident::launch<double, 3>(plan, sweep, err);
}
