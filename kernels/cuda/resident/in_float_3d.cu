/* resident.cu in float, 3D. */
#include "launch.cuh"

template hs_status resident::launch<float, 3>(const hs_kernel_plan *, const hs_sweep *, hs_error *);
