/*
 * The tile with which a block of a fused march goes along z (march.cuh): its sizes, the part of it
 * in shared memory, and the points of each thread.
 */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_3D_TILE_CUH
#define HS_KERNELS_CUDA_FUSED_MARCH_3D_TILE_CUH

#include "neighbours.cuh"
#include "request.cuh"

namespace fused_march
{

template <typename T>
using tile = columns::tile<T, HS_FUSED_X, HS_FUSED_ROWS, HS_FUSED_WARPS>;
using columns::offset_by;

/* What a march is compiled for. CHANGE: with the fused max-norm of the last sweep's change; a march
 * that checked for it in each step would be slower (docs/performance/whole-runs.md). */
template <typename T, int LEVELS_, fields HAS_, bool CHANGE_>
struct sizes : tile<T> {
    using number = T;
    static constexpr fields HAS = HAS_;
    static constexpr bool CHANGE = CHANGE_;
    static constexpr bool FULL = HAS == ALL_FIELDS, SOURCE = HAS != NO_FIELDS;
    static constexpr bool TABLES = HAS == SOURCE_TABLES, RECURSION = HAS == X_BEFORE;
    static constexpr hs_fused_source FROM = !SOURCE  ? HS_FUSED_NO_SOURCE
                                            : TABLES ? HS_FUSED_SOURCE_TABLES
                                                     : HS_FUSED_SOURCE_FIELDS;
    /* Sweeps left over from a run of full passes: compiled for fewer kinds of tiles. */
    static constexpr bool LEFT_OVER = LEVELS_ <= 2;
    /* Whether a tile's first and last warps own exactly its halos along y, and sweep only the
     * needed part of them (see warps). */
    static constexpr bool HALOS =
        HAS == NO_FIELDS && tile<T>::LANES == HS_WARP && LEVELS_ == tile<T>::ROWS;
    enum {
        LEVELS = LEVELS_,
        WIDTH = tile<T>::WIDTH,
        LANES = tile<T>::LANES,
        NY = tile<T>::NY,
        HALO_X = (LEVELS + WIDTH - 1) / WIDTH * WIDTH, /* swept redundantly on each side */
        HALO_Y = LEVELS,
        DEPTH = hs_fused_depth(LEVELS_, FROM), /* planes of level 0 */
        AHEAD = DEPTH - 2,                     /* in flight */
        /* several fields, or one that lies like level 0 */
        ANY_WAY = SOURCE && !RECURSION && LEVELS <= HS_FUSED_FIELDS_STEPS,
        PARTS = 8 * (int)WIDTH / 16, /* slots that a plane of a table takes */
        SOURCES = hs_fused_source_depth(sizeof(T), LEVELS_, FROM), /* of the source */
        EDGES = LEVELS > 1 ? LEVELS - 1 : 1,
        NODES_Z = hs_fused_source_nodes(LEVELS_, FROM)
    };
    using vector = star::vec<T>;
    using meeting = neighbours<tile<T>::WARPS, LANES>;
    enum { SLOT = sizeof(vector) * NY * LANES }; /* bytes of a plane in the queue */

