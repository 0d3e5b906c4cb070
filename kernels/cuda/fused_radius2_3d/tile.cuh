/*
 * The tile with which a block of fused_radius2_3d marches: its shape, what a step may meet, and
 * each thread's place in it, from which the thread fetches its rows of a plane.
 */
#ifndef HS_KERNELS_CUDA_FUSED_RADIUS2_3D_TILE_CUH
#define HS_KERNELS_CUDA_FUSED_RADIUS2_3D_TILE_CUH

#include "columns.cuh"
#include "neighbours.cuh"
#include "throttle.cuh"

#include "plan.h"

#include "core/cuda_asynchronous.cuh"

namespace radius2
{

enum { R = 2, MOST_LEVELS = HS_RADIUS2_STEPS };

template <typename T>
using tile =
    columns::tile<T, HS_FUSED_X, sizeof(T) == 4 ? HS_RADIUS2_ROWS_FLOAT : HS_RADIUS2_ROWS_DOUBLE,
                  HS_RADIUS2_WARPS>;

template <typename T>
struct arguments : star::faces<T, HS_FACES, R> {
    const T *in;
    T *out;
    int64_t pitch_y, pitch_z; /* a plane is smaller than 4 GiB */
    int64_t on, around; /* bytes from a plane to the next, and from the last plane to its successor:
                         * the first one, or itself */
    int left;           /* planes from that successor to the last one */
    int nx, ny, nz;
    columns::cut cut;
    waves throttled; /* the waves of throttled blocks */
    T c[6 * R + 1];  /* in the order of the additions */
    star::level<T, HS_FACES, R> level[MOST_LEVELS];
};

using columns::column;
using columns::offset_by;
using star::wrapped;

/* What a step may meet. Up to OPEN_X all vectors are aligned in memory as in the tile. */
enum meets {
    NO_FACE,
    KEPT_FIRST = 1, /* the first face of x, R layers of which keep their values (in double, any of
                     * x; if masks do it, any faces of y too) */
    KEPT_LAST = 2,  /* ... or the last one, if a vector ends there (in float) */
    KEPT_Y = 4,  /* ... or faces of y, with or without those of x (if kept values are read again) */
    FACES_Y = 8, /* any faces of y */
    KEPT_X,      /* also any of x, R layers of which keep their values */
    KEPT_ENDS,   /* also faces of z, R layers of which keep their values */
    OPEN_X,      /* as FACES_Y, and faces of x with ghosts; their first nodes may be prescribed */
    SIDES,       /* any faces of x and y */
    ENDS         /* ... and of z */
};

/* Compute capability 10 has too few registers for some variants, and in float for two levels. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
enum { LEAN = 1 };
#else
enum { LEAN = 0 };
#endif

/* A thread's place in the tile, and so in memory and in shared memory. THROTTLED blocks only meet
 * faces that keep their values. */
template <typename T, int LEVELS, bool THROTTLED>
struct place {
    enum {
        WIDTH = tile<T>::WIDTH,
        LANES = tile<T>::LANES,
        ROWS = tile<T>::ROWS,
        GROUPS = tile<T>::GROUPS,
        WARPS = tile<T>::WARPS,
        NX = tile<T>::NX,
        NY = tile<T>::NY,
        HALO = LEVELS * R,                           /* swept redundantly on each side: rows, */
        HALO_X = (HALO + WIDTH - 1) / WIDTH * WIDTH, /* and whole vectors */
        DEPTH = HS_RADIUS2_DEPTH,                    /* planes of level 0 in use or in flight */
        AHEAD = DEPTH - 3,                           /* in flight */
        PASSED = HS_RADIUS2_PASSED,                  /* planes of level 1 */
        LOOPED = sizeof(T) == 4 || LEAN, /* whether a loop goes through the stretches of steps */
        SHUFFLES = sizeof(T) == 4,       /* a row's neighbours come from the next lanes */
        KEEPS_OWN = !SHUFFLES,           /* the newest plane but one of each level, in registers */
        READS_KEPT = (!SHUFFLES || THROTTLED) && !LEAN, /* what faces keep is read again, else it
                                                         * goes by masks */
        PITCH = LANES,                                  /* vectors from row to row, */
        PLANE = (NY + 2 * R) * PITCH /* ... and of a plane; anything may lie beyond the tile */
    };
    using vector = star::vec<T>;
    struct shared_memory {
        vector plane[DEPTH + (LEVELS > 1 ? PASSED : 0)]
                    [PLANE];             /* level 0's queue, then level 1's */
        vector plane_end[columns::LINE]; /* up to which rows may begin later */
        typename neighbours<WARPS, LANES>::barriers arrived;
        typename throttle<WARPS>::memory throttled;
        struct {
            meets what;
            int end;
        } stretch[3]; /* of steps: what they meet, and the first one after them */
    };
    enum { SLOT = sizeof(vector) * PLANE };

