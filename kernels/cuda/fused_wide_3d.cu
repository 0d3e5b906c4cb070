/*
 * fused_wide_3d: two sweeps of a star of radius 2 in one pass over memory.
 *
 * As fused_march_3d a block marches a column of the grid along z with both time levels under way;
 * only level 0 is read and only the last level is written. A star of radius 2 looks at five planes,
 * so a thread keeps no planes but sums, three of each level: when plane z has come,
 *
 *     plane z-2 of the next level   its last term, c z+2, comes from plane z: it is made
 *     z-1                           what is in its plane, which all can see by now, and c z+1
 *     z                             c z-1, from plane z-1
 *     z+1                           begins with c z-2, from plane z-1
 *
 * and every sum ends in the registers of the one before, so nothing is moved, and the additions
 * have the one order of core/stencil.h. The plane just made is the newest of level 1, whose sums go
 * on in the same way within the same step. Planes lie in shared memory, for the neighbours of the
 * next step: six of level 0, three of them on their way from memory, and three of level 1.
 *
 *     x neighbours: float, by shuffle (4 a row of 4 points); double, two vectors from shared memory
 *     y neighbours: in the thread (it owns 5 rows, in double 4), else from shared memory
 *     z neighbours: own points only; in double the plane before stays in registers too
 *
 * A step begins with the rows whose neighbours are the thread's own, which hides the wait for the
 * warps beside this one (neighbours.cuh). Nodes of fixed faces of x and z go the way of the sums,
 * chosen by masks; ghosts beyond faces of x are made by all and chosen by few; those of y lie in
 * shared memory, put there by the warps at the face alone. The rim of 4 points is swept
 * redundantly.
 *
 * Tiles of 64 x 80 points in float, 64 x 32 in double. Words per point and sweep: (1.3 + 1)/2
 * (double (1.5 + 1)/2) from and to device memory; 13 multiply-adds of 18 instructions (float,
 * counted, redundant ones not).
 *
 * 512^3 on an H200, as a ratio to the device copy, fixed walls and periodic, 2026-11-21:
 *
 *                                                       float          double
 *     tiles of 64 x 96 and 64 x 48, held nodes put
 *         right in shared memory, one after the other   1.11  1.25     -     -
 *     their values read at once; no branches inside;
 *         inner rows before the wait                    1.20  1.23     1.13  1.18
 *     64 x 80 and 64 x 40                               1.25  1.32     1.33  1.40
 *     fixed nodes by masks                              1.39  1.31     1.35  1.32
 *     double: 64 x 32, rows in shared memory at
 *         multiples of 32 bytes                         1.39  1.31     1.41  1.36
 *     double: own points of the plane before stay       1.39  1.28     1.45  1.44
 *     rows that are not whole vectors have code of
 *         their own                                     1.41  1.30     1.46  1.45
 *     rows in shared memory as in their lines; faces
 *         without branches but for the warps at them    1.51  1.44     1.47  1.45
 *
 * By heatsolve bench with fixed walls 1.47 and 1.43 (commit a1ab17e). Other walls give 1.39
 * (dirichlet) to 1.42 (robin) in float and 1.40 to 1.41 in double; 1024^3 1.25 and 1.37, 256^3 1.14
 * in float. What bounds it and what was tried: docs/performance.md.
 *
 * Source: 3.5D blocking, Nguyen, Satish, Chhugani, Kim, Dubey, SC'10; sums instead of planes, in
 * the order of memory, are ours.
 */
#include "columns.cuh"
#include "neighbours.cuh"

#include "core/tiling_columns.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of its own */
#include <cuda_pipeline.h>
#pragma GCC diagnostic pop

