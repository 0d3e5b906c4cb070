/*
 * One pass over the nodes numbers the distinct rows that each thread meets; then these are united,
 * sorted by how many nodes have them, and renumbered. If there are too many of them, a second pass
 * writes each node's row.
 */
#include "core/memory.h"
#include "core/sum.h"
#include "engine/network/palette.h"
#include "engine/network/pass.h"
#include "engine/ranks/together.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 256 }; /* most rows of one-byte numbers, including row 0, of no node */
enum { ROWS, FORCINGS, KINDS };

struct work {
    struct hs_pass *pass;
    struct hs_distinct *set[KINDS]; /* [threads]: what each has found */
    bool too_many;                  /* rows for a palette */
    int64_t forced;                 /* nodes with a forcing */
    uint16_t *number;               /* of the portion's nodes, among the thread's rows */
    struct hs_network *out;
};

static enum hs_status no_memory(const struct hs_grid *grid, struct hs_error *err)
{
    char points[HS_POINTS_TEXT];
    hs_grid_name_points(grid, points, sizeof points);
    return hs_error_add(err, HS_DEVICE,
                        "no memory for the network of %s nodes; take a smaller grid", points);
}

/* Whether all ranks have memory for their nodes. */
static enum hs_status agree(const struct work *work, const void *memory, struct hs_error *err)
{
    return hs_pass_agree(work->pass, memory ? HS_OK : no_memory(work->pass->spec->grid, err), err);
}

/* Makes the row of node i; its forcing is numbered among the thread's own. */
static bool make_node(const struct work *work, struct hs_pass_worker *worker, int64_t i,
                      struct hs_network_row *row)
{
    struct hs_forcing forcing;
    if (hs_nodes_know(&worker->nodes, i, row))
        return true;
    if (!hs_pass_note(worker, hs_nodes_make(&worker->nodes, i, row, &forcing), i))
        return false;
    if (hs_forcing_acts(&forcing))
        row->forcing = hs_distinct_place(&work->set[FORCINGS][worker->thread], &forcing);
    hs_nodes_note(&worker->nodes, i, row);
    return true;
}

static bool number_row(void *self, struct hs_pass_worker *worker, int64_t r)
{
    struct work *work = self;
    struct hs_distinct *rows = &work->set[ROWS][worker->thread];
    const int64_t nx = work->pass->spec->grid->points[HS_X];
    uint16_t *number = work->number + hs_pass_place(work->pass, r);
    bool too_many = false;
    for (int64_t i = 0; i < nx && !too_many; i++) {
        if (hs_nodes_repeats(&worker->nodes, i)) {
            number[i] = number[i - 1];
            continue;
        }
        struct hs_network_row row;
        if (!make_node(work, worker, i, &row))
            return false;
        number[i] = (uint16_t)hs_distinct_place(rows, &row);
        too_many = rows->count >= HS_NETWORK_MOST_ROWS;
    }
    for (int64_t i = 0; i < nx && !too_many; i++)
        rows->uses[number[i]]++;
    if (too_many) {
#pragma omp atomic write
        work->too_many = true;
    }
#pragma omp atomic read
    too_many = work->too_many;
    return !too_many;
}

static bool write_row(void *self, struct hs_pass_worker *worker, int64_t r)
{
    struct work *work = self;
    const int64_t nx = work->pass->spec->grid->points[HS_X];
    struct hs_network_row *node = work->out->node + hs_pass_place(work->pass, r);
    for (int64_t i = 0; i < nx; i++) {
        if (hs_nodes_repeats(&worker->nodes, i))
            node[i] = node[i - 1];
        else if (!make_node(work, worker, i, &node[i]))
            return false;
    }
    return true;
}

static int (*const compare_of[])(const void *, const void *) = {
    [ROWS] = hs_network_row_compare, [FORCINGS] = hs_forcing_compare};

