#include "output/chunks.h"
#include "core/fletcher.h"
#include "core/memory.h"
#include "core/round.h"

#include <assert.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Large enough that a chunk is one long read, small enough that one slice of a compressed 3D field
 * does not mean unpacking all of it; far below HDF5's limit of 4 GiB. */
static const int64_t usual_most = 32 << 20;

/* A chunk is read in pieces of this size, so that values from elsewhere are still in the cache when
 * they are written. */
static const int64_t piece_most = 4 << 20;

/* Cuts the slowest axis first, so that each chunk is contiguous in the field. */
static void cut(struct hs_chunks *chunks, int64_t most)
{
    const int64_t *points = chunks->grid.points;
    int64_t bytes = (int64_t)chunks->size;
    for (int axis = 0; axis < HS_AXES; axis++) {
        /* as many whole rows (planes) of `bytes` as fit, evenly cut */
        const int64_t fit = bytes >= most ? 1 : most / bytes;
        const int64_t pieces = hs_divide_up(points[axis], fit);
        chunks->chunk[axis] = hs_divide_up(points[axis], pieces);
        chunks->pieces[axis] = hs_divide_up(points[axis], chunks->chunk[axis]);
        bytes *= chunks->chunk[axis];
        if (chunks->pieces[axis] > 1)
            most = bytes; /* this axis is cut: chunks have one layer along the next ones */
    }
    chunks->per_step = chunks->pieces[HS_X] * chunks->pieces[HS_Y] * chunks->pieces[HS_Z];
}

void hs_chunks_init(struct hs_chunks *chunks, const struct hs_grid *grid, size_t size,
                    int compression, int64_t most)
{
    assert(size % 2 == 0 || compression > 0); /* the checksum is of pairs of bytes */
    *chunks = (struct hs_chunks){
        .grid = *grid, .size = size, .compression = compression, .threads = omp_get_max_threads()};
    cut(chunks, most > 0 ? most : usual_most);
}

void hs_chunks_release(struct hs_chunks *chunks)
{
    free(chunks->list);
    *chunks = (struct hs_chunks){0};
}

int64_t hs_chunks_bytes(const struct hs_chunks *chunks)
{
    return chunks->chunk[HS_X] * chunks->chunk[HS_Y] * chunks->chunk[HS_Z] * (int64_t)chunks->size;
}

void hs_chunks_origin(const struct hs_chunks *chunks, int64_t n, int64_t origin[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        origin[axis] = n % chunks->pieces[axis] * chunks->chunk[axis];
        n /= chunks->pieces[axis];
    }
}

struct hs_chunk *hs_chunks_add_step(struct hs_chunks *chunks)
{
    const size_t step = (size_t)chunks->per_step * sizeof *chunks->list;
    chunks->list = hs_reserve(chunks->list, (size_t)chunks->steps, step);
    return chunks->list + chunks->steps++ * chunks->per_step;
}

/* The nodes of chunk `n` of a step, cut off at the grid's end. */
static struct hs_box box_of(const struct hs_chunks *chunks, int64_t n)
{
    struct hs_box box = {{0}, {0}};
    hs_chunks_origin(chunks, n, box.lo);
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t end = box.lo[axis] + chunks->chunk[axis], last = chunks->grid.points[axis];
        box.hi[axis] = end < last ? end : last;
    }
    return box;
}

/* A contiguous part of a chunk. */
struct piece {
    struct hs_box box;
    int64_t chunk;
    bool last; /* of its chunk */
};

/* The pieces of a step, in memory order. */
struct pieces {
    const struct hs_values *values;
    struct piece *list;
    int64_t count, next;
};

/* Adds the pieces of chunk `n`: cuts it along the slowest axis that it extends along. */
static void add_pieces(const struct hs_chunks *chunks, int64_t n, struct pieces *pieces)
{
    const struct hs_box box = box_of(chunks, n);
    int axis = HS_AXES - 1;
    while (axis > 0 && box.hi[axis] - box.lo[axis] == 1)
        axis--;
    const int64_t extent = box.hi[axis] - box.lo[axis];
    const int64_t layer = hs_box_count(&box) / extent * (int64_t)chunks->size;
    const int64_t fit = hs_larger(piece_most / layer, 1);
    for (int64_t lo = box.lo[axis]; lo < box.hi[axis]; lo += fit) {
        struct piece piece = {box, n, lo + fit >= box.hi[axis]};
        piece.box.lo[axis] = lo;
        piece.box.hi[axis] = hs_smaller(lo + fit, box.hi[axis]);
        pieces->list = hs_reserve(pieces->list, (size_t)pieces->count, sizeof piece);
        pieces->list[pieces->count++] = piece;
    }
}

