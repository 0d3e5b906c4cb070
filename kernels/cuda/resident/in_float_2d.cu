/* resident.cu in float, 2D. */
#include "launch.cuh"

template hs_status resident::launch<float, 2>(const hs_kernel_plan *, const hs_sweep *, hs_error *);
