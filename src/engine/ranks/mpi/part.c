#include "engine/ranks/mpi/part.h"

#include "core/clock.h"
#include "core/device.h"
#include "core/digest.h"
#include "core/halo.h"
#include "core/memory.h"
#include "core/reduction.h"
#include "core/round.h"
#include "engine/initial.h"
#include "engine/ranks/mpi/device_wire.h"
#include "engine/ranks/mpi/network_wire.h"
#include "engine/registry.h"
#include "input/field_file.h"

#include <stdlib.h>
#include <string.h>

/* ---- create, destroy ------------------------------------------------------------------------- */

static struct hs_slab_shape shape_of(const struct hs_part *part, int rank)
{
    return hs_slab_shape_of(part->whole, hs_wire.ranks, rank,
                            (int64_t)part->steps * part->whole->radius);
}

/* The first rank has the whole network, and cuts each rank's slab from it. A slab may take as much
 * memory as the first rank's own. The others wait for theirs, so a failure ends all. */
static void share_network(struct hs_part *part)
{
    struct hs_error err = {0};
    for (int rank = 1; rank < hs_wire.ranks && hs_wire.rank == 0; rank++) {
        struct hs_slab_problem slab;
        const struct hs_slab_shape shape = shape_of(part, rank);
        if (hs_slab_make(&shape, &slab, &err))
            hs_wire_abort(HS_DEVICE, "%s", hs_error_reason(&err));
        hs_network_send(rank, slab.problem.network, part->whole);
        hs_slab_release(&slab);
    }
    if (hs_wire.rank > 0)
        part->slab.problem.network = hs_network_receive(0, &part->slab.problem.grid, part->whole);
    hs_error_release(&err);
}

/* Compares the devices' ids: a launcher may let each rank see a single device, number 0 for all. */
static bool has_device_alone(const struct hs_part *part)
{
    struct hs_device_limits limits = {.id = {0}};
    const int device = part->whole->solver.device;
    const bool there =
        !part->own->available(device, NULL) && !part->own->limits(device, &limits, NULL);
    const bool apart = hs_wire_apart(limits.id, sizeof limits.id);
    return there && apart;
}

/* Fields are where other ranks' devices can write to them, if there is such memory. */
static void share_memory(struct hs_part *part)
{
    part->by_device = part->own->halo->space && hs_device_wire_join(has_device_alone(part));
    if (!part->by_device || !hs_device_wire_shares())
        return;
    part->memory =
        (struct hs_slab_memory){.take = hs_device_wire_take, .give = hs_device_wire_give};
    for (int rank = 0; rank < hs_wire.ranks; rank++)
        part->memory.layers = hs_larger(part->memory.layers, shape_of(part, rank).layers);
    part->slab.shape.slab.memory = &part->memory;
}

enum hs_status hs_part_create(struct hs_part *part, const struct hs_problem *whole,
                              const struct hs_backend *own, const struct hs_request *request,
                              struct hs_error *err)
{
    const struct hs_kernel *kernel;
    *part = (struct hs_part){.whole = whole, .own = own, .steps = request->steps};
    const struct hs_slab_shape shape = shape_of(part, hs_wire.rank);
    enum hs_status st = hs_slab_make(&shape, &part->slab, err);
    share_memory(part);
    if (whole->body)
        share_network(part);
    if (!st)
        st = hs_slab_read_source(&part->slab, err);
    if (!st)
        st = hs_kernel_find(request->kernel, own->device, &kernel, err);
    return st ? st : own->create(&part->slab.problem, kernel, &part->state, err);
}

void hs_part_destroy(struct hs_part *part)
{
    if (part->state)
        part->own->destroy(part->state);
    hs_slab_release(&part->slab);
    free(part->spare);
    *part = (struct hs_part){0};
}

/* The others wait for what passes through this buffer, so a failure ends all. */
static void reserve_spare(struct hs_part *part, size_t bytes)
{
    if (bytes <= part->spare_bytes)
        return;
    free(part->spare);
    part->spare = malloc(bytes);
    part->spare_bytes = bytes;
    if (!part->spare)
        hs_wire_abort(HS_DEVICE,
                      "not enough memory for values on their way between ranks "
                      "(%zu bytes)",
                      bytes);
}

/* ---- upload, download ------------------------------------------------------------------------ */

