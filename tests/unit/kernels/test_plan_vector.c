/* Tiles of vector_march. */
#include "test.h"
#include "unit/kernels/cube.h"
#include "vector_march/plan.h"

extern const struct hs_kernel hs_kernel_cuda_vector_march;

/* In 2D chunks fill whole waves, in 3D they are so short that the last wave hardly matters: either
 * way at most a tenth is lost on grids that keep the device busy. */
void test_plan_vector__fills_its_waves(void **state)
{
    static const struct {
        int64_t n;
        int dims;
    } jobs[] = {{4096, 2}, {16384, 2}, {512, 3}, {1024, 3}};
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        struct cube cube;
        set_cube(&cube, jobs[j].n, jobs[j].dims, 1);
        const struct hs_geometry g = plan_for(&hs_kernel_cuda_vector_march, &cube.of).launch;
        const int64_t wave = (int64_t)h200()->multiprocessors * hs_vector_blocks(jobs[j].dims, 1);
        const int64_t waves = (g.launched + wave - 1) / wave;
        assert_true((double)g.launched / (double)(waves * wave) > 0.90);
    }
}
