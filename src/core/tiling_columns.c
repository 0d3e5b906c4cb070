#include "core/tiling_columns.h"
#include "core/tiling_chunks.h"
#include "core/tiling_parts.h"

int hs_fused_tile_y(enum hs_precision precision)
{
    const int lanes = precision == HS_FLOAT ? HS_FUSED_X_FLOAT / 4 : HS_FUSED_X_DOUBLE / 2;
    return HS_FUSED_WARPS * HS_WARP / lanes * HS_FUSED_ROWS;
}

int hs_wide_tile_y(enum hs_precision precision)
{
    const int lanes = HS_WIDE_X * (int)hs_precision_size(precision) / HS_VECTOR_BYTES;
    const int rows = precision == HS_FLOAT ? HS_WIDE_ROWS_FLOAT : HS_WIDE_ROWS_DOUBLE;
    return HS_WIDE_WARPS * HS_WARP / lanes * rows;
}

/* Tiles begin to store where multiples of `grain` do, of which node 0 is the `offset`-th point. */
static struct hs_fused_cut fused_cut(int64_t n, int size, int rim, int grain, int offset, bool wrap)
{
    const int others = (size - 2 * rim) / grain * grain;
    const int first = wrap ? others : (size - rim + offset) / grain * grain - offset;
    struct hs_fused_cut cut = {1, first, others};
    if (wrap)
        cut.tiles = hs_divide_up(n, others);
    else if (n > size) /* the last tile, moved back, begins its rim where those before it end */
        cut.tiles = 2 + hs_divide_up(n - size + rim - first, others);
    return cut;
}

static int fused_rim_x(const struct hs_sweep *sweep)
{
    const int width = sweep->precision == HS_FLOAT ? 4 : 2; /* points in 16 bytes */
    return (int)hs_divide_up(hs_tile_reach(sweep), width) * width;
}

struct hs_fused_cut hs_fused_cut_x(const struct hs_sweep *sweep)
{
    const bool is_float = sweep->precision == HS_FLOAT;
    const int size = is_float ? HS_FUSED_X_FLOAT : HS_FUSED_X_DOUBLE, sector = is_float ? 8 : 4;
    const struct hs_box wide = hs_tiling_with_held(sweep);
    return fused_cut(wide.hi[HS_X] - wide.lo[HS_X], size, fused_rim_x(sweep), sector,
                     (int)(sweep->layout.origin % sector), sweep->face[2 * HS_X].wrap);
}

/* By how many points node 0 of a row had better lie beyond a multiple of 32 bytes: in float the
 * first tile could store half a sector more than whole ones, and where no more is missing than that
 * there is a tile less: 9 instead of 10 for 512 points. */
static int fused_offset(enum hs_precision precision, const struct hs_face *face,
                        const struct hs_layout *layout)
{
    enum { RIM = 4, SECTOR = 8, HALF = 4 };
    const int64_t points_x = layout->points[HS_X];
    const bool wrap = face[2 * HS_X].wrap;
    if (precision != HS_FLOAT || wrap) /* other tiles store as much as they can anyway */
        return 0;
    const int64_t usual = fused_cut(points_x, HS_FUSED_X_FLOAT, RIM, SECTOR, 0, wrap).tiles;
    const int64_t moved = fused_cut(points_x, HS_FUSED_X_FLOAT, RIM, SECTOR, HALF, wrap).tiles;
    return moved < usual ? HALF : 0;
}

static struct hs_blocking usual_fused(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){.threads = {HS_WARP * HS_FUSED_WARPS, 1, 1}};
}

typedef struct hs_fused_chunks cut_z(const struct hs_sweep *sweep, int64_t tiles_x,
                                     int64_t tiles_y);

/* All but shared memory, with tiles of so many rows. */
static void fused_tiles(const struct hs_sweep *sweep, const int threads[HS_AXES], int rows,
                        cut_z *cut, struct hs_geometry *out)
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
    hs_tile_set(sweep, points - 2 * fused_rim_x(sweep), rows - 2 * reach, planes, out);
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

