/*
 * Enough of CUDA to run kernels on a machine without a GPU, for tests only.
 *
 * The kernels' files are compiled as plain C++ with this file in place of CUDA's header. The
 * threads of a block are coroutines of one host thread. Blocks run one after the other, except
 * those of a cooperative launch, which run together:
 *   - at __syncthreads(), every other thread of the block reaches the barrier first;
 *   - a shuffle does the same within the warp;
 *   - between barriers, one thread runs as far as it can before the next one starts. The test
 *     chooses the order (emulator_order); in one of the orders a warp falls behind the others. A
 *     kernel that lacks a barrier gives a different result in one of the orders;
 *   - a thread that waits for another block says so (emulator_yield); if all remaining threads wait
 *     in vain, the test ends at once;
 *   - shared memory has the launch's size, is full of NaN when a block begins, and is followed by a
 *     guard that is checked afterwards.
 * Time, caches, alignment other than that of vectors, and warps in lockstep are not emulated.
 */
#ifndef HS_EMULATOR_CUDA_RUNTIME_H
#define HS_EMULATOR_CUDA_RUNTIME_H

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static
#define __align__(n) alignas(n)
#define __restrict__ __restrict

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

/* What the running thread sees; the emulator sets them when it switches threads. */
extern dim3 threadIdx, blockIdx, blockDim, gridDim;

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) double2 {
    double x, y;
};
inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}
inline double2 make_double2(double x, double y)
{
    return {x, y};
}

/* Fails on misaligned vectors, as the device does. */
void emulator_check_alignment(const void *address, size_t size);
void emulator_expect(bool holds, const char *otherwise);

/* Asynchronous copies of the running thread: start one, end a group, wait for all but the last
 * groups. */
void emulator_copy(void *to, const void *from, size_t size);
void emulator_end_copies();
void emulator_await_copies(size_t groups_left);

template <typename T>
T __ldg(const T *from)
{
    emulator_check_alignment(from, sizeof(T));
    return *from;
}
template <typename T>
T __ldcs(const T *from)
{
    return __ldg(from);
}
template <typename T>
T __ldcg(const T *from)
{
    return __ldg(from);
}
template <typename T>
void __stcs(T *to, T value)
{
    emulator_check_alignment(to, sizeof(T));
    *to = value;
}
template <typename T>
void __stcg(T *to, T value)
{
    __stcs(to, value);
}

/* as CUDA has them at global scope */
template <typename T>
T min(T a, T b)
{
    return b < a ? b : a;
}
template <typename T>
T max(T a, T b)
{
    return a < b ? b : a;
}

inline float __fmaf_rn(float a, float b, float c)
{
    return std::fma(a, b, c);
}
inline double __fma_rn(double a, double b, double c)
{
    return std::fma(a, b, c);
}

/* Plain operations: only one thread runs at a time. */
template <typename T>
T atomicAdd(T *to, T value)
{
    const T before = *to;
    *to += value;
    return before;
}
template <typename T>
T atomicCAS(T *to, T expected, T value)
{
    const T before = *to;
    if (before == expected)
        *to = value;
    return before;
}
template <typename T>
T atomicMax(T *to, T value)
{
    const T before = *to;
    *to = max(before, value);
    return before;
}
inline void __threadfence()
{
}
inline void __trap()
{
    emulator_expect(false, "a trap");
}

void __syncthreads();
void __syncwarp(unsigned mask = 0xffffffffu);

/* Lets other threads run, also those of other blocks, since this thread waits for one of them. */
void emulator_yield();

/* Replaces the value (of up to 16 bytes) by the one that lane `source` brings to this shuffle. */
void emulator_exchange(void *value, size_t size, int source);
int emulator_lane();

template <typename T>
T __shfl_sync(unsigned, T value, int source)
{
    emulator_exchange(&value, sizeof value, source & 31);
    return value;
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned lanes, int width = 32)
{
    const int lane = emulator_lane(), source = lane - (int)lanes;
    return __shfl_sync(mask, value, lane % width < (int)lanes ? lane : source);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned lanes, int width = 32)
{
    const int lane = emulator_lane(), source = lane + (int)lanes;
    return __shfl_sync(mask, value, lane % width + (int)lanes >= width ? lane : source);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits)
{
    return __shfl_sync(mask, value, emulator_lane() ^ bits);
}
/* Whether `holds` is true in all lanes. Limits how often a thread may ask in vain. */
bool __all_sync(unsigned mask, bool holds);

