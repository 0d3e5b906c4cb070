/* CUDA's asynchronous copies to shared memory and its barriers there. */
#ifndef HS_CORE_CUDA_ASYNCHRONOUS_CUH
#define HS_CORE_CUDA_ASYNCHRONOUS_CUH

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of its own */
#include <cuda_awbarrier_primitives.h>
#include <cuda_pipeline.h>
#pragma GCC diagnostic pop

#endif
