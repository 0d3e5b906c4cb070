/*
 * A block of `resident`: its own nodes, how its threads share them and the halo around them, and
 * the tile in shared memory through which threads read each other's nodes.
 */
#ifndef HS_KERNELS_CUDA_RESIDENT_BLOCK_CUH
#define HS_KERNELS_CUDA_RESIDENT_BLOCK_CUH

#include "levels.cuh"
#include "packets.cuh"

#include "plan.h"

namespace resident
{

/* The kernel's names of the axes: along memory, from row to row, and from plane to plane: x, y, z
 * in 3D; x, -, y in 2D. */
enum axis { ALONG, ROW, PLANE };
enum { LEVEL = HS_RESIDENT_LEVEL };

template <typename T>
struct arguments : star::faces<T, HS_FACES, 1> { /* along the kernel's axes */
    const T *in;
    T *out;
    packets::packet<T> *sent; /* [blocks][warps][vectors of a thread][SETS][LANES] */
    packets::header *headers; /* [blocks][warps][vectors of a thread][SETS] */
    unsigned *exchanges;      /* [blocks]: in all launches so far */
    const T *levels;          /* [steps][LEVEL], or NULL: `level` serves all */
    T level[LEVEL];
    T c[7];           /* in the order of the additions */
    int64_t pitch[3]; /* of fields */
    int n[3];
    int blocks[3];
    int halo[3]; /* layers around a block's nodes that others send; 0, or at least depth */
    int wall[6]; /* held layers at the faces of rows and planes; no block owns them */
    int depth;   /* sweeps between exchanges */
    int steps;
    int lanes, groups[2]; /* threads along each axis */
    int listed;           /* most packets that a block looks for in an exchange */
    unsigned last;        /* bit of a row's last value in its vector */
    bool ragged;          /* a row is periodic, and not a whole number of vectors */
    const T *source;      /* node (0, 0, 0) of the field that each sweep adds, or NULL, ... */
    int source_places;    /* ... and how many of a thread's vectors of it are after the tiles */
    /* Data of faces that vary from point to point, with the lower axis fastest; or NULL. */
    const T *data[HS_FACES];
};

using star::vec;

__host__ __device__ constexpr int up(int a, int b)
{
    return (a + b - 1) / b;
}

#ifdef __CUDACC__
/* Loads from the tile if `wanted`, without a branch. */
__device__ __forceinline__ void load_if(bool wanted, const vec<float> *from, vec<float> &v)
{
    asm volatile("{.reg .pred p;\n\t"
                 "setp.ne.s32 p, %5, 0;\n\t"
                 "@p ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];}"
                 : "+f"(v.v[0]), "+f"(v.v[1]), "+f"(v.v[2]), "+f"(v.v[3])
                 : "r"((unsigned)__cvta_generic_to_shared(from)), "r"((int)wanted)
                 : "memory");
}
__device__ __forceinline__ void load_if(bool wanted, const vec<double> *from, vec<double> &v)
{
    asm volatile("{.reg .pred p;\n\t"
                 "setp.ne.s32 p, %3, 0;\n\t"
                 "@p ld.shared.v2.f64 {%0, %1}, [%2];}"
                 : "+d"(v.v[0]), "+d"(v.v[1])
                 : "r"((unsigned)__cvta_generic_to_shared(from)), "r"((int)wanted)
                 : "memory");
}
#else
template <typename T>
void load_if(bool wanted, const vec<T> *from, vec<T> &v)
{
    if (wanted)
        v = *from;
}
#endif

/* RAGGED: rows may wrap within a vector (p.ragged says whether they do). */
template <typename T, int DIMS, int ROWS_, int PLANES_, bool RAGGED_>
struct block {
    enum {
        WIDTH = vec<T>::WIDTH,
        ROWS = ROWS_,
        PLANES = PLANES_,
        HAS_ROWS = DIMS == 3,
        VECTORS = ROWS * PLANES,
        MANY = VECTORS > 16, /* so many that registers are scarce */
        RAGGED = RAGGED_,
        ROW_LENGTH = 32 * WIDTH /* elements from row to row of a tile, however many are used */
    };
    using number = T;
    using values = vec<T>;

