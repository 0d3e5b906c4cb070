/*
 * One pass over the nodes numbers the distinct rows that each thread comes across; then they are
 * united, sorted by how many nodes have them, and numbered anew. Where they are too many for that,
 * a second pass writes each node's row.
 */
#include "core/memory.h"
#include "core/sum.h"
#include "core/text.h"
#include "engine/network/moving.h"
#include "engine/network/nodes.h"
#include "engine/network/palette.h"
#include "engine/ranks/together.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256, SHORTS = 65536 }; /* rows of a palette at most, that of no node included */
enum { ROWS, FORCINGS, KINDS };

/* The first node where something is wrong. */
struct fault {
    enum hs_node_fault what;
    int64_t node[HS_AXES];
};

struct worker {
    struct hs_nodes nodes;
    struct hs_distinct set[KINDS];
    int *map[KINDS];            /* where they went when all were united */
    struct hs_held_share *held; /* [held_count] */
    int64_t held_count;
    struct fault fault;
};

struct work {
    const struct hs_network_spec *spec;
    struct hs_axis axis[HS_AXES];
    struct hs_cells cells;
    struct hs_network_share share;
    int64_t nodes; /* of the share */
    int threads;
    struct worker *worker; /* [threads] */
    bool too_many;         /* rows for a palette */
    /* [ahead + nodes + ahead]: among the thread's own rows, then among all */
    uint16_t *number;
    struct hs_network *out;
    double *volume; /* [HS_NETWORK_PARTS][substances] */
};

/* All that solids, labels and contacts name is there. */
static bool is_sound(const struct hs_network_spec *spec)
{
    const struct hs_body *body = spec->body;
    bool sound = spec->threads > 0 && body->substance_count < HS_CELL_EMPTY &&
                 !(body->conductivity && body->contact_count > 0);
    for (int n = 0; n < body->solid_count; n++)
        sound = sound && body->solid[n].substance < body->substance_count;
    for (int w = 0; w < spec->wall_count; w++) {
        const int face = spec->wall[w].face;
        sound = sound && face >= 0 && face < 2 * spec->grid->dims && !spec->wrap[face / 2];
    }
    return sound;
}

struct hs_network_share hs_network_share(const struct hs_network_spec *spec)
{
    return spec->ranks > 1 ? hs_network_share_of(spec->grid, spec->ranks, spec->rank)
                           : hs_network_all(spec->grid);
}

/* How it goes on all ranks. */
static enum hs_status agree(const struct work *work, enum hs_status status, struct hs_error *err)
{
    return work->share.ranks > 1 ? hs_ranks_agree(status, err) : status;
}

static enum hs_status init_work(struct work *work, const struct hs_network_spec *spec,
                                struct hs_error *err)
{
    assert(is_sound(spec));
    *work = (struct work){.spec = spec, .threads = spec->threads, .share = hs_network_share(spec)};
    work->nodes = hs_network_share_nodes(&work->share, spec->grid);
    work->worker = hs_new((size_t)work->threads * sizeof *work->worker);
    hs_axes_init(work->axis, spec);
    const enum hs_status st = hs_cells_init(&work->cells, spec, work->axis, &work->share, err);
    for (int t = 0; t < work->threads; t++) {
        struct worker *worker = &work->worker[t];
        hs_distinct_init(&worker->set[ROWS], sizeof(struct hs_network_row));
        hs_distinct_init(&worker->set[FORCINGS], sizeof(struct hs_forcing));
        hs_nodes_init(&worker->nodes, spec, work->axis, &work->cells);
    }
    return agree(work, st, err);
}

static void release_work(struct work *work)
{
    for (int t = 0; t < work->threads; t++) {
        hs_nodes_release(&work->worker[t].nodes);
        for (int kind = 0; kind < KINDS; kind++) {
            hs_distinct_release(&work->worker[t].set[kind]);
            free(work->worker[t].map[kind]);
        }
        free(work->worker[t].held);
    }
    free(work->worker);
    free(work->number);
    hs_cells_release(&work->cells);
    hs_axes_release(work->axis);
}

static enum hs_status no_memory(const struct hs_grid *grid, struct hs_error *err)
{
    char points[HS_POINTS_TEXT];
    hs_grid_name_points(grid, points, sizeof points);
    return hs_error_add(err, HS_DEVICE,
                        "no memory for the network of %s nodes; take a smaller grid", points);
}

