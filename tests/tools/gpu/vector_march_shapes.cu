/*
 * Times vector_march's shapes (rows a warp, planes ahead, blocks a multiprocessor, planes a block)
 * against a device copy of the same run, to choose the numbers in kernels/cuda/vector_march/plan.h.
 * Needs a GPU:
 *
 *   cc -O2 -std=c17 -D_GNU_SOURCE -Isrc -Ikernels/cuda -c src/core/{status,grid,stencil,tiling}.c \
 *       kernels/cuda/tiles.c kernels/cuda/vector_march/plan.c
 *   cc -O2 -std=c17 -D_GNU_SOURCE -Isrc -Ikernels/cuda -c -o basic.plan.o -x c
 * kernels/cuda/ladder/basic.cu
 *   nvcc -O3 -std=c++20 -fmad=false -arch=native -Isrc -Ikernels/cuda -o shapes \
 *       tests/tools/gpu/vector_march_shapes.cu kernels/cuda/ladder/basic.cu *.o && ./shapes 512
 * 1024
 *
 * -DPLAIN_STORES: without the hint that what is stored is not needed again. Every shape's output is
 * compared with that of the basic kernel, bit for bit, before it is timed. A full box (--full)
 * writes whole sectors of memory at the ends of rows, where a box without the held layer does not.
 */
#include <cuda_runtime.h>

#ifdef PLAIN_STORES
#define __stcs(to, ...) (*(to) = (__VA_ARGS__))
#endif
#include "vector_march/vector_march.cu"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" const hs_kernel hs_kernel_cuda_basic;

namespace
{

void must(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(4);
}

template <typename T>
__global__ void scatter(T *field, int64_t count)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x) {
        uint64_t h = (uint64_t)i * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
        h *= 0xbf58476d1ce4e5b9ull;
        field[i] = (T)((double)(h >> 40) / 16777216.0);
    }
}

template <typename T>
__global__ void compare(const T *a, const T *b, int64_t count, unsigned long long *apart)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count;
         i += (int64_t)gridDim.x * blockDim.x)
        if (a[i] != b[i])
            atomicAdd(apart, 1ull);
}

template <typename Run>
double median_seconds(Run run)
{
    const int TIMES = 7, EACH = 10;
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin), "event");
    must(cudaEventCreate(&end), "event");
    std::vector<float> ms(TIMES);
    run(0), run(1);
    for (float &time : ms) {
        must(cudaEventRecord(begin), "record");
        for (int n = 0; n < EACH; n++)
            run(n);
        must(cudaEventRecord(end), "record");
        must(cudaEventSynchronize(end), "synchronize");
        must(cudaEventElapsedTime(&time, begin, end), "elapsed");
        time /= (float)EACH;
    }
    std::sort(ms.begin(), ms.end());
    return ms[TIMES / 2] * 1e-3;
}

template <typename T>
struct bench {
    hs_sweep sweep = {};
    hs_stencil stencil = {};
    T *memory[2], *origin[2], *due;
    unsigned long long *apart;
    int64_t elements, points;
    double copy;

    bench(int64_t n, int radius, bool full)
    {
        const hs_grid grid = {3, {n, n, n}, {}, {1, 1, 1}};
        sweep.precision = sizeof(T) == 4 ? HS_FLOAT : HS_DOUBLE;
        sweep.layout = hs_layout_make(&grid, radius, 128 / sizeof(T));
        sweep.box = hs_grid_box(&grid);
        for (int axis = full ? 1 : 0; axis < 3; axis++)
            sweep.box.lo[axis] += radius, sweep.box.hi[axis] -= radius;
        stencil = {3, radius, {}};
        const int count = hs_stencil_count(3, radius);
        for (int i = 0; i < count; i++) /* all distinct, their sum 1: values neither die nor grow */
            stencil.c[i] = (1.0 + 0.1 * i) / (count * (1.0 + 0.05 * (count - 1)));
        sweep.stencil = &stencil;
        sweep.steps = 1;
        elements = sweep.layout.elements, points = n * n * n;
        for (int b = 0; b < 2; b++) {
            must(cudaMalloc(&memory[b], elements * sizeof(T)), "cudaMalloc");
            origin[b] = memory[b] + sweep.layout.origin;
            scatter<<<1024, 256>>>(memory[b], elements);
        }
        must(cudaMalloc(&due, elements * sizeof(T)), "cudaMalloc");
        must(cudaMalloc(&apart, sizeof *apart), "cudaMalloc");
        copy = median_seconds([&](int) {
            must(
                cudaMemcpyAsync(memory[1], memory[0], points * sizeof(T), cudaMemcpyDeviceToDevice),
                "copy");
        });
        printf("%lld^3 radius %d %s%s: copy %.1f GCell/s\n", (long long)n, radius,
               hs_precision_name(sweep.precision), full ? " full rows" : "", points / copy * 1e-9);
        fill(memory[1], 0xff);
        sweep.in = origin[0], sweep.out = origin[1];
        hs_error err;
        hs_error_init(&err);
        if (hs_kernel_cuda_basic.sweep(&sweep, &err))
            fprintf(stderr, "%s", err.text), exit(4);
        must(cudaMemcpy(due, memory[1], elements * sizeof(T), cudaMemcpyDeviceToDevice), "copy");
        report("basic", [&](int odd) {
            sweep.in = origin[odd & 1], sweep.out = origin[~odd & 1];
            hs_kernel_cuda_basic.sweep(&sweep, &err);
        });
    }

    void fill(T *field, int byte)
    {
        must(cudaMemset(field, byte, elements * sizeof(T)), "cudaMemset");
    }

