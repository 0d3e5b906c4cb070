#include "engine/ranks/slab.h"

#include "core/memory.h"
#include "core/reduction.h"
#include "core/round.h"
#include "functions/moving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int last_axis(const struct hs_problem *problem)
{
    return problem->grid.dims - 1;
}

static int64_t layers_of(const struct hs_problem *problem)
{
    return problem->grid.points[last_axis(problem)];
}

static bool is_periodic(const struct hs_problem *problem)
{
    return problem->face[2 * last_axis(problem)].wrap;
}

/* ---- cuts ------------------------------------------------------------------------------------ */

static int64_t count_blocks(const struct hs_problem *whole)
{
    const struct hs_blocks blocks = hs_blocks_of(whole);
    return (blocks.end + blocks.layers - 1) / blocks.layers;
}

int64_t hs_slab_begin(const struct hs_problem *whole, int ranks, int rank)
{
    const struct hs_blocks blocks = hs_blocks_of(whole);
    return hs_smaller(count_blocks(whole) * rank / ranks * blocks.layers, layers_of(whole));
}

int64_t hs_slab_thinnest(const struct hs_problem *whole, int ranks)
{
    int64_t least = layers_of(whole);
    for (int rank = 0; rank < ranks; rank++)
        least = hs_smaller(least, hs_slab_begin(whole, ranks, rank + 1) -
                                      hs_slab_begin(whole, ranks, rank));
    return least;
}

/* A halo comes from one neighbour, and needs at least the layers of one sweep; and a kernel needs
 * nodes to sweep between held layers. */
int hs_slab_most(const struct hs_problem *whole)
{
    int64_t ranks = count_blocks(whole);
    while (ranks > 1 && hs_slab_thinnest(whole, (int)ranks) < whole->radius)
        ranks--;
    return (int)ranks;
}

/* Minimises wait / calls + 2 depth layer calls: the first where one more saves nothing. */
int hs_slab_calls(int64_t depth, int64_t thinnest, double wait, double layer)
{
    const double best = floor(0.5 + sqrt(0.25 + wait / (2.0 * (double)depth * layer)));
    const double most = floor((double)thinnest / (8.0 * (double)depth));
    return (int)fmax(1.0, fmin(best, most));
}

/* ---- grid ------------------------------------------------------------------------------------ */

struct hs_slab_shape hs_slab_shape_of(const struct hs_problem *whole, int ranks, int rank,
                                      int64_t halo)
{
    const int64_t begin = hs_slab_begin(whole, ranks, rank);
    const int64_t own = hs_slab_begin(whole, ranks, rank + 1) - begin;
    const bool wraps = ranks > 1 && is_periodic(whole);
    struct hs_slab_shape shape = {.below = rank > 0 || wraps, .above = rank < ranks - 1 || wraps};
    /* below a body's halo lies a layer without edges, which its lower node would have */
    const int64_t lo = shape.below ? halo + (whole->body != NULL) : 0, first = begin - lo;
    shape.slab = (struct hs_slab){.whole = whole,
                                  .first = first < 0 ? first + layers_of(whole) : first,
                                  .lo = lo,
                                  .hi = lo + own};
    shape.layers = lo + own + (shape.above ? halo : 0);
    return shape;
}

struct hs_slab_piece hs_slab_piece_from(const struct hs_slab_shape *shape, const struct hs_box *box,
                                        bool own, int64_t here)
{
    const int axis = last_axis(shape->slab.whole);
    const int64_t begin = own && here < shape->slab.lo ? shape->slab.lo : here;
    const int64_t end = own ? shape->slab.hi : shape->layers;
    for (int64_t k = begin; k < end; k++) {
        const int64_t there = hs_slab_layer(&shape->slab, k);
        if (there >= box->lo[axis] && there < box->hi[axis])
            return (struct hs_slab_piece){k, there, hs_smaller(end - k, box->hi[axis] - there)};
    }
    return (struct hs_slab_piece){0};
}