static int axis_of(const struct hs_part *part)
{
    return part->whole->grid.dims - 1;
}

int64_t hs_part_layer(const struct hs_part *part, const struct hs_box *box)
{
    struct hs_box layer = *box;
    layer.hi[axis_of(part)] = layer.lo[axis_of(part)] + 1;
    return hs_box_count(&layer) * (int64_t)hs_precision_size(part->whole->precision);
}

struct hs_slab_piece hs_part_piece(const struct hs_part *part, int rank, const struct hs_box *box)
{
    const struct hs_slab_shape shape = shape_of(part, rank);
    return hs_slab_piece_from(&shape, box, true, 0);
}

struct hs_box hs_part_box(const struct hs_part *part, const struct hs_box *box, int64_t here,
                          int64_t count)
{
    struct hs_box out = *box;
    out.lo[axis_of(part)] = here;
    out.hi[axis_of(part)] = here + count;
    return out;
}

/* Where a piece of a box begins in the box's values. */
static int64_t offset_of(const struct hs_part *part, const struct hs_box *box,
                         const struct hs_slab_piece *piece)
{
    return (piece->there - box->lo[axis_of(part)]) * hs_part_layer(part, box);
}

/* The first rank sends the others theirs before it uploads its own. */
enum hs_status hs_part_upload(struct hs_part *part, const struct hs_box *box, const char *values,
                              struct hs_error *err)
{
    const int last = hs_wire.rank > 0 ? hs_wire.rank : hs_wire.ranks - 1;
    enum hs_status st = HS_OK;
    for (int rank = last; rank >= hs_wire.rank; rank--) {
        const struct hs_slab_shape shape = shape_of(part, rank);
        struct hs_slab_piece piece = hs_slab_piece_from(&shape, box, false, 0);
        for (; piece.count > 0;
             piece = hs_slab_piece_from(&shape, box, false, piece.here + piece.count)) {
            const struct hs_box here = hs_part_box(part, box, piece.here, piece.count);
            const size_t bytes = (size_t)(piece.count * hs_part_layer(part, box));
            const char *from = hs_wire.rank ? NULL : values + offset_of(part, box, &piece);
            if (rank != hs_wire.rank) {
                hs_wire_send(rank, from, bytes);
                continue;
            }
            if (hs_wire.rank > 0) {
                reserve_spare(part, bytes);
                from = part->spare;
                hs_wire_receive(0, part->spare, bytes);
            }
            if (!st)
                st = part->own->upload(part->state, &here, from, err);
        }
    }
    return st;
}

