/* resident.cu in double. */
#include "launch.cuh"

template hs_status resident::launch<double>(const hs_kernel_plan *, const hs_sweep *, hs_error *);
