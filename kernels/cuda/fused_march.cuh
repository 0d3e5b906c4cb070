/*
 * Several sweeps in one march along z, for fused_march_3d and fused_fields_3d, which tell the
 * story. Star stencils of radius 1 in 3D; GPUs of compute capability 9 and 10, which have the
 * shared memory that it takes.
 */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_CUH
#define HS_KERNELS_CUDA_FUSED_MARCH_CUH

#include "columns.cuh"

#include "core/separation.h"
#include "core/tiling_columns.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of its own */
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>
#pragma GCC diagnostic pop

namespace fused_march
{

enum { MOST_LEVELS = HS_FUSED_STEPS };

template <typename T>
struct shape; /* points in 16 bytes, lanes that share a row */
template <>
struct shape<float> {
    enum { WIDTH = 4, LANES = HS_FUSED_X_FLOAT / WIDTH };
};
template <>
struct shape<double> {
    enum { WIDTH = 2, LANES = HS_FUSED_X_DOUBLE / WIDTH };
};

template <typename T>
struct tile {
    enum {
        WIDTH = shape<T>::WIDTH,
        LANES = shape<T>::LANES,
        ROWS = HS_FUSED_ROWS,
        WARPS = HS_FUSED_WARPS,
        THREADS = 32 * WARPS,
        GROUPS = WARPS * 32 / LANES, /* groups of lanes, each owning ROWS rows */
        NX = LANES * WIDTH,
        NY = GROUPS * ROWS
    };
};

/*
 * How source planes come, and wait for their turn in shared memory, where each thread has its own
 * points only. Either one field serves all levels: a plane comes each step and moves from level to
 * level. Or each level has a field of its own, and a step's planes come during the step before; or
 * once, where they do not change along z.
 */
struct source_way {
    int planes;     /* that come each step */
    int lead;       /* the newest of them is z + lead at step z */
    unsigned apart; /* bytes from the place of the newest one in use to theirs, ... */
    unsigned turn;  /* ... of all places, after which they begin again, ... */
    unsigned moves; /* ... and that the places in use move each step */
};

template <typename T>
struct source_fields {
    const T *field[MOST_LEVELS]; /* nullptr: none */
    int64_t pitch_z;
    int pitch_y;
    source_way way;
};

/* Likewise where sources are hs_source_tables: each level's plane stays in shared memory, in
 * double, and a step reads the two numbers of its plane of nodes. */
struct source_tables {
    const double *plane[MOST_LEVELS];
    const hs_source_line *line[MOST_LEVELS];
    int pitch_y;
    double scale;
};

/* What a request may have that differs from point to point. */
enum fields {
    NO_FIELDS,
    SOURCE_FIELDS, /* the source does */
    SOURCE_TABLES, /* it does, and comes as tables */
    ALL_FIELDS     /* values at faces do, and perhaps the source */
};

template <typename T>
struct arguments : star::faces<T, HS_FACES, 1> {
    const T *in;
    T *out;
    source_fields<T> source;
    int64_t pitch_y, pitch_z; /* a plane is smaller than 4 GiB */
    int nx, ny, nz;
    columns::cut cut;
    T c[7]; /* z-1, y-1, x-1, centre, x+1, y+1, z+1 */
    star::level_fields<T, HS_FACES, 1> level[MOST_LEVELS];
    source_tables tables;
    star::bits_of<T> *change; /* where a march that tells it puts it */
};

template <typename T, int N>
struct alignas(16) lane_values {
    T v[N];
};

using columns::column;
using star::wrapped;

/*
 * What a step may meet. A branch within a step costs far more than what it saves, as nothing is
 * moved across it to hide latencies: so the usual kinds of tiles have variants of their own without
 * any, where what only some threads need is computed by all and chosen by a few.
 */
enum meets {
    NO_FACE,
    KEPT,      /* faces of x and y whose nodes all keep their values */
    HELD,      /* ... or all take prescribed ones */
    GHOSTS_X,  /* faces of x, all their nodes updated */
    GHOSTS_Y,  /* faces of y */
    GHOSTS,    /* both */
    KEPT_ENDS, /* as KEPT, and those of z; likewise the next two */
    HELD_ENDS,
    GHOSTS_ENDS,
    SIDES, /* any faces of x and y, or values that differ from point to point */
    ENDS   /* those of z too */
};

/* CHANGE: what the last sweep changed is told. A march that asks for that in each step, though it
 * be told no, is 2 to 4 % slower. */
template <typename T, int LEVELS, fields HAS, bool CHANGE = false>
struct march {
    static constexpr bool FULL = HAS == ALL_FIELDS, SOURCE = HAS != NO_FIELDS;
    static constexpr bool TABLES = HAS == SOURCE_TABLES;
    enum {
        WIDTH = tile<T>::WIDTH,
        LANES = tile<T>::LANES,
        ROWS = tile<T>::ROWS,
        GROUPS = tile<T>::GROUPS,
        WARPS = tile<T>::WARPS,
        NX = tile<T>::NX,
        NY = tile<T>::NY,
        RIM_X = (LEVELS + WIDTH - 1) / WIDTH * WIDTH, /* swept redundantly on each side */
        RIM_Y = LEVELS,
        /* planes of level 0: two in use, the others in flight */
        DEPTH = SOURCE && LEVELS > HS_FUSED_FIELDS_STEPS ? 4 : HS_FUSED_DEPTH,
        AHEAD = DEPTH - 2,                                   /* */
        ANY_WAY = SOURCE && LEVELS <= HS_FUSED_FIELDS_STEPS, /* or one field, as level 0 lies */
        PARTS = 8 * (int)WIDTH / 16, /* places in the queue that a table's plane takes */
        /* planes of the source in flight or in use: of one field, or of one for each level; or of
         * the tables */
        SOURCES = TABLES                       ? LEVELS * PARTS
                  : AHEAD > LEVELS || !ANY_WAY ? LEVELS + AHEAD
                                               : 2 * LEVELS,
        EDGES = LEVELS > 1 ? LEVELS - 1 : 1,
        LEVEL_COUNT = LEVELS,
        LINE = HS_FUSED_LINE_BYTES / (WIDTH * (int)sizeof(T)), /* vectors in it */
        /* nodes along z that the sweeps of a block's planes meet, and what the last step may */
        NODES_Z = TABLES ? (int)HS_FUSED_PLANES + 3 * LEVELS + 1 : 1,
        TELLS = 2 * (int)LANES / 32 /* warps that a lane shares rows with */
    };
    using vector = lane_values<T, WIDTH>;
    struct shared_memory {
        vector queue[DEPTH][NY][LANES]; /* level 0; the neighbours read it, a step later */
        vector queue_end[LINE];         /* as far as rows may begin later: see place() */
        vector edge[2][EDGES][GROUPS + 2][2][LANES]; /* the others: every group's outer rows */
        vector source[SOURCE ? SOURCES : 1][SOURCE ? NY : 1][LANES];
        vector source_end[SOURCE ? LINE : 1];
        lane_values<double, 2> line[LEVELS][NODES_Z]; /* of the tables: column, offset */
        T change[CHANGE ? tile<T>::THREADS : 1];      /* the largest that each thread found */
        __mbarrier_t arrived[2][WARPS];
    };
    /* Two steps make a loop's body, in which planes and buffers change roles and nothing is copied;
     * not where that would be much code that is seldom run, or take more registers than there are.
     */
    __device__ static constexpr bool in_pairs(meets m)
    {
        return m < (SOURCE && !ANY_WAY ? KEPT : GHOSTS);
    }
    enum { SLOT = sizeof(vector) * NY * LANES }; /* bytes of a plane in the queue */

