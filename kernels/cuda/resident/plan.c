#include "plan.h"

#include <math.h>
#include <stdio.h>

HS_CUDA_SWEEP(resident);

int hs_resident_axis(int dims, int axis)
{
    static const int axes[HS_AXES + 1][3] = {
        {-1, -1, -1}, {HS_X, -1, -1}, {HS_X, -1, HS_Y}, {HS_X, HS_Y, HS_Z}};
    return axes[dims][axis];
}

/* What a plan is made for, along the kernel's axes. */
struct resident_case {
    int size;  /* bytes of a value */
    int width; /* points in 16 bytes */
    int64_t n[3];
    bool wrap[3];
    int wall[6]; /* held layers of rows and planes, which no block owns */
    bool source; /* there is a source field */
    bool walls;  /* face values vary from point to point */
};

static struct resident_case case_of(const struct hs_case *given)
{
    const int size = (int)hs_precision_size(given->precision);
    struct resident_case of = {.size = size,
                               .width = hs_tile_vector(given),
                               .source = given->asked & HS_SOURCE_FIELD,
                               .walls = given->asked & HS_WALL_FIELD};
    for (int axis = 0; axis < 3; axis++) {
        const int along = hs_resident_axis(given->dims, axis);
        of.n[axis] = along < 0 ? 1 : given->layout.points[along];
        of.wrap[axis] = along >= 0 && given->face[2 * along].wrap;
        for (int side = 0; axis > 0 && along >= 0 && side < 2; side++)
            of.wall[2 * axis + side] = given->face[2 * along + side].held;
    }
    return of;
}

/* Nodes along an axis that some block owns. */
static int64_t shared_out(const struct resident_case *of, int axis)
{
    return of->n[axis] - of->wall[2 * axis] - of->wall[2 * axis + 1];
}

/* Whether the halo comes only from adjacent blocks. */
static bool halo_fits(const struct resident_case *of, const struct hs_resident *plan)
{
    for (int axis = 0; axis < 3; axis++) {
        const int unit = axis == 0 ? of->width : 1;
        const int64_t n = shared_out(of, axis);
        const int64_t least = hs_divide_up(n, unit) / plan->blocks[axis] * unit;
        const int64_t gap = hs_divide_up(n, unit) * unit - n;
        if (plan->halo[axis] > least - (of->wrap[axis] ? gap : 0))
            return false;
    }
    return true;
}

/* Whether threads' vectors begin and end exactly at the walls. */
static bool walls_fit(const struct resident_case *of, const struct hs_resident *plan)
{
    for (int axis = 1; axis < 3; axis++) {
        const int swept = plan->groups[axis - 1] * (axis == 1 ? plan->rows : plan->planes);
        if (!of->wrap[axis] && of->n[axis] > 1 && plan->blocks[axis] == 1 &&
            swept != plan->own[axis])
            return false;
    }
    return true;
}

static int source_in_memory(const struct resident_case *of, const struct hs_resident *plan)
{
    const int vectors = plan->rows * plan->planes;
    return of->source ? vectors - hs_resident_source_held(vectors) : 0;
}

/* Bytes of the boundary data at the faces that a block may touch: along x a number for each
 * vector's end, along the other axes vectors. */
static int64_t face_data_bytes(const struct resident_case *of, const struct hs_resident *plan)
{
    int64_t sides[3], swept[3] = {plan->lanes * of->width, 1, plan->groups[1] * plan->planes};
    if (!of->walls)
        return 0;
    for (int axis = 0; axis < 3; axis++)
        sides[axis] = of->wrap[axis] || of->n[axis] == 1     ? 0
                      : axis == 0 || plan->blocks[axis] == 1 ? 2
                                                             : 1;
    if (of->n[1] > 1)
        swept[1] = (int64_t)plan->groups[0] * plan->rows;
    const int64_t beside = hs_divide_up(sides[0] * swept[1] * swept[2], of->width) * of->width;
    return (beside + swept[0] * (sides[1] * swept[2] + sides[2] * swept[1])) * of->size;
}

/* Completes a plan whose rows, planes, blocks and depth are set; false if no such block is
 * possible. */
