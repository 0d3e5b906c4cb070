/* The plans of fused_march_3d and fused_fields_3d. */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_3D_PLAN_H
#define HS_KERNELS_CUDA_FUSED_MARCH_3D_PLAN_H

#include "columns.h"

/* Sweeps that a launch of fused_march_3d may take (hs_kernel_plan), and of fused_fields_3d besides
 * its most. The rest of a stretch takes at most one launch more than it could. */
#define HS_FUSED_TAKES (1u << 0 | 1u << 1 | 1u << 3)
#define HS_FUSED_FIELDS_TAKES (1u << 0 | 1u << 2)

#endif
