#include "core/tiling_ladder.h"
#include "core/tiling_parts.h"

/* ---- basic: one thread a point, every thread loads its whole star -------------------------- */

static struct hs_blocking usual_basic(int dims, int radius, enum hs_precision precision)
{
    (void)radius, (void)precision;
    if (dims == 1)
        return (struct hs_blocking){{HS_TILE_1D, 1, 1}, 0};
    if (dims == 2)
        return (struct hs_blocking){{HS_WARP, HS_BASIC_2D_Y, 1}, 0};
    return (struct hs_blocking){{HS_TILE_3D, HS_TILE_3D, HS_TILE_3D}, 0};
}

static void geometry_basic(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                           struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X], t[HS_Y], t[HS_Z], out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    for (int axis = 0; axis < HS_AXES; axis++) {
        out->input_tile[axis] = 0; /* no tile: what is shared is the caches' affair */
        /* threads stand over the grid from node 0, as in the textbook, so that a block's rows
         * begin where a memory transaction does */
        if (out->points_updated > 0)
            out->blocks[axis] = hs_divide_up(
                sweep->box.hi[axis] - sweep->box.lo[axis] / t[axis] * t[axis], t[axis]);
    }
    out->points_loaded =
        hs_tile_volume(t) * hs_stencil_count(sweep->stencil->dims, sweep->stencil->radius);
}

const struct hs_tiling hs_tiling_basic = {
    .kernel = "basic",
    .dims = HS_ALL_DIMS,
    .radius = HS_ALL_RADII,
    .steps = {1, 1},
    .resizable = true,
    .usual = usual_basic,
    .geometry = geometry_basic,
};

/* ---- shared_tile: the block is the input tile ----------------------------------------------- */

static struct hs_blocking usual_shared_tile(int dims, int radius, enum hs_precision precision)
{
    (void)radius, (void)precision;
    if (dims == 1)
        return (struct hs_blocking){{HS_TILE_1D, 1, 1}, 0};
    if (dims == 2)
        return (struct hs_blocking){{HS_TILE_2D, HS_TILE_2D, 1}, 0};
    return (struct hs_blocking){{HS_TILE_3D, HS_TILE_3D, HS_TILE_3D}, 0};
}

static void geometry_shared_tile(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                 struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X] - 2 * hs_tile_halo(sweep, HS_X),
                t[HS_Y] - 2 * hs_tile_halo(sweep, HS_Y), t[HS_Z] - 2 * hs_tile_halo(sweep, HS_Z),
                out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    out->shared_bytes = out->points_loaded * (int64_t)hs_precision_size(sweep->precision);
}

const struct hs_tiling hs_tiling_shared_tile = {
    .kernel = "shared_tile",
    .dims = HS_ALL_DIMS,
    .radius = HS_ALL_RADII,
    .steps = {1, 1},
    .resizable = true,
    .usual = usual_shared_tile,
    .geometry = geometry_shared_tile,
};

/* ---- coarsened, register_tile: the block is the input tile of a plane, and marches along z --- */

static struct hs_blocking usual_coarsened(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){{HS_COARSENED_BLOCK, HS_COARSENED_BLOCK, 1}, HS_COARSENED_PLANES};
}

static void geometry_register_tile(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                   struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X] - 2 * hs_tile_halo(sweep, HS_X),
                t[HS_Y] - 2 * hs_tile_halo(sweep, HS_Y), blocking->planes, out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    out->shared_bytes = hs_tile_volume(t) * (int64_t)hs_precision_size(sweep->precision);
}

const struct hs_tiling hs_tiling_register_tile = {
    .kernel = "register_tile",
    .dims = 1u << 3,
    .radius = HS_ALL_RADII,
    .steps = {1, 1},
    .resizable = true,
    .usual = usual_coarsened,
    .geometry = geometry_register_tile,
};

static void geometry_coarsened(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                               struct hs_geometry *out)
{
    geometry_register_tile(sweep, blocking, out);
    out->shared_bytes *= 2 * sweep->stencil->radius + 1;
}