namespace wide
{

enum { R = 2, MOST_LEVELS = HS_WIDE_STEPS };

template <typename T>
struct tile {
    enum {
        WIDTH = HS_VECTOR_BYTES / sizeof(T),
        NX = HS_WIDE_X,
        LANES = NX / WIDTH,
        ROWS = sizeof(T) == 4 ? HS_WIDE_ROWS_FLOAT : HS_WIDE_ROWS_DOUBLE,
        WARPS = HS_WIDE_WARPS,
        THREADS = 32 * WARPS,
        GROUPS = THREADS / LANES, /* groups of lanes, each owning ROWS rows */
        NY = GROUPS * ROWS
    };
};

template <typename T>
struct arguments : star::faces<T, HS_FACES, R> {
    const T *in;
    T *out;
    int64_t pitch_y, pitch_z; /* a plane is smaller than 4 GiB */
    int nx, ny, nz;
    columns::cut cut;
    T c[6 * R + 1]; /* in the order of the additions */
    star::level<T, HS_FACES, R> level[MOST_LEVELS];
};

template <typename T, int N>
struct alignas(16) lane_values {
    T v[N];
};

using columns::column;
using star::wrapped;

/* What a step may meet. Up to OPEN_X all vectors lie in memory as in the tile. */
enum meets {
    NO_FACE,
    FACES_Y,    /* any faces of y */
    KEPT_FIRST, /* besides, the first face of x, R layers of which keep their values */
    KEPT_LAST,  /* ... or the last one, where a vector ends there */
    KEPT_X,     /* ... or any */
    KEPT_ENDS,  /* besides, faces of z whose R layers do */
    OPEN_X, /* as FACES_Y, and faces of x with ghosts beyond, whose first nodes may be prescribed */
    SIDES,  /* any faces of x and y */
    ENDS    /* those of z too */
};

/* Compute capability 10 has no registers left for some variants, and in float not for two levels.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
enum { LEAN = 1 };
#else
enum { LEAN = 0 };
#endif

template <typename T, int LEVELS>
struct march {
    enum {
        WIDTH = tile<T>::WIDTH,
        LANES = tile<T>::LANES,
        ROWS = tile<T>::ROWS,
        GROUPS = tile<T>::GROUPS,
        WARPS = tile<T>::WARPS,
        NX = tile<T>::NX,
        NY = tile<T>::NY,
        RIM = LEVELS * R,                          /* swept redundantly on each side: rows, */
        RIM_X = (RIM + WIDTH - 1) / WIDTH * WIDTH, /* and whole vectors */
        DEPTH = HS_WIDE_DEPTH,                     /* planes of level 0 in use or in flight */
        AHEAD = DEPTH - 3,                         /* */
        PASSED = HS_WIDE_PASSED,                   /* planes of level 1 */
        LOOPED = sizeof(T) == 4 || LEAN,           /* stretches of steps are taken by a loop */
        SHUFFLES = sizeof(T) == 4,    /* what is beside a row comes from the next lanes */
        KEEPS_OWN = !SHUFFLES,        /* the newest plane but one of each level, in registers */
        PITCH = LANES,                /* vectors from row to row, */
        PLANE = (NY + 2 * R) * PITCH, /* ... of a plane; beyond the tile is anything, */
        LINE = HS_FUSED_LINE_BYTES / HS_VECTOR_BYTES /* ... and of a line */
    };
    using vector = lane_values<T, WIDTH>;
    struct shared_memory {
        vector plane[DEPTH + (LEVELS > 1 ? PASSED : 0)]
                    [PLANE];    /* level 0's queue, then level 1's */
        vector plane_end[LINE]; /* as far as rows may begin later: see place() */
        typename neighbours<WARPS, LANES>::barriers arrived;
        struct {
            meets what;
            int end;
        } stretch[3]; /* of steps: what they meet, and the first one after them */
    };
    enum { SLOT = sizeof(vector) * PLANE };

    const arguments<T> &p;
    shared_memory &shared;
    const int lane, group;
    unsigned own_at;       /* bytes into a plane in shared memory, of this thread's first vector */
    unsigned at_row[ROWS]; /* ... of the grid, of its vector in each row */
    unsigned whole;        /* bit of each row that is stored as 16 bytes */
    unsigned kept[WIDTH];  /* all bits, where faces of x keep the values of these points */
    unsigned marks;        /* what is seldom looked at: */
    enum {
        TOUCHES = 0,  /* bit of each face of x and y that its points lie at, ... */
        HOLDS = 4,    /* ... with held nodes, but of x where `kept` says all; */
        STORES = 8,   /* bit of each row that is stored, ... */
        POINTS = 16,  /* ... of each point of a vector that is; */
        TO_WRAP = 20, /* points of a vector before the row's end, all or fewer; */
        SPLIT = 23    /* its vectors are not aligned in memory, or cross the wrap */
    };
    static_assert((int)ROWS <= 8 && (int)WIDTH <= 4, "marks have their places");
    neighbours<WARPS, LANES> beside; /* the warps whose rows this one looks at */
    /* Of every level's output, sums that go on: of the plane that lacks its last term, of the next
     * one, which lacks what is in its plane, and of the one after, which has one term. */
    vector own[LEVELS][ROWS]; /* of each level's input: the newest plane but one */
    T last[LEVELS][ROWS][WIDTH], next[LEVELS][ROWS][WIDTH], later[LEVELS][ROWS][WIDTH];

    __device__ march(const arguments<T> &arguments, shared_memory &memory)
        : p(arguments), shared(memory), lane(threadIdx.x % LANES), group(threadIdx.x / LANES),
          beside(memory.arrived)
    {
#pragma unroll
        for (int l = 0; l < LEVELS; l++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    last[l][r][e] = next[l][r][e] = later[l][r][e] = T(0);
    }

    /* Face f's nodes look at nothing beyond it. */
    __device__ bool keeps_all(int f) const
    {
        return p.layers[f] == R && (p.held & p.keeping) >> f & 1;
    }

    __device__ void place(const column &at)
    {
        const int x = at.x + lane * WIDTH, y = at.y + group * ROWS;
        const int x_load = p.wrap[0] ? wrapped(x, p.nx) : x, to_wrap = p.nx - x_load;
        const unsigned touches =
            at.faces & ((lane == 0 ? 1u : 0u) | (lane == LANES - 1 ? 2u : 0u) |
                        (group == 0 ? 4u : 0u) | (group == GROUPS - 1 ? 8u : 0u));
        unsigned points = 0, stores = 0;
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            points |= x + e >= at.x_lo && x + e < at.x_hi ? 1u << e : 0u;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            stores |= points && y + r >= at.y_lo && y + r < at.y_hi ? 1u << r : 0u;
            const int row = p.wrap[1] ? wrapped(y + r, p.ny) : y + r;
            at_row[r] = (unsigned)(row * p.pitch_y + x_load) * (unsigned)sizeof(T);
        }
        const bool split = x_load % WIDTH != 0 || (p.wrap[0] && to_wrap < WIDTH);
        whole = !split && points == (1u << WIDTH) - 1 ? stores : 0u;
        const unsigned keeps = (keeps_all(0) ? 1u : 0u) | (keeps_all(1) ? 2u : 0u);
        marks = touches << TOUCHES | (touches & p.held & ~keeps) << HOLDS | stores << STORES |
                points << POINTS | (unsigned)min(to_wrap, (int)WIDTH) << TO_WRAP |
                (split ? 1u << SPLIT : 0u);
        /* A row lies in shared memory as it does in its lines of 128 bytes in the field: where a
         * sector of 32 bytes would go into two, the copies ask for it twice. */
        own_at = ((R + group * ROWS) * PITCH + lane) * (unsigned)sizeof(vector) +
                 (unsigned)((uintptr_t)(p.in + at.x) / sizeof(vector) % LINE * sizeof(vector));
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            const bool first = keeps & at.faces & 1 && x + e < R;
            kept[e] = first || (keeps & at.faces & 2 && x + e >= p.nx - R) ? ~0u : 0u;
        }
    }
    __device__ unsigned marked(int first, int count) const
    {
        return marks >> first & ((1u << count) - 1);
    }
    __device__ bool stores(int r, int e) const
    {
        return marked(STORES + r, 1) && marked(POINTS + e, 1);
    }

    template <typename P>
    __device__ static P *offset_by(P *from, unsigned bytes)
    {
        return (P *)((char *)from + bytes);
    }
    __device__ vector *mine(unsigned slot) const
    {
        return (vector *)((char *)&shared.plane[0][0] + slot + own_at);
    }

    /* A plane of level 0. */
    template <meets MEETS>
    __device__ __forceinline__ void fetch(const T *from, unsigned slot)
    {
        vector *const to = mine(slot);
        if (MEETS <= OPEN_X || !marked(SPLIT, 1)) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                __pipeline_memcpy_async(to + r * PITCH, offset_by(from, at_row[r]), 16);
        } else {
            const int to_wrap = (int)marked(TO_WRAP, 3);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    __pipeline_memcpy_async(
                        &to[r * PITCH].v[e],
                        offset_by(from, at_row[r]) + (e < to_wrap ? e : e - p.nx), sizeof(T));
        }
    }

    __device__ T ghost(int f, int m, int level, T inner, T edge) const
    {
        return star::ghost(p.rule[f][m - 1], inner, edge, p.level[level].offset[f][m - 1]);
    }

    /* A row of a plane with what is beside it. */
    __device__ __forceinline__ void look_beside(const vector *now, const vector &row,
                                                T (&line)[WIDTH + 2 * R]) const
    {
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            line[R + e] = row.v[e];
        if constexpr (SHUFFLES) {
#pragma unroll
            for (int m = 0; m < R; m++) {
                line[m] = __shfl_up_sync(0xffffffffu, row.v[WIDTH - R + m], 1, LANES);
                line[R + WIDTH + m] = __shfl_down_sync(0xffffffffu, row.v[m], 1, LANES);
            }
        } else {
            const vector left = now[-1], right = now[1];
#pragma unroll
            for (int m = 0; m < R; m++) {
                line[m] = left.v[WIDTH - R + m];
                line[R + WIDTH + m] = right.v[m];
            }
        }
    }

    /* `a` where all bits are set, `b` where none is: predicates would be more than there are. */
    __device__ static float chosen(unsigned bits, float a, float b)
    {
        return __builtin_bit_cast(float, (__builtin_bit_cast(uint32_t, a) & bits) |
                                             (__builtin_bit_cast(uint32_t, b) & ~bits));
    }
    __device__ static double chosen(unsigned bits, double a, double b)
    {
        const uint64_t both = (uint64_t)bits << 32 | bits;
        return __builtin_bit_cast(double, (__builtin_bit_cast(uint64_t, a) & both) |
                                              (__builtin_bit_cast(uint64_t, b) & ~both));
    }

    /* All bits where `bit` is 1, none where it is 0; not in a way by which the compiler would find
     * that a branch could do it. */
    __device__ static unsigned all_if(unsigned bit)
    {
        asm("" : "+r"(bit));
        return 0u - bit;
    }

    /* This thread's rows of a plane, and R on each side: own ones, and those of its neighbours. */
    using window = vector[ROWS + 2 * R];
    __device__ static constexpr bool uses_own(meets m)
    {
        return KEEPS_OWN && m != KEPT_ENDS && m != ENDS;
    }
    template <int L, meets MEETS>
    __device__ __forceinline__ void look_at_own(const vector *now, window &row) const
    {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            row[R + r] = uses_own(MEETS) ? own[L][r] : now[r * PITCH];
    }
    /* Level L's plane, in shared memory or here, is the newest but one from now on. */
    template <int L>
    __device__ __forceinline__ void keep_own(const vector *plane)
    {
        if (KEEPS_OWN)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                own[L][r] = plane[r * PITCH];
    }
    template <int L>
    __device__ __forceinline__ void keep_own(const T (&plane)[ROWS][WIDTH])
    {
        if (KEEPS_OWN)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    own[L][r].v[e] = plane[r][e];
    }

    template <meets MEETS>
    __device__ __forceinline__ void look_around(int level, const vector *now, window &row) const
    {
#pragma unroll
        for (int r = 0; r < R; r++) {
            row[r] = now[(r - R) * PITCH];
            row[R + ROWS + r] = now[(ROWS + r) * PITCH];
        }
        if (MEETS == SIDES || MEETS == ENDS)
#pragma unroll
            for (int m = 1; m <= R; m++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    const T below = ghost(2, m, level, row[R + m].v[e], row[R].v[e]);
                    const T above =
                        ghost(3, m, level, row[R + ROWS - 1 - m].v[e], row[R + ROWS - 1].v[e]);
                    T &low = row[R - m].v[e], &high = row[R + ROWS - 1 + m].v[e];
                    low = marked(TOUCHES, 4) & 4 ? below : low;
                    high = marked(TOUCHES, 4) & 8 ? above : high;
                }
    }

    /* All bits, where faces of z keep plane k. */
    __device__ unsigned kept_end(int k) const
    {
        return all_if((keeps_all(4) && k < R) || (keeps_all(5) && k >= p.nz - R));
    }
    /*
     * Level L's plane k+1 is there (`newest`: this row of it), and plane k, whose rows are `row`:
     * row r of plane k-1 of the next level is made.
     */
    /* Faces of x may keep point e of a vector. */
    __device__ static constexpr bool may_keep(meets m, int e)
    {
        return m == KEPT_FIRST  ? e < R
               : m == KEPT_LAST ? e >= WIDTH - R
                                : m == KEPT_X || m == KEPT_ENDS || m >= SIDES;
    }
    template <int L, meets MEETS>
    __device__ __forceinline__ void sweep_row(int r, const unsigned (&still)[2], const vector *now,
                                              const window &row, const T (&newest)[WIDTH],
                                              T (&made)[WIDTH])
    {
        T line[WIDTH + 2 * R];
        if (MEETS >= SIDES)
            __syncwarp();
        look_beside(now + r * PITCH, row[R + r], line);
        if (MEETS >= OPEN_X) {
            constexpr int E = R + WIDTH - 1;
            const unsigned first = all_if(marked(TOUCHES, 1)),
                           final = all_if(marked(TOUCHES + 1, 1));
#pragma unroll
            for (int m = 1; m <= R; m++) {
                const T before = ghost(0, m, L, line[R + m], line[R]);
                const T after = ghost(1, m, L, line[E - m], line[E]);
                line[R - m] = chosen(first, before, line[R - m]);
                line[E + m] = chosen(final, after, line[E + m]);
            }
        }
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            const T kept_before = last[L][r][e];
            made[e] = star::fused(p.c[6 * R], newest[e], kept_before);
            T sum = next[L][r][e];
#pragma unroll
            for (int o = 0; o < R; o++)
                sum = star::fused(p.c[R + o], row[r + o].v[e], sum);
#pragma unroll
            for (int o = 0; o <= 2 * R; o++)
                sum = star::fused(p.c[2 * R + o], line[e + o], sum);
#pragma unroll
            for (int o = 0; o < R; o++)
                sum = star::fused(p.c[4 * R + 1 + o], row[R + r + 1 + o].v[e], sum);
            last[L][r][e] = star::fused(p.c[5 * R + 1], newest[e], sum);
            if (may_keep(MEETS, e)) { /* what is kept goes the way of the sums */
                const unsigned first = MEETS == KEPT_ENDS ? kept[e] | still[0] : kept[e];
                const unsigned second = MEETS == KEPT_ENDS ? kept[e] | still[1] : kept[e];
                made[e] = chosen(first, kept_before, made[e]);
                last[L][r][e] = chosen(second, line[R + e], last[L][r][e]);
            }
            next[L][r][e] = star::fused(p.c[1], line[R + e], later[L][r][e]);
            later[L][r][e] = star::fused(p.c[0], line[R + e], p.level[L].source_value);
        }
        if (MEETS == OPEN_X) { /* what is held there is prescribed */
            made[0] = marked(HOLDS, 4) & 1 ? p.level[L].hold[0] : made[0];
            made[WIDTH - 1] = marked(HOLDS, 4) & 2 ? p.level[L].hold[1] : made[WIDTH - 1];
        }
    }

    /* Before level `level`'s planes 0 and 1 are taken, by the ghosts before them: own points of its
     * first three planes. */
    template <typename Third>
    __device__ __forceinline__ void begin(int level, const vector *first,
                                          const T (&second)[ROWS][WIDTH], Third third,
                                          T (&next_)[ROWS][WIDTH], T (&later_)[ROWS][WIDTH])
    {
        const T source = p.level[level].source_value;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const vector edge = first[r * PITCH];
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const T one = ghost(4, 1, level, second[r][e], edge.v[e]);
                const T two = ghost(4, 2, level, third(r, e), edge.v[e]);
                next_[r][e] = star::fused(p.c[1], one, star::fused(p.c[0], two, source));
                later_[r][e] = star::fused(p.c[0], one, source);
            }
        }
    }

    /* Nodes of planes that faces of z hold. */
    __device__ bool end_holds(int k) const
    {
        return !p.wrap[2] && (k < p.layers[4] || p.nz - 1 - k < p.layers[5]);
    }
    __device__ __forceinline__ void hold_end(int level, int k, const vector *before,
                                             T (&made)[ROWS][WIDTH]) const
    {
        if (!end_holds(k))
            return;
        const unsigned takes = p.held & ~p.keeping;
        const bool first = k == 0 && takes & 16, final = k == p.nz - 1 && takes & 32;
        const T value = p.level[level].hold[final ? 5 : 4];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                made[r][e] = first || final ? value : before[r * PITCH].v[e];
    }

    /*
     * Puts right this thread's held nodes at faces of x and y of plane k, which was `before`, by
     * put_pair(r, f, pair, both), the two points of a row next to face f, both or the one at it,
     * and put_row(r, vector). Where faces meet, one that prescribes goes before one that keeps, and
     * of those that prescribe the later one has the node.
     */
    struct alignas(2 * sizeof(T)) two {
        T v[2];
    };
    template <meets MEETS, typename PutPair, typename PutRow>
    __device__ __forceinline__ void put_held(int level, int k, const vector *before,
                                             PutPair put_pair, PutRow put_row) const
    {
        const unsigned holds = marked(HOLDS, 4), takes = holds & ~p.keeping;
        const int edge = holds & 4 ? 0 : ROWS - 1, second = holds & 4 ? 1 : ROWS - 2;
        if (holds & 12) {
            const vector outer = before[edge * PITCH], inner = before[second * PITCH];
            put_row(edge, outer);
            if (p.layers[holds & 4 ? 2 : 3] > 1)
                put_row(second, inner);
        }
        if (holds & 3) {
            const int f = holds & 1 ? 0 : 1, e = f ? WIDTH - 2 : 0;
            const bool both = p.layers[f] > 1;
            two pair[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                pair[r] = *(const two *)&((const T *)&before[r * PITCH])[e];
            if (takes & 3)
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    pair[r].v[0] = f ? pair[r].v[0] : p.level[level].hold[0];
                    pair[r].v[1] = f ? p.level[level].hold[1] : pair[r].v[1];
                }
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                put_pair(r, f, pair[r], both);
        }
        if (takes & 12)
            put_row(edge, filled(p.level[level].hold[takes & 4 ? 2 : 3]));
        const int f = k == 0 ? 4 : 5;
        if (MEETS == ENDS && (k == 0 || k == p.nz - 1) && p.held & ~p.keeping & 1u << f)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                put_row(r, filled(p.level[level].hold[f]));
    }
    __device__ static vector filled(T value)
    {
        vector v;
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            v.v[e] = value;
        return v;
    }

    /* Where the march stands: bytes to planes z-2 .. z+1 of level 0, the one to be fetched, and the
     * last three of level 1, the newest first. */
    struct position {
        unsigned older, before, at, after, ahead;
        unsigned passed[PASSED];
        int coming;    /* plane of the grid that is to be fetched: beyond its end the last one, */
        const T *from; /* where that is in memory */
    };
    /* What faces of y want, in FACES_Y to OPEN_X, of the warps at them alone: ghosts lie in shared
     * memory as rows beside the tile's, and held rows are put right, those of the level between in
     * shared memory. `first` counts rows from the face on: -1 and -2 are the ghosts'. */
    template <int F>
    __device__ static int row_from(int i)
    {
        return (F == 2 ? i : (int)ROWS - 1 - i) * (int)PITCH;
    }
    /* Beyond a plane of level `level`'s input. */
    template <int F>
    __device__ void put_ghosts_y(int level, vector *plane) const
    {
        const vector edge = plane[row_from<F>(0)];
#pragma unroll
        for (int m = 1; m <= R; m++) {
            const vector inner = plane[row_from<F>(m)];
            vector beyond;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                beyond.v[e] = ghost(F, m, level, inner.v[e], edge.v[e]);
            plane[row_from<F>(-m)] = beyond;
        }
    }
    /* Held row i from face F of a level's output, which was `before`; of points that a face of x
     * prescribes only where this one does too. */
    template <int F, meets MEETS>
    __device__ vector held_y(int level, const vector &before, const vector &made) const
    {
        if (!(p.keeping >> F & 1))
            return filled(p.level[level].hold[F]);
        vector v = before;
        if (MEETS == OPEN_X) {
            v.v[0] = marked(HOLDS, 4) & 1 ? made.v[0] : v.v[0];
            v.v[WIDTH - 1] = marked(HOLDS, 4) & 2 ? made.v[WIDTH - 1] : v.v[WIDTH - 1];
        }
        return v;
    }
    template <int F, meets MEETS>
    __device__ __forceinline__ void meet_face_y(const position &q, vector *passed,
                                                T (&final)[ROWS][WIDTH])
    {
        if (!keeps_all(F))
            put_ghosts_y<F>(0, mine(q.at));
        if (marked(HOLDS + F, 1))
#pragma unroll
            for (int i = 0; i < R; i++) {
                const int r = F == 2 ? i : ROWS - 1 - i;
                if (i >= p.layers[F])
                    break;
                vector v;
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    v.v[e] = final[r][e];
                const vector *const before = mine(LEVELS > 1 ? q.passed[2] : q.older);
                v = held_y<F, MEETS>(LEVELS - 1, before[r * PITCH], v);
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    final[r][e] = v.v[e];
                if constexpr (LEVELS > 1) {
                    v = held_y<F, MEETS>(0, mine(q.older)[r * PITCH], passed[r * PITCH]);
                    passed[r * PITCH] = v;
                    if (uses_own(MEETS))
                        own[LEVELS - 1][r] = v;
                }
            }
        if (LEVELS > 1 && !keeps_all(F))
            put_ghosts_y<F>(1, passed);
    }
    /* Ghosts of the planes that the first step inside looks at. */
    __device__ void begin_faces_y(const position &q)
    {
        if (marked(TOUCHES + 2, 1)) {
            put_ghosts_y<2>(0, mine(q.before));
            if (LEVELS > 1)
                put_ghosts_y<2>(1, mine(q.passed[1]));
        }
        if (marked(TOUCHES + 3, 1)) {
            put_ghosts_y<3>(0, mine(q.before));
            if (LEVELS > 1)
                put_ghosts_y<3>(1, mine(q.passed[1]));
        }
    }
    template <meets MEETS>
    __device__ __forceinline__ void meet_faces_y(const position &q, vector *passed,
                                                 T (&final)[ROWS][WIDTH])
    {
        if (marked(TOUCHES + 2, 1))
            meet_face_y<2, MEETS>(q, passed, final);
        if (marked(TOUCHES + 3, 1))
            meet_face_y<3, MEETS>(q, passed, final);
    }

    template <meets MEETS>
    __device__ __forceinline__ void store(const column &at, int k, const T (&made)[ROWS][WIDTH],
                                          const vector *before)
    {
        if (k < at.z_lo || k >= at.z_hi)
            return;
        T *const base = p.out + k * p.pitch_z;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            vector v;
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                v.v[e] = made[r][e];
            if (whole >> r & 1)
                *(vector *)offset_by(base, at_row[r]) = v;
        }
        if (MEETS != KEPT_X && MEETS != KEPT_ENDS && MEETS < SIDES)
            return;
        if (marked(STORES, 8) !=
            whole) /* some of a vector's points, or all of one that is not aligned */
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    if (stores(r, e))
                        offset_by(base, at_row[r])[e] = made[r][e];
        if (MEETS >= SIDES && marked(HOLDS, 4)) {
            const auto pair_out = [&](int r, int f, const two &pair, bool both) {
                T *const row = offset_by(base, at_row[r]) + (f ? WIDTH - 2 : 0);
                if (marked(STORES + r, 1) && (both || !f))
                    row[0] = pair.v[0];
                if (marked(STORES + r, 1) && (both || f))
                    row[1] = pair.v[1];
            };
            const auto row_out = [&](int r, const vector &v) {
#pragma unroll
                for (int n = 0; n < ROWS; n++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        if (n == r && stores(n, e))
                            offset_by(base, at_row[n])[e] = v.v[e];
            };
            put_held<MEETS>(LEVELS - 1, k, before, pair_out, row_out);
        }
    }

    __device__ __forceinline__ void come_on(position &q) const
    {
        const bool end = q.coming + 1 >= p.nz;
        const T *const on = end ? q.from : q.from + p.pitch_z;
        q.from = end && p.wrap[2] ? p.in : on;
        q.coming = end ? (p.wrap[2] ? 0 : q.coming) : q.coming + 1;
        q.ahead = turned(q.ahead);
    }

    /* Level 0's plane z is a plane of ghosts. */
    __device__ __forceinline__ void take_ghosts(int z, const position &q,
                                                T (&newest)[ROWS][WIDTH]) const
    {
        const int m = z - p.nz + 1; /* 1 or 2 */
        const unsigned far = q.at + (q.at < 4 * SLOT ? DEPTH - 4 : -4) * SLOT;
        const vector *const edge = mine(m == 1 ? q.before : q.older);
        const vector *const inner = mine(m == 1 ? q.older : far);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                newest[r][e] = ghost(5, m, 0, inner[r * PITCH].v[e], edge[r * PITCH].v[e]);
    }
    /* Level 1's plane k, which is `made`, is one of ghosts, or the last one before them: then the
     * second ghost's plane is made, as its inner plane goes; until its turn it lies where no plane
     * comes any more. */
    __device__ __forceinline__ void pass_ghosts(int k, const position &q,
                                                T (&made)[ROWS][WIDTH]) const
    {
        const vector *const edge = mine(q.passed[1]);
        const vector *const inner = mine(q.passed[2]);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                if (k == p.nz - 1)
                    mine(q.after)[r * PITCH].v[e] =
                        ghost(5, 2, 1, inner[r * PITCH].v[e], made[r][e]);
                else
                    made[r][e] = k == p.nz
                                     ? ghost(5, 1, 1, inner[r * PITCH].v[e], edge[r * PITCH].v[e])
                                     : mine(q.before)[r * PITCH].v[e];
    }

    /* Level 0's plane z has arrived, this thread's rows of it; the rows of its neighbours are there
     * once they have been waited for. */
    template <meets MEETS>
    __device__ __forceinline__ void step(const column &at, int z, const position &q)
    {
        T newest[ROWS][WIDTH], made[ROWS][WIDTH];
        unsigned still[2][2] =
            {}; /* all bits, where faces of z keep the planes that are made, next */
        if (MEETS == KEPT_ENDS)
#pragma unroll
            for (int i = 0; i < 4; i++)
                still[i / 2][i % 2] = kept_end(z - R - i / 2 * R + i % 2);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const vector v = mine(q.at)[r * PITCH];
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                newest[r][e] = v.v[e];
        }
        if (MEETS == ENDS && z >= p.nz)
            take_ghosts(z, q, newest);
        if (MEETS == ENDS && z == 1 && at.z_lo < RIM) {
            const vector *const third = mine(q.after);
            begin(
                0, mine(q.before), newest, [&](int r, int e) { return third[r * PITCH].v[e]; },
                next[0], later[0]);
        }
        if (MEETS >= SIDES)
            __syncwarp();
        const vector *const now = mine(q.before);
        window row;
        look_at_own<0, MEETS>(now, row);
