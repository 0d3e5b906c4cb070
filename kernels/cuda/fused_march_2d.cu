/*
 * fused_march_2d: up to ten sweeps in one march along y.
 *
 * A lane owns WIDTH neighbouring points of a row (8 in float, 4 in double), a warp 32*WIDTH, and
 * marches along y with all levels of time in its registers: of each level the two newest rows. When
 * row y of level 0 arrives, row y-1 of level 1 is made, from that row y-2 of level 2, and so on.
 * Only level 0 is read and only the last level is written.
 *
 * A level's older row is dead once the level's sums have begun with it, so these are begun before
 * the last multiply-add of the level before, which then writes where that row was: no value is
 * moved. x neighbours are in the lane, or come by shuffle from rows known since the step before,
 * asked for one level ahead. So a point and level costs 5 multiply-adds and little else.
 *
 * In float every warp has a strip of its own, and sweeps its rim twice. In double, where a strip is
 * half as wide, the warps of a block stand side by side, each overlapping the next by two lanes. At
 * its ends a warp's rows are wrong, one point more at every level; after WIDTH levels, just before
 * that leaves the outermost lane, all lanes put the row into shared memory, and one step (and
 * barrier) later take it from there, the outermost lanes the neighbour's. (Exchanging the ends at
 * every level costs no overlap, but the pipe that shuffles and shared memory share was then as busy
 * as that of the multiply-adds, at half of what these can do.)
 *
 * At the grid's faces there is no rim. The lanes there make the ghosts: of x in a variant of the
 * step, of y in a small and slow one that only the ends of the march need.
 *
 * The model, 16384^2 on an H200 at 1.95 GHz: 5 multiply-adds a point and sweep allow 12.5 times the
 * device copy in float, 12.4 in double; of these 0.92 and 0.89 are of points that are stored, and
 * ten sweeps a pass allow 10 by memory. Measured of the loop alone, 10 levels, 2026-11-21: 6.9 in
 * float, where instructions beside the multiply-adds take a fifth of the issue slots, and 6.4 in
 * double (docs/performance.md has the steps). The kernel itself, with its faces, is far from that:
 * 1.38 in float and 0.70 in double with fixed walls (docs/benchmarks.md): step_at_ends() is called
 * with the address of the march, so its rows are in the device's memory in every step, not in
 * registers. docs/performance.md has what forms without that gave.
 *
 * Source: 2.5D/3.5D blocking, Nguyen et al., SC'10; levels in registers, AN5D, Matsumura et al.,
 * CGO'20; the passed rows and the order that moves nothing are ours.
 */
#include "levels.cuh"

#include "core/tiling.h"

#include <stdio.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of its own */
#include <cuda_pipeline.h>
#pragma GCC diagnostic pop