static void cut_grid(struct hs_slab_problem *out)
{
    const struct hs_slab_shape *shape = &out->shape;
    struct hs_grid *grid = &out->problem.grid;
    const int axis = grid->dims - 1;
    double *place = hs_new(((size_t)shape->layers + 1) * sizeof *place);
    for (int64_t k = 0; k < shape->layers; k++)
        place[k] =
            hs_grid_coordinate(&shape->slab.whole->grid, axis, hs_slab_layer(&shape->slab, k));
    grid->whole = grid->points[axis];
    grid->points[axis] = shape->layers;
    grid->first = shape->slab.first;
    grid->place = place;
}

static void cut_faces(struct hs_slab_problem *out)
{
    struct hs_problem *problem = &out->problem;
    const struct hs_face border = {
        .type = "border", .held = problem->body ? 0 : problem->radius, .edge_weight = 1.0};
    const int axis = last_axis(problem);
    if (out->shape.below)
        problem->face[2 * axis] = border;
    if (out->shape.above)
        problem->face[2 * axis + 1] = border;
}

/* ---- what lies at nodes ---------------------------------------------------------------------- */

/* Nodes of a layer. */
static int64_t plane_of(const struct hs_problem *problem)
{
    return hs_grid_count(&problem->grid) / layers_of(problem);
}

/* The slab's layers of a dense array over the whole, with `size` bytes per node; or NULL. */
static void *cut_array(const struct hs_slab_problem *slab, const void *whole, size_t size)
{
    const size_t bytes = (size_t)plane_of(slab->shape.slab.whole) * size;
    const int64_t layers = slab->shape.layers;
    char *out = malloc((size_t)layers * bytes + 1);
    for (int64_t k = 0; k < layers && out; k++)
        memcpy(out + (size_t)k * bytes,
               (const char *)whole + (size_t)hs_slab_layer(&slab->shape.slab, k) * bytes, bytes);
    return out;
}

/* Appends what acts on one layer. A stretch lies in one layer. */
static void add_layer(const struct hs_slab_problem *slab, const struct hs_moving *whole, int64_t k,
                      struct hs_moving *out)
{
    const int64_t plane = plane_of(slab->shape.slab.whole),
                  there = hs_slab_layer(&slab->shape.slab, k) * plane;
    const int64_t begin = hs_moving_node_from(whole, there);
    const int64_t end = hs_moving_node_from(whole, there + plane);
    const bool rod = slab->problem.grid.dims == 1; /* one row, of few stretches */
    for (int64_t s = rod ? 0 : hs_moving_stretch_from(whole, begin); s < whole->stretch_count;
         s++) {
        struct hs_moving_stretch stretch = whole->stretch[s];
        if (stretch.first >= end && !rod)
            break;
        if (stretch.first < begin || stretch.first >= end)
            continue;
        memcpy(out->weight + out->weights, whole->weight + stretch.weight,
               (size_t)stretch.count * sizeof *out->weight);
        stretch.first += out->count - begin;
        stretch.weight = out->weights;
        out->weights += stretch.count;
        out->stretch[out->stretch_count++] = stretch;
    }
    for (int64_t n = begin; n < end; n++)
        out->node[out->count++] = whole->node[n] - there + k * plane;
}

static void cut_moving(const struct hs_slab_problem *slab, const struct hs_moving *whole,
                       struct hs_moving *out)
{
    *out = (struct hs_moving){.count = 0};
    if (whole->count == 0)
        return;
    const size_t times = 3; /* a layer occurs at most so often: twice as halo */
    out->node = hs_new(times * (size_t)whole->count * sizeof *out->node);
    out->stretch = hs_new(times * (size_t)whole->stretch_count * sizeof *out->stretch);
    out->weight = hs_new(times * (size_t)whole->weights * sizeof *out->weight);
    for (int64_t k = 0; k < slab->shape.layers; k++)
        add_layer(slab, whole, k, out);
}