    const arguments<T> &p;
    const int thread;
    int rows_of_plane;  /* of a tile */
    bool active;        /* the thread has vectors */
    T *tile;            /* the tile that is used next ... */
    int other;          /* ... and the distance to the other */
    int slot;           /* of the thread's first vector in its tile */
    unsigned own, full; /* bit of each of the thread's vectors that is partly, wholly the block's */
    unsigned others;    /* bit of each that others send, at least in part ... */
    unsigned others_of_warp; /* ... to any lane */
    values now[PLANES][ROWS];

    struct place {
        int at[3];        /* the block */
        int lo[3], hi[3]; /* its nodes */
        int origin[3];    /* of its tile: the first of its own nodes there */
        int node[3];      /* of the thread's first value */
        int column, group[2];
    };

    __device__ __forceinline__ bool ragged() const
    {
        return RAGGED && p.ragged;
    }
    __device__ __forceinline__ int edge(int axis, int at) const
    {
        const int n = p.n[axis] - p.wall[2 * axis] - p.wall[2 * axis + 1];
        const int unit = axis == ALONG ? WIDTH : 1, units = up(n, unit);
        return p.wall[2 * axis] + min(units * at / p.blocks[axis] * unit, n);
    }
    /* Where a block's own nodes begin in its tile. At a face of the grid they begin or end with the
     * threads' vectors, so that held nodes and ghosts are in the tile only. */
    __device__ __forceinline__ int origin(int axis, int at) const
    {
        if (axis == ALONG || (axis == ROW && !HAS_ROWS))
            return p.halo[axis];
        if (!p.wrap[axis] && at == 0)
            return 1;
        if (!p.wrap[axis] && at == p.blocks[axis] - 1)
            return swept(axis) + 1 - (edge(axis, at + 1) - edge(axis, at));
        return max(p.halo[axis], 1);
    }
    __device__ __forceinline__ int swept(int axis) const
    {
        return axis == ROW ? p.groups[0] * ROWS : p.groups[1] * PLANES;
    }
    /* A warp's lanes form strips of p.lanes, each for one row; leftover lanes duplicate the work of
     * others. */
    __device__ __forceinline__ place find() const
    {
        place f;
        const int index = (int)blockIdx.x, line = index / p.blocks[ALONG];
        f.at[ALONG] = index - line * p.blocks[ALONG];
        f.at[ROW] = line % p.blocks[ROW], f.at[PLANE] = line / p.blocks[ROW];
#pragma unroll
        for (int axis = 0; axis < 3; axis++) {
            f.lo[axis] = edge(axis, f.at[axis]), f.hi[axis] = edge(axis, f.at[axis] + 1);
            f.origin[axis] = origin(axis, f.at[axis]);
        }
        const int lane = thread % 32, in_warp = 32 / p.lanes;
        const int strip = min(lane / p.lanes, in_warp - 1);
        const int group = thread / 32 * in_warp + strip;
        const int mine = min(group, p.groups[0] * p.groups[1] - 1);
        f.group[1] = mine / p.groups[0], f.group[0] = mine - f.group[1] * p.groups[0];
        f.column = min(lane - strip * p.lanes, p.lanes - 1);
        f.node[ALONG] = f.lo[ALONG] - f.origin[ALONG] + f.column * WIDTH;
        f.node[ROW] = f.lo[ROW] - f.origin[ROW] + f.group[0] * ROWS + HAS_ROWS;
        f.node[PLANE] = f.lo[PLANE] - f.origin[PLANE] + f.group[1] * PLANES + 1;
        return f;
    }

