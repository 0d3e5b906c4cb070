/*
 * Boundary data of `resident` that vary from point to point along a face: what the rules add to
 * ghosts, or the values of held nodes. They are constant in time. Shared memory holds as much of
 * them as the block's threads need, separately for each thread.
 */
#ifndef HS_KERNELS_CUDA_RESIDENT_WALLS_CUH
#define HS_KERNELS_CUDA_RESIDENT_WALLS_CUH

#include "block.cuh"

namespace resident
{

/* For each vector of the block: a number at each face of x, a vector at each other face. */
template <typename Block>
struct face_data {
    using T = typename Block::number;
    using values = typename Block::values;
    using place = typename Block::place;
    enum {
        WIDTH = Block::WIDTH,
        ROWS = Block::ROWS,
        PLANES = Block::PLANES,
        HAS_ROWS = Block::HAS_ROWS
    };

    const arguments<T> &p;
    T *beside;        /* the thread's at the lower face of x */
    T *edge_of_row;   /* ... and its first at the lower face of rows, */
    T *edge_of_plane; /* ... of planes */

    /* How many faces of an axis one block may touch. */
    __device__ __forceinline__ int sides(int axis) const
    {
        return p.wrap[axis] ? 0 : axis == ALONG || p.blocks[axis] == 1 ? 2 : 1;
    }
    __device__ __forceinline__ int rows() const
    {
        return HAS_ROWS ? p.groups[0] * ROWS : 1;
    }
    __device__ __forceinline__ int planes() const
    {
        return p.groups[1] * PLANES;
    }

    /* Call it before the block's tiles are first swapped. */
    __device__ __forceinline__ explicit face_data(const Block &b) : p(b.p)
    {
        const place f = b.find();
        const int row = f.group[0] * ROWS, plane = f.group[1] * PLANES, length = p.lanes * WIDTH;
        T *to = b.tile + 2 * b.other + p.source_places * (int)blockDim.x * WIDTH;
        beside = to + plane * rows() + row;
        to += up(sides(ALONG) * rows() * planes(), WIDTH) * WIDTH;
        edge_of_row = to + plane * length + f.column * WIDTH;
        to += HAS_ROWS ? sides(ROW) * planes() * length : 0;
        edge_of_plane = to + row * length + f.column * WIDTH;
    }

    __device__ __forceinline__ T *end_place(int face, int k, int r) const
    {
        return beside + face * rows() * planes() + k * rows() + r;
    }
    /* For the n-th row or plane of the thread. */
    __device__ __forceinline__ T *rim_place(int face, int n) const
    {
        const int length = p.lanes * WIDTH, side = sides(face / 2) == 2 ? face % 2 : 0;
        return face / 2 == ROW ? edge_of_row + (side * planes() + n) * length
                               : edge_of_plane + (side * rows() + n) * length;
    }

    __device__ __forceinline__ T made_of(int face, T value) const
    {
        return p.held >> face & 1 ? value : p.rule[face][0].c * value;
    }
    /* The value for a node, which may be an image of one of the grid's, or no node. */
    __device__ __forceinline__ T read(const Block &b, int face, int x, int y, int z) const
    {
        const int node[3] = {b.node_at(ALONG, x), b.node_at(ROW, y), b.node_at(PLANE, z)};
        if (node[0] < 0 || node[1] < 0 || node[2] < 0)
            return (T)0;
        return made_of(face, b.data_at(face, node));
    }
    __device__ __forceinline__ void load_rim(const Block &b, int face, int k, int r, int n) const
    {
        const place f = b.find();
        values v;
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            v.v[e] = read(b, face, f.node[ALONG] + e, f.node[ROW] + r, f.node[PLANE] + k);
        *(values *)rim_place(face, n) = v;
    }
    /* Once per launch: `at_x` and `edges` are the faces at the thread, as in the sweeper. */
    __device__ __forceinline__ void load(const Block &b, unsigned at_x, unsigned edges) const
    {
        const place f = b.find();
#pragma unroll 1
        for (int face = 0; face < 2; face++)
#pragma unroll 1
            for (int n = 0; n < PLANES * ROWS; n++) {
                const int k = n / ROWS, r = n % ROWS;
                if (b.active && at_x >> face & 1 && p.data[face])
                    *end_place(face, k, r) = read(b, face, face ? p.n[ALONG] - 1 : 0,
                                                  f.node[ROW] + r, f.node[PLANE] + k);
            }
#pragma unroll 1
        for (int face = 2; face < 6; face++) {
            const bool of_rows = face / 2 == ROW, upper = face % 2;
            if (!(edges >> face & 1) || !p.data[face])
                continue;
#pragma unroll 1
            for (int n = 0; n < (of_rows ? PLANES : ROWS); n++)
                load_rim(b, face,
                         of_rows ? n
                         : upper ? PLANES - 1
                                 : 0,
                         !of_rows ? n
                         : upper  ? ROWS - 1
                                  : 0,
                         n);
        }
    }

    __device__ __forceinline__ values edge(const T *level, int face, int n) const
    {
        values v;
#pragma unroll
        for (int e = 0; e < WIDTH; e++)
            v.v[e] = level[(p.held >> face & 1 ? 7 : 1) + face];
        if (p.data[face])
            v = *(const values *)rim_place(face, n);
        return v;
    }
    __device__ __forceinline__ T end(const T *level, int face, int k, int r) const
    {
        return p.data[face] ? *end_place(face, k, r) : level[(p.held >> face & 1 ? 7 : 1) + face];
    }
};

} // namespace resident

#endif