static enum hs_status report(const struct work *work, const struct fault *fault,
                             struct hs_error *err)
{
    static const char *const text[] = {
        [HS_NODE_IS_EMPTY] = "no material there; let the body begin with one that has no shape",
        [HS_NODE_OVERFLOWS] = "a conductance, the heat capacity or what a wall or source does is "
                              "not a finite number; look at the materials' and walls' values",
        [HS_NODE_HAS_TOO_MANY] = "too many sources and walls with values of their own act on it; "
                                 "give some of them one expression in common",
        [HS_NODE_IS_UNNAMED] = "its label is of no material; name it",
    };
    static const char axis_name[] = "xyz";
    char at[128] = "";
    for (int a = 0; a < work->spec->grid->dims; a++)
        hs_text_append(at, sizeof at, "%s%c = %.6g", a ? ", " : "", axis_name[a],
                       work->axis[a].position[fault->node[a]]);
    return hs_error_add(err, HS_BAD_INPUT, "%s: around the node at %s m: %s",
                        work->spec->place ? work->spec->place : "body", at, text[fault->what]);
}

static int first_part(const struct work *work, int thread)
{
    const int parts = work->share.end_part - work->share.part;
    return work->share.part + (int)((int64_t)parts * thread / work->threads);
}

static int64_t first_row(const struct work *work, int part)
{
    return hs_network_part(work->spec->grid, part);
}

/* In arrays of the share. */
static int64_t nodes_held(const struct work *work)
{
    return work->share.ahead + work->nodes + work->share.ahead;
}

/* Where the nodes of a row are in arrays of the share; and of a thread's first row. */
static int64_t place_of(const struct work *work, int64_t row)
{
    return work->share.ahead + (row - work->share.row) * work->spec->grid->points[HS_X];
}

static int64_t first_place(const struct work *work, int thread)
{
    return place_of(work, first_row(work, first_part(work, thread)));
}

/* Does `of_row` to all rows of nodes, in each thread until it fails. */
static void pass(struct work *work,
                 bool (*of_row)(struct work *, struct worker *, int part, int64_t r))
{
    const int64_t ny = work->spec->grid->points[HS_Y];
#pragma omp parallel for num_threads(work->threads) schedule(static, 1)
    for (int t = 0; t < work->threads; t++) {
        struct worker *worker = &work->worker[t];
        worker->fault = (struct fault){.what = HS_NODE_IS_WELL};
        bool goes_on = true;
        for (int part = first_part(work, t); part < first_part(work, t + 1); part++)
            for (int64_t r = first_row(work, part); r < first_row(work, part + 1) && goes_on; r++) {
                hs_nodes_begin_row(&worker->nodes, r % ny, r / ny);
                goes_on = of_row(work, worker, part, r);
            }
    }
}

/* How a pass went: of several faults that of the first node, whoever came across it. */
static enum hs_status outcome(const struct work *work, struct hs_error *err)
{
    struct fault fault = {.what = HS_NODE_IS_WELL};
    for (int t = 0; t < work->threads && fault.what == HS_NODE_IS_WELL; t++)
        fault = work->worker[t].fault;
    if (work->share.ranks > 1) {
        size_t *bytes;
        struct fault *all = hs_ranks_gather(&fault, sizeof fault, &bytes);
        for (int rank = hs_ranks_count() - 1; rank >= 0; rank--)
            if (all[rank].what != HS_NODE_IS_WELL)
                fault = all[rank];
        free(bytes);
        free(all);
    }
    return fault.what == HS_NODE_IS_WELL ? HS_OK : report(work, &fault, err);
}

static bool note(struct worker *worker, enum hs_node_fault what, int64_t i)
{
    if (what != HS_NODE_IS_WELL)
        worker->fault = (struct fault){
            what, {i, worker->nodes.octants.node[HS_Y], worker->nodes.octants.node[HS_Z]}};
    return what == HS_NODE_IS_WELL;
}

/* The row of node i, its forcing among the thread's own. */
static bool make_node(struct worker *worker, int64_t i, struct hs_network_row *row)
{
    struct hs_forcing forcing;
    if (hs_nodes_know(&worker->nodes, i, row))
        return true;
    if (!note(worker, hs_nodes_make(&worker->nodes, i, row, &forcing), i))
        return false;
    row->forcing = hs_distinct_place(&worker->set[FORCINGS], &forcing);
    hs_nodes_note(&worker->nodes, i, row);
    return true;
}

