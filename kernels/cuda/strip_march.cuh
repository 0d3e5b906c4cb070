/*
 * The march of fused_march_2d along a strip: a step, a step near the faces of y, and the loop over
 * pairs of them.
 */
#ifndef HS_KERNELS_CUDA_STRIP_MARCH_CUH
#define HS_KERNELS_CUDA_STRIP_MARCH_CUH

#include "strip_rows.cuh"

namespace strip
{

/*
 * What a pair of steps may meet along x. What only some lanes need is computed by all and chosen by
 * a few, and all but the last are without branches: nothing is moved across one to hide latencies.
 */
enum meets {
    INSIDE,
    HELD,  /* a face whose nodes are held */
    SIDES, /* any faces */
    ODD    /* these, of a warp alone whose vectors are not aligned in memory or cross the wrap */
};

template <typename T, int LEVELS, int GROUP>
using rows_of = std::conditional_t<(shape<T, LEVELS>::GROUPS > 1), passed_rows<T, LEVELS, GROUP>,
                                   own_rows<T, LEVELS, GROUP>>;

/* A warp of a group. */
template <typename T, int LEVELS, int GROUP>
struct march : rows_of<T, LEVELS, GROUP> {
    using ways = rows_of<T, LEVELS, GROUP>;
    using block = shape<T, LEVELS>;
    using ways::at, ways::end, ways::faces, ways::group, ways::lane, ways::p, ways::put, ways::take;
    enum {
        WIDTH = block::WIDTH,
        LONG = block::GROUPS - block::SHORT, /* groups that have all levels */
        DEEP = block::DEEP - (GROUP < LONG ? 0 : 1)
    };
    /* Of each level the two newest rows. */
    struct rows {
        T row[2][DEEP][WIDTH];
    };

    __device__ __forceinline__ march(const arguments<T> &arguments, typename ways::memory &memory,
                                     int which, int side)
        : ways(arguments, memory, which, side)
    {
    }
    /* The level before the group's first. */
    __device__ __forceinline__ int base() const
    {
        return group() * block::DEEP - (GROUP < LONG ? 0 : GROUP - LONG);
    }

    /* ---- a step -------------------------------------------------------------------------------
     */

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
        left = faces & 1 && lane == 0 ? low : left;
        right = faces & 2 && lane == 31 ? high : right;
    }

    /* Held nodes of the faces of x. */
    __device__ __forceinline__ void put_held(int level, const T (&now)[WIDTH],
                                             T (&made)[WIDTH]) const
    {
        const unsigned held = faces & p.held & ((lane == 0 ? 1u : 0u) | (lane == 31 ? 2u : 0u));
        const T low = p.keeping & 1 ? now[0] : p.level[level].hold[0];
        const T high = p.keeping & 2 ? now[WIDTH - 1] : p.level[level].hold[1];
        made[0] = held & 1 ? low : made[0];
        made[WIDTH - 1] = held & 2 ? high : made[WIDTH - 1];
    }