static bool complete_resident(const struct resident_case *of, struct hs_resident *plan)
{
    enum { MOST_SHARED = 227 * 1024 };
    int64_t own = 1, all = 1, beside = 1, tile = 1;
    int extent[3];
    memcpy(plan->wall, of->wall, sizeof plan->wall);
    for (int axis = 0; axis < 3; axis++) {
        const int unit = axis == 0 ? of->width : 1;
        const int64_t n = shared_out(of, axis);
        const bool ragged = n % unit != 0;
        const bool closed = plan->blocks[axis] == 1 && (!of->wrap[axis] || (axis == 0 && !ragged));
        const int size = hs_divide_up(hs_divide_up(n, unit), plan->blocks[axis]);
        const int units = closed || n == 1 ? 0 : hs_divide_up(plan->depth, unit);
        plan->own[axis] = size * unit;
        plan->halo[axis] = units * unit;
        extent[axis] = size + 2 * (axis == 0 || units == 0 ? units : units - 1);
        own *= size, all *= size + 2 * units;
        beside *= axis == 0 ? of->wrap[0] && ragged : size + 2 * units;
    }
    plan->lanes = extent[0];
    plan->groups[0] = hs_divide_up(extent[1], plan->rows);
    plan->groups[1] = hs_divide_up(extent[2], plan->planes);
    if (plan->lanes > HS_WARP || !halo_fits(of, plan) || !walls_fit(of, plan))
        return false;
    const bool has_rows = of->n[1] > 1;
    tile = (int64_t)HS_WARP * (plan->groups[0] * plan->rows + (has_rows ? 2 : 0)) *
           (plan->groups[1] * plan->planes + 2);
    const int64_t groups = (int64_t)plan->groups[0] * plan->groups[1];
    plan->threads = HS_WARP * hs_divide_up(groups, HS_WARP / plan->lanes);
    plan->received = (int)(all - own);
    plan->looked_for = plan->received + (int)beside;
    plan->places = plan->threads * plan->rows * plan->planes;
    plan->source = source_in_memory(of, plan);
    plan->shared_bytes = 2 * HS_RESIDENT_LEVEL * of->size + 16 * hs_divide_up(plan->looked_for, 2) +
                         32 * tile + (int64_t)16 * plan->source * plan->threads +
                         face_data_bytes(of, plan);
    return groups <= HS_RESIDENT_THREADS && plan->threads <= HS_RESIDENT_THREADS &&
           plan->shared_bytes <= MOST_SHARED;
}

/* Clocks of a sweep and its share of an exchange. Fitted to the times of 58 plans on an H200, in
 * float with fixed and periodic walls, to within a fifth (docs/performance/small-grids.md). */
static double resident_clocks(const struct resident_case *of, const struct hs_resident *plan)
{
    const bool solid = of->n[1] > 1;
    const double warps = hs_divide_up(plan->threads / HS_WARP, 4); /* that share a scheduler */
    const double vectors = plan->rows * plan->planes;
    const double sweep = vectors * (32.0 + warps * (solid ? 52.0 : 22.0));
    /* packets that the threads cannot await all at once are fetched afterwards */
    const double more = plan->received <= 6 * plan->threads
                            ? 0.0
                            : (double)hs_divide_up(plan->received, 8 * plan->threads) - 1.0;
    /* packets beside the block's rows are scattered in memory */
    double beside = 2.0 * plan->halo[0] / of->width;
    for (int axis = 1; axis < 3; axis++)
        beside *= (double)of->n[axis] / plan->blocks[axis] + 2.0 * plan->halo[axis];
    const double exchange = 1790.0 + 1200.0 * more + (solid ? 28.5 * vectors : 0.0) +
                            0.17 * plan->received + 4.75 * beside;
    return sweep + exchange / plan->depth;
}

/* The fewest blocks along an axis of `n` units that are no larger than with `most` blocks. */
static int even_blocks(int64_t n, int64_t most)
{
    return hs_divide_up(n, hs_divide_up(n, most < 1 ? 1 : most));
}

/* Tries all ways to cut the grid into at most `most` blocks of a shape and depth. */
static void try_resident(const struct resident_case *of, struct hs_resident plan, int most,
                         struct hs_resident *best, double *clocks)
{
    const int64_t vectors = hs_divide_up(of->n[0], of->width);
    for (int own = HS_WARP, before = 0; own >= 1; own--) {
        const int bx = hs_divide_up(vectors, own);
        if (bx == before || bx > most)
            continue;
        before = bx;
        plan.blocks[0] = bx;
        const int64_t rows = shared_out(of, 1), planes = shared_out(of, 2);
        for (int by = 1, last = 0; by <= most / bx && by <= rows; by++) {
            if (even_blocks(rows, by) == last)
                continue;
            last = plan.blocks[1] = even_blocks(rows, by);
            plan.blocks[2] = even_blocks(planes, most / (bx * plan.blocks[1]));
            if (!complete_resident(of, &plan))
                continue;
            const double time = resident_clocks(of, &plan);
            if (time < *clocks) {
                *clocks = time;
                *best = plan;
            }
        }
    }
}

/* Rows and planes of vectors that a thread may own: a block fills its threads' registers, and so a
 * whole multiprocessor's. With four rows, doubles spill. */
static const struct resident_shape {
    int dims;
    unsigned precision; /* bits; 0: any */
    int rows, planes;
} shapes[] = {
    {2, 0, 1, 4},
    {2, 0, 1, 10},
    {2, 0, 1, 20},
    {3, 0, 2, 2},
    {3, 1u << HS_FLOAT, 4, 4},
    {3, 1u << HS_DOUBLE, 2, 4},
    {3, 1u << HS_DOUBLE, 2, 9},
    {.dims = 0},
};