    const arguments<T> &p;
    shared_memory &shared;
    const int lane, group;
    int x, y;
    int before_wrap;       /* nodes from this thread's first to the end of the row */
    bool split;            /* its vectors are not aligned in memory, or cross the wrap */
    unsigned at_row[ROWS]; /* bytes from the plane's first node to this thread's, per row */
    unsigned source_row[ANY_WAY ? ROWS : 1]; /* the same in the source's fields */
    unsigned stores;                         /* bit of each row that is stored, ... */
    unsigned whole;                          /* ... of those that are stored as 16 bytes, ... */
    unsigned points;                         /* ... and of each point of a vector that is stored */
    unsigned mirrors, holds; /* bit of each face that a vector of its lies at, ... */
    unsigned in_slot;        /* vectors from a slot's beginning to this thread's first row */
    int first_line;          /* the node along z that shared.line begins with */
    unsigned step_count;
    int told[TELLS]; /* the warps whose barriers this lane tells of every step, or -1 */
    T plane[2][LEVELS][ROWS][WIDTH]; /* of each level's input: the two newest planes */

    __device__ march(const arguments<T> &arguments, shared_memory &memory)
        : p(arguments), shared(memory), lane(threadIdx.x % LANES), group(threadIdx.x / LANES)
    {
#pragma unroll
        for (int b = 0; b < 2; b++)
#pragma unroll
            for (int l = 0; l < LEVELS; l++)
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        plane[b][l][r][e] = T(0);
    }

    /*
     * A warp waits for its neighbours only: for those that write the rows it reads, and read those
     * it will write. It has two barriers, for odd and even steps, as a neighbour may be done with a
     * step that this warp has not begun. Every lane says for itself that it is done, to the warps
     * that its own rows are shared with: one that said it for all of its warp would do, but
     * racecheck then takes the rows of the others for unguarded (docs/design-notes.md).
     */
    __device__ void start()
    {
        step_count = 0;
        const int warp = threadIdx.x / 32;
        const bool lower = threadIdx.x % 32 < 16;
#pragma unroll
        for (int n = 0; n < TELLS; n++) {
            const int to = (TELLS == 1 ? lower : n == 0) ? warp - 1 : warp + 1;
            told[n] = to >= 0 && to < WARPS ? to : -1;
        }
        if (threadIdx.x < 2 * WARPS) {
            const int of = threadIdx.x % WARPS, neighbours = of % (WARPS - 1) == 0 ? 1 : 2;
            __mbarrier_init(&shared.arrived[threadIdx.x / WARPS][of], LANES * neighbours);
        }
        __syncthreads();
    }
    /* Taking the barriers' number from the code, where steps go by twos, makes the loops longer and
     * a tenth slower. */
    __device__ void arrive()
    {
        __syncwarp(); /* its groups of lanes share rows as well */
#pragma unroll
        for (int n = 0; n < TELLS; n++)
            if (told[n] >= 0)
                __mbarrier_arrive(&shared.arrived[step_count % 2][told[n]]);
        step_count++;
    }
    /* Until the neighbours have arrived as often as this warp has. */
    __device__ void wait()
    {
        const unsigned last = step_count - 1;
        __mbarrier_t *const barrier = &shared.arrived[last % 2][threadIdx.x / 32];
        while (!__all_sync(0xffffffffu, __mbarrier_try_wait_parity(barrier, last / 2 % 2, 2000)))
            ;
    }