    /* A step away from the faces of y: a row of the group's first level arrives. OLD says which of
     * the two rows of each level is the older, and which step of a pair this is. */
    template <int OLD, meets MEETS>
    __device__ __forceinline__ void step(int t, rows &of) const
    {
        constexpr int NEW = 1 - OLD, END = DEEP - 1;
        T left[DEEP], right[DEEP], sum[WIDTH], made[WIDTH];
        left[0] = __shfl_up_sync(0xffffffffu, of.row[NEW][0][WIDTH - 1], 1);
        right[0] = __shfl_down_sync(0xffffffffu, of.row[NEW][0][0], 1);
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            sum[e] = star::fused(p.c[0], of.row[OLD][0][e], p.source[base()]);
        take(OLD, of.row[OLD][0]);
#pragma unroll
        for (int l = 0; l < DEEP; l++) {
            const int n = l < END ? l + 1 : END;
            T(&now)[WIDTH] = of.row[NEW][l];
            if (l < END) {
                left[n] = __shfl_up_sync(0xffffffffu, of.row[NEW][n][WIDTH - 1], 1);
                right[n] = __shfl_down_sync(0xffffffffu, of.row[NEW][n][0], 1);
            }
            if (MEETS >= SIDES)
                put_ghosts(base() + l, now, left[l], right[l]);
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                sum[e] =
                    star::fused(p.c[1], e > 0 ? now[(e + WIDTH - 1) % WIDTH] : left[l], sum[e]);
                sum[e] = star::fused(p.c[2], now[e], sum[e]);
                sum[e] =
                    star::fused(p.c[3], e + 1 < WIDTH ? now[(e + 1) % WIDTH] : right[l], sum[e]);
            }
            T next[WIDTH]; /* sums of the next level */
            if (l < END) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    next[e] = star::fused(p.c[0], of.row[OLD][n][e], p.source[base() + n]);
            }
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                made[e] = star::fused(p.c[4], of.row[OLD][l][e], sum[e]);
            if (MEETS != INSIDE)
                put_held(base() + l, now, made);
            if (l < END) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    of.row[OLD][n][e] = made[e];
                    sum[e] = next[e];
                }
            }
        }
        ways::template put<MEETS != ODD>(OLD, t, made);
    }

    /* ---- near the faces of y ------------------------------------------------------------------
     */

    /* Held nodes of row k. Where faces meet, one that prescribes goes before one that keeps, and of
     * those that prescribe the later one has the node: so keep first, then prescribe in order. */
    __device__ __forceinline__ void put_all_held(int level, int k, const T (&now)[WIDTH],
                                                 T (&made)[WIDTH]) const
    {
        const unsigned held = faces & p.held &
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

    /* As step(), level after level, since a ghost may need the row that was just made. */
    __device__ __forceinline__ void step_at_ends(int old, int t, rows &own) const
    {
        const T c[5] = {p.c[0], p.c[1], p.c[2], p.c[3], p.c[4]};
        const star::face_rule<T> low = p.rule[2][0], high = p.rule[3][0];
        T fresh[WIDTH];
        take(old, fresh);
#pragma unroll 1
        for (int l = 0; l < DEEP; l++) {
            const int level = base() + l, k = t - 1 - level; /* row that is made */
            const T source_value = p.source[level];
            const T low_offset = p.level[level].offset[2][0];
            const T high_offset = p.level[level].offset[3][0];
            T now[WIDTH], older[WIDTH], made[WIDTH];
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                now[e] = at(own, 1 - old, l, e);
                older[e] = at(own, old, l, e);
            }
            T left = __shfl_up_sync(0xffffffffu, now[WIDTH - 1], 1);
            T right = __shfl_down_sync(0xffffffffu, now[0], 1);
            put_ghosts(level, now, left, right);
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const T above = fresh[e];
                if (faces & 4 && k == 0)
                    older[e] = star::ghost(low, fresh[e], now[e], low_offset);
                if (faces & 8 && k == p.ny - 1)
                    fresh[e] = star::ghost(high, older[e], now[e], high_offset);
                T sum = star::fused(c[0], older[e], source_value);
                sum = star::fused(c[1], e > 0 ? now[(e + WIDTH - 1) % WIDTH] : left, sum);
                sum = star::fused(c[2], now[e], sum);
                sum = star::fused(c[3], e + 1 < WIDTH ? now[(e + 1) % WIDTH] : right, sum);
                made[e] = star::fused(c[4], fresh[e], sum);
                at(own, old, l, e) = above;
            }
            put_all_held(level, k, now, made);
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                fresh[e] = made[e];
        }
        ways::template put<false>(old, t, fresh);
    }

    /* ---- the march ----------------------------------------------------------------------------
     */

    /* Whether a row made in the steps t and t + 1, or a row that it is made of, lies at or beyond a
     * face of y. */
    __device__ __forceinline__ bool is_at_end(int t) const
    {
        const int row = t - base(); /* that arrives */
        return faces & 12 && ((row >= 0 && row <= DEEP) || (row + 1 >= p.ny && row < p.ny + DEEP));
    }

    /* Until when, from step t on, there is no such pair. */
    __device__ __forceinline__ int quiet(int t) const
    {
        const int row = t - base();
        if (!(faces & 12) || row >= p.ny + DEEP)
            return end;
        if (is_at_end(t))
            return t;
        return min(end, t + ((row < 0 ? 0 : p.ny - 1) - row + 1) / 2 * 2);
    }

    template <meets MEETS>
    __device__ __forceinline__ void advance(int t, int until, rows &own)
    {
        rows of;
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            of.row[n / WIDTH / DEEP][n / WIDTH % DEEP][n % WIDTH] =
                at(own, n / WIDTH / DEEP, n / WIDTH % DEEP, n % WIDTH);
        __syncwarp();
        const int from = max(t, ways::y_lo + (int)block::LAG);
#pragma unroll 1
        for (; t < until; t += 2) {
            ways::template arrive<MEETS != ODD>(t);
            step<0, MEETS>(t, of);
            ways::template look_ahead<MEETS != ODD>(t, from);
            step<1, MEETS>(t + 1, of);
            ways::leave();
        }
        ways::template pause<MEETS != ODD>(t, from);
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            at(own, n / WIDTH / DEEP, n / WIDTH % DEEP, n % WIDTH) =
                of.row[n / WIDTH / DEEP][n / WIDTH % DEEP][n % WIDTH];
    }

    /* A pair of steps at a face of y. Small rather than fast. */
    __device__ __forceinline__ void advance_at_ends(int t, rows &own)
    {
        ways::template arrive<false>(t);
#pragma unroll 1
        for (int which = 0; which < 2; which++)
            step_at_ends(which, t + which, own);
        ways::leave();
    }

    /* Rows lo to hi - 1 of a strip. */
    __device__ __forceinline__ void run(int strip, int lo, int hi)
    {
        ways::choose(strip, lo, hi, ways::MORE);
        int t = lo - LEVELS;
        if (faces & 12)
            t = max(t, 0);
        ways::begin(t);
        rows own;
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            at(own, n / WIDTH / DEEP, n / WIDTH % DEEP, n % WIDTH) = T(0);
#pragma unroll 1
        while (t < end) {
            const int until = quiet(t);
            if (t == until) {
                advance_at_ends(t, own);
                t += 2;
                continue;
            }
            /* votes, so that the compiler sees that the warp stays together */
            if (block::GROUPS == 1 && ways::odd)
                advance<ODD>(t, until, own);
            else if (!__any_sync(0xffffffffu, faces & 3))
                advance<INSIDE>(t, until, own);
            else if (!__any_sync(0xffffffffu, faces & 3 & ~p.held))
                advance<HELD>(t, until, own);
            else
                advance<SIDES>(t, until, own);
            t += (until - t + 1) / 2 * 2;
        }
    }
};

} // namespace strip

#endif
