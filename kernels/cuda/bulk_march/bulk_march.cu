/*
 * bulk_march: one sweep a launch in 2D and 3D, as fast as a copy. Rows come by TMA (bulk
 * asynchronous copies), and blocks do not drift apart.
 *
 *        y |  [ halo rows                    ]   R
 *          |  [ warp  warp  warp  warp ]         X warps beside one another, 16 bytes a lane,
 *          |  [ ROWS rows each         ]         Y above one another. Shared memory has the plane
 *          |  [ warp  warp  warp  warp ]         that is being summed and those on their way
 *          |  [ halo rows                    ]   R
 *          +------------------------------- x
 *
 * Five things stand between a sweep and the copy, and each has its answer here:
 *
 *   - TMA asks L2 by the lines of shared memory that it fills. A row there has the pitch of its
 *     points and a line more, so that it lies to its lines as it does in memory.
 *   - DRAM is as fast as in a copy only where what is asked for at one time lies together. So
 *     blocks are throttled to the same planes (throttle.cuh), with few chunks along z at a time.
 *   - Rows that the neighbouring tile needs as well must still be in L2: evict_last keeps them.
 *   - To ask for a row takes a warp 190 clocks, so four warps do it, one for each scheduler.
 *   - Two warps a scheduler sum, so each must always have something to do: no branch between a
 *     row's first load and its store. A point waits for its 2R planes in 2R sums, each of which
 *     moves on by the very multiply-add that it gets, in the one order of additions.
 *
 * In 2D the planes are rows, four of which come together. A source field comes as the rows do.
 * Groups of 32 bytes at the ends of rows are stored whole where the caller allows it (may_copy).
 * z neighbours: registers. y neighbours: shared memory, or the row before; in 2D registers. x
 * neighbours: shared memory. Tile and stages are in tile.cuh, the warps that have rows copied in
 * copies.cuh, those that sum in sums.cuh.
 *
 * Words per point: 1 + 2R/planes from memory and 1 to it; from L2, with radius 1, 1 + 2/8.
 *
 * Reaches 0.98 of the copy's bandwidth at 512^3, radius 1 to 3, on an H200; what each of the five
 * gave: docs/performance/one-sweep.md.
 *
 * Source: NVIDIA, CUDA C++ Programming Guide, asynchronous data copies; warps for loads and others
 * for sums: Bauer, Cook, Khailany, CudaDMA, SC'11.
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
               throttle::progress *of_all)
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
    (void)r, (void)planes, (void)chunks, (void)of_all; /* plan() tells such GPUs apart */
#endif
}

/* --------------------------------------------------------------------------------------------- */

size_t scratch(const hs_sweep *)
{
    return sizeof(throttle::progress);
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
                        (throttle::progress *)sweep->scratch);
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

bool plan(const hs_problem *, const hs_device_limits *limits, hs_kernel_plan *, char *reason,
          size_t size)
{
    if (limits && limits->capability[0] >= 9 &&
        limits->shared_bytes_per_block >= HS_BULK_SHARED_BYTES)
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
    .idea = "throttled march along the slowest axis, whole rows ahead by TMA",
    .origin = "warps for loads and for sums: Bauer et al., CudaDMA, SC'11",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_2D | HS_3D | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES,
    .steps = 1,
    .plan = plan,
    .tiling = &hs_tiling_bulk_march,
    .scratch = scratch,
    .sweep = sweep,
};
