/* The launches of the ladder against the figures of Hwu, Kirk, El Hajj, 4th ed., ch. 8. */
#include "core/tiling.h"
#include "test.h"

#include <string.h>

/* The textbook's cube: n^3 points, the outermost layer held, seven points, float. */
struct cube {
    struct hs_sweep sweep;
    struct hs_stencil stencil;
    struct hs_face face[HS_FACES];
};

static void set_cube(struct cube *cube, int64_t n, int dims, int radius)
{
    *cube = (struct cube){.stencil = {.dims = dims, .radius = radius},
                          .sweep = {.precision = HS_FLOAT, .steps = 1}};
    cube->sweep.stencil = &cube->stencil;
    cube->sweep.face = cube->face;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int rim = axis < dims ? radius : 0;
        cube->sweep.layout.points[axis] = axis < dims ? n : 1;
        cube->sweep.box.lo[axis] = rim;
        cube->sweep.box.hi[axis] = cube->sweep.layout.points[axis] - rim;
        cube->face[2 * axis].held = cube->face[2 * axis + 1].held = rim;
    }
}

static struct hs_geometry launch(const char *kernel, int64_t n, int tx, int ty, int tz, int planes)
{
    struct cube cube;
    set_cube(&cube, n, 3, 1);
    const struct hs_blocking blocking = {{tx, ty, tz}, planes};
    struct hs_geometry g;
    hs_tiling_find(kernel)->geometry(&cube.sweep, &blocking, &g);
    return g;
}

static int64_t blocks(const struct hs_geometry *g)
{
    return g->blocks[0] * g->blocks[1] * g->blocks[2];
}

void test_tiling__basic_has_the_textbooks_figures(void **state)
{
    (void)state;
    const struct hs_geometry g = launch("basic", 120, 8, 8, 8, 0);
    assert_int_equal(g.points_updated, 1643032);
    assert_int_equal(blocks(&g), 3375);
    assert_near(hs_geometry_intensity(&g, HS_FLOAT), 13.0 / 28.0, 1e-15); /* 0.46 */
}

void test_tiling__shared_tile_has_the_textbooks_figures(void **state)
{
    (void)state;
    struct hs_geometry g = launch("shared_tile", 120, 8, 8, 8, 0);
    assert_int_equal(blocks(&g), 8000);
    assert_near(hs_geometry_intensity(&g, HS_FLOAT), 1.37, 0.005);
    double before = 0.0;
    for (int t = 4; t <= 4096; t *= 2) { /* towards 13/4, from below: (1 - 2/t)^3 of it */
        g = launch("shared_tile", 120, t, t, t, 0);
        const double intensity = hs_geometry_intensity(&g, HS_FLOAT);
        assert_true(intensity > before && intensity < 3.25);
        before = intensity;
    }
    assert_near(before, 3.25, 3.25 * 6.0 / 4096.0);
}

void test_tiling__coarsened_has_the_textbooks_figures(void **state)
{
    (void)state;
    struct hs_geometry g = launch("coarsened", 120, 32, 32, 1, 30);
    assert_int_equal(blocks(&g), 64);
    g = launch("coarsened", 120, 32, 32, 1, 16);
    assert_int_equal(g.points_loaded, 18432);
    assert_int_equal(g.points_written, 14400);
    assert_near(hs_geometry_intensity(&g, HS_FLOAT), 2.54, 0.005);
    assert_int_equal(g.shared_bytes, 12288);
    g = launch("register_tile", 120, 32, 32, 1, 16);
    assert_int_equal(g.shared_bytes, 4096);
    assert_int_equal(g.points_loaded, 18432);
}

/* What a block may have on sm_75, the smallest; the fused marches, bulk_march and resident are for
 * compute capability 9, some for 10 too, which have 227 KiB. */
