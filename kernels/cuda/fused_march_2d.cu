/*
 * fused_march_2d: up to ten sweeps in float, twelve in double, in one march along y.
 *
 * A lane owns WIDTH neighbouring points of a row (8 in float, 6 in double), a warp 32*WIDTH, and
 * marches along y with the levels of time in its registers: of each level the two newest rows. When
 * row y of level 0 arrives, row y-1 of level 1 is made, from that row y-2 of level 2, and so on.
 * Only level 0 is read and only the last level is written. Two such steps, in which the two rows of
 * every level change roles, are the body of a loop, without branches where rows are aligned.
 *
 * A level's older row is dead once the level's sums have begun with it, so these are begun before
 * the last multiply-add of the level before, which then writes where that row was: no value is
 * moved. x neighbours are in the lane, or come by shuffle from rows known since the step before,
 * asked for one level ahead. So a point and level costs 5 multiply-adds and little else.
 *
 * Rows come from memory and go there by the bulk copy engine, from and to shared memory, a row by
 * one lane's instruction. Ordinary loads and stores stand in one queue with the shuffles, which
 * then wait for memory.
 *
 * In float every warp has a strip of its own, and sweeps its rim twice. In double, where a strip is
 * narrower, the warps of a block stand side by side, each overlapping the next by two lanes, and
 * the levels are shared by four groups of them: each gives its last row to the next by way of
 * shared memory, where the outermost lanes take the neighbour's, since their own row is wrong, one
 * point more at every level. Between the groups there is room for three pairs of rows. All groups
 * run the same code, since the cache for instructions holds little more than one group's loop.
 *
 * At the grid's faces there is no rim. The lanes there make the ghosts: of x in variants of the
 * steps, where all compute what some choose; of y in small and slow ones, whose rows are not in
 * registers, for the few steps at the ends. All blocks run at once, so they share the strips by
 * what these steps cost (struct line).
 *
 * The model, 16384^2 on an H200 at 1.95 GHz: 5 multiply-adds a point and sweep allow 12.5 times the
 * device copy in float, 12.4 in double; of these 0.91 and 0.92 are of points that are stored, and
 * in float 0.76 of the instructions are multiply-adds. Measured by bench, fixed walls, 2026-11-21:
 * 6.4 in float and 7.5 in double (docs/performance.md).
 *
 * Source: 2.5D/3.5D blocking, Nguyen et al., SC'10; levels in registers, AN5D, Matsumura et al.,
 * CGO'20; the passed rows and the order that moves nothing are ours.
 */
#include "bulk.cuh"
#include "levels.cuh"

#include "core/tiling.h"

#include <stdio.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of its own */
#include <cuda_pipeline.h>
#pragma GCC diagnostic pop

namespace
{

template <typename T>
struct strip_shape;
template <>
struct strip_shape<float> {
    enum {
        WIDTH = HS_STRIP_WIDTH_FLOAT,
        LEVELS = HS_STRIP_STEPS_FLOAT, /* at most */
        DEEP = HS_STRIP_DEEP_FLOAT,    /* of a group, at most */
        WARPS = HS_STRIP_WARPS_FLOAT,
        BLOCKS = HS_STRIP_BLOCKS_FLOAT
    };
};
template <>
struct strip_shape<double> {
    enum {
        WIDTH = HS_STRIP_WIDTH_DOUBLE,
        LEVELS = HS_STRIP_STEPS_DOUBLE,
        DEEP = HS_STRIP_DEEP_DOUBLE,
        WARPS = HS_STRIP_WARPS_DOUBLE,
        BLOCKS = HS_STRIP_BLOCKS_DOUBLE
    };
};

template <typename T>
struct arguments : star::faces<T, 4, 1> {
    const T *in;
    T *out;
    int64_t pitch;
    int nx, ny;
    struct hs_strip_cut cut;
    T c[5]; /* y-1, x-1, centre, x+1, y+1 */
    star::level<T, 4, 1> level[strip_shape<T>::LEVELS];
};

using star::wrapped;

/*
 * The strips, one after the other, are a line that the blocks share in equal parts, so that all end
 * together. Its length is counted in sixteenths of a row inside: one of the outer strips costs
 * more, and so do a strip's beginning and the ends at faces of y.
 */
template <typename T>
struct line {
    const arguments<T> &p;
    int64_t ends, inside, outer; /* lengths: before a strip's first row, of strips */