namespace
{

enum { MOST_LEVELS = HS_STRIP_STEPS };

template <typename T>
struct arguments : star::faces<T, 4, 1> {
    const T *in;
    T *out;
    int64_t pitch;
    int nx, ny;
    int strips, chunks;
    int rim;
    T c[5]; /* y-1, x-1, centre, x+1, y+1 */
    star::level<T, 4, 1> level[MOST_LEVELS];
};

/* What a warp has of the grid, and what it stores. */
struct part {
    int x;          /* node of lane 0's first point; outside the grid where the axis wraps */
    int x_lo, x_hi; /* nodes it stores */
    int y_lo, y_hi;
    unsigned faces; /* bit of each face that it meets and that does not wrap */
};

using star::wrapped;

/* The strips as those of the other fused marches: the first begins at the face and the last one,
 * moved back, ends at the other. */
template <typename T>
__device__ part part_of(const arguments<T> &p, int block, int warp, int warps)
{
    constexpr int WIDTH = HS_STRIP_BYTES / sizeof(T), NEXT = 30 * WIDTH;
    const int strip = block % p.strips, chunk = block / p.strips;
    const int size = NEXT * (warps - 1) + 32 * WIDTH, stored = size - 2 * p.rim;
    part at;
    int first, lo, hi;
    if (p.wrap[0]) {
        first = strip * stored - p.rim;
        lo = strip * stored;
        hi = min(lo + stored, p.nx);
        at.faces = 0;
    } else {
        const bool last = strip * stored + size >= p.nx;
        first = last ? p.nx - size : strip * stored;
        lo = strip == 0 ? 0 : strip * stored + p.rim;
        hi = last ? p.nx : strip * stored + size - p.rim;
        at.faces = (strip == 0 && warp == 0 ? 1u : 0u) | (last && warp == warps - 1 ? 2u : 0u);
    }
    at.x = first + warp * NEXT;
    at.x_lo = warp == 0 ? lo : max(lo, at.x + WIDTH);
    at.x_hi = warp == warps - 1 ? hi : min(hi, at.x + 31 * WIDTH);
    at.y_lo = (int)((int64_t)p.ny * chunk / p.chunks);
    at.y_hi = (int)((int64_t)p.ny * (chunk + 1) / p.chunks);
    at.faces |= p.wrap[1] ? 0u : 12u;
    return at;
}

template <typename T, int LEVELS>
struct march {
    enum {
        WIDTH = HS_STRIP_BYTES / sizeof(T),
        WARPS = sizeof(T) == 4 ? HS_STRIP_WARPS_FLOAT : HS_STRIP_WARPS_DOUBLE,
        VECTOR = HS_VECTOR_BYTES / sizeof(T),
        VECTORS = WIDTH / VECTOR,
        PASSES = WARPS > 1 ? (LEVELS - 1) / WIDTH : 0,
        SLOTS = 32 * WARPS * VECTORS
    };
    struct alignas(HS_VECTOR_BYTES) vector {
        T v[VECTOR];
    };
    struct shared_memory {
        vector queue[2][SLOTS];                       /* level 0: a row and the next one */
        vector passed[2][PASSES ? PASSES : 1][SLOTS]; /* from warp to warp */
    };

    const arguments<T> &p;
    shared_memory &shared;
    const part at;
    const int lane;
    const int slots;  /* of this warp, the first */
    const int giver;  /* thread whose passed row this one takes */
    const bool split; /* the warp's vectors are not aligned in memory, or cross the wrap */
    unsigned whole;   /* bit of each of the lane's vectors that is stored as one */
    bool pieces;      /* some of its points are stored one by one */
    int fetched;      /* row to fetch next */
    T row[2][LEVELS][WIDTH];

    __device__ __forceinline__ march(const arguments<T> &arguments, shared_memory &memory,
                                     const part &mine, int warp, int warps)
        : p(arguments), shared(memory), at(mine), lane((int)threadIdx.x % 32),
          slots(warp * 32 * VECTORS),
          giver((int)threadIdx.x + (lane == 0 && warp > 0            ? -2
                                    : lane == 31 && warp + 1 < warps ? 2
                                                                     : 0)),
          split(at.x < 0 || at.x + 32 * WIDTH > p.nx || at.x % VECTOR != 0)
    {
#pragma unroll
        for (int b = 0; b < 2; b++)
#pragma unroll
            for (int l = 0; l < LEVELS; l++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    row[b][l][e] = T(0);
        whole = 0;
        pieces = false;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const int x = at.x + lane * WIDTH + v * VECTOR;
            const bool all = x >= at.x_lo && x + VECTOR <= at.x_hi && x % VECTOR == 0;
            whole |= all ? 1u << v : 0u;
            pieces = pieces || (!all && x < at.x_hi && x + VECTOR > at.x_lo);
        }
    }

    /* Rows are passed on their way to this level, each costing a step. */
    static __device__ __forceinline__ int passes_before(int level)
    {
        return PASSES ? level / WIDTH : 0;
    }
    static __device__ __forceinline__ bool is_passed(int level)
    {
        return PASSES && level > 0 && level < LEVELS && level % WIDTH == 0;
    }

