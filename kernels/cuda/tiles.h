/* Tile and launch arithmetic for the CUDA kernels' plans. Valid as C and as C++. */
#ifndef HS_KERNELS_CUDA_TILES_H
#define HS_KERNELS_CUDA_TILES_H

#include "core/device.h"
#include "core/kernel.h"
#include "core/round.h"
#include "generated/cuda.h"

#include <assert.h>
#include <string.h>

/* The sweep function of kernel `name`. In C this declares it for the descriptor, in every build;
 * without nvcc it is NULL (a weak symbol; a weak one does not pull an object out of the library, so
 * with nvcc it is not weak). In C++ this is the head of the kernel's definition. */
#ifdef __cplusplus
#define HS_CUDA_SWEEP(name)                                                                        \
    extern "C" hs_status hs_sweep_cuda_##name(const hs_kernel_plan *plan, const hs_sweep *sweep,   \
                                              hs_error *err)
#elif HS_WITH_CUDA
#define HS_CUDA_SWEEP(name)                                                                        \
    enum hs_status hs_sweep_cuda_##name(const struct hs_kernel_plan *plan,                         \
                                        const struct hs_sweep *sweep, struct hs_error *err)
#else
#define HS_CUDA_SWEEP(name)                                                                        \
    __attribute__((weak)) enum hs_status hs_sweep_cuda_##name(                                     \
        const struct hs_kernel_plan *plan, const struct hs_sweep *sweep, struct hs_error *err)
#endif

/* The head of a function that kernels use in constant expressions. */
#ifdef __cplusplus
#define HS_CONSTANT constexpr
#else
#define HS_CONSTANT static inline
#endif

/* Copies a kernel's own struct into the plan and out of it. */
#define HS_PLAN_PUT(plan, from)                                                                    \
    do {                                                                                           \
        static_assert(sizeof(from) <= sizeof(plan)->own, "HS_PLAN_NUMBERS is too small");          \
        memcpy((plan)->own, &(from), sizeof(from));                                                \
    } while (0)
#define HS_PLAN_GET(plan, to) memcpy(&(to), (plan)->own, sizeof(to))

enum {
    HS_WARP = 32,
    HS_VECTOR_BYTES = 16, /* bytes that a thread moves at once */
};

/* The case with `steps` filled in if it leaves them open, and its nodes moved by `shift`. */
struct hs_case hs_tile_case(const struct hs_case *of, int steps, int shift);

/* The user's blocking if one was asked for, else the kernel's own. */
struct hs_blocking hs_tile_blocking(const struct hs_case *of, struct hs_blocking own);

/* Points in the bytes that a thread moves at once. */
int hs_tile_vector(const struct hs_case *of);

/* The case's box and the held layers around it: what a kernel that applies walls writes. */
struct hs_box hs_tile_with_held(const struct hs_case *of);

/* The case's box, extended so that rows begin at a multiple of a line of 128 bytes. */
struct hs_box hs_tile_aligned(const struct hs_case *of);

/* Layers that a sweep reads beyond a tile along an axis. */
int hs_tile_halo(const struct hs_case *of, int axis);

int64_t hs_tile_volume(const int extent[HS_AXES]);

/* Points of the tile and of the halos at its faces, without edges and corners. */
int64_t hs_tile_star_points(const struct hs_case *of, const int tile[HS_AXES]);

/* Sets `out` to tiles that store x, y, z points and read a halo around them. */
void hs_tile_set(const struct hs_case *of, int x, int y, int z, struct hs_geometry *out);

/* Fills in what follows from the tiles in `out` if each is read and stored whole: the blocks of
 * `threads` threads that cover the box, points and flops. Plans with other counts correct them. */
void hs_tile_finish(const struct hs_case *of, const struct hs_box *box, const int threads[HS_AXES],
                    struct hs_geometry *out);

/* Blocks that march along z, one thread per point of a plane's input tile in shared memory. */
void hs_tile_marching(const struct hs_case *of, struct hs_blocking own, struct hs_geometry *out);

/* Flops per node for all sweeps: a difference and a multiply-add for each edge, and three more
 * multiply-adds. */
double hs_tile_conduction_flops(const struct hs_case *of);

/* How many nodes away along an axis a node's final value depends on. */
int hs_tile_reach(const struct hs_case *of);

/* How many tiles of `size` points cover an axis of n. A tile sweeps `halo` points on each side
 * without storing them, except at a face, where it begins or ends and needs none. */
int64_t hs_tile_overlapping(int64_t n, int size, int halo, bool wrap);

/*
 * How many planes a block of a single-sweep march goes through: the number with the least time in
 * this model, in planes: waves of blocks times (planes + planes loaded twice + a few until the
 * first loads arrive). `tiles` is per plane, `wave` the number of blocks that run at once.
 */
int64_t hs_tile_chunk(int64_t tiles, int64_t planes, int radius, int64_t wave);

/* Whether the GPU is of compute capability 9.x to most.x; if not, why. */
bool hs_tile_capable(const char *name, const struct hs_device_limits *limits, int most,
                     char *reason, size_t size);

#endif