static int64_t most_shared(const struct hs_tiling *row)
{
    if (strcmp(row->kernel, "bulk_march") == 0)
        return HS_BULK_SHARED_BYTES;
    return strncmp(row->kernel, "fused_", 6) == 0 || strcmp(row->kernel, "resident") == 0
               ? 227 * 1024
               : 64 * 1024;
}

/* Whatever the box: a launch covers it, with not a block too many along any axis. */
void test_tiling__every_launch_covers_its_box(void **state)
{
    (void)state;
    for (const struct hs_tiling *row = hs_tilings; row->kernel; row++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= 3; radius++)
                for (int64_t n = 7; n < 400; n += 31) {
                    if (!(row->dims & (1u << dims)) || !(row->radius & (1u << radius)))
                        continue;
                    struct cube cube;
                    set_cube(&cube, n, dims, radius);
                    struct hs_geometry g;
                    hs_tiling_launch(row->kernel, &cube.sweep, &g);
                    /* a fused march's tiles at two faces store their rims there too, and the least
                     * grid is a tile */
                    const bool fused = strncmp(row->kernel, "fused_", 6) == 0;
                    for (int axis = 0; axis < HS_AXES; axis++) {
                        const int64_t covered =
                            g.blocks[axis] * g.output_tile[axis] +
                            (fused ? g.input_tile[axis] - g.output_tile[axis] : 0);
                        const int64_t length = cube.sweep.box.hi[axis] - cube.sweep.box.lo[axis];
                        assert_true(covered >= length);
                        /* the first tile may begin before the box, where a line of memory does,
                         * or with the layers that are held; a fused march's chunks along z differ,
                         * and have a test of their own */
                        if (!fused || (axis < HS_Z && g.blocks[axis] > 1))
                            assert_true((g.blocks[axis] - 1) * g.output_tile[axis] <
                                        length + 2 * radius);
                    }
                    const int threads = g.threads[0] * g.threads[1] * g.threads[2];
                    assert_true(threads >= 32 && threads <= 1024);
                    assert_true(g.points_loaded >= g.points_written);
                    assert_true(g.shared_bytes <= most_shared(row));
                }
}

/* Tiles of a fused march along x: enough and none too many, and their stored rows begin at
 * multiples of 32 bytes, with the fields where the kernel likes them too. */
void test_tiling__fused_rows_begin_where_sectors_do(void **state)
{
    (void)state;
    static const int wide[HS_PRECISIONS] = {HS_FUSED_X_FLOAT, HS_FUSED_X_DOUBLE};
    for (int p = 0; p < HS_PRECISIONS; p++)
        for (int steps = 1; steps <= HS_FUSED_STEPS; steps++)
            for (int64_t n = wide[p]; n < 1400; n++) {
                struct cube cube;
                set_cube(&cube, n, 3, 1);
                cube.sweep.precision = (enum hs_precision)p;
                cube.sweep.steps = steps;
                const int sector = p == HS_FLOAT ? 8 : 4;
                const struct hs_layout liked = hs_tiling_layout(
                    "fused_march_3d", cube.sweep.precision, cube.face, &cube.sweep.layout);
                const int64_t moved = liked.origin - cube.sweep.layout.origin;
                assert_true(moved == 0 || (p == HS_FLOAT && moved == sector / 2));
                assert_int_equal(liked.elements, cube.sweep.layout.elements + moved);
                const int64_t tiles = hs_fused_cut_x(&cube.sweep).tiles;
                cube.sweep.layout = liked;
                const struct hs_fused_cut cut = hs_fused_cut_x(&cube.sweep);
                assert_int_equal(cut.tiles, moved ? tiles - 1 : tiles);
                const int rim = p == HS_FLOAT ? 4 : steps <= 2 ? 2 : 4;
                /* up to where the last tile begins to store, and what it holds from there on */
                const int64_t before = cut.tiles > 1 ? cut.first + (cut.tiles - 2) * cut.others : 0;
                assert_true(before + wide[p] - (cut.tiles > 1 ? rim : 0) >= n);
                if (cut.tiles > 2)
                    assert_true(before - cut.others + wide[p] - rim < n);
                assert_true(cut.first <= wide[p] - rim && cut.others <= wide[p] - 2 * rim);
                assert_int_equal((liked.origin + cut.first) % sector, 0);
                assert_int_equal(cut.others % sector, 0);
            }
}