inline unsigned __reduce_or_sync(unsigned mask, unsigned bits)
{
    for (int far = 1; far < 32; far *= 2)
        bits |= __shfl_xor_sync(mask, bits, far);
    return bits;
}

inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    return __reduce_or_sync(mask, predicate ? 1u << emulator_lane() : 0u);
}

inline int __any_sync(unsigned mask, int predicate)
{
    int any = 0;
    for (int lane = 0; lane < 32; lane++)
        any |= __shfl_sync(mask, predicate, lane);
    return any != 0;
}

/* ---- host ----------------------------------------------------------------------------------- */

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
typedef void *cudaStream_t;
enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr what, int)
{
    *value = what == cudaDevAttrMultiProcessorCount      ? 5
             : what == cudaDevAttrComputeCapabilityMajor ? 9
             : what == cudaDevAttrCooperativeLaunch      ? 1
                                                         : 227 * 1024;
    return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}
template <typename T>
cudaError_t cudaMalloc(T **out, size_t size)
{
    *out = (T *)malloc(size);
    return *out ? cudaSuccess : cudaErrorInvalidValue;
}
inline cudaError_t cudaFree(void *memory)
{
    free(memory);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *to, int value, size_t size)
{
    memset(to, value, size);
    return cudaSuccess;
}
template <typename T>
cudaError_t cudaMallocHost(T **out, size_t size)
{
    return cudaMalloc(out, size);
}
inline cudaError_t cudaFreeHost(void *memory)
{
    return cudaFree(memory);
}
inline cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t)
{
    return cudaMemset(to, value, size);
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}
/* Copies are done when they are called: nothing is to be waited for. */
typedef void *cudaEvent_t;
enum { cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    *event = nullptr;
    return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t)
{
    return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3
};
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind)
{
    memcpy(to, from, size);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind,
                                   cudaStream_t)
{
    memcpy(to, from, size);
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t to_row, const void *from, size_t from_row,
                                     size_t width, size_t rows, cudaMemcpyKind, cudaStream_t)
{
    if (to_row < width || from_row < width)
        return cudaErrorInvalidValue;
    for (size_t r = 0; r < rows; r++)
        memcpy((char *)to + r * to_row, (const char *)from + r * from_row, width);
    return cudaSuccess;
}
enum cudaLaunchAttributeID { cudaLaunchAttributeCooperative = 2 };
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    struct {
        int cooperative;
    } val;
};
struct cudaFuncAttributes {
};
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, const void *)
{
    return cudaSuccess;
}
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

const char *cudaGetErrorString(cudaError_t status);
cudaError_t cudaFuncSetAttribute(const void *function, cudaFuncAttribute attribute, int value);
cudaError_t emulator_launch(const cudaLaunchConfig_t *config, const std::function<void()> &thread);

/* A graph is a list of launches, stored instead of executed. */
struct emulator_graph {
    std::vector<std::function<cudaError_t()>> launches;
};
typedef emulator_graph *cudaGraph_t, *cudaGraphExec_t;
inline cudaGraph_t emulator_captured;
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };

inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode)
{
    emulator_captured = new emulator_graph;
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *out)
{
    *out = emulator_captured;
    emulator_captured = NULL;
    return cudaSuccess;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, int)
{
    *out = new emulator_graph(*graph);
    return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    return cudaGraphDestroy(graph);
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t)
{
    for (const auto &launch : graph->launches)
        if (launch() != cudaSuccess)
            return cudaErrorInvalidValue;
    return cudaSuccess;
}

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                               Arguments &&...arguments)
{
    if (emulator_captured) {
        emulator_captured->launches.push_back([config = *config, kernel, arguments...] {
            return emulator_launch(&config, [&] { kernel(arguments...); });
        });
        return cudaSuccess;
    }
    return emulator_launch(config, [&] { kernel(arguments...); });
}

extern unsigned char *emulator_shared; /* the running block's dynamic shared memory, which a kernel
                                          looks up before its first barrier */

#define STAR_SHARED(name, T, extent) auto &name = *reinterpret_cast<T(*) extent>(emulator_shared)

/* ---- for the tests --------------------------------------------------------------------------- */

enum emulator_order { EMULATOR_ASCENDING, EMULATOR_DESCENDING, EMULATOR_SHUFFLED, EMULATOR_ORDERS };
void emulator_set_order(enum emulator_order order);
/* What went wrong in launches since the last call, or NULL. */
const char *emulator_complaint();

#endif
