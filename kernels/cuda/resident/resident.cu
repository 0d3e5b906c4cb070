/*
 * resident: a small grid stays on the chip, in registers, for up to HS_RESIDENT_STEPS sweeps a
 * launch.
 *
 * On a small grid a launch costs more than the sweep: 64^3 points in float are 1 MiB, which all
 * multiprocessors together read in a quarter of a microsecond from the cache, but a replayed launch
 * takes 1.3. Here all blocks run at once, and each keeps a box of the grid in its threads'
 * registers (block.cuh):
 *
 *   +-----------------+   a thread has ROWS x PLANES vectors of 16 bytes
 *   | halo: depth     |   x neighbours: in the thread, or by shuffle from the next lane
 *   |   +---------+   |   y, z neighbours: in the thread, or the neighbour's outer vectors by way
 *   |   | own     |   |     of a tile in shared memory, of which there are two
 *   |   +---------+   |   after `depth` sweeps, of which each leaves one layer less of the halo
 *   |                 |     right, the halo is received anew; its outermost layer is in the tile
 *   +-----------------+     only, as nothing is swept there
 *
 * Blocks do not meet at a barrier, and there are no flags or fences: vectors go as packets that say
 * themselves that they are there (packets.cuh, exchange.cuh). A sweep is sweep.cuh.
 *
 * Waiting for each other is safe only if all blocks run: the launch is a cooperative one, which the
 * device refuses otherwise, and plan() asks for a multiprocessor a block.
 *
 * Values that change with time come from a table of the launch's sweeps, fetched two sweeps ahead;
 * where they do not, from the arguments. What differs from point to point, a source
 * (source.cuh) or what walls are given (walls.cuh), must stay the same in time:
 * it is read once a launch and kept on the chip too.
 *
 * What it was measured to do, what bounds it, and what was tried: docs/performance/small-grids.md.
 *
 * Source: persistent kernels that keep their data on the chip: Zhang, Wahib, Chen, Meng, Wang,
 * Endo, Matsuoka, ICS'23 (PERKS), with grid barriers; data that are their own flag: the "LL"
 * protocol of NVIDIA's NCCL, with half of its words.
 */
#include "exchange.cuh"
#include "source.cuh"
#include "sweep.cuh"

#include "core/features.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>