#pragma unroll
        for (int r = R; r < ROWS - R; r++)
            sweep_row<0, MEETS>(r, still[0], now, row, newest[r], made[r]);
        beside.wait();
        look_around<MEETS>(0, now, row);
        if (MEETS >= SIDES)
            __syncwarp();
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (r < R || r >= ROWS - R)
                sweep_row<0, MEETS>(r, still[0], now, row, newest[r], made[r]);
        if (MEETS != ENDS || p.wrap[2] || z + AHEAD < p.nz)
            fetch<MEETS>(q.from, q.ahead);
        __pipeline_commit();
        if (uses_own(MEETS))
            keep_own<0>(newest);
        if (MEETS == ENDS)
            hold_end(0, z - R, mine(q.older), made);
        if constexpr (LEVELS > 1) {
            if (MEETS == ENDS) {
                const int k = z - R; /* of what was made */
                if (k == 1 && at.z_lo < RIM) {
                    const vector *const fifth = mine(q.after);
                    const auto third = [&](int r, int e) {
                        return star::fused(p.c[6 * R], fifth[r * PITCH].v[e], last[0][r][e]);
                    };
                    begin(1, mine(q.passed[1]), made, third, next[LEVELS - 1], later[LEVELS - 1]);
                }
                if (k >= p.nz - 1)
                    pass_ghosts(k, q, made);
            }
            if (MEETS >= SIDES)
                __syncwarp();
            vector *const to = mine(q.passed[0]);
            const vector *const passed = mine(q.passed[1]);
            T final[ROWS][WIDTH];
            window passed_row;
            look_at_own<LEVELS - 1, MEETS>(passed, passed_row);
            look_around<MEETS>(1, passed, passed_row);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                sweep_row<LEVELS - 1, MEETS>(r, still[1], passed, passed_row, made[r], final[r]);
                vector v;
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    v.v[e] = made[r][e];
                to[r * PITCH] = v;
            }
            if (MEETS >= SIDES && marked(HOLDS, 4)) {
                const auto pair_in = [&](int r, int f, const two &pair, bool both) {
                    two *const there = (two *)&((T *)&to[r * PITCH])[f ? WIDTH - 2 : 0];
                    if (both)
                        *there = pair;
                    else
                        there->v[f] = pair.v[f];
                };
                const auto row_in = [&](int r, const vector &v) { to[r * PITCH] = v; };
                put_held<MEETS>(0, z - R, mine(q.older), pair_in, row_in);
            }
            if (MEETS == SIDES && KEEPS_OWN) /* put right there */
                keep_own<LEVELS - 1>(to);
            else if (uses_own(MEETS))
                keep_own<LEVELS - 1>(made);
            if (MEETS >= FACES_Y && MEETS < SIDES)
                meet_faces_y<MEETS>(q, to, final);
            beside.arrive();
            if (MEETS == ENDS)
                hold_end(1, z - 2 * R, mine(q.passed[2]), final);
            store<MEETS>(at, z - 2 * R, final, mine(q.passed[2]));
        } else {
            if (MEETS >= FACES_Y && MEETS < SIDES)
                meet_faces_y<MEETS>(q, nullptr, made);
            beside.arrive();
            store<MEETS>(at, z - R, made, mine(q.older));
        }
    }

    template <meets MEETS>
    __device__ __forceinline__ void advance_to(const column &at, int &z, int end, position &q)
    {
#pragma unroll 1
        for (; z < end; z++) {
            __pipeline_wait_prior(MEETS == ENDS ? 0 : AHEAD - 1);
            step<MEETS>(at, z, q);
            q.older = q.before;
            q.before = q.at;
            q.at = q.after;
            q.after = turned(q.after);
            come_on(q);
            const unsigned oldest = q.passed[PASSED - 1];
            q.passed[2] = q.passed[1];
            q.passed[1] = q.passed[0];
            q.passed[0] = oldest;
        }
    }
    __device__ static unsigned turned(unsigned slot)
    {
        return slot == (DEPTH - 1) * SLOT ? 0 : slot + SLOT;
    }

    /* What steps between the ends of the grid meet. */
    __device__ meets met_inside(const column &at) const
    {
        const unsigned beyond = p.nx % WIDTH && keeps_all(1) && at.x_hi == p.nx ? WIDTH - 1 : 0;
        const bool as_in_memory =
            at.x % WIDTH == 0 && at.x_lo % WIDTH == 0 &&
            (at.x_hi + beyond) / WIDTH * WIDTH >= at.x_hi &&
            (!p.wrap[0] || p.nx % WIDTH == 0 || (at.x >= 0 && at.x + NX <= p.nx));
        const unsigned faces = at.faces & 3;
        if (!as_in_memory)
            return SIDES;
        if (!faces)
            return at.faces & 12 ? FACES_Y : NO_FACE;
        if (LEAN)
            return SIDES;
        if ((!(faces & 1) || keeps_all(0)) && (!(faces & 2) || keeps_all(1)))
            return SHUFFLES && faces == 1                        ? KEPT_FIRST
                   : SHUFFLES && faces == 2 && p.nx % WIDTH == 0 ? KEPT_LAST
                                                                 : KEPT_X;
        return faces & p.held & p.keeping ? SIDES : OPEN_X;
    }

    /* For the steps that have these in registers, and ghosts of y beside the planes. */
    __device__ void take_up(const position &q)
    {
        keep_own<0>(mine(q.before));
        if (LEVELS > 1)
            keep_own<LEVELS - 1>(mine(q.passed[1]));
        begin_faces_y(q);
    }
    __device__ __forceinline__ void advance(const column &at, int &z, int end, meets what,
                                            position &q)
    {
        take_up(q);
        if (what == NO_FACE)
            return advance_to<NO_FACE>(at, z, end, q);
        if (what == FACES_Y)
            return advance_to<FACES_Y>(at, z, end, q);
        if constexpr (SHUFFLES) {
            if (what == KEPT_FIRST)
                return advance_to<KEPT_FIRST>(at, z, end, q);
            if (what == KEPT_LAST)
                return advance_to<KEPT_LAST>(at, z, end, q);
        }
        if constexpr (!LEAN) {
            if (what == KEPT_X)
                return advance_to<KEPT_X>(at, z, end, q);
            if (what == OPEN_X)
                return advance_to<OPEN_X>(at, z, end, q);
        }
        if constexpr (LOOPED && !LEAN) {
            if (what == KEPT_ENDS)
                return advance_to<KEPT_ENDS>(at, z, end, q);
        }
        if constexpr (LOOPED) {
            if (what == ENDS)
                return advance_to<ENDS>(at, z, end, q);
        }
        advance_to<SIDES>(at, z, end, q);
    }
    /* The first steps after an end of the grid and the last ones before the other meet it. Kept
     * planes go the way of the sums from the step on that looks at the first of them. */
    __device__ void plan(const column &at, bool from_end)
    {
        const meets inside = met_inside(at);
        const int end = at.z_hi + RIM;
        const bool keeps_first = LOOPED && !LEAN && inside <= KEPT_X && keeps_all(4);
        const int from = !from_end ? 0 : min(end, keeps_first ? RIM + R : 2 * RIM);
        const bool keeps_last =
            LOOPED && !LEAN && inside <= KEPT_X && keeps_all(5) && from <= p.nz - R + 1;
        const int to = !(at.faces & 48) ? end : min(end, keeps_last ? p.nz - R + 1 : p.nz);
        shared.stretch[0] = {keeps_first ? KEPT_ENDS : ENDS, from};
        shared.stretch[1] = {inside, to};
        shared.stretch[2] = {keeps_last ? KEPT_ENDS : ENDS, end};
    }

    __device__ void run(const column &at)
    {
        const bool from_end = at.faces & 48 && at.z_lo < RIM;
        place(at);
        if (threadIdx.x == 0)
            plan(at, from_end);
        beside.start(); /* waits for all threads */
        int z = from_end ? 0 : at.z_lo - RIM;
        const int first = z < 0 ? z + p.nz : z;
        position q = {(DEPTH - 1) * SLOT,
                      0,
                      SLOT,
                      2 * SLOT,
                      0,
                      {DEPTH * SLOT, (DEPTH + 2) * SLOT, (DEPTH + 1) * SLOT},
                      first,
                      p.in + first * p.pitch_z};
#pragma unroll 1
        for (int ahead = 0; ahead <= AHEAD; ahead++) {
            fetch<SIDES>(q.from, q.ahead);
            __pipeline_commit();
            come_on(q);
        }
        __pipeline_wait_prior(AHEAD);
        beside.arrive();
        z++;
        if constexpr (LOOPED) {
#pragma unroll 1
            for (int i = 0; i < 3; i++)
                advance(at, z, shared.stretch[i].end, shared.stretch[i].what, q);
        } else { /* as a loop it takes more registers than there are, and copies in every step */
            advance_to<ENDS>(at, z, shared.stretch[0].end, q);
            advance(at, z, shared.stretch[1].end, shared.stretch[1].what, q);
            advance_to<ENDS>(at, z, shared.stretch[2].end, q);
        }
        beside.wait();
        __pipeline_wait_prior(0);
    }
};

