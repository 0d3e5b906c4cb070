/*
 * A sweep of a block of `resident`: sums from registers, shuffles and the tile, and the rules at
 * the grid's faces.
 *
 * A ghost of a star of radius 1 depends only on the node and its opposite neighbour, so the thread
 * computes it itself: along x during the sweep, along other axes before it, into the tile beyond
 * the face. So the sweep itself only knows faces of x.
 */
#ifndef HS_KERNELS_CUDA_RESIDENT_SWEEP_CUH
#define HS_KERNELS_CUDA_RESIDENT_SWEEP_CUH

#include "walls.cuh"

namespace resident
{

/* What a kernel is compiled for: only periodic axes; or also faces that all keep their nodes, with
 * rows of whole vectors; or faces of any kind; or also rows of any length; or also values of faces
 * that vary from point to point. */
enum walls { NO_WALLS, FIXED_WALLS, ANY_WALLS, RAGGED_WALLS, FIELD_WALLS };

struct no_face_data {
    template <typename Block>
    __device__ __forceinline__ explicit no_face_data(const Block &)
    {
    }
};

template <typename Block, int DIMS, int WALLS>
struct sweeper {
    using T = typename Block::number;
    using values = typename Block::values;
    using place = typename Block::place;
    enum {
        WIDTH = Block::WIDTH,
        ROWS = Block::ROWS,
        PLANES = Block::PLANES,
        HAS_ROWS = Block::HAS_ROWS,
        /* Nodes that faces of x keep are put back: before a sweep, from their initial values, if
         * there are registers for those, else after it. */
        KEEPS = WALLS == FIXED_WALLS && Block::VECTORS <= 4,
        PUTS_BACK = WALLS == FIXED_WALLS && !KEEPS,
        FIELDS = WALLS == FIELD_WALLS
    };

    const arguments<T> &p;
    int left_lane, right_lane;
    unsigned at_x;  /* bits: the thread is at the lower, the upper face of x */
    unsigned faces; /* those of x that this block's sweeps meet */
    unsigned
        edges; /* bit of each face of rows and planes that the thread's vectors are next to ... */
    unsigned edges_of_warp; /* ... or those of another lane */
    T c[2 * DIMS + 1];
    T ends[PLANES][ROWS][2]; /* of the thread's vectors, before the sweep; KEEPS: initially */
    std::conditional_t<(WALLS == FIELD_WALLS), face_data<Block>, no_face_data> data;

    __device__ __forceinline__ sweeper(const Block &b) : p(b.p), data(b)
    {
        const place f = b.find();
        const int column = f.column, lane = b.thread % 32, first_lane = lane - column;
        left_lane = (column > 0 ? lane - 1 : first_lane + p.lanes - 1) & 31;
        right_lane = (column < p.lanes - 1 ? lane + 1 : first_lane) & 31;
        packets::keep(left_lane);
        packets::keep(right_lane);
#pragma unroll
        for (int n = 0; n < 2 * DIMS + 1; n++) {
            c[n] = p.c[n];
            packets::keep(c[n]);
        }
        find_faces(b);
    }

    __device__ __forceinline__ void find_faces(const Block &b)
    {
        const place f = b.find();
        const int x = f.node[ALONG];
        faces = at_x = edges = 0;
        if (!p.wrap[ALONG]) {
            faces = (f.lo[ALONG] <= p.halo[ALONG] ? 1u : 0u) |
                    (f.hi[ALONG] + p.halo[ALONG] >= p.n[ALONG] ? 2u : 0u);
            at_x =
                (x == 0 ? 1u : 0u) | (x <= p.n[ALONG] - 1 && x + WIDTH > p.n[ALONG] - 1 ? 2u : 0u);
        }
#pragma unroll
        for (int axis = HAS_ROWS ? ROW : PLANE; axis <= PLANE; axis++) {
            if (p.wrap[axis] || !b.active)
                continue;
            const int group = f.group[axis - ROW], groups = p.groups[axis - ROW];
            edges |= f.at[axis] == 0 && group == 0 ? 1u << 2 * axis : 0u;
            edges |= f.at[axis] == p.blocks[axis] - 1 && group == groups - 1 ? 2u << 2 * axis : 0u;
        }
        edges_of_warp = Block::of_warp(edges);
    }

