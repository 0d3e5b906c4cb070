/*
 * The tile with which a block of conduction_fused goes along z: the part of it in shared memory,
 * the nodes of each thread, and how planes of values and of numbers arrive.
 */
#ifndef HS_KERNELS_CUDA_CONDUCTION_TILE_CUH
#define HS_KERNELS_CUDA_CONDUCTION_TILE_CUH

#include "columns.cuh"
#include "neighbours.cuh"
#include "rows.cuh"

#include "core/cuda_asynchronous.cuh"

namespace conduction
{

template <typename T>
struct arguments : network::request<T> {
    int nx, ny, nz;
    star::faces<T, HS_FACES, 1> faces; /* only which axes wrap */
    columns::cut cut;
};

template <typename T>
using tile = columns::tile<T, HS_FUSED_X, HS_CONDUCTION_ROWS, HS_CONDUCTION_FUSED_WARPS>;

template <typename REAL, typename NUMBER_, int LEVELS_>
struct sizes : tile<REAL> {
    using T = REAL;
    using NUMBER = NUMBER_;
    using tile<T>::WIDTH, tile<T>::NY, tile<T>::LANES, tile<T>::GROUPS, tile<T>::ROWS;
    enum {
        LEVELS = LEVELS_,
        HALO_X = (LEVELS_ + (int)WIDTH - 1) / WIDTH * WIDTH, /* swept redundantly on each side */
        DEPTH = (int)HS_CONDUCTION_DEPTH, /* planes of values: two in use, one that neighbours may
                                           * still read, the others in flight */
        AHEAD = DEPTH - 3,
        EDGES = LEVELS > 1 ? LEVELS - 1 : 1
    };
    using vector = star::vec<T>;
    using word = network::word<NUMBER, WIDTH>;
    using table = network::table<T, NUMBER, LEVELS, hs_conduction_rows(sizeof(NUMBER))>;
    using meeting = neighbours<tile<T>::WARPS, LANES>;
    enum { SLOT = sizeof(vector) * NY * LANES }; /* bytes of a plane in the queue */

    struct shared_memory {
        vector queue[DEPTH][NY][LANES];  /* level 0; neighbours read it one step later */
        vector queue_end[columns::LINE]; /* up to which rows may begin later: see place */
        vector edge[2][EDGES][GROUPS + 2][2][LANES]; /* other levels: outer rows of groups */
        [[no_unique_address]] typename table::memory palette;
        /* numbers of the levels' current planes: a thread's own, from the row below its first */
        typename word::type number[LEVELS][ROWS + 1][tile<T>::THREADS];
        typename meeting::barriers arrived;
    };
};

/* A field's planes in turn: the current one, and how many follow it. -1: it is beyond the grid, and
 * `at` is still the last one. */
template <typename V>
struct planes {
    const V *first, *at;
    int after;

    __device__ __forceinline__ planes(const V *field, int k, int count, int64_t pitch)
        : first(field), at(field + k * pitch), after(count - 1 - k)
    {
    }
    __device__ __forceinline__ void next(bool wraps, int count, int64_t pitch)
    {
        after--;
        if (after >= 0)
            at += pitch;
        else if (wraps)
            at = first, after = count - 1;
    }
};

/* The nodes of a thread: WIDTH of each of ROWS rows of every plane. Periodic rows are whole
 * vectors; in other rows the last vector may be only partly in the grid. */
template <typename Sizes>
struct place : Sizes {
    using Sizes::LANES, Sizes::ROWS, Sizes::WIDTH;
    using typename Sizes::T, typename Sizes::NUMBER, typename Sizes::vector, typename Sizes::word;
    using numbers = typename word::type;

    const arguments<T> &p;
    typename Sizes::shared_memory &shared;
    const columns::column at;
    const int lane, group;
    int missing;           /* nodes at the end of its vectors that are not in the grid */
    int below;             /* elements to the row below the first one; -1 if there is none */
    unsigned at_row[ROWS]; /* bytes from the plane's first node to this thread's, per row */
    unsigned in_slot;      /* vectors from a slot's beginning to this thread's first row */
    unsigned stores;       /* bit of each row that is stored, ... */
    unsigned nodes;        /* ... and of each stored node of a vector */

