#include "core/tiling.h"
#include "core/tiling_parts.h"
#include "core/tiling_resident.h"

#include <assert.h>
#include <string.h>

void hs_tiling_cover(const struct hs_box *box, const int tile[HS_AXES], int64_t blocks[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++)
        blocks[axis] = hs_divide_up(box->hi[axis] - box->lo[axis], tile[axis]);
}

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
    hs_tile_finish(sweep, t, out);
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
    hs_tile_finish(sweep, t, out);
    out->points_loaded = hs_tile_volume(out->input_tile);
    out->shared_bytes = out->points_loaded * (int64_t)hs_precision_size(sweep->precision);
}

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
    hs_tile_finish(sweep, t, out);
    out->points_loaded = hs_tile_volume(out->input_tile);
    out->shared_bytes = hs_tile_volume(t) * (int64_t)hs_precision_size(sweep->precision);
}

static void geometry_coarsened(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                               struct hs_geometry *out)
{
    geometry_register_tile(sweep, blocking, out);
    out->shared_bytes *= 2 * sweep->stencil->radius + 1;
}

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
    hs_tile_finish(sweep, t, out);
    out->points_loaded = hs_tile_star_points(sweep, out->output_tile);
    out->shared_bytes = (int64_t)out->input_tile[HS_X] * out->input_tile[HS_Y] *
                        (int64_t)hs_precision_size(sweep->precision);
}

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
    hs_tile_finish(sweep, t, out);
    out->points_loaded = hs_tile_star_points(sweep, out->output_tile);
    out->shared_bytes =
        hs_tile_volume(out->input_tile) * (int64_t)hs_precision_size(sweep->precision);
}

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
    hs_tile_finish(sweep, t, out);
    out->points_loaded = hs_tile_volume(out->input_tile);
    out->shared_bytes = out->points_loaded * (int64_t)hs_precision_size(sweep->precision);
}

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
    hs_tile_finish(sweep, t, out);
    /* every thread loads the ends of its window itself */
    out->points_loaded = hs_tile_volume(t) * (HS_WINDOW_POINTS + 2 * hs_tile_halo(sweep, HS_X));
}

static void geometry_warp_shuffle(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                  struct hs_geometry *out)
{
    const int *t = blocking->threads;
    hs_tile_set(sweep, t[HS_X], 1, 1, out);
    hs_tile_finish(sweep, t, out);
    out->points_loaded = t[HS_X] + hs_divide_up(t[HS_X], HS_WARP) * 2 * hs_tile_halo(sweep, HS_X);
}

/* ---- vector_march ---------------------------------------------------------------------------- */

static struct hs_blocking usual_vector_march(int dims, int radius, enum hs_precision precision)
{
    (void)radius, (void)precision;
    if (dims == 1)
        return (struct hs_blocking){{HS_VECTOR_1D_THREADS, 1, 1}, 0};
    return (struct hs_blocking){{HS_WARP, HS_VECTOR_WARPS, 1}, 0};
}

/*
 * How many rows a block marches through in 2D: as many as give the least time by this model, in
 * planes: waves of blocks times (planes + those loaded twice + a few for the first loads to
 * arrive).
 */
static int64_t chunk_planes(int64_t tiles, int64_t planes, int radius, int64_t wave)
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

static void geometry_vector_march(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                  struct hs_geometry *out)
{
    const int dims = sweep->stencil->dims, radius = sweep->stencil->radius;
    const int size = (int)hs_precision_size(sweep->precision), vector = HS_VECTOR_BYTES / size;
    const int line = 128 / size; /* rows of a warp begin at multiples of it */
    const int *t = blocking->threads;
    struct hs_sweep aligned = *sweep;
    aligned.box.lo[HS_X] = sweep->box.lo[HS_X] / line * line;
    const int64_t *lo = aligned.box.lo, *hi = aligned.box.hi;
    if (dims == 1) {
        hs_tile_set(sweep, t[HS_X] * vector * HS_VECTOR_1D_VECTORS, 1, 1, out);
    } else if (dims == 2) {
        const int x = t[HS_X] * t[HS_Y] * vector;
        static const int fit[] = {0, HS_VECTOR_2D_BLOCKS_1, HS_VECTOR_2D_BLOCKS_2,
                                  HS_VECTOR_2D_BLOCKS_3};
        const int64_t planes =
            chunk_planes(hs_divide_up(hi[HS_X] - lo[HS_X], x), hi[HS_Y] - lo[HS_Y], radius,
                         HS_MULTIPROCESSORS * fit[radius]);
        hs_tile_set(sweep, x, blocking->planes ? blocking->planes : (int)planes, 1, out);
    } else {
        static const int rows[] = {0, HS_VECTOR_ROWS_1, HS_VECTOR_ROWS_2, HS_VECTOR_ROWS_3};
        const int x = t[HS_X] * vector, y = t[HS_Y] * rows[radius];
        const int planes = radius < 3 ? HS_VECTOR_PLANES : 2 * HS_VECTOR_PLANES;
        hs_tile_set(sweep, x, y, blocking->planes ? blocking->planes : planes, out);
    }
    hs_tile_finish(&aligned, t, out);
    out->points_updated = hs_box_count(&sweep->box);
    out->points_loaded = hs_tile_star_points(sweep, out->output_tile);
}