    __device__ explicit line(const arguments<T> &arguments) : p(arguments)
    {
        ends = 16 * (p.cut.fill + (p.wrap[1] ? 0 : p.cut.slow));
        const int64_t both = ends + 16 * (p.wrap[1] ? 0 : p.cut.slow);
        inside = both + (int64_t)p.ny * 16;
        outer = both + (int64_t)p.ny * p.cut.outer;
    }
    __device__ bool is_outer(int strip) const
    {
        return strip == 0 || strip == p.cut.strips - 1;
    }
    __device__ int64_t begin(int strip) const
    {
        const int64_t before = strip > 0 ? 1 : 0;
        const int64_t last = strip == p.cut.strips && strip > 1 ? 1 : 0;
        return (strip - before - last) * inside + (before + last) * outer;
    }
    /* The strip at a place, and its row there. */
    __device__ int strip(int64_t place) const
    {
        const int64_t first = begin(1);
        const int found = place < first ? 0 : (int)(1 + (place - first) / inside);
        return min(found, p.cut.strips - 1);
    }
    __device__ int row(int strip, int64_t place) const
    {
        const int64_t past = place - begin(strip) - ends;
        const int row = (int)(past / (is_outer(strip) ? p.cut.outer : 16));
        return min(max(row, 0), p.ny);
    }
};

/* This block's strips, the row in the first to begin with, and that in the last to end before. */
struct share {
    int first, last;
    int lo, hi;
};

template <typename T>
__device__ share share_of(const arguments<T> &p, int64_t block, int64_t blocks)
{
    const line<T> all(p);
    const int64_t length = all.begin(p.cut.strips);
    const int64_t from = length * block / blocks, to = length * (block + 1) / blocks;
    const int first = all.strip(from), last = all.strip(to);
    return {first, last, all.row(first, from), all.row(last, to)};
}

/*
 * What a pair of steps may meet along x. What only some lanes need is computed by all and chosen by
 * a few, and all but the last are without branches: nothing is moved across one to hide latencies.
 */
enum meets {
    INSIDE,
    HELD,  /* a face whose nodes are held */
    SIDES, /* any faces */
    ODD    /* these, and vectors that are not aligned in memory or cross the wrap */
};

/* How a block sweeps so many levels, and its shared memory. */
template <typename T, int LEVELS>
struct shape {
    enum {
        WIDTH = strip_shape<T>::WIDTH,
        WARPS = strip_shape<T>::WARPS,
        GROUPS = (LEVELS + strip_shape<T>::DEEP - 1) / strip_shape<T>::DEEP,
        DEEP = (LEVELS + GROUPS - 1) / GROUPS, /* levels of a group */
        SHORT = DEEP * GROUPS - LEVELS,        /* so many of the last groups have one less */
        PLACES = HS_STRIP_PLACES,
        VECTOR = HS_VECTOR_BYTES / sizeof(T),
        VECTORS = WIDTH / VECTOR,
        ROW = 32 * WARPS * VECTORS, /* vectors of a row, a lane's after each other */
        BLOCKS = GROUPS > 2 ? 1 : strip_shape<T>::BLOCKS /* on a multiprocessor */
    };
    struct alignas(HS_VECTOR_BYTES) vector {
        T v[VECTOR];
    };
    /* Of a warp's levels the two newest rows, at the ends of y. Where a block is a warp, they are
     * in shared memory, where elsewhere rows are on their way to memory; else it is too small. */
    using ends = T[2][DEEP][WIDTH][32];
    enum : size_t { ENDS_SHARED = WARPS * GROUPS == 1, STAGE = sizeof(vector[PLACES][2][ROW]) };
    struct shared_memory {
        /* Rows on their way, in pairs, to each group and from the last one to memory. */
        vector rows[GROUPS + 1][PLACES][2][ROW];
        unsigned char more[ENDS_SHARED && sizeof(ends) > STAGE ? sizeof(ends) - STAGE : 16];
        bulk::barrier fetched[WARPS][PLACES];                       /* from memory, and ... */
        bulk::barrier given[GROUPS][PLACES], taken[GROUPS][PLACES]; /* ... from group to group */
        share part;
    };
};

/*
 * The group of a march whose code serves all groups, where all have as many levels. A loop in HELD
 * is 11 KB long; where each of two groups had its own, these did not stay in the cache for
 * instructions, depending on where the program lay: 2.9 ms in bench for 1.7 in a timing program.
 */
enum { ANY = -1 };

/* A warp of a group. */
template <typename T, int LEVELS, int GROUP>
struct march {
    using block = shape<T, LEVELS>;
    using vector = typename block::vector;
    enum {
        WIDTH = block::WIDTH,
        VECTOR = block::VECTOR,
        VECTORS = block::VECTORS,
        GROUPS = block::GROUPS,
        PLACES = block::PLACES,
        NEXT = (block::WARPS > 1 ? 30 : 32) * WIDTH, /* from warp to warp, in points */
        LONG = GROUPS - block::SHORT,                /* groups that have all levels */
        DEEP = block::DEEP - (GROUP < LONG ? 0 : 1),
        LAG = LEVELS, /* steps from a row's arrival to its being stored */
        ODD_ROWS = 16 /* vectors are not aligned in memory, or cross the wrap */
    };
    /* Of each level the two newest rows. */
    struct rows {
        T row[2][DEEP][WIDTH];
    };