template <typename T, int LEVELS>
__global__ void __launch_bounds__(tile<T>::THREADS, 1)
    fused_wide(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
    if constexpr (sizeof(T) == 8 || !LEAN) {
        using marcher = march<T, LEVELS>;
        STAR_SHARED(memory, typename marcher::shared_memory, [1]);
        marcher m(p, memory[0]);
        /* where the last nodes of rows keep their values, the last tile may reach beyond them */
        const int grain = m.keeps_all(1) ? (int)marcher::WIDTH : 1;
        const columns::shape tile = {marcher::NX, marcher::NY, marcher::RIM_X, marcher::RIM, grain};
        m.run(columns::column_of(tile, p.cut, p.nx, p.ny, p.nz, p));
    }
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
    p.pitch_y = sweep->layout.pitch[HS_Y];
    p.pitch_z = sweep->layout.pitch[HS_Z];
    p.nx = (int)sweep->layout.points[HS_X];
    p.ny = (int)sweep->layout.points[HS_Y];
    p.nz = (int)sweep->layout.points[HS_Z];
    const int taper = hs_fused_cut_z(sweep, g.blocks[HS_X], g.blocks[HS_Y]).taper;
    p.cut = columns::make_cut(hs_fused_cut_x(sweep), g, taper);
    star::take_coefficients(sweep, p.c);
    star::take_faces(sweep, &p);
    star::take_levels(sweep, p.level);
    return p;
}

