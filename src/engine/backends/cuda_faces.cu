/* Ghost and prescribed layers on the device. */
#include "core/ghost.h"
#include "engine/backends/cuda_parts.cuh"

#include "functions/evaluate.h"

#include <math.h>
#include <stdlib.h>

namespace
{

enum { THREADS = 256 };

/* One face of one field: where its nodes lie, and what is written there. */
template <typename T>
struct work {
    int64_t nodes;         /* of the face */
    int64_t length;        /* of a row of it */
    int64_t edge;          /* element of its first node */
    int64_t inward;        /* elements to the next node inside */
    int64_t along, across; /* elements between nodes of a row, and between rows */
    int64_t extent;        /* nodes along the face's own axis */
    const T *table;        /* drive; or NULL: */
    T drive;
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

/* Which face and which of its nodes this thread has; -1 if none. */
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
    const int64_t row = n / l.face[f].length;
    return {row, n - row * l.face[f].length, n < l.face[f].nodes ? f : -1};
}

template <typename T>
__global__ void __launch_bounds__(THREADS) fill_ghosts(const __grid_constant__ launch<T> l)
{
    const node n = this_node(l);
    if (n.face < 0)
        return;
    const work<T> &w = l.face[n.face];
    T *const edge = l.field + w.edge + n.row * w.across + n.i * w.along;
    const T drive = w.table ? w.table[n.row * w.length + n.i] : w.drive;
    for (int m = 1; m <= w.depth; m++)
        edge[-m * w.inward] = w.wrap ? edge[(w.extent - m) * w.inward]
                                     : hs_ghost(w.a[m - 1], edge[m * w.inward], w.b[m - 1], *edge,
                                                w.c[m - 1] * drive);
}

/* Whether a later prescribed face has this node of a face too. */
template <typename T>
__device__ bool taken(const launch<T> &l, const work<T> &w, const node &n)
{
    const int axis = w.face / 2;
    const int64_t across_length = w.nodes / w.length;
    const int first = axis == HS_X ? HS_Y : HS_X, second = axis == HS_Z ? HS_Y : HS_Z;
    const auto other = [&](int b, int64_t at, int64_t extent) {
        return b > axis && ((at == 0 && (l.prescribed >> 2 * b & 1)) ||
                            (at == extent - 1 && (l.prescribed >> (2 * b + 1) & 1)));
    };
    return other(first, n.i, w.length) || other(second, n.row, across_length);
}

template <typename T>
__global__ void __launch_bounds__(THREADS) prescribe(const __grid_constant__ launch<T> l)
{
    const node n = this_node(l);
    if (n.face < 0)
        return;
    const work<T> &w = l.face[n.face];
    if (!taken(l, w, n))
        l.field[w.edge + n.row * w.across + n.i * w.along] =
            w.table ? w.table[n.row * w.length + n.i] : w.drive;
}

/* Slots differ only in what changes with time; the rest is kept once, in slot 0. */
bool has_table(const hs_face_drive *drive, int slot)
{
    return drive->varies_face && (slot == 0 || drive->varies_time);
}

int64_t face_nodes(const hs_grid *grid, int face)
{
    return grid->points[hs_face_first_axis(face)] * grid->points[hs_face_second_axis(face)];
}

const void *drive_table(const hs_cuda_faces *faces, int slot, int face)
{
    return faces->table[faces->drive[face].varies_time ? slot : 0][face];
}

template <typename T>
work<T> describe_work(const hs_cuda_faces *faces, int slot, int face)
{
    const int axis = face / 2;
    const hs_layout &layout = faces->layout;
    const hs_face &rule = faces->problem->face[face];
    work<T> w = {};
    w.length = layout.points[hs_face_first_axis(face)];
    w.nodes = w.length * layout.points[hs_face_second_axis(face)];
    w.edge = face % 2 ? (layout.points[axis] - 1) * layout.pitch[axis] : 0;
    w.inward = face % 2 ? -layout.pitch[axis] : layout.pitch[axis];
    w.along = layout.pitch[hs_face_first_axis(face)];
    w.across = layout.pitch[hs_face_second_axis(face)];
    w.extent = layout.points[axis];
    w.table = (const T *)drive_table(faces, slot, face);
    w.drive = (T)faces->value[slot][face];
    for (int m = 0; m < HS_MAX_RADIUS; m++) {
        w.a[m] = (T)rule.a[m];
        w.b[m] = (T)rule.b[m];
        w.c[m] = (T)rule.c[m];
    }
    w.depth = hs_face_depth(faces->problem, face);
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
            const int64_t blocks = hs_divide_up(l.face[l.faces].nodes, THREADS);
            l.first_block[l.faces + 1] = l.first_block[l.faces] + (unsigned)blocks;
            l.faces++;
        }
    if (l.faces == 0)
        return HS_OK;
    kernel<<<l.first_block[l.faces], THREADS, 0, faces->stream>>>(l);
    HS_CUDA_LAUNCHED(err, name, l.first_block[l.faces], THREADS);
    return HS_OK;
}