static bool has_shape(const struct resident_shape *shape, int dims, enum hs_precision precision)
{
    return shape->dims == dims && (!shape->precision || shape->precision >> precision & 1);
}

bool hs_resident_cut(const struct hs_case *given, const struct hs_device_limits *limits,
                     struct hs_resident *out)
{
    const int dims = given->dims;
    const struct resident_case of = case_of(given);
    double clocks = INFINITY;
    const int64_t points = of.n[0] * of.n[1] * of.n[2];
    for (const struct resident_shape *shape = shapes; shape->dims && points <= 1 << 24; shape++)
        for (int depth = 1; depth <= 8 && has_shape(shape, dims, given->precision); depth++) {
            const struct hs_resident cut = {
                .rows = shape->rows, .planes = shape->planes, .depth = depth};
            try_resident(&of, cut, limits->multiprocessors, out, &clocks);
        }
    return isfinite(clocks);
}

/* Levels of a call, counts of exchanges, headers, packets. */
struct hs_resident_memory hs_resident_share(const struct hs_resident *cut)
{
    const size_t blocks = (size_t)(cut->blocks[0] * cut->blocks[1] * cut->blocks[2]);
    const size_t places = HS_RESIDENT_SETS * blocks * (size_t)cut->places;
    struct hs_resident_memory m;
    m.exchanges = (size_t)HS_RESIDENT_STEPS * HS_RESIDENT_LEVEL * 8;
    m.headers = m.exchanges + (blocks + 31) / 32 * 128;
    m.sent = m.headers + places / HS_WARP * HS_RESIDENT_HEADER;
    m.all = m.sent + places * 16 + HS_RESIDENT_ROW;
    return m;
}

static void launch_of(const struct hs_case *of, const struct hs_resident *cut,
                      struct hs_geometry *g)
{
    const int threads[HS_AXES] = {cut->threads, 1, 1};
    const int width = hs_tile_vector(of);
    const int swept[3] = {cut->lanes * width, cut->groups[0] * cut->rows,
                          cut->groups[1] * cut->planes};
    hs_tile_set(of, 1, 1, 1, g);
    for (int axis = 0; axis < 3; axis++) {
        const int along = hs_resident_axis(of->dims, axis);
        if (along < 0)
            continue;
        g->output_tile[along] = cut->own[axis];
        g->input_tile[along] = swept[axis];
    }
    hs_tile_finish(of, &of->box, threads, g);
    for (int axis = 0; axis < 3; axis++) {
        const int along = hs_resident_axis(of->dims, axis);
        if (along >= 0)
            g->blocks[along] = cut->blocks[axis];
    }
    g->launched = (int64_t)cut->blocks[0] * cut->blocks[1] * cut->blocks[2];
    g->shared_bytes = cut->shared_bytes;
}

/* All blocks must run at once, each on a multiprocessor of its own. */
static bool plan(const struct hs_case *given, const struct hs_device_limits *limits,
                 struct hs_kernel_plan *out, char *reason, size_t size)
{
    if (!hs_tile_capable("resident", limits, 9, reason, size))
        return false;
    if (!limits->cooperative) {
        snprintf(reason, size, "resident needs a GPU whose blocks can all run at once");
        return false;
    }
    struct hs_resident cut;
    if (!hs_resident_cut(given, limits, &cut)) {
        const int64_t *points = given->layout.points;
        snprintf(reason, size,
                 "resident needs a grid that fits on the chip%s, on %d multiprocessors, not %lld "
                 "points",
                 given->asked & (HS_SOURCE_FIELD | HS_WALL_FIELD) ? " with its fields" : "",
                 limits->multiprocessors, (long long)(points[HS_X] * points[HS_Y] * points[HS_Z]));
        return false;
    }
    const struct hs_case of = hs_tile_case(given, HS_RESIDENT_STEPS, 0);
    HS_PLAN_PUT(out, cut);
    launch_of(&of, &cut, &out->launch);
    out->for_any_steps = true;
    out->scratch = hs_resident_share(&cut).all;
    return true;
}

const struct hs_kernel hs_kernel_cuda_resident = {
    .name = "resident",
    .idea = "2D, 3D: a small grid stays in registers for many sweeps a launch",
    .origin = "persistent kernels: Zhang et al., ICS'23 (PERKS)",
    .device = HS_CUDA,
    .features = HS_STENCIL | HS_2D | HS_3D | HS_RADIUS_1 | HS_ALL_PRECISIONS | HS_STEADY_FIELDS |
                HS_APPLIES_WALLS,
    .steps = HS_RESIDENT_STEPS,
    .plan = plan,
    .sweep = hs_sweep_cuda_resident,
};