/* ---- bulk_march: a block of this size has a multiprocessor to itself --------------------------
 */

static int bulk_threads(int dims, bool large)
{
    const int above = large ? HS_BULK_Y_LARGE : HS_BULK_Y;
    return HS_WARP * ((dims == 2 ? HS_BULK_X_2D : HS_BULK_X * above) + HS_BULK_COPYING);
}

static struct hs_blocking usual_bulk_march(int dims, int radius, enum hs_precision precision)
{
    (void)radius, (void)precision;
    return (struct hs_blocking){{bulk_threads(dims, false), 1, 1}, 0};
}

/* The chunks along the axis that is marched along are such that the multiprocessors end together.
 */
static void geometry_bulk_march(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                struct hs_geometry *out)
{
    const int dims = sweep->stencil->dims, radius = sweep->stencil->radius, march = dims - 1;
    const int size = (int)hs_precision_size(sweep->precision), vector = HS_VECTOR_BYTES / size;
    const int line = HS_BULK_LINE_BYTES / size;
    struct hs_sweep aligned = *sweep;
    aligned.box.lo[HS_X] = sweep->box.lo[HS_X] / line * line;
    const int64_t *lo = aligned.box.lo, *hi = aligned.box.hi;
    const int x = (dims == 2 ? HS_BULK_X_2D : HS_BULK_X) * HS_WARP * vector;
    int64_t tiles = hs_divide_up(hi[HS_X] - lo[HS_X], x), columns = tiles;
    bool large = false;
    if (dims == 3) {
        const int64_t rows = hi[HS_Y] - lo[HS_Y];
        large = radius == 1 &&
                columns * hs_divide_up(rows, hs_bulk_rows(dims, false)) > HS_MULTIPROCESSORS;
        tiles = columns * hs_divide_up(rows, hs_bulk_rows(dims, large));
    }
    const int own = hs_bulk_rows(dims, large), stage = dims == 2 ? own : 1; /* planes of a stage */
    const int64_t planes =
        blocking->planes ? blocking->planes
                         : stage * chunk_planes(tiles, hs_divide_up(hi[march] - lo[march], stage),
                                                radius, HS_MULTIPROCESSORS);
    hs_tile_set(sweep, x, dims == 2 ? (int)planes : own, dims == 2 ? 1 : (int)planes, out);
    const int threads[HS_AXES] = {bulk_threads(dims, large), 1, 1};
    hs_tile_finish(&aligned, threads, out);
    out->points_updated = hs_box_count(&sweep->box);
    out->points_loaded = hs_tile_volume(out->input_tile);
    const bool source = sweep->source != NULL;
    const int stages = hs_bulk_stages(dims, radius, large, source), barriers = 3 * 8 * stages;
    const int64_t all = stages * hs_bulk_stage_bytes(dims, radius, large, source) + barriers +
                        hs_bulk_end_bytes(dims, radius, large);
    out->shared_bytes = hs_divide_up(all, HS_BULK_LINE_BYTES) * HS_BULK_LINE_BYTES;
}

/* ---- temporal: tile with a halo of radius*steps ---------------------------------------------- */

static struct hs_blocking usual_temporal(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){{HS_WARP, HS_TEMPORAL_THREADS / HS_WARP, 1}, 0};
}

struct hs_sweep hs_tiling_with_held(const struct hs_sweep *sweep)
{
    struct hs_sweep wide = *sweep;
    for (int axis = 0; axis < sweep->stencil->dims; axis++) {
        const int below = sweep->face[2 * axis].held, above = sweep->face[2 * axis + 1].held;
        if (wide.box.lo[axis] == below)
            wide.box.lo[axis] = 0;
        if (wide.box.hi[axis] == sweep->layout.points[axis] - above)
            wide.box.hi[axis] = sweep->layout.points[axis];
    }
    return wide;
}

