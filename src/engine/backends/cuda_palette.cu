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
    unsigned long long key[SLOTS]; /* 0: none */
    float row[SLOTS * ROW];
    uint16_t count[SLOTS]; /* the new numbers */
    int used;              /* number of slots */
    int failed;            /* slots are too many, or two rows have one hash */
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
__device__ int find_slot(table *t, const float *value)
{
    const unsigned long long hash = hash_of(value);
    int slot = (int)(hash % SLOTS);
    for (int probe = 0; probe < PROBES; probe++, slot = (slot + 1) % SLOTS) {
        unsigned long long there = t->key[slot];
        if (there == hash)
            return slot;
        if (there != 0)
            continue;
        there = atomicCAS(&t->key[slot], 0ull, hash);
        if (there == hash)
            return slot;
        if (there != 0)
            continue;
        for (int n = 0; n < MEMBERS; n++)
            t->row[slot * ROW + n] = value[n];
        return atomicAdd(&t->used, 1) < MOST_ROWS ? slot : -1;
    }
    return -1;
}

__global__ void __launch_bounds__(march::THREADS)
    find_slots(members m, int64_t nodes, table *t, uint16_t *slot_of)
{
    for (int64_t node = march::first_node(); node < nodes; node += march::threads_of_all()) {
        float value[MEMBERS];
        if (__ldcg(&t->failed))
            return;
        read(m, node, value);
        const int slot = find_slot(t, value);
        if (slot < 0)
            t->failed = 1;
        else
            slot_of[node] = (uint16_t)slot;
    }
}

/* `numbers` may be `slot_of` itself. */
template <typename NUMBER>
__global__ void __launch_bounds__(march::THREADS)
    set_numbers(members m, int64_t nodes, table *t, const uint16_t *slot_of, NUMBER *numbers)
{
    for (int64_t node = march::first_node(); node < nodes; node += march::threads_of_all()) {
        float value[MEMBERS];
        const int slot = slot_of[node];
        read(m, node, value);
        for (int n = 0; n < MEMBERS; n++)
            if (bits_of(value[n]) != bits_of(t->row[slot * ROW + n]))
                t->failed = 1;
        numbers[node] = (NUMBER)t->count[slot];
    }
}

/* ---- on the host ----------------------------------------------------------------------------- */

struct work {
    hs_cuda_levels *levels;
    members m;
    int64_t nodes;
    table *of, *here; /* on the device, on the host */
    uint16_t *slot_of;
};

hs_status fill_table(work *w, hs_error *err)
{
    cudaStream_t stream = w->levels->stream;
    HS_TRY(hs_cuda_take(&w->levels->pool, 1, &w->of, err));
    HS_TRY(hs_cuda_take(&w->levels->pool, w->nodes, &w->slot_of, err));
    HS_CUDA_TRY(err, cudaMemsetAsync(w->of, 0, sizeof *w->of, stream));
    HS_TRY(march::launch("find_slots", find_slots, march::blocks_for(w->nodes), stream, err, w->m,
                         w->nodes, w->of, w->slot_of));
    return hs_cuda_copy_now(w->of, sizeof *w->of, w->here, cudaMemcpyDeviceToHost, stream, err);
}

/* Numbers the slots in use, and puts their rows onto the device. */
hs_status make_rows(work *w, float **out, hs_error *err)
{
    table *const h = w->here;
    float *const rows = hs_cuda_new<float>(h->used * ROW);
    int used = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        if (h->key[slot] == 0)
            continue;
        memcpy(rows + used * ROW, h->row + slot * ROW, ROW * sizeof *rows);
        const float inverse = h->row[slot * ROW + INVERSE];
        rows[used * ROW + DIAGONAL] = inverse > 0.0f ? 1.0f / inverse : 0.0f;
        h->count[slot] = (uint16_t)used++;
    }
    const hs_status st =
        hs_cuda_put(&w->levels->pool, rows, used * ROW, out, w->levels->stream, err);
    free(rows);
    return st;
}

template <typename NUMBER>
hs_status launch_numbers(const work *w, NUMBER *out, hs_error *err)
{
    return march::launch("set_numbers", set_numbers<NUMBER>, march::blocks_for(w->nodes),
                         w->levels->stream, err, w->m, w->nodes, w->of,
                         (const uint16_t *)w->slot_of, out);
}

/* Makes rows and numbers; *out gets them if the rows hold exactly what the arrays do. */
hs_status number_nodes(work *w, hs_cuda_rows *out, hs_error *err)
{
    cudaStream_t stream = w->levels->stream;
    table *const h = w->here;
    const bool bytes = h->used <= 256;
    hs_cuda_rows made = {};
    uint8_t *short_number = NULL;
    hs_status st = make_rows(w, &made.row, err);
    if (!st && bytes)
        st = hs_cuda_take(&w->levels->pool, w->nodes, &short_number, err);
    if (st)
        return st;
    HS_CUDA_TRY(err, cudaMemcpyAsync(w->of->count, h->count, sizeof h->count,
                                     cudaMemcpyHostToDevice, stream));
    st = bytes ? launch_numbers(w, short_number, err) : launch_numbers(w, w->slot_of, err);
    if (!st)
        st = hs_cuda_copy_now(&w->of->failed, sizeof h->failed, &h->failed, cudaMemcpyDeviceToHost,
                              stream, err);
    if (st)
        return st;
    made.number_bytes = bytes ? 1 : 2;
    made.number = bytes ? (void *)short_number : (void *)w->slot_of;
    if (!bytes)
        w->slot_of = NULL;
    if (!h->failed) {
        *out = made;
        return HS_OK;
    }
    hs_cuda_pool_drop(&w->levels->pool, made.row);
    hs_cuda_pool_drop(&w->levels->pool, made.number);
    return HS_OK;
}

} // namespace

hs_status hs_cuda_rows_number(hs_cuda_levels *levels, const hs_lattice *lattice, hs_cuda_rows *rows,
                              hs_error *err)
{
    const int64_t nodes = hs_lattice_count(lattice);
    hs_cuda_rows made = {};
    if (nodes < HS_CUDA_FEW_NODES)
        return HS_OK;
    work w = {levels, {}, nodes, NULL, hs_cuda_new<table>(1), NULL};
    w.m = {{rows->edge[HS_X], rows->edge[HS_Y], rows->edge[HS_Z], rows->inverse, rows->before,
            rows->after},
           *lattice};
    hs_status st = fill_table(&w, err);
    if (!st && !w.here->failed)
        st = number_nodes(&w, &made, err);
    if (!st && made.number) {
        for (const float *array : w.m.of)
            hs_cuda_pool_drop(&levels->pool, array);
        *rows = made;
    }
    hs_cuda_pool_drop(&levels->pool, w.of);
    hs_cuda_pool_drop(&levels->pool, w.slot_of);
    free(w.here);
    return st;
}