/* The drive over the nodes of a face, in the order of its table. */
hs_cuda_patch face_patch(const hs_grid *grid, int face)
{
    hs_cuda_patch patch = hs_cuda_patch_of(grid);
    patch.first[face / 2] = face % 2 ? grid->points[face / 2] - 1 : 0;
    patch.count[face / 2] = 1;
    patch.stride[hs_face_first_axis(face)] = 1;
    patch.stride[hs_face_second_axis(face)] = grid->points[hs_face_first_axis(face)];
    return patch;
}

hs_status evaluate(hs_cuda_faces *faces, int slot, int face, double t, hs_error *err)
{
    const hs_grid *grid = &faces->problem->grid;
    const hs_cuda_patch patch = face_patch(grid, face);
    if (faces->table[slot][face]) {
        const hs_cuda_moments now = {1, {t}, {faces->table[slot][face]}};
        return hs_cuda_evaluate(&faces->function[face], &patch, &now, 1.0,
                                faces->problem->precision, faces->stream, err);
    }
    double at[HS_AXES];
    for (int axis = 0; axis < HS_AXES; axis++)
        at[axis] = hs_grid_coordinate(grid, axis, patch.first[axis]);
    faces->value[slot][face] =
        hs_value_at(&faces->problem->face[face].drive, at[HS_X], at[HS_Y], at[HS_Z], t);
    return HS_OK;
}

hs_status allocate_face(hs_cuda_faces *faces, int face, hs_error *err)
{
    const hs_problem *problem = faces->problem;
    const size_t bytes =
        (size_t)face_nodes(&problem->grid, face) * hs_precision_size(problem->precision);
    faces->drive[face] = hs_face_drive_describe(problem, face);
    if (!faces->drive[face].varies_face)
        return HS_OK;
    const hs_status st =
        hs_cuda_function_create(&problem->face[face].drive.expression, &problem->grid,
                                HS_TABLES_OF_NUMBERS, &faces->function[face], err);
    if (st)
        return st;
    for (int slot = 0; slot < faces->slots; slot++)
        if (has_table(&faces->drive[face], slot))
            HS_CUDA_TRY(err, cudaMalloc(&faces->table[slot][face], bytes));
    return HS_OK;
}

} // namespace

double hs_cuda_faces_bytes(const hs_problem *problem, int slots)
{
    double bytes = 0.0;
    for (int face = 0; face < HS_FACES; face++) {
        const hs_face_drive drive = hs_face_drive_describe(problem, face);
        for (int slot = 0; slot < slots; slot++)
            if (has_table(&drive, slot))
                bytes += (double)face_nodes(&problem->grid, face) *
                         (double)hs_precision_size(problem->precision);
    }
    return bytes;
}

