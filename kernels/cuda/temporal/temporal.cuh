/*
 * Several sweeps per launch in shared memory, for temporal_2d and temporal_3d, which explain it.
 */
#ifndef HS_KERNELS_CUDA_TEMPORAL_TEMPORAL_CUH
#define HS_KERNELS_CUDA_TEMPORAL_TEMPORAL_CUH

#include "levels.cuh"

#include "plan.h"

namespace temporal
{

enum { MOST_STEPS = HS_TEMPORAL_STEPS_2D };

template <typename T>
using level = star::level_fields<T, HS_FACES, HS_MAX_RADIUS>;

template <typename T>
struct request : star::faces<T, HS_FACES, HS_MAX_RADIUS> {
    star::request<T> plain;    /* lo, hi: the nodes that sweeps update */
    int64_t write_lo[HS_AXES]; /* with the held layers around them, which are written too */
    int64_t write_hi[HS_AXES]; /* */
    int points[HS_AXES];       /* of the grid */
    int tile[HS_AXES];         /* output tile */
    int steps;
    temporal::level<T> level[MOST_STEPS];
};

/*
 * The tile as one thread sees it: cells 0 .. extent-1 along each axis. Cell c of axis a is node
 * begin[a] + c, which may lie outside the grid if the cell is in the tile's halo.
 */
template <int DIMS, int R, typename T>
class tile
{
    const request<T> &r;
    int begin[HS_AXES], extent[HS_AXES];
    bool at_face; /* some cell lies outside the grid; else no swept cell is held */

    __device__ __forceinline__ int cell_of(int x, int y, int z) const
    {
        return (z * extent[HS_Y] + y) * extent[HS_X] + x;
    }

    __device__ __forceinline__ int stride(int axis) const
    {
        return axis == HS_X ? 1 : axis == HS_Y ? extent[HS_X] : extent[HS_X] * extent[HS_Y];
    }

    /* Calls visit(cell, node) for every cell at least `margin` away from the edge of the tile with
     * its halo, each by one thread of the block. Beyond a periodic end the node is the image in the
     * grid; beyond a face it is outside the grid. */
    template <typename Visit>
    __device__ __forceinline__ void each(int margin, Visit visit) const
    {
        const int my = DIMS > 1 ? margin : 0, mz = DIMS > 2 ? margin : 0;
        for (int z = mz; z < extent[HS_Z] - mz; z++)
            for (int y = my + (int)threadIdx.y; y < extent[HS_Y] - my; y += (int)blockDim.y)
                for (int x = margin + (int)threadIdx.x; x < extent[HS_X] - margin;
                     x += (int)blockDim.x) {
                    int node[HS_AXES] = {begin[HS_X] + x, begin[HS_Y] + y, begin[HS_Z] + z};
#pragma unroll
                    for (int axis = 0; axis < DIMS; axis++)
                        if (r.wrap[axis])
                            node[axis] = star::wrapped(node[axis], r.points[axis]);
                    visit(cell_of(x, y, z), node);
                }
    }

    /* The number of axes along which the node is outside the grid. */
    __device__ __forceinline__ int outside(const int (&node)[HS_AXES]) const
    {
        int count = 0;
#pragma unroll
        for (int axis = 0; axis < DIMS; axis++)
            count += node[axis] < 0 || node[axis] >= r.points[axis];
        return count;
    }

    __device__ __forceinline__ int64_t offset(const int (&node)[HS_AXES]) const
    {
        return node[HS_X] + node[HS_Y] * r.plain.pitch_y + node[HS_Z] * r.plain.pitch_z;
    }

    /* Index of the node in a field over face f, the lower axis fastest. */
    __device__ __forceinline__ int64_t on_face(int f, const int (&node)[HS_AXES]) const
    {
        const int axis = f / 2, u = axis == HS_X ? HS_Y : HS_X, v = axis == HS_Z ? HS_Y : HS_Z;
        return node[u] + (int64_t)r.points[u] * node[v];
    }