    struct shared_memory {
        vector queue[DEPTH][NY][LANES];  /* level 0; neighbours read it one step later */
        vector queue_end[columns::LINE]; /* up to which rows may begin later: see place */
        vector edge[2][EDGES][tile<T>::GROUPS + 2][2][LANES]; /* others: groups' outer rows */
        vector source[SOURCE ? SOURCES : 1][SOURCE ? NY : 1][LANES];
        vector source_end[SOURCE ? columns::LINE : 1];
        star::vec<double> line[LEVELS][NODES_Z]; /* of the tables: column, offset */
        T change[CHANGE ? tile<T>::THREADS : 1]; /* the largest that each thread found */
        typename meeting::barriers arrived;
    };
    static_assert(sizeof(shared_memory) == hs_fused_shared_bytes(sizeof(T), LEVELS_, FROM, CHANGE));
    static_assert(!ANY_WAY || TABLES || 2 * (int)LEVELS <= (int)SOURCES,
                  "two planes of each field");
};

/* Which rows a warp sweeps: all that it owns, or, in a tile's first or last warp that owns the halo
 * along y, only those needed: one row less at each level, and none of the last. */
enum warps { ANY_WARP, FIRST_WARP, LAST_WARP };

/* The node at index i of an axis: its image beyond a wrap; any node beyond a face, where values are
 * not used. A periodic axis has at least as many nodes as there are levels. */
__device__ inline int image(int i, int n, bool wrap)
{
    if (wrap)
        i = i < 0 ? i + n : i >= n ? i - n : i;
    return min(max(i, 0), n - 1);
}

/* The points of a thread: WIDTH of each of ROWS rows of every plane. */
template <typename Sizes>
struct place : Sizes {
    using T = typename Sizes::number;
    using Sizes::ANY_WAY, Sizes::TABLES, Sizes::GROUPS, Sizes::LANES, Sizes::ROWS, Sizes::WIDTH;
    using typename Sizes::shared_memory, typename Sizes::vector;

    const arguments<T> &p;
    shared_memory &shared;
    const int lane, group;
    int x, y;
    int before_wrap;       /* nodes from this thread's first to the end of the row */
    bool split;            /* its vectors are not aligned in memory, or cross the wrap */
    unsigned at_row[ROWS]; /* bytes from the plane's first node to this thread's, per row */
    unsigned source_row[ANY_WAY ? ROWS : 1]; /* the same in the source's fields or tables */
    unsigned in_slot; /* vectors from a slot's beginning to this thread's first row */
    unsigned stores;  /* bit of each row that is stored, ... */
    unsigned whole;   /* ... of those that are stored as 16 bytes, ... */
    unsigned points;  /* ... and of each point of a vector that is stored */
    unsigned mirrors; /* bit of each face with ghosts at which one of its vectors lies, ... */
    unsigned holds;   /* ... or with held nodes */

    __device__ place(const arguments<T> &arguments, shared_memory &memory)
        : p(arguments), shared(memory), lane(threadIdx.x % LANES), group(threadIdx.x / LANES)
    {
    }

    __device__ void take_place(const columns::column &at)
    {
        x = at.x + lane * WIDTH;
        y = at.y + group * ROWS;
        const int x_in = p.wrap[0] ? star::wrapped(x, p.nx) : x;
        const unsigned here = at.faces & ((lane == 0 ? 1u : 0u) | (lane == LANES - 1 ? 2u : 0u) |
                                          (group == 0 ? 4u : 0u) | (group == GROUPS - 1 ? 8u : 0u));
        mirrors = here & ~at.held;
        holds = here & at.held;
        before_wrap = p.nx - x_in;
        split = x_in % WIDTH != 0 || before_wrap < WIDTH;
        points = stores = 0;
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            points |= x + e >= at.x_lo && x + e < at.x_hi ? 1u << e : 0u;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            stores |= points && y + r >= at.y_lo && y + r < at.y_hi ? 1u << r : 0u;
            const int row = p.wrap[1] ? star::wrapped(y + r, p.ny) : y + r;
            at_row[r] = (unsigned)(row * p.pitch_y + x_in) * (unsigned)sizeof(T);
            if (TABLES)
                source_row[r] = (unsigned)(row * p.tables.pitch_y + x_in) * 8u;
            else if (ANY_WAY)
                source_row[r] =
                    (unsigned)((int64_t)row * p.source.pitch_y + x_in) * (unsigned)sizeof(T);
        }
        /* A row is aligned in shared memory as in its lines of 128 bytes in the field: if a sector
         * of 32 bytes were split in two, the copies would read it twice. */
        in_slot = group * ROWS * LANES + lane +
                  (unsigned)((uintptr_t)(p.in + at.x) / sizeof(vector) % columns::LINE);
        whole = !split && points == (1u << WIDTH) - 1 ? stores : 0u;
    }
};

} // namespace fused_march

#endif