    __device__ __forceinline__ block(const arguments<T> &arguments, T *tiles)
        : p(arguments), thread((int)threadIdx.x), tile(tiles)
    {
        const place f = find();
        const int lane = thread % 32, in_warp = 32 / p.lanes;
        const int all = p.groups[0] * p.groups[1];
        active = lane / p.lanes < in_warp && thread / 32 * in_warp + lane / p.lanes < all;
        rows_of_plane = HAS_ROWS ? p.groups[0] * ROWS + 2 : 1;
        other = (swept(PLANE) + 2) * plane_length();
        slot = (f.group[1] * PLANES + 1) * plane_length() +
               (f.group[0] * ROWS + HAS_ROWS) * ROW_LENGTH + f.column * WIDTH;
        find_own(f);
        others = ~(ragged() ? full : own) & ((1u << VECTORS) - 1);
        others_of_warp = of_warp(others);
    }

    __device__ __forceinline__ void find_own(const place &f)
    {
        const int x = f.node[ALONG];
        own = full = 0;
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const int y = f.node[ROW] + r, z = f.node[PLANE] + k;
                if (!active || y < f.lo[ROW] || y >= f.hi[ROW] || z < f.lo[PLANE] ||
                    z >= f.hi[PLANE])
                    continue;
                own |= x + WIDTH > f.lo[ALONG] && x < f.hi[ALONG] ? 1u << (k * ROWS + r) : 0u;
                full |= x >= f.lo[ALONG] && x + WIDTH <= f.hi[ALONG] ? 1u << (k * ROWS + r) : 0u;
            }
    }

    /* Maps a node, any number of periods away, into the grid; -1 if there is none. */
    __device__ __forceinline__ int node_at(int axis, int node) const
    {
        const int n = p.n[axis];
        if (p.wrap[axis])
            return star::wrapped(node, n);
        return node >= 0 && node < n ? node : -1;
    }

    /* Bits that are set in any lane of the warp; the compiler knows that they are uniform. */
    static __device__ __forceinline__ unsigned of_warp(unsigned bits)
    {
        return __reduce_or_sync(0xffffffffu, bits);
    }