/* Unites the ranks' sets, `here` that of this rank, and updates its threads' maps. */
static void *unite_ranks(const struct work *work, int kind, void *here, int *count)
{
    const size_t size = work->set[kind]->size;
    const int ranks = hs_ranks_count();
    size_t *bytes;
    char *every = hs_ranks_gather(here, (size_t)*count * size, &bytes), *at = every;
    struct hs_distinct *set = hs_new((size_t)ranks * sizeof *set);
    for (int rank = 0; rank < ranks; at += bytes[rank++])
        set[rank] =
            (struct hs_distinct){.size = size, .count = (int)(bytes[rank] / size), .item = at};
    void *all = hs_distinct_unite(ranks, set, compare_of[kind], count);
    for (int t = 0; t < work->pass->threads; t++)
        for (int n = 0; n < work->set[kind][t].count; n++)
            work->set[kind][t].map[n] = set[work->pass->spec->rank].map[work->set[kind][t].map[n]];
    for (int rank = 0; rank < ranks; rank++)
        free(set[rank].map);
    free(set);
    free(bytes);
    free(every);
    free(here);
    return all;
}

/* Unites the threads' sets of a kind. Allocated. */
static void *unite(const struct work *work, int kind, int *count)
{
    void *all = hs_distinct_unite(work->pass->threads, work->set[kind], compare_of[kind], count);
    return work->pass->portion.ranks > 1 ? unite_ranks(work, kind, all, count) : all;
}

static void unite_forcings(struct work *work)
{
    work->out->forcing = unite(work, FORCINGS, &work->out->forcing_count);
}

/* How many nodes have a row. */
struct use {
    int64_t nodes;
    int row;
};

static int compare_uses(const void *a, const void *b)
{
    const struct use *one = a, *other = b;
    const int by = (other->nodes > one->nodes) - (other->nodes < one->nodes);
    return by ? by : one->row - other->row;
}

static void count_uses(const struct work *work, int count, struct use *use)
{
    double *nodes = hs_new(((size_t)count + 1) * sizeof *nodes);
    for (int t = 0; t < work->pass->threads; t++) {
        const struct hs_distinct *rows = &work->set[ROWS][t];
        for (int n = 0; n < rows->count; n++)
            nodes[rows->map[n]] += (double)rows->uses[n];
    }
    hs_pass_add(work->pass, nodes, count);
    for (int n = 0; n < count; n++)
        use[n] = (struct use){(int64_t)nodes[n], n};
    free(nodes);
}

/* Sets the rows from `all`. Those that many nodes have come first: kernels that cannot hold all
 * rows hold those. Row 0, of no node, comes before them. */
static void sort_rows(struct work *work, const struct hs_network_row *all, int count)
{
    struct use *use = hs_new(((size_t)count + 1) * sizeof *use);
    struct hs_network_row *row = hs_new(((size_t)count + 1) * sizeof *row);
    int *place = hs_new(((size_t)count + 1) * sizeof *place);
    count_uses(work, count, use);
    qsort(use, (size_t)count, sizeof *use, compare_uses);
    row[0].kind = HS_NODE_HELD;
    for (int n = 0; n < count; n++) {
        row[1 + n] = all[use[n].row];
        place[use[n].row] = n;
    }
    for (int t = 0; t < work->pass->threads; t++)
        for (int n = 0; n < work->set[ROWS][t].count; n++)
            work->set[ROWS][t].map[n] = place[work->set[ROWS][t].map[n]];
    work->out->row = row;
    free(use);
    free(place);
}

/* Rows refer to the united forcings. */
static void unite_rows(struct work *work)
{
    for (int t = 0; t < work->pass->threads; t++) {
        struct hs_network_row *row = (void *)work->set[ROWS][t].item;
        for (int n = 0; n < work->set[ROWS][t].count; n++)
            row[n].forcing = work->set[FORCINGS][t].map[row[n].forcing];
    }
    int count;
    struct hs_network_row *all = unite(work, ROWS, &count);
    work->out->row_count = count + 1;
    work->too_many = work->out->row_count > HS_NETWORK_MOST_ROWS;
    if (!work->too_many)
        sort_rows(work, all, count);
    free(all);
}