/* Makes a layer of held nodes without edges upwards. */
static void hold_layer(struct hs_network *network, int64_t plane, int64_t k)
{
    const size_t first = (size_t)(k * plane), count = (size_t)plane;
    if (network->form == HS_NETWORK_BYTES)
        memset((uint8_t *)network->number + first, 0, count);
    else if (network->form == HS_NETWORK_SHORTS)
        memset((uint16_t *)network->number + first, 0, count * sizeof(uint16_t));
    else
        for (size_t n = first; n < first + count; n++)
            network->node[n] = (struct hs_network_row){.kind = HS_NODE_HELD};
}

static void *copy(const void *from, size_t bytes)
{
    return from ? memcpy(hs_new(bytes + 1), from, bytes) : NULL;
}

static int64_t count_forced(const struct hs_network *network)
{
    int64_t count = 0;
    const bool arrays = network->form == HS_NETWORK_ARRAYS;
    for (int64_t n = 0; n < hs_grid_count(&network->grid) && arrays; n++)
        count += network->node[n].forcing != 0;
    return count;
}

static enum hs_status cut_network(struct hs_slab_problem *out, struct hs_error *err)
{
    const struct hs_network *whole = out->shape.slab.whole->network;
    const int64_t plane = plane_of(out->shape.slab.whole), layers = out->shape.layers;
    struct hs_network *network = hs_new(sizeof *network);
    *network = *whole;
    out->problem.network = network;
    network->grid = out->problem.grid;
    network->wrap[last_axis(&out->problem)] =
        !out->shape.below && is_periodic(out->shape.slab.whole);
    network->volume = NULL;
    network->contact = NULL;
    network->held = NULL;
    network->held_count = 0;
    network->row = copy(whole->row, (size_t)whole->row_count * sizeof *whole->row);
    network->forcing = copy(whole->forcing, (size_t)whole->forcing_count * sizeof *whole->forcing);
    cut_moving(out, &whole->inflow, &network->inflow);
    cut_moving(out, &whole->given, &network->given);
    network->number = cut_array(out, whole->number, hs_network_node_bytes(whole->form));
    if (!network->number)
        return hs_error_add(err, HS_DEVICE, "not enough memory for a slab of the body");
    if (out->shape.below)
        hold_layer(network, plane, 0);
    if (out->shape.above)
        hold_layer(network, plane, layers - 1);
    network->forced = count_forced(network);
    return HS_OK;
}

enum hs_status hs_slab_make(const struct hs_slab_shape *shape, struct hs_slab_problem *out,
                            struct hs_error *err)
{
    const struct hs_problem *whole = shape->slab.whole;
    out->problem = *whole;
    out->shape = *shape;
    out->problem.slab = &out->shape.slab;
    out->problem.initial.field.data = NULL;
    out->problem.source.field.data = NULL;
    out->problem.network = NULL;
    cut_grid(out);
    cut_faces(out);
    if (whole->source.field.data) {
        out->problem.source.field.data = cut_array(out, whole->source.field.data, sizeof(double));
        if (!out->problem.source.field.data)
            return hs_error_add(err, HS_DEVICE, "not enough memory for a slab of the source");
    }
    return whole->network ? cut_network(out, err) : HS_OK;
}

enum hs_status hs_slab_read_source(struct hs_slab_problem *slab, struct hs_error *err)
{
    struct hs_field *field = &slab->problem.source.field;
    const int64_t layers = slab->shape.layers;
    if (!field->stored || field->data)
        return HS_OK;
    field->data = malloc((size_t)(layers * hs_stored_plane(field->stored)) * sizeof(double));
    if (!field->data)
        return hs_error_add(err, HS_DEVICE, "not enough memory for a slab of the source");
    const enum hs_status st =
        hs_slab_read(&slab->shape.slab, field->stored, 0, layers, field->data, err);
    field->stored->close(field->stored);
    return st;
}

void hs_slab_release(struct hs_slab_problem *slab)
{
    hs_network_destroy(slab->problem.network);
    free(slab->problem.source.field.data);
    free((double *)(uintptr_t)slab->problem.grid.place);
    *slab = (struct hs_slab_problem){0};
}