    template <typename Run>
    void report(const char *what, Run run)
    {
        const double seconds = median_seconds(run);
        printf("  %-44s %7.1f GCell/s  %.3f of the copy\n", what,
               (double)hs_box_count(&sweep.box) / seconds * 1e-9,
               (double)hs_box_count(&sweep.box) / points * copy / seconds);
    }

    /* `planes` 0: as vector_march/plan.c would choose for so many blocks a multiprocessor */
    template <int R, int ROWS, int AHEAD, int BLOCKS>
    void time(int planes)
    {
        const hs_geometry shape_ = geometry_with(ROWS, BLOCKS, planes);
        const auto kernel = vector_march<3, R, T, shape<ROWS, AHEAD, BLOCKS>>;
        hs_error err;
        hs_error_init(&err);
        const auto launch = [&](int odd) {
            hs_sweep s = sweep;
            s.in = origin[odd & 1], s.out = origin[~odd & 1];
            if (star::launch("shape", kernel, star::make_request<T>(&s, shape_), shape_, nullptr,
                             &err, shape_.output_tile[HS_Z]))
                fprintf(stderr, "%s", err.text), exit(4);
        };
        cudaFuncAttributes attributes;
        must(cudaFuncGetAttributes(&attributes, kernel), "attributes");
        scatter<<<1024, 256>>>(memory[0], elements);
        /* nothing outside the box is written, so what basic left there has to be there too */
        must(cudaMemset(apart, 0, sizeof *apart), "cudaMemset");
        fill(memory[1], 0xff);
        launch(0);
        unsigned long long differing = 0;
        compare_bits();
        must(cudaMemcpy(&differing, apart, sizeof differing, cudaMemcpyDeviceToHost), "compare");
        char what[100];
        snprintf(what, sizeof what, "rows %d ahead %d blocks %d planes %d regs %d%s%s", ROWS, AHEAD,
                 BLOCKS, shape_.output_tile[HS_Z], attributes.numRegs,
                 attributes.localSizeBytes ? " SPILLS" : "", differing ? " WRONG" : "");
        report(what, launch);
    }

    void compare_bits()
    {
        using bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
        compare<<<1024, 256>>>((const bits *)memory[1], (const bits *)due, elements, apart);
    }

    hs_geometry geometry_with(int rows, int blocks, int planes)
    {
        hs_geometry g;
        hs_tiling_launch(&hs_tiling_vector_march, &sweep, &g);
        const int64_t length = sweep.box.hi[HS_Z] - sweep.box.lo[HS_Z];
        g.output_tile[HS_Y] = HS_VECTOR_WARPS * rows;
        g.blocks[HS_Y] = (sweep.box.hi[HS_Y] - sweep.box.lo[HS_Y] + g.output_tile[HS_Y] - 1) /
                         g.output_tile[HS_Y];
        if (!planes) {
            const int64_t tiles = g.blocks[HS_X] * g.blocks[HS_Y];
            int64_t best_cost = INT64_MAX;
            for (int64_t chunks = 1; chunks * 16 < length + 16; chunks++) {
                const int64_t l = (length + chunks - 1) / chunks;
                const int64_t wave = (int64_t)HS_MULTIPROCESSORS * blocks;
                const int64_t waves = (tiles * ((length + l - 1) / l) + wave - 1) / wave;
                const int64_t cost = waves * (l + 2 * stencil.radius + 4);
                if (cost < best_cost)
                    best_cost = cost, planes = (int)l;
            }
        }
        g.output_tile[HS_Z] = planes;
        g.blocks[HS_Z] = (length + planes - 1) / planes;
        return g;
    }

    ~bench()
    {
        cudaFree(memory[0]), cudaFree(memory[1]), cudaFree(due), cudaFree(apart);
    }
};

template <typename T>
void radius_1(int64_t n, bool full)
{
    bench<T> b(n, 1, full);
    for (int planes : {8, 16, 32, 64, 256})
        b.template time<1, HS_VECTOR_ROWS_1, 1, HS_VECTOR_BLOCKS_1>(planes); /* the usual one */
    for (int planes : {8, 16, 64}) {
        b.template time<1, 2, 2, 5>(planes);
        b.template time<1, 1, 2, 6>(planes);
        b.template time<1, 1, 3, 5>(planes);
        b.template time<1, 2, 1, 5>(planes);
        b.template time<1, 2, 2, 4>(planes);
        b.template time<1, 2, 3, 4>(planes);
        b.template time<1, 2, 4, 3>(planes);
    }
}

template <typename T>
void wider(int64_t n)
{
    {
        bench<T> b(n, 2, false);
        for (int planes : {8, 16, 64}) {
            b.template time<2, HS_VECTOR_ROWS_2, 1, HS_VECTOR_BLOCKS_2>(planes);
            b.template time<2, 1, 1, 6>(planes);
            b.template time<2, 2, 2, 3>(planes);
            b.template time<2, 2, 1, 4>(planes);
            b.template time<2, 3, 1, 3>(planes);
        }
    }
    bench<T> b(n, 3, false);
    for (int planes : {8, 16, 64}) {
        b.template time<3, HS_VECTOR_ROWS_3, 1, HS_VECTOR_BLOCKS_3>(planes);
        b.template time<3, 1, 2, 3>(planes);
        b.template time<3, 2, 1, 2>(planes);
        b.template time<3, 2, 2, 2>(planes);
    }
}

} // namespace

int main(int argc, char **argv)
{
    const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
    for (int n = full ? 2 : 1; n < argc; n++) {
        const int64_t points = atoll(argv[n]);
        radius_1<float>(points, full);
        radius_1<double>(points, full);
        if (!full && points <= 512)
            wider<float>(points), wider<double>(points);
    }
    return 0;
}