    /* Where the queue has a row's vector n: so that 8 lanes with two neighbouring vectors each meet
     * all banks. */
    static __device__ __forceinline__ int place(int n)
    {
        return n ^ (n >> 3 & 1);
    }

    __device__ __forceinline__ void fetch_row(const T *from, vector *to)
    {
        if (!split) {
#pragma unroll
            for (int v = 0; v < VECTORS; v++) {
                const int n = v * 32 + lane;
                __pipeline_memcpy_async(&to[place(n)], from + at.x + n * VECTOR, HS_VECTOR_BYTES);
            }
            return;
        }
        const int begin = p.wrap[0] ? wrapped(at.x, p.nx) : at.x;
#pragma unroll 1
        for (int i = lane; i < 32 * WIDTH; i += 32) {
            const int x = begin + i;
            __pipeline_memcpy_async(&to[place(i / VECTOR)].v[i % VECTOR],
                                    from + (x < p.nx ? x : x - p.nx), sizeof(T));
        }
    }

    __device__ __forceinline__ void fetch(int to)
    {
        if (fetched >= 0 && fetched < p.ny)
            fetch_row(p.in + fetched * p.pitch, &shared.queue[to][slots]);
        __pipeline_commit();
        fetched++;
        if (p.wrap[1] && fetched == p.ny)
            fetched = 0;
    }

    __device__ __forceinline__ void take(const vector *from, T (&to)[WIDTH]) const
    {
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const vector part = from[place(lane * VECTORS + v)];
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                to[v * VECTOR + e] = part.v[e];
        }
    }

    /* A row goes to the neighbours; what they and this thread gave in the last step comes. */
    __device__ __forceinline__ void give(int old, int level, const T (&made)[WIDTH])
    {
        if constexpr (PASSES > 0) {
#pragma unroll
            for (int v = 0; v < VECTORS; v++) {
                vector part;
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
                    part.v[e] = made[v * VECTOR + e];
                shared.passed[old][level / WIDTH - 1][v * 32 * WARPS + (int)threadIdx.x] = part;
            }
        }
    }
    __device__ __forceinline__ void receive(int old, int level, T (&taken)[WIDTH]) const
    {
        if constexpr (PASSES > 0) {
#pragma unroll
            for (int v = 0; v < VECTORS; v++) {
                const vector part =
                    shared.passed[1 - old][level / WIDTH - 1][v * 32 * WARPS + giver];
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
                    taken[v * VECTOR + e] = part.v[e];
            }
        }
    }

