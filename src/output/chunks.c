#include "output/chunks.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Large enough that a chunk is one long read, small enough that one slice of a compressed 3D field
 * does not mean unpacking all of it; far below HDF5's limit of 4 GiB. */
static const int64_t usual_most = 32 << 20;

static enum hs_status no_memory(struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "no memory to write a snapshot");
}

/* Cuts the slowest axis first, so that each chunk is one stretch of the field. */
static void cut(struct hs_chunks *chunks, int64_t most)
{
    const int64_t *points = chunks->grid.points;
    int64_t bytes = (int64_t)chunks->size;
    for (int axis = 0; axis < HS_AXES; axis++) {
        /* of whole rows (planes) of `bytes`, as many as fit, evenly */
        const int64_t fit = bytes >= most ? 1 : most / bytes;
        const int64_t pieces = (points[axis] + fit - 1) / fit;
        chunks->chunk[axis] = (points[axis] + pieces - 1) / pieces;
        chunks->pieces[axis] = (points[axis] + chunks->chunk[axis] - 1) / chunks->chunk[axis];
        bytes *= chunks->chunk[axis];
        if (chunks->pieces[axis] > 1)
            most = bytes; /* a cut axis: one of the next ones each */
    }
    chunks->per_step = chunks->pieces[HS_X] * chunks->pieces[HS_Y] * chunks->pieces[HS_Z];
}

enum hs_status hs_chunks_init(struct hs_chunks *chunks, const struct hs_grid *grid, size_t size,
                              int compression, int64_t most, struct hs_error *err)
{
    *chunks = (struct hs_chunks){.grid = *grid, .size = size, .compression = compression};
    cut(chunks, most > 0 ? most : usual_most);
    if (compression == 0)
        return HS_OK;
    const size_t bytes = (size_t)hs_chunks_bytes(chunks);
    chunks->work = malloc(bytes);
    chunks->packed = malloc(bytes);
    return chunks->work && chunks->packed ? HS_OK : no_memory(err);
}

void hs_chunks_release(struct hs_chunks *chunks)
{
    free(chunks->list);
    free(chunks->work);
    free(chunks->packed);
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

enum hs_status hs_chunks_add_step(struct hs_chunks *chunks, struct hs_chunk **out,
                                  struct hs_error *err)
{
    if (chunks->steps == chunks->capacity) {
        const int64_t capacity = 2 * chunks->capacity + 16;
        struct hs_chunk *list =
            realloc(chunks->list, (size_t)(capacity * chunks->per_step) * sizeof *chunks->list);
        if (!list)
            return no_memory(err);
        chunks->list = list;
        chunks->capacity = capacity;
    }
    *out = chunks->list + chunks->steps * chunks->per_step;
    chunks->steps++;
    return HS_OK;
}

/* HDF5's shuffle filter: first bytes of all values, then second bytes, ... so that what is alike
 * in neighbouring values lies together. Past the `count` values given, zeros up to `room`. */
static void shuffle(const unsigned char *from, size_t count, size_t room, size_t size,
                    unsigned char *to)
{
    for (size_t byte = 0; byte < size; byte++) {
        for (size_t i = 0; i < count; i++)
            to[byte * room + i] = from[i * size + byte];
        memset(to + byte * room + count, 0, room - count);
    }
}

/* Writes `count` values, which lie together in `from`, as one chunk. */
static enum hs_status write_chunk(struct hs_chunks *chunks, struct hs_store *store,
                                  const unsigned char *from, size_t count, struct hs_chunk *out,
                                  struct hs_error *err)
{
    const int64_t whole = hs_chunks_bytes(chunks);
    *out = (struct hs_chunk){.bytes = whole};
    if (chunks->compression == 0)
        return hs_store_append(store, from, (int64_t)(count * chunks->size), whole, &out->at, err);
    shuffle(from, count, (size_t)whole / chunks->size, chunks->size, chunks->work);
    uLongf packed = (uLongf)whole;
    const int z =
        compress2(chunks->packed, &packed, chunks->work, (uLong)whole, chunks->compression);
    const unsigned char *bytes = chunks->packed;
    if (z == Z_BUF_ERROR || (z == Z_OK && (int64_t)packed >= whole)) { /* it does not shrink */
        packed = (uLongf)whole;
        bytes = chunks->work;
        out->skipped = 2;
    } else if (z != Z_OK) {
        return no_memory(err);
    }
    out->bytes = (int64_t)packed;
    return hs_store_append(store, bytes, out->bytes, 0, &out->at, err);
}

enum hs_status hs_chunks_append(struct hs_chunks *chunks, struct hs_store *store, const void *field,
                                struct hs_error *err)
{
    struct hs_chunk *list;
    enum hs_status st = hs_chunks_add_step(chunks, &list, err);
    if (st)
        return st;
    const int64_t *points = chunks->grid.points;
    for (int64_t n = 0; n < chunks->per_step && !st; n++) {
        int64_t origin[HS_AXES], count = 1;
        hs_chunks_origin(chunks, n, origin);
        for (int axis = 0; axis < HS_AXES; axis++) {
            const int64_t left = points[axis] - origin[axis];
            count *= left < chunks->chunk[axis] ? left : chunks->chunk[axis];
        }
        const int64_t first =
            (origin[HS_Z] * points[HS_Y] + origin[HS_Y]) * points[HS_X] + origin[HS_X];
        st = write_chunk(chunks, store, (const unsigned char *)field + (size_t)first * chunks->size,
                         (size_t)count, &list[n], err);
    }
    if (st)
        chunks->steps--; /* none of a step that is not whole */
    return st;
}