static bool number_row(struct work *work, struct worker *worker, int part, int64_t r)
{
    (void)part;
    const int64_t nx = work->spec->grid->points[HS_X];
    uint16_t *number = work->number + place_of(work, r);
    bool too_many = false;
    for (int64_t i = 0; i < nx && !too_many; i++) {
        if (hs_nodes_repeats(&worker->nodes, i)) {
            number[i] = number[i - 1];
            continue;
        }
        struct hs_network_row row;
        if (!make_node(worker, i, &row))
            return false;
        number[i] = (uint16_t)hs_distinct_place(&worker->set[ROWS], &row);
        too_many = worker->set[ROWS].count >= SHORTS;
    }
    if (too_many) {
#pragma omp atomic write
        work->too_many = true;
    }
#pragma omp atomic read
    too_many = work->too_many;
    return !too_many;
}

static bool write_row(struct work *work, struct worker *worker, int part, int64_t r)
{
    (void)part;
    const int64_t nx = work->spec->grid->points[HS_X];
    struct hs_network_row *node = work->out->node + place_of(work, r);
    for (int64_t i = 0; i < nx; i++) {
        if (hs_nodes_repeats(&worker->nodes, i))
            node[i] = node[i - 1];
        else if (!make_node(worker, i, &node[i]))
            return false;
    }
    return true;
}

static int (*const compare_of[])(const void *, const void *) = {
    [ROWS] = hs_network_row_compare, [FORCINGS] = hs_forcing_compare};

/* The same of all ranks, for what the threads of this one have. */
static void *unite_ranks(const struct work *work, int kind, void *here, int *count)
{
    const size_t size = work->worker[0].set[kind].size;
    const int ranks = hs_ranks_count();
    size_t *bytes;
    char *every = hs_ranks_gather(here, (size_t)*count * size, &bytes), *at = every;
    struct hs_distinct *set = hs_new((size_t)ranks * sizeof *set);
    int **map = hs_new((size_t)ranks * sizeof *map);
    for (int rank = 0; rank < ranks; at += bytes[rank++]) {
        set[rank] =
            (struct hs_distinct){.size = size, .count = (int)(bytes[rank] / size), .item = at};
        map[rank] = hs_new(bytes[rank] / size * sizeof **map + 1);
    }
    void *all = hs_distinct_unite(ranks, set, compare_of[kind], count, map);
    for (int t = 0; t < work->threads; t++)
        for (int n = 0; n < work->worker[t].set[kind].count; n++)
            work->worker[t].map[kind][n] = map[work->spec->rank][work->worker[t].map[kind][n]];
    for (int rank = 0; rank < ranks; rank++)
        free(map[rank]);
    free(set);
    free(map);
    free(bytes);
    free(every);
    free(here);
    return all;
}

/* Makes one of the sets of a kind that all threads have; each one's map says where what it had
 * went. Allocated. */
static void *unite(const struct work *work, int kind, int *count)
{
    struct hs_distinct *set = hs_new((size_t)work->threads * sizeof *set);
    int **map = hs_new((size_t)work->threads * sizeof *map);
    for (int t = 0; t < work->threads; t++) {
        set[t] = work->worker[t].set[kind];
        map[t] = hs_new(((size_t)set[t].count + 1) * sizeof *map[t]);
        work->worker[t].map[kind] = map[t];
    }
    void *all = hs_distinct_unite(work->threads, set, compare_of[kind], count, map);
    free(set);
    free(map);
    return work->share.ranks > 1 ? unite_ranks(work, kind, all, count) : all;
}

/* The first is empty. */
static void unite_forcings(struct work *work)
{
    struct hs_forcing empty;
    memset(&empty, 0, sizeof empty);
    hs_distinct_place(&work->worker[0].set[FORCINGS], &empty);
    work->out->forcing = unite(work, FORCINGS, &work->out->forcing_count);
}

