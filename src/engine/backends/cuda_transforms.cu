/*
 * Arrays on the swept nodes in device memory, and their products by cuBLAS. That is opened when
 * first needed, since it is hundreds of megabytes. Its functions are declared here, so that the
 * build needs no header of it.
 */
#include "core/library.h"
#include "engine/backends/cuda_state.cuh"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

namespace
{

enum { THREADS = 256 };

/* ---- cuBLAS ---------------------------------------------------------------------------------- */

enum operation { AS_IT_IS = 0, TRANSPOSED = 1 };

/* Matrices are column-major. A status of 0 is success. */
struct library {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, cudaStream_t stream);
    int (*product)(void *handle, int a_is, int b_is, int m, int n, int k, const double *alpha,
                   const double *a, int lda, const double *b, int ldb, const double *beta,
                   double *c, int ldc);
    int (*products)(void *handle, int a_is, int b_is, int m, int n, int k, const double *alpha,
                    const double *a, int lda, long long apart_a, const double *b, int ldb,
                    long long apart_b, const double *beta, double *c, int ldc, long long apart_c,
                    int count);
};

library cublas;

bool load(void *opened)
{
    const hs_symbol symbols[] = {
        {"cublasCreate_v2", &cublas.create},
        {"cublasDestroy_v2", &cublas.destroy},
        {"cublasSetStream_v2", &cublas.set_stream},
        {"cublasDgemm_v2", &cublas.product},
        {"cublasDgemmStridedBatched", &cublas.products},
    };
    return !hs_library_find(opened, symbols, sizeof symbols / sizeof *symbols);
}

