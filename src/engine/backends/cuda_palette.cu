/*
 * Finds the distinct rows of a level's numbers, on the device.
 *
 * Each node looks up the hash of its numbers in a table of slots; the first node at a slot leaves
 * its numbers there. Then the slots in use are numbered through. Each node compares its numbers
 * with those of its slot, and keeps the slot's new number.
 */
#include "engine/backends/cuda_multigrid.cuh"

#include <stdlib.h>

namespace
{

enum { SLOTS = 1 << 14, MOST_ROWS = SLOTS / 4, PROBES = 64, ROW = HS_CUDA_ROW };
enum { OWN = 6, MEMBERS = OWN + HS_AXES, INVERSE = HS_AXES, DIAGONAL = MEMBERS };

struct table {
    unsigned long long *key; /* [SLOTS] 0: none */
    float *row;              /* [SLOTS][HS_CUDA_ROW] */
    int *used;               /* number of slots */
    int *failed;             /* slots are too many, or two rows have one hash */
};

/* A node's own numbers, of which the first three are its edges; and the nodes. */
struct members {
    const float *of[OWN];
    hs_lattice lattice;
};

__device__ __forceinline__ unsigned bits_of(float value)
{
    unsigned bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Never 0. By the finisher of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
__device__ __forceinline__ unsigned long long hash_of(const float *value)
{
    unsigned long long hash = 0;
    for (int n = 0; n < MEMBERS; n++) {
        hash = (hash ^ bits_of(value[n])) + 0x9e3779b97f4a7c15ull;
        hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ull;
        hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebull;
        hash ^= hash >> 31;
    }
    return hash ? hash : 1;
}

/* A node's own numbers, then its edges to the nodes before. */
__device__ __forceinline__ void read(const members &m, int64_t node, float *value)
{
    const int64_t *n = m.lattice.n, stride[HS_AXES] = {1, n[HS_X], n[HS_X] * n[HS_Y]};
    for (int k = 0; k < OWN; k++)
        value[k] = m.of[k] ? m.of[k][node] : 0.0f;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t before = hs_lattice_next(&m.lattice, axis, node / stride[axis] % n[axis],
                                               stride[axis], -1, node);
        value[OWN + axis] = m.of[axis] && before >= 0 ? m.of[axis][before] : 0.0f;
    }
}

/* The slot of a row; -1: none is left. */
__device__ int find_slot(const table &t, const float *value)
{
    const unsigned long long hash = hash_of(value);
    int slot = (int)(hash % SLOTS);
    for (int probe = 0; probe < PROBES; probe++, slot = (slot + 1) % SLOTS) {
        unsigned long long there = t.key[slot];
        if (there == hash)
            return slot;
        if (there != 0)
            continue;
        there = atomicCAS(&t.key[slot], 0ull, hash);
        if (there == hash)
            return slot;
        if (there != 0)
            continue;
        for (int n = 0; n < MEMBERS; n++)
            t.row[slot * ROW + n] = value[n];
        return atomicAdd(t.used, 1) < MOST_ROWS ? slot : -1;
    }
    return -1;
}

__global__ void __launch_bounds__(march::THREADS)
    find_slots(members m, int64_t nodes, table t, uint16_t *slot_of)
{
    for (int64_t node = march::first_node(); node < nodes; node += march::threads_of_all()) {
        float value[MEMBERS];
        if (__ldcg(t.failed))
            return;
        read(m, node, value);
        const int slot = find_slot(t, value);
        if (slot < 0)
            *t.failed = 1;
        else
            slot_of[node] = (uint16_t)slot;
    }
}

/* `numbers` may be `slot_of` itself. */
template <typename NUMBER>
__global__ void __launch_bounds__(march::THREADS)
    set_numbers(members m, int64_t nodes, table t, const uint16_t *slot_of, const uint16_t *count,
                NUMBER *numbers)
{
    for (int64_t node = march::first_node(); node < nodes; node += march::threads_of_all()) {
        float value[MEMBERS];
        const int slot = slot_of[node];
        read(m, node, value);
        for (int n = 0; n < MEMBERS; n++)
            if (bits_of(value[n]) != bits_of(t.row[slot * ROW + n]))
                *t.failed = 1;
        numbers[node] = (NUMBER)count[slot];
    }
}

/* ---- on the host ----------------------------------------------------------------------------- */

/* What the host reads of the table, and makes from it. */
struct host_table {
    unsigned long long key[SLOTS];
    float row[SLOTS * ROW], rows[MOST_ROWS * ROW];
    uint16_t count[SLOTS];
    int used, failed;
};

struct work {
    hs_cuda_levels *levels;
    table of;
    uint16_t *slot_of, *count;
    host_table *here;
    members m;
    int64_t nodes;
};

template <typename T>
hs_status take(work *w, size_t count, T **out, hs_error *err)
{
    return hs_cuda_levels_take(w->levels, count * sizeof **out, (void **)out, err);
}

hs_status make_table(work *w, hs_error *err)
{
    cudaStream_t stream = w->levels->stream;
    hs_status st = take(w, SLOTS, &w->of.key, err);
    if (!st)
        st = take(w, SLOTS * ROW, &w->of.row, err);
    if (!st)
        st = take(w, 1, &w->of.used, err);
    if (!st)
        st = take(w, 1, &w->of.failed, err);
    if (!st)
        st = take(w, SLOTS, &w->count, err);
    if (!st)
        st = take(w, (size_t)w->nodes, &w->slot_of, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaMemsetAsync(w->of.key, 0, SLOTS * sizeof *w->of.key, stream));
    HS_CUDA_TRY(err, cudaMemsetAsync(w->of.row, 0, SLOTS * ROW * sizeof *w->of.row, stream));
    HS_CUDA_TRY(err, cudaMemsetAsync(w->of.used, 0, sizeof *w->of.used, stream));
    HS_CUDA_TRY(err, cudaMemsetAsync(w->of.failed, 0, sizeof *w->of.failed, stream));
    return march::launch("find_slots", find_slots, march::blocks_for(w->nodes), stream, err, w->m,
                         w->nodes, w->of, w->slot_of);
}

hs_status read_table(work *w, hs_error *err)
{
    cudaStream_t stream = w->levels->stream;
    host_table *const h = w->here;
    HS_CUDA_TRY(err, cudaMemcpyAsync(&h->failed, w->of.failed, sizeof h->failed,
                                     cudaMemcpyDeviceToHost, stream));
    HS_CUDA_TRY(
        err, cudaMemcpyAsync(&h->used, w->of.used, sizeof h->used, cudaMemcpyDeviceToHost, stream));
    HS_CUDA_TRY(err,
                cudaMemcpyAsync(h->key, w->of.key, sizeof h->key, cudaMemcpyDeviceToHost, stream));
    HS_CUDA_TRY(err,
                cudaMemcpyAsync(h->row, w->of.row, sizeof h->row, cudaMemcpyDeviceToHost, stream));
    HS_CUDA_TRY(err, cudaStreamSynchronize(stream));
    return HS_OK;
}

/* Numbers the slots in use. */
void count_through(host_table *h)
{
    int used = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        if (h->key[slot] == 0)
            continue;
        for (int n = 0; n < HS_CUDA_ROW; n++)
            h->rows[used * ROW + n] = h->row[slot * ROW + n];
        const float inverse = h->row[slot * ROW + INVERSE];
        h->rows[used * ROW + DIAGONAL] = inverse > 0.0f ? 1.0f / inverse : 0.0f;
        h->count[slot] = (uint16_t)used++;
    }
}

