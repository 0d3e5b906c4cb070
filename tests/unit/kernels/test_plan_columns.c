/* Tiles along x and y of the 3D marches that fuse sweeps. */
#include "chunks.h"
#include "columns.h"
#include "fused_march_3d/plan.h"
#include "fused_radius2_3d/plan.h"
#include "test.h"
#include "unit/kernels/cube.h"

#include <string.h>

extern const struct hs_kernel hs_kernel_cuda_fused_fields_3d;
extern const struct hs_kernel hs_kernel_cuda_fused_march_3d;
extern const struct hs_kernel hs_kernel_cuda_fused_radius2_3d;
extern const struct hs_kernel hs_kernel_cuda_vector_march;

/* Tiles of a fused march along x: enough and no more; their stored rows begin at multiples of 32
 * bytes, also if the kernel's preferred shift moves the fields. */
void test_plan_columns__rows_begin_where_sectors_do(void **state)
{
    for (int p = 0; p < HS_PRECISIONS; p++)
        for (int steps = 1; steps <= HS_FUSED_STEPS; steps++)
            for (int64_t n = HS_FUSED_X; n < 1400; n++) {
                struct cube cube;
                set_cube(&cube, n, 3, 1);
                set_precision(&cube, (enum hs_precision)p);
                cube.of.steps = steps;
                const int sector = p == HS_FLOAT ? 8 : 4;
                const int64_t moved = hs_fused_shift(&cube.of);
                assert_true(moved == 0 || (p == HS_FLOAT && moved == sector / 2));
                const int64_t tiles = hs_fused_cut_x(&cube.of).tiles;
                cube.of.layout = hs_layout_moved(cube.of.layout, moved);
                const struct hs_fused_cut cut = hs_fused_cut_x(&cube.of);
                assert_int_equal(cut.tiles, moved ? tiles - 1 : tiles);
                const int halo = p == HS_FLOAT ? 4 : steps <= 2 ? 2 : 4;
                /* up to where the last tile begins to store, and what it holds from there */
                const int64_t before = cut.tiles > 1 ? cut.first + (cut.tiles - 2) * cut.others : 0;
                assert_true(before + HS_FUSED_X - (cut.tiles > 1 ? halo : 0) >= n);
                if (cut.tiles > 2)
                    assert_true(before - cut.others + HS_FUSED_X - halo < n);
                assert_true(cut.first <= HS_FUSED_X - halo && cut.others <= HS_FUSED_X - 2 * halo);
                assert_int_equal((cube.of.layout.origin + cut.first) % sector, 0);
                assert_int_equal(cut.others % sector, 0);
            }
}

/* 60 points of the first tile, 56 of each of seven, 60 of the last: 512, with nothing lost. */
void test_plan_columns__fields_of_512_points_need_nine_tiles(void **state)
{
    struct cube cube;
    set_cube(&cube, 512, 3, 1);
    cube.of.steps = HS_FUSED_STEPS;
    cube.of.asked |= HS_SOURCE | HS_SOURCE_FIELD; /* with which it fuses four sweeps */
    cube.of.source_varies = HS_VARIES_SPACE;
    const struct hs_kernel_plan plan = plan_for(&hs_kernel_cuda_fused_fields_3d, &cube.of);
    assert_true(plan.launch.shared_bytes > 10 * 64 * 64 * 4); /* planes of level 0 and the source */
    const int shift = plan.shift;
    cube.of.asked &= ~(HS_SOURCE | HS_SOURCE_FIELD);
    cube.of.layout = hs_layout_moved(cube.of.layout, shift);
    assert_int_equal(hs_fused_cut_x(&cube.of).tiles, 9);
    cube.of.layout = hs_layout_moved(cube.of.layout, -shift);
    cube.face[2 * HS_X].wrap = cube.face[2 * HS_X + 1].wrap = true;
    assert_int_equal(plan_for(&hs_kernel_cuda_fused_march_3d, &cube.of).shift, 0);
    cube.face[2 * HS_X].wrap = cube.face[2 * HS_X + 1].wrap = false;
    cube.of.steps = 1;
    assert_int_equal(plan_for(&hs_kernel_cuda_vector_march, &cube.of).shift, 0);
}

