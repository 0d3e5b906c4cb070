/* Reductions of slabs against those of the whole, on the device. */
#include "gpu/gpu.h"
#include "slabs.h"

void test_cuda_reduce__does_not_depend_on_slabs(void **state)
{
    const struct hs_kernel *stencil = NULL, *conduction = NULL;
    assert_ok(hs_kernel_find("basic", HS_CUDA, &stencil, &err));
    assert_ok(hs_kernel_find("conduction_basic", HS_CUDA, &conduction, &err));
    slabs_compare_all(cuda_backend(), stencil, conduction);
}

/* It would include the halo. Where a kernel gives the change, the stored heat is unknown. */
void test_cuda_reduce__a_slab_has_no_fused_max_norm(void **state)
{
    const struct slabs_case c = {.dims = 3, .points = {70, 80, 64}};
    const struct hs_kernel *kernel = NULL;
    assert_ok(hs_kernel_find("fused_march_3d", HS_CUDA, &kernel, &err));
    struct hs_partial *partial = calloc(HS_PIECES_MOST, sizeof *partial);
    struct hs_problem whole, part;
    struct hs_slab slab;
    slabs_problem(&whole, &c);
    void *field = slabs_field(&c);
    slabs_reduce(cuda_backend(), kernel, &whole, field, 8, partial);
    assert_true(partial[0].change > 0.0 && isnan(partial[0].stored.sum));
    slabs_cut(&part, &slab, &whole, 16, 32);
    slabs_reduce(cuda_backend(), kernel, &part, field, 8, partial);
    assert_true(partial[0].change > 0.0 && !isnan(partial[0].stored.sum));
    free(partial);
    free(field);
    hs_problem_release(&whole);
}
