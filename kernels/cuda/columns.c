#include "columns.h"

#include <stdio.h>

int hs_fused_tile_y(enum hs_precision precision, int warps, int rows)
{
    const int lanes = HS_FUSED_X * (int)hs_precision_size(precision) / HS_VECTOR_BYTES;
    return warps * HS_WARP / lanes * rows;
}

struct hs_fused_cut hs_fused_make_cut(int64_t n, int halo, int grain, int offset, bool wrap)
{
    const int size = HS_FUSED_X;
    const int others = (size - 2 * halo) / grain * grain;
    const int first = wrap ? others : (size - halo + offset) / grain * grain - offset;
    struct hs_fused_cut cut = {1, first, others};
    if (wrap)
        cut.tiles = hs_divide_up(n, others);
    else if (n > size) /* the last tile's halo begins where those before it end */
        cut.tiles = 2 + hs_divide_up(n - size + halo - first, others);
    return cut;
}

static int fused_halo_x(const struct hs_case *of)
{
    return (int)hs_round_up(hs_tile_reach(of), hs_tile_vector(of));
}

struct hs_fused_cut hs_fused_cut_x(const struct hs_case *of)
{
    const int sector = of->precision == HS_FLOAT ? 8 : 4;
    const struct hs_box wide = hs_tile_with_held(of);
    return hs_fused_make_cut(wide.hi[HS_X] - wide.lo[HS_X], fused_halo_x(of), sector,
                             (int)(of->layout.origin % sector), of->face[2 * HS_X].wrap);
}

int hs_fused_shift(const struct hs_case *of)
{
    enum { HALO = 4, SECTOR = 8, HALF = 4 };
    const int64_t points_x = of->layout.points[HS_X];
    const bool wrap = of->face[2 * HS_X].wrap;
    if (of->precision != HS_FLOAT || wrap) /* other tiles already store as much as they can */
        return 0;
    const int64_t usual = hs_fused_make_cut(points_x, HALO, SECTOR, 0, wrap).tiles;
    const int64_t moved = hs_fused_make_cut(points_x, HALO, SECTOR, HALF, wrap).tiles;
    return moved < usual ? HALF : 0;
}

struct hs_fused_columns hs_fused_tiles(const struct hs_case *of,
                                       const struct hs_device_limits *limits, int threads, int rows,
                                       hs_fused_cut_of *cut, struct hs_geometry *out)
{
    const int reach = hs_tile_reach(of);
    const struct hs_box wide = hs_tile_with_held(of);
    struct hs_fused_columns columns = {.x = hs_fused_cut_x(of),
                                       .multiprocessors = limits->multiprocessors};
    columns.tiles_x = columns.x.tiles;
    columns.tiles_y =
        hs_tile_overlapping(wide.hi[HS_Y] - wide.lo[HS_Y], rows, reach, of->face[2 * HS_Y].wrap);
    columns.z = cut(of, limits, columns.tiles_x, columns.tiles_y);
    const int64_t length = wide.hi[HS_Z] - wide.lo[HS_Z], whole = columns.z.whole;
    const int planes = (int)hs_divide_up(length, columns.z.chunks);
    const int block[HS_AXES] = {threads, 1, 1};
    hs_tile_set(of, HS_FUSED_X - 2 * fused_halo_x(of), rows - 2 * reach, planes, out);
    out->input_tile[HS_X] = HS_FUSED_X;
    out->input_tile[HS_Y] = rows;
    out->input_tile[HS_Z] = planes + 2 * reach;
    hs_tile_finish(of, &wide, block, out);
    out->blocks[HS_X] = columns.tiles_x;
    out->blocks[HS_Y] = columns.tiles_y;
    out->blocks[HS_Z] = columns.z.chunks;
    out->launched = whole + (columns.tiles_x * columns.tiles_y - whole) * columns.z.chunks;
    if (whole > 0) {
        const int64_t others = out->launched - whole;
        const int64_t loaded = whole * (length + 2 * reach) + others * (planes + 2 * reach);
        const int64_t written = whole * length + others * planes;
        out->points_loaded = out->points_loaded / (planes + 2 * reach) * loaded / out->launched;
        out->points_written = out->points_written / planes * written / out->launched;
    }
    return columns;
}

bool hs_fused_large_enough(const char *name, const struct hs_case *of, const int least[HS_AXES],
                           int wrapping, char *reason, size_t size)
{
    const int64_t *points = of->layout.points;
    for (int axis = 0; axis < of->dims; axis++) {
        const int need = of->face[2 * axis].wrap ? wrapping : least[axis];
        if (points[axis] < need) {
            snprintf(reason, size, "%s needs at least %d points along %c, not %lld", name, need,
                     "xyz"[axis], (long long)points[axis]);
            return false;
        }
    }
    const int64_t nx = points[HS_X] + 64, ny = points[HS_Y] + 2, nz = points[HS_Z];
    const bool tables = of->asked & HS_SOURCE_FIELD_TIME;
    const int64_t most =
        UINT32_MAX / (int64_t)(tables ? sizeof(double) : hs_precision_size(of->precision));
    if (nx * ny > most || nx * nz > INT32_MAX || ny * nz > INT32_MAX) {
        snprintf(reason, size,
                 "%s needs planes of less than 4 GiB, and faces of fewer than 2^31 points", name);
        return false;
    }
    return true;
}
