/* Marks a function that is called from kernels and from the host. */
#ifndef HS_CORE_HOST_DEVICE_H
#define HS_CORE_HOST_DEVICE_H

#ifdef __CUDACC__
#define HS_HOST_DEVICE __host__ __device__
#else
#define HS_HOST_DEVICE
#endif

#endif