    __device__ __forceinline__ void load()
    {
        const place f = find();
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                now[k][r] = values{};
                if (!(own >> (k * ROWS + r) & 1))
                    continue;
                const T *from = p.in + (f.node[PLANE] + k) * p.pitch[PLANE] +
                                (f.node[ROW] + r) * p.pitch[ROW] + f.node[ALONG];
                if (full >> (k * ROWS + r) & 1)
                    now[k][r] = *(const values *)from;
                else
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        if (f.node[ALONG] + e < f.hi[ALONG])
                            now[k][r].v[e] = from[e];
            }
    }

    /* Calls do_with(place in the tile, element of `in`, node, whether this block stores it) for
     * each held node of rows and planes that the tile has. */
    template <typename Do>
    __device__ __forceinline__ void each_of_walls(Do do_with) const
    {
        const place f = find();
        const int length = p.lanes * WIDTH, rows = rows_of_plane;
#pragma unroll 1
        for (int i = thread; i < length * rows * (swept(PLANE) + 2); i += (int)blockDim.x) {
            const int line = i / length;
            const int at[3] = {i - line * length, line % rows, line / rows};
            bool is_wall = false, is_node = true, is_mine = true;
            int64_t from = 0;
            int nodes[3];
#pragma unroll
            for (int axis = 0; axis < 3; axis++) {
                const int n = p.n[axis], node = f.lo[axis] - f.origin[axis] + at[axis];
                nodes[axis] = p.wrap[axis] ? star::wrapped(node, n) : node;
                is_node = is_node && nodes[axis] >= 0 && nodes[axis] < n;
                is_wall = is_wall || node < p.wall[2 * axis] || node >= n - p.wall[2 * axis + 1];
                is_mine = is_mine && node >= (f.at[axis] > 0 ? f.lo[axis] : 0) &&
                          node < (f.at[axis] < p.blocks[axis] - 1 ? f.hi[axis] : n);
                from += nodes[axis] * p.pitch[axis];
            }
            if (is_wall && is_node)
                do_with(at[PLANE] * plane_length() + at[ROW] * ROW_LENGTH + at[ALONG], from, nodes,
                        is_mine);
        }
    }
    /* Puts them into both tiles, once. */
    __device__ __forceinline__ void put_walls() const
    {
        each_of_walls([this](int to, int64_t from, const int(&)[3], bool is_mine) {
            const T value = p.in[from];
            tile[to] = tile[to + other] = value;
            if (is_mine)
                p.out[from] = value;
        });
    }
    /* The boundary data of a node of a face. */
    __device__ __forceinline__ T data_at(int face, const int (&node)[3]) const
    {
        const int first = face / 2 == ALONG ? ROW : ALONG, second = face / 2 == PLANE ? ROW : PLANE;
        return p.data[face][node[first] + (int64_t)p.n[first] * node[second]];
    }
    /* Stores the prescribed nodes, at the end; where several faces prescribe, the last has the
     * node. */
    template <bool FIELDS>
    __device__ __forceinline__ void store_walls(const T *level) const
    {
        const unsigned prescribed = p.held & ~p.keeping;
        if (prescribed)
            each_of_walls([=, this](int, int64_t from, const int(&node)[3], bool is_mine) {
#pragma unroll
                for (int face = 0; face < 6; face++)
                    if (is_mine && prescribed >> face & 1 &&
                        node[face / 2] == (face % 2 ? p.n[face / 2] - 1 : 0))
                        p.out[from] =
                            FIELDS && p.data[face] ? data_at(face, node) : level[7 + face];
            });
    }

    __device__ __forceinline__ void store() const
    {
        const place f = find();
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (!(own >> (k * ROWS + r) & 1))
                    continue;
                T *to = p.out + (f.node[PLANE] + k) * p.pitch[PLANE] +
                        (f.node[ROW] + r) * p.pitch[ROW] + f.node[ALONG];
                if (full >> (k * ROWS + r) & 1)
                    *(values *)to = now[k][r];
                else
#pragma unroll
                    for (int e = 0; e < WIDTH; e++)
                        if (f.node[ALONG] + e < f.hi[ALONG])
                            to[e] = now[k][r].v[e];
            }
    }

    /* ---- the tile ---------------------------------------------------------------------------- */

    __device__ __forceinline__ int plane_length() const
    {
        return HAS_ROWS ? rows_of_plane * ROW_LENGTH : (int)ROW_LENGTH;
    }
    __device__ __forceinline__ T *my(int k, int r) const
    {
        return tile + slot + k * plane_length() + r * ROW_LENGTH;
    }
    /* Whether other threads read it. */
    static __device__ __forceinline__ constexpr bool outer(int k, int r)
    {
        return k == 0 || k == PLANES - 1 || (HAS_ROWS && (r == 0 || r == ROWS - 1));
    }

    /* Shows the outer vectors to the block's other threads, between exchanges. */
    __device__ __forceinline__ void show() const
    {
        if (active)
#pragma unroll
            for (int k = 0; k < PLANES; k++)
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    if (outer(k, r))
                        *(values *)my(k, r) = now[k][r];
    }

    /* The same at an exchange, for the block's own vectors only. */
    __device__ __forceinline__ void show_own() const
    {
        if (own == 0)
            return;
        const unsigned shown = MANY ? star::anew(own) : own;
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if ((outer(k, r) || ragged()) && shown >> (k * ROWS + r) & 1)
                    *(values *)my(k, r) = now[k][r];
    }

    /* Takes what others sent, and in a vector that is partly the block's its own values, shown
     * before. */
    __device__ __forceinline__ void take_others()
    {
        if (others_of_warp == 0)
            return;
        const unsigned taken = MANY ? star::anew(others) : others;
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                load_if(taken >> (k * ROWS + r) & 1, (const values *)my(k, r), now[k][r]);
    }

    __device__ __forceinline__ void turn()
    {
        tile += other, other = -other;
    }
};

} // namespace resident

#endif
