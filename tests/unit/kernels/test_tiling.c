/* What holds of every row of the table. */
#include "bulk_march/plan.h"
#include "engine/registry.h"
#include "temporal/plan.h"
#include "test.h"
#include "unit/kernels/cube.h"

#include <string.h>

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

static bool claims(const struct hs_tiling *row, int dims, int radius)
{
    return row->features & hs_feature_dims(dims) && row->features & hs_feature_radius(radius);
}

static void check_covers(const struct hs_tiling *row, const struct cube *cube)
{
    struct hs_geometry g;
    hs_tiling_launch(row, &cube->sweep, &g);
    assert_int_equal(g.points_updated, hs_box_count(&cube->sweep.box));
    /* a fused march's tiles at two faces store their halos there too, and the least grid is a tile
     */
    const bool fused = strncmp(row->kernel, "fused_", 6) == 0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t covered = g.blocks[axis] * g.output_tile[axis] +
                                (fused ? g.input_tile[axis] - g.output_tile[axis] : 0);
        const int64_t length = cube->sweep.box.hi[axis] - cube->sweep.box.lo[axis];
        assert_true(covered >= length);
        /* the first tile may begin before the box, where a line of memory does, or with the layers
         * that are held; a fused march's chunks along z differ, and have a test of their own */
        if (!fused || (axis < HS_Z && g.blocks[axis] > 1))
            assert_true((g.blocks[axis] - 1) * g.output_tile[axis] <
                        length + 2 * cube->stencil.radius);
    }
    const int threads = g.threads[0] * g.threads[1] * g.threads[2];
    assert_true(threads >= 32 && threads <= 1024);
    assert_true(g.points_loaded >= g.points_written);
    assert_true(g.shared_bytes <= most_shared(row));
}

/* Whatever the box: a launch covers it, with not a block too many along any axis. */
void test_tiling__every_launch_covers_its_box(void **state)
{
    (void)state;
    for (const struct hs_tiling *const *row = hs_tilings; *row; row++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= 3; radius++)
                for (int64_t n = 7; n < 400 && claims(*row, dims, radius); n += 31) {
                    struct cube cube;
                    set_cube(&cube, n, dims, radius);
                    check_covers(*row, &cube);
                }
}

/* In double and with the most steps too, a block's shared memory is what every device has. */
void test_tiling__shared_memory_fits_every_device(void **state)
{
    (void)state;
    for (const struct hs_tiling *const *row = hs_tilings; *row; row++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= 3; radius++) {
                if (!claims(*row, dims, radius))
                    continue;
                struct cube cube;
                set_cube(&cube, 100, dims, radius);
                cube.sweep.precision = HS_DOUBLE;
                cube.sweep.steps = (*row)->steps[HS_DOUBLE];
                struct hs_geometry g;
                hs_tiling_launch(*row, &cube.sweep, &g);
                assert_true(g.shared_bytes <= most_shared(*row));
            }
}

void test_tiling__held_layers_are_written_by_those_who_fuse(void **state)
{
    (void)state;
    struct cube cube;
    set_cube(&cube, 64, 2, 1);
    const struct hs_box wide = hs_tiling_with_held(&cube.sweep);
    assert_int_equal(wide.lo[HS_X], 0);
    assert_int_equal(wide.hi[HS_X], 64);
    assert_int_equal(wide.hi[HS_Z], 1);
    struct hs_geometry g;
    hs_tiling_launch(&hs_tiling_temporal_2d, &cube.sweep, &g);
    assert_int_equal(g.blocks[HS_X], 1); /* 64 nodes by tiles of 64, not 62 from node 1 */
    assert_int_equal(g.points_updated, 62 * 62);
}