static void temporal(const struct hs_sweep *sweep, const int threads[HS_AXES],
                     const int tile[HS_AXES], struct hs_geometry *out)
{
    hs_tile_set(sweep, tile[HS_X], tile[HS_Y], tile[HS_Z], out);
    const int steps = sweep->steps > 0 ? sweep->steps : 1;
    for (int axis = 0; axis < HS_AXES; axis++)
        out->input_tile[axis] = tile[axis] + 2 * hs_tile_halo(sweep, axis) * steps;
    const struct hs_sweep wide = hs_tiling_with_held(sweep);
    hs_tile_finish(&wide, threads, out);
    out->points_updated = hs_box_count(&sweep->box);
    out->points_loaded = hs_tile_volume(out->input_tile);
    out->shared_bytes = 2 * out->points_loaded * (int64_t)hs_precision_size(sweep->precision);
    out->flops_per_point *= steps;
}

/* The output tiles leave both halves within 64 KiB, what the smallest device has: in double and
 * with the most steps, (64 + 16) x (32 + 16) and (32 + 24) x (32 + 24) points twice ... */
static void geometry_temporal_2d(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                 struct hs_geometry *out)
{
    const int x = sweep->stencil->radius < 3 ? 2 * HS_TEMPORAL_2D : HS_TEMPORAL_2D;
    const int tile[HS_AXES] = {x, HS_TEMPORAL_2D, 1};
    temporal(sweep, blocking->threads, tile, out);
}

/* ... and (16 + 4) x 12 x 12 with radius 1, (8 + 8)^3 with radius 2. */
static void geometry_temporal_3d(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                 struct hs_geometry *out)
{
    int x = HS_TEMPORAL_3D;
    x *= sweep->stencil->radius == 1 ? 2 : 1;
    x *= sweep->precision == HS_FLOAT ? 2 : 1;
    const int tile[HS_AXES] = {x, HS_TEMPORAL_3D, HS_TEMPORAL_3D};
    temporal(sweep, blocking->threads, tile, out);
}

/* ---- fused marches: all planes of a level at once in a tile, chunks along z ------------------ */

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