    __device__ __forceinline__ void store(int y, const T (&made)[WIDTH]) const
    {
        const int k = y - LEVELS - passes_before(LEVELS - 1);
        if (k < at.y_lo || k >= at.y_hi)
            return;
        T *const to = p.out + k * p.pitch + at.x + lane * WIDTH;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            vector part;
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                part.v[e] = made[v * VECTOR + e];
            if (whole >> v & 1)
                *(vector *)(to + v * VECTOR) = part;
        }
        if (pieces) {
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const int x = at.x + lane * WIDTH + e;
                if (x >= at.x_lo && x < at.x_hi && !(whole >> e / VECTOR & 1))
                    to[e] = made[e];
            }
        }
    }

    __device__ __forceinline__ T ghost(int f, int level, T inner, T edge) const
    {
        return star::ghost(p.rule[f][0], inner, edge, p.level[level].offset[f][0]);
    }

    /* The ghosts beyond the faces of x, where the sweep looks for the neighbour. */
    __device__ __forceinline__ void put_ghosts(int level, const T (&now)[WIDTH], T &left,
                                               T &right) const
    {
        const T low = ghost(0, level, now[1], now[0]);
        const T high = ghost(1, level, now[WIDTH - 2], now[WIDTH - 1]);
        left = at.faces & 1 && lane == 0 ? low : left;
        right = at.faces & 2 && lane == 31 ? high : right;
    }

    /* Held nodes of the faces of x. */
    __device__ __forceinline__ void put_held(int level, const T (&now)[WIDTH],
                                             T (&made)[WIDTH]) const
    {
        const unsigned held = at.faces & p.held & ((lane == 0 ? 1u : 0u) | (lane == 31 ? 2u : 0u));
        const T low = p.keeping & 1 ? now[0] : p.level[level].hold[0];
        const T high = p.keeping & 2 ? now[WIDTH - 1] : p.level[level].hold[1];
        made[0] = held & 1 ? low : made[0];
        made[WIDTH - 1] = held & 2 ? high : made[WIDTH - 1];
    }

    /* A step away from the faces of y: row y of level 0 has arrived. OLD says which of the two rows
     * of each level is the older; SIDES: the warp meets a face of x. */
    template <int OLD, bool SIDES>
    __device__ __forceinline__ void step(int y)
    {
        constexpr int NEW = 1 - OLD, LAST = LEVELS - 1;
        T left[LEVELS], right[LEVELS], sum[WIDTH];
        left[0] = __shfl_up_sync(0xffffffffu, row[NEW][0][WIDTH - 1], 1);
        right[0] = __shfl_down_sync(0xffffffffu, row[NEW][0][0], 1);
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            sum[e] = star::fused(p.c[0], row[OLD][0][e], p.level[0].source_value);
        take(&shared.queue[OLD][slots], row[OLD][0]);
#pragma unroll
        for (int l = 0; l < LEVELS; l++) {
            const int n = l < LAST ? l + 1 : LAST;
            T(&now)[WIDTH] = row[NEW][l];
            T taken[WIDTH];
            if (l < LAST) {
                left[n] = __shfl_up_sync(0xffffffffu, row[NEW][n][WIDTH - 1], 1);
                right[n] = __shfl_down_sync(0xffffffffu, row[NEW][n][0], 1);
                if (is_passed(n))
                    receive(OLD, n, taken);
            }
            if (SIDES)
                put_ghosts(l, now, left[l], right[l]);
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                sum[e] =
                    star::fused(p.c[1], e > 0 ? now[(e + WIDTH - 1) % WIDTH] : left[l], sum[e]);
                sum[e] = star::fused(p.c[2], now[e], sum[e]);
                sum[e] =
                    star::fused(p.c[3], e + 1 < WIDTH ? now[(e + 1) % WIDTH] : right[l], sum[e]);
            }
            if (l == LAST) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    sum[e] = star::fused(p.c[4], row[OLD][l][e], sum[e]);
                if (SIDES)
                    put_held(l, now, sum);
                store(y, sum);
                return;
            }
            T next[WIDTH]; /* sums of the next level */
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                next[e] = star::fused(p.c[0], row[OLD][n][e], p.level[n].source_value);
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                row[OLD][n][e] = star::fused(p.c[4], row[OLD][l][e], sum[e]);
            if (SIDES)
                put_held(l, now, row[OLD][n]);
            if (is_passed(n)) {
                give(OLD, n, row[OLD][n]);
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    row[OLD][n][e] = taken[e];
            }
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                sum[e] = next[e];
        }
    }

    /* ---- near the faces of y ----------------------------------------------------------------- */

    /* Held nodes of row k. Where faces meet, one that prescribes goes before one that keeps, and of
     * those that prescribe the later one has the node: so keep first, then prescribe in order. */
    __device__ __forceinline__ void put_all_held(int level, int k, const T (&now)[WIDTH],
                                                 T (&made)[WIDTH]) const
    {
        const unsigned held = at.faces & p.held &
                              ((lane == 0 ? 1u : 0u) | (lane == 31 ? 2u : 0u) | (k == 0 ? 4u : 0u) |
                               (k == p.ny - 1 ? 8u : 0u));
        const unsigned keeps = held & p.keeping, takes = held & ~p.keeping;
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            const bool first = e == 0, last = e == WIDTH - 1;
            made[e] = keeps & 12 || (first && keeps & 1) || (last && keeps & 2) ? now[e] : made[e];
            made[e] = first && takes & 1 ? p.level[level].hold[0] : made[e];
            made[e] = last && takes & 2 ? p.level[level].hold[1] : made[e];
            made[e] = takes & 4 ? p.level[level].hold[2] : made[e];
            made[e] = takes & 8 ? p.level[level].hold[3] : made[e];
        }
    }

    /*
     * As step(), level after level, since a ghost may need the row that was just made. Only some
     * steps at the ends of the march need it, so it is small rather than fast: its rows are in
     * memory, and it takes no registers from the other.
     */
    __device__ __noinline__ void step_at_ends(int old, int y, T (*rows)[LEVELS][WIDTH])
    {
        T fresh[WIDTH], made[WIDTH], now[WIDTH], older[WIDTH];
        take(&shared.queue[old][slots], fresh);
#pragma unroll 1
        for (int l = 0;; l++) {
            const int k = y - 1 - l - passes_before(l); /* row of level l+1 that is made here */
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                now[e] = rows[1 - old][l][e];
                older[e] = rows[old][l][e];
            }
            T left = __shfl_up_sync(0xffffffffu, now[WIDTH - 1], 1);
            T right = __shfl_down_sync(0xffffffffu, now[0], 1);
            put_ghosts(l, now, left, right);
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                older[e] = at.faces & 4 && k == 0 ? ghost(2, l, fresh[e], now[e]) : older[e];
                fresh[e] = at.faces & 8 && k == p.ny - 1 ? ghost(3, l, older[e], now[e]) : fresh[e];
            }
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                T sum = star::fused(p.c[0], older[e], p.level[l].source_value);
                sum = star::fused(p.c[1], e > 0 ? now[(e + WIDTH - 1) % WIDTH] : left, sum);
                sum = star::fused(p.c[2], now[e], sum);
                sum = star::fused(p.c[3], e + 1 < WIDTH ? now[(e + 1) % WIDTH] : right, sum);
                made[e] = star::fused(p.c[4], fresh[e], sum);
                rows[old][l][e] = fresh[e];
            }
            put_all_held(l, k, now, made);
            if (l + 1 == LEVELS)
                break;
            if (is_passed(l + 1)) {
                give(old, l + 1, made);
                receive(old, l + 1, fresh);
            } else {
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    fresh[e] = made[e];
            }
        }
        store(y, made);
    }

    /* ---- the march --------------------------------------------------------------------------- */

    template <int OLD, bool SIDES>
    __device__ __forceinline__ void advance(int y, bool ends)
    {
        __pipeline_wait_prior(0);
        __syncwarp(); /* lanes take what others fetched, and fetch over what others took */
        fetch(1 - OLD);
        if (ends) {
            T rows[2][LEVELS][WIDTH];
#pragma unroll
            for (int n = 0; n < 2 * LEVELS * WIDTH; n++)
                (&rows[0][0][0])[n] = row[n / WIDTH / LEVELS][n / WIDTH % LEVELS][n % WIDTH];
            step_at_ends(OLD, y, rows);
#pragma unroll
            for (int n = 0; n < 2 * LEVELS * WIDTH; n++)
                row[n / WIDTH / LEVELS][n / WIDTH % LEVELS][n % WIDTH] = (&rows[0][0][0])[n];
        } else {
            step<OLD, SIDES>(y);
        }
        if (PASSES)
            __syncthreads();
    }

    template <bool SIDES>
    __device__ __forceinline__ void run()
    {
        const int delay = LEVELS + passes_before(LEVELS - 1);
        const int end = at.y_hi + delay;
        int y = at.y_lo - LEVELS;
        if (!p.wrap[1])
            y = max(y, 0);
        fetched = p.wrap[1] ? wrapped(y, p.ny) : y;
        fetch(0);
#pragma unroll 1
        for (; y < end; y += 2) {
            const bool ends = !p.wrap[1] && (y <= delay || y + 1 >= p.ny);
            advance<0, SIDES>(y, ends);
            advance<1, SIDES>(y + 1, ends);
        }
        __pipeline_wait_prior(0);
    }
};

