#include "tiles.h"

#include <stdio.h>

struct hs_case hs_tile_case(const struct hs_case *of, int steps, int shift)
{
    struct hs_case with = *of;
    with.steps = of->steps > 0 ? of->steps : steps;
    with.layout = hs_layout_moved(of->layout, shift);
    return with;
}

struct hs_blocking hs_tile_blocking(const struct hs_case *of, struct hs_blocking own)
{
    const struct hs_blocking *wish = &of->blocking;
    for (int axis = 0; wish->threads[HS_X] > 0 && axis < HS_AXES; axis++)
        own.threads[axis] = wish->threads[axis] > 0 ? wish->threads[axis] : 1;
    if (wish->planes > 0)
        own.planes = wish->planes;
    return own;
}

int hs_tile_vector(const struct hs_case *of)
{
    return HS_VECTOR_BYTES / (int)hs_precision_size(of->precision);
}

struct hs_box hs_tile_with_held(const struct hs_case *of)
{
    struct hs_box held = of->box;
    for (int axis = 0; axis < of->dims; axis++) {
        const int below = of->face[2 * axis].held, above = of->face[2 * axis + 1].held;
        if (held.lo[axis] == below)
            held.lo[axis] = 0;
        if (held.hi[axis] == of->layout.points[axis] - above)
            held.hi[axis] = of->layout.points[axis];
    }
    return held;
}

struct hs_box hs_tile_aligned(const struct hs_case *of)
{
    const int line = 128 / (int)hs_precision_size(of->precision);
    struct hs_box aligned = of->box;
    aligned.lo[HS_X] = of->box.lo[HS_X] / line * line;
    return aligned;
}

int hs_tile_halo(const struct hs_case *of, int axis)
{
    return axis < of->dims ? of->radius : 0;
}

int64_t hs_tile_volume(const int extent[HS_AXES])
{
    return (int64_t)extent[HS_X] * extent[HS_Y] * extent[HS_Z];
}

static int steps_of(const struct hs_case *of)
{
    return of->steps > 0 ? of->steps : 1;
}

void hs_tile_finish(const struct hs_case *of, const struct hs_box *box, const int threads[HS_AXES],
                    struct hs_geometry *out)
{
    const int count = hs_stencil_count(of->dims, of->radius);
    out->points_updated = hs_box_count(&of->box);
    out->launched = 1;
    for (int axis = 0; axis < HS_AXES; axis++) {
        out->threads[axis] = threads[axis];
        out->blocks[axis] = hs_divide_up(box->hi[axis] - box->lo[axis], out->output_tile[axis]);
        out->launched *= out->blocks[axis];
    }
    out->points_loaded = hs_tile_volume(out->input_tile);
    out->points_written = hs_tile_volume(out->output_tile);
    /* of each sweep as many multiplications as coefficients, one addition less */
    out->flops_per_point = steps_of(of) * (2.0 * count - 1.0);
}

void hs_tile_set(const struct hs_case *of, int x, int y, int z, struct hs_geometry *out)
{
    const int tile[HS_AXES] = {x, y, z};
    *out = (struct hs_geometry){0};
    for (int axis = 0; axis < HS_AXES; axis++) {
        out->output_tile[axis] = tile[axis];
        out->input_tile[axis] = tile[axis] + 2 * hs_tile_halo(of, axis);
    }
}

int64_t hs_tile_star_points(const struct hs_case *of, const int tile[HS_AXES])
{
    int64_t points = hs_tile_volume(tile);
    for (int axis = 0; axis < HS_AXES; axis++)
        points += 2 * hs_tile_halo(of, axis) * (hs_tile_volume(tile) / tile[axis]);
    return points;
}

double hs_tile_conduction_flops(const struct hs_case *of)
{
    return steps_of(of) * (3.0 * 2.0 * of->dims + 3.0 * 2.0);
}

int hs_tile_reach(const struct hs_case *of)
{
    return of->radius * steps_of(of);
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

void hs_tile_marching(const struct hs_case *of, struct hs_blocking own, struct hs_geometry *out)
{
    const struct hs_blocking blocking = hs_tile_blocking(of, own);
    const int *t = blocking.threads;
    hs_tile_set(of, t[HS_X] - 2 * hs_tile_halo(of, HS_X), t[HS_Y] - 2 * hs_tile_halo(of, HS_Y),
                blocking.planes, out);
    hs_tile_finish(of, &of->box, t, out);
    out->shared_bytes = hs_tile_volume(t) * (int64_t)hs_precision_size(of->precision);
}

bool hs_tile_capable(const char *name, const struct hs_device_limits *limits, int most,
                     char *reason, size_t size)
{
    const int least = 9;
    if (limits->capability[0] >= least && limits->capability[0] <= most)
        return true;
    if (least == most)
        snprintf(reason, size, "%s needs a GPU of compute capability %d", name, least);
    else
        snprintf(reason, size, "%s needs a GPU of compute capability %d or %d", name, least, most);
    return false;
}
