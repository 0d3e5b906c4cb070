/*
 * fused_march_3d: several sweeps in one pass over memory.
 *
 * One sweep a launch must move two words a point, so the device copy bounds it. Here a block
 * marches a column of the grid along z and carries LEVELS time levels with it: when plane z of
 * level 0 arrives, plane z-1 of level 1 is made, from that plane z-2 of level 2, and so on, all
 * within one step of the march. Only level 0 is read and only the last level is written.
 *
 *     y   +--------------+   a thread owns ROWS rows of WIDTH neighbouring points (16 bytes) of
 *     |   | rim          |   the tile, and of each level the two newest planes, in registers
 *     |   |  +--------+  |
 *     |   |  | stored |  |   x neighbours: in the thread, or by shuffle from the next lane
 *     |   |  +--------+  |   y neighbours: in the thread, or its neighbours' edge rows by way of
 *     |   |              |                 shared memory, written one step before they are read
 *     |   +--------------+   z neighbours: the two planes held, and the plane just made
 *     +---------------- x
 *
 * Nothing is exchanged between blocks: the tile's rim of LEVELS points is swept redundantly. At the
 * grid's faces there is no rim: a ghost of a star of radius 1 depends on the node and its opposite
 * neighbour only, so the thread that needs one makes it on the spot, at every level.
 *
 * Four levels; sources and boundary values may change with time but not from point to point
 * (fused_fields_3d takes those). Tiles of 64 x 64 points in float and 64 x 32 in double.
 *
 * Words per point and sweep: (1.3 + 1)/4 from and to device memory; in shared memory 1.5/4 read and
 * 1.5/4 written (edge rows of 4), and 2/4 (float) or 2/2 (double) shuffled.
 *
 * Registers leave eight warps to a multiprocessor, two to a scheduler, so a step is as fast as its
 * instructions can be kept coming. What that took, at 512^3 on an H200 as a ratio to the device
 * copy (525 and 266 GCell/s), 2026-11-21; fixed walls and periodic, which has no tiles at faces:
 *
 *                                                    float          double
 *     one step's code as it comes                  1.80  1.94     1.76  2.04
 *     level 0's edge rows from the queue, 32-bit   2.07  2.24     2.03  2.16
 *         addresses, stores without branches:
 *         735 instructions a step become 647
 *     warps wait for their two neighbours          2.04  2.52     2.30  2.46
 *         (mbarriers) instead of for all
 *     tiles at faces without branches              2.13  2.52     2.63  (a)
 *
 * (a) 1.43 in the one run there was; 2.63 to 2.76 in all of nine runs since, with the same tiles
 * and chunks, so that one run is not a property of the code. The rows stored from multiples of 32
 * bytes, at all sizes, came after these figures, and cost 512^3 in float one more tile along x. As
 * it stands, fixed walls, proven before timed (docs/benchmarks.md): float 2.43 at 512^3, double
 * 2.67; before the chunks of unequal length 2.33 and 2.57, 1024^3 2.41 and 2.52, 509x511x513 2.18
 * and 2.46.
 *
 * The multiprocessor's instruction cache is a resource like others: the first version waited 0.72
 * cycles an instruction for its code to come, most of all at the faces, whose variant was 40 KB.
 * Sectors of 32 bytes that two blocks write, each a part, are dear where the second comes after the
 * first has left the cache: with rows from multiples of 16 bytes 1024^3 in float gave 1.65 of the
 * copy and read 7.0 GB a launch; with 32, and tiles at faces without branches, 2.56 and 5.6. Blocks
 * inside took 461 us there and 265 in the periodic grid, whose rows began at 32 bytes already.
 *
 * Where a grid has walls, what is lost is mostly the end: with equal chunks the last
 * multiprocessors worked alone for a fifth of the launch (all of them were busy for 0.83 to 0.87 of
 * it, clocks of every block, 512^3 in float). Chunks that become shorter along z, by a model of who
 * is free when (chunks.c), gave 2.27 -> 2.44 there and 2.38 -> 2.52 at 640^3, 2.68 -> 2.89
 * where that is periodic. Inside a step took 0.92 us, at faces 1.00 to 1.10, at the grid's edges up
 * to 1.25; a block's beginning 2.5 us, its first steps from an end of the grid 14 us where 8 is
 * usual, its last 12 where 5 is.
 *
 * Blocks that run at the same time are at about the same z, so that tiles find in the caches what
 * their neighbours read and wrote, and few pages of memory are in use. Handing every block an equal
 * share of all columns instead took 1.1 (periodic) to 1.4 times (fixed walls) as long at 512^3 in
 * float with four levels.
 *
 * Columns at faces cut into five chunks where others had four: every multiprocessor busy for 0.92
 * of the launch instead of 0.91, but the neighbours' rows are then elsewhere along z, and a step
 * inside took 1.05 us instead of 0.92: 2.36 and 2.36. Variants of their own for faces of x and of
 * y, with half of the choices (770 and 780 instructions a step instead of 840): 2.24 to 2.27 with
 * equal chunks, where one variant for both gave 2.36 and 2.39 in the same runs (they had other
 * barriers too, so not all of that is theirs); perhaps as more code runs at a time on
 * multiprocessors that share a cache of it. Rows that begin 64 bytes beyond
 * a line of 128, every other one: 1.01 to 1.05 times as fast (512^3, 1024^3), which no other kernel
 * would like.
 *
 * Where a row lies in shared memory is as dear as where it is stored. A tile's first point is half
 * a sector of 32 bytes off in float, for its stored rows begin at one; with rows at multiples of
 * 256 bytes in the queue every sector went into two, and the copies asked for 30 sectors an
 * instruction where 16 hold its points, and took 13 turns at shared memory where 4 are enough (ncu,
 * 1024^3). Had all planes been the same few in L2, the same code would have taken 0.94 of the time
 * at 512^3 and 0.84 at 1024^3; double, whose tiles begin at sectors, 0.97 to 0.99. Now a row lies
 * in the queue as it does in its lines of 128 bytes in the field: 2.45 -> 2.57 (512^3) and 2.45
 * -> 2.65 (1024^3), 2.59 where only the halves of sectors agree; both with the ends of kept walls
 * below, whose share was not timed alone. More planes in flight (six for three) gave 2.37, stores
 * marked as not needed again 2.39 to 2.46, all three at the earlier 2.45.
 *
 * In double a tile has 24 stored rows and two rims of 4, each a warp's own. Of these rows a level
 * needs one less than the level before, and the last one none: the two warps sweep 6 of their 16
 * rows and levels, by loops of their own, of one step, as three of two were slower where power does
 * not bound (the cache for instructions is a guess). That saves a sixth of the sums and shuffles,
 * so power: with chunks of up to 410 planes 1024^3 went from 2.75 to 2.97 of a timing program's
 * copy (docs/performance/fused-3d.md).
 *
 * Columns meet the ends of z by code with branches for all that may be there; where all faces that
 * a tile touches keep their values, all prescribe them, or all are swept, a variant without does
 * it.
 *
 * Tried and left: 16 warps of two rows a thread (2.31 where 8 of four gave 2.44: a third more words
 * through shared memory); a body of one step with copies instead of two without (2.18: 17 % more
 * instructions); two to five planes in flight (no difference).
 *
 * Source: 3.5D blocking, Nguyen, Satish, Chhugani, Kim, Dubey, SC'10; one meeting a plane for all
 * levels, between neighbouring warps only, and several rows a thread are ours.
 */
#include "march.cuh"

namespace
{

template <typename T>
hs_status sweep_in(const char *name, const hs_sweep *sweep, hs_error *err)
{
    using namespace fused_march;
    return sweep->steps == HS_FUSED_STEPS
               ? launch_telling<T, HS_FUSED_STEPS, NO_FIELDS>(name, sweep, err)
               : launch<T, HS_FUSED_STEPS - 1, NO_FIELDS>(name, sweep, err);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    return sweep->precision == HS_FLOAT ? sweep_in<float>("fused_march_3d", sweep, err)
                                        : sweep_in<double>("fused_march_3d", sweep, err);
}

bool tells_change(const hs_problem *)
{
    return true;
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
    .tells_change = tells_change,
    .suits = suits,
    .tiling = &hs_tiling_fused_march_3d,
    .sweep = sweep,
};
