/*
 * bulk_march: one sweep a launch in 2D and 3D, with rows that the bulk copy engine brings, and all
 * blocks in step.
 *
 * What a copy of the field costs is the floor. Five things stood between a sweep and that on an
 * H200. Each was found by leaving out the others (docs/performance/one-sweep.md), and each has its
 * answer here.
 *
 *   The engine asks L2 by the lines of shared memory that it fills. Rows that begin there as far
 *   from a multiple of 128 bytes as they do in memory cost one request a line, others 1.2. So a row
 *   has the pitch of its points and a line more, and what stands left of its first point stands in
 *   the room that the row before has. From 0.88 to 0.97.
 *
 *        y |  [ halo rows                    ]   R
 *          |  [ warp  warp  warp  warp ]         X warps beside one another, 16 bytes a lane,
 *          |  [ ROWS rows each         ]         Y above one another. Shared memory has the plane
 *          |  [ warp  warp  warp  warp ]         that is being summed and those on their way
 *          |  [ halo rows                    ]   R
 *          +------------------------------- x
 *
 *   DRAM is as fast as in a copy only where what is asked for at one time lies together, and blocks
 *   that march on their own drift apart. So they march in step (throttle.cuh), and few chunks along
 *   z at a time: tiles are low, so that two layers of them, or one, are all blocks that run.
 *
 *   Rows that the neighbouring tile needs as well must still be in L2 when it asks. They are kept
 *   there before what is stored (evict_last): 0.99 against 0.96. The engine takes that hint for all
 *   rows that a warp asks for at once, so all have it.
 *
 *   To ask for a row takes a warp 190 clocks beside others that sum, whose lanes ask one after the
 *   other: 2.6 us for the 28 rows of two planes with radius 3. So four warps do it, one for each
 *   scheduler.
 *
 *   Two warps a scheduler sum, so each must always have something to do: no branch between a row's
 *   first load and its store, whatever the row's end is, and no instruction but multiply-adds for
 *   what waits in registers. A point's sum begins with the planes below it as they come, goes on
 *   with its own plane, and ends with those above, which is the one order of additions; so of 2R
 *   planes it waits in 2R sums, each of which moves on by the very multiply-add that it gets. With
 *   radius 3 from 0.86 and 0.81 to 0.96 and 0.97.
 *
 * So shared memory has one plane in use instead of R+1, and all others are on their way. In 2D the
 * planes are rows, four of which come together. A field of sources comes as the rows do, for the
 * planes whose sums begin; then three words a point are the floor.
 *
 * A block's tile and its stages are in tile.cuh, the warps that have rows copied in
 * copies.cuh, those that sum in sums.cuh.
 *
 * Groups of 32 bytes at the ends of rows are stored whole where the caller allows it (may_copy).
 * What stood there waits in shared memory until it is stored, R planes later.
 *
 * Words per point: 1 + 2R/planes from memory and 1 to it. From L2, with radius 1: 1 + 2/8, of
 * which 1.08 were counted.
 *
 * Measured on one H200 by a program that calls the kernel, GCell/s, float and double, 2026-11-21:
 * 512^3 radius 1 518 and 262, radius 2 512 and 260, radius 3 507 and 258, with a source field 352
 * and 179, 348 and 177, 347 and 176; 1024^3 radius 1 526 and 262; 16384^2, any radius, 519 and 264,
 * with a source field 356 and 180. Copies gave 525 and 265.
 *
 * z neighbours: registers. y neighbours: shared memory, or the row before; in 2D registers. x
 * neighbours: shared memory.
 *
 * Source: bulk copies and barriers in shared memory: NVIDIA, CUDA C++ Programming Guide,
 * asynchronous data copies; warps for loads and others for sums: Bauer, Cook, Khailany, CudaDMA,
 * SC'11.
 */
#include "copies.cuh"
#include "sums.cuh"

#include "core/problem.h"
#include "core/round.h"

#include <assert.h>
#include <stdio.h>