/* Rows with the forcings of all; row 0 of no node before them. */
static void unite_rows(struct work *work)
{
    struct hs_network *out = work->out;
    for (int t = 0; t < work->threads; t++) {
        struct worker *worker = &work->worker[t];
        struct hs_network_row *row = (struct hs_network_row *)(void *)worker->set[ROWS].item;
        for (int n = 0; n < worker->set[ROWS].count; n++)
            row[n].forcing = worker->map[FORCINGS][row[n].forcing];
    }
    int count = 0;
    struct hs_network_row *all = unite(work, ROWS, &count);
    out->row = hs_new(((size_t)count + 1) * sizeof *out->row);
    out->row[0].kind = HS_NODE_HELD;
    memcpy(out->row + 1, all, (size_t)count * sizeof *out->row);
    out->row_count = count + 1;
    free(all);
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
#pragma omp parallel for num_threads(work->threads) schedule(static, 1)
    for (int t = 0; t < work->threads; t++) {
        const struct worker *worker = &work->worker[t];
        int64_t *own = hs_new(((size_t)worker->set[ROWS].count + 1) * sizeof *own);
        for (int64_t n = first_place(work, t); n < first_place(work, t + 1); n++)
            own[work->number[n]]++;
#pragma omp critical
        for (int n = 0; n < worker->set[ROWS].count; n++)
            nodes[worker->map[ROWS][n]] += (double)own[n];
        free(own);
    }
    if (work->share.ranks > 1)
        hs_ranks_add(nodes, count);
    for (int n = 0; n < count; n++)
        use[n] = (struct use){(int64_t)nodes[n], n};
    free(nodes);
}

/* Rows that many nodes have come first: kernels that cannot have all at hand have those. */
static void sort_rows(struct work *work)
{
    struct hs_network *out = work->out;
    const int count = out->row_count - 1;
    struct use *use = hs_new(((size_t)count + 1) * sizeof *use);
    struct hs_network_row *row = hs_new((size_t)out->row_count * sizeof *row);
    int *place = hs_new(((size_t)count + 1) * sizeof *place);
    count_uses(work, count, use);
    qsort(use, (size_t)count, sizeof *use, compare_uses);
    row[0] = out->row[0];
    for (int n = 0; n < count; n++) {
        row[1 + n] = out->row[1 + use[n].row];
        place[use[n].row] = n;
    }
    for (int t = 0; t < work->threads; t++)
        for (int n = 0; n < work->worker[t].set[ROWS].count; n++)
            work->worker[t].map[ROWS][n] = place[work->worker[t].map[ROWS][n]];
    free(out->row);
    out->row = row;
    free(use);
    free(place);
}

/* Numbers among all rows, in bytes where they fit. */
static bool renumber(struct work *work)
{
    struct hs_network *out = work->out;
    uint8_t *byte = NULL;
    if (out->row_count <= BYTES) {
        byte = malloc((size_t)nodes_held(work));
        if (!byte)
            return false;
    }
#pragma omp parallel for num_threads(work->threads) schedule(static, 1)
    for (int t = 0; t < work->threads; t++) {
        const int *map = work->worker[t].map[ROWS];
        for (int64_t n = first_place(work, t); n < first_place(work, t + 1); n++) {
            const int number = map[work->number[n]] + 1;
            if (byte)
                byte[n] = (uint8_t)number;
            else
                work->number[n] = (uint16_t)number;
        }
    }
    out->form = byte ? HS_NETWORK_BYTES : HS_NETWORK_SHORTS;
    out->number = byte;
    if (!byte) {
        out->number = work->number;
        work->number = NULL;
    }
    return true;
}

/* Whether any rank has. */
static bool any_has(const struct work *work, bool here)
{
    double count = here ? 1.0 : 0.0;
    if (work->share.ranks > 1)
        hs_ranks_add(&count, 1);
    return count > 0.0;
}

/* The first pass. Afterwards `too_many` says whether rows are too many; then nothing is there. */
static enum hs_status make_palette(struct work *work, struct hs_error *err)
{
    const struct hs_grid *grid = work->spec->grid;
    work->number = malloc((size_t)nodes_held(work) * sizeof *work->number);
    enum hs_status st = agree(work, work->number ? HS_OK : no_memory(grid, err), err);
    if (st)
        return st;
    pass(work, number_row);
    work->too_many = any_has(work, work->too_many);
    st = work->too_many ? HS_OK : outcome(work, err);
    if (!work->too_many && !st) {
        unite_forcings(work);
        unite_rows(work);
    }
    if (!work->too_many && !st && work->out->row_count <= SHORTS) {
        sort_rows(work);
        return agree(work, renumber(work) ? HS_OK : no_memory(grid, err), err);
    }
    work->too_many = true;
    free(work->number);
    work->number = NULL;
    hs_network_release(work->out);
    return st;
}

