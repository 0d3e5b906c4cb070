#include "plan.h"
#include "tiles.h"

static struct hs_blocking usual_vector_march(int dims, int radius, enum hs_precision precision)
{
    (void)radius, (void)precision;
    if (dims == 1)
        return (struct hs_blocking){{HS_VECTOR_1D_THREADS, 1, 1}, 0};
    return (struct hs_blocking){{HS_WARP, HS_VECTOR_WARPS, 1}, 0};
}

static void geometry_vector_march(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                  struct hs_geometry *out)
{
    const int dims = sweep->stencil->dims, radius = sweep->stencil->radius;
    const int size = (int)hs_precision_size(sweep->precision), vector = HS_VECTOR_BYTES / size;
    const int line = 128 / size; /* rows of a warp begin at multiples of it */
    const int *t = blocking->threads;
    struct hs_box aligned = sweep->box;
    aligned.lo[HS_X] = sweep->box.lo[HS_X] / line * line;
    const int64_t *lo = aligned.lo, *hi = aligned.hi;
    if (dims == 1) {
        hs_tile_set(sweep, t[HS_X] * vector * HS_VECTOR_1D_VECTORS, 1, 1, out);
    } else if (dims == 2) {
        const int x = t[HS_X] * t[HS_Y] * vector;
        static const int fit[] = {0, HS_VECTOR_2D_BLOCKS_1, HS_VECTOR_2D_BLOCKS_2,
                                  HS_VECTOR_2D_BLOCKS_3};
        const int64_t planes =
            hs_tile_chunk(hs_divide_up(hi[HS_X] - lo[HS_X], x), hi[HS_Y] - lo[HS_Y], radius,
                          HS_MULTIPROCESSORS * fit[radius]);
        hs_tile_set(sweep, x, blocking->planes ? blocking->planes : (int)planes, 1, out);
    } else {
        static const int rows[] = {0, HS_VECTOR_ROWS_1, HS_VECTOR_ROWS_2, HS_VECTOR_ROWS_3};
        const int x = t[HS_X] * vector, y = t[HS_Y] * rows[radius];
        const int planes = radius < 3 ? HS_VECTOR_PLANES : 2 * HS_VECTOR_PLANES;
        hs_tile_set(sweep, x, y, blocking->planes ? blocking->planes : planes, out);
    }
    hs_tile_finish(sweep, &aligned, t, out);
    out->points_loaded = hs_tile_star_points(sweep, out->output_tile);
}

const struct hs_tiling hs_tiling_vector_march = {
    .kernel = "vector_march",
    .features = HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS,
    .steps = {1, 1},
    .usual = usual_vector_march,
    .geometry = geometry_vector_march,
};