int64_t hs_fused_tiles(int64_t n, int size, int rim, bool wrap)
{
    const int stored = size - 2 * rim;
    if (wrap)
        return (n + stored - 1) / stored;
    return n <= size ? 1 : 1 + (n - size + stored - 1) / stored;
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

/* Nodes that a node's last value depends on lie so far away along an axis. */
static int fused_reach(const struct hs_sweep *sweep)
{
    return sweep->stencil->radius * (sweep->steps > 0 ? sweep->steps : 1);
}

static int fused_rim_x(const struct hs_sweep *sweep)
{
    const int width = sweep->precision == HS_FLOAT ? 4 : 2; /* points in 16 bytes */
    return (fused_reach(sweep) + width - 1) / width * width;
}

struct hs_fused_cut hs_fused_cut_x(const struct hs_sweep *sweep)
{
    const bool is_float = sweep->precision == HS_FLOAT;
    const int size = is_float ? HS_FUSED_X_FLOAT : HS_FUSED_X_DOUBLE, sector = is_float ? 8 : 4;
    const struct hs_sweep wide = hs_tiling_with_held(sweep);
    return fused_cut(wide.box.hi[HS_X] - wide.box.lo[HS_X], size, fused_rim_x(sweep), sector,
                     (int)(sweep->layout.origin % sector), sweep->face[2 * HS_X].wrap);
}

/* By how many points node 0 of a row had better lie beyond a multiple of 32 bytes: in float the
 * first tile could store half a sector more than whole ones, and where no more is missing than that
 * there is a tile less: 9 instead of 10 for 512 points. */
static int fused_offset(enum hs_precision precision, int64_t points_x, bool wrap)
{
    enum { RIM = 4, SECTOR = 8, HALF = 4 };
    if (precision != HS_FLOAT || wrap) /* other tiles store as much as they can anyway */
        return 0;
    const int64_t usual = fused_cut(points_x, HS_FUSED_X_FLOAT, RIM, SECTOR, 0, wrap).tiles;
    const int64_t moved = fused_cut(points_x, HS_FUSED_X_FLOAT, RIM, SECTOR, HALF, wrap).tiles;
    return moved < usual ? HALF : 0;
}

/* Multiprocessors that are free from the same time on; and all of them, the earliest first. */
struct fused_free {
    int64_t at, count;
};
struct fused_clock {
    struct fused_free free[HS_MULTIPROCESSORS];
    int n;
};

static void fused_set_free(struct fused_clock *clock, struct fused_free who)
{
    int i = clock->n;
    while (i > 0 && clock->free[i - 1].at > who.at)
        i--;
    if (i > 0 && clock->free[i - 1].at == who.at) {
        clock->free[i - 1].count += who.count;
        return;
    }
    memmove(&clock->free[i + 1], &clock->free[i], (size_t)(clock->n - i) * sizeof who);
    clock->free[i] = who;
    clock->n++;
}

/* Every block goes to the multiprocessor that is free first. */
static void fused_hand_out(struct fused_clock *clock, int64_t blocks, int64_t takes)
{
    while (blocks > 0) {
        struct fused_free *const first = &clock->free[0];
        const int64_t at = first->at, some = blocks < first->count ? blocks : first->count;
        first->count -= some;
        if (first->count == 0)
            memmove(first, first + 1, (size_t)--clock->n * sizeof *first);
        fused_set_free(clock, (struct fused_free){at + takes, some});
        blocks -= some;
    }
}

/* What the chunks depend on. */
struct fused_columns {
    int64_t rims, inner; /* columns at faces of x and y, which come first, and others */
    int64_t planes;
    int64_t longest; /* chunk, in planes */
    int reach;
    int ends; /* the planes do not wrap */
};

/*
 * When the last multiprocessor is done, in tenths of what a plane takes inside. A chunk is marched
 * with 2*reach planes more, to fill and to drain, and takes 3 for its beginning; to meet an end of
 * the grid takes 6. Columns at faces take a fifth longer (measured: 1.05 to 1.35 times).
 */
static int64_t fused_time(const struct fused_columns *of, const struct hs_fused_chunks *cut)
{
    struct fused_clock clock = {.free = {{0, HS_MULTIPROCESSORS}}, .n = 1};
    for (int k = 0; k < cut->chunks; k++) {
        const int64_t length = hs_fused_chunk(of->planes, cut->chunks, cut->taper, k + 1) -
                               hs_fused_chunk(of->planes, cut->chunks, cut->taper, k);
        const int met = of->ends ? (k == 0) + (k + 1 == cut->chunks) : 0;
        const int64_t takes = length + 2 * of->reach + 3 + 6 * met;
        fused_hand_out(&clock, of->rims, 12 * takes);
        fused_hand_out(&clock, of->inner, 10 * takes);
    }
    return clock.free[clock.n - 1].at;
}

/*
 * Multiprocessors end together where the last blocks are short, though these fill and drain as long
 * as others: 4 chunks of 512^3 with walls, float, gave 2.27, 2.34, 2.37 and 2.44 of the copy with
 * tapers of 0, 4, 6 and 8, and 4 of 640^3, periodic, with 8 gave 2.89 where 8 equal ones gave 2.68.
 * Chunks are not longer where planes are large: 1024^3 gave 2.33 in chunks of 205 planes, 2.37 to
 * 2.39 of 128, in double the same for both; that blocks drift apart along z is a guess. Where every
 * multiprocessor has many blocks, more of them would balance no better.
 */
static struct hs_fused_chunks fused_chunks(const struct fused_columns *of)
{
    enum { ENOUGH = 64 * HS_MULTIPROCESSORS, MOST = 23, MOST_TAPER = 8 };
    const int from = (int)hs_divide_up(of->planes > 0 ? of->planes : 1, of->longest);
    struct hs_fused_chunks best = {from, 0};
    int64_t least = INT64_MAX;
    for (int chunks = from; chunks <= from + MOST; chunks++) {
        if (chunks > from &&
            (of->planes / chunks < 2 * of->reach || (of->rims + of->inner) * chunks > ENOUGH))
            break;
        for (int taper = 0; taper <= (chunks > 1 ? MOST_TAPER : 0); taper += 2) {
            const struct hs_fused_chunks cut = {chunks, taper};
            if (taper > 0 && hs_fused_chunk(of->planes, chunks, taper, 1) > of->longest)
                break;
            const int64_t time = fused_time(of, &cut);
            if (time < least - least / 1000) {
                least = time;
                best = cut;
            }
        }
    }
    return best;
}

struct hs_fused_chunks hs_fused_cut_z(const struct hs_sweep *sweep, int64_t tiles_x,
                                      int64_t tiles_y)
{
    /* the last answer: a run asks the same before every launch, and it takes tens of microseconds
     */
    static _Thread_local struct fused_columns asked;
    static _Thread_local struct hs_fused_chunks answered;
    const struct hs_sweep wide = hs_tiling_with_held(sweep);
    const int64_t inner_x = tiles_x - (sweep->face[2 * HS_X].wrap ? 0 : 2);
    const int64_t inner_y = tiles_y - (sweep->face[2 * HS_Y].wrap ? 0 : 2);
    const int64_t area =
        (wide.box.hi[HS_X] - wide.box.lo[HS_X]) * (wide.box.hi[HS_Y] - wide.box.lo[HS_Y]);
    const int64_t longest = area > 0 ? HS_FUSED_CHUNK / area : HS_FUSED_PLANES;
    struct fused_columns of = {.planes = wide.box.hi[HS_Z] - wide.box.lo[HS_Z],
                               .longest = longest < HS_FUSED_PLANES / 2 ? HS_FUSED_PLANES / 2
                                          : longest > HS_FUSED_PLANES   ? HS_FUSED_PLANES
                                                                        : longest,
                               .reach = fused_reach(sweep),
                               .ends = !sweep->face[2 * HS_Z].wrap};
    of.inner = inner_x > 0 && inner_y > 0 ? inner_x * inner_y : 0;
    of.rims = tiles_x * tiles_y - of.inner;
    if (memcmp(&of, &asked, sizeof of) != 0) {
        answered = fused_chunks(&of);
        asked = of;
    }
    return answered;
}

static struct hs_blocking usual_fused(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){.threads = {HS_WARP * HS_FUSED_WARPS, 1, 1}};
}