/* 60 points of the first tile, 56 of each of seven, 60 of the last: 512, if nothing is lost. */
void test_tiling__fused_fields_of_512_points_need_nine_tiles(void **state)
{
    (void)state;
    struct cube cube;
    set_cube(&cube, 512, 3, 1);
    cube.sweep.steps = HS_FUSED_STEPS;
    cube.sweep.layout =
        hs_tiling_layout("fused_fields_3d", HS_FLOAT, cube.face, &cube.sweep.layout);
    assert_int_equal(hs_fused_cut_x(&cube.sweep).tiles, 9);
    cube.face[2 * HS_X].wrap = cube.face[2 * HS_X + 1].wrap = true;
    const struct hs_layout usual = cube.sweep.layout;
    assert_int_equal(hs_tiling_layout("fused_march_3d", HS_FLOAT, cube.face, &usual).origin,
                     usual.origin);
    cube.face[2 * HS_X].wrap = cube.face[2 * HS_X + 1].wrap = false;
    assert_int_equal(hs_tiling_layout("vector_march", HS_FLOAT, cube.face, &usual).origin,
                     usual.origin);
}

/* Every column is cut from end to end, into chunks that become shorter and are never empty. */
void test_tiling__fused_chunks_make_up_every_column(void **state)
{
    (void)state;
    for (int64_t n = 4; n < 1400; n += n < 100 ? 1 : 37)
        for (int i = 0; i < 2 * HS_FUSED_STEPS; i++) {
            struct cube cube;
            set_cube(&cube, n, 3, 1);
            cube.sweep.steps = i / 2 + 1;
            for (int f = 0; f < HS_FACES; f++)
                cube.face[f] = (struct hs_face){.wrap = i % 2, .held = !(i % 2)};
            for (int axis = 0; i % 2 && axis < HS_AXES; axis++)
                cube.sweep.box.lo[axis] = 0, cube.sweep.box.hi[axis] = n;
            struct hs_geometry g;
            hs_tiling_launch("fused_march_3d", &cube.sweep, &g);
            const struct hs_fused_chunks cut =
                hs_fused_cut_z(&cube.sweep, g.blocks[HS_X], g.blocks[HS_Y]);
            assert_int_equal(g.blocks[HS_Z], cut.chunks);
            int64_t end = 0, longest = n < HS_FUSED_PLANES ? n : HS_FUSED_PLANES;
            for (int k = 0; k < cut.chunks; k++) {
                assert_int_equal(hs_fused_chunk(n, cut.chunks, cut.taper, k), end);
                end = hs_fused_chunk(n, cut.chunks, cut.taper, k + 1);
                const int64_t length = end - hs_fused_chunk(n, cut.chunks, cut.taper, k);
                assert_true(length > 0 && length <= longest + (k > 0)); /* but for rounding */
                longest = length;
            }
            assert_int_equal(end, n);
        }
}

/* Of fused_march_2d: strips follow one another without a gap, each with a rim on both sides but at
 * a face, and begin to store at multiples of 32 bytes. */