hs_status hs_cuda_faces_init(hs_cuda_faces *faces, const hs_problem *problem,
                             const hs_layout *layout, int slots, cudaStream_t stream, hs_error *err)
{
    *faces = {};
    faces->problem = problem;
    faces->layout = *layout;
    faces->stream = stream;
    faces->time = (double *)calloc((size_t)slots, sizeof *faces->time);
    faces->value = (double(*)[HS_FACES])calloc((size_t)slots, sizeof *faces->value);
    faces->table = (void *(*)[HS_FACES])calloc((size_t)slots, sizeof *faces->table);
    if (!faces->time || !faces->value || !faces->table)
        return hs_error_add(err, HS_DEVICE, "not enough memory for %d time levels of the faces",
                            slots);
    faces->slots = slots;
    for (int slot = 0; slot < slots; slot++)
        faces->time[slot] = NAN;
    for (int face = 0; face < HS_FACES; face++) {
        const hs_status st = allocate_face(faces, face, err);
        if (st)
            return st;
    }
    return HS_OK;
}

void hs_cuda_faces_release(hs_cuda_faces *faces)
{
    for (int slot = 0; slot < faces->slots; slot++)
        for (int face = 0; face < HS_FACES; face++)
            cudaFree(faces->table[slot][face]);
    for (int face = 0; face < HS_FACES; face++)
        hs_cuda_function_destroy(&faces->function[face]);
    free(faces->table);
    free(faces->value);
    free(faces->time);
    *faces = {};
}

bool hs_cuda_faces_vary(const hs_cuda_faces *faces)
{
    bool vary = false;
    for (int face = 0; face < HS_FACES; face++)
        vary = vary || faces->drive[face].varies_time;
    return vary;
}

hs_status hs_cuda_faces_at(hs_cuda_faces *faces, int slot, double t, hs_error *err)
{
    const bool first = isnan(faces->time[slot]);
    if (faces->time[slot] == t)
        return HS_OK;
    faces->time[slot] = t;
    for (int face = 0; face < HS_FACES; face++) {
        const hs_face_drive *drive = &faces->drive[face];
        const bool once = first && (slot == 0 || !drive->varies_face);
        if (drive->used && (drive->varies_time || once)) {
            const hs_status st = evaluate(faces, slot, face, t, err);
            if (st)
                return st;
        }
    }
    return HS_OK;
}

hs_status hs_cuda_faces_fill(const hs_cuda_faces *faces, int slot, void *field, hs_error *err)
{
    unsigned wanted = 0;
    for (int face = 0; face < HS_FACES; face++)
        if (hs_face_depth(faces->problem, face) > 0)
            wanted |= 1u << face;
    if (faces->problem->precision == HS_FLOAT)
        return launch_faces<float>(faces, wanted, slot, field, "fill_ghosts", fill_ghosts<float>,
                                   err);
    return launch_faces<double>(faces, wanted, slot, field, "fill_ghosts", fill_ghosts<double>,
                                err);
}

bool hs_cuda_faces_prescribed_vary(const hs_cuda_faces *faces)
{
    bool vary = false;
    for (int face = 0; face < HS_FACES; face++)
        vary = vary || (faces->problem->face[face].prescribed && faces->drive[face].varies_time);
    return vary;
}

hs_status hs_cuda_faces_prescribe(const hs_cuda_faces *faces, int slot, void *field, hs_error *err)
{
    unsigned wanted = 0;
    for (int face = 0; face < 2 * faces->problem->grid.dims; face++)
        if (faces->problem->face[face].prescribed)
            wanted |= 1u << face;
    if (faces->problem->precision == HS_FLOAT)
        return launch_faces<float>(faces, wanted, slot, field, "prescribe", prescribe<float>, err);
    return launch_faces<double>(faces, wanted, slot, field, "prescribe", prescribe<double>, err);
}

hs_face_level hs_cuda_faces_level(const hs_cuda_faces *faces, int in, int out)
{
    hs_face_level level = {};
    for (int face = 0; face < HS_FACES; face++) {
        level.drive[face] = faces->value[in][face];
        level.hold[face] = faces->value[out][face];
        level.drive_field[face] = drive_table(faces, in, face);
        level.hold_field[face] = drive_table(faces, out, face);
    }
    return level;
}