/* All but shared memory, with tiles of so many rows. */
static void fused_tiles(const struct hs_sweep *sweep, const int threads[HS_AXES], int rows,
                        struct hs_geometry *out)
{
    const int steps = sweep->steps > 0 ? sweep->steps : 1, reach = fused_reach(sweep);
    const int size[HS_AXES] = {sweep->precision == HS_FLOAT ? HS_FUSED_X_FLOAT : HS_FUSED_X_DOUBLE,
                               rows, 1};
    const struct hs_sweep wide = hs_tiling_with_held(sweep);
    hs_tile_set(sweep, size[HS_X] - 2 * fused_rim_x(sweep), size[HS_Y] - 2 * reach, 1, out);
    hs_tile_finish(&wide, threads, out);
    out->blocks[HS_X] = hs_fused_cut_x(sweep).tiles;
    out->blocks[HS_Y] = hs_fused_tiles(wide.box.hi[HS_Y] - wide.box.lo[HS_Y], size[HS_Y], reach,
                                       sweep->face[2 * HS_Y].wrap);
    const int64_t planes = wide.box.hi[HS_Z] - wide.box.lo[HS_Z];
    out->blocks[HS_Z] = hs_fused_cut_z(sweep, out->blocks[HS_X], out->blocks[HS_Y]).chunks;
    out->output_tile[HS_Z] = (int)((planes + out->blocks[HS_Z] - 1) / out->blocks[HS_Z]);
    for (int axis = 0; axis < HS_Z; axis++)
        out->input_tile[axis] = size[axis];
    out->input_tile[HS_Z] = out->output_tile[HS_Z] + 2 * reach;
    out->points_updated = hs_box_count(&sweep->box);
    out->points_loaded = hs_tile_volume(out->input_tile);
    out->points_written = hs_tile_volume(out->output_tile);
    out->flops_per_point *= steps;
}

static void geometry_fused(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                           struct hs_geometry *out)
{
    fused_tiles(sweep, blocking->threads, hs_fused_tile_y(sweep->precision), out);
    /* the queue of level 0, and a line as far as which its rows may begin later; two edge rows of
     * every group of lanes, at the other levels, twice; and two barriers a warp */
    const int *size = out->input_tile, width = sweep->precision == HS_FLOAT ? 4 : 2;
    const int64_t vectors = size[HS_X] / width, groups = size[HS_Y] / HS_FUSED_ROWS + 2;
    const int64_t edges = sweep->steps > 1 ? sweep->steps - 1 : 1;
    out->shared_bytes = 16 * vectors * (HS_FUSED_DEPTH * size[HS_Y] + 2 * edges * groups * 2) +
                        HS_FUSED_LINE_BYTES + 2 * HS_FUSED_WARPS * 8;
}