/* The second one. */
static enum hs_status make_arrays(struct work *work, struct hs_error *err)
{
    struct hs_network *out = work->out;
    out->form = HS_NETWORK_ARRAYS;
    out->node = malloc((size_t)nodes_held(work) * sizeof *out->node);
    for (int t = 0; t < work->threads; t++) {
        struct worker *worker = &work->worker[t];
        free(worker->map[FORCINGS]);
        worker->map[FORCINGS] = NULL;
        hs_distinct_release(&worker->set[ROWS]);
        hs_distinct_init(&worker->set[ROWS], sizeof(struct hs_network_row));
    }
    enum hs_status st = agree(work, out->node ? HS_OK : no_memory(work->spec->grid, err), err);
    if (st)
        return st;
    pass(work, write_row);
    st = outcome(work, err);
    if (st)
        return st;
    unite_forcings(work);
    int64_t forced = 0;
#pragma omp parallel for num_threads(work->threads) schedule(static, 1) reduction(+ : forced)
    for (int t = 0; t < work->threads; t++) {
        for (int64_t n = first_place(work, t); n < first_place(work, t + 1); n++) {
            out->node[n].forcing = work->worker[t].map[FORCINGS][out->node[n].forcing];
            forced += out->node[n].forcing != 0;
        }
    }
    double all = (double)forced;
    if (work->share.ranks > 1)
        hs_ranks_add(&all, 1);
    out->forced = (int64_t)all;
    return HS_OK;
}

/* ---- of several ranks ------------------------------------------------------------------------ */

static size_t node_bytes(const struct hs_network *network)
{
    return network->form == HS_NETWORK_BYTES    ? sizeof(uint8_t)
           : network->form == HS_NETWORK_SHORTS ? sizeof(uint16_t)
                                                : sizeof *network->node;
}

static char *nodes_of(const struct hs_network *network)
{
    return network->form == HS_NETWORK_ARRAYS ? (char *)network->node : network->number;
}

/* The layers beside a share. */
static void find_beside(const struct work *work)
{
    const struct hs_network_share *share = &work->share;
    const size_t size = node_bytes(work->out), layer = (size_t)share->ahead * size;
    char *nodes = nodes_of(work->out), *end = nodes + (size_t)work->nodes * size;
    const void *const out[] = {nodes + layer, end};
    void *const in[] = {nodes, end + layer};
    if (share->ranks > 1)
        hs_ranks_beside(share->ranks, out, in, layer);
}

enum hs_status hs_network_join(const struct hs_network_spec *spec, struct hs_network *network,
                               struct hs_error *err)
{
    const struct hs_network_share share = hs_network_share(spec);
    const size_t size = node_bytes(network);
    char *all = NULL;
    if (share.ranks < 2)
        return HS_OK;
    if (spec->rank == 0)
        all = malloc((size_t)hs_grid_count(spec->grid) * size);
    const enum hs_status st =
        hs_ranks_agree(spec->rank > 0 || all ? HS_OK : no_memory(spec->grid, err), err);
    if (!st)
        hs_ranks_collect(nodes_of(network) + (size_t)share.ahead * size,
                         (size_t)hs_network_share_nodes(&share, spec->grid) * size, all);
    free(nodes_of(network));
    network->number = network->form == HS_NETWORK_ARRAYS ? NULL : all;
    network->node = network->form == HS_NETWORK_ARRAYS ? (void *)all : NULL;
    if (st || spec->rank > 0)
        hs_network_release(network);
    return st;
}

/* ---------------------------------------------------------------------------------------------- */

enum hs_status hs_network_make(const struct hs_network_spec *spec, struct hs_network *out,
                               struct hs_error *err)
{
    struct work work;
    memset(out, 0, sizeof *out);
    enum hs_status st = init_work(&work, spec, err);
    work.out = out;
    if (!st)
        st = make_palette(&work, err);
    if (!st && work.too_many)
        st = make_arrays(&work, err);
    if (!st)
        find_beside(&work);
    if (!st && spec->rank == 0)
        hs_network_find_moving(spec, work.axis, out);
    release_work(&work);
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
    struct hs_sum part[HS_NETWORK_PARTS] = {{0.0, 0.0}}, sum = {0.0, 0.0};
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int p = 0; p < HS_NETWORK_PARTS; p++)
        for (int64_t n = nodes * p / HS_NETWORK_PARTS; n < nodes * (p + 1) / HS_NETWORK_PARTS; n++)
            hs_sum_add(&part[p], hs_network_row_at(network, n)->capacity);
    for (int p = 0; p < HS_NETWORK_PARTS; p++)
        hs_sum_join(&sum, &part[p]);
    return hs_sum_value(&sum);
}

