/* Chunks along z of the 3D marches that fuse sweeps. */
#include "chunks.h"
#include "columns.h"
#include "fused_march_3d/plan.h"
#include "fused_radius2_3d/plan.h"
#include "test.h"
#include "unit/kernels/cube.h"

#include <stdlib.h>
#include <string.h>

extern const struct hs_kernel hs_kernel_cuda_fused_fields_3d;
extern const struct hs_kernel hs_kernel_cuda_fused_march_3d;
extern const struct hs_kernel hs_kernel_cuda_fused_radius2_3d;

/* Every column is cut from end to end into chunks that get shorter and are never empty. */
void test_plan_chunks__make_up_every_column(void **state)
{
    for (int64_t n = 4; n < 1400; n += n < 100 ? 1 : 37)
        for (int i = 0; i < 4 * HS_FUSED_STEPS; i++) {
            struct cube cube;
            set_cube(&cube, n < 64 ? 64 : n, 3, 1);
            cube.of.layout.points[HS_Z] = n;
            cube.of.box.hi[HS_Z] = n - 1;
            cube.of.steps = i / 4 + 1;
            set_precision(&cube, i / 2 % 2 ? HS_DOUBLE : HS_FLOAT);
            for (int f = 0; f < HS_FACES; f++)
                cube.face[f] = (struct hs_face){.wrap = i % 2, .held = !(i % 2)};
            for (int axis = 0; i % 2 && axis < HS_AXES; axis++)
                cube.of.box.lo[axis] = 0, cube.of.box.hi[axis] = cube.of.layout.points[axis];
            const struct hs_geometry g = plan_for(&hs_kernel_cuda_fused_march_3d, &cube.of).launch;
            const struct hs_fused_chunks cut =
                hs_march_cut_z(&cube.of, h200(), g.blocks[HS_X], g.blocks[HS_Y]);
            assert_int_equal(g.blocks[HS_Z], cut.chunks);
            assert_int_equal(cut.whole % h200()->multiprocessors, 0);
            assert_true(cut.whole <= g.blocks[HS_X] * g.blocks[HS_Y]);
            assert_true(cut.whole == 0 || n <= HS_WHOLE_PLANES);
            const int most = i / 2 % 2 ? HS_MARCH_PLANES : HS_FUSED_PLANES;
            int64_t end = 0, longest = n < most ? n : most;
            for (int k = 0; k < cut.chunks; k++) {
                assert_int_equal(hs_fused_chunk(n, cut.chunks, cut.taper, k), end);
                end = hs_fused_chunk(n, cut.chunks, cut.taper, k + 1);
                const int64_t length = end - hs_fused_chunk(n, cut.chunks, cut.taper, k);
                assert_true(length > 0 && length <= longest + (k > 0)); /* up to rounding */
                longest = length;
            }
            assert_int_equal(end, n);
        }
}

static void note_planes(struct hs_fused_planes planes, char *seen)
{
    assert_true(planes.lo < planes.hi);
    for (int64_t z = planes.lo; z < planes.hi; z++)
        assert_int_equal(seen[z]++, 0);
}

/* In a call in two parts each plane is in exactly one part, and the ends are as long as stated. */
void test_plan_chunks__of_two_parts_are_all_planes_once(void **state)
{
    for (int64_t planes = 40; planes < 1100; planes += 53)
        for (int chunks = 3; chunks < 27 && planes / chunks > 8; chunks++)
            for (int taper = 0; taper <= 8; taper += 2) {
                char *seen = calloc((size_t)planes, 1);
                for (int k = 0; k < 2; k++)
                    note_planes(hs_fused_planes_of(HS_SWEEP_ENDS, planes, chunks, taper, k), seen);
                const int64_t ends = hs_fused_ends(planes, chunks, taper);
                for (int64_t z = 0; z < ends; z++)
                    assert_true(seen[z] && seen[planes - 1 - z]);
                for (int k = 0; k < chunks - 2; k++)
                    note_planes(hs_fused_planes_of(HS_SWEEP_INSIDE, planes, chunks, taper, k),
                                seen);
                assert_null(memchr(seen, 0, (size_t)planes));
                free(seen);
            }
}

/* 81 columns are 3.7 blocks for each multiprocessor with the six chunks that are best for one GPU.
 * In a slab the ends would then be late. Few columns stay as they are: their chunks would mostly
 * fill and drain. */
