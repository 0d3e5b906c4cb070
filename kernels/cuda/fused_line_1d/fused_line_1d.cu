/*
 * fused_line_1d: up to 32 sweeps of a line that lies in a warp's registers.
 *
 * A warp takes 32*W neighbouring points, W per lane, and sweeps them repeatedly in place: all
 * neighbours are in the lane except at its two ends, where they come by shuffle. There is no
 * barrier and no marching; a line is read once and written once.
 *
 *       lane 0      lane 1            lane 31
 *     |.........|.........|  ...   |.........|     W points each, in registers
 *      <- halo ->|       stored        |<- halo ->
 *
 * Warps exchange nothing: a halo of radius*steps points on each side is swept redundantly. At the
 * grid's ends there is no halo: the lane there computes the ghosts at every sweep, in a separate
 * variant. Loads and stores go through shared memory, so that neighbouring lanes move neighbouring
 * 16 bytes although a lane owns W consecutive points.
 *
 * W is 32, or less on short lines, which would otherwise leave multiprocessors without a warp.
 *
 * Words per point and sweep, radius 1, 32 sweeps: 2/32, from and to device memory. 3 multiply-adds
 * and 2/32 shuffles: arithmetic allows 19 times the bandwidth of a copy. Of 1024 points 960 are
 * stored. Reaches 11.8 (float) and 13.3 (double) at 2^28 points on an H200
 * (docs/performance/fused-2d-1d.md).
 *
 * Source: time skewing and overlapped tiles in one dimension are folklore; Krishnamoorthy et al.,
 * PLDI'07, on the redundant halo; registers instead of memory as in warp_shuffle, which see.
 */
#include "levels.cuh"

#include "plan.h"

#include "core/cuda_asynchronous.cuh"

namespace
{

enum { STEPS = HS_LINE_STEPS, WARPS = HS_LINE_WARPS };

template <typename T>
struct arguments : star::faces<T, 2, HS_MAX_RADIUS> {
    const T *in;
    T *out;
    const T *source; /* or nullptr */
    int64_t n;
    int64_t lines;
    int halo, steps;
    T c[2 * HS_MAX_RADIUS + 1];                           /* in the order of the additions */
    star::level_fields<T, 2, HS_MAX_RADIUS> level[STEPS]; /* a face is one node */
};

/* A warp's part of the line, and what it stores of it. */
struct part {
    int64_t first, lo, hi;
    bool at_min, at_max; /* the part begins or ends at the grid's end */
};

template <typename T, int W>
__device__ __forceinline__ part part_of(const arguments<T> &p, int64_t index)
{
    const int64_t stored = 32 * W - 2 * p.halo;
    part at;
    if (p.wrap[0]) {
        at.lo = index * stored;
        at.hi = min(at.lo + stored, p.n);
        at.first = at.lo - p.halo;
        at.at_min = at.at_max = false;
        return at;
    }
    at.at_min = index == 0;
    at.at_max = index * stored + 32 * W >= p.n;
    at.first = at.at_max ? p.n - 32 * W : index * stored;
    at.lo = index == 0 ? 0 : index * stored + p.halo;
    at.hi = at.at_max ? p.n : index * stored + 32 * W - p.halo;
    return at;
}

template <typename T, int R, int W, bool FIELD>
struct line {
    enum {
        VECTOR = HS_VECTOR_BYTES / sizeof(T),        /* points in 16 bytes */
        VECTORS = W / VECTOR,                        /* of a lane */
        PITCH = VECTORS + 1,                         /* from lane to lane, so that banks differ */
        WORDS = W * sizeof(T) / 4 * (FIELD ? 2 : 1), /* registers that hold its points */
        BLOCKS = WORDS > 64   ? 2
                 : WORDS > 32 ? 3
                              : 4 /* on a multiprocessor: what registers allow */
    };
    using vector = star::vec<T>;
    struct staging {
        vector of[32 * PITCH];
    };

    const arguments<T> &p;
    staging &stage;
    const part at;
    const int lane;
    T value[W], source[FIELD ? W : 1];

