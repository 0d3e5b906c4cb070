/* Reductions of slabs against those of the whole, on the device. */
#include "gpu/gpu.h"
#include "slabs.h"

void test_cuda_reduce__does_not_depend_on_slabs(void **state)
{
    (void)state;
    const struct hs_kernel *stencil = NULL, *conduction = NULL;
    struct hs_error err;
    hs_error_init(&err);
    check(hs_kernel_find("basic", HS_CUDA, &stencil, &err), &err, "basic");
    check(hs_kernel_find("conduction_basic", HS_CUDA, &conduction, &err), &err, "conduction_basic");
    slabs_compare_all(cuda_backend(), stencil, conduction);
    hs_error_release(&err);
}
