#include "columns.h"

int hs_fused_tile_y(enum hs_precision precision)
{
    const int lanes = precision == HS_FLOAT ? HS_FUSED_X_FLOAT / 4 : HS_FUSED_X_DOUBLE / 2;
    return HS_FUSED_WARPS * HS_WARP / lanes * HS_FUSED_ROWS;
}

struct hs_fused_cut hs_fused_make_cut(int64_t n, int size, int halo, int grain, int offset,
                                      bool wrap)
{
    const int others = (size - 2 * halo) / grain * grain;
    const int first = wrap ? others : (size - halo + offset) / grain * grain - offset;
    struct hs_fused_cut cut = {1, first, others};
    if (wrap)
        cut.tiles = hs_divide_up(n, others);
    else if (n > size) /* the last tile, moved back, begins its halo where those before it end */
        cut.tiles = 2 + hs_divide_up(n - size + halo - first, others);
    return cut;
}

static int fused_halo_x(const struct hs_sweep *sweep)
{
    const int width = sweep->precision == HS_FLOAT ? 4 : 2; /* points in 16 bytes */
    return (int)hs_divide_up(hs_tile_reach(sweep), width) * width;
}

struct hs_fused_cut hs_fused_cut_x(const struct hs_sweep *sweep)
{
    const bool is_float = sweep->precision == HS_FLOAT;
    const int size = is_float ? HS_FUSED_X_FLOAT : HS_FUSED_X_DOUBLE, sector = is_float ? 8 : 4;
    const struct hs_box wide = hs_tiling_with_held(sweep);
    return hs_fused_make_cut(wide.hi[HS_X] - wide.lo[HS_X], size, fused_halo_x(sweep), sector,
                             (int)(sweep->layout.origin % sector), sweep->face[2 * HS_X].wrap);
}

int hs_fused_offset(enum hs_precision precision, const struct hs_face *face,
                    const struct hs_layout *layout)
{
    enum { HALO = 4, SECTOR = 8, HALF = 4 };
    const int64_t points_x = layout->points[HS_X];
    const bool wrap = face[2 * HS_X].wrap;
    if (precision != HS_FLOAT || wrap) /* other tiles store as much as they can anyway */
        return 0;
    const int64_t usual =
        hs_fused_make_cut(points_x, HS_FUSED_X_FLOAT, HALO, SECTOR, 0, wrap).tiles;
    const int64_t moved =
        hs_fused_make_cut(points_x, HS_FUSED_X_FLOAT, HALO, SECTOR, HALF, wrap).tiles;
    return moved < usual ? HALF : 0;
}

void hs_fused_tiles(const struct hs_sweep *sweep, const int threads[HS_AXES], int rows,
                    hs_fused_cut_of *cut, struct hs_geometry *out)
{
    const int points = sweep->precision == HS_FLOAT ? HS_FUSED_X_FLOAT : HS_FUSED_X_DOUBLE;
    const int reach = hs_tile_reach(sweep);
    const struct hs_box wide = hs_tiling_with_held(sweep);
    const int64_t tiles_x = hs_fused_cut_x(sweep).tiles;
    const int64_t tiles_y =
        hs_tile_overlapping(wide.hi[HS_Y] - wide.lo[HS_Y], rows, reach, sweep->face[2 * HS_Y].wrap);
    const struct hs_fused_chunks z = cut(sweep, tiles_x, tiles_y);
    const int64_t length = wide.hi[HS_Z] - wide.lo[HS_Z];
    const int planes = (int)hs_divide_up(length, z.chunks);
    hs_tile_set(sweep, points - 2 * fused_halo_x(sweep), rows - 2 * reach, planes, out);
    out->input_tile[HS_X] = points;
    out->input_tile[HS_Y] = rows;
    out->input_tile[HS_Z] = planes + 2 * reach;
    hs_tile_finish(sweep, &wide, threads, out);
    out->blocks[HS_X] = tiles_x;
    out->blocks[HS_Y] = tiles_y;
    out->blocks[HS_Z] = z.chunks;
    out->whole = z.whole;
    if (z.whole > 0) {
        const int64_t blocks = hs_geometry_blocks(out), others = blocks - z.whole;
        const int64_t loaded = z.whole * (length + 2 * reach) + others * (planes + 2 * reach);
        const int64_t written = z.whole * length + others * planes;
        out->points_loaded = out->points_loaded / (planes + 2 * reach) * loaded / blocks;
        out->points_written = out->points_written / planes * written / blocks;
    }
}