    __device__ void place(const column &at)
    {
        x = at.x + lane * WIDTH;
        y = at.y + group * ROWS;
        const int x_load = p.wrap[0] ? wrapped(x, p.nx) : x;
        const unsigned here = at.faces & ((lane == 0 ? 1u : 0u) | (lane == LANES - 1 ? 2u : 0u) |
                                          (group == 0 ? 4u : 0u) | (group == GROUPS - 1 ? 8u : 0u));
        mirrors = here & ~at.held;
        holds = here & at.held;
        before_wrap = p.nx - x_load;
        split = x_load % WIDTH != 0 || before_wrap < WIDTH;
        points = stores = 0;
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            points |= x + e >= at.x_lo && x + e < at.x_hi ? 1u << e : 0u;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            stores |= points && y + r >= at.y_lo && y + r < at.y_hi ? 1u << r : 0u;
            const int row = p.wrap[1] ? wrapped(y + r, p.ny) : y + r;
            at_row[r] = (unsigned)(row * p.pitch_y + x_load) * (unsigned)sizeof(T);
            if (TABLES)
                source_row[r] = (unsigned)(row * p.tables.pitch_y + x_load) * 8u;
            else if (ANY_WAY)
                source_row[r] =
                    (unsigned)((int64_t)row * p.source.pitch_y + x_load) * (unsigned)sizeof(T);
        }
        /* A row lies in shared memory as it does in its lines of 128 bytes in the field: where a
         * sector of 32 bytes would go into two, the copies ask for it twice. */
        in_slot = group * ROWS * LANES + lane +
                  (unsigned)((uintptr_t)(p.in + at.x) / sizeof(vector) % LINE);
        whole = !split && points == (1u << WIDTH) - 1 ? stores : 0u;
    }

    __device__ static const T *offset_by(const T *from, unsigned bytes)
    {
        return (const T *)((const char *)from + bytes);
    }
    /* This thread's first row in a slot of the queue. */
    __device__ vector *mine(unsigned slot) const
    {
        return (vector *)((char *)shared.queue + slot) + in_slot;
    }
    /* The same at a place among the source's planes. */
    __device__ vector *source_at(unsigned place) const
    {
        return (vector *)((char *)shared.source + place) + in_slot;
    }