/* ---- fused_wide_3d: the same with other tiles, whole planes of both levels in shared memory ---
 */

static struct hs_blocking usual_wide(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){.threads = {HS_WARP * HS_WIDE_WARPS, 1, 1}};
}

static void geometry_wide(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                          struct hs_geometry *out)
{
    fused_tiles(sweep, blocking->threads, hs_wide_tile_y(sweep->precision), out);
    /* planes of both levels, with R rows on each side, and a line as far as which rows may begin
     * later; two barriers a warp; what stretches of steps meet */
    const int64_t row = out->input_tile[HS_X] * (int64_t)hs_precision_size(sweep->precision);
    const int64_t rows = out->input_tile[HS_Y] + 2 * sweep->stencil->radius;
    const int planes = HS_WIDE_DEPTH + (sweep->steps > 1 ? HS_WIDE_PASSED : 0);
    out->shared_bytes = planes * rows * row + HS_FUSED_LINE_BYTES + 2 * HS_WIDE_WARPS * 8 + 32;
}

/* ---- fused_line_1d: a warp a line, most of it stored ----------------------------------------- */

int hs_line_width(const struct hs_sweep *sweep)
{
    if (sweep->layout.points[HS_X] >= HS_LINE_LONG)
        return HS_LINE_WIDTH;
    return sweep->stencil->radius == 1 ? HS_LINE_LEAST_1 : HS_LINE_LEAST_23;
}

int hs_line_rim(const struct hs_sweep *sweep)
{
    const int vector = HS_VECTOR_BYTES / (int)hs_precision_size(sweep->precision);
    const int reach = sweep->stencil->radius * (sweep->steps > 0 ? sweep->steps : 1);
    return (reach + vector - 1) / vector * vector;
}

static struct hs_blocking usual_fused_line(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius, (void)precision;
    return (struct hs_blocking){.threads = {HS_WARP * HS_LINE_WARPS, 1, 1}};
}

static void geometry_fused_line(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                                struct hs_geometry *out)
{
    const int size = (int)hs_precision_size(sweep->precision), rim = hs_line_rim(sweep);
    const int points = HS_WARP * hs_line_width(sweep);
    const struct hs_sweep wide = hs_tiling_with_held(sweep);
    hs_tile_set(sweep, HS_LINE_WARPS * (points - 2 * rim), 1, 1, out);
    hs_tile_finish(&wide, blocking->threads, out);
    const int64_t lines = hs_fused_tiles(wide.box.hi[HS_X] - wide.box.lo[HS_X], points, rim,
                                         sweep->face[2 * HS_X].wrap);
    out->blocks[HS_X] = hs_divide_up(lines, HS_LINE_WARPS);
    out->input_tile[HS_X] = HS_LINE_WARPS * points;
    out->points_updated = hs_box_count(&sweep->box);
    out->points_loaded = hs_tile_volume(out->input_tile);
    out->flops_per_point *= sweep->steps > 0 ? sweep->steps : 1;
    /* a lane's points, and 16 bytes so that banks differ */
    out->shared_bytes = (int64_t)blocking->threads[HS_X] * (points / HS_WARP * size + 16);
}

/* ---- fused_march_2d: strips of overlapping warps, which blocks share ------------------------- */

/* Points of so many warps side by side, which overlap by two lanes. */
static int strip_points(int width, int warps)
{
    return width * (30 * (warps - 1) + HS_WARP);
}

