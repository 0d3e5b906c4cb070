/* Ghost and prescribed layers on the device. */
#include "core/ghost.h"
#include "engine/backends/cuda_parts.cuh"

namespace
{

enum { THREADS = 256 };

/* One face of one field: where its nodes lie, and what is written there. */
template <typename T>
struct work {
    hs_face_place at;
    const T *table; /* boundary data; or NULL: */
    T value;
    T a[HS_MAX_RADIUS], b[HS_MAX_RADIUS], c[HS_MAX_RADIUS];
    int depth;
    int face;
    bool wrap;
};

/* All faces of one launch, each with a range of its blocks. */
template <typename T>
struct launch {
    T *field; /* node (0, 0, 0) */
    int faces;
    unsigned prescribed; /* bit of each face */
    unsigned first_block[HS_FACES + 1];
    work<T> face[HS_FACES];
};

/* The face and the node of it that this thread has; face -1: none. */
struct node {
    int64_t row, i;
    int face;
};

template <typename T>
__device__ node this_node(const launch<T> &l)
{
    int f = 0;
    while (f + 1 < l.faces && blockIdx.x >= l.first_block[f + 1])
        f++;
    const int64_t n = (int64_t)(blockIdx.x - l.first_block[f]) * THREADS + threadIdx.x;
    const int64_t row = n / l.face[f].at.length;
    return {row, n - row * l.face[f].at.length, n < l.face[f].at.nodes ? f : -1};
}

template <typename T>
__device__ T *node_of(const launch<T> &l, const work<T> &w, const node &n)
{
    return l.field + w.at.edge + n.row * w.at.across + n.i * w.at.along;
}

template <typename T>
__device__ T value_of(const work<T> &w, const node &n)
{
    return w.table ? w.table[n.row * w.at.length + n.i] : w.value;
}

template <typename T>
__global__ void __launch_bounds__(THREADS) fill_ghosts(const __grid_constant__ launch<T> l)
{
    const node n = this_node(l);
    if (n.face < 0)
        return;
    const work<T> &w = l.face[n.face];
    T *const edge = node_of(l, w, n);
    const T value = value_of(w, n);
    for (int m = 1; m <= w.depth; m++)
        edge[-m * w.at.inward] = w.wrap ? edge[(w.at.extent - m) * w.at.inward]
                                        : hs_ghost(w.a[m - 1], edge[m * w.at.inward], w.b[m - 1],
                                                   *edge, w.c[m - 1] * value);
}

/* Whether a later prescribed face also has this node. */
template <typename T>
__device__ bool taken(const launch<T> &l, const work<T> &w, const node &n)
{
    const int axis = w.face / 2;
    const int64_t across_length = w.at.nodes / w.at.length;
    const int first = axis == HS_X ? HS_Y : HS_X, second = axis == HS_Z ? HS_Y : HS_Z;
    const auto other = [&](int b, int64_t at, int64_t extent) {
        return b > axis && ((at == 0 && (l.prescribed >> 2 * b & 1)) ||
                            (at == extent - 1 && (l.prescribed >> (2 * b + 1) & 1)));
    };
    return other(first, n.i, w.at.length) || other(second, n.row, across_length);
}

template <typename T>
__global__ void __launch_bounds__(THREADS) prescribe(const __grid_constant__ launch<T> l)
{
    const node n = this_node(l);
    if (n.face < 0)
        return;
    const work<T> &w = l.face[n.face];
    if (!taken(l, w, n))
        *node_of(l, w, n) = value_of(w, n);
}

template <typename T>
work<T> describe_work(const hs_cuda_faces *faces, int slot, int face)
{
    const hs_face &rule = faces->slots.problem->face[face];
    work<T> w = {};
    w.at = hs_face_place_in(&faces->layout, face);
    w.table = (const T *)hs_face_slots_table(&faces->slots, slot, face);
    w.value = (T)faces->slots.value[slot][face];
    for (int m = 0; m < HS_MAX_RADIUS; m++) {
        w.a[m] = (T)rule.a[m];
        w.b[m] = (T)rule.b[m];
        w.c[m] = (T)rule.c[m];
    }
    w.depth = hs_face_depth(faces->slots.problem, face);
    w.face = face;
    w.wrap = rule.wrap;
    return w;
}

/* Launches `kernel` over the faces that `wanted` has a bit for. */
template <typename T>
hs_status launch_faces(const hs_cuda_faces *faces, unsigned wanted, int slot, void *field,
                       const char *name, void (*kernel)(const launch<T>), hs_error *err)
{
    launch<T> l = {};
    l.field = (T *)field;
    l.prescribed = wanted;
    for (int face = 0; face < HS_FACES; face++)
        if (wanted >> face & 1) {
            l.face[l.faces] = describe_work<T>(faces, slot, face);
            const int64_t blocks = hs_divide_up(l.face[l.faces].at.nodes, THREADS);
            l.first_block[l.faces + 1] = l.first_block[l.faces] + (unsigned)blocks;
            l.faces++;
        }
    if (l.faces == 0)
        return HS_OK;
    kernel<<<l.first_block[l.faces], THREADS, 0, faces->stream>>>(l);
    HS_CUDA_LAUNCHED(err, name, l.first_block[l.faces], THREADS);
    return HS_OK;
}

/* The nodes of a face, in the order of its table. */
hs_cuda_patch face_patch(const hs_grid *grid, int face)
{
    hs_cuda_patch patch = hs_cuda_patch_of(grid, NULL);
    patch.first[face / 2] = hs_grid_face_index(grid, face);
    patch.count[face / 2] = 1;
    patch.stride[hs_face_first_axis(face)] = 1;
    patch.stride[hs_face_second_axis(face)] = grid->points[hs_face_first_axis(face)];
    return patch;
}

hs_status fill_table(void *self, int face, double t, void *table, hs_error *err)
{
    const hs_cuda_faces *faces = (const hs_cuda_faces *)self;
    const hs_problem *problem = faces->slots.problem;
    const hs_cuda_patch patch = face_patch(&problem->grid, face);
    const hs_cuda_times now = {1, {t}, {table}};
    return hs_cuda_evaluate(&faces->function[face], &patch, &now, 1.0, problem->precision,
                            faces->stream, err);
}

hs_status allocate_face(hs_cuda_faces *faces, int face, hs_error *err)
{
    const hs_problem *problem = faces->slots.problem;
    const size_t bytes =
        (size_t)hs_grid_face_count(&problem->grid, face) * hs_precision_size(problem->precision);
    if (!faces->slots.face[face].varies_face)
        return HS_OK;
    HS_TRY(hs_cuda_function_create(&problem->face[face].data.expression, &problem->grid,
                                   HS_TABLES_OF_NUMBERS, &faces->function[face], err));
    for (int slot = 0; slot < faces->slots.count; slot++)
        if (hs_face_slots_wants_table(&faces->slots, slot, face))
            HS_CUDA_TRY(err, cudaMalloc(&faces->slots.table[slot][face], bytes));
    return HS_OK;
}

} // namespace