void test_tiling__strips_follow_one_another(void **state)
{
    (void)state;
    static const int most[HS_PRECISIONS] = {HS_STRIP_STEPS_FLOAT, HS_STRIP_STEPS_DOUBLE};
    for (int p = 0; p < HS_PRECISIONS; p++)
        for (int i = 0; i < 2 * most[p]; i++)
            for (int64_t n = 256; n < 3000; n += 61) {
                const bool wrap = i % 2 == 1;
                struct cube cube;
                set_cube(&cube, n, 2, 1);
                cube.sweep.precision = (enum hs_precision)p;
                cube.sweep.steps = i / 2 + 1;
                for (int f = 0; f < HS_FACES && wrap; f++)
                    cube.face[f] = (struct hs_face){.wrap = true};
                for (int axis = 0; axis < 2 && wrap; axis++)
                    cube.sweep.box.lo[axis] = 0, cube.sweep.box.hi[axis] = n;
                const struct hs_strip_cut cut = hs_strip_cuts(&cube.sweep);
                assert_true(cut.rim >= cube.sweep.steps && cut.points == cut.stored + 2 * cut.rim);
                assert_true(cut.points <= n && cut.strips >= 1 && cut.blocks >= 1);
                assert_int_equal(cut.stored * (int64_t)hs_precision_size(p) % 16, 0);
                int64_t end = cut.lead; /* of what the strips before store */
                for (int s = 1; s < cut.strips - (wrap ? 0 : 1); s++, end += cut.stored) {
                    assert_true(end < n);
                    assert_true(wrap || (end >= cut.rim && end + cut.stored + cut.rim <= n));
                    assert_int_equal(end * (int64_t)hs_precision_size(p) % (wrap ? 16 : 32), 0);
                }
                if (wrap)
                    assert_true(end >= n);
                else if (cut.strips > 1)
                    assert_true(end < n && end >= n - cut.points + cut.rim);
                else
                    assert_int_equal(cut.points, n);
            }
}

/* 144 equal columns on 132 multiprocessors: equal chunks would leave most of them idle at last. */
void test_tiling__fused_chunks_end_together(void **state)
{
    (void)state;
    struct cube cube;
    set_cube(&cube, 640, 3, 1);
    cube.sweep.steps = HS_FUSED_STEPS;
    for (int f = 0; f < HS_FACES; f++)
        cube.face[f] = (struct hs_face){.wrap = true};
    for (int axis = 0; axis < HS_AXES; axis++)
        cube.sweep.box.lo[axis] = 0, cube.sweep.box.hi[axis] = 640;
    const struct hs_fused_chunks cut = hs_fused_cut_z(&cube.sweep, 12, 12);
    assert_int_equal(cut.chunks, 4);
    assert_int_equal(cut.taper, 8);
}

/* fused_wide_3d has other tiles than the marches of radius 1, but as wide ones, and cuts its chunks
 * by how far two sweeps of radius 2 reach. */
void test_tiling__a_wide_march_reaches_twice_as_far(void **state)
{
    (void)state;
    assert_int_equal(HS_WIDE_X, HS_FUSED_X_FLOAT);
    assert_int_equal(HS_WIDE_X, HS_FUSED_X_DOUBLE);
    static const int rows[HS_PRECISIONS] = {80, 32};
    for (int p = 0; p < HS_PRECISIONS; p++)
        for (int steps = 1; steps <= HS_WIDE_STEPS; steps++) {
            struct cube wide, march;
            set_cube(&wide, 300, 3, 2);
            set_cube(&march, 300, 3, 1);
            wide.sweep.precision = march.sweep.precision = (enum hs_precision)p;
            wide.sweep.steps = steps;
            march.sweep.steps = 2 * steps;
            wide.sweep.box = march.sweep.box;
            memcpy(wide.face, march.face, sizeof wide.face);
            struct hs_geometry g;
            hs_tiling_launch("fused_wide_3d", &wide.sweep, &g);
            assert_int_equal(hs_fused_cut_x(&wide.sweep).tiles, hs_fused_cut_x(&march.sweep).tiles);
            assert_int_equal(hs_wide_tile_y((enum hs_precision)p), rows[p]);
            assert_int_equal(g.input_tile[HS_Y], rows[p]);
            assert_int_equal(g.output_tile[HS_Y], rows[p] - 4 * steps);
            assert_int_equal(g.input_tile[HS_Z] - g.output_tile[HS_Z], 4 * steps);
            assert_int_equal(hs_fused_cut_z(&wide.sweep, 7, 9).chunks,
                             hs_fused_cut_z(&march.sweep, 7, 9).chunks);
        }
}

