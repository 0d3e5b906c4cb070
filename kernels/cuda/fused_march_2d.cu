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
 * the levels are shared by two groups of them: the first gives its last row to the second by way of
 * shared memory, where the outermost lanes take the neighbour's, since their own row is wrong, one
 * point more at every level. Between the groups there is room for three pairs of rows.
 *
 * At the grid's faces there is no rim. The lanes there make the ghosts: of x in variants of the
 * steps, where all compute what some choose; of y in small and slow ones, whose rows are in shared
 * memory, for the few steps at the ends. All blocks run at once, so they share the strips by what
 * these steps cost (struct line).
 *
 * The model, 16384^2 on an H200 at 1.95 GHz: 5 multiply-adds a point and sweep allow 12.5 times the
 * device copy in float, 12.4 in double; of these 0.91 and 0.92 are of points that are stored, and
 * in float 0.76 of the instructions are multiply-adds. Measured, fixed walls, 2026-11-21: 6.6 in
 * float and 7.1 in double by a timing program, 4.15 in double by bench (docs/performance.md).
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
        ALONE = HS_STRIP_ALONE_FLOAT,
        WARPS = HS_STRIP_WARPS_FLOAT
    };
};
template <>
struct strip_shape<double> {
    enum {
        WIDTH = HS_STRIP_WIDTH_DOUBLE,
        LEVELS = HS_STRIP_STEPS_DOUBLE,
        ALONE = HS_STRIP_ALONE_DOUBLE,
        WARPS = HS_STRIP_WARPS_DOUBLE
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
        GROUPS = LEVELS > strip_shape<T>::ALONE ? 2 : 1,
        DEEP = (LEVELS + GROUPS - 1) / GROUPS, /* levels of a group */
        SHORT = DEEP * GROUPS - LEVELS,        /* so many of the last groups have one less */
        AHEAD = HS_STRIP_AHEAD,
        VECTOR = HS_VECTOR_BYTES / sizeof(T),
        VECTORS = WIDTH / VECTOR,
        ROW = 32 * WARPS * VECTORS, /* vectors of a row, a lane's after each other */
        RESIDENT = HS_STRIP_RESIDENT / (WARPS * GROUPS),
        BLOCKS = RESIDENT > 1 ? RESIDENT : 1 /* on a multiprocessor */
    };
    struct alignas(HS_VECTOR_BYTES) vector {
        T v[VECTOR];
    };
    struct shared_memory {
        vector queue[AHEAD + 1][2][ROW]; /* level 0, in pairs of rows */
        vector passed[GROUPS > 1 ? GROUPS - 1 : 1][GROUPS > 1 ? 3 : 1][2]
                     [GROUPS > 1 ? ROW : 1]; /* from group to group */
        /* of each warp its rows, at the ends of y; elsewhere rows on their way to memory */
        union {
            T ends[2][DEEP][WIDTH][32];
            vector leaving[3][2][32 * VECTORS];
        } warp[WARPS * GROUPS];
        bulk::barrier full[AHEAD + 1][WARPS];
        bulk::barrier given[GROUPS][3], taken[GROUPS][3]; /* rows that are passed */
        share part;
    };
};

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
        AHEAD = block::AHEAD,
        NEXT = (block::WARPS > 1 ? 30 : 32) * WIDTH, /* from warp to warp, in points */
        LONG = GROUPS - block::SHORT,                /* groups that have all levels */
        DEEP = block::DEEP - (GROUP < LONG ? 0 : 1),
        BASE = GROUP * block::DEEP - (GROUP < LONG ? 0 : GROUP - LONG), /* the level before */
        FIRST = GROUP == 0,
        LAST = GROUP == GROUPS - 1,
        LAG = LEVELS /* steps from a row's arrival to its being stored */
    };
    /* Of each level the two newest rows. */
    struct rows {
        T row[2][DEEP][WIDTH];
    };

    const arguments<T> &p;
    typename block::shared_memory &shared;
    int lane, warp;
    int giver;      /* thread, among those side by side, whose passed rows this one takes */
    int turn;       /* of the three places where a group gives its rows */
    unsigned round; /* parity of the turns through them */
    int x;          /* node of the warp's first point; outside the grid where the axis wraps */
    int x_lo, x_hi, y_lo; /* nodes that it stores, ... */
    int end;              /* ... until this step */
    unsigned faces;       /* bit of each face that it meets and that does not wrap */
    bool odd;             /* its vectors are not aligned in memory, or cross the wrap */
    int fetching;         /* where the queue has the oldest pair of rows, and gets the next one */
    int fetched;          /* row to fetch next, ... */
    const T *source;      /* ... and where it begins */
    unsigned phase; /* bit of each place in the queue: parity of what the copy engine brings next */

    __device__ __forceinline__ march(const arguments<T> &arguments,
                                     typename block::shared_memory &memory, int side)
        : p(arguments), shared(memory), lane((int)threadIdx.x % 32),
          warp(block::WARPS > 1 ? side : 0), turn(0), round(0), fetching(0), phase(0)
    {
        giver = warp * 32 + lane;
        if (!FIRST && lane == 0 && warp > 0)
            giver -= 2;
        if (!FIRST && lane == 31 && warp + 1 < p.cut.warps)
            giver += 2;
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
        odd = x < 0 || x + 32 * WIDTH > p.nx || (x | x_lo | x_hi) % VECTOR != 0;
    }

    /* ---- rows come and go ---------------------------------------------------------------------
     */

    /* Rows from this one on are fetched. Beyond the last one comes the first, which is right where
     * the axis wraps and does no harm where it does not. */
    __device__ __forceinline__ void seek(int row)
    {
        fetched = row;
        source = p.in + row * p.pitch;
    }
    __device__ __forceinline__ const T *second_row() const
    {
        return source + p.pitch - (fetched + 1 < p.ny ? 0 : p.ny * p.pitch);
    }

    /* A row by the lanes, across the wrap, or where its vectors are not aligned. */
    __device__ __forceinline__ void fetch_odd(const T *row, vector *to) const
    {
        const int begin = p.wrap[0] ? wrapped(x, p.nx) : x;
        const bool aligned = begin % VECTOR == 0 && (!p.wrap[0] || p.nx % VECTOR == 0);
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const int n = v * 32 + lane, from = begin + n * VECTOR;
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

    /* The next pair of rows on its way: by one lane, or by all where the strip is odd. */
    template <bool PLAIN>
    __device__ __forceinline__ void fetch()
    {
        vector *const first = shared.queue[fetching][0] + warp * 32 * VECTORS;
        vector *const second = shared.queue[fetching][1] + warp * 32 * VECTORS;
        if (PLAIN || !odd) {
            if (lane == 0) {
                bulk::barrier *const full = &shared.full[fetching][warp];
                bulk::arrive_with(full, 2 * 32 * WIDTH * sizeof(T));
                bulk::copy(first, source + x, 32 * WIDTH * sizeof(T), full);
                bulk::copy(second, second_row() + x, 32 * WIDTH * sizeof(T), full);
            }
        } else {
            fetch_odd(source, first);
            fetch_odd(second_row(), second);
            __pipeline_commit();
        }
        fetched += 2;
        source += 2 * p.pitch;
        if (fetched >= p.ny) {
            fetched -= p.ny;
            source -= p.ny * p.pitch;
        }
        fetching = fetching == AHEAD ? 0 : fetching + 1;
    }

    /* Waits for the oldest pair of rows. */
    template <bool PLAIN>
    __device__ __forceinline__ void await()
    {
        if (PLAIN || !odd) {
            const int at = fetching == AHEAD ? 0 : fetching + 1;
            bulk::wait(&shared.full[at][warp], phase >> at & 1);
            phase ^= 1u << at;
        } else {
            __pipeline_wait_prior(AHEAD - 1);
        }
    }

    /* A row of the group's first level: the first or the second of the pair. */
    __device__ __forceinline__ void take(int which, T (&to)[WIDTH]) const
    {
        const vector *from = shared.queue[fetching][which];
        if (!FIRST)
            from = shared.passed[FIRST ? 0 : GROUP - 1][turn][which];
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const vector part = from[giver * VECTORS + v];
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                to[v * VECTOR + e] = part.v[e];
        }
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
        if (!LAST || PLAIN) {
            vector *const to =
                LAST ? shared.warp[place_of_warp()].leaving[turn][which] + lane * VECTORS
                     : shared.passed[LAST ? 0 : GROUP][turn][which] + (warp * 32 + lane) * VECTORS;
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
            const int from = x + lane * WIDTH + v * VECTOR;
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
        const vector(*const rows)[32 * VECTORS] =
            shared.warp[place_of_warp()].leaving[turn == 0 ? 2 : turn - 1];
        if (since < steps)
            bulk::store(to, (const T *)rows[0] + (x_lo - x), bytes);
        if (since + 1 < steps)
            bulk::store(to + (int)p.pitch, (const T *)rows[1] + (x_lo - x), bytes);
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
            sum[e] = star::fused(p.c[0], of.row[OLD][0][e], p.level[BASE].source_value);
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
                put_ghosts(BASE + l, now, left[l], right[l]);
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
                        star::fused(p.c[0], of.row[OLD][n][e], p.level[BASE + n].source_value);
            }
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                made[e] = star::fused(p.c[4], of.row[OLD][l][e], sum[e]);
            if (MEETS != INSIDE)
                put_held(BASE + l, now, made);
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
    __device__ __forceinline__ void step_at_ends(int old, int t) const
    {
        const T c[5] = {p.c[0], p.c[1], p.c[2], p.c[3], p.c[4]};
        const star::face_rule<T> low = p.rule[2][0], high = p.rule[3][0];
        T fresh[WIDTH];
        take(old, fresh);
#pragma unroll 1
        for (int l = 0; l < DEEP; l++) {
            const int level = BASE + l, k = t - 1 - level; /* row that is made */
            T(*const olds)[32] = shared.warp[place_of_warp()].ends[old][l];
            T(*const news)[32] = shared.warp[place_of_warp()].ends[1 - old][l];
            const T source_value = p.level[level].source_value;
            const T low_offset = p.level[level].offset[2][0];
            const T high_offset = p.level[level].offset[3][0];
            T now[WIDTH], older[WIDTH], made[WIDTH];
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                now[e] = news[e][lane];
                older[e] = olds[e][lane];
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
                olds[e][lane] = above;
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

    __device__ __forceinline__ int place_of_warp() const
    {
        return GROUP * block::WARPS + warp;
    }

    /* Before a pair of steps: its rows are there. */
    template <bool PLAIN>
    __device__ __forceinline__ void arrive(int t, int from)
    {
        if (FIRST)
            await<PLAIN>();
        else
            bulk::wait(&shared.given[GROUP - 1][turn], round);
        if (!LAST)
            bulk::wait(&shared.taken[GROUP][turn], round ^ 1u);
        if (PLAIN && LAST)
            bulk::after_loads();
        if (FIRST || (PLAIN && LAST))
            __syncwarp(); /* lanes take what others fetched, and fetch over what others took */
        if (PLAIN && LAST && lane == 0) {
            leave_for_memory(t, from);
            bulk::await_stores<1>();
        }
        if (FIRST)
            fetch<PLAIN>();
        if (PLAIN && LAST)
            __syncwarp();
    }
    /* After it: its rows are the next group's, and those of the group before are no longer needed.
     * There are three places for pairs of rows between groups, so that none waits for the other
     * while they are about as fast. */
    __device__ __forceinline__ void leave()
    {
        if (!LAST)
            __mbarrier_arrive(&shared.given[GROUP][turn]);
        if (!FIRST)
            __mbarrier_arrive(&shared.taken[GROUP - 1][turn]);
        turn = turn == 2 ? 0 : turn + 1;
        round ^= turn == 0 ? 1u : 0u;
    }

    /* Whether a row made in the steps t and t + 1, or a row that it is made of, lies at or beyond a
     * face of y. */
    __device__ __forceinline__ bool is_at_end(int t) const
    {
        const int row = t - BASE; /* that arrives */
        return faces & 12 && ((row >= 0 && row <= DEEP) || (row + 1 >= p.ny && row < p.ny + DEEP));
    }

    /* Until when, from step t on, there is no such pair. */
    __device__ __forceinline__ int quiet(int t) const
    {
        const int row = t - BASE;
        if (!(faces & 12) || row >= p.ny + DEEP)
            return end;
        if (is_at_end(t))
            return t;
        return min(end, t + ((row < 0 ? 0 : p.ny - 1) - row + 1) / 2 * 2);
    }

    /* Between the stretches away from the faces of y and at them, rows are in shared memory. */
    __device__ __forceinline__ T &kept(int n) const
    {
        return shared.warp[place_of_warp()]
            .ends[n / WIDTH / DEEP][n / WIDTH % DEEP][n % WIDTH][lane];
    }

    template <meets MEETS>
    __device__ __forceinline__ void advance(int t, int until)
    {
        rows of;
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            of.row[n / WIDTH / DEEP][n / WIDTH % DEEP][n % WIDTH] = kept(n);
        __syncwarp();
        const int from = x_lo < x_hi ? max(t, y_lo + (int)LAG) : end;
#pragma unroll 1
        for (; t < until; t += 2) {
            arrive<MEETS != ODD>(t, from);
            step<0, MEETS>(t, of);
            step<1, MEETS>(t + 1, of);
            leave();
        }
        if (MEETS != ODD && LAST) {
            bulk::after_loads();
            __syncwarp();
            if (lane == 0) {
                leave_for_memory(t, from);
                bulk::await_stores<0>();
            }
            __syncwarp();
        }
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            kept(n) = of.row[n / WIDTH / DEEP][n / WIDTH % DEEP][n % WIDTH];
    }

    /* A pair of steps at a face of y. Small rather than fast. */
    __device__ __forceinline__ void advance_at_ends(int t)
    {
        arrive<false>(t, t);
#pragma unroll 1
        for (int which = 0; which < 2; which++)
            step_at_ends(which, t + which);
        leave();
    }

    /* Rows lo to hi - 1 of a strip. */
    __device__ __forceinline__ void run(int strip, int lo, int hi)
    {
        place(strip, lo, hi);
        int t = lo - LEVELS;
        if (faces & 12)
            t = max(t, 0);
        if (FIRST) {
            bulk::after_loads();
            __syncwarp();
            seek(p.wrap[1] ? wrapped(t, p.ny) : t);
#pragma unroll
            for (int n = 0; n < AHEAD; n++)
                fetch<false>();
        }
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            kept(n) = T(0);
#pragma unroll 1
        while (t < end) {
            const int until = quiet(t);
            if (t == until) {
                advance_at_ends(t);
                t += 2;
                continue;
            }
            /* votes, so that the compiler sees that the warp stays together */
            if (odd)
                advance<ODD>(t, until);
            else if (!__any_sync(0xffffffffu, faces & 3))
                advance<INSIDE>(t, until);
            else if (!__any_sync(0xffffffffu, faces & 3 & ~p.held))
                advance<HELD>(t, until);
            else
                advance<SIDES>(t, until);
            t += (until - t + 1) / 2 * 2;
        }
        if (FIRST) { /* what was fetched too far */
            __pipeline_wait_prior(0);
#pragma unroll
            for (int n = 0; n < AHEAD; n++) {
                await<false>();
                fetching = fetching == AHEAD ? 0 : fetching + 1;
            }
            __syncwarp();
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
    if constexpr (GROUP + 1 < shape<T, LEVELS>::GROUPS)
        if (!__any_sync(0xffffffffu, warp / p.cut.warps == GROUP))
            return run<T, LEVELS, GROUP + 1>(p, memory);
    march<T, LEVELS, GROUP> m(p, memory, warp % p.cut.warps);
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
        for (auto &place : memory[0].full)
            for (bulk::barrier &warp : place)
                __mbarrier_init(&warp, 1);
        for (int n = 0; n < 3 * (block::GROUPS - 1); n++) {
            __mbarrier_init(&memory[0].given[n / 3][n % 3], 32 * p.cut.warps);
            __mbarrier_init(&memory[0].taken[n / 3][n % 3], 32 * p.cut.warps);
        }
        bulk::publish();
    }
    __syncthreads();
    run<T, LEVELS, 0>(p, memory[0]);
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
