/* Strips of fused_march_2d. */
#include "core/tiling_strips.h"
#include "test.h"
#include "unit/core/cube.h"

/* Of fused_march_2d: strips follow one another without a gap, each with a rim on both sides but at
 * a face, and begin to store at multiples of 32 bytes. */
void test_tiling_strips__follow_one_another(void **state)
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
                if (p == HS_DOUBLE && cube.sweep.steps > HS_STRIP_FEW_DOUBLE)
                    cube.sweep.steps = HS_STRIP_STEPS_DOUBLE;
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
