/* What the CUDA kernels' plans count with. Plain C, and C++ for the kernels. */
#ifndef HS_KERNELS_CUDA_TILES_H
#define HS_KERNELS_CUDA_TILES_H

#include "core/device.h"
#include "core/kernel.h"
#include "core/round.h"
#include "generated/cuda.h"

#include <assert.h>
#include <string.h>

/* The sweep of kernel `name`: its declaration for the descriptor, which is C and in every build,
 * and NULL where the build lacks nvcc (a weak name does not call for an object of the library, so
 * with nvcc it is none); the head of its definition for the kernel. */
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

/* A kernel's own part of its plan, a struct of its own, to and from. */
#define HS_PLAN_PUT(plan, from)                                                                    \
    do {                                                                                           \
        static_assert(sizeof(from) <= sizeof(plan)->own, "HS_PLAN_NUMBERS is too small");          \
        memcpy((plan)->own, &(from), sizeof(from));                                                \
    } while (0)
#define HS_PLAN_GET(plan, to) memcpy(&(to), (plan)->own, sizeof(to))

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HS_WARP = 32,
    HS_VECTOR_BYTES = 16, /* what a thread moves at once */
};

/* The case with its steps, where it leaves them to the kernel, and its nodes `shift` further on. */
struct hs_case hs_tile_case(const struct hs_case *of, int steps, int shift);

/* The user's wish where there is one, else the kernel's own. */
struct hs_blocking hs_tile_blocking(const struct hs_case *of, struct hs_blocking own);

/* The case's box with the held layers about it: what a kernel that applies walls writes. */
struct hs_box hs_tile_with_held(const struct hs_case *of);

/* Layers that a sweep reads beyond a tile along an axis. */
int hs_tile_halo(const struct hs_case *of, int axis);

int64_t hs_tile_volume(const int extent[HS_AXES]);

/* Points of the tile and its faces' halos, without edges and corners. */
int64_t hs_tile_star_points(const struct hs_case *of, const int tile[HS_AXES]);

/* Makes `out` one of tiles that store x, y, z points and read a halo around them. */
void hs_tile_set(const struct hs_case *of, int x, int y, int z, struct hs_geometry *out);

/* What follows from the tiles in `out`, each read and stored whole: blocks of so many threads that
 * cover the box, points and flops. Plans to which more applies put it right afterwards. */
void hs_tile_finish(const struct hs_case *of, const struct hs_box *box, const int threads[HS_AXES],
                    struct hs_geometry *out);

/* Blocks that are the input tile of a plane, which is in shared memory, and march along z. */
void hs_tile_marching(const struct hs_case *of, struct hs_blocking own, struct hs_geometry *out);

/* Of a node and all sweeps: for each edge a difference and a multiply-add, three of these besides.
 */
double hs_tile_conduction_flops(const struct hs_case *of);

/* How far away along an axis lie the nodes that a node's last value depends on. */
int hs_tile_reach(const struct hs_case *of);

/* Tiles of `size` points along an axis of n, `halo` of which on each side are swept but not stored,
 * except at a face, where none are needed: there the tiles begin and end at the faces. */
int64_t hs_tile_overlapping(int64_t n, int size, int halo, bool wrap);

/*
 * How many planes a block of one sweep marches through: as many as give the least time by this
 * model, in planes: waves of blocks times (planes + those loaded twice + a few for the first loads
 * to arrive). `tiles` is of a plane, `wave` the blocks that run at once.
 */
int64_t hs_tile_chunk(int64_t tiles, int64_t planes, int radius, int64_t wave);

/* Whether the GPU is of compute capability least.x to most.x; if not, why. */
bool hs_tile_capable(const char *name, const struct hs_device_limits *limits, int least, int most,
                     char *reason, size_t size);

#ifdef __cplusplus
}
#endif

#endif