hs_status available(hs_error *err)
{
    static bool loaded;
    char name[64], usual[128];
    if (loaded)
        return HS_OK;
    snprintf(name, sizeof name, "libcublas.so.%d", CUDART_VERSION / 1000);
    snprintf(usual, sizeof usual, "/usr/local/cuda/lib64/%s", name);
    void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        opened = dlopen(usual, RTLD_NOW | RTLD_LOCAL);
    loaded = opened && load(opened);
    if (loaded)
        return HS_OK;
    return hs_error_add(err, HS_DEVICE,
                        "the modes need cuBLAS on a GPU, and no %s with the functions that they "
                        "call was found; install the one of CUDA %d.%d (libcublas-%d-%d), name its "
                        "directory in LD_LIBRARY_PATH, or take solver.backend = \"cpu\"",
                        name, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
                        CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

hs_status check(int status, const char *call, hs_error *err)
{
    return status ? hs_error_add(err, HS_DEVICE, "cublas: %s: status %d", call, status) : HS_OK;
}

hs_status prepare(hs_backend_state *state, hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    hs_cuda_products *products = &state->products;
    if (!products->handle)
        HS_TRY(check(cublas.create(&products->handle), "cublasCreate", err));
    return check(cublas.set_stream(products->handle, state->stream), "set stream", err);
}

/* ---- memory ---------------------------------------------------------------------------------- */

hs_status allocate(hs_backend_state *state, double count, double **out, hs_error *err)
{
    const double bytes = count * sizeof **out;
    size_t free_bytes = 0, all_bytes = 0;
    *out = NULL;
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    HS_CUDA_TRY(err, cudaMemGetInfo(&free_bytes, &all_bytes));
    if (bytes + hs_cuda_left_free > (double)free_bytes)
        return hs_error_add(
            err, HS_DEVICE,
            "not enough device memory: the modes need %.0f bytes (%.2f GiB) beside "
            "the fields, and cuBLAS some, %zu bytes (%.2f GiB) are free; take fewer "
            "grid.points, or another method",
            bytes, bytes / 0x1p30, free_bytes, (double)free_bytes / 0x1p30);
    HS_CUDA_TRY(err, cudaMalloc(out, (size_t)bytes));
    return prepare(state, err);
}

void release(hs_backend_state *state, double *array)
{
    cudaSetDevice(state->device);
    cudaFree(array);
}

hs_status put(hs_backend_state *state, const double *host, int64_t count, double *array,
              hs_error *err)
{
    return hs_cuda_copy_now(host, (size_t)count * sizeof *array, array, cudaMemcpyHostToDevice,
                            state->stream, err);
}

hs_status get(hs_backend_state *state, const double *array, int64_t count, double *host,
              hs_error *err)
{
    return hs_cuda_copy_now(array, (size_t)count * sizeof *array, host, cudaMemcpyDeviceToHost,
                            state->stream, err);
}

/* ---- the field ------------------------------------------------------------------------------- */

/* An axis of an array, in 32 bits: that saves most of the instructions of an address. */
struct line {
    int lower, nodes, upper_from,
        slots; /* nodes of the first group, all; first slot of the second */
};

line line_of(const hs_slots &axis)
{
    return {(int)axis.nodes[0], (int)(axis.nodes[0] + axis.nodes[1]), (int)axis.slots[0],
            (int)hs_slots_all(&axis)};
}

__device__ int node_at(const line &axis, int slot)
{
    const bool upper = slot >= axis.upper_from;
    const int node = upper ? slot - axis.upper_from + axis.lower : slot;
    return node < (upper ? axis.nodes : axis.lower) ? node : -1;
}

/* Where the swept nodes are in a field, and in an array. */
struct swept {
    int64_t first; /* elements from node (0, 0, 0) of the field */
    int pitch_y, pitch_z;
    line x, y, z;
};

swept swept_of(const hs_backend_state *state, const hs_slots axes[HS_AXES])
{
    const hs_box box = hs_problem_interior(state->problem);
    return {hs_layout_offset(&state->layout, box.lo[HS_X], box.lo[HS_Y], box.lo[HS_Z]),
            (int)state->layout.pitch[HS_Y],
            (int)state->layout.pitch[HS_Z],
            line_of(axes[HS_X]),
            line_of(axes[HS_Y]),
            line_of(axes[HS_Z])};
}

/* For rows j, j + gridDim.y, ... of planes k, k + gridDim.z, ...: each block has several, since a
 * block for one row costs more than the row. */
dim3 blocks_for(int64_t nx, int64_t ny, int64_t nz)
{
    const int64_t most_y = 512, most_z = 64;
    return dim3((unsigned)((nx + THREADS - 1) / THREADS), (unsigned)(ny < most_y ? ny : most_y),
                (unsigned)(nz < most_z ? nz : most_z));
}

int64_t blocks_in(dim3 blocks)
{
    return (int64_t)blocks.x * blocks.y * blocks.z;
}

__device__ int64_t slot_along_x(void)
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

/* A thread has ROWS neighbours along y. It loads them all before it stores one, so that it waits
 * for memory once. */
enum { ROWS = 8 };

dim3 blocks_of(const hs_slots axes[HS_AXES])
{
    return dim3((unsigned)hs_divide_up(hs_slots_all(&axes[HS_X]), THREADS),
                (unsigned)hs_divide_up(hs_slots_all(&axes[HS_Y]), ROWS),
                (unsigned)hs_slots_all(&axes[HS_Z]));
}

/* Slots and nodes of a thread's rows; -1: none. */
struct rows {
    int64_t slot[ROWS], node[ROWS];
};

__device__ rows rows_of(const swept &of)
{
    const int x = (int)slot_along_x(), z = (int)blockIdx.z, first = (int)blockIdx.y * ROWS;
    const int i = node_at(of.x, x), k = node_at(of.z, z);
    const int64_t slot = (int64_t)(z * of.y.slots + first) * of.x.slots + x;
    const int64_t node = of.first + i + (int64_t)k * of.pitch_z;
    rows out;
#pragma unroll
    for (int n = 0; n < ROWS; n++) {
        const int j = node_at(of.y, first + n);
        out.slot[n] = x < of.x.slots && first + n < of.y.slots ? slot + n * of.x.slots : -1;
        out.node[n] = i >= 0 && j >= 0 && k >= 0 ? node + (int64_t)j * of.pitch_y : -1;
    }
    return out;
}

template <typename T>
__global__ void gather_nodes(swept of, const T *field, double *array)
{
    const rows at = rows_of(of);
    T value[ROWS];
#pragma unroll
    for (int n = 0; n < ROWS; n++)
        value[n] = at.node[n] >= 0 ? field[at.node[n]] : (T)0;
#pragma unroll
    for (int n = 0; n < ROWS; n++)
        if (at.slot[n] >= 0)
            array[at.slot[n]] = value[n];
}

template <typename T>
__global__ void scatter_nodes(swept of, const double *array, T *field)
{
    const rows at = rows_of(of);
    T value[ROWS];
#pragma unroll
    for (int n = 0; n < ROWS; n++)
        value[n] = array && at.node[n] >= 0 ? (T)array[at.slot[n]] : (T)0;
#pragma unroll
    for (int n = 0; n < ROWS; n++)
        if (at.node[n] >= 0)
            field[at.node[n]] = value[n];
}

hs_status gather(hs_backend_state *state, const hs_slots axes[HS_AXES], double *array,
                 hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    const swept of = swept_of(state, axes);
    const dim3 blocks = blocks_of(axes);
    const char *field = hs_cuda_field(state, 0);
    hs_cuda_typed(state->problem->precision, [&](auto zero) {
        gather_nodes<<<blocks, THREADS, 0, state->stream>>>(of, (const decltype(zero) *)field,
                                                            array);
    });
    HS_CUDA_LAUNCHED(err, "gather", blocks_in(blocks), THREADS);
    return HS_OK;
}

hs_status scatter(hs_backend_state *state, const hs_slots axes[HS_AXES], const double *array,
                  bool steps, hs_error *err)
{
    HS_CUDA_TRY(err, cudaSetDevice(state->device));
    const swept of = swept_of(state, axes);
    const dim3 blocks = blocks_of(axes);
    if (steps)
        state->now ^= 1;
    state->change = steps ? HS_CUDA_CHANGE_BY_FIELDS : HS_CUDA_CHANGE_NOT_KNOWN;
    char *field = hs_cuda_field(state, 0);
    hs_cuda_typed(state->problem->precision, [&](auto zero) {
        scatter_nodes<<<blocks, THREADS, 0, state->stream>>>(of, array, (decltype(zero) *)field);
    });
    HS_CUDA_LAUNCHED(err, "scatter", blocks_in(blocks), THREADS);
    return HS_OK;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* The slot of a pair's other node; there are nodes[1] pairs. */
__device__ int64_t opposite(const hs_slots &axis, int64_t lower)
{
    return axis.slots[0] + axis.nodes[1] - 1 - lower;
}

__global__ void fold_pairs(int axis, hs_slots x, hs_slots y, hs_slots z, bool back, double *array)
{
    const int64_t i = slot_along_x(), nx = hs_slots_all(&x), ny = hs_slots_all(&y);
    const int64_t rows = axis == HS_Y ? y.nodes[1] : ny;
    const int64_t planes = axis == HS_Z ? z.nodes[1] : hs_slots_all(&z);
    if (i >= (axis == HS_X ? x.nodes[1] : nx))
        return;
    const int64_t upper_i = axis == HS_X ? opposite(x, i) : i;
    for (int64_t k = blockIdx.z; k < planes; k += gridDim.z)
        for (int64_t j = blockIdx.y; j < rows; j += gridDim.y) {
            const int64_t upper_j = axis == HS_Y ? opposite(y, j) : j;
            const int64_t upper_k = axis == HS_Z ? opposite(z, k) : k;
            hs_fold(back, &array[(k * ny + j) * nx + i],
                    &array[(upper_k * ny + upper_j) * nx + upper_i]);
        }
}

hs_status fold(hs_backend_state *state, int axis, const hs_slots axes[HS_AXES], bool back,
               double *array, hs_error *err)
{
    int64_t n[HS_AXES];
    for (int other = 0; other < HS_AXES; other++)
        n[other] = other == axis ? axes[other].nodes[1] : hs_slots_all(&axes[other]);
    if (n[axis] == 0)
        return HS_OK;
    const dim3 blocks = blocks_for(n[HS_X], n[HS_Y], n[HS_Z]);
    fold_pairs<<<blocks, THREADS, 0, state->stream>>>(axis, axes[HS_X], axes[HS_Y], axes[HS_Z],
                                                      back, array);
    HS_CUDA_LAUNCHED(err, "fold", blocks_in(blocks), THREADS);
    return HS_OK;
}

/* out = matrix * in for each of `outer`, row-major, is out = in * matrix, column-major; along x
 * there is one such product, with its factors exchanged. */
hs_status product(hs_backend_state *state, const hs_axis_factor *by, const int64_t extent[HS_AXES],
                  const double *in, double *out, hs_error *err)
{
    const double one = 1.0, zero = 0.0;
    const int64_t columns = by->columns[0] + by->columns[1], rows = by->rows[0] + by->rows[1];
    int64_t inner, outer;
    hs_axis_others(by->axis, extent, &inner, &outer);
    HS_TRY(prepare(state, err));
    for (int b = 0; b < 2; b++) {
        const double *from = in + (b ? by->columns[0] : 0) * inner, *matrix = by->matrix[b];
        double *to = out + (b ? by->rows[0] : 0) * inner;
        const int m = (int)by->rows[b], k = (int)by->columns[b], pitch = (int)by->pitch[b];
        if (m > 0 && by->axis == HS_X)
            HS_TRY(
                check(cublas.product(state->products.handle, TRANSPOSED, AS_IT_IS, m, (int)outer, k,
                                     &one, matrix, pitch, from, (int)columns, &zero, to, (int)rows),
                      "product along x", err));
        else if (m > 0)
            HS_TRY(check(cublas.products(state->products.handle, AS_IT_IS, AS_IT_IS, (int)inner, m,
                                         k, &one, from, (int)inner, columns * inner, matrix, pitch,
                                         0, &zero, to, (int)inner, rows * inner, (int)outer),
                         "products across x", err));
    }
    return HS_OK;
}

__device__ double rate_at(const hs_mode_filter &filter, int axis, int64_t mode)
{
    return filter.rate[axis] ? filter.rate[axis][mode] : 0.0;
}

__global__ void filter_modes(hs_mode_filter filter, const double *in, const double *constant,
                             double *out)
{
    const hs_lasting &x = filter.lasting[HS_X], &y = filter.lasting[HS_Y],
                     &z = filter.lasting[HS_Z];
    const bool all = constant != nullptr;
    const int64_t nx = hs_mode_count(&x, all), ny = hs_mode_count(&y, all);
    const int64_t nz = hs_mode_count(&z, all), n = slot_along_x();
    if (n >= nx)
        return;
    const hs_mode_index i = hs_mode_index_of(&x, all, n);
    const double along_x = rate_at(filter, HS_X, i.slot);
    for (int64_t plane = blockIdx.z; plane < nz; plane += gridDim.z)
        for (int64_t row = blockIdx.y; row < ny; row += gridDim.y) {
            const hs_mode_index j = hs_mode_index_of(&y, all, row),
                                k = hs_mode_index_of(&z, all, plane);
            const double rest = rate_at(filter, HS_Y, j.slot) + rate_at(filter, HS_Z, k.slot);
            const hs_mode_factors f = hs_mode_factors_of(&filter, filter.common + (along_x + rest));
            const int64_t at = (plane * ny + row) * nx + n;
            const bool lasts = i.lasting >= 0 && j.lasting >= 0 && k.lasting >= 0;
            const double before =
                lasts ? in[(k.lasting * hs_lasting_all(&y) + j.lasting) * hs_lasting_all(&x) +
                           i.lasting]
                      : 0.0;
            out[at] = f.kept * before + (all ? f.gained * constant[at] : 0.0);
        }
}

hs_status filter(hs_backend_state *state, const hs_mode_filter *of, const double *in,
                 const double *constant, double *out, hs_error *err)
{
    const bool all = constant != nullptr;
    const dim3 blocks =
        blocks_for(hs_mode_count(&of->lasting[HS_X], all), hs_mode_count(&of->lasting[HS_Y], all),
                   hs_mode_count(&of->lasting[HS_Z], all));
    filter_modes<<<blocks, THREADS, 0, state->stream>>>(*of, in, constant, out);
    HS_CUDA_LAUNCHED(err, "filter", blocks_in(blocks), THREADS);
    return HS_OK;
}

/* Doubles that are not negative are ordered as their bits are. */
__global__ void find_largest(const double *array, int64_t count, unsigned long long *most)
{
    double mine = 0.0;
    for (int64_t n = (int64_t)blockIdx.x * THREADS + threadIdx.x; n < count;
         n += (int64_t)gridDim.x * THREADS)
        mine = fmax(mine, fabs(array[n]));
    for (int apart = 16; apart > 0; apart /= 2)
        mine = fmax(mine, __shfl_xor_sync(0xffffffffu, mine, apart));
    if (threadIdx.x % 32 == 0)
        atomicMax(most, (unsigned long long)__double_as_longlong(mine));
}

hs_status largest(hs_backend_state *state, const double *array, int64_t count, double *out,
                  hs_error *err)
{
    enum { BLOCKS = 2048 };
    hs_cuda_products *products = &state->products;
    if (!products->most)
        HS_CUDA_TRY(err, cudaMalloc(&products->most, sizeof *products->most));
    HS_CUDA_TRY(err, cudaMemsetAsync(products->most, 0, sizeof *products->most, state->stream));
    find_largest<<<BLOCKS, THREADS, 0, state->stream>>>(array, count, products->most);
    HS_CUDA_LAUNCHED(err, "largest", BLOCKS, THREADS);
    return get(state, (const double *)products->most, 1, out, err);
}

} // namespace

void hs_cuda_products_release(hs_cuda_products *products)
{
    if (products->handle)
        cublas.destroy(products->handle);
    cudaFree(products->most);
    *products = {};
}

extern const hs_transforms hs_cuda_transforms = {
    .available = available,
    .allocate = allocate,
    .release = release,
    .put = put,
    .get = get,
    .gather = gather,
    .scatter = scatter,
    .fold = fold,
    .product = product,
    .filter = filter,
    .largest = largest,
    .wait = hs_cuda_wait,
};