template <typename T, int LEVELS>
__global__ void __launch_bounds__((32 * march<T, LEVELS>::WARPS), (8 / march<T, LEVELS>::WARPS))
    fused_march(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000)
    using marcher = march<T, LEVELS>;
    STAR_SHARED(memory, typename marcher::shared_memory, [1]);
    const int warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
    marcher m(p, memory[0], part_of(p, (int)blockIdx.x, warp, warps), warp, warps);
    /* a vote, so that the compiler sees that the warp stays together */
    if (__any_sync(0xffffffffu, m.at.faces & 3))
        m.template run<true>();
    else
        m.template run<false>();
#else
    (void)p; /* suits() tells such GPUs apart */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */

template <typename T>
arguments<T> make_arguments(const hs_sweep *sweep, const hs_geometry &g)
{
    arguments<T> p = {};
    p.in = (const T *)sweep->in;
    p.out = (T *)sweep->out;
    p.pitch = sweep->layout.pitch[HS_Y];
    p.nx = (int)sweep->layout.points[HS_X];
    p.ny = (int)sweep->layout.points[HS_Y];
    p.strips = (int)g.blocks[HS_X];
    p.chunks = (int)g.blocks[HS_Y];
    p.rim = hs_strip_rim(sweep);
    star::take_coefficients(sweep, p.c);
    star::take_faces(sweep, &p);
    star::take_levels(sweep, p.level);
    return p;
}