    __device__ __forceinline__ line(const arguments<T> &arguments, staging &memory,
                                    const part &mine)
        : p(arguments), stage(memory), at(mine), lane((int)threadIdx.x % 32)
    {
    }

    static __device__ __forceinline__ int slot(int vector_index)
    {
        return vector_index / VECTORS * PITCH + vector_index % VECTORS;
    }

    __device__ __forceinline__ int64_t node(int64_t i) const
    {
        /* a short line is its own neighbour several times over */
        return p.wrap[0] ? star::wrapped(i, p.n) : i;
    }

    __device__ __forceinline__ void load(const T *from, T (&to)[W])
    {
        __syncwarp(); /* what was here before has been read */
        if (at.first >= 0 && at.first + 32 * W <= p.n && at.first % VECTOR == 0) {
#pragma unroll
            for (int i = 0; i < VECTORS; i++)
                __pipeline_memcpy_async(&stage.of[slot(i * 32 + lane)],
                                        from + at.first + (i * 32 + lane) * VECTOR,
                                        HS_VECTOR_BYTES);
        } else {
#pragma unroll 1
            for (int i = lane; i < 32 * W; i += 32)
                __pipeline_memcpy_async(&stage.of[slot(i / VECTOR)].v[i % VECTOR],
                                        from + node(at.first + i), sizeof(T));
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            const vector part = stage.of[lane * PITCH + i];
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                to[i * VECTOR + e] = part.v[e];
        }
    }

    __device__ __forceinline__ void store(T *to)
    {
        __syncwarp();
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            vector part;
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                part.v[e] = value[i * VECTOR + e];
            stage.of[lane * PITCH + i] = part;
        }
        __syncwarp();
#pragma unroll
        for (int i = 0; i < VECTORS; i++) {
            const vector part = stage.of[slot(i * 32 + lane)];
            const int64_t x = at.first + (i * 32 + lane) * VECTOR;
            if (x >= at.lo && x + VECTOR <= at.hi && at.first % VECTOR == 0) {
                *(vector *)(to + x) = part;
                continue;
            }
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                if (x + e >= at.lo && x + e < at.hi)
                    to[x + e] = part.v[e];
        }
    }

    __device__ __forceinline__ T ghost(int f, int m, int level, T inner, T edge) const
    {
        const star::face_rule<T> &rule = p.rule[f][m - 1];
        const T *const field = p.level[level].data_field[f];
        return star::ghost(rule, inner, edge,
                           field ? rule.c * *field : p.level[level].offset[f][m - 1]);
    }

    /* Sets the first and last lane's neighbours beyond the grid's ends. */
    __device__ __forceinline__ void put_ghosts(int level, T (&left)[R], T (&right)[R]) const
    {
        if (at.at_min && lane == 0)
#pragma unroll
            for (int m = 1; m <= R; m++)
                left[R - m] = ghost(0, m, level, value[m], value[0]);
        if (at.at_max && lane == 31)
#pragma unroll
            for (int m = 1; m <= R; m++)
                right[m - 1] = ghost(1, m, level, value[W - 1 - m], value[W - 1]);
    }

    /* Sets nodes that no sweep updates: they keep their value, or take the prescribed one. */
    __device__ __forceinline__ void put_held(int level, T (&made)[W]) const
    {
        if (at.at_min && lane == 0) {
#pragma unroll
            for (int i = 0; i < R; i++)
                if (i < p.layers[0])
                    made[i] = value[i];
            if (p.held & ~p.keeping & 1u) {
                const T *const field = p.level[level].prescribed_field[0];
                made[0] = field ? *field : p.level[level].prescribed[0];
            }
        }
        if (at.at_max && lane == 31) {
#pragma unroll
            for (int i = 0; i < R; i++)
                if (i < p.layers[1])
                    made[W - 1 - i] = value[W - 1 - i];
            if (p.held & ~p.keeping & 2u) {
                const T *const field = p.level[level].prescribed_field[1];
                made[W - 1] = field ? *field : p.level[level].prescribed[1];
            }
        }
    }