/* Makes rows and numbers; *out gets them if the rows hold exactly what the arrays do. */
hs_status number_nodes(work *w, hs_cuda_rows *out, hs_error *err)
{
    cudaStream_t stream = w->levels->stream;
    host_table *const h = w->here;
    const bool bytes = h->used <= 256;
    const size_t row_bytes = (size_t)h->used * ROW * sizeof(float);
    const int64_t blocks = march::blocks_for(w->nodes);
    hs_cuda_rows made = {};
    uint8_t *short_number = NULL;
    count_through(h);
    hs_status st = take(w, (size_t)h->used * ROW, &made.row, err);
    if (!st && bytes)
        st = take(w, (size_t)w->nodes, &short_number, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaMemcpyAsync(made.row, h->rows, row_bytes, cudaMemcpyHostToDevice, stream));
    HS_CUDA_TRY(
        err, cudaMemcpyAsync(w->count, h->count, sizeof h->count, cudaMemcpyHostToDevice, stream));
    if (bytes)
        st = march::launch("set_numbers", set_numbers<uint8_t>, blocks, stream, err, w->m, w->nodes,
                           w->of, (const uint16_t *)w->slot_of, (const uint16_t *)w->count,
                           short_number);
    else
        st = march::launch("set_numbers", set_numbers<uint16_t>, blocks, stream, err, w->m,
                           w->nodes, w->of, (const uint16_t *)w->slot_of,
                           (const uint16_t *)w->count, w->slot_of);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaMemcpyAsync(&h->failed, w->of.failed, sizeof h->failed,
                                     cudaMemcpyDeviceToHost, stream));
    HS_CUDA_TRY(err, cudaStreamSynchronize(stream));
    made.number_bytes = bytes ? 1 : 2;
    made.number = bytes ? (void *)short_number : (void *)w->slot_of;
    if (!bytes)
        w->slot_of = NULL;
    if (!h->failed) {
        *out = made;
        return HS_OK;
    }
    hs_cuda_levels_drop(w->levels, made.row);
    hs_cuda_levels_drop(w->levels, made.number);
    return HS_OK;
}

} // namespace

hs_status hs_cuda_rows_number(hs_cuda_levels *levels, const hs_lattice *lattice, hs_cuda_rows *rows,
                              hs_error *err)
{
    const int64_t nodes = hs_lattice_count(lattice);
    work w = {};
    hs_cuda_rows made = {};
    if (nodes < HS_CUDA_FEW_NODES)
        return HS_OK;
    w.levels = levels;
    w.nodes = nodes;
    w.m = {{rows->edge[HS_X], rows->edge[HS_Y], rows->edge[HS_Z], rows->inverse, rows->before,
            rows->after},
           *lattice};
    w.here = (host_table *)calloc(1, sizeof *w.here);
    hs_status st = w.here ? make_table(&w, err)
                          : hs_error_add(err, HS_DEVICE, "not enough memory for the levels");
    if (!st)
        st = read_table(&w, err);
    if (!st && !w.here->failed)
        st = number_nodes(&w, &made, err);
    if (!st && made.number) {
        for (int axis = 0; axis < HS_AXES; axis++)
            hs_cuda_levels_drop(levels, rows->edge[axis]);
        hs_cuda_levels_drop(levels, rows->inverse);
        hs_cuda_levels_drop(levels, rows->before);
        hs_cuda_levels_drop(levels, rows->after);
        *rows = made;
    }
    hs_cuda_levels_drop(levels, w.of.key);
    hs_cuda_levels_drop(levels, w.of.row);
    hs_cuda_levels_drop(levels, w.of.used);
    hs_cuda_levels_drop(levels, w.of.failed);
    hs_cuda_levels_drop(levels, w.count);
    hs_cuda_levels_drop(levels, w.slot_of);
    free(w.here);
    return st;
}
