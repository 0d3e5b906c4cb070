/*
 * resident.cu: the kernel made of all parts, and its launch, in one precision and dims. Each pair
 * is an object of its own (in_float_2d.cu and others), since together they take minutes to compile.
 */
#ifndef HS_KERNELS_CUDA_RESIDENT_LAUNCH_CUH
#define HS_KERNELS_CUDA_RESIDENT_LAUNCH_CUH

#include "exchange.cuh"
#include "source.cuh"
#include "sweep.cuh"

#include "core/cuda_call.h"

#include <string.h>

namespace resident
{

/* A number of a level: fetched two sweeps before it is used, put into its row one sweep before. */
template <typename T>
__device__ __forceinline__ T fetch_level(const arguments<T> &p, int thread, int step)
{
    return thread < LEVEL && p.levels && step < p.steps ? p.levels[step * LEVEL + thread] : T(0);
}

template <typename T, int DIMS, int ROWS, int PLANES, int WALLS, bool FIELD>
__device__ __forceinline__ void run(const arguments<T> &p, unsigned char *shared)
{
    T *const levels = (T *)shared; /* two rows */
    entry *const list = (entry *)(levels + 2 * LEVEL);
    using Block = block<T, DIMS, ROWS, PLANES, (WALLS >= RAGGED_WALLS)>;
    Block b(p, (T *)(list + up(p.listed, 2) * 2));
    if (FIELD || Block::MANY) /* else each bit takes a register */
        b.own = star::anew(b.own), b.full = star::anew(b.full);
    exchange<Block> post(b, list);
    sweeper<Block, DIMS, WALLS> star(b);
    added_of<Block, FIELD> added(b);
    const int thread = b.thread;
    if (thread < 2 * LEVEL)
        levels[thread] = p.levels ? (thread / LEVEL < p.steps ? p.levels[thread] : T(0))
                                  : p.level[thread % LEVEL];
    T coming = fetch_level(p, thread, 2);
    b.load();
    if (WALLS != NO_WALLS)
        b.put_walls();
    __syncthreads();
    if constexpr (WALLS == FIELD_WALLS)
        star.data.load(b, star.at_x, star.edges);
    added.load(b); /* after the walls, which are put wherever the tile has one, or its image */
    post.remember();
    int until = 0; /* sweeps to the next exchange */
#pragma unroll 1
    for (int s = 0; s < p.steps; s++) {
        if (until == 0) {
            post.send(b.now);
            b.show_own();
            if (b.ragged())
                __syncthreads(); /* received values may be in vectors that are shown */
            post.receive(b.tile);
            post.turn(), until = p.depth;
            __syncthreads();
            b.take_others();
            if (star.KEEPS && s == 0)
                star.remember_ends(b.now);
        } else {
            b.show();
            __syncthreads();
        }
        until--;
        if (WALLS >= ANY_WALLS)
            star.put_edges(b, levels + (s & 1) * LEVEL);
        star.sweep(b, levels + (s & 1) * LEVEL, added);
        b.turn();
        if (p.levels && s > 0) {
            if (thread < LEVEL)
                levels[(s + 1 & 1) * LEVEL + thread] = coming;
            coming = fetch_level(p, thread, s + 2);
        }
    }
    post.leave();
    if (star.KEEPS)
        star.put_ends_back(b.now);
    b.store();
    if (WALLS >= ANY_WALLS)
        b.template store_walls<WALLS == FIELD_WALLS>(levels + (p.steps - 1 & 1) * LEVEL);
}

template <typename T, int DIMS, int ROWS, int PLANES, int WALLS, bool FIELD>
__global__ void __launch_bounds__(HS_RESIDENT_THREADS, 1)
    resident(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000)
    STAR_SHARED(memory, unsigned char, [1]);
    run<T, DIMS, ROWS, PLANES, WALLS, FIELD>(p, memory);
#else
    (void)p; /* plan() refuses such GPUs */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */

/* The faces of the grid in the kernel's order of axes. */
inline int face_of(int dims, int f)
{
    const int axis = hs_resident_axis(dims, f / 2);
    return axis < 0 ? -1 : 2 * axis + f % 2;
}

template <typename T>
void make_level(const hs_sweep *sweep, int step, T (&level)[LEVEL])
{
    level[0] = star::source_of<T>(sweep, step);
    for (int f = 0; f < HS_FACES; f++) {
        const int face = face_of(sweep->op->stencil.dims, f);
        level[1 + f] = face < 0 ? (T)0 : star::offset_of<T>(sweep, step, face, 1);
        const T hold = face < 0 ? (T)0 : (T)sweep->level[step].prescribed[face];
        level[7 + f] = hold;
    }
}

template <typename T>
arguments<T> make_arguments(const hs_sweep *sweep, const hs_resident &plan)
{
    arguments<T> p = {};
    char *const memory = (char *)sweep->scratch;
    p.in = (const T *)sweep->in;
    p.out = (T *)sweep->out;
    const struct hs_resident_memory m = hs_resident_share(&plan);
    p.exchanges = (unsigned *)(memory + m.exchanges);
    p.headers = (packets::header *)(memory + m.headers);
    p.sent = (packets::packet<T> *)(((uintptr_t)memory + m.sent + HS_RESIDENT_ROW - 1) /
                                    HS_RESIDENT_ROW * HS_RESIDENT_ROW);
    star::take_coefficients(sweep, p.c);
    for (int axis = 0; axis < 3; axis++) {
        const int along = hs_resident_axis(sweep->op->stencil.dims, axis);
        p.n[axis] = along < 0 ? 1 : (int)sweep->layout.points[along];
        p.pitch[axis] = along < 0 ? 0 : sweep->layout.pitch[along];
        p.blocks[axis] = plan.blocks[axis];
        p.halo[axis] = plan.halo[axis];
        p.wall[2 * axis] = plan.wall[2 * axis], p.wall[2 * axis + 1] = plan.wall[2 * axis + 1];
        for (int f = 2 * axis; along >= 0 && f < 2 * axis + 2; f++) {
            const int face = face_of(sweep->op->stencil.dims, f);
            star::take_face(sweep->face[face], f, &p);
            if (!sweep->face[face].wrap)
                p.data[f] = (const T *)sweep->level[0].data_field[face];
        }
    }
    p.depth = plan.depth;
    p.steps = sweep->steps;
    p.lanes = plan.lanes;
    p.groups[0] = plan.groups[0], p.groups[1] = plan.groups[1];
    p.listed = plan.looked_for;
    const int width = vec<T>::WIDTH;
    p.last = 1u << (p.n[ALONG] - 1) % width;
    p.ragged = p.wrap[ALONG] && p.n[ALONG] % width != 0;
    p.source = (const T *)hs_source_field(&sweep->source);
    p.source_places = plan.source;
    return p;
}

/* Levels are passed by value if they are all equal, else through the scratch memory. */
template <typename T>
hs_status put_levels(const hs_sweep *sweep, arguments<T> &p, hs_error *err)
{
    make_level(sweep, 0, p.level);
    T all[HS_RESIDENT_STEPS][LEVEL] = {};
    bool vary = false;
    for (int s = 0; s < sweep->steps; s++) {
        make_level(sweep, s, all[s]);
        vary = vary || memcmp(all[s], p.level, sizeof p.level) != 0;
    }
    if (!vary)
        return HS_OK;
    T *levels = (T *)(sweep->scratch);
    HS_CUDA_TRY(err, cudaMemcpyAsync(levels, all, (size_t)sweep->steps * sizeof p.level,
                                     cudaMemcpyHostToDevice, (cudaStream_t)sweep->stream));
    p.levels = levels;
    return HS_OK;
}

template <typename T>
walls walls_of(const arguments<T> &p)
{
    unsigned faces = 0;
    for (int f = 0; f < 6; f++)
        faces |= p.wrap[f / 2] || p.n[f / 2] == 1 ? 0u : 1u << f;
    for (int f = 0; f < 6; f++)
        if (p.data[f])
            return FIELD_WALLS;
    if (p.ragged || (faces && p.last != 1u << (vec<T>::WIDTH - 1)))
        return RAGGED_WALLS;
    if (faces == 0)
        return NO_WALLS;
    return (faces & ~p.keeping) == 0 ? FIXED_WALLS : ANY_WALLS;
}

template <typename T, int DIMS, int ROWS, int PLANES, bool FIELD>
auto kernel_for(walls walls) -> void (*)(arguments<T>)
{
    switch (walls) {
    case NO_WALLS: return resident<T, DIMS, ROWS, PLANES, NO_WALLS, FIELD>;
    case FIXED_WALLS: return resident<T, DIMS, ROWS, PLANES, FIXED_WALLS, FIELD>;
    case ANY_WALLS: return resident<T, DIMS, ROWS, PLANES, ANY_WALLS, FIELD>;
    case RAGGED_WALLS: return resident<T, DIMS, ROWS, PLANES, RAGGED_WALLS, FIELD>;
    default: return resident<T, DIMS, ROWS, PLANES, FIELD_WALLS, FIELD>;
    }
}

template <typename T, int DIMS, int ROWS, int PLANES>
hs_status launch_shape(const hs_kernel_plan *plan, const hs_resident &cut, const hs_sweep *sweep,
                       hs_error *err)
{
    arguments<T> p = make_arguments<T>(sweep, cut);
    HS_TRY(put_levels(sweep, p, err));
    const auto kernel = p.source ? kernel_for<T, DIMS, ROWS, PLANES, true>(walls_of(p))
                                 : kernel_for<T, DIMS, ROWS, PLANES, false>(walls_of(p));
    return star::launch_together("resident", kernel, p, plan->launch, sweep->stream, err);
}

template <typename T, int DIMS>
hs_status launch(const hs_kernel_plan *plan, const hs_sweep *sweep, hs_error *err)
{
    hs_resident cut;
    HS_PLAN_GET(plan, cut);
    const int shape = 100 * cut.rows + cut.planes;
    if constexpr (DIMS == 2) {
        if (shape == 104)
            return launch_shape<T, 2, 1, 4>(plan, cut, sweep, err);
        if (shape == 110)
            return launch_shape<T, 2, 1, 10>(plan, cut, sweep, err);
        if (shape == 120)
            return launch_shape<T, 2, 1, 20>(plan, cut, sweep, err);
    } else if constexpr (sizeof(T) == 4) {
        if (shape == 202)
            return launch_shape<T, 3, 2, 2>(plan, cut, sweep, err);
        if (shape == 404)
            return launch_shape<T, 3, 4, 4>(plan, cut, sweep, err);
    } else {
        if (shape == 202)
            return launch_shape<T, 3, 2, 2>(plan, cut, sweep, err);
        if (shape == 204)
            return launch_shape<T, 3, 2, 4>(plan, cut, sweep, err);
        if (shape == 209)
            return launch_shape<T, 3, 2, 9>(plan, cut, sweep, err);
    }
    return hs_error_add(err, HS_BAD_INPUT,
                        "kernel resident: %d rows of %d planes are not compiled in", cut.rows,
                        cut.planes);
}

} // namespace resident

#endif