    const arguments<T> &p;
    typename block::shared_memory &shared;
    int own_group, warp;
    int giver;      /* thread, among those side by side, whose rows this one takes */
    int turn;       /* of the places where rows lie on their way */
    unsigned round; /* parity of the turns through them */
    int x;          /* node of the warp's first point; outside the grid where the axis wraps */
    int x_lo, x_hi, y_lo; /* nodes that it stores, ... */
    int end;              /* ... until this step */
    unsigned faces;       /* bit of each face that it meets and that does not wrap; ODD_ROWS */

    __device__ __forceinline__ march(const arguments<T> &arguments,
                                     typename block::shared_memory &memory, int which, int side)
        : p(arguments), shared(memory), own_group(which), warp(block::WARPS > 1 ? side : 0),
          turn(0), round(0)
    {
        giver = warp * 32 + lane();
        if (!first() && lane() == 0 && warp > 0)
            giver -= 2;
        if (!first() && lane() == 31 && warp + 1 < p.cut.warps)
            giver += 2;
    }

    __device__ __forceinline__ static int lane()
    {
        return (int)(threadIdx.x % 32u);
    }
    __device__ __forceinline__ bool odd() const
    {
        return (faces & ODD_ROWS) != 0;
    }
    __device__ __forceinline__ int group() const
    {
        return GROUP == ANY ? own_group : GROUP;
    }
    __device__ __forceinline__ bool first() const
    {
        return group() == 0;
    }
    __device__ __forceinline__ bool last() const
    {
        return group() == GROUPS - 1;
    }
    /* The level before the group's first. */
    __device__ __forceinline__ int base() const
    {
        return group() * block::DEEP - (GROUP < LONG ? 0 : GROUP - LONG);
    }

    /* The part of strip s from row lo to row hi. */
    __device__ __forceinline__ void place(int s, int lo, int hi)
    {
        const int size = NEXT * (p.cut.warps - 1) + 32 * WIDTH, rim = p.cut.rim;
        int first = p.cut.lead + (s - 1) * p.cut.stored - rim, left = first + rim;
        int right = left + p.cut.stored;
        faces = p.wrap[1] ? 0u : 12u;
        if (!p.wrap[0]) {
            const bool last = s == p.cut.strips - 1;
            first = last ? p.nx - size : s == 0 ? 0 : first;
            left = s == 0 ? 0 : left;
            right = last ? p.nx : right;
            faces |= (s == 0 && warp == 0 ? 1u : 0u) | (last && warp == p.cut.warps - 1 ? 2u : 0u);
        }
        x = first + warp * NEXT;
        const int begin = warp == 0 ? left : max(left, x + WIDTH);
        const int behind = warp == p.cut.warps - 1 ? right : min(right, x + 31 * WIDTH);
        x_lo = max(begin, x);
        x_hi = min(min(behind, p.nx), x + 32 * WIDTH);
        y_lo = lo;
        end = hi + LAG;
        if (x < 0 || x + 32 * WIDTH > p.nx || (x | x_lo | x_hi) % VECTOR != 0)
            faces |= ODD_ROWS;
    }

    /* ---- rows come and go ---------------------------------------------------------------------
     */