enum hs_status hs_part_download(struct hs_part *part, const struct hs_request *request,
                                char *values, struct hs_error *err)
{
    const struct hs_box *box = &request->box;
    enum hs_status st = HS_OK; /* even after an error what others send is received */
    for (int rank = 0; rank < hs_wire.ranks; rank++) {
        const struct hs_slab_piece piece = hs_part_piece(part, rank, box);
        const size_t bytes = (size_t)(piece.count * hs_part_layer(part, box));
        if (piece.count == 0 || (rank != hs_wire.rank && hs_wire.rank > 0))
            continue;
        if (rank != hs_wire.rank) {
            hs_wire_receive(rank, values + offset_of(part, box, &piece), bytes);
            continue;
        }
        const struct hs_box here = hs_part_box(part, box, piece.here, piece.count);
        if (hs_wire.rank)
            reserve_spare(part, bytes);
        char *to = hs_wire.rank ? part->spare : values + offset_of(part, box, &piece);
        st = (request->before ? part->own->download_before : part->own->download)(part->state,
                                                                                  &here, to, err);
        if (hs_wire.rank)
            hs_wire_send(0, to, bytes);
    }
    return st;
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/* A neighbour's side of an exchange of `count` layers: those that are sent begin at layer `out`,
 * those received at `in`. */
struct side {
    struct hs_layers out, in;
    bool there;
    int rank;
};

static struct side side_of(struct hs_part *part, int field, bool above, int64_t count)
{
    const struct hs_slab_shape *shape = &part->slab.shape;
    const struct hs_halo *halo = part->own->halo;
    const int ranks = hs_wire.ranks;
    struct side side = {.there = above ? shape->above : shape->below,
                        .rank = (hs_wire.rank + (above ? 1 : ranks - 1)) % ranks};
    if (!side.there)
        return side;
    const int64_t from = above ? shape->slab.hi - count : shape->slab.lo;
    const int64_t to = above ? shape->slab.hi : shape->slab.lo - count;
    side.out = halo->layers(part->state, field, from, from + count);
    side.in = halo->layers(part->state, field, to, to + count);
    return side;
}

/* Exchanges by way of host memory, if the layers are not there. Neighbours wait for it, so a
 * failure ends all. */
static void exchange_staged(struct hs_part *part, struct side side[2], struct hs_wire_side wire[2])
{
    const struct hs_halo *halo = part->own->halo;
    struct hs_error err = {0};
    void *space = NULL;
    enum hs_status st = halo->space(part->state, 2 * (wire[0].bytes + wire[1].bytes), &space, &err);
    char *at = space;
    for (int s = 0; s < 2 && !st; s++) {
        wire[s].out = at;
        wire[s].in = at + wire[s].bytes;
        at += 2 * wire[s].bytes;
        if (side[s].there)
            st = halo->take(part->state, &side[s].out, (char *)wire[s].out, &err);
    }
    if (!st)
        st = halo->wait(part->state, &err);
    if (!st)
        hs_wire_exchange(&wire[0], &wire[1]);
    for (int s = 0; s < 2 && !st; s++)
        if (side[s].there)
            st = halo->put(part->state, &side[s].in, wire[s].in, &err);
    if (st)
        hs_wire_abort(st, "%s", hs_error_reason(&err));
    hs_error_release(&err);
}

/* Updates the halo of a field, for this many sweeps; `ahead`: a stream for it, or NULL. */
static void exchange(struct hs_part *part, void *ahead, int field, int64_t sweeps)
{
    const int64_t count = sweeps * part->whole->radius;
    struct side side[2];
    struct hs_wire_side wire[2];
    for (int s = 0; s < 2; s++) {
        side[s] = side_of(part, field, s == 1, count);
        wire[s] = (struct hs_wire_side){side[s].there ? side[s].rank : -1, side[s].out.at,
                                        side[s].in.at, side[s].out.bytes};
    }
    if (part->by_device)
        hs_device_wire_exchange(ahead ? ahead : side[side[0].there ? 0 : 1].out.stream,
                                ahead && part->splits, &wire[0], &wire[1]);
    else if (part->own->halo->space)
        exchange_staged(part, side, wire);
    else
        hs_wire_exchange(&wire[0], &wire[1]);
}

void hs_part_join(struct hs_part *part, struct hs_error *err)
{
    int most = part->own->vectors->recursion(part->state);
    most = most < part->steps ? most : part->steps;
    part->recursion = hs_wire_least(most < HS_PART_RECURS ? most : HS_PART_RECURS);
    if (part->by_device) { /* now, so that the first sweeps do not wait for connections */
        const struct hs_halo *halo = part->own->halo;
        exchange(part, NULL, 0, 1);
        enum hs_status st = halo->wait(part->state, err);
        bool splits = false;
        if (!st && halo->part && part->whole->solver.overlap)
            st = halo->part(part->state, part->steps, &splits, err);
        if (st)
            hs_wire_abort(st, "%s", hs_error_reason(err));
        part->splits = hs_wire_least(splits);
    }
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* Finds here the file that the first rank has found. */
static enum hs_status find_again(const struct hs_part *part, const struct hs_request *request,
                                 const struct hs_stored *from, struct hs_stored **out,
                                 struct hs_error *err)
{
    const struct hs_field_shape shape = hs_field_shape_of(&part->whole->grid);
    char *path = hs_new(request->path_bytes), *name = hs_new(request->name_bytes);
    if (from) {
        memcpy(path, from->path, request->path_bytes);
        memcpy(name, from->name, request->name_bytes);
    }
    hs_wire_tell(path, request->path_bytes);
    hs_wire_tell(name, request->name_bytes);
    const struct hs_digest here = hs_digest_of_file(path);
    struct hs_digest first = here;
    hs_wire_tell(&first, sizeof first);
    enum hs_status st =
        from ? HS_OK : hs_field_file_find(path, name, request->step, &shape, out, err);
    if (!st && !hs_digest_is(here, first))
        st = hs_error_add(err, HS_BAD_INPUT, "%s: " HS_NOT_THE_SAME, path);
    free(path);
    free(name);
    return st;
}

enum hs_status hs_part_begin(struct hs_part *part, const struct hs_request *request,
                             const struct hs_stored *from, struct hs_error *err)
{
    struct hs_stored *found = NULL;
    enum hs_status st = HS_OK;
    if (request->path_bytes > 0)
        st = find_again(part, request, from, &found, err);
    if (!st)
        st = hs_initial_upload(&part->slab.problem, from ? from : found, part->own, part->state,
                               err);
    hs_stored_destroy(found);
    exchange(part, NULL, 0, part->steps); /* even after an error: the neighbours wait for it */
    return st ? st : part->own->halo->wait(part->state, err);
}

/* ---------------------------------------------------------------------------------------------- */

enum hs_status hs_part_sweep(struct hs_part *part, const struct hs_request *request,
                             struct hs_error *err)
{
    const struct hs_halo *halo = part->own->halo;
    enum hs_status st = HS_OK;
    const double begin = hs_clock_now();
    for (int64_t done = 0; done < request->span.count;) {
        struct hs_span span = request->span;
        span.count = hs_smaller(part->steps, request->span.count - done);
        span.first += done;
        done += span.count;
        span.keep_last = span.keep_last && done == request->span.count;
        span.keep_before = span.keep_before && done == request->span.count;
        void *ahead = NULL;
        if (!st && halo->ahead)
            st = halo->ahead(part->state, span.count, &ahead, err);
        exchange(part, ahead, 0, span.count); /* even after an error: the neighbours go on */
        if (!st)
            st = halo->ask(part->state, &span, err);
    }
    if (!st)
        st = halo->wait(part->state, err);
    part->seconds = hs_clock_now() - begin;
    return st;
}

/* ---- reduce ---------------------------------------------------------------------------------- */

enum hs_status hs_part_reduce(struct hs_part *part, struct hs_partial *out, struct hs_error *err)
{
    const int64_t parts = hs_blocks_of(part->whole).parts,
                  layers = hs_blocks_of(part->whole).layers;
    const size_t bytes = (size_t)hs_blocks_of(&part->slab.problem).pieces * sizeof *out;
    const struct hs_partial *mine = NULL;
    const enum hs_status st = part->own->reduce(part->state, &mine, err);
    if (st)
        hs_wire_abort(st, "%s", hs_error_reason(err)); /* others wait for what it would send */
    if (hs_wire.rank > 0) {
        hs_wire_send(0, mine, bytes);
        return HS_OK;
    }
    memcpy(out, mine, bytes);
    for (int rank = 1; rank < hs_wire.ranks; rank++) {
        const int64_t begin = hs_slab_begin(part->whole, hs_wire.ranks, rank) / layers;
        const int64_t end = hs_slab_begin(part->whole, hs_wire.ranks, rank + 1);
        const int64_t blocks = (end + layers - 1) / layers - begin;
        hs_wire_receive(rank, out + begin * parts, (size_t)(blocks * parts) * sizeof *out);
    }
    return HS_OK;
}

/* ---- methods of many stages ------------------------------------------------------------------ */

enum hs_status hs_part_stage(struct hs_part *part, const struct hs_request *request,
                             struct hs_error *err)
{
    exchange(part, NULL, request->from, 1);
    return part->own->vectors->sweep(part->state, &request->span, request->from, request->to, err);
}

enum hs_status hs_part_recur(struct hs_part *part, const struct hs_request *request,
                             struct hs_error *err)
{
    exchange(part, NULL, request->fields_of.in, request->steps);
    exchange(part, NULL, request->fields_of.before, request->steps);
    return part->own->vectors->recur(part->state, &request->span, &request->fields_of,
                                     request->factor, request->steps, err);
}

enum hs_status hs_part_combine(struct hs_part *part, const struct hs_request *request,
                               struct hs_error *err)
{
    const struct hs_slab_piece piece = hs_part_piece(part, hs_wire.rank, &request->box);
    const struct hs_box here = hs_part_box(part, &request->box, piece.here, piece.count);
    return part->own->vectors->combine(part->state, request->to, request->from, request->term,
                                       request->terms,
                                       request->boxed && piece.count > 0 ? &here : NULL, err);
}