    __device__ void fetch_rows(const T *from, const unsigned *row, vector *to)
    {
        if (!split) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                __pipeline_memcpy_async(to + r * LANES, offset_by(from, row[r]), 16);
        } else {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    __pipeline_memcpy_async(
                        &to[r * LANES].v[e],
                        offset_by(from, row[r]) + (e < before_wrap ? e : e - p.nx), sizeof(T));
        }
    }

    __device__ int plane_at(int z) const
    {
        if (!p.wrap[2])
            return z;
        return z < 0 ? z + p.nz : z >= p.nz ? z - p.nz : z;
    }

    /* Plane z of level 0. */
    __device__ void fetch(int z, unsigned slot)
    {
        const int at = plane_at(z);
        if (at >= 0 && at < p.nz)
            fetch_rows(p.in + at * p.pitch_z, at_row, mine(slot));
    }
    __device__ source_way way() const
    {
        if constexpr (ANY_WAY)
            return p.source.way;
        else
            return {1, AHEAD - 1, AHEAD * SLOT, SOURCES * SLOT, SLOT};
    }
    __device__ unsigned turned(unsigned place) const
    {
        return place >= way().turn ? place - way().turn : place;
    }
    /* Plane z of level l's source; beyond the grid, where it is not used, any. */
    __device__ void fetch_source(int z, int l, unsigned place)
    {
        const int at = min(max(plane_at(z), 0), p.nz - 1);
        fetch_rows(p.source.field[l] + at * p.source.pitch_z, ANY_WAY ? source_row : at_row,
                   source_at(place));
    }
    /* The tables' lines for all steps from z on; before start(), which waits for all threads. */
    __device__ void fetch_lines(int z)
    {
        first_line = z - LEVELS;
#pragma unroll 1
        for (int i = threadIdx.x; i < LEVELS * NODES_Z; i += tile<T>::THREADS) {
            const int z_at = image(first_line + i % NODES_Z, p.nz, p.wrap[2]);
            const hs_source_line from = p.tables.line[i / NODES_Z][z_at];
            shared.line[i / NODES_Z][i % NODES_Z] = {{from.column, from.offset}};
        }
    }
    /* The tables' planes of all levels. */
    __device__ void fetch_tables()
    {
#pragma unroll 1
        for (int l = 0; l < LEVELS; l++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const double *const from =
                    (const double *)((const char *)p.tables.plane[l] + source_row[r]);
#pragma unroll
                for (int part = 0; part < PARTS; part++) {
                    vector *const to = source_at((l * PARTS + part) * SLOT) + r * LANES;
                    const int e = 2 * part, wrap = -p.nx;
                    if (!split) {
                        __pipeline_memcpy_async(to, from + e, 16);
                    } else {
                        double *const two = (double *)to;
                        __pipeline_memcpy_async(two, from + e + (e < before_wrap ? 0 : wrap), 8);
                        __pipeline_memcpy_async(two + 1,
                                                from + e + 1 + (e + 1 < before_wrap ? 0 : wrap), 8);
                    }
                }
            }
    }
    /* Of level l's source a row of this thread's, at the plane of nodes that `at` belongs to. */
    __device__ vector from_tables(int l, int r, const lane_values<double, 2> &at) const
    {
        vector made;
        if (sizeof(T) == 8) /* a row after the other: read ahead, they would spill on 10.0 */
            asm volatile("" ::: "memory");
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const lane_values<double, 2> two =
                *(const lane_values<double, 2> *)(source_at((l * PARTS + part) * SLOT) + r * LANES);
#pragma unroll
            for (int e = 0; e < 2; e++)
                made.v[2 * part + e] =
                    (T)(hs_separation_value(two.v[e], at.v[0], at.v[1]) * p.tables.scale);
        }
        return made;
    }
    /* Those of all levels, which are z, z-1, ... */
    __device__ void fetch_sources(int z, unsigned place)
    {
#pragma unroll 1
        for (int l = 0; l < LEVELS; l++)
            fetch_source(z - l, l, place - l * SLOT);
    }
    /* What of the source comes during step z. */
    __device__ void fetch_source(int z, unsigned place)
    {
        if (!SOURCE || TABLES || way().planes == 0)
            return;
        const int newest = z + way().lead;
        const unsigned to = turned(place + way().apart);
        if (way().planes == 1)
            fetch_source(newest, 0, to);
        else
            fetch_sources(newest, to);
    }
    /* The node that i is along an axis: behind a wrap its image; beyond a face, where values are
     * not used, any. The grid has at least LEVELS nodes where it wraps. */
    __device__ static int image(int i, int n, bool wrap)
    {
        if (wrap)
            i = i < 0 ? i + n : i >= n ? i - n : i;
        return min(max(i, 0), n - 1);
    }
    __device__ T offset(int f, int level, int node) const
    {
        return FULL && p.level[level].drive_field[f]
                   ? p.rule[f][0].c * p.level[level].drive_field[f][node]
                   : p.level[level].offset[f][0];
    }
    __device__ T hold(int f, int level, int node) const
    {
        return FULL && p.level[level].hold_field[f] ? p.level[level].hold_field[f][node]
                                                    : p.level[level].hold[f];
    }
    __device__ T ghost(int f, T inner, T edge, T offset) const
    {
        return star::ghost(p.rule[f][0], inner, edge, offset);
    }
    /* Nodes of this thread's rows and columns on the faces of x, y and z. */
    __device__ int on_x(int r, int k) const
    {
        return FULL ? image(k, p.nz, p.wrap[2]) * p.ny + image(y + r, p.ny, p.wrap[1]) : 0;
    }
    __device__ int on_y(int e, int k) const
    {
        return FULL ? image(k, p.nz, p.wrap[2]) * p.nx + image(x + e, p.nx, p.wrap[0]) : 0;
    }
    __device__ int on_z(int r, int e) const
    {
        int row = y + r;
        asm volatile("" : "+r"(row)); /* made where it is used: kept, they would be spilled */
        return FULL ? image(row, p.ny, p.wrap[1]) * p.nx + image(x + e, p.nx, p.wrap[0]) : 0;
    }

    /* Ghosts of level `level` where its plane k meets a face, put where the sweep looks for the
     * neighbour: tiles end at the faces, so along x and y that is what the neighbours gave. */
    template <meets MEETS>
    __device__ void put_ghosts(unsigned faces, int level, int k, T (&older)[ROWS][WIDTH],
                               T (&now)[ROWS][WIDTH], T (&fresh)[ROWS][WIDTH], T (&left)[ROWS],
                               T (&right)[ROWS], vector &below, vector &above) const
    {
        if (faces & 1) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const T value = ghost(0, now[r][1], now[r][0], offset(0, level, on_x(r, k)));
                left[r] = lane == 0 ? value : left[r];
            }
        }
        if (faces & 2) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const T value =
                    ghost(1, now[r][WIDTH - 2], now[r][WIDTH - 1], offset(1, level, on_x(r, k)));
                right[r] = lane == LANES - 1 ? value : right[r];
            }
        }
        if (faces & 4 && threadIdx.x < 32) {
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const T value = ghost(2, now[1][e], now[0][e], offset(2, level, on_y(e, k)));
                below.v[e] = group == 0 ? value : below.v[e];
            }
        }
        if (faces & 8 && threadIdx.x >= tile<T>::THREADS - 32) {
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const T value =
                    ghost(3, now[ROWS - 2][e], now[ROWS - 1][e], offset(3, level, on_y(e, k)));
                above.v[e] = group == GROUPS - 1 ? value : above.v[e];
            }
        }
        if (MEETS == ENDS && faces & 16 && k == 0) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    older[r][e] = ghost(4, fresh[r][e], now[r][e], offset(4, level, on_z(r, e)));
        }
        if (MEETS == ENDS && faces & 32 && k == p.nz - 1) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    fresh[r][e] = ghost(5, older[r][e], now[r][e], offset(5, level, on_z(r, e)));
        }
    }

    /* Those along z alone, where both ends have them and rules are uniform. */
    __device__ void put_ghost_plane(int level, int k, T (&older)[ROWS][WIDTH],
                                    const T (&now)[ROWS][WIDTH], T (&fresh)[ROWS][WIDTH]) const
    {
        if (k == 0) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    older[r][e] = ghost(4, fresh[r][e], now[r][e], p.level[level].offset[4][0]);
        }
        if (k == p.nz - 1) {
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    fresh[r][e] = ghost(5, older[r][e], now[r][e], p.level[level].offset[5][0]);
        }
    }

    /* The same for uniform rules, without branches. */
    template <bool X, bool Y>
    __device__ void select_ghosts(int level, const T (&now)[ROWS][WIDTH], T (&left)[ROWS],
                                  T (&right)[ROWS], vector &below, vector &above) const
    {
        constexpr int W = WIDTH, R = ROWS;
        if (X)
#pragma unroll
            for (int r = 0; r < R; r++) {
                const T first = ghost(0, now[r][1], now[r][0], p.level[level].offset[0][0]);
                const T last = ghost(1, now[r][W - 2], now[r][W - 1], p.level[level].offset[1][0]);
                left[r] = mirrors & 1 ? first : left[r];
                right[r] = mirrors & 2 ? last : right[r];
            }
        if (Y)
#pragma unroll
            for (int e = 0; e < W; e++) {
                const T first = ghost(2, now[1][e], now[0][e], p.level[level].offset[2][0]);
                const T last = ghost(3, now[R - 2][e], now[R - 1][e], p.level[level].offset[3][0]);
                below.v[e] = mirrors & 4 ? first : below.v[e];
                above.v[e] = mirrors & 8 ? last : above.v[e];
            }
    }

    /* Held nodes, likewise, of faces that all keep or all prescribe, in the order of the faces. */
    template <bool KEEPS>
    __device__ void select_held(int level, const T (&now)[ROWS][WIDTH],
                                T (&made)[ROWS][WIDTH]) const
    {
        /* by masks where predicates would be more than there are */
        const auto put = [&](int f, int r, int e) {
            const T value = KEEPS ? now[r][e] : p.level[level].hold[f];
            if constexpr (KEEPS || sizeof(T) == 8) {
                made[r][e] = holds >> f & 1 ? value : made[r][e];
            } else {
                const uint32_t mask = 0u - (holds >> f & 1u);
                made[r][e] =
                    __builtin_bit_cast(T, (__builtin_bit_cast(uint32_t, value) & mask) |
                                              (__builtin_bit_cast(uint32_t, made[r][e]) & ~mask));
            }
        };
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            put(0, r, 0);
            put(1, r, WIDTH - 1);
        }
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            put(2, 0, e);
            put(3, ROWS - 1, e);
        }
    }

    /* The same where plane k lies at a face of z that prescribes. */
    __device__ void select_held_plane(int level, int k, T (&made)[ROWS][WIDTH]) const
    {
        const bool first = k == 0, end = first || k == p.nz - 1;
        const T taken = first ? p.level[level].hold[4] : p.level[level].hold[5];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                made[r][e] = end ? taken : made[r][e];
    }

    /* Held nodes of plane k. Where faces meet, one that prescribes goes before one that keeps, and
     * of those that prescribe the later one has the node: so keep first, then prescribe in order.
     */
    template <meets MEETS>
    __device__ void put_held(unsigned held, int level, int k, const T (&now)[ROWS][WIDTH],
                             T (&made)[ROWS][WIDTH]) const
    {
        const unsigned keeps = held & p.keeping, takes = held & ~p.keeping;
        const bool first_x = lane == 0, last_x = lane == LANES - 1;
        const bool first_y = group == 0, last_y = group == GROUPS - 1;
        const bool end_z = (k == 0 && held & 16) || (k == p.nz - 1 && held & 32);
        if (keeps) {
            if (keeps & 1) {
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    made[r][0] = first_x ? now[r][0] : made[r][0];
            }
            if (keeps & 2) {
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    made[r][WIDTH - 1] = last_x ? now[r][WIDTH - 1] : made[r][WIDTH - 1];
            }
            if (keeps & 4 && threadIdx.x < 32) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    made[0][e] = first_y ? now[0][e] : made[0][e];
            }
            if (keeps & 8 && threadIdx.x >= tile<T>::THREADS - 32) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    made[ROWS - 1][e] = last_y ? now[ROWS - 1][e] : made[ROWS - 1][e];
            }
            if (MEETS == ENDS && end_z && keeps & (k == 0 ? 16 : 32)) {
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        made[r][e] = now[r][e];
            }
        }
        if (takes) {
            if (takes & 1) {
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    const T value = hold(0, level, on_x(r, k));
                    made[r][0] = first_x ? value : made[r][0];
                }
            }
            if (takes & 2) {
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    const T value = hold(1, level, on_x(r, k));
                    made[r][WIDTH - 1] = last_x ? value : made[r][WIDTH - 1];
                }
            }
            if (takes & 4 && threadIdx.x < 32) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    const T value = hold(2, level, on_y(e, k));
                    made[0][e] = first_y ? value : made[0][e];
                }
            }
            if (takes & 8 && threadIdx.x >= tile<T>::THREADS - 32) {
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    const T value = hold(3, level, on_y(e, k));
                    made[ROWS - 1][e] = last_y ? value : made[ROWS - 1][e];
                }
            }
            if (MEETS == ENDS && end_z && takes & (k == 0 ? 16 : 32)) {
                const int f = k == 0 ? 4 : 5;
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        made[r][e] = hold(f, level, on_z(r, e));
            }
        }
    }

    /* First and last row of level l's newest plane, for the neighbouring groups' next step. */
    __device__ void hand_on(int buffer, int l, const T (&now)[ROWS][WIDTH])
    {
        vector first, last;
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            first.v[e] = now[0][e];
            last.v[e] = now[ROWS - 1][e];
        }
        shared.edge[buffer][l - 1][group + 1][0][lane] = first;
        shared.edge[buffer][l - 1][group + 1][1][lane] = last;
    }

    __device__ void store(const column &at, int k, const T (&made)[ROWS][WIDTH])
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
        if (stores != whole) /* some of a vector's points, or all of one that is not aligned */
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    if (stores >> r & points >> e & 1)
                        ((T *)offset_by(base, at_row[r]))[e] = made[r][e];
    }

    /* How much the last sweep changed what is stored of plane k. What there is so far lies in
     * shared memory, and in double a point comes after the other: else registers would spill. */
    __device__ void note_change(const column &at, int k, const T (&before)[ROWS][WIDTH],
                                const T (&made)[ROWS][WIDTH])
    {
        if (k < at.z_lo || k >= at.z_hi)
            return;
        T most = T(0);
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            T of_column = T(0);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const T change = star::distance(made[r][e], before[r][e]);
                of_column = stores >> r & 1 ? star::larger(of_column, change) : of_column;
                if (sizeof(T) == 8)
                    asm volatile("" ::: "memory");
            }
            most = points >> e & 1 ? star::larger(most, of_column) : most;
        }
        asm volatile("" ::: "memory");
        shared.change[threadIdx.x] = star::larger(most, shared.change[threadIdx.x]);
    }

    /* From here on inlined by force: for a function that is called the march's state would have to
     * lie in memory.
     *
     * One step: plane z of level 0 has arrived. OLD says which of the two planes is the older. */
    template <int OLD, meets MEETS>
    __device__ __forceinline__ void step(const column &at, int z, unsigned slot,
                                         unsigned slot_before, unsigned source_place)
    {
        constexpr int NEW = 1 - OLD;
        T fresh[ROWS][WIDTH]; /* the newest plane of the level at hand */
        constexpr bool COPY = !in_pairs(MEETS);
        const int buffer = COPY ? (step_count - 1) % 2 : OLD;
        /* from the neighbours' slots; at the tile's ends any value will do */
        vector below = mine(slot_before)[group > 0 ? -(int)LANES : 0];
        vector above = mine(slot_before)[(group < GROUPS - 1 ? ROWS : ROWS - 1) * LANES];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const vector v = mine(slot)[r * LANES];
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                fresh[r][e] = v.v[e];
        }