/* The next piece; its values are valid until the next call. */
static enum hs_status read_piece(struct pieces *pieces, const struct piece **piece,
                                 const void **from, struct hs_error *err)
{
    const struct hs_values *values = pieces->values;
    *piece = &pieces->list[pieces->next++];
    return values->read(values->self, &(*piece)->box,
                        pieces->next < pieces->count ? &(*piece + 1)->box : NULL, from, err);
}

/* ---- as they are ----------------------------------------------------------------------------- */

/* The bytes of a chunk that are written, and their checksum. */
struct so_far {
    int64_t bytes;
    struct hs_fletcher sum;
};

/* Past the grid's end the file has zeros: nothing was written there before. */
static enum hs_status end_chunk(struct hs_chunks *chunks, struct hs_store *store,
                                const struct hs_chunk *chunk, struct so_far *so_far,
                                struct hs_error *err)
{
    const int64_t whole = hs_chunks_bytes(chunks);
    unsigned char sum[HS_FLETCHER_BYTES];
    hs_fletcher_add_zeros(&so_far->sum, (size_t)(whole - so_far->bytes));
    hs_fletcher_put(&so_far->sum, sum);
    *so_far = (struct so_far){0};
    HS_TRY(hs_store_put(store, sum, sizeof sum, chunk->at + whole, err));
    hs_store_keep(store, chunk->at, chunk->bytes);
    return HS_OK;
}

/* One thread writes, while another computes the checksum of the same bytes. */
static enum hs_status write_piece(struct hs_chunks *chunks, struct hs_store *store,
                                  const struct piece *piece, const void *from,
                                  struct hs_chunk *list, struct so_far *so_far,
                                  struct hs_error *err)
{
    const int64_t whole = hs_chunks_bytes(chunks), least = 1 << 18;
    const int64_t bytes = hs_box_count(&piece->box) * (int64_t)chunks->size;
    struct hs_chunk *chunk = &list[piece->chunk];
    if (so_far->bytes == 0)
        *chunk = (struct hs_chunk){.at = hs_store_end(store), .bytes = whole + HS_FLETCHER_BYTES};
    enum hs_status st = HS_OK;
#pragma omp parallel sections num_threads(2) if (chunks->threads > 1 && bytes > least)
    {
#pragma omp section
        st = hs_store_put(store, from, bytes, chunk->at + so_far->bytes, err);
#pragma omp section
        hs_fletcher_add(&so_far->sum, from, (size_t)bytes);
    }
    so_far->bytes += bytes;
    return st || !piece->last ? st : end_chunk(chunks, store, chunk, so_far, err);
}

static enum hs_status append_plain(struct hs_chunks *chunks, struct hs_store *store,
                                   struct pieces *pieces, struct hs_chunk *list,
                                   struct hs_error *err)
{
    struct so_far so_far = {0};
    const struct piece *piece;
    const void *from;
    while (pieces->next < pieces->count) {
        HS_TRY(read_piece(pieces, &piece, &from, err));
        HS_TRY(write_piece(chunks, store, piece, from, list, &so_far, err));
    }
    return HS_OK;
}

/* ---- compressed ------------------------------------------------------------------------------ */

/* The values of the next chunk. */
static enum hs_status read_chunk(const struct hs_chunks *chunks, struct pieces *pieces,
                                 struct hs_packing *out, struct hs_error *err)
{
    const struct piece *piece;
    enum hs_status st = HS_OK;
    out->count = 0;
    do {
        const void *from;
        st = read_piece(pieces, &piece, &from, err);
        const size_t count = (size_t)hs_box_count(&piece->box);
        if (!st)
            memcpy(out->values + out->count * chunks->size, from, count * chunks->size);
        out->count += count;
    } while (!piece->last && !st);
    return st;
}

static struct hs_packing_form form_of(const struct hs_chunks *chunks)
{
    return (struct hs_packing_form){hs_chunks_bytes(chunks), chunks->size, chunks->compression};
}

static enum hs_status write_packed(struct hs_store *store, const struct hs_packing *p,
                                   struct hs_chunk *out, struct hs_error *err)
{
    *out = p->chunk;
    out->at = hs_store_end(store);
    HS_TRY(hs_store_put(store, p->bytes, out->bytes, out->at, err));
    /* if that fails, the next one takes the same place */
    hs_store_keep(store, out->at, out->bytes);
    return HS_OK;
}