    /* A row by the lanes, across the wrap, or where its vectors are not aligned. */
    __device__ __forceinline__ void fetch_odd(const T *row, vector *to) const
    {
        const int begin = p.wrap[0] ? wrapped(x, p.nx) : x;
        const bool aligned = begin % VECTOR == 0 && (!p.wrap[0] || p.nx % VECTOR == 0);
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const int n = v * 32 + lane(), from = begin + n * VECTOR;
            if (aligned) {
                __pipeline_memcpy_async(&to[n], row + (from < p.nx ? from : from - p.nx),
                                        HS_VECTOR_BYTES);
            } else {
#pragma unroll
                for (int e = 0; e < VECTOR; e++)
                    __pipeline_memcpy_async(&to[n].v[e],
                                            row + (from + e < p.nx ? from + e : from + e - p.nx),
                                            sizeof(T));
            }
        }
    }

    /* The pair of rows that arrive with step t on its way to that place: by one lane, or by all
     * where the strip is odd. */
    template <bool PLAIN>
    __device__ __forceinline__ void fetch(int t, int place)
    {
        if (t < end) {
            int y = t;
            if (y < 0 || y >= p.ny)
                y = wrapped(y, p.ny);
            /* beyond the last row comes the first, which does no harm where the axis does not wrap
             */
            const T *const a = p.in + y * p.pitch, *const b = y + 1 < p.ny ? a + p.pitch : p.in;
            vector *const first = shared.rows[0][place][0] + warp * 32 * VECTORS;
            vector *const second = shared.rows[0][place][1] + warp * 32 * VECTORS;
            bulk::barrier *const full = &shared.fetched[warp][place];
            if (!PLAIN && odd()) {
                fetch_odd(a, first);
                fetch_odd(b, second);
                if (lane() == 0)
                    __mbarrier_arrive(full);
            } else if (lane() == 0) {
                bulk::arrive_with(full, 2 * 32 * WIDTH * sizeof(T));
                bulk::copy(first, a + x, 32 * WIDTH * sizeof(T), full);
                bulk::copy(second, b + x, 32 * WIDTH * sizeof(T), full);
            }
        }
        if (!PLAIN)
            __pipeline_commit(); /* an empty one too: they are counted */
    }

