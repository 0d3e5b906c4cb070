/*
 * fused_radius2_3d: two sweeps of a star of radius 2 in one pass over memory.
 *
 * As in fused_march_3d, a block marches a column of the grid along z and carries both time levels;
 * only level 0 is read and only the last level is written. A star of radius 2 reads five planes, so
 * a thread keeps sums instead of planes, three per level. When plane z has arrived,
 *
 *     plane z-2 of the next level   gets its last term, c z+2, from plane z: it is complete
 *     z-1                           gets the terms of its own plane, now visible to all, and c z+1
 *     z                             gets c z-1, from plane z-1
 *     z+1                           begins with c z-2, from plane z-1
 *
 * and every sum ends in the registers of the one before. So nothing is moved, and the additions
 * have the fixed order of core/stencil.h. The plane just made is the newest of level 1, whose sums
 * continue in the same way within the same step. Planes lie in shared memory, for the neighbours in
 * the next step: six of level 0, three of them in flight from memory, and three of level 1.
 *
 *     x neighbours: float, by shuffle (4 a row of 4 points); double, two vectors from shared memory
 *     y neighbours: in the thread (it owns 5 rows, in double 4), else from shared memory
 *     z neighbours: own points only; in double the previous plane stays in registers too
 *
 * A step begins with the rows whose neighbours belong to the same thread, which hides the wait for
 * the adjacent warps (neighbours.cuh). Nodes of fixed faces of x and z pass through the sums,
 * selected by masks. All lanes compute ghosts beyond faces of x and few select them; only the warps
 * at a face of y put its ghosts, into shared memory. The halo of 4 points is swept redundantly. In
 * float, blocks wait for each other so as not to drift apart (throttle.cuh).
 *
 * Tiles of 64 x 80 points in float, 64 x 32 in double. Words per point and sweep: (1.3 + 1)/2
 * (double (1.5 + 1)/2) from and to device memory; of 18 instructions 13 are multiply-adds (float).
 *
 * Reaches 1.6 (float) and 1.5 (double) of the copy's bandwidth at 512^3 on an H200; what limits it,
 * which steps led there and what was tried: docs/performance/radius-2.md.
 *
 * Source: 3.5D blocking, Nguyen, Satish, Chhugani, Kim, Dubey, SC'10; sums instead of planes, in
 * the order of memory, are ours.
 */
#include "march.cuh"

namespace radius2
{

template <typename T, int LEVELS, bool THROTTLED>
__global__ void __launch_bounds__(tile<T>::THREADS, 1)
    fused_radius2(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
    if constexpr (sizeof(T) == 8 || !LEAN) {
        using marcher = march<T, LEVELS, THROTTLED>;
        STAR_SHARED(memory, typename marcher::shared_memory, [1]);
        marcher m(p, memory[0]);
        /* if the last nodes of rows keep their values, the last tile may extend beyond them */
        const int grain = m.keeps_all(1) ? (int)marcher::WIDTH : 1;
        const columns::shape tile = {marcher::NX, marcher::NY, marcher::HALO_X, marcher::HALO,
                                     grain};
        m.run(columns::column_of(tile, p.cut, p.nx, p.ny, p.nz, p));
    }
#else
    (void)p; /* plan() refuses such GPUs */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */

template <typename T, int LEVELS, bool THROTTLED>
hs_status launch_levels(const hs_kernel_plan *plan, const hs_fused_columns &cut,
                        const hs_sweep *sweep, hs_error *err)
{
    using marcher = march<T, LEVELS, THROTTLED>;
    auto p = columns::make_arguments<T, arguments<T>>(cut, sweep);
    p.on = p.pitch_z * (int64_t)sizeof(T);
    p.around = p.wrap[2] ? -(p.nz - 1) * p.on : 0;
    p.left = p.wrap[2] ? p.nz - 1 : 0;
    if (THROTTLED)
        p.throttled = make_waves(sweep, plan->launch, cut.multiprocessors, marcher::HALO);
    assert(plan->launch.shared_bytes == sizeof(typename marcher::shared_memory));
    return star::launch("fused_radius2_3d", fused_radius2<T, LEVELS, THROTTLED>, p, plan->launch,
                        sweep->stream, err);
}

template <typename T>
hs_status launch(const hs_kernel_plan *plan, const hs_sweep *sweep, hs_error *err)
{
    hs_fused_columns cut;
    HS_PLAN_GET(plan, cut);
    return star::choose_number<1, MOST_LEVELS>("levels", sweep->steps, err, [&](auto levels) {
        if constexpr (sizeof(T) == 4 && levels.value == MOST_LEVELS)
            if (cut.z.throttled)
                return launch_levels<T, levels.value, true>(plan, cut, sweep, err);
        return launch_levels<T, levels.value, false>(plan, cut, sweep, err);
    });
}

} // namespace radius2

HS_CUDA_SWEEP(fused_radius2_3d)
{
    return sweep->precision == HS_FLOAT ? radius2::launch<float>(plan, sweep, err)
                                        : radius2::launch<double>(plan, sweep, err);
}
