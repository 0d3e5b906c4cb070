/*
 * fused_march_2d: up to ten sweeps in float, twelve or 24 in double, in one march along y.
 *
 * A lane owns WIDTH neighbouring points of a row (8 in float, 6 in double), a warp 32*WIDTH. The
 * warp marches along y with the time levels in registers, the two newest rows of each. When row y
 * of level 0 arrives, row y-1 of level 1 is made, from it row y-2 of level 2, and so on. Only level
 * 0 is read and only the last level is written. The loop body is two such steps, in which the two
 * rows of every level swap roles; it has no branches where rows are aligned.
 *
 * A level's older row is dead once the level's sums have begun with it. So these sums begin before
 * the last multiply-add of the level before, which then overwrites that row: no value is moved.
 * Neighbours along x are in the lane, or come by shuffle from rows known since the step before,
 * shuffled one level ahead. So a point and level costs 5 multiply-adds and little else. Rows come
 * and go by TMA, one instruction of one lane per row: ordinary loads would queue with the shuffles.
 *
 * In float every warp has a strip of its own and sweeps its halo redundantly. In double the warps
 * of a block stand side by side, each overlapping the next by eight points, and groups of warps
 * share the levels, three each: a group passes its last row to the next through shared memory. Up
 * to twelve levels there are four warps side by side. With 24 there are two, and between groups two
 * places for two pairs of rows each, so that groups wait for each other half as often. 24, since
 * copying a value takes as much energy as the sums of seven levels, and an H200 runs at its power
 * limit.
 *
 * At the grid's faces there is no halo: the lanes there compute the ghosts. For x, variants of the
 * step compute them in all lanes and select them in some. For y there are separate steps, which
 * cost more. All blocks run at once, so they share the strips by what these steps cost
 * (hs_strip_begin). Rows that cross a wrap come in two pieces.
 *
 * 5 multiply-adds per point and sweep allow 12.5 times the bandwidth of a copy; 0.91 (float) and
 * 0.85 (double) of them are for points that are stored. Reaches 7.1 and 8.6 at 16384^2 on an H200
 * (docs/performance/fused-2d-1d.md).
 *
 * Source: 2.5D/3.5D blocking, Nguyen et al., SC'10; levels in registers, AN5D, Matsumura et al.,
 * CGO'20; the passed rows and the order that moves nothing are ours.
 */
#include "march.cuh"

namespace
{

using namespace strip;

/* Sweeps the block's share, in a warp of this group or a later one. */
template <typename T, int LEVELS, int GROUP>
__device__ __forceinline__ void run(const arguments<T> &p,
                                    typename shape<T, LEVELS>::shared_memory &memory)
{
    /* by a shuffle, so that the compiler sees that it is uniform in the warp */
    const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
    const int group = warp / p.cut.warps;
    if constexpr (GROUP != ANY && GROUP + 1 < shape<T, LEVELS>::GROUPS)
        if (!__any_sync(0xffffffffu, group == GROUP))
            return run<T, LEVELS, GROUP + 1>(p, memory);
    march<T, LEVELS, GROUP> m(p, memory, group, warp % p.cut.warps);
#pragma unroll 1
    for (int strip = memory.part.first; strip <= memory.part.last; strip++)
        m.run(strip);
}

template <typename T, int LEVELS>
__global__ void __launch_bounds__((32 * shape<T, LEVELS>::WARPS * shape<T, LEVELS>::GROUPS),
                                  (shape<T, LEVELS>::BLOCKS))
    fused_march(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000)
    using block = shape<T, LEVELS>;
    STAR_SHARED(memory, typename block::shared_memory, [1]);
    if (threadIdx.x == 0) {
        memory[0].part = share_of(p.cut, (int)blockIdx.x);
        for (auto &warp : memory[0].fetched)
            for (bulk::barrier &place : warp)
                __mbarrier_init(&place, 1);
        for (int n = 0; n < block::PLACES * (block::GROUPS - 1); n++) {
            const int group = n / block::PLACES, place = n % block::PLACES;
            __mbarrier_init(&memory[0].given[group][place], 32 * p.cut.warps);
            __mbarrier_init(&memory[0].taken[group][place], 32 * p.cut.warps);
        }
        bulk::publish();
    }
    __syncthreads();
    run<T, LEVELS, (block::GROUPS > 1 && block::SHORT == 0 ? (int)ANY : 0)>(p, memory[0]);
#else
    (void)p; /* plan() refuses such GPUs */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */
template <typename T>
arguments<T> make_arguments(const hs_kernel_plan *plan, const hs_sweep *sweep)
{
    arguments<T> p = {};
    p.in = (const T *)sweep->in;
    p.out = (T *)sweep->out;
    p.pitch = sweep->layout.pitch[HS_Y];
    p.nx = (int)sweep->layout.points[HS_X];
    p.ny = (int)sweep->layout.points[HS_Y];
    HS_PLAN_GET(plan, p.cut);
    star::take_coefficients(sweep, p.c);
    star::take_faces(sweep, &p);
    star::take_levels(sweep, p.level);
    return p;
}

template <typename T>
hs_status launch(const hs_kernel_plan *plan, const hs_sweep *sweep, hs_error *err)
{
    constexpr uint32_t TAKES = sizeof(T) == 4 ? HS_STRIP_TAKES_FLOAT : HS_STRIP_TAKES_DOUBLE;
    const auto run = [&](auto levels) {
        return star::launch("fused_march_2d", fused_march<T, levels.value>,
                            make_arguments<T>(plan, sweep), plan->launch, sweep->stream, err);
    };
    return star::choose_number<1, most_levels<T>, TAKES>("levels", sweep->steps, err, run);
}

} // namespace

HS_CUDA_SWEEP(fused_march_2d)
{
    return sweep->precision == HS_FLOAT ? launch<float>(plan, sweep, err)
                                        : launch<double>(plan, sweep, err);
}