static enum hs_status append_packed(struct hs_chunks *chunks, struct hs_store *store,
                                    struct pieces *pieces, struct hs_chunk *list,
                                    struct hs_error *err)
{
    const struct hs_packing_form form = form_of(chunks);
    struct hs_packings packings;
    HS_TRY(hs_packings_init(&packings, &form, chunks->per_step, chunks->threads, err));
    enum hs_status st = HS_OK;
    for (int64_t n = 0; n < chunks->per_step && !st; n += packings.count) {
        const int count = (int)hs_smaller(chunks->per_step - n, packings.count);
        for (int p = 0; p < count && !st; p++)
            st = read_chunk(chunks, pieces, &packings.packing[p], err);
        if (!st)
            st = hs_packings_pack(&packings, count, err);
        for (int p = 0; p < count && !st; p++)
            st = write_packed(store, &packings.packing[p], &list[n + p], err);
    }
    hs_packings_release(&packings);
    return st;
}

/* ---- by all ranks ---------------------------------------------------------------------------- */

/* Places uncompressed chunks one after another. */
static void place_plain(const struct hs_chunks *chunks, int64_t at, struct hs_chunk *list)
{
    const int64_t bytes = hs_chunks_bytes(chunks) + HS_FLETCHER_BYTES;
    for (int64_t n = 0; n < chunks->per_step; n++, at = hs_file_behind(at, bytes))
        list[n] = (struct hs_chunk){.at = at, .bytes = bytes};
}

static enum hs_status keep_plain(struct hs_chunks *chunks, struct hs_store *store,
                                 const struct hs_shared_file *file, struct hs_error *err)
{
    for (int64_t n = 0; n < file->chunks; n++) {
        struct so_far so_far = {hs_box_count(&file->box[n]) * (int64_t)chunks->size, file->sum[n]};
        HS_TRY(end_chunk(chunks, store, &file->chunk[n], &so_far, err));
    }
    return HS_OK;
}

/* Chunks of several ranks are not in the field's order in the file. */
static void keep_packed(struct hs_store *store, const struct hs_shared_file *file)
{
    const struct hs_chunk *last = file->chunk;
    for (int64_t n = 1; n < file->chunks; n++)
        last = file->chunk[n].at > last->at ? &file->chunk[n] : last;
    hs_store_keep(store, last->at, last->bytes);
}

/* *seen: as for hs_frame_write. */
static enum hs_status append_shared(struct hs_chunks *chunks, struct hs_store *store,
                                    struct hs_frame *frame, bool *seen, struct hs_error *err)
{
    const bool plain = chunks->compression == 0;
    struct hs_chunk *list = hs_chunks_add_step(chunks);
    struct hs_box *box = hs_new((size_t)chunks->per_step * sizeof *box);
    struct hs_fletcher *sum = hs_new((size_t)chunks->per_step * sizeof *sum);
    for (int64_t n = 0; n < chunks->per_step; n++)
        box[n] = box_of(chunks, n);
    struct hs_shared_file file = {.chunks = chunks->per_step,
                                  .box = box,
                                  .form = form_of(chunks),
                                  .chunk = list,
                                  .sum = sum,
                                  .end = hs_store_end(store)};
    if (plain)
        place_plain(chunks, file.end, list);
    hs_store_share(store, &file);
    enum hs_status st = hs_frame_write(frame, &file, seen, err);
    if (*seen && !st && plain)
        st = keep_plain(chunks, store, &file, err);
    else if (*seen && !st)
        keep_packed(store, &file);
    free(box);
    free(sum);
    if (!*seen || st)
        chunks->steps--;
    return st;
}

/* ---- either ---------------------------------------------------------------------------------- */

enum hs_status hs_chunks_append(struct hs_chunks *chunks, struct hs_store *store,
                                const struct hs_values *values, struct hs_error *err)
{
    struct hs_chunk *list = hs_chunks_add_step(chunks);
    struct pieces pieces = {.values = values};
    for (int64_t n = 0; n < chunks->per_step; n++)
        add_pieces(chunks, n, &pieces);
    const enum hs_status st = chunks->compression > 0
                                  ? append_packed(chunks, store, &pieces, list, err)
                                  : append_plain(chunks, store, &pieces, list, err);
    free(pieces.list);
    if (st)
        chunks->steps--; /* a step is either complete or not there */
    return st;
}

static enum hs_status read_frame(void *self, const struct hs_box *box, const struct hs_box *next,
                                 const void **values, struct hs_error *err)
{
    return hs_frame_read(self, box, next, values, err);
}

enum hs_status hs_chunks_append_frame(struct hs_chunks *chunks, struct hs_store *store,
                                      struct hs_frame *frame, struct hs_error *err)
{
    const struct hs_values values = {read_frame, frame};
    bool seen = false;
    enum hs_status st = HS_OK;
    if (hs_frame_shared(frame))
        st = append_shared(chunks, store, frame, &seen, err);
    return seen || st ? st : hs_chunks_append(chunks, store, &values, err);
}