template <typename T>
hs_status launch(const hs_sweep *sweep, hs_error *err)
{
    return star::choose_levels<MOST_LEVELS>("fused_march_2d", sweep, err, [&](auto levels) {
        hs_geometry g;
        hs_tiling_launch("fused_march_2d", sweep, &g);
        return star::launch("fused_march_2d", fused_march<T, levels.value>,
                            make_arguments<T>(sweep, g), g, sweep->stream, err);
    });
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    return sweep->precision == HS_FLOAT ? launch<float>(sweep, err) : launch<double>(sweep, err);
}

void geometry(const hs_sweep *sweep, hs_geometry *out)
{
    hs_tiling_launch("fused_march_2d", sweep, out);
}

bool suits(const hs_problem *problem, char *reason, size_t size)
{
    const hs_grid *grid = &problem->grid;
    const int least = 32 * HS_STRIP_BYTES / (int)hs_precision_size(problem->precision);
    if (!star::has_capability("fused_march_2d", problem, 9, 9, reason, size))
        return false;
    if (grid->points[HS_X] < least) {
        snprintf(reason, size, "fused_march_2d needs at least %d points along x, not %lld", least,
                 (long long)grid->points[HS_X]);
        return false;
    }
    if (grid->points[HS_X] > INT32_MAX / 4 || grid->points[HS_Y] > INT32_MAX / 4) {
        snprintf(reason, size, "fused_march_2d needs fewer than 2^29 points along an axis");
        return false;
    }
    return true;
}

} // namespace

extern "C" const hs_kernel hs_kernel_cuda_fused_march_2d = {
    .name = "fused_march_2d",
    .idea = "2D: up to ten sweeps in one march along y, their rows in registers",
    .origin = "3.5D blocking: Nguyen et al., SC'10; AN5D: Matsumura et al., CGO'20",
    .device = HS_CUDA,
    .dims = 1u << 2,
    .radius = 1u << 1,
    .precision = HS_ALL_PRECISIONS,
    .steps = MOST_LEVELS,
    .own_ghosts = true,
    .uniform = true,
    .suits = suits,
    .geometry = geometry,
    .sweep = sweep,
};