    const arguments<T> &p;
    shared_memory &shared;
    const int lane, group;
    unsigned own_at; /* byte offset of this thread's first vector in a plane in shared memory */
    unsigned at_row[ROWS]; /* ... of its vector in each row of a plane of the grid */
    unsigned whole;        /* bit of each row that is stored as 16 bytes */
    unsigned kept[WIDTH];  /* all bits if faces of x keep the values of these points */
    unsigned marks;        /* bits that are seldom read: */
    enum {
        TOUCHES = 0,  /* bit of each face of x and y at which its points lie, ... */
        HOLDS = 4,    /* ... with held nodes, except faces of x for which `kept` suffices; */
        STORES = 8,   /* bit of each row that is stored, ... */
        POINTS = 16,  /* ... of each stored point of a vector; */
        TO_WRAP = 20, /* points of a vector before the row's end, at most all; */
        SPLIT = 23    /* its vectors are not aligned in memory, or cross the wrap */
    };
    static_assert((int)ROWS <= 8 && (int)WIDTH <= 4, "marks have their places");

    __device__ place(const arguments<T> &arguments, shared_memory &memory)
        : p(arguments), shared(memory), lane(threadIdx.x % LANES), group(threadIdx.x / LANES)
    {
    }

    /* Whether face f keeps all R layers, so that no node reads anything beyond it. */
    __device__ bool keeps_all(int f) const
    {
        return p.layers[f] == R && (p.held & p.keeping) >> f & 1;
    }

    __device__ __forceinline__ void take_place(const column &at)
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
        /* A row is aligned in shared memory as in its lines of 128 bytes in the field: if a sector
         * of 32 bytes were split in two, the copies would read it twice. */
        own_at =
            ((R + group * ROWS) * PITCH + lane) * (unsigned)sizeof(vector) +
            (unsigned)((uintptr_t)(p.in + at.x) / sizeof(vector) % columns::LINE * sizeof(vector));
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

    __device__ vector *mine(unsigned slot) const
    {
        return (vector *)((char *)&shared.plane[0][0] + slot + own_at);
    }

    /* Fetches a plane of level 0. */
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

    /* Where the march stands: byte offsets of planes z-2 .. z+1 of level 0, of the one to be
     * fetched, and of the last three of level 1, the newest first. */
    struct position {
        unsigned older, before, at, after, ahead;
        unsigned passed[PASSED];
        int left;      /* planes from the one to be fetched to the grid's last one */
        const T *from; /* the plane to be fetched; beyond the end of the grid, the last one */
    };
    __device__ static unsigned turned(unsigned slot)
    {
        return slot == (DEPTH - 1) * SLOT ? 0 : slot + SLOT;
    }
    __device__ __forceinline__ void come_on(position &q) const
    {
        const bool end = q.left == 0; /* both by selection, without a branch or a load */
        q.from = (const T *)((const char *)q.from + (end ? p.around : p.on));
        q.left = end ? p.left : q.left - 1;
        q.ahead = turned(q.ahead);
    }
};

} // namespace radius2

#endif