    __device__ place(const arguments<T> &arguments, const columns::column &column,
                     typename Sizes::shared_memory &memory)
        : p(arguments), shared(memory), at(column), lane(threadIdx.x % LANES),
          group(threadIdx.x / LANES), stores(0), nodes(0)
    {
        const int x = at.x + lane * WIDTH, y = at.y + group * ROWS;
        const int first = p.faces.wrap[0] ? star::wrapped(x, p.nx) : x;
        missing = max(first + WIDTH - p.nx, 0);
        for (int e = 0; e < WIDTH; e++)
            nodes |= x + e >= at.x_lo && x + e < at.x_hi ? 1u << e : 0u;
        for (int r = 0; r < ROWS; r++) {
            stores |= nodes && y + r >= at.y_lo && y + r < at.y_hi ? 1u << r : 0u;
            at_row[r] = (unsigned)(row_at(y + r) + first) * (unsigned)sizeof(T);
        }
        below = !p.faces.wrap[1] && y == 0 ? -1 : row_at(y - 1) + first;
        /* A row is aligned in shared memory as in its lines of 128 bytes in the field: if a sector
         * of 32 bytes were split in two, the copies would read it twice. */
        in_slot = group * ROWS * LANES + lane +
                  (unsigned)((uintptr_t)(p.in + at.x) / sizeof(vector) % columns::LINE);
    }
    __device__ int row_at(int y) const
    {
        return (p.faces.wrap[1] ? star::wrapped(y, p.ny) : y) * (int)p.pitch_y;
    }
    template <typename V>
    __device__ __forceinline__ planes<V> planes_from(int z, const void *field) const
    {
        return {(const V *)field, p.faces.wrap[2] && z < 0 ? z + p.nz : z, p.nz, p.pitch_z};
    }
    template <typename V>
    __device__ __forceinline__ void advance(planes<V> &of) const
    {
        of.next(p.faces.wrap[2], p.nz, p.pitch_z);
    }

    /* This thread's first row in a slot of the queue. */
    __device__ vector *mine(unsigned slot) const
    {
        return (vector *)((char *)shared.queue + slot) + in_slot;
    }
    /* Fetches the next plane of level 0; beyond the grid, where values need only be finite, its
     * last. */
    __device__ __forceinline__ void fetch(planes<T> &of, unsigned slot)
    {
        for (int r = 0; r < ROWS; r++)
            __pipeline_memcpy_async(mine(slot) + r * LANES, columns::offset_by(of.at, at_row[r]),
                                    16);
        __pipeline_commit();
        advance(of);
    }
    /* Clears the nodes of an arrived plane that are not in the grid. */
    __device__ void clear_missing(unsigned slot)
    {
        if (missing > 0)
            for (int r = 0; r < ROWS; r++)
                for (int e = 1; e < WIDTH; e++)
                    if (e >= WIDTH - missing)
                        mine(slot)[r * LANES].v[e] = T(0);
    }
    /* Loads the next plane's numbers, from the row below the first one; 0 if there is none, and any
     * values for missing nodes. */
    __device__ __forceinline__ void load_numbers(planes<NUMBER> &of, numbers (&to)[ROWS + 1]) const
    {
        for (int r = 0; r <= ROWS; r++) {
            const unsigned offset =
                r == 0 ? (unsigned)below : star::anew(at_row[r - 1]) / (unsigned)sizeof(T);
            to[r] = 0;
            if (of.after >= 0 && (r > 0 || below >= 0))
                to[r] = __ldg((const numbers *)(of.at + offset));
        }
        advance(of);
    }
    /* Stores plane k of the last level. */
    __device__ void store(int k, const vector (&made)[ROWS])
    {
        T *const to = p.out + k * p.pitch_z;
        const bool whole = nodes == (1u << WIDTH) - 1u;
        for (int r = 0; r < ROWS; r++)
            if (whole && stores >> r & 1u)
                star::store(columns::offset_by(to, at_row[r]), made[r]);
        if (stores && !whole)
            for (int r = 0; r < ROWS; r++)
                for (int e = 0; e < WIDTH; e++)
                    if (stores >> r & nodes >> e & 1u)
                        columns::offset_by(to, at_row[r])[e] = made[r].v[e];
    }
};

} // namespace conduction

#endif