    /* What the rule of ghost m adds. */
    __device__ __forceinline__ T data(const level<T> &now, int f, int m,
                                      const int (&node)[HS_AXES]) const
    {
        return now.data_field[f] ? r.rule[f][m - 1].c * now.data_field[f][on_face(f, node)]
                                 : now.offset[f][m - 1];
    }

    __device__ __forceinline__ T hold(const level<T> &now, int f, const int (&node)[HS_AXES]) const
    {
        return now.prescribed_field[f] ? now.prescribed_field[f][on_face(f, node)]
                                       : now.prescribed[f];
    }

    /* Whether no sweep updates the node. If so, `value`, its current value, is replaced if a face
     * prescribes another one. If several faces prescribe, the last one has the node. */
    __device__ __forceinline__ bool held(const level<T> &now, const int (&node)[HS_AXES],
                                         T &value) const
    {
        bool is_held = false;
#pragma unroll
        for (int f = 0; f < 2 * DIMS; f++) {
            const int axis = f / 2;
            const int depth = f % 2 ? r.points[axis] - 1 - node[axis] : node[axis];
            is_held = is_held || depth < r.layers[f];
            if (depth == 0 && r.held & ~r.keeping & 1u << f)
                value = hold(now, f, node);
        }
        return is_held;
    }

    /* Fills ghost m of face f at this cell from the cells inside; `inward` is +1 or -1. */
    __device__ __forceinline__ void fill_ghost(const level<T> &now, int f, int m, int inward,
                                               int cell, const int (&node)[HS_AXES], T *at) const
    {
        const int axis = f / 2, inner_cell = node[axis] - begin[axis] + 2 * m * inward;
        if (m > R - r.layers[f] || inner_cell < 0 || inner_cell >= extent[axis])
            return; /* no sweep reads it */
        const T edge = at[cell + m * inward * stride(axis)];
        const T inner = at[cell + 2 * m * inward * stride(axis)];
        at[cell] = star::ghost(r.rule[f][m - 1], inner, edge, data(now, f, m, node));
    }

  public:
    __device__ __forceinline__ tile(const request<T> &request, const star::tile_index &block)
        : r(request), at_face(false)
    {
        const int64_t index[HS_AXES] = {block.x, block.y, block.z};
#pragma unroll
        for (int axis = 0; axis < HS_AXES; axis++) {
            const int halo = axis < DIMS ? R * r.steps : 0;
            begin[axis] = (int)(r.write_lo[axis] + index[axis] * r.tile[axis]) - halo;
            extent[axis] = r.tile[axis] + 2 * halo;
            if (axis < DIMS && !r.wrap[axis]) /* the halo is as wide as any face holds */
                at_face = at_face || begin[axis] < 0 || begin[axis] + extent[axis] > r.points[axis];
        }
    }

    __device__ __forceinline__ int cells() const
    {
        return extent[HS_X] * extent[HS_Y] * extent[HS_Z];
    }

    __device__ __forceinline__ bool touches_a_face() const
    {
        return at_face;
    }

    __device__ __forceinline__ void load(T *to) const
    {
        each(0, [&](int cell, const int(&node)[HS_AXES]) {
            if (outside(node) == 0)
                to[cell] = r.plain.in[offset(node)];
        });
    }

    /* Fills the ghosts that sweep `step` reads, from the nodes inside, which it does not change. */
    __device__ __forceinline__ void fill_ghosts(int step, T *at) const
    {
        const level<T> &now = r.level[step];
        each(R * step, [&](int cell, const int(&node)[HS_AXES]) {
            if (outside(node) != 1)
                return; /* a star reads no corners */
#pragma unroll
            for (int axis = 0; axis < DIMS; axis++) {
                const int last = r.points[axis] - 1;
                if (node[axis] < 0)
                    fill_ghost(now, 2 * axis, -node[axis], 1, cell, node, at);
                else if (node[axis] > last)
                    fill_ghost(now, 2 * axis + 1, node[axis] - last, -1, cell, node, at);
            }
        });
    }

    /* One sweep from `from` to `to`, of the cells whose stencils are still valid. */
    __device__ __forceinline__ void sweep(int step, const T *from, T *to) const
    {
        each(R * (step + 1), [&](int cell, const int(&node)[HS_AXES]) {
            T value;
            if (next(step, from, cell, node, value))
                to[cell] = value;
        });
    }