#pragma unroll
        for (int l = 0; l < LEVELS; l++) {
            const int k = z - 1 - l; /* plane of level l+1 that is made here */
            T(&now)[ROWS][WIDTH] = plane[NEW][l];
            T(&older)[ROWS][WIDTH] = plane[OLD][l];
            T left[ROWS], right[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                left[r] = __shfl_up_sync(0xffffffffu, now[r][WIDTH - 1], 1, LANES);
                right[r] = __shfl_down_sync(0xffffffffu, now[r][0], 1, LANES);
            }
            T keep[ROWS][WIDTH];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    keep[r][e] = fresh[r][e];
            if (MEETS == GHOSTS_X || MEETS == GHOSTS_Y || MEETS == GHOSTS || MEETS == GHOSTS_ENDS)
                select_ghosts<MEETS != GHOSTS_Y, MEETS != GHOSTS_X>(l, now, left, right, below,
                                                                    above);
            if (MEETS == GHOSTS_ENDS)
                put_ghost_plane(l, k, older, now, fresh);
            if (MEETS == SIDES || MEETS == ENDS)
                put_ghosts<MEETS>(at.faces & ~at.held, l, k, older, now, fresh, left, right, below,
                                  above);
            T made[ROWS][WIDTH];
            const int place = (int)source_place - l * SLOT;
            const vector *const sources = source_at(place + (place < 0 ? SOURCES * SLOT : 0));
            lane_values<double, 2> line = {};
            if (TABLES)
                line = shared.line[l][k - first_line];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                vector source;
                if (TABLES)
                    source = from_tables(l, r, line);
                else if (SOURCE)
                    source = sources[r * LANES];
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    T sum = SOURCE && (!FULL || p.source.field[0]) ? source.v[e]
                                                                   : p.level[l].source_value;
                    sum = star::fused(p.c[0], older[r][e], sum);
                    sum = star::fused(p.c[1], r > 0 ? now[(r + ROWS - 1) % ROWS][e] : below.v[e],
                                      sum);
                    sum =
                        star::fused(p.c[2], e > 0 ? now[r][(e + WIDTH - 1) % WIDTH] : left[r], sum);
                    sum = star::fused(p.c[3], now[r][e], sum);
                    sum = star::fused(p.c[4], e + 1 < WIDTH ? now[r][(e + 1) % WIDTH] : right[r],
                                      sum);
                    sum = star::fused(p.c[5], r + 1 < ROWS ? now[(r + 1) % ROWS][e] : above.v[e],
                                      sum);
                    sum = star::fused(p.c[6], fresh[r][e], sum);
                    made[r][e] = sum;
                }
            }
            constexpr bool HOLDS = MEETS == HELD || MEETS == HELD_ENDS;
            if (MEETS == KEPT || MEETS == KEPT_ENDS || HOLDS)
                select_held<!HOLDS>(l, now, made);
            if (MEETS == KEPT_ENDS) {
                const bool end = k == 0 || k == p.nz - 1;
#pragma unroll
                for (int r = 0; r < ROWS; r++)
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        made[r][e] = end ? now[r][e] : made[r][e];
            }
            if (MEETS == HELD_ENDS)
                select_held_plane(l, k, made);
            if (MEETS == SIDES || MEETS == ENDS)
                put_held<MEETS>(at.held, l, k, now, made);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    if (COPY) {
                        older[r][e] = now[r][e];
                        now[r][e] = keep[r][e];
                    } else {
                        older[r][e] = keep[r][e];
                    }
                    fresh[r][e] = made[r][e];
                }
            if (l + 1 < LEVELS) {
                hand_on(buffer, l + 1, fresh);
                below = shared.edge[1 - buffer][l][group][1][lane];
                above = shared.edge[1 - buffer][l][group + 2][0][lane];
            }
            if (l + 2 == LEVELS || LEVELS == 1)
                arrive(); /* all that is handed on is written, all that was is read */
        }
        if (CHANGE) /* here the last level's planes are the next step's already */
            note_change(at, z - LEVELS, plane[COPY ? OLD : NEW][LEVELS - 1], fresh);
        store(at, z - LEVELS, fresh);
    }

    /* Where the queue stands: bytes to the planes before, at, and the most ahead of this step. */
    struct position {
        unsigned before, at, ahead;
        unsigned source; /* bytes to the source's newest plane in use */
    };
    template <int OLD, meets MEETS>
    __device__ __forceinline__ void advance(const column &at, int z, position &q)
    {
        wait();
        if (SOURCE && !TABLES && way().planes > 1)
            __pipeline_wait_prior(0); /* the source's last planes came with the last step */
        else
            __pipeline_wait_prior(AHEAD - 1);
        fetch(z + AHEAD, q.ahead);
        fetch_source(z, q.source);
        __pipeline_commit();
        step<OLD, MEETS>(at, z, q.at, q.before, q.source);
        q.before = q.at;
        q.at = q.at == (DEPTH - 1) * SLOT ? 0 : q.at + SLOT;
        q.ahead = q.ahead == (DEPTH - 1) * SLOT ? 0 : q.ahead + SLOT;
        if (SOURCE && !TABLES)
            q.source = turned(q.source + way().moves);
    }
    template <meets MEETS>
    __device__ __forceinline__ void advance_to(const column &at, int &z, int end, position &q)
    {
        if constexpr (in_pairs(MEETS)) {
            for (; z < end; z += 2) {
                advance<0, MEETS>(at, z, q);
                advance<1, MEETS>(at, z + 1, q);
            }
        } else {
#pragma unroll 1
            for (; z < end; z++)
                advance<0, MEETS>(at, z, q);
        }
    }

    __device__ __forceinline__ void advance_inside(const column &at, int &z, int end, position &q)
    {
        const unsigned faces = at.faces & 15, held = at.held & 15;
        if (faces == 0)
            advance_to<NO_FACE>(at, z, end, q);
        else if (faces == (held & p.keeping))
            advance_to<KEPT>(at, z, end, q);
        else if constexpr (FULL)
            advance_to<SIDES>(at, z, end, q);
        else if (faces == (held & ~p.keeping))
            advance_to<HELD>(at, z, end, q);
        else if (held)
            advance_to<SIDES>(at, z, end, q);
        else if (!(faces & 12))
            advance_to<GHOSTS_X>(at, z, end, q);
        else if (!(faces & 3))
            advance_to<GHOSTS_Y>(at, z, end, q);
        else
            advance_to<GHOSTS>(at, z, end, q);
    }

    __device__ __forceinline__ void advance_at_ends(const column &at, int &z, int end, position &q)
    {
        if constexpr (!SOURCE || TABLES) { /* others have enough code as it is */
            if (at.faces == (at.held & p.keeping))
                return advance_to<KEPT_ENDS>(at, z, end, q);
        }
        if constexpr (HAS == NO_FIELDS) {
            if (at.faces == (at.held & ~p.keeping))
                return advance_to<HELD_ENDS>(at, z, end, q);
            if (!at.held)
                return advance_to<GHOSTS_ENDS>(at, z, end, q);
        }
        advance_to<ENDS>(at, z, end, q);
    }

    __device__ void run(const column &at)
    {
        const int end = at.z_hi + LEVELS;
        const bool ends = at.faces & 48, from_end = ends && at.z_lo <= LEVELS;
        int z = from_end ? -1 : at.z_lo - LEVELS;
        place(at);
        if (CHANGE)
            shared.change[threadIdx.x] = T(0);
        if (TABLES)
            fetch_lines(z);
        start();
        position q = {(DEPTH - 1) * SLOT, 0, AHEAD * SLOT, (LEVELS - 1) * SLOT};
#pragma unroll
        for (int ahead = 0; ahead < AHEAD; ahead++) {
            fetch(z + ahead, ahead * SLOT);
            if (TABLES) {
                if (ahead == 0)
                    fetch_tables();
            } else if (SOURCE && way().planes == 1) {
                fetch_source(z + ahead - 1, 0, turned(q.source + ahead * SLOT));
            } else if (SOURCE && ahead == 0 && p.source.field[0]) {
                fetch_sources(z - 1, q.source);
            }
            __pipeline_commit();
        }
        arrive();
        /* step z makes planes z-LEVELS .. z-1 of the levels, so steps 1 .. LEVELS meet the first
         * plane; an even number of steps goes before any pairs */
        const int inside = from_end ? 1 + (LEVELS + 1) / 2 * 2 : z;
        while (z < end) {
            if (ends && ((z >= 1 && z < inside) || z >= p.nz - 1))
                advance_at_ends(at, z, z < inside ? min(inside, end) : end, q);
            else
                advance_inside(at, z, !ends ? end : z < 1 ? 1 : min(end, p.nz - 1), q);
        }
        wait();
        __pipeline_wait_prior(0);
        if (CHANGE)
            star::tell_change(p.change, shared.change[threadIdx.x]);
    }
};

