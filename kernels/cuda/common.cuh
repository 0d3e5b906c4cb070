/*
 * What the CUDA kernels share: the request in the kernel's precision, the fixed order of additions,
 * the choice of template arguments, and the checked launch.
 *
 * The compiler contracts nothing by itself (-fmad=false): a multiplication and an addition are
 * fused where fused() says so, and nowhere else. So results equal the CPU's bit for bit.
 */
#ifndef HS_KERNELS_CUDA_COMMON_CUH
#define HS_KERNELS_CUDA_COMMON_CUH

#include "tiles.h"

#include "core/cuda_numbers.cuh"
#include "core/cuda_shared.h"

#include <stdint.h>
#include <type_traits>

namespace star
{

/* One sweep without boundary rules, by value in the kernel's parameter. */
template <typename T>
struct request {
    const T *in; /* node (0, 0, 0) */
    T *out;
    const T *source; /* or nullptr: source_value everywhere */
    T source_value;
    bool may_copy; /* as in hs_sweep */
    int64_t pitch_y, pitch_z;
    int64_t lo[HS_AXES], hi[HS_AXES]; /* the box */
    int64_t first[HS_AXES];   /* where the first tile begins: lo, unless a kernel changes it */
    int64_t tiles[HS_AXES];   /* blocks along each axis; the launch numbers them consecutively */
    T c[HS_MAX_COEFFICIENTS]; /* in the order of the additions */
    const T *before;          /* X_-1 of a recursion, or nullptr without one; may be `out` */
    T factor;
};

/* A node's new value if there is a recursion: its next term. */
template <typename T>
__device__ __forceinline__ T advanced(const request<T> &r, T swept, T before)
{
    return fused(r.factor, swept - before, swept);
}

/* This block's tile along each axis. The launch is one-dimensional because a grid's extents along y
 * and z are limited to 65535. */
struct tile_index {
    int64_t x, y, z;
};

template <typename T>
__device__ __forceinline__ tile_index this_tile(const request<T> &r)
{
    const unsigned block = blockIdx.x, nx = (unsigned)r.tiles[HS_X], ny = (unsigned)r.tiles[HS_Y];
    const unsigned row = block / nx;
    return {(int64_t)(block - row * nx), (int64_t)(row % ny), (int64_t)(row / ny)};
}

template <typename T>
__device__ __forceinline__ bool in_box(const request<T> &r, int64_t x, int64_t y, int64_t z)
{
    return x >= r.lo[HS_X] && x < r.hi[HS_X] && y >= r.lo[HS_Y] && y < r.hi[HS_Y] &&
           z >= r.lo[HS_Z] && z < r.hi[HS_Z];
}

/* The same value, hidden from the compiler: whatever depends on it is computed where it is needed,
 * and not kept in a register around a loop. */
template <typename Integer>
__device__ __forceinline__ Integer anew(Integer value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/*
 * The sum of one point in the fixed order of additions (core/stencil.h), starting from the source:
 * read(axis, offset) gives the neighbours. All loops unroll, so axis and offset are constants.
 * Marches along the slowest axis use its parts: add_below adds the neighbour o below along that
 * axis, from R to 1; add_within adds all others and the point itself; add_above adds the neighbour
 * o above, from 1 to R.
 */
template <int DIMS, int R, typename T>
__device__ __forceinline__ T add_below(const T (&c)[HS_MAX_COEFFICIENTS], T acc, int o, T neighbour)
{
    return fused(c[R - o], neighbour, acc);
}

template <int DIMS, int R, typename T, typename Read>
__device__ __forceinline__ T add_within(const T (&c)[HS_MAX_COEFFICIENTS], T acc, Read read)
{
#pragma unroll
    for (int axis = DIMS - 2; axis >= 0; axis--)
#pragma unroll
        for (int o = -R; o < 0; o++)
            acc = fused(c[(DIMS - 1 - axis) * R + R + o], read(axis, o), acc);
    acc = fused(c[DIMS * R], read(0, 0), acc);
#pragma unroll
    for (int axis = 0; axis < DIMS - 1; axis++)
#pragma unroll
        for (int o = 1; o <= R; o++)
            acc = fused(c[DIMS * R + axis * R + o], read(axis, o), acc);
    return acc;
}

template <int DIMS, int R, typename T>
__device__ __forceinline__ T add_above(const T (&c)[HS_MAX_COEFFICIENTS], T acc, int o, T neighbour)
{
    return fused(c[DIMS * R + (DIMS - 1) * R + o], neighbour, acc);
}

/* Written out: composed of the parts, it needs one more register, and collaborative_2d spills on
 * sm_80. */
template <int DIMS, int R, typename T, typename Read>
__device__ __forceinline__ T sum(const T (&c)[HS_MAX_COEFFICIENTS], T start, Read read)
{
    T acc = start;
#pragma unroll
    for (int axis = DIMS - 1; axis >= 0; axis--)
#pragma unroll
        for (int o = -R; o < 0; o++)
            acc = fused(c[(DIMS - 1 - axis) * R + R + o], read(axis, o), acc);
    acc = fused(c[DIMS * R], read(0, 0), acc);
#pragma unroll
    for (int axis = 0; axis < DIMS - 1; axis++)
#pragma unroll
        for (int o = 1; o <= R; o++)
            acc = fused(c[DIMS * R + axis * R + o], read(axis, o), acc);
#pragma unroll
    for (int o = 1; o <= R; o++)
        acc = add_above<DIMS, R>(c, acc, o, read(DIMS - 1, o));
    return acc;
}

template <typename T>
__device__ __forceinline__ T start(const request<T> &r, int64_t at)
{
    return r.source ? r.source[at] : r.source_value;
}

/* ---- host ---------------------------------------------------------------------------------- */

/* The coefficients in the order of the additions. */
template <typename T, int COUNT>
void take_coefficients(const hs_sweep *sweep, T (&to)[COUNT])
{
    hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(&sweep->op->stencil, terms);
    for (int i = 0; i < count; i++)
        to[i] = (T)terms[i].c;
}

template <typename T>
request<T> make_request(const hs_sweep *sweep, const hs_geometry &geometry)
{
    request<T> r = {};
    r.in = (const T *)sweep->in;
    r.out = (T *)sweep->out;
    r.source = (const T *)hs_source_field(&sweep->source);
    r.source_value = (T)sweep->source.value[0];
    r.may_copy = sweep->may_copy;
    if (sweep->recursion) {
        r.before = (const T *)sweep->recursion->before;
        r.factor = (T)*sweep->recursion->factor;
    }
    r.pitch_y = sweep->layout.pitch[HS_Y];
    r.pitch_z = sweep->layout.pitch[HS_Z];
    for (int axis = 0; axis < HS_AXES; axis++) {
        r.lo[axis] = r.first[axis] = sweep->box.lo[axis];
        r.hi[axis] = sweep->box.hi[axis];
        r.tiles[axis] = geometry.blocks[axis];
    }
    take_coefficients(sweep, r.c);
    return r;
}

/* Launches kernel(argument, more...) with the geometry's blocks in one dimension. If `together`,
 * all run at the same time. An empty box launches nothing. */
template <typename Argument, typename... Parameters, typename... More>
hs_status launch_as(bool together, const char *name, void (*kernel)(Argument, Parameters...),
                    const Argument &argument, const hs_geometry &geometry, void *stream,
                    hs_error *err, More... more)
{
    const int64_t blocks = geometry.launched;
    if (blocks == 0)
        return HS_OK;
    const int *threads = geometry.threads;
    if (blocks > INT32_MAX)
        return hs_error_add(err, HS_DEVICE,
                            "kernel %s: %lld blocks are more than a launch can have (2147483647)",
                            name, (long long)blocks);
    cudaError_t status = cudaSuccess;
    if (geometry.shared_bytes > 48 * 1024) /* more must be enabled */
        status =
            cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 (int)geometry.shared_bytes);
    if (status == cudaSuccess) {
        cudaLaunchConfig_t config = {};
        cudaLaunchAttribute attribute = {};
        config.gridDim = dim3((unsigned)blocks, 1, 1);
        config.blockDim =
            dim3((unsigned)threads[HS_X], (unsigned)threads[HS_Y], (unsigned)threads[HS_Z]);
        config.dynamicSmemBytes = (size_t)geometry.shared_bytes;
        config.stream = (cudaStream_t)stream;
        attribute.id = cudaLaunchAttributeCooperative;
        attribute.val.cooperative = 1;
        config.attrs = &attribute;
        config.numAttrs = together;
        status = cudaLaunchKernelEx(&config, kernel, argument, (Parameters)more...);
    }
    if (status == cudaSuccess)
        return HS_OK;
    return hs_error_add(err, HS_DEVICE,
                        "kernel %s: cudaLaunchKernelEx of %lld blocks of %d x %d x %d threads with "
                        "%lld bytes of shared memory: %s",
                        name, (long long)blocks, threads[HS_X], threads[HS_Y], threads[HS_Z],
                        (long long)geometry.shared_bytes, cudaGetErrorString(status));
}

template <typename Argument, typename... Parameters, typename... More>
hs_status launch(const char *name, void (*kernel)(Argument, Parameters...),
                 const Argument &argument, const hs_geometry &geometry, void *stream, hs_error *err,
                 More... more)
{
    return launch_as(false, name, kernel, argument, geometry, stream, err, more...);
}

/* Runs all blocks at the same time, so that they may wait for each other; a device that cannot run
 * so many at once refuses the launch. */
template <typename Argument>
hs_status launch_together(const char *name, void (*kernel)(Argument), const Argument &argument,
                          const hs_geometry &geometry, void *stream, hs_error *err)
{
    return launch_as(true, name, kernel, argument, geometry, stream, err);
}

template <int N>
using number = std::integral_constant<int, N>;

/* Calls run(number<n>) for n from LEAST to MOST. Of these the numbers with a bit in TAKES are
 * compiled (hs_kernel_plan): bit 0 is 1. `name` says what n is. */
template <int LEAST, int MOST, uint32_t TAKES = ~0u, typename Run>
hs_status choose_number(const char *name, int n, hs_error *err, Run run)
{
    if constexpr (MOST < LEAST)
        return hs_error_add(err, HS_BAD_INPUT, "%s = %d is not compiled in", name, n);
    else {
        if constexpr (TAKES >> (MOST - 1) & 1u)
            if (n == MOST)
                return run(number<MOST>{});
        return choose_number<LEAST, MOST - 1, TAKES>(name, n, err, run);
    }
}

/*
 * Calls run(number<dims>, number<radius>, T{}) for the sweep's dims, radius and precision. Dims
 * from DIMS_LEAST to DIMS_MOST and radii from 1 to RADIUS_MOST are compiled.
 */
template <int DIMS_LEAST, int DIMS_MOST, int RADIUS_MOST, typename Run>
hs_status choose(const hs_sweep *sweep, hs_error *err, Run run)
{
    const hs_stencil &stencil = sweep->op->stencil;
    return choose_number<DIMS_LEAST, DIMS_MOST>("dims", stencil.dims, err, [&](auto dims) {
        return choose_number<1, RADIUS_MOST>("radius", stencil.radius, err, [&](auto radius) {
            return sweep->precision == HS_FLOAT ? run(dims, radius, float{})
                                                : run(dims, radius, double{});
        });
    });
}

} // namespace star

#endif
