/*
 * A rank's part of a field, written to a file that all ranks see. All are on one machine, so that
 * what one of them syncs is what all have written (docs/design-notes.md).
 */
#include "core/disk.h"
#include "core/memory.h"
#include "core/round.h"
#include "core/shared_file.h"
#include "engine/ranks/mpi/part.h"
#include "engine/ranks/mpi/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_ONCE = 4 << 20 }; /* bytes, or a layer */

/* Bytes of a layer of a box. */
static int64_t layer_of(const struct hs_problem *whole, const struct hs_box *box)
{
    const int axis = whole->grid.dims - 1;
    return hs_box_count(box) / (box->hi[axis] - box->lo[axis]) *
           (int64_t)hs_precision_size(whole->precision);
}

/* What a rank has of a box, in one piece. */
static struct hs_slab_piece piece_of(const struct hs_part *part, int rank, const struct hs_box *box)
{
    const struct hs_slab_shape shape = hs_slab_shape_of(part->whole, hs_wire.ranks, rank,
                                                        (int64_t)part->steps * part->whole->radius);
    return hs_slab_piece_from(&shape, box, true, 0);
}

static enum hs_status write_stretch(const struct hs_part *part, int descriptor,
                                    const struct hs_shared_file *file, int64_t n, char *space,
                                    struct hs_error *err)
{
    const struct hs_stretch *stretch = &file->stretch[n];
    const struct hs_slab_piece piece = piece_of(part, hs_wire.rank, &stretch->box);
    const int axis = part->whole->grid.dims - 1;
    const int64_t layer = layer_of(part->whole, &stretch->box);
    const int64_t most = layer < AT_ONCE ? AT_ONCE / layer : 1;
    enum hs_status st = HS_OK;
    for (int64_t k = 0; k < piece.count && !st; k += most) {
        const int64_t layers = hs_smaller(most, piece.count - k);
        struct hs_box here = stretch->box;
        here.lo[axis] = piece.here + k;
        here.hi[axis] = piece.here + k + layers;
        st = part->own->download(part->state, &here, space, err);
        if (!st)
            st = hs_file_put(descriptor, file->name, space, layers * layer,
                             stretch->at + (piece.there + k - stretch->box.lo[axis]) * layer, err);
        hs_fletcher_add(&file->sum[n], space, (size_t)(layers * layer));
    }
    return st;
}

static enum hs_status write_stretches(const struct hs_part *part, int descriptor,
                                      const struct hs_shared_file *file, struct hs_error *err)
{
    int64_t most = AT_ONCE;
    for (int64_t n = 0; n < file->stretches; n++)
        most = hs_larger(most, layer_of(part->whole, &file->stretch[n].box));
    char *const space = malloc((size_t)most);
    enum hs_status st = space ? HS_OK
                              : hs_error_add(err, HS_DEVICE,
                                             "not enough memory for values on their way to the "
                                             "file (%lld bytes)",
                                             (long long)most);
    for (int64_t n = 0; n < file->stretches && !st; n++)
        st = write_stretch(part, descriptor, file, n, space, err);
    free(space);
    return st;
}

/* Those of all ranks, whose parts of a stretch follow one another. */
static void join_sums(const struct hs_part *part, const struct hs_shared_file *file)
{
    const size_t bytes = (size_t)file->stretches * sizeof *file->sum;
    if (hs_wire.rank > 0) {
        hs_wire_send(0, file->sum, bytes);
        return;
    }
    struct hs_fletcher *more = hs_new(bytes);
    for (int rank = 1; rank < hs_wire.ranks; rank++) {
        hs_wire_receive(rank, more, bytes);
        for (int64_t n = 0; n < file->stretches; n++) {
            const struct hs_box *box = &file->stretch[n].box;
            const int64_t layers = piece_of(part, rank, box).count;
            hs_fletcher_join(&file->sum[n], &more[n],
                             (size_t)(layers * layer_of(part->whole, box)));
        }
    }
    free(more);
}

/* As a descriptor; -1 where it is not there, or another has its name. */
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
    if (*seen) {
        st = write_stretches(part, descriptor, file, err);
        join_sums(part, file);
    }
    if (descriptor >= 0 && close(descriptor) && !st && *seen)
        st = hs_file_failed(file->name, "write", errno, 0, err);
    return st;
}

/* As rank 0 has it. */
static void tell(const struct hs_shared_file *file, const struct hs_request *request)
{
    hs_wire_tell((void *)(uintptr_t)file->path, request->path_bytes);
    hs_wire_tell((void *)(uintptr_t)file->name, request->name_bytes);
    hs_wire_tell((void *)(uintptr_t)file->stretch, (size_t)file->stretches * sizeof *file->stretch);
}

enum hs_status hs_part_write(const struct hs_part *part, const struct hs_request *request,
                             const struct hs_shared_file *file, bool *seen, struct hs_error *err)
{
    if (file) {
        tell(file, request);
        return write_here(part, file, seen, err);
    }
    char *path = hs_new(request->path_bytes), *name = hs_new(request->name_bytes);
    const size_t count = (size_t)request->stretches;
    struct hs_stretch *stretch = hs_new(count * sizeof *stretch);
    struct hs_fletcher *sum = hs_new(count * sizeof *sum);
    struct hs_shared_file here = {path, name, request->inode, request->stretches, stretch, sum};
    bool unused;
    tell(&here, request);
    const enum hs_status st = write_here(part, &here, &unused, err);
    free(path);
    free(name);
    free(stretch);
    free(sum);
    return st;
}