/* A block a tile and chunk of planes; blocks that run at the same time are at about the same z, so
 * that rows that tiles share are read once, and few pages of memory are in use at a time. */
template <typename T, int LEVELS, fields HAS, bool CHANGE>
__global__ void __launch_bounds__(tile<T>::THREADS, 1)
    fused_march(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
    using marcher = march<T, LEVELS, HAS, CHANGE>;
    STAR_SHARED(memory, typename marcher::shared_memory, [1]);
    marcher m(p, memory[0]);
    constexpr columns::shape tile = {marcher::NX, marcher::NY, marcher::RIM_X, marcher::RIM_Y};
    m.run(columns::column_of(tile, p.cut, p.nx, p.ny, p.nz, p));
#else
    (void)p; /* suits() tells such GPUs apart */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */

/* How the source's planes come to a march of type March (source_fields). */
template <typename March, typename T>
void take_source(const hs_sweep *sweep, source_fields<T> *to)
{
    constexpr int levels = March::LEVEL_COUNT;
    const bool own = sweep->source_level != nullptr;
    bool one = true;
    for (int l = 0; l < levels; l++) {
        to->field[l] = (const T *)(own ? sweep->source_level[l] : sweep->source);
        one = one && to->field[l] == to->field[0];
    }
    to->pitch_y = (int)(own ? sweep->source_pitch[HS_Y] : sweep->layout.pitch[HS_Y]);
    to->pitch_z = own ? sweep->source_pitch[HS_Z] : sweep->layout.pitch[HS_Z];
    const bool stays = to->pitch_z == 0, moves = one && !stays;
    to->way.planes = !to->field[0] || stays ? 0 : moves ? 1 : levels;
    to->way.lead = moves ? (int)March::AHEAD - 1 : 0;
    to->way.apart = (moves ? March::AHEAD : levels) * March::SLOT;
    to->way.turn = (moves ? March::SOURCES : 2 * levels) * March::SLOT;
    to->way.moves = (stays ? 0 : moves ? 1 : levels) * March::SLOT;
}

inline void take_tables(const hs_sweep *sweep, source_tables *to)
{
    for (int l = 0; l < sweep->steps; l++) {
        to->plane[l] = sweep->source_tables[l].plane;
        to->line[l] = sweep->source_tables[l].line;
    }
    to->pitch_y = (int)sweep->source_pitch[HS_Y];
    to->scale = sweep->source_scale;
}

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
    p.change = (star::bits_of<T> *)sweep->change;
    star::take_coefficients(sweep, p.c);
    star::take_faces(sweep, &p);
    star::take_levels(sweep, p.level);
    return p;
}