    /* A row of the group's first level: the first or the second of the pair. */
    __device__ __forceinline__ void take(int which, T (&to)[WIDTH]) const
    {
        const vector *const from = shared.rows[group()][turn][which] + giver * VECTORS;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const vector part = from[v];
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                to[v * VECTOR + e] = part.v[e];
        }
    }

    __device__ __forceinline__ static int before(int place)
    {
        return place == 0 ? PLACES - 1 : place - 1;
    }

    /* A row of the group's last level, made in step t, goes to the next group or to memory, by way
     * of shared memory where PLAIN. */
    template <bool PLAIN>
    __device__ __forceinline__ void put(int which, int t, const T (&made)[WIDTH]) const
    {
        vector part[VECTORS];
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            part[e / VECTOR].v[e % VECTOR] = made[e];
        if (PLAIN || !last()) {
            vector *const to =
                shared.rows[group() + 1][turn][which] + (warp * 32 + lane()) * VECTORS;
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                to[v] = part[v];
            return;
        }
        const int k = t - LAG;
        if (k < y_lo || t >= end)
            return;
        T *const row = p.out + k * p.pitch;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const int from = x + lane() * WIDTH + v * VECTOR;
            if (from >= x_lo && from + VECTOR <= x_hi && x % VECTOR == 0) {
                *(vector *)(row + from) = part[v];
                continue;
            }
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                if (from + e >= x_lo && from + e < x_hi)
                    row[from + e] = part[v].v[e];
        }
    }

    /* What the pair of steps before t has put goes to memory, as far as it is stored and was made
     * from step `from` on. */
    __device__ __forceinline__ void leave_for_memory(int t, int from) const
    {
        const unsigned bytes = (unsigned)(x_hi - x_lo) * (unsigned)sizeof(T);
        const unsigned since = (unsigned)(t - 2 - from), steps = (unsigned)(end - from);
        T *const to = p.out + (int64_t)(t - 2 - LAG) * (int)p.pitch + x_lo;
        const vector(*const rows)[block::ROW] = shared.rows[GROUPS][before(turn)];
        const int from_x = warp * 32 * WIDTH + (x_lo - x);
        if (since < steps)
            bulk::store(to, (const T *)rows[0] + from_x, bytes);
        if (since + 1 < steps)
            bulk::store(to + (int)p.pitch, (const T *)rows[1] + from_x, bytes);
        bulk::end_stores();
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
        left = faces & 1 && lane() == 0 ? low : left;
        right = faces & 2 && lane() == 31 ? high : right;
    }

    /* Held nodes of the faces of x. */
    __device__ __forceinline__ void put_held(int level, const T (&now)[WIDTH],
                                             T (&made)[WIDTH]) const
    {
        const unsigned held = faces & p.held & ((lane() == 0 ? 1u : 0u) | (lane() == 31 ? 2u : 0u));
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
            sum[e] = star::fused(p.c[0], of.row[OLD][0][e], p.level[base()].source_value);
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
                    next[e] =
                        star::fused(p.c[0], of.row[OLD][n][e], p.level[base() + n].source_value);
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
        put<MEETS != ODD>(OLD, t, made);
    }

    /* ---- near the faces of y ------------------------------------------------------------------
     */

    /* Held nodes of row k. Where faces meet, one that prescribes goes before one that keeps, and of
     * those that prescribe the later one has the node: so keep first, then prescribe in order. */
    __device__ __forceinline__ void put_all_held(int level, int k, const T (&now)[WIDTH],
                                                 T (&made)[WIDTH]) const
    {
        const unsigned held = faces & p.held &
                              ((lane() == 0 ? 1u : 0u) | (lane() == 31 ? 2u : 0u) |
                               (k == 0 ? 4u : 0u) | (k == p.ny - 1 ? 8u : 0u));
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

    /* A value of the rows at the ends of y. */
    __device__ __forceinline__ T &at(rows &own, int which, int l, int e) const
    {
        if constexpr (block::ENDS_SHARED)
            return reinterpret_cast<typename block::ends &>(
                shared.rows[GROUPS])[which][l][e][lane()];
        else
            return own.row[which][l][e];
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
            const T source_value = p.level[level].source_value;
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
        put<false>(old, t, fresh);
    }

    /* ---- the march ----------------------------------------------------------------------------
     */

    /* Before a pair of steps: its rows are there. */
    template <bool PLAIN>
    __device__ __forceinline__ void arrive(int t, int from)
    {
        bulk::wait(first() ? &shared.fetched[warp][turn] : &shared.given[group() - 1][turn], round);
        if (!last())
            bulk::wait(&shared.taken[group()][turn], round ^ 1u);
        if (!PLAIN && first())
            __pipeline_wait_prior(PLACES - 2);
        if (PLAIN && last())
            bulk::after_loads();
        if (first() || (PLAIN && last()))
            __syncwarp(); /* lanes take what others fetched, and fetch over what others took */
        if (PLAIN && last() && lane() == 0) {
            leave_for_memory(t, from);
            bulk::await_stores<1>();
        }
        if (first())
            fetch<PLAIN>(t + 2 * (PLACES - 1), before(turn));
        if (PLAIN && last())
            __syncwarp();
    }
    /* After it: its rows are the next group's, and those of the group before are no longer needed.
     * There are three places for pairs of rows on each way, so that no group waits for another
     * while they are about as fast. */
    __device__ __forceinline__ void leave()
    {
        if (!last())
            __mbarrier_arrive(&shared.given[group()][turn]);
        if (!first())
            __mbarrier_arrive(&shared.taken[group() - 1][turn]);
        turn = turn == PLACES - 1 ? 0 : turn + 1;
        round ^= turn == 0 ? 1u : 0u;
    }

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
        const int from = x_lo < x_hi ? max(t, y_lo + (int)LAG) : end;
#pragma unroll 1
        for (; t < until; t += 2) {
            arrive<MEETS != ODD>(t, from);
            step<0, MEETS>(t, of);
            step<1, MEETS>(t + 1, of);
            leave();
        }
        if (MEETS != ODD && last()) {
            bulk::after_loads();
            __syncwarp();
            if (lane() == 0) {
                leave_for_memory(t, from);
                bulk::await_stores<0>();
            }
            __syncwarp();
        }
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            at(own, n / WIDTH / DEEP, n / WIDTH % DEEP, n % WIDTH) =
                of.row[n / WIDTH / DEEP][n / WIDTH % DEEP][n % WIDTH];
    }

    /* A pair of steps at a face of y. Small rather than fast. */
    __device__ __forceinline__ void advance_at_ends(int t, rows &own)
    {
        arrive<false>(t, t);
#pragma unroll 1
        for (int which = 0; which < 2; which++)
            step_at_ends(which, t + which, own);
        leave();
    }

    /* Rows lo to hi - 1 of a strip. */
    __device__ __forceinline__ void run(int strip, int lo, int hi)
    {
        place(strip, lo, hi);
        int t = lo - LEVELS;
        if (faces & 12)
            t = max(t, 0);
        if (first()) {
            bulk::after_loads();
            __syncwarp();
#pragma unroll
            for (int n = 0; n < PLACES - 1; n++)
                fetch<false>(t + 2 * n, (turn + n) % PLACES);
        }
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
            if (odd())
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

/* The block's share, for a warp of that group or a later one. */
template <typename T, int LEVELS, int GROUP>
__device__ __forceinline__ void run(const arguments<T> &p,
                                    typename shape<T, LEVELS>::shared_memory &memory)
{
    /* by a shuffle, so that the compiler sees that it is the warp's */
    const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);
    const int group = warp / p.cut.warps;
    if constexpr (GROUP != ANY && GROUP + 1 < shape<T, LEVELS>::GROUPS)
        if (!__any_sync(0xffffffffu, group == GROUP))
            return run<T, LEVELS, GROUP + 1>(p, memory);
    march<T, LEVELS, GROUP> m(p, memory, group, warp % p.cut.warps);
#pragma unroll 1
    for (int strip = memory.part.first; strip <= memory.part.last; strip++) {
        const share part = memory.part;
        const int lo = strip == part.first ? part.lo : 0;
        const int hi = strip == part.last ? part.hi : p.ny;
        if (lo < hi)
            m.run(strip, lo, hi);
    }
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
        memory[0].part = share_of(p, blockIdx.x, gridDim.x);
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
    (void)p; /* suits() tells such GPUs apart */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */
template <typename T>
arguments<T> make_arguments(const hs_sweep *sweep)
{
    arguments<T> p = {};
    p.in = (const T *)sweep->in;
    p.out = (T *)sweep->out;
    p.pitch = sweep->layout.pitch[HS_Y];
    p.nx = (int)sweep->layout.points[HS_X];
    p.ny = (int)sweep->layout.points[HS_Y];
    p.cut = hs_strip_cuts(sweep);
    star::take_coefficients(sweep, p.c);
    star::take_faces(sweep, &p);
    star::take_levels(sweep, p.level);
    return p;
}

template <typename T>
hs_status launch(const hs_sweep *sweep, hs_error *err)
{
    enum { MOST = strip_shape<T>::LEVELS };
    return star::choose_levels<MOST>("fused_march_2d", sweep, err, [&](auto levels) {
        hs_geometry g;
        hs_tiling_launch("fused_march_2d", sweep, &g);
        const arguments<T> p = make_arguments<T>(sweep);
        g.blocks[HS_X] = p.cut.blocks;
        g.blocks[HS_Y] = 1;
        g.shared_bytes = sizeof(typename shape<T, levels.value>::shared_memory);
        return star::launch("fused_march_2d", fused_march<T, levels.value>, p, g, sweep->stream,
                            err);
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

int fuses(int, int, hs_precision precision)
{
    return precision == HS_FLOAT ? HS_STRIP_STEPS_FLOAT : HS_STRIP_STEPS_DOUBLE;
}

bool suits(const hs_problem *problem, char *reason, size_t size)
{
    const hs_grid *grid = &problem->grid;
    const int least =
        32 * (problem->precision == HS_FLOAT ? HS_STRIP_WIDTH_FLOAT : HS_STRIP_WIDTH_DOUBLE);
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
    .idea = "2D: up to 12 sweeps in one march along y, their rows in registers",
    .origin = "3.5D blocking: Nguyen et al., SC'10; AN5D: Matsumura et al., CGO'20",
    .device = HS_CUDA,
    .dims = 1u << 2,
    .radius = 1u << 1,
    .precision = HS_ALL_PRECISIONS,
    .steps = HS_STRIP_STEPS_DOUBLE,
    .fuses = fuses,
    .own_ghosts = true,
    .uniform = true,
    .suits = suits,
    .geometry = geometry,
    .sweep = sweep,
};
