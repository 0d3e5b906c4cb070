/*
 * usage: planted rows|ring sound|race
 *
 * Shows what racecheck reports about the two ways in which kernels here use barriers in shared
 * memory, in minimal form: sound, and with a planted race. tests/gpu/run expects no report for the
 * one and a report for the other, so that silence about the kernels means something.
 *
 *   rows   neighbouring warps exchange rows through two alternating buffers (fused_march.cuh).
 *          The race: one buffer.
 *   ring   one warp starts bulk copies of rows, the others read them (bulk_march). The race: a row
 *          is released before it is read.
 *
 * For GPUs of compute capability 9 and later; on others it does nothing.
 */
#include "bulk.cuh"

#include <stdio.h>
#include <string.h>

namespace
{

enum { WARP = 32, WARPS = 4, STEPS = 12, STAGES = 4, ROW = 128 };

template <bool RACE>
__global__ void rows(float *out)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __shared__ float edge[2][WARPS + 2][WARP];
    __shared__ bulk::barrier arrived[2][WARPS];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int w = warp; w < WARPS + 2; w += WARPS)
        edge[0][w][lane] = edge[1][w][lane] = 0;
    if (threadIdx.x < 2 * WARPS) {
        const int of = threadIdx.x % WARPS, neighbours = of % (WARPS - 1) == 0 ? 1 : 2;
        __mbarrier_init(&arrived[threadIdx.x / WARPS][of], WARP * neighbours);
    }
    __syncthreads();
    float value = lane + warp;
    for (int s = 0; s <= STEPS; s++) {
        if (warp > 0)
            __mbarrier_arrive(&arrived[s % 2][warp - 1]);
        if (warp < WARPS - 1)
            __mbarrier_arrive(&arrived[s % 2][warp + 1]);
        bulk::wait(&arrived[s % 2][warp], s / 2 % 2);
        if (s == STEPS)
            break;
        edge[s % 2][warp + 1][lane] = value;
        const int from = RACE ? s % 2 : 1 - s % 2;
        value += edge[from][warp][lane] + edge[from][warp + 2][lane];
    }
    out[threadIdx.x] = value;
#else
    (void)out;
#endif
}

template <bool RACE>
__global__ void ring(const float *in, float *out)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __shared__ alignas(128) float row[STAGES][ROW];
    __shared__ bulk::barrier full[STAGES], empty[STAGES];
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            __mbarrier_init(&full[s], 1);
            __mbarrier_init(&empty[s], (WARPS - 1) * WARP);
        }
        bulk::publish();
    }
    __syncthreads();
    const uint64_t usual = bulk::policy(bulk::USUAL);
    float value = 0;
    for (int n = 0; n < STEPS; n++) {
        const int s = n % STAGES;
        if (warp == WARPS - 1) {
            bulk::wait(&empty[s], (n / STAGES + 1) % 2); /* the phase before the first is over */
            bulk::after_loads();
            if (lane == 0) {
                bulk::arrive_with(&full[s], sizeof row[s]);
                bulk::copy(row[s], in + n * ROW, sizeof row[s], &full[s], usual);
            }
            __syncwarp();
        } else {
            bulk::wait(&full[s], n / STAGES % 2);
            if (RACE)
                __mbarrier_arrive(&empty[s]);
            value += row[s][lane] + row[s][ROW - 1 - lane];
            if (!RACE)
                __mbarrier_arrive(&empty[s]);
        }
    }
    out[threadIdx.x] = value;
#else
    (void)in, (void)out;
#endif
}

} // namespace

int main(int count, char **argument)
{
    const bool race = count == 3 && strcmp(argument[2], "race") == 0;
    float *in = nullptr, *out = nullptr;
    cudaMalloc(&in, STEPS * ROW * sizeof *in);
    cudaMalloc(&out, WARPS * WARP * sizeof *out);
    cudaMemset(in, 0, STEPS * ROW * sizeof *in);
    if (count == 3 && strcmp(argument[1], "rows") == 0)
        (race ? rows<true> : rows<false>)<<<1, WARPS * WARP>>>(out);
    else if (count == 3 && strcmp(argument[1], "ring") == 0)
        (race ? ring<true> : ring<false>)<<<1, WARPS * WARP>>>(in, out);
    else
        return fprintf(stderr, "usage: planted rows|ring sound|race\n"), 2;
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    printf("%s, %s: %s\n", argument[1], argument[2], cudaGetErrorString(error));
    return error != cudaSuccess;
}