/* In double and with the most steps too, a block's shared memory is what every device has. */
void test_tiling__shared_memory_fits_every_device(void **state)
{
    (void)state;
    for (const struct hs_tiling *row = hs_tilings; row->kernel; row++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= 3; radius++) {
                if (!(row->dims & (1u << dims)) || !(row->radius & (1u << radius)))
                    continue;
                struct cube cube;
                set_cube(&cube, 100, dims, radius);
                cube.sweep.precision = HS_DOUBLE;
                cube.sweep.steps = row->steps[HS_DOUBLE];
                struct hs_geometry g;
                hs_tiling_launch(row->kernel, &cube.sweep, &g);
                assert_true(g.shared_bytes <= most_shared(row));
            }
}

/* In 2D chunks fill whole waves, in 3D they are so short that the last wave hardly counts: at most
 * a tenth is lost either way, on grids that keep the device busy. */
void test_tiling__vector_march_fills_its_waves(void **state)
{
    (void)state;
    static const struct {
        int64_t n;
        int dims, blocks;
    } jobs[] = {{4096, 2, HS_VECTOR_2D_BLOCKS_1},
                {16384, 2, HS_VECTOR_2D_BLOCKS_1},
                {512, 3, HS_VECTOR_BLOCKS_1},
                {1024, 3, HS_VECTOR_BLOCKS_1}};
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        struct cube cube;
        set_cube(&cube, jobs[j].n, jobs[j].dims, 1);
        struct hs_geometry g;
        hs_tiling_launch("vector_march", &cube.sweep, &g);
        const int64_t wave = (int64_t)HS_MULTIPROCESSORS * jobs[j].blocks;
        const int64_t waves = (blocks(&g) + wave - 1) / wave;
        assert_true((double)blocks(&g) / (double)(waves * wave) > 0.90);
    }
}

/* A block has a multiprocessor to itself, so a round of blocks should be nearly as many; and planes
 * must be on their way beside the one in use, with a source field too. */
void test_tiling__bulk_march_fills_the_device(void **state)
{
    (void)state;
    static const int64_t sizes[HS_AXES + 1] = {[2] = 16384, [3] = 512};
    for (int dims = 2; dims <= 3; dims++)
        for (int radius = 1; radius <= 3; radius++)
            for (int precision = 0; precision < HS_PRECISIONS; precision++)
                for (int source = 0; source < 2; source++) {
                    struct cube cube;
                    set_cube(&cube, sizes[dims], dims, radius);
                    cube.sweep.precision = (enum hs_precision)precision;
                    cube.sweep.source = source ? &cube : NULL;
                    struct hs_geometry g;
                    hs_tiling_launch("bulk_march", &cube.sweep, &g);
                    assert_in_range(blocks(&g), 120, HS_MULTIPROCESSORS);
                    assert_true(g.shared_bytes <= HS_BULK_SHARED_BYTES);
                    const int stages = hs_bulk_stages(dims, radius, false, source);
                    assert_true(stages >= 3);
                    assert_true(g.shared_bytes >=
                                stages * hs_bulk_stage_bytes(dims, radius, false, source));
                }
}

void test_tiling__held_layers_are_written_by_those_who_fuse(void **state)
{
    (void)state;
    struct cube cube;
    set_cube(&cube, 64, 2, 1);
    const struct hs_sweep wide = hs_tiling_with_held(&cube.sweep);
    assert_int_equal(wide.box.lo[HS_X], 0);
    assert_int_equal(wide.box.hi[HS_X], 64);
    assert_int_equal(wide.box.hi[HS_Z], 1);
    struct hs_geometry g;
    hs_tiling_launch("temporal_2d", &cube.sweep, &g);
    assert_int_equal(g.blocks[HS_X], 1); /* 64 nodes by tiles of 64, not 62 from node 1 */
    assert_int_equal(g.points_updated, 62 * 62);
}