static void renumber_nodes(void *self, int thread, int64_t first, int64_t end)
{
    struct work *work = self;
    const int *map = work->set[ROWS][thread].map;
    uint8_t *const byte = work->out->number;
    uint16_t *const two = work->out->number;
    for (int64_t n = first; n < end; n++) {
        const int number = map[work->number[n]] + 1;
        if (work->out->form == HS_NETWORK_BYTES)
            byte[n] = (uint8_t)number;
        else
            two[n] = (uint16_t)number;
    }
}

/* Numbers the nodes among all rows, in bytes if those suffice. */
static enum hs_status renumber(struct work *work, struct hs_error *err)
{
    struct hs_network *out = work->out;
    const bool few = out->row_count <= BYTES;
    out->form = few ? HS_NETWORK_BYTES : HS_NETWORK_SHORTS;
    out->number = few ? malloc((size_t)hs_pass_nodes(work->pass)) : work->number;
    if (out->number)
        hs_pass_again(work->pass, work, renumber_nodes);
    if (!few)
        work->number = NULL;
    return agree(work, out->number, err);
}

/* The first pass. `too_many` then says whether there are too many rows; if so, `out` is empty. */
static enum hs_status make_palette(struct work *work, struct hs_error *err)
{
    work->number = malloc((size_t)hs_pass_nodes(work->pass) * sizeof *work->number);
    enum hs_status st = agree(work, work->number, err);
    if (st)
        return st;
    hs_pass_go(work->pass, work, number_row);
    double too_many = work->too_many; /* how many ranks have */
    hs_pass_add(work->pass, &too_many, 1);
    work->too_many = too_many > 0.0;
    st = work->too_many ? HS_OK : hs_pass_outcome(work->pass, err);
    if (!work->too_many && !st) {
        unite_forcings(work);
        unite_rows(work);
    }
    if (!work->too_many && !st)
        return renumber(work, err);
    free(work->number);
    work->number = NULL;
    hs_network_release(work->out);
    return st;
}

/* Nodes refer to the united forcings; the first, empty one is the first of all threads, too. */
static void map_forcings(void *self, int thread, int64_t first, int64_t end)
{
    struct work *work = self;
    int64_t forced = 0;
    for (int64_t n = first; n < end; n++) {
        struct hs_network_row *node = &work->out->node[n];
        if (node->forcing == 0)
            continue;
        node->forcing = work->set[FORCINGS][thread].map[node->forcing];
        forced++;
    }
#pragma omp atomic
    work->forced += forced;
}

/* The second pass. */
static enum hs_status make_arrays(struct work *work, struct hs_error *err)
{
    struct hs_network *out = work->out;
    out->form = HS_NETWORK_ARRAYS;
    out->node = malloc((size_t)hs_pass_nodes(work->pass) * sizeof *out->node);
    for (int t = 0; t < work->pass->threads; t++)
        hs_distinct_release(&work->set[ROWS][t]);
    enum hs_status st = agree(work, out->node, err);
    if (st)
        return st;
    hs_pass_go(work->pass, work, write_row);
    st = hs_pass_outcome(work->pass, err);
    if (st)
        return st;
    unite_forcings(work);
    hs_pass_again(work->pass, work, map_forcings);
    double all = (double)work->forced;
    hs_pass_add(work->pass, &all, 1);
    out->forced = (int64_t)all;
    return HS_OK;
}

/* ---- of several ranks ------------------------------------------------------------------------ */

/* Fetches the layers beside a portion. */
static void find_beside(const struct hs_pass *pass, const struct hs_network *network)
{
    const size_t size = hs_network_node_bytes(network->form);
    const size_t own = (size_t)hs_portion_nodes(&pass->portion, pass->spec->grid) * size;
    if (pass->portion.ranks > 1)
        hs_ranks_beside(pass->portion.ranks, network->number, (size_t)pass->portion.beside * size,
                        own);
}

