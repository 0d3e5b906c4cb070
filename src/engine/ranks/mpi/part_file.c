/*
 * Writes a rank's part of a field to a file that all ranks see. All ranks are on one machine, so
 * one rank's sync covers what all have written (docs/design-notes.md).
 */
#include "core/disk.h"
#include "core/memory.h"
#include "core/round.h"
#include "core/shared_file.h"
#include "engine/ranks/mpi/part.h"
#include "engine/ranks/mpi/wire.h"
#include "engine/ranks/together.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_ONCE = 4 << 20 }; /* bytes, or a layer */

/* ---- chunks as they are ---------------------------------------------------------------------- */

static enum hs_status write_chunk(const struct hs_part *part, int descriptor,
                                  const struct hs_shared_file *file, int64_t n, char *space,
                                  struct hs_error *err)
{
    const struct hs_box *box = &file->box[n];
    const struct hs_slab_piece piece = hs_part_piece(part, hs_wire.rank, box);
    const int axis = part->whole->grid.dims - 1;
    const int64_t layer = hs_part_layer(part, box);
    const int64_t most = layer < AT_ONCE ? AT_ONCE / layer : 1;
    enum hs_status st = HS_OK;
    for (int64_t k = 0; k < piece.count && !st; k += most) {
        const int64_t layers = hs_smaller(most, piece.count - k);
        const struct hs_box here = hs_part_box(part, box, piece.here + k, layers);
        st = part->own->download(part->state, &here, space, err);
        if (!st)
            st = hs_file_put(descriptor, file->name, space, layers * layer,
                             file->chunk[n].at + (piece.there + k - box->lo[axis]) * layer, err);
        hs_fletcher_add(&file->sum[n], space, (size_t)(layers * layer));
    }
    return st;
}

/* Joins the checksums of all ranks; the ranks' parts of a chunk are in order. */
static void join_sums(const struct hs_part *part, const struct hs_shared_file *file)
{
    const size_t bytes = (size_t)file->chunks * sizeof *file->sum;
    if (hs_wire.rank > 0) {
        hs_wire_send(0, file->sum, bytes);
        return;
    }
    struct hs_fletcher *more = hs_new(bytes);
    for (int rank = 1; rank < hs_wire.ranks; rank++) {
        hs_wire_receive(rank, more, bytes);
        for (int64_t n = 0; n < file->chunks; n++) {
            const struct hs_box *box = &file->box[n];
            const int64_t layers = hs_part_piece(part, rank, box).count;
            hs_fletcher_join(&file->sum[n], &more[n], (size_t)(layers * hs_part_layer(part, box)));
        }
    }
    free(more);
}

static enum hs_status write_plain(const struct hs_part *part, int descriptor,
                                  const struct hs_shared_file *file, struct hs_error *err)
{
    int64_t most = AT_ONCE;
    for (int64_t n = 0; n < file->chunks; n++)
        most = hs_larger(most, hs_part_layer(part, &file->box[n]));
    char *const space = malloc((size_t)most);
    enum hs_status st = space ? HS_OK
                              : hs_error_add(err, HS_DEVICE,
                                             "not enough memory for values on their way to the "
                                             "file (%lld bytes)",
                                             (long long)most);
    for (int64_t n = 0; n < file->chunks && !st; n++)
        st = write_chunk(part, descriptor, file, n, space, err);
    free(space);
    join_sums(part, file);
    return st;
}

/* ---- compressed chunks ----------------------------------------------------------------------- */

/* Whether a chunk's first layer is on a rank. That rank compresses the chunk; the ranks after it
 * send the rest. */
static bool begins_on(const struct hs_part *part, int rank, const struct hs_box *box)
{
    const struct hs_slab_piece piece = hs_part_piece(part, rank, box);
    return piece.count > 0 && piece.there == box->lo[part->whole->grid.dims - 1];
}

/* Downloads this rank's part of a chunk. Returns its size in bytes. */
static size_t take_piece(const struct hs_part *part, const struct hs_box *box, unsigned char *out,
                         enum hs_status *status, struct hs_error *err)
{
    const struct hs_slab_piece piece = hs_part_piece(part, hs_wire.rank, box);
    const struct hs_box here = hs_part_box(part, box, piece.here, piece.count);
    if (!*status)
        *status = part->own->download(part->state, &here, out, err);
    return (size_t)(piece.count * hs_part_layer(part, box));
}

/* Sends the part of a chunk that begins on an earlier rank, if this rank has such a part. */
static void send_beginning(const struct hs_part *part, const struct hs_shared_file *file,
                           unsigned char *space, enum hs_status *status, struct hs_error *err)
{
    int64_t n = 0;
    while (hs_part_piece(part, hs_wire.rank, &file->box[n]).count == 0)
        n++;
    int to = hs_wire.rank;
    while (!begins_on(part, to, &file->box[n]))
        to--;
    if (to < hs_wire.rank) {
        const size_t bytes = take_piece(part, &file->box[n], space, status, err);
        hs_wire_send(to, space, bytes);
    }
}

/* Collects all of a chunk that begins on this rank. */
static void collect(const struct hs_part *part, const struct hs_shared_file *file, int64_t n,
                    struct hs_packing *out, enum hs_status *status, struct hs_error *err)
{
    const struct hs_box *box = &file->box[n];
    size_t at = take_piece(part, box, out->values, status, err);
    for (int rank = hs_wire.rank + 1; rank < hs_wire.ranks; rank++) {
        const int64_t layers = hs_part_piece(part, rank, box).count;
        const size_t bytes = (size_t)(layers * hs_part_layer(part, box));
        if (layers > 0)
            hs_wire_receive(rank, out->values + at, bytes);
        at += bytes;
    }
    out->count = at / file->form.size;
}