    template <bool AT_END>
    __device__ __forceinline__ void sweep(int level)
    {
        T left[R], right[R], made[W];
#pragma unroll
        for (int r = 0; r < R; r++) {
            left[r] = __shfl_up_sync(0xffffffffu, value[W - R + r], 1);
            right[r] = __shfl_down_sync(0xffffffffu, value[r], 1);
        }
        if (AT_END)
            put_ghosts(level, left, right);
        const T uniform = p.level[level].source_value;
#pragma unroll
        for (int e = 0; e < W; e++) {
            T sum = FIELD ? source[e % (FIELD ? W : 1)] : uniform;
#pragma unroll
            for (int o = -R; o <= R; o++) {
                const int i = e + o;
                const T in = i < 0    ? left[i < 0 ? i + R : 0]
                             : i >= W ? right[i >= W ? i - W : 0]
                                      : value[(i + W) % W];
                sum = star::fused(p.c[R + o], in, sum);
            }
            made[e] = sum;
        }
        if (AT_END)
            put_held(level, made);
#pragma unroll
        for (int e = 0; e < W; e++)
            value[e] = made[e];
    }

    template <bool AT_END>
    __device__ __forceinline__ void sweep_all()
    {
        /* two at a time, so that values need not be moved between registers */
        int level = 0;
#pragma unroll 1
        for (; level + 1 < p.steps; level += 2) {
            sweep<AT_END>(level);
            sweep<AT_END>(level + 1);
        }
        if (level < p.steps)
            sweep<AT_END>(level);
    }

    __device__ __forceinline__ void run()
    {
        if constexpr (FIELD)
            load(p.source, source);
        load(p.in, value);
        if (at.at_min || at.at_max) /* the same for the whole warp */
            sweep_all<true>();
        else
            sweep_all<false>();
        store(p.out);
    }
};

template <typename T, int R, int W, bool FIELD>
__global__ void __launch_bounds__(32 * WARPS, (line<T, R, W, FIELD>::BLOCKS))
    fused_line(const __grid_constant__ arguments<T> p)
{
    using liner = line<T, R, W, FIELD>;
    STAR_SHARED(memory, typename liner::staging, [WARPS]);
    const int warp = (int)threadIdx.x / 32;
    const int64_t index = (int64_t)blockIdx.x * WARPS + warp;
    if (index >= p.lines)
        return;
    liner mine(p, memory[warp], part_of<T, W>(p, index));
    mine.run();
}

/* ---- host ---------------------------------------------------------------------------------- */

template <typename T>
arguments<T> make_arguments(const hs_sweep *sweep, const hs_line_cut &cut)
{
    arguments<T> p = {};
    p.in = (const T *)sweep->in;
    p.out = (T *)sweep->out;
    p.source = (const T *)hs_source_field(&sweep->source);
    p.n = sweep->layout.points[HS_X];
    p.steps = sweep->steps;
    p.halo = cut.halo;
    star::take_coefficients(sweep, p.c);
    star::take_faces(sweep, &p);
    star::take_levels(sweep, p.level);
    p.lines = cut.lines;
    return p;
}

template <typename T, int R, int W>
hs_status launch(const hs_kernel_plan *plan, const hs_line_cut &cut, const hs_sweep *sweep,
                 hs_error *err)
{
    const arguments<T> p = make_arguments<T>(sweep, cut);
    return star::launch("fused_line_1d",
                        p.source ? fused_line<T, R, W, true> : fused_line<T, R, W, false>, p,
                        plan->launch, sweep->stream, err);
}

} // namespace

HS_CUDA_SWEEP(fused_line_1d)
{
    hs_line_cut cut;
    HS_PLAN_GET(plan, cut);
    return star::choose<1, 1, HS_MAX_RADIUS>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        constexpr int R = radius.value;
        constexpr int least = R == 1 ? HS_LINE_LEAST_1 : HS_LINE_LEAST_23;
        return cut.width == least ? launch<T, R, least>(plan, cut, sweep, err)
                                  : launch<T, R, HS_LINE_WIDTH>(plan, cut, sweep, err);
    });
}