    __device__ __forceinline__ T ghost_of(T offset, int f, T inner, T edge) const
    {
        return star::ghost(p.rule[f][0], inner, edge, offset);
    }
    /* Puts what a vector of the thread's n-th row or plane has beyond a face of rows or planes:
     * ghosts for this sweep, or prescribed values for the next one. Kept nodes are there
     * already. */
    __device__ __forceinline__ void put_edge(const Block &b, const T *level, int f, int n,
                                             const values &inner, const values &edge, T *to) const
    {
        values v;
        const bool held = p.held >> f & 1;
        if constexpr (FIELDS) {
            const values here = data.edge(level, f, n);
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                v.v[e] = held ? here.v[e] : ghost_of(here.v[e], f, inner.v[e], edge.v[e]);
        } else
#pragma unroll
            for (int e = 0; e < WIDTH; e++)
                v.v[e] = held ? level[7 + f] : ghost_of(level[1 + f], f, inner.v[e], edge.v[e]);
        if (edges >> f & ~(p.keeping >> f) & 1)
            *(values *)(held ? to + b.other : to) = v;
    }
    /* Puts all of them, for the threads' own use: only lanes that duplicate others' work read them
     * besides. */
    __device__ __forceinline__ void put_edges(const Block &b, const T *level) const
    {
        const values(&now)[PLANES][ROWS] = b.now;
        if (edges_of_warp == 0)
            return;
#pragma unroll
        for (int side = 0; side < 2; side++) {
            const int row = side ? ROWS - 1 : 0, plane = side ? PLANES - 1 : 0;
            const int in = side ? -1 : 1; /* towards the inside */
            if (HAS_ROWS && edges_of_warp >> (2 + side) & 1)
#pragma unroll
                for (int k = 0; k < PLANES; k++)
                    put_edge(b, level, 2 + side, k, now[k][(row + in) % ROWS], now[k][row],
                             b.my(k, row - in));
            if (edges_of_warp >> (4 + side) & 1)
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    put_edge(b, level, 4 + side, r, now[plane + in][r], now[plane][r],
                             b.my(plane - in, r));
        }
        __syncwarp();
    }

    /* FIXED_WALLS: the ends of vectors at faces of x. */
    __device__ __forceinline__ void remember_ends(const values (&now)[PLANES][ROWS])
    {
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                ends[k][r][0] = now[k][r].v[0], ends[k][r][1] = now[k][r].v[WIDTH - 1];
    }
    __device__ __forceinline__ void put_ends_back(values (&now)[PLANES][ROWS]) const
    {
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                T &low = now[k][r].v[0], &high = now[k][r].v[WIDTH - 1];
                low = at_x & 1 ? ends[k][r][0] : low;
                high = at_x & 2 ? ends[k][r][1] : high;
            }
    }
    __device__ __forceinline__ void keep_ends(const values &before, values &made) const
    {
        T &low = made.v[0], &high = made.v[WIDTH - 1];
        low = at_x & 1 ? before.v[0] : low;
        high = at_x & 2 ? before.v[WIDTH - 1] : high;
    }
    /* Faces of x whose node is value e of the grid's first or last vector. */
    __device__ __forceinline__ unsigned ends_at(int e) const
    {
        return (e == 0 ? 1u : 0u) | (p.last >> e & 1 ? 2u : 0u);
    }
    /* Held nodes at faces of x keep their value or take the prescribed one. */
    __device__ __forceinline__ void put_held_ends(const T (&hold)[2], const values &before,
                                                  values &made) const
    {
        const unsigned on = at_x & p.held;
        if (WALLS == ANY_WALLS) {
            const T low = p.keeping & 1 ? before.v[0] : hold[0];
            const T high = p.keeping & 2 ? before.v[WIDTH - 1] : hold[1];
            made.v[0] = on & 1 ? low : made.v[0];
            made.v[WIDTH - 1] = on & 2 ? high : made.v[WIDTH - 1];
        } else
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const unsigned here = on & ends_at(e);
                const T value = here & p.keeping ? before.v[e] : here & 2 ? hold[1] : hold[0];
                made.v[e] = here ? value : made.v[e];
            }
    }

    /* Sets the neighbours along x of a vector at a face that is not held. */
    __device__ __forceinline__ void put_ghosts_beside(const T (&off)[2], const values &centre,
                                                      T &left, T (&right)[WIDTH]) const
    {
        const unsigned on = at_x & ~p.held;
        if (WALLS == ANY_WALLS) {
            const T high = ghost_of(off[1], 1, centre.v[WIDTH - 2], centre.v[WIDTH - 1]);
            right[WIDTH - 1] = on & 2 ? high : right[WIDTH - 1];
        } else
#pragma unroll
            for (int e = 0; e < WIDTH; e++) {
                const T inner = e > 0 ? centre.v[(e + WIDTH - 1) % WIDTH] : left;
                const T high = ghost_of(off[1], 1, inner, centre.v[e]);
                right[e] = on & ends_at(e) & 2 ? high : right[e];
            }
        const T low = ghost_of(off[0], 0, right[0], centre.v[0]);
        left = on & 1 ? low : left;
    }

    /* The first terms of a plane's sums, from the plane below; forced into registers. */
    __device__ __forceinline__ values first_terms(const values &below, const values &plus) const
    {
        values v;
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            v.v[e] = star::fused(c[0], below.v[e], plus.v[e]);
            packets::keep(v.v[e]);
        }
        return v;
    }

    /* Sweeps all of the thread's vectors; the tile has all that they need. */
    template <typename Added>
    __device__ __forceinline__ void sweep(Block &b, const T *level, const Added &added)
    {
        constexpr bool BY_PLANE = PUTS_BACK && Added::IN_MEMORY; /* for want of registers */
        /* A plane's sums then begin before the plane below is overwritten: so the compiler puts new
         * values into the old ones' registers and needs no registers for both. If registers are
         * left, this is slower. */
        constexpr bool IN_PLACE = Block::MANY || Added::IN_MEMORY;
        if (KEEPS)
            put_ends_back(b.now);
        if (PUTS_BACK && !BY_PLANE)
            remember_ends(b.now);
        values(&now)[PLANES][ROWS] = b.now;
        const int row_length = Block::ROW_LENGTH, plane_length = b.plane_length();
        const auto add = added.begin(b, level);
        T off[2], hold[2]; /* of the faces of x */
        if (WALLS >= ANY_WALLS)
#pragma unroll
            for (int f = 0; f < 2; f++)
                off[f] = level[1 + f], hold[f] = level[7 + f];
        const T *from = b.tile + b.slot;
        values below[ROWS]; /* the plane before, old values; IN_PLACE: its first terms */
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            below[r] = *(const values *)(from + r * row_length - plane_length);
            if (IN_PLACE)
                below[r] = first_terms(below[r], add.at(0, r));
        }
