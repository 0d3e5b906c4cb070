/* resident.cu in double, 3D. */
#include "launch.cuh"

template hs_status resident::launch<double, 3>(const hs_kernel_plan *, const hs_sweep *,
                                               hs_error *);