void test_plan_chunks__of_a_slab_are_several_for_each_multiprocessor(void **state)
{
    struct cube cube;
    set_cube(&cube, 512, 3, 1);
    cube.of.layout.points[HS_Z] = 520;
    cube.of.box.hi[HS_Z] = 519;
    cube.of.steps = HS_FUSED_STEPS;
    assert_int_equal(hs_march_cut_z(&cube.of, h200(), 3, 27).chunks, 6);
    const int few = hs_march_cut_z(&cube.of, h200(), 3, 7).chunks;
    cube.of.slab = true;
    assert_int_equal(hs_march_cut_z(&cube.of, h200(), 3, 27).chunks, 8);
    assert_int_equal(hs_fused_cut_z(&cube.of, h200(), 3, 27).chunks, 8);
    assert_int_equal(hs_march_cut_z(&cube.of, h200(), 3, 7).chunks, few);
}

/* 144 equal columns on 132 multiprocessors: equal chunks would leave most of them idle at last. */
void test_plan_chunks__end_together(void **state)
{
    struct cube cube;
    set_cube(&cube, 640, 3, 1);
    cube.of.steps = HS_FUSED_STEPS;
    for (int f = 0; f < HS_FACES; f++)
        cube.face[f] = (struct hs_face){.wrap = true};
    for (int axis = 0; axis < HS_AXES; axis++)
        cube.of.box.lo[axis] = 0, cube.of.box.hi[axis] = 640;
    const struct hs_fused_chunks cut = hs_fused_cut_z(&cube.of, h200(), 12, 12);
    assert_int_equal(cut.chunks, 4);
    assert_int_equal(cut.taper, 8);
}

/* The tables of fused_fields_3d have room for no more planes. */
void test_plan_chunks__of_fields_have_no_more_planes_than_tables(void **state)
{
    for (int64_t n = 64; n < 1400; n += 19)
        for (int p = 0; p < HS_PRECISIONS; p++) {
            struct cube cube;
            set_cube(&cube, n, 3, 1);
            cube.of.steps = HS_FUSED_FIELDS_STEPS;
            set_precision(&cube, (enum hs_precision)p);
            const struct hs_geometry g = plan_for(&hs_kernel_cuda_fused_fields_3d, &cube.of).launch;
            const struct hs_fused_chunks cut =
                hs_fused_cut_z(&cube.of, h200(), g.blocks[HS_X], g.blocks[HS_Y]);
            assert_int_equal(g.blocks[HS_Z], cut.chunks);
            assert_true(hs_fused_chunk(n, cut.chunks, cut.taper, 1) <= HS_FUSED_PLANES);
        }
}

/* 189 columns of 512 planes: two chunks each are 378 blocks, for which 132 multiprocessors take as
 * long as for 396. If the first 132 are one chunk each, 57 are left. Unless walls are held, rows
 * that are not whole vectors make some columns take longer than others. */
void test_plan_chunks__most_columns_may_be_whole(void **state)
{
    struct cube cube;
    set_cube(&cube, 512, 3, 2);
    set_precision(&cube, HS_DOUBLE);
    cube.of.steps = HS_RADIUS2_STEPS;
    const struct hs_fused_chunks kept = hs_radius2_cut_z(&cube.of, h200(), 9, 21);
    assert_int_equal(kept.whole, h200()->multiprocessors);
    assert_int_equal(kept.chunks, 2);
    struct hs_geometry g; /* the number of blocks, and what all of them read */
    g = plan_for(&hs_kernel_cuda_fused_radius2_3d, &cube.of).launch;
    assert_int_equal(g.launched, h200()->multiprocessors + 57 * 2);
    const int64_t planes = h200()->multiprocessors * (512 + 8) + 57 * 2 * (256 + 8);
    assert_int_equal(g.points_loaded, 64 * 32 * planes / g.launched);
    cube.of.layout.points[HS_X] = 511;
    assert_int_equal(hs_radius2_cut_z(&cube.of, h200(), 9, 21).whole, h200()->multiprocessors);
    for (int f = 0; f < HS_FACES; f++)
        cube.face[f].held = 0;
    assert_int_equal(hs_radius2_cut_z(&cube.of, h200(), 9, 21).whole, 0);
    cube.of.layout.points[HS_X] = 512;
    assert_int_equal(hs_radius2_cut_z(&cube.of, h200(), 9, 21).whole, h200()->multiprocessors);
    assert_int_equal(hs_fused_cut_z(&cube.of, h200(), 9, 21).whole, 0);
}
