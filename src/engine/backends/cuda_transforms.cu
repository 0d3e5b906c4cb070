/*
 * Arrays on the swept nodes in device memory, and their products by cuBLAS. That is opened when
 * first needed, since it is hundreds of megabytes. Its functions are declared here, so that the
 * build needs no header of it.
 */
#include "engine/backends/cuda_state.cuh"
#include "engine/backends/product.h"

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
    const struct {
        const char *name;
        void *place;
    } symbols[] = {
        {"cublasCreate_v2", &cublas.create},
        {"cublasDestroy_v2", &cublas.destroy},
        {"cublasSetStream_v2", &cublas.set_stream},
        {"cublasDgemm_v2", &cublas.product},
        {"cublasDgemmStridedBatched", &cublas.products},
    };
    for (const auto &symbol : symbols) {
        void *found = dlsym(opened, symbol.name);
        if (!found)
            return false;
        memcpy(symbol.place, &found, sizeof found);
    }
    return true;
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
                        "the modes need cuBLAS on a GPU, and there is no %s that has what they "
                        "call; install the one of CUDA %d.%d (libcublas-%d-%d), name its directory "
                        "in LD_LIBRARY_PATH, or take solver.backend = \"cpu\"",
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

/* Where the swept nodes are in a field, and in an array. */
struct swept {
    int64_t first, pitch_y, pitch_z; /* elements from node (0, 0, 0) of the field */
    hs_slots x, y, z;
};

swept swept_of(const hs_backend_state *state, const hs_slots axes[HS_AXES])
{
    const hs_box box = hs_problem_interior(state->problem);
    swept out;
    out.first = hs_layout_offset(&state->layout, box.lo[HS_X], box.lo[HS_Y], box.lo[HS_Z]);
    out.pitch_y = state->layout.pitch[HS_Y];
    out.pitch_z = state->layout.pitch[HS_Z];
    out.x = axes[HS_X];
    out.y = axes[HS_Y];
    out.z = axes[HS_Z];
    return out;
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

dim3 blocks_of(const hs_slots axes[HS_AXES])
{
    return blocks_for(hs_slots_all(&axes[HS_X]), hs_slots_all(&axes[HS_Y]),
                      hs_slots_all(&axes[HS_Z]));
}

__device__ int64_t slot_along_x(void)
{
    return (int64_t)blockIdx.x * THREADS + threadIdx.x;
}

/* Calls act(number of a slot, node in the field or -1) for the thread's slots. */
template <typename Act>
__device__ void for_slots(const swept &of, Act act)
{
    const int64_t x = slot_along_x(), nx = hs_slots_all(&of.x), ny = hs_slots_all(&of.y);
    const int64_t i = hs_node_at(&of.x, x);
    if (x >= nx)
        return;
    for (int64_t z = blockIdx.z; z < hs_slots_all(&of.z); z += gridDim.z)
        for (int64_t y = blockIdx.y; y < ny; y += gridDim.y) {
            const int64_t j = hs_node_at(&of.y, y), k = hs_node_at(&of.z, z);
            const bool held = i >= 0 && j >= 0 && k >= 0;
            act((z * ny + y) * nx + x,
                held ? of.first + i + j * of.pitch_y + k * of.pitch_z : (int64_t)-1);
        }
}

template <typename T>
__global__ void gather_nodes(swept of, const T *field, double *array)
{
    for_slots(of, [=](int64_t slot, int64_t node) {
        array[slot] = node >= 0 ? (double)field[node] : 0.0;
    });
}

template <typename T>
__global__ void scatter_nodes(swept of, const double *array, T *field)
{
    for_slots(of, [=](int64_t slot, int64_t node) {
        if (node >= 0)
            field[node] = array ? (T)array[slot] : (T)0;
    });
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
    const double one = 1.0, zero = 0.0, *matrix = by->matrix;
    const int64_t all = extent[by->axis];
    const int64_t parts[] = {by->even ? by->even : all, by->even ? all - by->even : 0};
    int64_t inner, outer;
    HS_TRY(hs_product_fits(by->axis, extent, &inner, &outer, err));
    HS_TRY(prepare(state, err));
    for (int part = 0; part < 2 && parts[part] > 0; part++) {
        const int64_t first = part ? parts[0] : 0;
        const int n = (int)parts[part], m = by->even ? n : (int)by->rows;
        if (by->axis == HS_X)
            HS_TRY(check(cublas.product(state->products.handle, TRANSPOSED, AS_IT_IS, m, (int)outer,
                                        n, &one, matrix, n, in + first, (int)all, &zero,
                                        out + first, (int)by->rows),
                         "product along x", err));
        else
            HS_TRY(check(cublas.products(state->products.handle, AS_IT_IS, AS_IT_IS, (int)inner, m,
                                         n, &one, in + first * inner, (int)inner, all * inner,
                                         matrix, n, 0, &zero, out + first * inner, (int)inner,
                                         by->rows * inner, (int)outer),
                         "products across x", err));
        matrix += (int64_t)m * n;
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
    const int64_t i = slot_along_x(), nx = filter.extent[HS_X], ny = filter.extent[HS_Y];
    if (i >= nx)
        return;
    const double along_x = rate_at(filter, HS_X, i);
    for (int64_t k = blockIdx.z; k < filter.extent[HS_Z]; k += gridDim.z)
        for (int64_t j = blockIdx.y; j < ny; j += gridDim.y) {
            const double rest = rate_at(filter, HS_Y, j) + rate_at(filter, HS_Z, k);
            const hs_mode_factors f = hs_mode_factors_of(&filter, filter.common + (along_x + rest));
            const int64_t n = (k * ny + j) * nx + i;
            out[n] = f.kept * in[n] + (constant ? f.gained * constant[n] : 0.0);
        }
}

hs_status filter(hs_backend_state *state, const hs_mode_filter *of, const double *in,
                 const double *constant, double *out, hs_error *err)
{
    const dim3 blocks = blocks_for(of->extent[HS_X], of->extent[HS_Y], of->extent[HS_Z]);
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
