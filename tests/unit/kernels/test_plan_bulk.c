/* Tiles of bulk_march, and the shared memory of its blocks. */
#include "bulk_march/plan.h"
#include "test.h"
#include "unit/kernels/cube.h"

extern const struct hs_kernel hs_kernel_cuda_bulk_march;

/* A block has a multiprocessor to itself, so there should be nearly as many blocks in a round.
 * Planes must be in transit beside the one in use, also with a source field. */
void test_plan_bulk__fills_the_device(void **state)
{
    static const int64_t sizes[HS_AXES + 1] = {[2] = 16384, [3] = 512};
    for (int dims = 2; dims <= 3; dims++)
        for (int radius = 1; radius <= 3; radius++)
            for (int precision = 0; precision < HS_PRECISIONS; precision++)
                for (int source = 0; source < 2; source++) {
                    struct cube cube;
                    set_cube(&cube, sizes[dims], dims, radius);
                    set_precision(&cube, (enum hs_precision)precision);
                    cube.of.asked |= source ? HS_SOURCE | HS_SOURCE_FIELD : 0;
                    const struct hs_geometry g =
                        plan_for(&hs_kernel_cuda_bulk_march, &cube.of).launch;
                    assert_in_range(g.launched, 120, h200()->multiprocessors);
                    assert_true(g.shared_bytes <= HS_BULK_SHARED_BYTES);
                    const int stages = hs_bulk_stages(dims, radius, false, source);
                    assert_true(stages >= 3);
                    assert_true(g.shared_bytes >=
                                stages * hs_bulk_stage_bytes(dims, radius, false, source));
                }
}