#pragma unroll
        for (int k = 0; k < PLANES; k++, from += plane_length) {
            values made[ROWS], begun[ROWS], low, high;
            if (HAS_ROWS) {
                low = *(const values *)(from - row_length);
                high = *(const values *)(from + ROWS * row_length);
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const values &centre = now[k][r];
                values zp, ym, yp;
                if (k < PLANES - 1)
                    zp = now[(k + 1) % PLANES][r];
                else
                    zp = *(const values *)(from + r * row_length + plane_length);
                if (HAS_ROWS) {
                    ym = r > 0 ? now[k][(r + ROWS - 1) % ROWS] : low;
                    yp = r < ROWS - 1 ? now[k][(r + 1) % ROWS] : high;
                }
                T left = __shfl_sync(0xffffffffu, centre.v[WIDTH - 1], left_lane);
                T right = __shfl_sync(0xffffffffu, centre.v[0], right_lane);
                T beside[WIDTH]; /* right neighbour of each */
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    beside[e] = e + 1 < WIDTH ? centre.v[(e + 1) % WIDTH] : right;
                if constexpr (FIELDS)
                    if (faces)
#pragma unroll
                        for (int f = 0; f < 2; f++)
                            off[f] = hold[f] = data.end(level, f, k, r);
                if (WALLS >= ANY_WALLS && faces & ~p.held)
                    put_ghosts_beside(off, centre, left, beside);
                if (IN_PLACE && k < PLANES - 1)
                    begun[r] = first_terms(centre, add.at((k + 1) % PLANES, r));
                const values plus = IN_PLACE ? values{} : add.at(k, r);
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    T sum = IN_PLACE ? below[r].v[e] : star::fused(c[0], below[r].v[e], plus.v[e]);
                    if (HAS_ROWS)
                        sum = star::fused(c[1], ym.v[e], sum);
                    sum = star::fused(c[DIMS - 1], e > 0 ? centre.v[(e + WIDTH - 1) % WIDTH] : left,
                                      sum);
                    sum = star::fused(c[DIMS], centre.v[e], sum);
                    sum = star::fused(c[DIMS + 1], beside[e], sum);
                    if (HAS_ROWS)
                        sum = star::fused(c[DIMS + 2], yp.v[e], sum);
                    made[r].v[e] = star::fused(c[2 * DIMS], zp.v[e], sum);
                }
                if (WALLS >= ANY_WALLS && faces & p.held)
                    put_held_ends(hold, centre, made[r]);
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                below[r] = IN_PLACE ? begun[r] : now[k][r];
                if (BY_PLANE)
                    keep_ends(now[k][r], made[r]);
                now[k][r] = made[r];
            }
        }
        if (PUTS_BACK && !BY_PLANE)
            put_ends_back(b.now);
    }
};

} // namespace resident

#endif
