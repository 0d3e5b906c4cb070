/* Declares a block's dynamic shared memory as an array: STAR_SHARED(tile, T, [8][8]) declares
 * tile[8][8]. For .cu files; an emulator has its own version. */
#ifndef HS_CORE_CUDA_SHARED_H
#define HS_CORE_CUDA_SHARED_H

#ifdef __CUDACC__
#define STAR_SHARED(name, T, extent)                                                               \
    extern __shared__ __align__(128) unsigned char star_shared_memory[];                           \
    auto &name = *reinterpret_cast<T(*) extent>(star_shared_memory)
#endif

#endif
