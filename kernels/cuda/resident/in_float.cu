/* resident.cu in float. */
#include "launch.cuh"

template hs_status resident::launch<float>(const hs_kernel_plan *, const hs_sweep *, hs_error *);
