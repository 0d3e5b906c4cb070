#include "tiles.h"

void hs_tiling_cover(const struct hs_box *box, const int tile[HS_AXES], int64_t blocks[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++)
        blocks[axis] = hs_divide_up(box->hi[axis] - box->lo[axis], tile[axis]);
}

struct hs_box hs_tiling_with_held(const struct hs_sweep *sweep)
{
    struct hs_box wide = sweep->box;
    for (int axis = 0; axis < sweep->stencil->dims; axis++) {
        const int below = sweep->face[2 * axis].held, above = sweep->face[2 * axis + 1].held;
        if (wide.lo[axis] == below)
            wide.lo[axis] = 0;
        if (wide.hi[axis] == sweep->layout.points[axis] - above)
            wide.hi[axis] = sweep->layout.points[axis];
    }
    return wide;
}

int hs_tile_halo(const struct hs_sweep *sweep, int axis)
{
    return axis < sweep->stencil->dims ? sweep->stencil->radius : 0;
}

int64_t hs_tile_volume(const int extent[HS_AXES])
{
    return (int64_t)extent[HS_X] * extent[HS_Y] * extent[HS_Z];
}

int hs_tile_steps(const struct hs_sweep *sweep)
{
    return sweep->steps > 0 ? sweep->steps : 1;
}

void hs_tile_finish(const struct hs_sweep *sweep, const struct hs_box *box,
                    const int threads[HS_AXES], struct hs_geometry *out)
{
    const int count = hs_stencil_count(sweep->stencil->dims, sweep->stencil->radius);
    out->points_updated = hs_box_count(&sweep->box);
    hs_tiling_cover(box, out->output_tile, out->blocks);
    for (int axis = 0; axis < HS_AXES; axis++)
        out->threads[axis] = threads[axis];
    out->points_loaded = hs_tile_volume(out->input_tile);
    out->points_written = hs_tile_volume(out->output_tile);
    /* of each sweep as many multiplications as coefficients, one addition less */
    out->flops_per_point = hs_tile_steps(sweep) * (2.0 * count - 1.0);
}

void hs_tile_set(const struct hs_sweep *sweep, int x, int y, int z, struct hs_geometry *out)
{
    const int tile[HS_AXES] = {x, y, z};
    *out = (struct hs_geometry){0};
    for (int axis = 0; axis < HS_AXES; axis++) {
        out->output_tile[axis] = tile[axis];
        out->input_tile[axis] = tile[axis] + 2 * hs_tile_halo(sweep, axis);
    }
}

int64_t hs_tile_star_points(const struct hs_sweep *sweep, const int tile[HS_AXES])
{
    int64_t points = hs_tile_volume(tile);
    for (int axis = 0; axis < HS_AXES; axis++)
        points += 2 * hs_tile_halo(sweep, axis) * (hs_tile_volume(tile) / tile[axis]);
    return points;
}

int hs_tile_reach(const struct hs_sweep *sweep)
{
    return sweep->stencil->radius * hs_tile_steps(sweep);
}

int64_t hs_tile_overlapping(int64_t n, int size, int halo, bool wrap)
{
    const int stored = size - 2 * halo;
    if (wrap)
        return hs_divide_up(n, stored);
    return n <= size ? 1 : 1 + hs_divide_up(n - size, stored);
}

int64_t hs_tile_chunk(int64_t tiles, int64_t planes, int radius, int64_t wave)
{
    enum { LATENCY = 4, SHORTEST = 16 };
    int64_t best = planes > 0 ? planes : 1, best_cost = INT64_MAX;
    for (int64_t chunks = 1; chunks * SHORTEST < planes + SHORTEST && chunks <= 256; chunks++) {
        const int64_t length = hs_divide_up(planes, chunks);
        const int64_t waves = hs_divide_up(tiles * hs_divide_up(planes, length), wave);
        const int64_t cost = waves * (length + 2 * radius + LATENCY);
        if (cost < best_cost)
            best = length, best_cost = cost;
    }
    return best;
}

void hs_tile_marching(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                      struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X] - 2 * hs_tile_halo(sweep, HS_X),
                t[HS_Y] - 2 * hs_tile_halo(sweep, HS_Y), blocking->planes, out);
    hs_tile_finish(sweep, &sweep->box, t, out);
    out->shared_bytes = hs_tile_volume(t) * (int64_t)hs_precision_size(sweep->precision);
}
