/* The plans of fused_march_3d and fused_fields_3d. */
#ifndef HS_KERNELS_CUDA_FUSED_MARCH_3D_PLAN_H
#define HS_KERNELS_CUDA_FUSED_MARCH_3D_PLAN_H

#include "columns.h"

#endif