namespace resident
{

/* Numbers of a level: fetched two sweeps before they are used, put in their row one before. */
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
    if (FIELD || Block::MANY) /* else each bit is kept in a register of its own */
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
    if constexpr (WALLS == GIVEN_WALLS)
        star.given.load(b, star.at_x, star.edges);
    added.load(b); /* after the walls, which are put wherever the tile has one, or its image */
    post.remember();
    int until = 0; /* sweeps to the next exchange */
#pragma unroll 1
    for (int s = 0; s < p.steps; s++) {
        if (until == 0) {
            post.send(b.now);
            b.show_own();
            if (b.ragged())
                __syncthreads(); /* what comes may lie in vectors that are shown */
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
        b.template store_walls<WALLS == GIVEN_WALLS>(levels + (p.steps - 1 & 1) * LEVEL);
}

template <typename T, int DIMS, int ROWS, int PLANES, int WALLS, bool FIELD>
__global__ void __launch_bounds__(HS_RESIDENT_THREADS, 1)
    resident(const __grid_constant__ arguments<T> p)
{
#if !defined(__CUDA_ARCH__) || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1000)
    STAR_SHARED(memory, unsigned char, [1]);
    run<T, DIMS, ROWS, PLANES, WALLS, FIELD>(p, memory);
#else
    (void)p; /* plan() tells such GPUs apart */
#endif
}

/* ---- host ---------------------------------------------------------------------------------- */

bool find_plan(const hs_sweep *sweep, hs_features asked, hs_resident *out);

/* The scratch memory: levels of a call, numbers of exchanges, headers, packets. */
struct memory {
    size_t exchanges, headers, sent, all; /* where they begin */
};
enum { ROW_BYTES = packets::ROW * 16 }; /* packets begin at a multiple of it */
memory share_memory(const hs_resident &plan)
{
    const size_t blocks = (size_t)(plan.blocks[0] * plan.blocks[1] * plan.blocks[2]);
    const size_t places = packets::SETS * blocks * (size_t)plan.places;
    memory m;
    m.exchanges = (size_t)HS_RESIDENT_STEPS * LEVEL * 8;
    m.headers = m.exchanges + (blocks + 31) / 32 * 128;
    m.sent = m.headers + places / packets::LANES * sizeof(packets::header);
    m.all = m.sent + places * 16 + ROW_BYTES;
    return m;
}

/* As much as with or without fields, of which the request says nothing. */
size_t scratch(const hs_sweep *sweep)
{
    hs_resident plan;
    find_plan(sweep, 0, &plan);
    size_t bytes = share_memory(plan).all;
    for (const hs_features asked :
         {HS_SOURCE_FIELD, HS_WALL_FIELD, HS_SOURCE_FIELD | HS_WALL_FIELD})
        if (find_plan(sweep, asked, &plan))
            bytes = std::max(bytes, share_memory(plan).all);
    return bytes;
}

/* The faces of the grid in the kernel's order of axes. */
int face_of(int dims, int f)
{
    const int axis = hs_resident_axis(dims, f / 2);
    return axis < 0 ? -1 : 2 * axis + f % 2;
}

template <typename T>
void make_level(const hs_sweep *sweep, int step, T (&level)[LEVEL])
{
    level[0] = star::source_of<T>(sweep, step);
    for (int f = 0; f < HS_FACES; f++) {
        const int face = face_of(sweep->stencil->dims, f);
        level[1 + f] = face < 0 ? (T)0 : star::offset_of<T>(sweep, step, face, 1);
        const T hold = face < 0 ? (T)0 : (T)sweep->level[step].hold[face];
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
    const struct memory m = share_memory(plan);
    p.exchanges = (unsigned *)(memory + m.exchanges);
    p.headers = (packets::header *)(memory + m.headers);
    p.sent = (packets::packet<T> *)(((uintptr_t)memory + m.sent + ROW_BYTES - 1) / ROW_BYTES *
                                    ROW_BYTES);
    star::take_coefficients(sweep, p.c);
    for (int axis = 0; axis < 3; axis++) {
        const int along = hs_resident_axis(sweep->stencil->dims, axis);
        p.n[axis] = along < 0 ? 1 : (int)sweep->layout.points[along];
        p.pitch[axis] = along < 0 ? 0 : sweep->layout.pitch[along];
        p.blocks[axis] = plan.blocks[axis];
        p.halo[axis] = plan.halo[axis];
        p.wall[2 * axis] = plan.wall[2 * axis], p.wall[2 * axis + 1] = plan.wall[2 * axis + 1];
        for (int f = 2 * axis; along >= 0 && f < 2 * axis + 2; f++) {
            const int face = face_of(sweep->stencil->dims, f);
            star::take_face(sweep->face[face], f, &p);
            if (!sweep->face[face].wrap)
                p.given[f] = (const T *)sweep->level[0].drive_field[face];
        }
    }
    p.depth = plan.depth;
    p.steps = sweep->steps;
    p.lanes = plan.lanes;
    p.groups[0] = plan.groups[0], p.groups[1] = plan.groups[1];
    p.listed = plan.looked_for;
    const int width = vector<T>::WIDTH;
    p.last = 1u << (p.n[ALONG] - 1) % width;
    p.ragged = p.wrap[ALONG] && p.n[ALONG] % width != 0;
    p.source = (const T *)sweep->source;
    p.source_places = plan.source;
    return p;
}

/* The levels go by value where they are all the same, else by way of the scratch memory. */
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
    HS_CUDA_TRY("kernel resident", err,
                cudaMemcpyAsync(levels, all, (size_t)sweep->steps * sizeof p.level,
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
        if (p.given[f])
            return GIVEN_WALLS;
    if (p.ragged || (faces && p.last != 1u << (vector<T>::WIDTH - 1)))
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
    default: return resident<T, DIMS, ROWS, PLANES, GIVEN_WALLS, FIELD>;
    }
}

template <typename T, int DIMS, int ROWS, int PLANES>
hs_status launch_shape(const hs_sweep *sweep, const hs_resident &plan, hs_error *err)
{
    arguments<T> p = make_arguments<T>(sweep, plan);
    const hs_status st = put_levels(sweep, p, err);
    if (st)
        return st;
    hs_geometry g = {};
    for (int axis = 0; axis < 3; axis++) {
        g.blocks[axis] = plan.blocks[axis];
        g.threads[axis] = axis == HS_X ? plan.threads : 1;
    }
    g.shared_bytes = plan.shared_bytes;
    const auto kernel = p.source ? kernel_for<T, DIMS, ROWS, PLANES, true>(walls_of(p))
                                 : kernel_for<T, DIMS, ROWS, PLANES, false>(walls_of(p));
    return star::launch_together("resident", kernel, p, g, sweep->stream, err);
}

/* The plan of the last grid is kept: to look for one takes as long as a few sweeps. */
bool find_plan(const hs_sweep *sweep, hs_features asked, hs_resident *out)
{
    struct question {
        int64_t points[HS_AXES];
        int64_t wrap[HS_AXES], held, dims, precision, asked;
    };
    thread_local question last = {};
    thread_local hs_resident plan;
    thread_local bool fits;
    question now = {};
    now.dims = sweep->stencil->dims;
    now.precision = sweep->precision;
    now.asked = asked;
    for (int axis = 0; axis < HS_AXES; axis++) {
        now.points[axis] = sweep->layout.points[axis];
        for (int f = 2 * axis; axis < sweep->stencil->dims && f < 2 * axis + 2; f++)
            now.held |= sweep->face[f].held ? 1 << f : 0;
        now.wrap[axis] = axis < sweep->stencil->dims && sweep->face[2 * axis].wrap;
    }
    if (memcmp(&now, &last, sizeof now) != 0) {
        fits = hs_resident_plan(sweep, asked, &plan);
        last = now;
    }
    *out = plan;
    return fits;
}

template <typename T>
hs_status launch(const hs_sweep *sweep, hs_error *err)
{
    hs_resident plan;
    if (!find_plan(sweep, hs_resident_features(sweep), &plan))
        return hs_error_add(err, HS_BAD_INPUT,
                            "kernel resident: the grid does not fit on the chip");
    const int shape = 1000 * sweep->stencil->dims + 100 * plan.rows + plan.planes;
    switch (shape) {
    case 2104: return launch_shape<T, 2, 1, 4>(sweep, plan, err);
    case 2110: return launch_shape<T, 2, 1, 10>(sweep, plan, err);
    case 2120: return launch_shape<T, 2, 1, 20>(sweep, plan, err);
    case 3202: return launch_shape<T, 3, 2, 2>(sweep, plan, err);
    default: break;
    }
    if constexpr (sizeof(T) == 4) {
        if (shape == 3404)
            return launch_shape<T, 3, 4, 4>(sweep, plan, err);
    } else {
        if (shape == 3204)
            return launch_shape<T, 3, 2, 4>(sweep, plan, err);
        if (shape == 3209)
            return launch_shape<T, 3, 2, 9>(sweep, plan, err);
    }
    return hs_error_add(err, HS_BAD_INPUT, "kernel resident: shape %d is not compiled in", shape);
}

hs_status sweep(const hs_sweep *sweep, hs_error *err)
{
    return sweep->precision == HS_FLOAT ? launch<float>(sweep, err) : launch<double>(sweep, err);
}

/* What differs from point to point stays the same. */
bool stay(const hs_problem *problem, hs_features asked)
{
    const unsigned both = HS_VARIES_SPACE | HS_VARIES_T;
    bool stay = !(asked & HS_SOURCE_FIELD) || !(asked & HS_SOURCE_TIME);
    for (int face = 0; face < 2 * problem->grid.dims; face++) {
        const unsigned varies = hs_value_varies(&problem->face[face].drive);
        stay = stay && !((varies & HS_VARIES_T) && (varies & both & ~HS_VARIES_T));
    }
    return stay;
}

/* All blocks must run at once, each on a multiprocessor of its own. */
bool plan(const hs_problem *problem, const hs_device_limits *limits, hs_kernel_plan *, char *reason,
          size_t size)
{
    hs_stencil stencil = {};
    stencil.dims = problem->grid.dims;
    stencil.radius = problem->radius;
    hs_sweep request = {};
    request.precision = problem->precision;
    request.layout = hs_layout_make(&problem->grid, problem->radius, 32);
    request.stencil = &stencil;
    request.face = problem->face;
    const hs_features asked = hs_problem_features(problem);
    if (!stay(problem, asked)) {
        snprintf(reason, size,
                 "resident needs sources and boundary values that are uniform in space or constant "
                 "in time");
        return false;
    }
    hs_resident cut;
    if (!hs_resident_plan(&request, asked, &cut)) {
        snprintf(reason, size, "resident needs a grid that fits on the chip%s, not %lld points",
                 asked & (HS_SOURCE_FIELD | HS_WALL_FIELD) ? " with its fields" : "",
                 (long long)hs_grid_count(&problem->grid));
        return false;
    }
    const int blocks = cut.blocks[0] * cut.blocks[1] * cut.blocks[2];
    if (!limits || limits->capability[0] != 9 || !limits->cooperative ||
        limits->multiprocessors < blocks) {
        snprintf(reason, size,
                 "resident needs a GPU of compute capability 9 with %d multiprocessors", blocks);
        return false;
    }
    return true;
}

} // namespace resident

extern "C" const hs_kernel hs_kernel_cuda_resident = {
    .name = "resident",
    .idea = "2D, 3D: a small grid stays in registers for many sweeps a launch",
    .origin = "persistent kernels: Zhang et al., ICS'23 (PERKS)",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_2D | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS | HS_ALL_VALUES |
                HS_APPLIES_WALLS,
    .steps = HS_RESIDENT_STEPS,
    .plan = resident::plan,
    .tiling = &hs_tiling_resident,
    .scratch = resident::scratch,
    .sweep = resident::sweep,
};
