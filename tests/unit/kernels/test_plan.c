/* What holds for every row of the table. */
#include "bulk_march/plan.h"
#include "engine/registry.h"
#include "temporal/plan.h"
#include "test.h"
#include "unit/kernels/cube.h"

#include <string.h>

extern const struct hs_kernel hs_kernel_cuda_temporal_2d;

/* What a block may have on sm_75, the smallest. The fused marches, bulk_march and resident are for
 * compute capability 9, some also for 10, which have 227 KiB. */
static int64_t most_shared(const struct hs_kernel *kernel)
{
    if (strcmp(kernel->name, "bulk_march") == 0)
        return HS_BULK_SHARED_BYTES;
    return strncmp(kernel->name, "fused_", 6) == 0 || strcmp(kernel->name, "resident") == 0
               ? 227 * 1024
               : 64 * 1024;
}

static bool claims(const struct hs_kernel *kernel, int dims, int radius)
{
    return kernel->device == HS_CUDA && kernel->features & hs_feature_dims(dims) &&
           kernel->features & hs_feature_radius(radius);
}

/* False if the grid is too small for the kernel's tiles, or too large for the chip. */
static bool plan_covers(const struct hs_kernel *kernel, const struct cube *cube,
                        struct hs_kernel_plan *plan)
{
    char reason[256];
    return hs_kernel_plan_make(kernel, &cube->of, h200(), plan, reason, sizeof reason);
}

static void check_covers(const struct hs_kernel *kernel, const struct cube *cube)
{
    struct hs_kernel_plan plan;
    if (!plan_covers(kernel, cube, &plan))
        return;
    const struct hs_geometry g = plan.launch;
    assert_int_equal(g.points_updated, hs_box_count(&cube->of.box));
    /* a fused march's tiles at two faces also store their halos; the smallest grid is a tile */
    const bool fused = strncmp(kernel->name, "fused_", 6) == 0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t covered = g.blocks[axis] * g.output_tile[axis] +
                                (fused ? g.input_tile[axis] - g.output_tile[axis] : 0);
        const int64_t length = cube->of.box.hi[axis] - cube->of.box.lo[axis];
        assert_true(covered >= length);
        /* the first tile may begin before the box, at the start of a memory line or of the held
         * layers; a fused march's chunks along z differ, and have a test of their own */
        if (!fused || (axis < HS_Z && g.blocks[axis] > 1))
            assert_true((g.blocks[axis] - 1) * g.output_tile[axis] < length + 2 * cube->of.radius);
    }
    const int threads = g.threads[0] * g.threads[1] * g.threads[2];
    assert_true(threads >= 32 && threads <= 1024);
    assert_true(g.points_loaded >= g.points_written);
    assert_true(g.shared_bytes <= most_shared(kernel));
}

/* For any box: a launch covers it, with no superfluous block along any axis. */
void test_plan__every_launch_covers_its_box(void **state)
{
    for (const struct hs_kernel *const *kernel = hs_kernels; *kernel; kernel++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= 3; radius++)
                for (int64_t n = 7; n < 400 && claims(*kernel, dims, radius); n += 31) {
                    struct cube cube;
                    set_cube(&cube, n, dims, radius);
                    check_covers(*kernel, &cube);
                }
}

/* Also in double and with the most steps, every device has a block's shared memory. */
void test_plan__shared_memory_fits_every_device(void **state)
{
    for (const struct hs_kernel *const *kernel = hs_kernels; *kernel; kernel++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= 3; radius++) {
                if (!claims(*kernel, dims, radius))
                    continue;
                struct cube cube;
                set_cube(&cube, 100, dims, radius);
                set_precision(&cube, HS_DOUBLE);
                cube.of.steps = 0;
                struct hs_kernel_plan plan;
                if (plan_covers(*kernel, &cube, &plan))
                    assert_true(plan.launch.shared_bytes <= most_shared(*kernel));
            }
}

void test_plan__held_layers_are_written_by_those_who_fuse(void **state)
{
    struct cube cube;
    set_cube(&cube, 64, 2, 1);
    const struct hs_box wide = hs_tile_with_held(&cube.of);
    assert_int_equal(wide.lo[HS_X], 0);
    assert_int_equal(wide.hi[HS_X], 64);
    assert_int_equal(wide.hi[HS_Z], 1);
    const struct hs_geometry g = plan_for(&hs_kernel_cuda_temporal_2d, &cube.of).launch;
    assert_int_equal(g.blocks[HS_X], 1); /* 64 nodes by tiles of 64, not 62 from node 1 */
    assert_int_equal(g.points_updated, 62 * 62);
}

/* Any stretch is made up of compiled calls. The extra calls for its last few sweeps are bounded. */
void test_plan__calls_make_up_every_stretch(void **state)
{
    enum { REST = 4 }; /* 23 = 12 + 6 + 3 + 2 */
    int few = 0;
    for (const struct hs_kernel *const *kernel = hs_kernels; *kernel; kernel++)
        for (int dims = 2; dims <= HS_AXES; dims++)
            for (int p = 0; p < HS_PRECISIONS; p++) {
                struct hs_kernel_plan plan, of_call;
                struct cube cube;
                set_cube(&cube, 512, dims, 1);
                set_precision(&cube, (enum hs_precision)p);
                cube.of.steps = 0;
                if (!claims(*kernel, dims, 1) || !plan_covers(*kernel, &cube, &plan))
                    continue;
                few += plan.takes != 0;
                for (int64_t stretch = 1; stretch < 3 * plan.steps && stretch < 100; stretch++) {
                    int64_t left = stretch;
                    int calls = 0;
                    for (; left > 0; calls++) {
                        cube.of.steps = hs_kernel_plan_takes(&plan, plan.steps, left);
                        assert_true(cube.of.steps > 0);
                        assert_true(plan_covers(*kernel, &cube, &of_call));
                        left -= cube.of.steps;
                    }
                    assert_int_equal(left, 0);
                    assert_true(calls <= stretch / plan.steps + REST);
                }
            }
    assert_true(few >= 4); /* fused_march_2d and fused_march_3d */
}

/* Cells beyond the end of the longest axis that a grid may have would not be ints. */
void test_plan__tiles_end_where_ints_do(void **state)
{
    struct cube cube;
    struct hs_kernel_plan plan;
    char reason[256];
    for (int64_t n = INT32_MAX - 128; n <= INT32_MAX; n += 128) {
        set_cube(&cube, 64, 2, 1);
        cube.of.layout.points[HS_Y] = cube.of.box.hi[HS_Y] = n;
        const bool can = hs_kernel_plan_make(&hs_kernel_cuda_temporal_2d, &cube.of, h200(), &plan,
                                             reason, sizeof reason);
        assert_int_equal(can, n < INT32_MAX);
    }
    assert_non_null(strstr(reason, "temporal_2d needs fewer than 2^31 - 128 points"));
}