hs_status hs_cuda_faces_init(hs_cuda_faces *faces, const hs_problem *problem,
                             const hs_layout *layout, int slots, cudaStream_t stream, hs_error *err)
{
    *faces = {};
    faces->layout = *layout;
    faces->stream = stream;
    HS_TRY(hs_face_slots_init(&faces->slots, problem, slots, err));
    for (int face = 0; face < HS_FACES; face++)
        HS_TRY(allocate_face(faces, face, err));
    return HS_OK;
}

void hs_cuda_faces_release(hs_cuda_faces *faces)
{
    for (int slot = 0; slot < faces->slots.count; slot++)
        for (int face = 0; face < HS_FACES; face++)
            cudaFree(faces->slots.table[slot][face]);
    for (int face = 0; face < HS_FACES; face++)
        hs_cuda_function_destroy(&faces->function[face]);
    hs_face_slots_release(&faces->slots);
    *faces = {};
}

hs_status hs_cuda_faces_at(hs_cuda_faces *faces, int slot, double t, hs_error *err)
{
    return hs_face_slots_at(&faces->slots, slot, t, fill_table, faces, err);
}

hs_status hs_cuda_faces_fill(const hs_cuda_faces *faces, int slot, void *field, hs_error *err)
{
    unsigned wanted = 0;
    for (int face = 0; face < HS_FACES; face++)
        if (hs_face_depth(faces->slots.problem, face) > 0)
            wanted |= 1u << face;
    return hs_cuda_typed(faces->slots.problem->precision, [&](auto zero) {
        return launch_faces(faces, wanted, slot, field, "fill_ghosts", fill_ghosts<decltype(zero)>,
                            err);
    });
}

hs_status hs_cuda_faces_prescribe(const hs_cuda_faces *faces, int slot, void *field, hs_error *err)
{
    unsigned wanted = 0;
    for (int face = 0; face < 2 * faces->slots.problem->grid.dims; face++)
        if (faces->slots.problem->face[face].prescribed)
            wanted |= 1u << face;
    return hs_cuda_typed(faces->slots.problem->precision, [&](auto zero) {
        return launch_faces(faces, wanted, slot, field, "prescribe", prescribe<decltype(zero)>,
                            err);
    });
}