struct hs_strip_cut hs_strip_cuts(const struct hs_sweep *sweep)
{
    const bool single = sweep->precision == HS_FLOAT;
    const int size = (int)hs_precision_size(sweep->precision);
    const int steps = sweep->steps > 0 ? sweep->steps : 1;
    const int width = single ? HS_STRIP_WIDTH_FLOAT : HS_STRIP_WIDTH_DOUBLE;
    const int deepest = single ? HS_STRIP_DEEP_FLOAT : HS_STRIP_DEEP_DOUBLE;
    const bool wrap_x = sweep->face[2 * HS_X].wrap;
    const struct hs_sweep wide = hs_tiling_with_held(sweep);
    const int64_t nx = wide.box.hi[HS_X] - wide.box.lo[HS_X];
    const int64_t ny = wide.box.hi[HS_Y] - wide.box.lo[HS_Y];
    struct hs_strip_cut cut = {.groups = hs_divide_up(steps, deepest)};
    const int deep = hs_divide_up(steps, cut.groups);
    cut.warps = single ? HS_STRIP_WARPS_FLOAT : HS_STRIP_WARPS_DOUBLE;
    while (cut.warps > 1 && strip_points(width, cut.warps) > nx)
        cut.warps--;
    cut.points = strip_points(width, cut.warps);
    cut.rim = hs_divide_up(steps, HS_VECTOR_BYTES / size) * (HS_VECTOR_BYTES / size);
    cut.stored = cut.points - 2 * cut.rim;
    /* as in hs_fused_cut_x: rows are stored from multiples of 32 bytes */
    cut.lead = wrap_x ? cut.stored : (cut.points - cut.rim) / (32 / size) * (32 / size);
    const int64_t more = wrap_x ? nx - cut.stored : nx - cut.points - cut.lead + cut.rim;
    cut.strips = nx <= (wrap_x ? cut.stored : cut.points) ? 1
                 : wrap_x                                 ? 1 + hs_divide_up(more, cut.stored)
                 : more > 0                               ? 2 + hs_divide_up(more, cut.stored)
                                                          : 2;
    cut.fill = 2 * steps;
    /* Measured on an H200, which moves only where blocks end, so that a wrong one costs time, not
     * values: 4 to 24 rows a level at faces make no difference that could be seen. Outer strips
     * that are counted as a sixteenth too cheap cost 1 to 4 %, as one too dear 0.2 %: with held
     * faces 18 to 21 sixteenths do, with others in double more than 23, across a wrap more than 24.
     */
    const bool held = sweep->face[2 * HS_X].held && sweep->face[2 * HS_X + 1].held;
    cut.slow = 12 * deep;
    cut.outer = wrap_x ? 29 : held ? 21 : 26;
    const int64_t blocks = HS_MULTIPROCESSORS * (int64_t)(cut.groups > 2 ? 1
                                                          : single       ? HS_STRIP_BLOCKS_FLOAT
                                                                         : HS_STRIP_BLOCKS_DOUBLE);
    const int64_t most = cut.strips * ny / 8;
    cut.blocks = (int)(most < 1 ? 1 : most < blocks ? most : blocks);
    return cut;
}

static struct hs_blocking usual_strip(int dims, int radius, enum hs_precision precision)
{
    (void)dims, (void)radius;
    const int warps = precision == HS_FLOAT ? HS_STRIP_WARPS_FLOAT : HS_STRIP_WARPS_DOUBLE;
    return (struct hs_blocking){.threads = {HS_WARP * warps, 1, 1}};
}

static void geometry_strip(const struct hs_sweep *sweep, const struct hs_blocking *blocking,
                           struct hs_geometry *out)
{
    const struct hs_strip_cut cut = hs_strip_cuts(sweep);
    const int steps = sweep->steps > 0 ? sweep->steps : 1;
    const int size = (int)hs_precision_size(sweep->precision);
    const struct hs_sweep wide = hs_tiling_with_held(sweep);
    const int64_t rows = wide.box.hi[HS_Y] - wide.box.lo[HS_Y];
    const int deep = hs_divide_up(steps, cut.groups), threads = HS_WARP * cut.warps * cut.groups;
    const int tile = hs_divide_up(rows, hs_divide_up(cut.blocks, cut.strips));
    hs_tile_set(sweep, cut.stored, tile, 1, out);
    hs_tile_finish(&wide, blocking->threads, out);
    out->threads[HS_X] = threads;
    /* about: cut.blocks is no multiple of the strips, of which a block may have parts of two */
    out->blocks[HS_X] = cut.strips;
    out->blocks[HS_Y] = hs_divide_up(rows, tile);
    out->input_tile[HS_X] = cut.points;
    out->input_tile[HS_Y] = out->output_tile[HS_Y] + 2 * steps;
    out->points_updated = hs_box_count(&sweep->box);
    out->points_loaded = hs_tile_volume(out->input_tile);
    out->points_written = hs_tile_volume(out->output_tile);
    out->flops_per_point *= steps;
    /* rows on their way to each group and to memory; of a warp that is alone in its block also
     * those of its levels, at the ends of y, where the last ones are elsewhere */
    const int row = HS_WARP * (cut.points / (30 * cut.warps + 2)) * size;
    const int places = 2 * HS_STRIP_PLACES * cut.warps;
    const bool alone = cut.groups == 1 && blocking->threads[0] == HS_WARP;
    const int last = alone && 2 * deep > places ? 2 * deep : places;
    out->shared_bytes = (int64_t)row * (places * cut.groups + last);
}

