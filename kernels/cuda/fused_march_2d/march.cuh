/*
 * The march of fused_march_2d along a strip: how rows come to a warp and leave it, an ordinary
 * step, a step near the faces of y, and the loop over pairs of steps.
 */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_2D_MARCH_CUH
#define HS_KERNELS_CUDA_FUSED_MARCH_2D_MARCH_CUH

#include "bulk.cuh"
#include "strips.cuh"

#include "core/cuda_asynchronous.cuh"

namespace strip
{

/*
 * What a pair of steps may meet along x. All lanes compute what only some need. All variants but
 * the last have no branches: the compiler moves nothing across a branch to hide latency.
 */
enum meets {
    INSIDE,
    HELD,  /* a face whose nodes are held */
    SIDES, /* any faces */
    ODD    /* any faces, and vectors that are not aligned in memory, or one that crosses the wrap */
};

/* How a block sweeps LEVELS levels, and its shared memory. */
template <typename T, int LEVELS>
struct shape {
    static constexpr hs_strip_block BLOCK = hs_strip_block_of(sizeof(T), LEVELS);
    enum {
        WIDTH = BLOCK.width,
        WARPS = BLOCK.warps,
        GROUPS = BLOCK.groups,
        DEEP = BLOCK.deep,
        SHORT = DEEP * GROUPS - LEVELS, /* this many of the last groups have one level less */
        PLACES = BLOCK.places,
        PAIRS = BLOCK.pairs,
        TOGETHER = 2 * PAIRS, /* rows in a place */
        VECTOR = HS_VECTOR_BYTES / sizeof(T),
        VECTORS = WIDTH / VECTOR,
        ROW = 32 * WARPS * VECTORS, /* vectors of a row; those of a lane are consecutive */
        BLOCKS = BLOCK.beside
    };
    using vector = star::vec<T>;
    /* The two newest rows of each of a warp's levels, at the ends of y. If a block is one warp,
     * they share memory with rows on their way to memory; otherwise that part is too small. */
    using ends = T[2][DEEP][WIDTH][32];
    enum : size_t {
        ENDS_SHARED = WARPS * GROUPS == 1,
        STAGE = sizeof(vector[PLACES][TOGETHER][ROW])
    };
    struct shared_memory {
        /* Rows in flight to each group, and from the last one to memory. Rows from memory lie warp
         * by warp; the others lie as in the grid: where two warps overlap, each contributes the
         * half that is still correct after its levels. */
        vector rows[GROUPS + 1][PLACES][TOGETHER][ROW];
        unsigned char more[ENDS_SHARED && sizeof(ends) > STAGE ? sizeof(ends) - STAGE : 16];
        bulk::barrier fetched[WARPS][PLACES];                       /* from memory, and ... */
        bulk::barrier given[GROUPS][PLACES], taken[GROUPS][PLACES]; /* ... from group to group */
        share part;
    };
    static_assert(sizeof(shared_memory) == hs_strip_shared_bytes(sizeof(T), LEVELS));
};

/*
 * Stands for any group where all have equally many levels and one code serves them: loops of its
 * own for each group do not always stay in the instruction cache, depending on where the program
 * lies (docs/performance/fused-2d-1d.md).
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
        PAIRS = block::PAIRS,
        TOGETHER = block::TOGETHER,
        HALF_OVERLAP = HS_STRIP_OVERLAP / 2,
        NEXT = 32 * WIDTH - HS_STRIP_OVERLAP, /* from warp to warp, in points */
        LONG = GROUPS - block::SHORT,         /* groups with the full number of levels */
        DEEP = block::DEEP - (GROUP < LONG ? 0 : 1),
        LAG = LEVELS,  /* steps from a row's arrival to its being stored */
        ODD_ROWS = 16, /* vectors are not aligned in memory, or one crosses the wrap */
        ROW_BYTES = block::ROW * HS_VECTOR_BYTES,
        PLACE_BYTES = TOGETHER * ROW_BYTES,
        TO = GROUPS > 1 ? 0 : 1 /* index in `orders`: a group among several has at most one order */
    };
    /* The two newest rows of each level. */
    struct rows {
        T row[2][DEEP][WIDTH];
    };

    /* The order for TMA at a place: which rows to copy from or to memory. It is kept and advanced:
     * all other groups wait for the two that would compute it anew. */
    struct order {
        char *memory;     /* the first row of the next place */
        bulk::spot stage; /* the warp's part of the first place's first row */
        int since;        /* the first step that needs no check of single rows, ... */
        unsigned steps;   /* ... and the number of such steps */
    };

    const arguments<T> &p;
    typename block::shared_memory &shared;
    int own_group, warp;
    bulk::spot takes;      /* the lane's first vector of the first place's first row */
    unsigned overlaps;     /* 1: the lane's first points belong to another warp, 2: its last */
    bulk::spot come, room; /* barriers of the first places that the warp takes from and gives to */
    int turn;              /* index of the current place */
    int pair;              /* index of the pair of rows in that place */
    unsigned round;        /* parity of the rounds through the places */
    int x;                 /* node of the warp's first point; outside the grid on a periodic axis */
    int x_lo, x_hi, y_lo;  /* nodes that the warp stores, ... */
    int end;               /* ... until this step */
    unsigned faces;        /* bit of each non-periodic face that the warp meets; ODD_ROWS */

    __device__ __forceinline__ march(const arguments<T> &arguments,
                                     typename block::shared_memory &memory, int which, int side)
        : p(arguments), shared(memory), own_group(which), warp(block::WARPS > 1 ? side : 0),
          turn(0), pair(0), round(0)
    {
        static_assert(
            block::WARPS == 1 ||
                ((int)block::DEEP <= (int)HALF_OVERLAP &&
                 (int)HALF_OVERLAP <= (int)WIDTH - (int)VECTOR && HALF_OVERLAP % VECTOR == 0),
            "half a overlap is right after a group's levels, and whole vectors of a lane");
        takes = bulk::spot_of(shared.rows[group()][0][0] + lane() * VECTORS +
                              warp * (first() ? 32 * WIDTH : (int)NEXT) / VECTOR);
        takes = __shfl_sync(0xffffffffu, takes, lane()); /* so that it is kept, not recomputed */
        overlaps = (warp > 0 && lane() == 0 ? 1u : 0u) |
                   (warp + 1 < p.cut.warps && lane() == 31 ? 2u : 0u);
        come = bulk::spot_of(first() ? &shared.fetched[warp][0] : &shared.given[group() - 1][0]);
        room = bulk::spot_of(&shared.taken[group()][0]);
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
    /* Levels before the group's first. */
    __device__ __forceinline__ int base() const
    {
        return group() * block::DEEP - (GROUP < LONG ? 0 : GROUP - LONG);
    }

    /* Sets up the block's part of strip s. */
    __device__ __forceinline__ void place(int s)
    {
        const share &part = shared.part;
        const int lo = s == part.first ? part.lo : 0, hi = s == part.last ? part.hi : p.ny;
        const int size = NEXT * (p.cut.warps - 1) + 32 * WIDTH, halo = p.cut.halo;
        int first = p.cut.lead + (s - 1) * p.cut.stored - halo, left = first + halo;
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
        const int least = warp == 0 ? left : max(left, x + (int)HALF_OVERLAP);
        const int behind =
            warp == p.cut.warps - 1 ? right : min(right, x + (int)NEXT + (int)HALF_OVERLAP);
        x_lo = max(least, x);
        x_hi = min(min(behind, p.nx), x + 32 * WIDTH);
        y_lo = lo;
        end = star::anew(hi + LAG); /* no uniform register is left */
        if ((begin() | x_lo | x_hi | (crosses() ? p.nx : 0)) % VECTOR != 0)
            faces |= ODD_ROWS;
    }

    /* The strip's first point, mapped into the grid; a strip is at most as wide as the grid. */
    __device__ __forceinline__ int begin() const
    {
        return x < 0 ? x + p.nx : x < p.nx ? x : x - p.nx;
    }

    /* Whether rows continue at the grid's first point after its last one. */
    __device__ __forceinline__ bool crosses() const
    {
        return begin() + 32 * WIDTH > p.nx;
    }

    /* ---- rows come and go ---------------------------------------------------------------------
     */

    /* All lanes fetch a row whose vectors are not aligned or of which one crosses the wrap. */
    __device__ __forceinline__ void fetch_odd(const T *row, vector *to) const
    {
        const int begin = this->begin(), own = star::anew(lane());
        const bool aligned = begin % VECTOR == 0 && (!p.wrap[0] || p.nx % VECTOR == 0);
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const int n = v * 32 + own, from = begin + n * VECTOR;
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

    /* Row y >= 0. Rows after the last one continue at the first one, which does no harm if the axis
     * is not periodic. Every grid has at least three rows. */
    __device__ __forceinline__ const T *row_at(int y) const
    {
        return p.in + (int64_t)(y < p.ny ? y : y - p.ny) * (int)p.pitch;
    }

    /* Starts the copy of the rows that arrive from step t on, as many as a place holds, to that
     * place. One lane does it, or all lanes if the strip is odd. */
    template <bool PLAIN>
    __device__ __forceinline__ void fetch(int t, int place)
    {
        if (t < end) {
            int y = t;
            if (y < 0 || y >= p.ny)
                y = wrapped(y, p.ny);
            vector(*const to)[block::ROW] = shared.rows[0][place];
            const int at = warp * 32 * VECTORS;
            bulk::barrier *const full = &shared.fetched[warp][place];
            if (!PLAIN && odd()) {
#pragma unroll
                for (int n = 0; n < TOGETHER; n++)
                    fetch_odd(row_at(y + n), to[n] + at);
                if (lane() == 0)
                    __mbarrier_arrive(full);
            } else if (bulk::is_leader()) {
                const int before = min(p.nx - begin(), 32 * (int)WIDTH); /* the wrap */
                bulk::arrive_with(full, TOGETHER * 32 * WIDTH * (unsigned)sizeof(T));
#pragma unroll 1
                for (int n = 0; n < TOGETHER; n++) {
                    const T *const row = row_at(y + n);
                    bulk::copy(to[n] + at, row + begin(), before * (int)sizeof(T), full);
                    if (before < 32 * WIDTH)
                        bulk::copy(&to[n][at].v[0] + before, row,
                                   (32 * WIDTH - before) * (int)sizeof(T), full);
                }
            }
        }
        if (!PLAIN)
            __pipeline_commit(); /* also if empty, since commits are counted */
    }

    /* Reads a row of the group's first level: row `which` of that pair in the place. */
    __device__ __forceinline__ void take(int which, T (&to)[WIDTH], int of_pair) const
    {
        const bulk::spot from = takes + turn * PLACE_BYTES + (2 * of_pair + which) * ROW_BYTES;
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            const vector part = bulk::value<vector>(from + v * HS_VECTOR_BYTES);
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                to[v * VECTOR + e] = part.v[e];
        }
    }

    __device__ __forceinline__ static int before(int place)
    {
        return place == 0 ? PLACES - 1 : place - 1;
    }

    /* Passes on a row of the group's last level, made in step t: to the next group, or to memory.
     * If PLAIN, it goes to memory by way of shared memory. */
    template <bool PLAIN>
    __device__ __forceinline__ void put(int which, int t, const T (&made)[WIDTH], int of_pair) const
    {
        vector part[VECTORS];
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            part[e / VECTOR].v[e % VECTOR] = made[e];
        if (PLAIN || !last()) {
            const int gives = PLACES * PLACE_BYTES -
                              (first() ? warp * (32 * WIDTH - NEXT) / VECTOR * HS_VECTOR_BYTES : 0);
            const bulk::spot to =
                takes + gives + turn * PLACE_BYTES + (2 * of_pair + which) * ROW_BYTES;
#pragma unroll
            for (int v = 0; v < VECTORS; v++)
                if (block::WARPS == 1 ||
                    !(overlaps & ((v * VECTOR < HALF_OVERLAP ? 1u : 0u) |
                                  ((v + 1) * VECTOR > WIDTH - HALF_OVERLAP ? 2u : 0u))))
                    bulk::value<vector>(to + v * HS_VECTOR_BYTES) = part[v];
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

    /* Writes to memory the rows that `pairs` pairs of steps, from step t on, have put into a place,
     * as far as they are stored and were made from step `from` on. */
    __device__ __forceinline__ void leave_for_memory(int t, int from, int place, int pairs) const
    {
        const unsigned bytes = (unsigned)(x_hi - x_lo) * (unsigned)sizeof(T);
        const unsigned since = (unsigned)(t - from), steps = (unsigned)(end - from);
        T *const to = p.out + (int64_t)(t - LAG) * (int)p.pitch + x_lo;
        const T *const rows =
            (const T *)shared.rows[GROUPS][place][0] + warp * (int)NEXT + (x_lo - x);
#pragma unroll 1
        for (int n = 0; n < 2 * pairs; n++)
            if (since + n < steps)
                bulk::store(to + (int64_t)n * (int)p.pitch, rows + n * block::ROW * VECTOR, bytes);
        bulk::end_stores();
    }

    /* The orders of a march from step t on; all rows made from step `from` on are stored. */
    __device__ __forceinline__ void begin_orders(int t, int from, order (&orders)[1 + TO]) const
    {
        if (pair != 0)
            t += 2 * (PAIRS - pair);
        if (last()) {
            orders[TO].memory =
                (char *)(p.out + (int64_t)(t - TOGETHER - LAG) * (int)p.pitch + x_lo);
            orders[TO].stage =
                bulk::spot_of(&shared.rows[GROUPS][0][0][0].v[0] + warp * (int)NEXT + (x_lo - x));
            orders[TO].since = from + TOGETHER;
            orders[TO].steps = (unsigned)max(end - from, 0);
        }
        if (first()) {
            const int ahead = TOGETHER * (PLACES - 1);
            orders[0].memory = (char *)(p.in + (int64_t)(t + ahead) * (int)p.pitch + begin());
            orders[0].stage = bulk::spot_of(shared.rows[0][0][0] + warp * 32 * VECTORS);
            orders[0].since = -ahead;
            orders[0].steps = crosses() ? 0u : (unsigned)max(min(end, p.ny - TOGETHER + 1), 0);
        }
    }

    /* Stores the rows put into the previous place, and fetches the next rows into it. */
    __device__ __forceinline__ void follow_orders(int t, int from, order (&orders)[1 + TO])
    {
        const int64_t pitch = (int64_t)(int)p.pitch * (int)sizeof(T);
        const int at = before(turn);
        if (last()) {
            order &to = orders[TO];
            bulk::after_loads();
            __syncwarp();
            if (bulk::is_leader()) {
                if (__builtin_expect((unsigned)(t - to.since) < to.steps, 1)) {
                    const unsigned bytes = (unsigned)(x_hi - x_lo) * (unsigned)sizeof(T);
#pragma unroll
                    for (int n = 0; n < TOGETHER; n++)
                        bulk::store(to.memory + n * pitch,
                                    to.stage + at * PLACE_BYTES + n * ROW_BYTES, bytes);
                    bulk::end_stores();
                } else {
                    leave_for_memory(t - TOGETHER, from, at, PAIRS);
                }
                bulk::await_stores<1>();
            }
            to.memory += TOGETHER * pitch;
            __syncwarp();
        }
        if (first()) {
            order &in = orders[0];
            if (!last())
                __syncwarp(); /* lanes read what others fetched, and fetch over what others read */
            if (__builtin_expect((unsigned)(t - in.since) < in.steps, 1)) {
                if (bulk::is_leader()) {
                    const unsigned bytes = 32 * WIDTH * sizeof(T);
                    const bulk::spot full = come + at * (int)sizeof(bulk::barrier);
                    bulk::arrive_with(full, TOGETHER * bytes);
#pragma unroll
                    for (int n = 0; n < TOGETHER; n++)
                        bulk::copy(in.stage + at * PLACE_BYTES + n * ROW_BYTES,
                                   in.memory + n * pitch, bytes, full);
                }
            } else {
                fetch<true>(t + TOGETHER * (PLACES - 1), at);
            }
            in.memory += TOGETHER * pitch;
        }
    }

    /* ---- a step -------------------------------------------------------------------------------
     */

    __device__ __forceinline__ T ghost(int f, int level, T inner, T edge) const
    {
        return star::ghost(p.rule[f][0], inner, edge, p.level[level].offset[f][0]);
    }

    /* The ghosts beyond the faces of x, put where the sweep reads the neighbour. */
    __device__ __forceinline__ void put_ghosts(int level, const T (&now)[WIDTH], T &left,
                                               T &right) const
    {
        const T low = ghost(0, level, now[1], now[0]);
        const T high = ghost(1, level, now[WIDTH - 2], now[WIDTH - 1]);
        left = faces & 1 && lane() == 0 ? low : left;
        right = faces & 2 && lane() == 31 ? high : right;
    }

    /* Sets the held nodes of the faces of x. */
    __device__ __forceinline__ void put_held(int level, const T (&now)[WIDTH],
                                             T (&made)[WIDTH]) const
    {
        const unsigned held = faces & p.held & ((lane() == 0 ? 1u : 0u) | (lane() == 31 ? 2u : 0u));
        const T low = p.keeping & 1 ? now[0] : p.level[level].prescribed[0];
        const T high = p.keeping & 2 ? now[WIDTH - 1] : p.level[level].prescribed[1];
        made[0] = held & 1 ? low : made[0];
        made[WIDTH - 1] = held & 2 ? high : made[WIDTH - 1];
    }

    /* A step away from the faces of y: a row of the group's first level arrives. OLD is the older
     * of the two rows of each level, and the number of the step in its pair. */
    template <int OLD, meets MEETS>
    __device__ __forceinline__ void step(int t, rows &of, int of_pair) const
    {
        constexpr int NEW = 1 - OLD, END = DEEP - 1;
        T left[DEEP], right[DEEP], sum[WIDTH], made[WIDTH];
        left[0] = __shfl_up_sync(0xffffffffu, of.row[NEW][0][WIDTH - 1], 1);
        right[0] = __shfl_down_sync(0xffffffffu, of.row[NEW][0][0], 1);
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            sum[e] = star::fused(p.c[0], of.row[OLD][0][e], p.level[base()].source_value);
        take(OLD, of.row[OLD][0], of_pair);
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
        put<MEETS != ODD>(OLD, t, made, of_pair);
    }

    /* ---- near the faces of y ------------------------------------------------------------------
     */

    /* Sets the held nodes of row k. Where faces meet, a face that prescribes takes precedence over
     * one that keeps, and a later prescribing face over an earlier one: keep first, then prescribe
     * in order. */
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
            made[e] = first && takes & 1 ? p.level[level].prescribed[0] : made[e];
            made[e] = last && takes & 2 ? p.level[level].prescribed[1] : made[e];
            made[e] = takes & 4 ? p.level[level].prescribed[2] : made[e];
            made[e] = takes & 8 ? p.level[level].prescribed[3] : made[e];
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

    /* Makes row k of the level after `level` from this level's two newest rows and the row above.
     * On return `older` holds the row above and `fresh` the new row. */
    __device__ __forceinline__ void make_at_end(int level, int k, const T (&now)[WIDTH],
                                                T (&older)[WIDTH], T (&fresh)[WIDTH]) const
    {
        T left = __shfl_up_sync(0xffffffffu, now[WIDTH - 1], 1);
        T right = __shfl_down_sync(0xffffffffu, now[0], 1);
        put_ghosts(level, now, left, right);
        if (faces & 4 && k == 0) {
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                older[e] = ghost(2, level, fresh[e], now[e]);
        }
        if (faces & 8 && k == p.ny - 1) {
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                fresh[e] = ghost(3, level, older[e], now[e]);
        }
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            const T above = fresh[e];
            T sum = star::fused(p.c[0], older[e], p.level[level].source_value);
            sum = star::fused(p.c[1], e > 0 ? now[(e + WIDTH - 1) % WIDTH] : left, sum);
            sum = star::fused(p.c[2], now[e], sum);
            sum = star::fused(p.c[3], e + 1 < WIDTH ? now[(e + 1) % WIDTH] : right, sum);
            fresh[e] = star::fused(p.c[4], above, sum);
            older[e] = above;
        }
        put_all_held(level, k, now, fresh);
    }

    /* Like step(), but level after level, since a ghost may need the row that was just made. */
    template <int OLD>
    __device__ __forceinline__ void step_at_ends(int t, rows &own) const
    {
        T fresh[WIDTH];
        take(OLD, fresh, pair);
        if constexpr (block::ENDS_SHARED) {
#pragma unroll 1
            for (int l = 0; l < DEEP; l++) {
                T now[WIDTH], older[WIDTH];
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    now[e] = at(own, 1 - OLD, l, e);
                    older[e] = at(own, OLD, l, e);
                }
                make_at_end(base() + l, t - 1 - base() - l, now, older, fresh);
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    at(own, OLD, l, e) = older[e];
            }
        } else {
#pragma unroll
            for (int l = 0; l < DEEP; l++)
                make_at_end(base() + l, t - 1 - base() - l, own.row[1 - OLD][l], own.row[OLD][l],
                            fresh);
        }
        put<false>(OLD, t, fresh, pair);
    }

    /* ---- the march ----------------------------------------------------------------------------
     */

    /* Waits for the next place's rows and for room for the rows made from them. */
    __device__ __forceinline__ void await_place()
    {
        const int at = turn * (int)sizeof(bulk::barrier);
        const bulk::spot other = (last() ? come : room) + at;
        const bool both =
            bulk::is_over(come + at, round) & bulk::is_over(other, last() ? round : round ^ 1u);
        if (__builtin_expect(__all_sync(0xffffffffu, both), 1))
            return;
        bulk::wait(come + at, round);
        if (!last())
            bulk::wait(room + at, round ^ 1u);
    }
    /* The same, then follows the orders. */
    __device__ __forceinline__ void enter_place(int t, int from, order (&orders)[1 + TO])
    {
        await_place();
        if (first() || last())
            follow_orders(t, from, orders);
    }
    /* The same if the lanes fetch and store by themselves. */
    __device__ __forceinline__ void enter_place_alone(int t)
    {
        await_place();
        if (first()) {
            __pipeline_wait_prior(PLACES - 2);
            __syncwarp();
            fetch<false>(t + TOGETHER * (PLACES - 1), before(turn));
        }
    }
    /* Ends a pair of steps. After a place's last pair its rows belong to the next group, and the
     * previous group may refill its own. Between groups there are three places for two rows or two
     * for four, enough that groups that are about equally fast never wait for each other. */
    __device__ __forceinline__ void leave()
    {
        if (PAIRS > 1 && ++pair < PAIRS)
            return;
        leave_place();
    }
    __device__ __forceinline__ void leave_place()
    {
        pair = 0;
        if (!last())
            __mbarrier_arrive(&shared.given[group()][turn]);
        if (!first())
            __mbarrier_arrive(&shared.taken[group() - 1][turn]);
        turn = turn == PLACES - 1 ? 0 : turn + 1;
        round ^= turn == 0 ? 1u : 0u;
    }

    /* Whether a row made in step t or t + 1, or a row that it is made from, lies at or beyond a
     * face of y. */
    __device__ __forceinline__ bool is_at_end(int t) const
    {
        const int row = t - base(); /* that arrives */
        return faces & 12 && ((row >= 0 && row <= DEEP) || (row + 1 >= p.ny && row < p.ny + DEEP));
    }

    /* The first step from t on whose pair is at an end, at most `end`. */
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
        constexpr bool PLAIN = MEETS != ODD;
        rows of;
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            of.row[n / WIDTH / DEEP][n / WIDTH % DEEP][n % WIDTH] =
                at(own, n / WIDTH / DEEP, n / WIDTH % DEEP, n % WIDTH);
        __syncwarp();
        const int from = x_lo < x_hi ? max(t, y_lo + (int)LAG) : end;
        order orders[1 + TO];
        if (PLAIN)
            begin_orders(t, from, orders);
#pragma unroll 1
        while (t < until) {
            /* most steps go a place at a time, which halves the overhead per step */
            if (PAIRS > 1 && PLAIN && pair == 0) {
#pragma unroll 1
                for (; t + TOGETHER - 2 < until; t += TOGETHER) {
                    enter_place(t, from, orders);
#pragma unroll
                    for (int n = 0; n < PAIRS; n++) {
                        step<0, MEETS>(t + 2 * n, of, n);
                        step<1, MEETS>(t + 2 * n + 1, of, n);
                    }
                    leave_place();
                }
                if (t >= until)
                    break;
            }
            if (PLAIN && pair == 0)
                enter_place(t, from, orders);
            if (!PLAIN && pair == 0)
                enter_place_alone(t);
            step<0, MEETS>(t, of, pair);
            step<1, MEETS>(t + 1, of, pair);
            leave();
            t += 2;
        }
        if (PLAIN && last()) {
            bulk::after_loads();
            __syncwarp();
            if (bulk::is_leader()) {
                if (pair == 0)
                    leave_for_memory(t - TOGETHER, from, before(turn), PAIRS);
                else
                    leave_for_memory(t - 2 * pair, from, turn, pair);
                bulk::await_stores<0>();
            }
            __syncwarp();
        }
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            at(own, n / WIDTH / DEEP, n / WIDTH % DEEP, n % WIDTH) =
                of.row[n / WIDTH / DEEP][n / WIDTH % DEEP][n % WIDTH];
    }

    /* A pair of steps at a face of y. */
    __device__ __forceinline__ void advance_at_ends(int t, rows &own)
    {
        if (pair == 0)
            enter_place_alone(t);
        step_at_ends<0>(t, own);
        step_at_ends<1>(t + 1, own);
        leave();
    }

    /* The block's part of a strip. */
    __device__ __forceinline__ void run(int strip)
    {
        place(strip);
        if (y_lo + (int)LAG >= end)
            return;
        int t = y_lo - LEVELS;
        if (faces & 12)
            t = max(t, 0);
        if (first()) {
            bulk::after_loads();
            __syncwarp();
#pragma unroll
            for (int n = 0; n < PLACES - 1; n++)
                fetch<false>(t + TOGETHER * n, (turn + n) % PLACES);
        }
        rows own;
#pragma unroll
        for (int n = 0; n < 2 * DEEP * WIDTH; n++)
            at(own, n / WIDTH / DEEP, n / WIDTH % DEEP, n % WIDTH) = T(0);
#pragma unroll 1
        while (t < end) {
            place(strip); /* computed again rather than kept */
            const int until = quiet(t);
            if (t == until) {
                advance_at_ends(t, own);
                t += 2;
                continue;
            }
            /* votes, so that the compiler sees that the warp does not diverge */
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
        if (pair != 0) /* the rest of the place stays empty */
            leave_place();
    }
};

} // namespace strip

#endif
