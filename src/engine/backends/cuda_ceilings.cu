/* The device's peak: fused multiply-adds, and reads from L2. */
#include "core/cuda_numbers.cuh"
#include "engine/backends/cuda_parts.cuh"

namespace
{

enum {
    THREADS = 256,
    CHAINS = 8,    /* independent sums of a thread: more than an addition takes clocks */
    LENGTH = 8192, /* multiply-adds of each */
    ROUNDS = 256,  /* of reads, a launch */
    IN_FLIGHT = 4, /* loads in flight of a thread */
    LAUNCHES = 9,  /* of which the fastest counts: a ceiling is what was reached once */
};

template <typename T>
__global__ void __launch_bounds__(THREADS) chains(T factor, T *out)
{
    T sum[CHAINS];
#pragma unroll
    for (int n = 0; n < CHAINS; n++)
        sum[n] = (T)(threadIdx.x + n);
#pragma unroll 16
    for (int i = 0; i < LENGTH; i++)
#pragma unroll
        for (int n = 0; n < CHAINS; n++)
            sum[n] = star::fused(sum[n], factor, factor);
    T all = 0;
#pragma unroll
    for (int n = 0; n < CHAINS; n++)
        all += sum[n];
    if (all == (T)-1) /* never: the compiler does not know */
        *out = all;
}

/* Reads bypass L1. Blocks that run at the same time read different places, so that no request can
 * serve two of them. */
__global__ void __launch_bounds__(THREADS) reads(const uint4 *buffer, int vectors, uint4 *out)
{
    uint4 all = {};
    const int stride = THREADS * IN_FLIGHT;
    for (int round = 0; round < ROUNDS; round++) {
        const int first = (int)((blockIdx.x + (long long)round * gridDim.x) * stride % vectors);
        uint4 got[IN_FLIGHT];
#pragma unroll
        for (int n = 0; n < IN_FLIGHT; n++)
            got[n] = __ldcg(buffer + first + n * THREADS + threadIdx.x);
#pragma unroll
        for (int n = 0; n < IN_FLIGHT; n++) {
            all.x ^= got[n].x;
            all.y ^= got[n].y;
            all.z ^= got[n].z;
            all.w ^= got[n].w;
        }
    }
    if (all.x == 1 && all.y == 2 && all.z == 3 && all.w == 4) /* never: the buffer is 0 */
        *out = all;
}

/* What the probes have in common. */
struct bench {
    cudaStream_t stream;
    hs_cuda_timer timer;
    int blocks;
    char *buffer;
    size_t bytes; /* of the buffer: a multiple of what a block reads at once */
};

hs_status launch(const bench &b, hs_precision precision, bool reading, hs_error *err)
{
    if (reading)
        reads<<<b.blocks, THREADS, 0, b.stream>>>(
            (const uint4 *)b.buffer, (int)(b.bytes / sizeof(uint4)), (uint4 *)b.buffer);
    else if (precision == HS_FLOAT)
        chains<<<b.blocks, THREADS, 0, b.stream>>>(0.5f, (float *)b.buffer);
    else
        chains<<<b.blocks, THREADS, 0, b.stream>>>(0.5, (double *)b.buffer);
    HS_CUDA_LAUNCHED(err, reading ? "reads" : "chains", b.blocks, THREADS);
    return HS_OK;
}

hs_status fastest(bench &b, hs_precision precision, bool reading, double *seconds, hs_error *err)
{
    *seconds = 1e30;
    for (int n = 0; n < LAUNCHES; n++) {
        double took = 0.0;
        HS_TRY(hs_cuda_timer_start(&b.timer, b.stream, err));
        HS_TRY(launch(b, precision, reading, err));
        HS_TRY(hs_cuda_timer_stop(&b.timer, b.stream, err));
        HS_CUDA_TRY(err, cudaStreamSynchronize(b.stream));
        HS_TRY(hs_cuda_timer_read(&b.timer, &took, err));
        *seconds = took < *seconds ? took : *seconds;
    }
    return HS_OK;
}

hs_status measure(bench &b, int device, hs_precision precision, hs_ceilings *out, hs_error *err)
{
    int multiprocessors = 0, resident = 0;
    HS_CUDA_TRY(err,
                cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    HS_CUDA_TRY(err,
                cudaDeviceGetAttribute(&resident, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    b.blocks = multiprocessors * (resident / THREADS); /* all at the same time */
    const size_t unit = (size_t)THREADS * IN_FLIGHT * sizeof(uint4);
    b.bytes = (size_t)(0.4 * hs_cuda_cache(device)) / unit * unit; /* stays there for certain */
    b.bytes = b.bytes > 0 ? b.bytes : unit;
    HS_CUDA_TRY(err, cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking));
    HS_CUDA_TRY(err, cudaMalloc(&b.buffer, b.bytes));
    HS_CUDA_TRY(err, cudaMemsetAsync(b.buffer, 0, b.bytes, b.stream));
    double seconds = 0.0;
    HS_TRY(fastest(b, precision, false, &seconds, err));
    out->flops = 2.0 * (double)CHAINS * (double)LENGTH * (double)THREADS * b.blocks / seconds;
    HS_TRY(fastest(b, precision, true, &seconds, err));
    out->cache = (double)unit * (double)ROUNDS * b.blocks / seconds;
    return HS_OK;
}

} // namespace

hs_status hs_cuda_ceilings(int device, int threads, hs_precision precision, hs_ceilings *out,
                           hs_error *err)
{
    (void)threads;
    *out = {};
    HS_CUDA_TRY(err, cudaSetDevice(device));
    bench b = {};
    const hs_status st = measure(b, device, precision, out, err);
    hs_cuda_timer_release(&b.timer);
    cudaFree(b.buffer);
    if (b.stream)
        cudaStreamDestroy(b.stream);
    return st;
}
