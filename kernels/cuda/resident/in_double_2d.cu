/* resident.cu in double, 2D. */
#include "launch.cuh"

template hs_status resident::launch<double, 2>(const hs_kernel_plan *, const hs_sweep *,
                                               hs_error *);