enum hs_status hs_network_join(const struct hs_network_spec *spec, struct hs_network *network,
                               struct hs_error *err)
{
    const struct hs_portion portion = hs_portion_of(spec->grid, spec->ranks, spec->rank);
    const size_t size = hs_network_node_bytes(network->form);
    char *all = NULL;
    if (portion.ranks < 2)
        return HS_OK;
    if (spec->rank == 0)
        all = malloc((size_t)hs_grid_count(spec->grid) * size);
    const enum hs_status st =
        hs_ranks_agree(spec->rank > 0 || all ? HS_OK : no_memory(spec->grid, err), err);
    if (!st)
        hs_ranks_collect((char *)network->number + (size_t)portion.beside * size,
                         (size_t)hs_portion_nodes(&portion, spec->grid) * size, all);
    free(network->number);
    network->number = all;
    if (st || spec->rank > 0)
        hs_network_release(network);
    return st;
}

/* ---------------------------------------------------------------------------------------------- */

static void init_work(struct work *work, struct hs_pass *pass, struct hs_network *out)
{
    struct hs_forcing empty;
    memset(&empty, 0, sizeof empty);
    *work = (struct work){.pass = pass, .out = out};
    for (int kind = 0; kind < KINDS; kind++)
        work->set[kind] = hs_new((size_t)pass->threads * sizeof *work->set[kind]);
    for (int t = 0; t < pass->threads; t++) {
        work->set[ROWS][t].size = sizeof(struct hs_network_row);
        work->set[FORCINGS][t].size = sizeof empty;
        hs_distinct_place(&work->set[FORCINGS][t], &empty);
    }
}

static void release_work(struct work *work)
{
    for (int kind = 0; kind < KINDS; kind++) {
        for (int t = 0; t < work->pass->threads; t++)
            hs_distinct_release(&work->set[kind][t]);
        free(work->set[kind]);
    }
    free(work->number);
}

static enum hs_status make_rows(struct hs_pass *pass, struct hs_network *out, struct hs_error *err)
{
    struct work work;
    init_work(&work, pass, out);
    enum hs_status st = make_palette(&work, err);
    if (!st && work.too_many)
        st = make_arrays(&work, err);
    if (!st)
        find_beside(pass, out);
    release_work(&work);
    return st;
}

enum hs_status hs_network_make(const struct hs_network_spec *spec, struct hs_network *out,
                               struct hs_error *err)
{
    struct hs_pass pass;
    memset(out, 0, sizeof *out);
    enum hs_status st = hs_pass_init(&pass, spec, err);
    if (!st)
        st = make_rows(&pass, out, err);
    if (!st)
        st = hs_pass_find_substances(&pass, out, err);
    if (!st && spec->rank == 0)
        hs_pass_find_moving(&pass, out);
    hs_pass_release(&pass);
    if (st) {
        hs_network_release(out);
        return st;
    }
    out->grid = *spec->grid;
    for (int a = 0; a < spec->grid->dims; a++)
        out->wrap[a] = spec->wrap[a];
    return HS_OK;
}

double hs_network_capacity(const struct hs_network *network, int threads)
{
    const int64_t nodes = hs_grid_count(&network->grid);
    struct hs_sum part[HS_PARTS_OF_ROWS] = {{0.0, 0.0}}, sum = {0.0, 0.0};
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int p = 0; p < HS_PARTS_OF_ROWS; p++)
        for (int64_t n = nodes * p / HS_PARTS_OF_ROWS; n < nodes * (p + 1) / HS_PARTS_OF_ROWS; n++)
            hs_sum_add(&part[p], hs_network_row_at(network, n)->capacity);
    for (int p = 0; p < HS_PARTS_OF_ROWS; p++)
        hs_sum_join(&sum, &part[p]);
    return hs_sum_value(&sum);
}