template <typename T, int LEVELS, fields HAS, bool CHANGE = false>
hs_status launch_levels(const char *name, const hs_sweep *sweep, hs_error *err)
{
    using marcher = march<T, LEVELS, HAS, CHANGE>;
    hs_geometry g;
    hs_tiling_launch(name, sweep, &g);
    g.shared_bytes = sizeof(typename marcher::shared_memory);
    arguments<T> p = make_arguments<T>(sweep, g);
    if constexpr (marcher::TABLES)
        take_tables(sweep, &p.tables);
    else if constexpr (marcher::SOURCE)
        take_source<marcher>(sweep, &p.source);
    return star::launch(name, fused_march<T, LEVELS, HAS, CHANGE>, p, g, sweep->stream, err);
}

template <typename T, int MOST, fields HAS>
hs_status launch(const char *name, const hs_sweep *sweep, hs_error *err)
{
    return star::choose_levels<MOST>(name, sweep, err, [&](auto levels) {
        return launch_levels<T, levels.value, HAS>(name, sweep, err);
    });
}

template <int MOST, fields HAS>
hs_status launch(const char *name, const hs_sweep *sweep, hs_error *err)
{
    return sweep->precision == HS_FLOAT ? launch<float, MOST, HAS>(name, sweep, err)
                                        : launch<double, MOST, HAS>(name, sweep, err);
}

/* Of a call that tells the change of its last sweep there are only the most levels. */
template <typename T, int LEVELS, fields HAS>
hs_status launch_telling(const char *name, const hs_sweep *sweep, hs_error *err)
{
    return sweep->change ? launch_levels<T, LEVELS, HAS, true>(name, sweep, err)
                         : launch_levels<T, LEVELS, HAS, false>(name, sweep, err);
}

/* What both kernels need of a problem, besides what the descriptor says. */
inline bool suits(const char *name, const hs_problem *problem, char *reason, size_t size)
{
    const int tile_x = problem->precision == HS_FLOAT ? HS_FUSED_X_FLOAT : HS_FUSED_X_DOUBLE;
    const int least[HS_AXES] = {tile_x, hs_fused_tile_y(problem->precision), HS_FUSED_STEPS};
    return star::has_capability(name, problem, 9, 10, reason, size) &&
           columns::suits(name, problem, least, HS_FUSED_STEPS, reason, size);
}

} // namespace fused_march

#endif
