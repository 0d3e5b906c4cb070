/* The launches of the ladder against the figures in Hwu, Kirk, El Hajj, 4th ed., ch. 8. */
#include "engine/registry.h"
#include "test.h"
#include "unit/kernels/cube.h"

#include <string.h>

static struct hs_geometry launch(const char *name, int64_t n, int tx, int ty, int tz, int planes)
{
    struct cube cube;
    set_cube(&cube, n, 3, 1);
    cube.of.blocking = (struct hs_blocking){{tx, ty, tz}, planes};
    const struct hs_kernel *kernel = NULL;
    for (int k = 0; hs_kernels[k]; k++)
        if (strcmp(hs_kernels[k]->name, name) == 0)
            kernel = hs_kernels[k];
    assert_non_null(kernel);
    return plan_for(kernel, &cube.of).launch;
}

void test_plan_ladder__basic_has_the_textbooks_figures(void **state)
{
    const struct hs_geometry g = launch("basic", 120, 8, 8, 8, 0);
    assert_int_equal(g.points_updated, 1643032);
    assert_int_equal(g.launched, 3375);
    assert_near(hs_geometry_intensity(&g, HS_FLOAT), 13.0 / 28.0, 1e-15); /* 0.46 */
}

void test_plan_ladder__shared_tile_has_the_textbooks_figures(void **state)
{
    struct hs_geometry g = launch("shared_tile", 120, 8, 8, 8, 0);
    assert_int_equal(g.launched, 8000);
    assert_near(hs_geometry_intensity(&g, HS_FLOAT), 1.37, 0.005);
    double before = 0.0;
    for (int t = 4; t <= 4096; t *= 2) { /* towards 13/4 from below, by a factor of (1 - 2/t)^3 */
        g = launch("shared_tile", 120, t, t, t, 0);
        const double intensity = hs_geometry_intensity(&g, HS_FLOAT);
        assert_true(intensity > before && intensity < 3.25);
        before = intensity;
    }
    assert_near(before, 3.25, 3.25 * 6.0 / 4096.0);
}

void test_plan_ladder__coarsened_has_the_textbooks_figures(void **state)
{
    struct hs_geometry g = launch("coarsened", 120, 32, 32, 1, 30);
    assert_int_equal(g.launched, 64);
    g = launch("coarsened", 120, 32, 32, 1, 16);
    assert_int_equal(g.points_loaded, 18432);
    assert_int_equal(g.points_written, 14400);
    assert_near(hs_geometry_intensity(&g, HS_FLOAT), 2.54, 0.005);
    assert_int_equal(g.shared_bytes, 12288);
    g = launch("register_tile", 120, 32, 32, 1, 16);
    assert_int_equal(g.shared_bytes, 4096);
    assert_int_equal(g.points_loaded, 18432);
}