/* Tables of a source that changes in time are doubles, so twice as large as a plane of floats. */
void test_plan_columns__places_in_tables_fit_32_bits(void **state)
{
    struct cube cube;
    struct hs_kernel_plan plan;
    char reason[256];
    for (int64_t n = 23000; n <= 24000; n += 1000) { /* 2^29 points are 23170^2 */
        set_cube(&cube, n, 3, 1);
        cube.of.layout.points[HS_Z] = cube.of.box.hi[HS_Z] = 8;
        cube.of.steps = HS_FUSED_STEPS;
        cube.of.asked |= HS_SOURCE | HS_SOURCE_FIELD;
        cube.of.source_varies = HS_VARIES_SPACE;
        plan_for(&hs_kernel_cuda_fused_fields_3d, &cube.of);
        cube.of.asked |= HS_SOURCE_TIME | HS_SOURCE_FIELD_TIME;
        cube.of.source_varies |= HS_VARIES_T;
        cube.of.steps = HS_FUSED_FIELDS_STEPS;
        const bool can = hs_kernel_plan_make(&hs_kernel_cuda_fused_fields_3d, &cube.of, h200(),
                                             &plan, reason, sizeof reason);
        if (can != (n < 24000))
            fail_msg("%lld points: %s", (long long)n, can ? "taken" : reason);
    }
    assert_non_null(strstr(reason, "planes of less than 4 GiB"));
}

/* An axis of as many points as a grid may have. */
void test_plan_columns__axes_that_are_too_long_are_refused_for_that(void **state)
{
    struct cube cube;
    struct hs_kernel_plan plan;
    char reason[256];
    for (int axis = 0; axis < HS_AXES; axis++) {
        set_cube(&cube, 128, 3, 1);
        cube.of.layout.points[axis] = cube.of.box.hi[axis] = INT32_MAX;
        cube.of.steps = HS_FUSED_STEPS;
        assert_false(hs_kernel_plan_make(&hs_kernel_cuda_fused_march_3d, &cube.of, h200(), &plan,
                                         reason, sizeof reason));
        assert_non_null(strstr(reason, "planes of less than 4 GiB"));
    }
}

/* The tiles of fused_radius2_3d have as many points along x as those of the marches of radius 1,
 * but other rows. Its chunks depend on the reach of two sweeps of radius 2. */
void test_plan_columns__a_march_of_radius_2_reaches_twice_as_far(void **state)
{
    static const int rows[HS_PRECISIONS] = {80, 32};
    static const int owned[HS_PRECISIONS] = {HS_RADIUS2_ROWS_FLOAT, HS_RADIUS2_ROWS_DOUBLE};
    for (int p = 0; p < HS_PRECISIONS; p++)
        for (int steps = 1; steps <= HS_RADIUS2_STEPS; steps++) {
            struct cube radius2, march;
            set_cube(&radius2, 300, 3, 2);
            set_cube(&march, 300, 3, 1);
            set_precision(&radius2, (enum hs_precision)p);
            set_precision(&march, (enum hs_precision)p);
            radius2.of.steps = steps;
            march.of.steps = 2 * steps;
            radius2.of.box = march.of.box;
            memcpy(radius2.face, march.face, sizeof radius2.face);
            const struct hs_geometry g =
                plan_for(&hs_kernel_cuda_fused_radius2_3d, &radius2.of).launch;
            assert_int_equal(hs_fused_cut_x(&radius2.of).tiles, hs_fused_cut_x(&march.of).tiles);
            assert_int_equal(hs_fused_tile_y((enum hs_precision)p, HS_RADIUS2_WARPS, owned[p]),
                             rows[p]);
            assert_int_equal(g.input_tile[HS_Y], rows[p]);
            assert_int_equal(g.output_tile[HS_Y], rows[p] - 4 * steps);
            assert_int_equal(g.input_tile[HS_Z] - g.output_tile[HS_Z], 4 * steps);
            assert_int_equal(hs_fused_cut_z(&radius2.of, h200(), 7, 9).chunks,
                             hs_fused_cut_z(&march.of, h200(), 7, 9).chunks);
        }
}

/* Planes of X_-1 take as much as those of a source field; plain calls take no three sweeps. A table
 * has one plane per level, in double as large as the field's. */
void test_plan_columns__shared_memory_is_that_of_the_form(void **state)
{
    enum { PLANE = 64 * 32 * 8, RING = 3 }; /* planes of a field that are in flight */
    struct cube cube;
    set_cube(&cube, 128, 3, 1);
    set_precision(&cube, HS_DOUBLE);
    cube.of.steps = HS_FUSED_RECURSION;
    const int64_t recursion =
        plan_for(&hs_kernel_cuda_fused_march_3d, &cube.of).launch.shared_bytes;
    cube.of.asked |= HS_SOURCE | HS_SOURCE_TIME | HS_SOURCE_FIELD | HS_SOURCE_FIELD_TIME;
    const int64_t fields = plan_for(&hs_kernel_cuda_fused_fields_3d, &cube.of).launch.shared_bytes;
    cube.of.asked |= HS_SOURCE_TABLES;
    const int64_t tables = plan_for(&hs_kernel_cuda_fused_fields_3d, &cube.of).launch.shared_bytes;
    const int64_t lines = 16 * HS_FUSED_RECURSION * (HS_FUSED_PLANES + 3 * HS_FUSED_RECURSION);
    assert_int_equal(recursion, fields);
    assert_int_equal(fields - tables, RING * PLANE - lines);
}