    /* The last sweep, to memory. */
    __device__ __forceinline__ void store(int step, const T *from) const
    {
        each(R * (step + 1), [&](int cell, const int(&node)[HS_AXES]) {
            T value;
            if (next(step, from, cell, node, value) && writes(cell, node))
                r.plain.out[offset(node)] = value;
        });
    }

  private:
    /* The cell's value after the sweep; false outside the grid. */
    __device__ __forceinline__ bool next(int step, const T *from, int cell,
                                         const int (&node)[HS_AXES], T &value) const
    {
        const level<T> &now = r.level[step];
        if (at_face) {
            if (outside(node) > 0)
                return false;
            value = from[cell];
            if (held(now, node, value))
                return true;
        }
        const T start = r.plain.source ? r.plain.source[offset(node)] : now.source_value;
        value = star::sum<DIMS, R>(r.plain.c, start, [&](int along, int o) -> T {
            return from[cell + o * stride(along)];
        });
        return true;
    }

    /* Whether this cell of the output tile writes the node: cells beyond the end of a periodic axis
     * are images of nodes that other tiles write. */
    __device__ __forceinline__ bool writes(int cell, const int (&node)[HS_AXES]) const
    {
        const int at[HS_AXES] = {begin[HS_X] + cell % extent[HS_X],
                                 begin[HS_Y] + cell / extent[HS_X] % extent[HS_Y],
                                 begin[HS_Z] + cell / extent[HS_X] / extent[HS_Y]};
        bool is = true;
#pragma unroll
        for (int axis = 0; axis < HS_AXES; axis++)
            is = is && at[axis] == node[axis] && node[axis] < r.write_hi[axis];
        return is;
    }
};

template <int DIMS, int R, typename T>
__global__ void __launch_bounds__(HS_TEMPORAL_THREADS, 3)
    temporal_sweeps(const __grid_constant__ request<T> r)
{
    STAR_SHARED(memory, T, [1]);
    const tile<DIMS, R, T> tile(r, star::this_tile(r.plain));
    T *from = &memory[0], *to = from + tile.cells();

    tile.load(from);
    __syncthreads();
    for (int step = 0; step < r.steps; step++) {
        if (tile.touches_a_face()) { /* the same for the whole block */
            tile.fill_ghosts(step, from);
            __syncthreads();
        }
        if (step + 1 == r.steps) {
            tile.store(step, from);
            return;
        }
        tile.sweep(step, from, to);
        __syncthreads(); /* `to` is complete, and `from` has been read by all */
        T *const read = from;
        from = to;
        to = read;
    }
}

/* ---- host ---------------------------------------------------------------------------------- */

template <typename T>
request<T> make_request(const hs_kernel_plan *plan, const hs_sweep *sweep)
{
    const hs_geometry &geometry = plan->launch;
    request<T> r = {};
    hs_box wide;
    HS_PLAN_GET(plan, wide);
    r.plain = star::make_request<T>(sweep, geometry);
    r.steps = sweep->steps;
    for (int axis = 0; axis < HS_AXES; axis++) {
        r.write_lo[axis] = wide.lo[axis];
        r.write_hi[axis] = wide.hi[axis];
        r.points[axis] = (int)sweep->layout.points[axis];
        r.tile[axis] = geometry.output_tile[axis];
    }
    star::take_faces(sweep, &r);
    star::take_levels(sweep, r.level);
    return r;
}

template <int DIMS, int RADIUS_MOST>
hs_status launch(const char *name, const hs_kernel_plan *plan, const hs_sweep *sweep, hs_error *err)
{
    return star::choose<DIMS, DIMS, RADIUS_MOST>(sweep, err, [&](auto, auto radius, auto zero) {
        using T = decltype(zero);
        return star::launch(name, temporal_sweeps<DIMS, radius.value, T>,
                            make_request<T>(plan, sweep), plan->launch, sweep->stream, err);
    });
}

} // namespace temporal

#endif