template <typename T, int LEVELS>
hs_status launch_levels(const hs_sweep *sweep, hs_error *err)
{
    using marcher = march<T, LEVELS>;
    hs_geometry g;
    hs_tiling_launch("fused_wide_3d", sweep, &g);
    g.shared_bytes = sizeof(typename marcher::shared_memory);
    return star::launch("fused_wide_3d", fused_wide<T, LEVELS>, make_arguments<T>(sweep, g), g,
                        sweep->stream, err);
}

template <typename T>
hs_status launch(const hs_sweep *sweep, hs_error *err)
{
    return star::choose_levels<MOST_LEVELS>("fused_wide_3d", sweep, err, [&](auto levels) {
        return launch_levels<T, levels.value>(sweep, err);
    });
}

void geometry(const hs_sweep *sweep, hs_geometry *out)
{
    hs_tiling_launch("fused_wide_3d", sweep, out);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    return sweep->precision == HS_FLOAT ? launch<float>(sweep, err) : launch<double>(sweep, err);
}

bool suits(const hs_problem *problem, char *reason, size_t size)
{
    const int rim = (int)R * HS_WIDE_STEPS;
    const int newest = problem->precision == HS_FLOAT ? 9 : 10; /* see LEAN */
    const int least[HS_AXES] = {HS_WIDE_X, hs_wide_tile_y(problem->precision), 2 * rim};
    return star::has_capability("fused_wide_3d", problem, 9, newest, reason, size) &&
           columns::suits("fused_wide_3d", problem, least, rim, reason, size);
}

} // namespace wide

extern "C" const hs_kernel hs_kernel_cuda_fused_wide_3d = {
    .name = "fused_wide_3d",
    .idea = "3D: two sweeps of radius 2 in one march along z, their sums in registers",
    .origin = "3.5D blocking: Nguyen et al., SC'10",
    .device = HS_CUDA,
    .dims = 1u << 3,
    .radius = 1u << 2,
    .precision = HS_ALL_PRECISIONS,
    .steps = HS_WIDE_STEPS,
    .own_ghosts = true,
    .uniform = true,
    .suits = wide::suits,
    .geometry = wide::geometry,
    .sweep = wide::sweep,
};
