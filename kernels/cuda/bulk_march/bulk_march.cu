/*
 * bulk_march: one sweep per launch in 2D and 3D, as fast as a copy. Rows come by TMA (bulk
 * asynchronous copies), and blocks stay in step.
 *
 *        y |  [ halo rows                    ]   R
 *          |  [ warp  warp  warp  warp ]         X warps beside one another, 16 bytes a lane,
 *          |  [ ROWS rows each         ]         Y above one another. Shared memory has the plane
 *          |  [ warp  warp  warp  warp ]         that is being summed and those on their way
 *          |  [ halo rows                    ]   R
 *          +------------------------------- x
 *
 * Five things stand between a sweep and the speed of a copy. The answers:
 *
 *   - TMA reads L2 by the lines of shared memory that it fills. A row there has the pitch of its
 *     points plus a line, so that it is aligned to its lines as in memory.
 *   - DRAM is as fast as in a copy only if what is read at one time lies together. So blocks are
 *     throttled to the same planes (throttle.cuh), with few chunks along z at a time.
 *   - Rows that the neighbouring tile also needs must still be in L2: evict_last keeps them.
 *   - Issuing a row's copy takes a warp 190 clocks, so four warps do it, one for each scheduler.
 *   - Only two warps per scheduler sum, so each must always have work: no branch between a row's
 *     first load and its store. A point waits for its 2R planes in 2R sums; each multiply-add moves
 *     its sum on to the next, in the fixed order of additions.
 *
 * In 2D the planes are rows, four of which come together. A source field comes like the rows do.
 * Groups of 32 bytes at the ends of rows are stored whole if the caller allows it (may_copy). z
 * neighbours: registers. y neighbours: shared memory, or the row before; in 2D registers. x
 * neighbours: shared memory. Tile and stages are in tile.cuh, the copying warps in copies.cuh, the
 * summing warps in sums.cuh.
 *
 * Words per point: 1 + 2R/planes from memory and 1 to it; from L2, with radius 1, 1 + 2/8.
 *
 * Reaches 0.98 of the copy's bandwidth at 512^3, radius 1 to 3, on an H200; what each of the five
 * gave: docs/performance/one-sweep.md.
 *
 * Source: NVIDIA, CUDA C++ Programming Guide, asynchronous data copies; separate warps for loads
 * and for sums: Bauer, Cook, Khailany, CudaDMA, SC'11.
 */
#include "copies.cuh"
#include "sums.cuh"

#include <assert.h>

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
    if (threadIdx.x == 0)
        memory[0].ring.begin(B::COPYING, B::SUMMING);
    __syncthreads();
    if (threadIdx.x < B::SUMMING * WARP)
        sum_chunks<B>(r, planes, memory[0]);
    else
        have_copied<B>(r, planes, chunks, memory[0], of_all);
#else
    (void)r, (void)planes, (void)chunks, (void)of_all; /* plan() refuses such GPUs */
#endif
}

/* --------------------------------------------------------------------------------------------- */

template <class B>
hs_status launch(const hs_kernel_plan *plan, const hs_bulk_chunks &chunks, const hs_sweep *sweep,
                 hs_error *err)
{
    using T = typename B::T;
    star::request<T> r = star::make_request<T>(sweep, plan->launch);
    r.first[HS_X] = r.lo[HS_X] / vec<T>::LINE * vec<T>::LINE;
    assert(plan->launch.shared_bytes == sizeof(typename B::shared_memory));
    return star::launch("bulk_march", bulk_march<B>, r, plan->launch, sweep->stream, err,
                        chunks.planes, chunks.count, (throttle::progress *)sweep->scratch);
}

template <int DIMS, int R, typename T, bool LARGE>
hs_status launch_with_source(const hs_kernel_plan *plan, const hs_bulk_chunks &chunks,
                             const hs_sweep *sweep, hs_error *err)
{
    return hs_source_field(&sweep->source)
               ? launch<tile<DIMS, R, T, LARGE, true>>(plan, chunks, sweep, err)
               : launch<tile<DIMS, R, T, LARGE, false>>(plan, chunks, sweep, err);
}

} // namespace

HS_CUDA_SWEEP(bulk_march)
{
    hs_bulk_chunks chunks;
    HS_PLAN_GET(plan, chunks);
    return star::choose<2, 3, 3>(sweep, err, [&](auto dims, auto radius, auto zero) {
        enum { DIMS = dims.value, R = radius.value };
        using T = decltype(zero);
        if constexpr (DIMS == 3 && R == 1)
            if (chunks.large)
                return launch_with_source<3, 1, T, true>(plan, chunks, sweep, err);
        return launch_with_source<DIMS, R, T, false>(plan, chunks, sweep, err);
    });
}