namespace
{

using namespace bulk_rows;

template <class B>
__global__ void __launch_bounds__(B::THREADS, 1)
    bulk_march(const __grid_constant__ star::request<typename B::T> r, int planes, int chunks,
               lockstep::progress *of_all)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    STAR_SHARED(memory, typename B::shared_memory, [1]);
    if (threadIdx.x == 0) {
        for (int s = 0; s < B::STAGES; s++) {
            __mbarrier_init(&memory[0].full[s], B::COPYING);
            __mbarrier_init(&memory[0].asked[s], 1);
            __mbarrier_init(&memory[0].empty[s], B::SUMMING * WARP);
        }
        bulk::publish();
    }
    __syncthreads();
    if (threadIdx.x < B::SUMMING * WARP)
        sum_chunks<B>(r, planes, memory[0]);
    else
        have_copied<B>(r, planes, chunks, memory[0], of_all);
#else
    (void)r, (void)planes, (void)chunks, (void)of_all; /* suits() tells such GPUs apart */
#endif
}

/* --------------------------------------------------------------------------------------------- */

size_t scratch(const hs_sweep *)
{
    return sizeof(lockstep::progress);
}

template <class B>
hs_status launch(const hs_sweep *sweep, const hs_geometry &shape, int multiprocessors,
                 hs_error *err)
{
    using T = typename B::T;
    star::request<T> r = star::make_request<T>(sweep, shape);
    r.first[HS_X] = r.lo[HS_X] / vec<T>::LINE * vec<T>::LINE;
    hs_geometry launched = shape;
    const int64_t chunks = hs_geometry_blocks(&shape);
    int64_t blocks = chunks;
    if (blocks > multiprocessors) { /* no more than run at once, as many each time */
        const int64_t rounds = hs_divide_up(blocks, multiprocessors);
        blocks = hs_divide_up(blocks, rounds);
    }
    launched.blocks[HS_X] = blocks;
    launched.blocks[HS_Y] = launched.blocks[HS_Z] = 1;
    assert(shape.shared_bytes == sizeof(typename B::shared_memory));
    return star::launch("bulk_march", bulk_march<B>, r, launched, sweep->stream, err,
                        shape.output_tile[B::MARCH], (int)chunks,
                        (lockstep::progress *)sweep->scratch);
}

template <int DIMS, int R, typename T, bool LARGE>
hs_status launch_with_source(const hs_sweep *sweep, const hs_geometry &shape, int multiprocessors,
                             hs_error *err)
{
    return sweep->source
               ? launch<tile<DIMS, R, T, LARGE, true>>(sweep, shape, multiprocessors, err)
               : launch<tile<DIMS, R, T, LARGE, false>>(sweep, shape, multiprocessors, err);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    hs_geometry shape;
    hs_tiling_launch(&hs_tiling_bulk_march, sweep, &shape);
    int device = 0, multiprocessors = 0;
    HS_CUDA_TRY("kernel bulk_march", err, cudaGetDevice(&device));
    HS_CUDA_TRY("kernel bulk_march", err,
                cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return star::choose<2, 3, 3>(sweep, err, [&](auto dims, auto radius, auto zero) {
        enum { DIMS = dims.value, R = radius.value };
        using T = decltype(zero);
        if constexpr (DIMS == 3 && R == 1)
            if (shape.output_tile[HS_Y] == hs_bulk_rows(3, true))
                return launch_with_source<3, 1, T, true>(sweep, shape, multiprocessors, err);
        return launch_with_source<DIMS, R, T, false>(sweep, shape, multiprocessors, err);
    });
}

bool suits(const hs_problem *problem, char *reason, size_t size)
{
    int major = 0, shared = 0;
    const int device = problem->solver.device;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) ==
            cudaSuccess &&
        major >= 9 && shared >= HS_BULK_SHARED_BYTES)
        return true;
    snprintf(reason, size,
             "bulk_march needs a GPU of compute capability 9 or later with %d bytes of shared "
             "memory a block",
             HS_BULK_SHARED_BYTES);
    return false;
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_bulk_march = {
    .name = "bulk_march",
    .idea = "march in step along the slowest axis, whole rows by the bulk copy engine, ahead",
    .origin = "warps for loads and for sums: Bauer et al., CudaDMA, SC'11",
    .device = HS_CUDA,
    .dims = 1u << 2 | 1u << 3,
    .radius = HS_ALL_RADII,
    .precision = HS_ALL_PRECISIONS,
    .steps = 1,
    .suits = suits,
    .tiling = &hs_tiling_bulk_march,
    .scratch = scratch,
    .sweep = sweep,
};