/* What the control volume of node i has, if a wall holds it. */
static bool add_held(struct work *work, struct worker *worker, int64_t i)
{
    const struct hs_octants *octants = &worker->nodes.octants;
    const int64_t node[HS_AXES] = {i, octants->node[HS_Y], octants->node[HS_Z]};
    const struct hs_shares *shares = &worker->nodes.shares;
    const struct hs_wall *wall = hs_walls_holding(work->spec, work->axis, node);
    if (!wall)
        return true;
    if (!note(worker, hs_nodes_share(&worker->nodes, i), i))
        return false;
    for (int n = 0; n < shares->count; n++) {
        struct hs_held_share share = {.wall = (int)(wall - work->spec->wall),
                                      .substance = shares->share[n].substance,
                                      .volume = shares->share[n].volume};
        memcpy(share.node, node, sizeof node);
        worker->held = hs_reserve(worker->held, (size_t)worker->held_count, sizeof share);
        worker->held[worker->held_count++] = share;
    }
    return true;
}

/* Only nodes at walls are held. */
static bool add_held_of_row(struct work *work, struct worker *worker, int part, int64_t r)
{
    (void)part;
    const int64_t *n = work->spec->grid->points;
    const int64_t j = r % n[HS_Y], k = r / n[HS_Y];
    const int dims = work->spec->grid->dims;
    const bool whole =
        (dims > 1 && (j == 0 || j == n[HS_Y] - 1)) || (dims > 2 && (k == 0 || k == n[HS_Z] - 1));
    for (int64_t i = 0; i < n[HS_X]; i += whole || n[HS_X] == 1 ? 1 : n[HS_X] - 1)
        if (!add_held(work, worker, i))
            return false;
    return true;
}

/* Of all threads, which have consecutive rows, and of all ranks. */
static void unite_held(const struct work *work, struct hs_network *network)
{
    int64_t count = 0, at = 0;
    for (int t = 0; t < work->threads; t++)
        count += work->worker[t].held_count;
    struct hs_held_share *held = hs_new(((size_t)count + 1) * sizeof *held);
    for (int t = 0; t < work->threads; t++)
        for (int64_t n = 0; n < work->worker[t].held_count; n++)
            held[at++] = work->worker[t].held[n];
    if (work->share.ranks > 1) {
        struct hs_held_share *here = held;
        size_t *bytes;
        held = hs_ranks_gather(here, (size_t)count * sizeof *here, &bytes);
        count = 0;
        for (int rank = 0; rank < hs_ranks_count(); rank++)
            count += (int64_t)(bytes[rank] / sizeof *here);
        free(bytes);
        free(here);
    }
    network->held = held;
    network->held_count = count;
}

enum hs_status hs_network_find_held(const struct hs_network_spec *spec, struct hs_network *network,
                                    struct hs_error *err)
{
    struct work work;
    if (!hs_body_is_active(spec->body))
        return HS_OK;
    enum hs_status st = init_work(&work, spec, err);
    if (!st) {
        pass(&work, add_held_of_row);
        st = outcome(&work, err);
    }
    if (!st)
        unite_held(&work, network);
    release_work(&work);
    return st;
}

static bool add_volumes(struct work *work, struct worker *worker, int part, int64_t r)
{
    (void)r;
    const int64_t nx = work->spec->grid->points[HS_X];
    const struct hs_shares *shares = &worker->nodes.shares;
    double *volume = work->volume + (size_t)part * (size_t)work->spec->body->substance_count;
    for (int64_t i = 0; i < nx; i++) {
        if (!hs_nodes_repeats_shares(&worker->nodes, i) &&
            !note(worker, hs_nodes_share(&worker->nodes, i), i))
            return false;
        for (int n = 0; n < shares->count; n++)
            volume[shares->share[n].substance] += shares->share[n].volume;
    }
    return true;
}

enum hs_status hs_network_volumes(const struct hs_network_spec *spec, double *out,
                                  struct hs_error *err)
{
    const size_t count = (size_t)spec->body->substance_count;
    struct work work;
    enum hs_status st = init_work(&work, spec, err);
    work.volume = hs_new((HS_NETWORK_PARTS * count + 1) * sizeof *work.volume);
    if (!st) {
        pass(&work, add_volumes);
        st = outcome(&work, err);
    }
    memset(out, 0, count * sizeof *out);
    if (!st && work.share.ranks > 1)
        hs_ranks_add(work.volume, (int64_t)(HS_NETWORK_PARTS * count));
    for (int part = 0; part < HS_NETWORK_PARTS && !st; part++)
        for (size_t s = 0; s < count; s++)
            out[s] += work.volume[(size_t)part * count + s];
    free(work.volume);
    release_work(&work);
    return st;
}