static void set_fused(const struct hs_sweep *sweep, const struct hs_blocking *blocking, cut_z *cut,
                      struct hs_geometry *out)
{
    fused_tiles(sweep, blocking->threads, hs_fused_tile_y(sweep->precision), cut, out);
    /* the queue of level 0, and a line as far as which its rows may begin later; two edge rows of
     * every group of lanes, at the other levels, twice; and two barriers a warp */
    const int *size = out->input_tile, width = sweep->precision == HS_FLOAT ? 4 : 2;
    const int64_t vectors = size[HS_X] / width, groups = size[HS_Y] / HS_FUSED_ROWS + 2;
    const int64_t edges = sweep->steps > 1 ? sweep->steps - 1 : 1;
    out->shared_bytes = 16 * vectors * (HS_FUSED_DEPTH * size[HS_Y] + 2 * edges * groups * 2) +
                        HS_FUSED_LINE_BYTES + 2 * HS_FUSED_WARPS * 8;
}

static void geometry_march(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                           struct hs_geometry *out)
{
    set_fused(sweep, blocking, hs_march_cut_z, out);
}

static void geometry_fields(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                            struct hs_geometry *out)
{
    set_fused(sweep, blocking, hs_fused_cut_z, out);
}

const struct hs_tiling hs_tiling_fused_march_3d = {
    .kernel = "fused_march_3d",
    .dims = 1u << 3,
    .radius = 1u << 1,
    .steps = {HS_FUSED_STEPS, HS_FUSED_STEPS},
    .usual = usual_fused,
    .geometry = geometry_march,
    .moves = fused_offset,
};

const struct hs_tiling hs_tiling_fused_fields_3d = {
    .kernel = "fused_fields_3d",
    .dims = 1u << 3,
    .radius = 1u << 1,
    .steps = {HS_FUSED_SOURCE_STEPS, HS_FUSED_SOURCE_STEPS},
    .usual = usual_fused,
    .geometry = geometry_fields,
    .moves = fused_offset,
};

/* ---- fused_wide_3d: the same with other tiles, whole planes of both levels in shared memory ---
 */

static struct hs_blocking usual_wide(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){.threads = {HS_WARP * HS_WIDE_WARPS, 1, 1}};
}

/* Blocks that do not march in step read rows that begin with sectors faster, whatever the tiles. */
static int wide_offset(enum hs_precision precision, const struct hs_face *face,
                       const struct hs_layout *layout)
{
    enum { RIM = 4, SECTOR = 8 };
    const int64_t nx = layout->points[HS_X], ny = layout->points[HS_Y];
    const int offset = fused_offset(precision, face, layout);
    if (offset == 0)
        return 0;
    const int64_t tiles_x = fused_cut(nx, HS_WIDE_X, RIM, SECTOR, offset, false).tiles;
    const int64_t tiles_y = hs_tile_overlapping(ny, hs_wide_tile_y(precision), RIM, false);
    return hs_wide_in_step(precision, face, nx, tiles_x, tiles_y) ? offset : 0;
}

static void geometry_wide(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                          struct hs_geometry *out)
{
    fused_tiles(sweep, blocking->threads, hs_wide_tile_y(sweep->precision), hs_wide_cut_z, out);
    /* planes of both levels, with R rows on each side, and a line as far as which rows may begin
     * later; two barriers a warp; what keeps blocks in step, and what stretches of steps meet */
    const int64_t row = out->input_tile[HS_X] * (int64_t)hs_precision_size(sweep->precision);
    const int64_t rows = out->input_tile[HS_Y] + 2 * sweep->stencil->radius;
    const int planes = HS_WIDE_DEPTH + (sweep->steps > 1 ? HS_WIDE_PASSED : 0);
    out->shared_bytes =
        planes * rows * row + HS_FUSED_LINE_BYTES + 2 * HS_WIDE_WARPS * 8 + HS_WIDE_PACE_BYTES + 32;
}

const struct hs_tiling hs_tiling_fused_wide_3d = {
    .kernel = "fused_wide_3d",
    .dims = 1u << 3,
    .radius = 1u << 2,
    .steps = {HS_WIDE_STEPS, HS_WIDE_STEPS},
    .usual = usual_wide,
    .geometry = geometry_wide,
    .moves = wide_offset,
};