/* A compressed chunk that has no place in the file yet. */
struct ready {
    int64_t chunk;
    struct hs_chunk as;
};

/* Places the compressed chunks of all ranks from *end on. Every rank computes the same places. */
static void place(const struct hs_shared_file *file, const struct ready *ready, int count,
                  int64_t *end)
{
    size_t *bytes, all = 0;
    struct ready *each = hs_ranks_gather(ready, (size_t)count * sizeof *ready, &bytes);
    for (int rank = 0; rank < hs_wire.ranks; rank++)
        all += bytes[rank] / sizeof *each;
    for (size_t n = 0; n < all; n++) {
        each[n].as.at = *end;
        file->chunk[each[n].chunk] = each[n].as;
        *end = hs_file_behind(*end, each[n].as.bytes);
    }
    free(each);
    free(bytes);
}

/* Compresses and writes the chunks [first, end); no more than there are packings. */
static enum hs_status write_some(const struct hs_part *part, int descriptor,
                                 const struct hs_shared_file *file, struct hs_packings *packings,
                                 int64_t first, int64_t end, int64_t *place_at,
                                 enum hs_status status, struct hs_error *err)
{
    const int count = (int)(end - first);
    struct ready *ready = hs_new((size_t)count * sizeof *ready + 1);
    for (int n = 0; n < count; n++)
        collect(part, file, first + n, &packings->packing[n], &status, err);
    if (!status && count > 0)
        status = hs_packings_pack(packings, count, err);
    for (int n = 0; n < count; n++)
        ready[n] = (struct ready){first + n, packings->packing[n].chunk};
    place(file, ready, status ? 0 : count, place_at); /* even after a failure: others wait */
    for (int n = 0; n < count && !status; n++)
        status = hs_file_put(descriptor, file->name, packings->packing[n].bytes,
                             file->chunk[first + n].bytes, file->chunk[first + n].at, err);
    free(ready);
    return status;
}

static enum hs_status write_packed(const struct hs_part *part, int descriptor,
                                   const struct hs_shared_file *file, struct hs_error *err)
{
    int64_t first = 0, end = 0, at = file->end;
    for (int64_t n = file->chunks; n-- > 0;)
        if (begins_on(part, hs_wire.rank, &file->box[n])) {
            end = end ? end : n + 1;
            first = n;
        }
    struct hs_packings packings;
    enum hs_status st =
        hs_packings_init(&packings, &file->form, end - first, omp_get_max_threads(), err);
    if (!hs_wire_least(!st)) {
        if (!st)
            hs_packings_release(&packings);
        return st;
    }
    const int rounds = -hs_wire_least(-(int)hs_divide_up(end - first, packings.count));
    send_beginning(part, file, packings.packing[0].values, &st, err);
    /* from the last chunk down: the next rank waits until its part of that is received */
    for (int round = 0; round < rounds; round++) {
        const int64_t from = hs_larger(first, end - packings.count);
        st = write_some(part, descriptor, file, &packings, from, end, &at, st, err);
        end = from;
    }
    hs_packings_release(&packings);
    return st;
}

/* ---------------------------------------------------------------------------------------------- */

/* A descriptor; -1 if the file is not there, or another file has its name. */
static int open_it(const struct hs_shared_file *file)
{
    struct stat s;
    const int descriptor = open(file->path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0 || (fstat(descriptor, &s) == 0 && (uint64_t)s.st_ino == file->inode))
        return descriptor;
    close(descriptor);
    return -1;
}

static enum hs_status write_here(const struct hs_part *part, const struct hs_shared_file *file,
                                 bool *seen, struct hs_error *err)
{
    const int descriptor = open_it(file);
    enum hs_status st = HS_OK;
    *seen = hs_wire_least(descriptor >= 0);
    if (*seen)
        st = (file->form.level > 0 ? write_packed : write_plain)(part, descriptor, file, err);
    if (descriptor >= 0 && close(descriptor) && !st && *seen)
        st = hs_file_failed(file->name, "write", errno, 0, err);
    return st;
}

/* Tells the data that the file's pointers lead to. */
static void tell(const struct hs_shared_file *file, const struct hs_request *request)
{
    hs_wire_tell((void *)(uintptr_t)file->path, request->path_bytes);
    hs_wire_tell((void *)(uintptr_t)file->name, request->name_bytes);
    hs_wire_tell((void *)(uintptr_t)file->box, (size_t)file->chunks * sizeof *file->box);
    hs_wire_tell(file->chunk, (size_t)file->chunks * sizeof *file->chunk);
}

enum hs_status hs_part_write(const struct hs_part *part, const struct hs_request *request,
                             const struct hs_shared_file *file, bool *seen, struct hs_error *err)
{
    struct hs_shared_file here = {0};
    if (file)
        here = *file;
    hs_wire_tell(&here, sizeof here);
    if (file) {
        tell(file, request);
        return write_here(part, file, seen, err);
    }
    char *path = hs_new(request->path_bytes), *name = hs_new(request->name_bytes);
    const size_t count = (size_t)here.chunks;
    struct hs_box *box = hs_new(count * sizeof *box);
    here.path = path;
    here.name = name;
    here.box = box;
    here.chunk = hs_new(count * sizeof *here.chunk);
    here.sum = hs_new(count * sizeof *here.sum);
    bool unused;
    tell(&here, request);
    const enum hs_status st = write_here(part, &here, &unused, err);
    free(path);
    free(name);
    free(box);
    free(here.chunk);
    free(here.sum);
    return st;
}