const struct hs_tiling hs_tiling_coarsened = {
    .kernel = "coarsened",
    .dims = 1u << 3,
    .radius = HS_ALL_RADII,
    .steps = {1, 1},
    .resizable = true,
    .usual = usual_coarsened,
    .geometry = geometry_coarsened,
};

/* ---- march_halo: the block is the output tile of a plane, and marches along z ---------------- */

static struct hs_blocking usual_march_halo(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){{HS_MARCH_X, HS_MARCH_Y, 1}, HS_MARCH_PLANES};
}

static void geometry_march_halo(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X], t[HS_Y], blocking->planes, out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    out->points_loaded = hs_tile_star_points(sweep, out->output_tile);
    out->shared_bytes = (int64_t)out->input_tile[HS_X] * out->input_tile[HS_Y] *
                        (int64_t)hs_precision_size(sweep->precision);
}

const struct hs_tiling hs_tiling_march_halo = {
    .kernel = "march_halo",
    .dims = 1u << 3,
    .radius = HS_ALL_RADII,
    .steps = {1, 1},
    .resizable = true,
    .usual = usual_march_halo,
    .geometry = geometry_march_halo,
};

/* ---- tile_2d, collaborative_2d -------------------------------------------------------------- */

static struct hs_blocking usual_tile_2d(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){{HS_TILE_2D_X, HS_TILE_2D_Y, 1}, 0};
}

static void geometry_tile_2d(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                             struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X], t[HS_Y], t[HS_Z], out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    out->points_loaded = hs_tile_star_points(sweep, out->output_tile);
    out->shared_bytes =
        hs_tile_volume(out->input_tile) * (int64_t)hs_precision_size(sweep->precision);
}

const struct hs_tiling hs_tiling_tile_2d = {
    .kernel = "tile_2d",
    .dims = 1u << 2,
    .radius = HS_ALL_RADII,
    .steps = {1, 1},
    .resizable = true,
    .usual = usual_tile_2d,
    .geometry = geometry_tile_2d,
};

static struct hs_blocking usual_collaborative_2d(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){{HS_WARP, HS_COLLABORATIVE_ROWS, 1}, 0};
}

/* A thread sums 2 x 4 points. */
static void geometry_collaborative_2d(const struct hs_sweep *sweep,
                                      const struct hs_blocking *blocking, struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X] * (HS_COLLABORATIVE_X / HS_WARP),
                t[HS_Y] * (HS_COLLABORATIVE_Y / HS_COLLABORATIVE_ROWS), 1, out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    out->shared_bytes = out->points_loaded * (int64_t)hs_precision_size(sweep->precision);
}

const struct hs_tiling hs_tiling_collaborative_2d = {
    .kernel = "collaborative_2d",
    .dims = 1u << 2,
    .radius = HS_ALL_RADII,
    .steps = {1, 1},
    .usual = usual_collaborative_2d,
    .geometry = geometry_collaborative_2d,
};

/* ---- 1D -------------------------------------------------------------------------------------- */

static struct hs_blocking usual_line(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){{HS_TILE_1D, 1, 1}, 0};
}

static void geometry_register_window(const struct hs_sweep *sweep,
                                     const struct hs_blocking *blocking, struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X] * HS_WINDOW_POINTS, 1, 1, out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    /* every thread loads the ends of its window itself */
    out->points_loaded = hs_tile_volume(t) * (HS_WINDOW_POINTS + 2 * hs_tile_halo(sweep, HS_X));
}

const struct hs_tiling hs_tiling_register_window = {
    .kernel = "register_window",
    .dims = 1u << 1,
    .radius = HS_ALL_RADII,
    .steps = {1, 1},
    .usual = usual_line,
    .geometry = geometry_register_window,
};

static void geometry_warp_shuffle(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                  struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X], 1, 1, out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    out->points_loaded = t[HS_X] + hs_divide_up(t[HS_X], HS_WARP) * 2 * hs_tile_halo(sweep, HS_X);
}

const struct hs_tiling hs_tiling_warp_shuffle = {
    .kernel = "warp_shuffle",
    .dims = 1u << 1,
    .radius = HS_ALL_RADII,
    .steps = {1, 1},
    .usual = usual_line,
    .geometry = geometry_warp_shuffle,
};
