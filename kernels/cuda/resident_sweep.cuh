/*
 * A sweep of a block of `resident`: sums from registers, shuffles and the tile, and at the grid's
 * faces what their rules say.
 *
 * A ghost of a star of radius 1 depends on the node and its opposite neighbour only, so the thread
 * makes it on the spot. What a warp need not ask at every vector is known before (`walled`), or
 * compiled in (`walls`).
 */
#ifndef HS_KERNELS_CUDA_RESIDENT_SWEEP_CUH
#define HS_KERNELS_CUDA_RESIDENT_SWEEP_CUH

#include "resident_block.cuh"

namespace resident
{

/* What a kernel is compiled for: a grid that wraps along each axis; or that has faces as well, all
 * of which keep their nodes, and rows of whole vectors; or faces of any kind. */
enum walls { NO_WALLS, FIXED_WALLS, ANY_WALLS, RAGGED_WALLS };

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
        KEPT = ROWS > 2 ? ROWS : ROWS *PLANES / (ROWS * PLANES > 4 ? 2 : 1) /* together */
    };

    const arguments<T> &p;
    int left_lane, right_lane;
    unsigned faces; /* that this block's sweeps meet */
    /* Bits of the thread's rows, and of its planes, on faces: the lower face's, then the upper's.
     */
    unsigned at_x, at_rows, at_planes;
    unsigned kept; /* FIXED_WALLS: bit of each vector all of which keeps its values */
    unsigned
        walled; /* bit of each vector that has a face of rows or planes in some lane of the warp */
    T c[2 * DIMS + 1];

    __device__ __forceinline__ sweeper(Block &b) : p(b.p)
    {
        const int column = b.find().column, lane = b.thread % 32, first_lane = lane - column;
        left_lane = (column > 0 ? lane - 1 : first_lane + p.lanes - 1) & 31;
        right_lane = (column < p.lanes - 1 ? lane + 1 : first_lane) & 31;
        mailbox::keep(left_lane);
        mailbox::keep(right_lane);
#pragma unroll
        for (int n = 0; n < 2 * DIMS + 1; n++) {
            c[n] = p.c[n];
            mailbox::keep(c[n]);
        }
        find_faces(b);
        if (WALLS == FIXED_WALLS)
            b.shown |= kept;
    }

    __device__ __forceinline__ void find_faces(const Block &b)
    {
        const place f = b.find();
        const int x = f.node[ALONG], y = f.node[ROW], z = f.node[PLANE];
        faces = 0;
#pragma unroll
        for (int axis = 0; axis < 3; axis++)
            if (!p.wrap[axis] && (axis != ROW || HAS_ROWS)) {
                faces |= f.lo[axis] - p.halo[axis] <= 0 ? 1u << 2 * axis : 0u;
                faces |= f.hi[axis] + p.halo[axis] >= p.n[axis] ? 2u << 2 * axis : 0u;
            }
        at_x = x == 0 && !p.wrap[ALONG] ? 1u : 0u;
        if (!p.wrap[ALONG] && x <= p.n[ALONG] - 1 && x + WIDTH > p.n[ALONG] - 1)
            at_x |= 2u;
        at_rows = at_planes = kept = 0;
#pragma unroll
        for (int k = 0; k < PLANES; k++)
            if (!p.wrap[PLANE])
                at_planes |= (z + k == 0 ? 1u << k : 0u) |
                             (z + k == p.n[PLANE] - 1 ? 1u << (PLANES + k) : 0u);
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (HAS_ROWS && !p.wrap[ROW])
                at_rows |=
                    (y + r == 0 ? 1u << r : 0u) | (y + r == p.n[ROW] - 1 ? 1u << (ROWS + r) : 0u);
#pragma unroll
        for (int k = 0; k < PLANES; k++)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                kept |= ((at_rows >> r | at_rows >> (ROWS + r) | at_planes >> k |
                          at_planes >> (PLANES + k)) &
                         1)
                        << (k * ROWS + r);
        walled = Block::of_warp(kept);
    }

    __device__ __forceinline__ T ghost_of(T offset, int f, T inner, T edge) const
    {
        return star::ghost(p.rule[f][0], inner, edge, offset);
    }
    __device__ __forceinline__ void put_ghosts(const T *level, int f, const values &inner,
                                               const values &edge, values &to) const
    {
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            to.v[e] = ghost_of(level[1 + f], f, inner.v[e], edge.v[e]);
    }

    __device__ __forceinline__ void put_ghosts_around(const T *level, int k, int r,
                                                      const values &centre, values &zm, values &ym,
                                                      values &yp, values &zp) const
    {
        const unsigned open_faces = faces & ~p.held;
        if (HAS_ROWS && open_faces & 4 && at_rows >> r & 1)
            put_ghosts(level, 2, yp, centre, ym);
        if (HAS_ROWS && open_faces & 8 && at_rows >> (ROWS + r) & 1)
            put_ghosts(level, 3, ym, centre, yp);
        if (open_faces & 16 && at_planes >> k & 1)
            put_ghosts(level, 4, zp, centre, zm);
        if (open_faces & 32 && at_planes >> (PLANES + k) & 1)
            put_ghosts(level, 5, zm, centre, zp);
    }

    /* FIXED_WALLS: the ends of a vector at faces of x ... */
    __device__ __forceinline__ void keep_ends(const values &before, values &made) const
    {
        made.v[0] = at_x & 1 ? before.v[0] : made.v[0];
        made.v[WIDTH - 1] = at_x & 2 ? before.v[WIDTH - 1] : made.v[WIDTH - 1];
    }
    /* ... and vectors all of which keep their values: these are in the tile. Few warps have any.
     * They are fetched before the sums, as the compiler would wait for one after the other. */
    template <int COUNT>
    __device__ __forceinline__ void fetch_kept(const Block &b, int first,
                                               values (&before)[COUNT]) const
    {
        if (walled >> first & ((1u << COUNT) - 1))
#pragma unroll
            for (int i = 0; i < COUNT; i++)
                before[i] = *(const values *)b.my((first + i) / ROWS, (first + i) % ROWS);
    }
    template <int COUNT>
    __device__ __forceinline__ void put_kept(Block &b, int first,
                                             const values (&before)[COUNT]) const
    {
        if (walled >> first & ((1u << COUNT) - 1))
#pragma unroll
            for (int i = 0; i < COUNT; i++)
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    T &to = b.now[(first + i) / ROWS][(first + i) % ROWS].v[e];
                    to = kept >> (first + i) & 1 ? before[i].v[e] : to;
                }
    }

    /* Held nodes keep what they have or take what is prescribed; of several faces that prescribe,
     * the last has the node. Here for a vector at faces of rows or planes, its ends done before. */
    __device__ __forceinline__ void put_held(const T *level, int k, int r, const values &before,
                                             values &made) const
    {
        unsigned on = (at_planes >> k & 1 ? 16u : 0u) | (at_planes >> (PLANES + k) & 1 ? 32u : 0u);
        if (HAS_ROWS)
            on |= (at_rows >> r & 1 ? 4u : 0u) | (at_rows >> (ROWS + r) & 1 ? 8u : 0u);
        on &= p.held;
        const bool keeps = on & p.keeping, takes = on & ~p.keeping;
        T value = T(0);
#pragma unroll
        for (int face = HAS_ROWS ? 2 : 4; face < 6; face++)
            value = on & ~p.keeping & 1u << face ? level[7 + face] : value;
#pragma unroll
        for (int e = 0; e < WIDTH; e++) {
            const bool end = at_x & p.held & ~p.keeping & ends_at(e); /* has been given a value */
            made.v[e] = takes ? value : keeps && !end ? before.v[e] : made.v[e];
        }
    }
    /* Faces of x that have value e of the grid's first or last vector. */
    __device__ __forceinline__ unsigned ends_at(int e) const
    {
        return (e == 0 ? 1u : 0u) | (p.last >> e & 1 ? 2u : 0u);
    }
    /* The same for its ends, if they are at faces of x. */
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

    /* Neighbours along x of a vector at a face that is not held. */
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

    /* All of the thread's vectors, from a tile that has all that they need. */
    __device__ __forceinline__ void sweep(Block &b, const T *level) const
    {
        values(&now)[PLANES][ROWS] = b.now;
        const int row_length = Block::ROW_LENGTH, plane_length = b.plane_length();
        const T source = level[0];
        T off[2], hold[2]; /* of the faces of x */
        if (WALLS >= ANY_WALLS)
#pragma unroll
            for (int f = 0; f < 2; f++)
                off[f] = level[1 + f], hold[f] = level[7 + f];
        const T *from = b.tile + b.slot;
        values older[ROWS];  /* the plane before, as it was */
        values before[KEPT]; /* what is kept */
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            older[r] = *(const values *)(from + r * row_length - plane_length);
#pragma unroll
        for (int k = 0; k < PLANES; k++, from += plane_length) {
            values made[ROWS], low, high;
            if (WALLS == FIXED_WALLS && k % (KEPT / ROWS) == 0)
                fetch_kept(b, k * ROWS, before);
            if (HAS_ROWS) {
                low = *(const values *)(from - row_length);
                high = *(const values *)(from + ROWS * row_length);
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const values &centre = now[k][r];
                values zm = older[r], zp, ym, yp;
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
                T beside[WIDTH]; /* the neighbour on the right of each */
#pragma unroll
                for (int e = 0; e < WIDTH; e++)
                    beside[e] = e + 1 < WIDTH ? centre.v[(e + 1) % WIDTH] : right;
                const bool at_wall = WALLS >= ANY_WALLS && walled >> (k * ROWS + r) & 1;
                if (WALLS >= ANY_WALLS) {
                    if (faces & ~p.held & 3)
                        put_ghosts_beside(off, centre, left, beside);
                    if (at_wall)
                        put_ghosts_around(level, k, r, centre, zm, ym, yp, zp);
                }
#pragma unroll
                for (int e = 0; e < WIDTH; e++) {
                    T sum = star::fused(c[0], zm.v[e], source);
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
                if (WALLS == FIXED_WALLS)
                    keep_ends(centre, made[r]);
                else if (WALLS >= ANY_WALLS) {
                    if (faces & p.held & 3)
                        put_held_ends(hold, centre, made[r]);
                    if (at_wall)
                        put_held(level, k, r, centre, made[r]);
                }
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                older[r] = now[k][r];
                now[k][r] = made[r];
            }
            if (WALLS == FIXED_WALLS && k % (KEPT / ROWS) == KEPT / ROWS - 1)
                put_kept(b, (k + 1) * ROWS - KEPT, before);
        }
    }
};

} // namespace resident

#endif