/* ---- the rows -------------------------------------------------------------------------------- */

#define D(n) (1u << (n))
#define ALL (D(1) | D(2) | D(3))
#define EACH(steps)                                                                                \
    {                                                                                              \
        steps, steps                                                                               \
    } /* precision */

const struct hs_tiling hs_tilings[] = {
    {"basic", ALL, ALL, EACH(1), true, usual_basic, geometry_basic},
    {"shared_tile", ALL, ALL, EACH(1), true, usual_shared_tile, geometry_shared_tile},
    {"coarsened", D(3), ALL, EACH(1), true, usual_coarsened, geometry_coarsened},
    {"register_tile", D(3), ALL, EACH(1), true, usual_coarsened, geometry_register_tile},
    {"march_halo", D(3), ALL, EACH(1), true, usual_march_halo, geometry_march_halo},
    {"tile_2d", D(2), ALL, EACH(1), true, usual_tile_2d, geometry_tile_2d},
    {"collaborative_2d", D(2), ALL, EACH(1), false, usual_collaborative_2d,
     geometry_collaborative_2d},
    {"register_window", D(1), ALL, EACH(1), false, usual_line, geometry_register_window},
    {"warp_shuffle", D(1), ALL, EACH(1), false, usual_line, geometry_warp_shuffle},
    {"vector_march", ALL, ALL, EACH(1), false, usual_vector_march, geometry_vector_march},
    {"bulk_march", D(2) | D(3), ALL, EACH(1), false, usual_bulk_march, geometry_bulk_march},
    {"temporal_2d", D(2), ALL, EACH(HS_TEMPORAL_STEPS_2D), false, usual_temporal,
     geometry_temporal_2d},
    {"temporal_3d", D(3), D(1) | D(2), EACH(HS_TEMPORAL_STEPS_3D), false, usual_temporal,
     geometry_temporal_3d},
    {"fused_march_3d", D(3), D(1), EACH(HS_FUSED_STEPS), false, usual_fused, geometry_fused},
    {"fused_fields_3d", D(3), D(1), EACH(HS_FUSED_SOURCE_STEPS), false, usual_fused,
     geometry_fused},
    {"fused_wide_3d", D(3), D(2), EACH(HS_WIDE_STEPS), false, usual_wide, geometry_wide},
    {"fused_march_2d",
     D(2),
     D(1),
     {HS_STRIP_STEPS_FLOAT, HS_STRIP_STEPS_DOUBLE},
     false,
     usual_strip,
     geometry_strip},
    {"fused_line_1d", D(1), ALL, EACH(HS_LINE_STEPS), false, usual_fused_line, geometry_fused_line},

    {"resident", D(2) | D(3), D(1), EACH(HS_RESIDENT_STEPS), false, hs_tiling_resident_usual,
     hs_tiling_resident_geometry},
    {NULL, 0, 0, {0}, false, NULL, NULL},
};

const struct hs_tiling *hs_tiling_find(const char *kernel)
{
    for (const struct hs_tiling *tiling = hs_tilings; tiling->kernel; tiling++)
        if (strcmp(tiling->kernel, kernel) == 0)
            return tiling;
    return NULL;
}

void hs_tiling_launch(const char *kernel, const struct hs_sweep *sweep, struct hs_geometry *out)
{
    const struct hs_tiling *tiling = hs_tiling_find(kernel);
    assert(tiling);
    const struct hs_blocking blocking =
        tiling->usual(sweep->stencil->dims, sweep->stencil->radius, sweep->precision);
    tiling->geometry(sweep, &blocking, out);
}

struct hs_layout hs_tiling_layout(const char *kernel, enum hs_precision precision,
                                  const struct hs_face *face, const struct hs_layout *layout)
{
    const struct hs_tiling *tiling = hs_tiling_find(kernel);
    if (!tiling || tiling->geometry != geometry_fused)
        return *layout;
    return hs_layout_moved(*layout,
                           fused_offset(precision, layout->points[HS_X], face[2 * HS_X].wrap));
}

double hs_geometry_intensity(const struct hs_geometry *geometry, enum hs_precision precision)
{
    return geometry->flops_per_point * (double)geometry->points_written /
           ((double)geometry->points_loaded * (double)hs_precision_size(precision));
}

double hs_geometry_halo_share(const struct hs_geometry *geometry)
{
    return 1.0 - (double)geometry->points_written / (double)geometry->points_loaded;
}
