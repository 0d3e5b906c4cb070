#include "output/store.h"

#include "core/clock.h"
#include "core/round.h"
#include "output/files.h"
#include "output/room.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A reader that opened the live file has this long [s] to read what it found there. */
static const double reader_seconds = 10.0;

/* What superseded contents may take within that time: so many bytes, or times those of the contents
 * in use, or of the file's end. */
static const double superseded_bytes = 4 << 20, superseded_contents = 2.0, superseded_file = 0.125;

struct hs_store {
    char *path, *part;
    int file;
    int named;                   /* the file has its name */
    int64_t end;                 /* nothing lies beyond */
    int64_t live_at, live_bytes; /* of the contents in use; 0 bytes: none yet */
    struct hs_room room;         /* of those before */
};

/* Where a link leads, so that the renaming does not replace it: it may lead to the disk that has
 * the room. A link to nothing is taken for a name. */
static char *resolved(const char *path)
{
    char *target = realpath(path, NULL);
    return target ? target : strdup(path);
}

static enum hs_status store_make(const char *path, struct hs_store **out, struct hs_error *err)
{
    struct hs_store *store = calloc(1, sizeof *store);
    struct stat s;
    *out = store;
    if (store) {
        store->file = -1;
        store->path = lstat(path, &s) == 0 && S_ISLNK(s.st_mode) ? resolved(path) : strdup(path);
        store->part = store->path ? malloc(strlen(store->path) + 6) : NULL;
    }
    if (!store || !store->path || !store->part)
        return hs_error_add(err, HS_DEVICE, "no memory for the output file's name");
    strcpy(store->part, store->path);
    strcat(store->part, ".part");
    return HS_OK;
}

/* Whether the file could take the place of what is at `path` now; better known before the run. */
static enum hs_status check_target(const char *path, struct hs_error *err)
{
    struct stat s;
    if (!stat(path, &s) && S_ISDIR(s.st_mode))
        return hs_file_failed(path, "write", EISDIR, 0, err);
    return HS_OK;
}

/*
 * One writer a file. Two would overwrite each other's snapshots and both end well: as when a run
 * that is thought dead is resumed. A writer holds a read lock on one byte far beyond the end, and
 * then looks whether it is alone, so that of two at once none is missed. Not flock(), which HDF5's
 * readers take of the whole file. It dies with the process; where a file system has no locks, all
 * is as without them.
 */
static int is_claimed(int file)
{
#ifdef F_OFD_GETLK
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 62, .l_len = 1};
    return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
#else
    return (void)file, 0;
#endif
}

static void claim(int file)
{
#ifdef F_OFD_SETLK
    const struct flock lock = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 62, .l_len = 1};
    (void)fcntl(file, F_OFD_SETLK, &lock);
#else
    (void)file;
#endif
}

static enum hs_status is_being_written(const char *path, struct hs_error *err)
{
    return hs_error_add(err, HS_IO,
                        "%s: another run is writing it; wait until that has ended, or set "
                        "output.file to another path",
                        path);
}

/* Whether a live run writes the file that has the name already, which a new one would take. */
static enum hs_status check_writers(const char *path, struct hs_error *err)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int claimed = file >= 0 && is_claimed(file);
    if (file >= 0)
        close(file);
    return claimed ? is_being_written(path, err) : HS_OK;
}

/* Opens `name` for this run alone; it stays as it was, and closed, if another has it. */
static enum hs_status open_alone(struct hs_store *store, const char *name, int flags,
                                 const char *doing, struct hs_error *err)
{
    const int file = open(name, O_RDWR | O_CLOEXEC | flags, 0666);
    if (file < 0)
        return hs_file_failed(store->path, doing, errno, 0, err);
    claim(file);
    if (is_claimed(file)) {
        close(file);
        return is_being_written(store->path, err);
    }
    store->file = file;
    return HS_OK;
}

/* A file that a killed run left behind begins anew. */
static enum hs_status empty(struct hs_store *store, struct hs_error *err)
{
    store->end = 2048; /* room for a superblock of any version */
    const int file = open(store->part, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0)
        return hs_file_failed(store->path, "create", errno, 0, err);
    close(file);
    return HS_OK;
}

enum hs_status hs_store_create(const char *path, struct hs_store **out, struct hs_error *err)
{
    enum hs_status st = store_make(path, out, err);
    if (!st)
        st = hs_file_make_parents(path, err);
    if (!st)
        st = check_target(path, err);
    if (!st)
        st = check_writers(path, err);
    if (!st)
        st = open_alone(*out, (*out)->part, O_CREAT, "create", err);
    if (!st)
        st = empty(*out, err);
    if (st) {
        hs_store_destroy(*out);
        *out = NULL;
    }
    return st;
}

enum hs_status hs_store_reopen(const char *path, struct hs_store **out, struct hs_error *err)
{
    enum hs_status st = store_make(path, out, err);
    if (!st) {
        (*out)->named = 1;
        st = open_alone(*out, path, 0, "open", err);
    }
    if (!st) {
        struct stat s;
        if (fstat((*out)->file, &s))
            st = hs_file_failed(path, "open", errno, 0, err);
        else
            (*out)->end = s.st_size;
    }
    if (st) {
        hs_store_destroy(*out);
        *out = NULL;
    }
    return st;
}

/* Writes all of it, however many calls that takes. */
static enum hs_status write_at(struct hs_store *store, const void *data, int64_t bytes, int64_t at,
                               struct hs_error *err)
{
    const char *from = data;
    int64_t left = bytes;
    while (left > 0) {
        const ssize_t n = pwrite(store->file, from, (size_t)left, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return hs_file_failed(store->path, "write", n < 0 ? errno : ENOSPC, bytes, err);
        from += n;
        at += n;
        left -= n;
    }
    return HS_OK;
}

/*
 * The disk begins with what was written, so that it works while the next sweeps run and little is
 * left for to_disk(): Linux by itself begins when a tenth of the memory waits. Whole pages only, up
 * to the one that the next piece shares. A hint: what fails is told by to_disk().
 */
static void begin_to_disk(const struct hs_store *store, int64_t at, int64_t bytes)
{
#ifdef SYNC_FILE_RANGE_WRITE
    const int64_t page = 4096, from = at / page * page, until = (at + bytes) / page * page;
    if (until > from)
        (void)sync_file_range(store->file, from, until - from, SYNC_FILE_RANGE_WRITE);
#else
    (void)store, (void)at, (void)bytes;
#endif
}

enum { ALIGNED = 8 }; /* what begins in the file, begins at a multiple of it [bytes] */

int64_t hs_store_end(const struct hs_store *store)
{
    return store->end;
}

enum hs_status hs_store_put(struct hs_store *store, const void *data, int64_t bytes, int64_t at,
                            struct hs_error *err)
{
    const enum hs_status st = write_at(store, data, bytes, at, err);
    if (!st)
        begin_to_disk(store, at, bytes);
    return st;
}

void hs_store_keep(struct hs_store *store, int64_t at, int64_t bytes)
{
    store->end = hs_round_up(at + bytes, ALIGNED);
}

enum hs_status hs_store_append(struct hs_store *store, const void *data, int64_t bytes,
                               int64_t reserve, int64_t *at, struct hs_error *err)
{
    *at = store->end;
    const enum hs_status st = hs_store_put(store, data, bytes, *at, err);
    if (!st) /* else the next one takes the same place */
        hs_store_keep(store, *at, reserve > bytes ? reserve : bytes);
    return st;
}

void hs_store_room(struct hs_store *store, size_t bytes, int fresh, int64_t *base,
                   int64_t *capacity, int64_t *end)
{
    /* the next are a little larger */
    const int64_t wanted = hs_round_up((int64_t)bytes + 1024, ALIGNED);
    struct hs_gap gap;
    const int found =
        !fresh && hs_room_find(&store->room, wanted, hs_clock_now() - reader_seconds, &gap);
    *base = found ? gap.at : store->end;
    *capacity = found ? gap.bytes : INT64_MAX;
    *end = store->end;
}

double hs_store_pause(double contents, double end)
{
    const double most =
        fmax(superseded_bytes, fmax(superseded_contents * contents, superseded_file * end));
    return reader_seconds * contents / most;
}

double hs_store_superseded(double contents, double pause, double seconds)
{
    return contents * fmin(seconds, reader_seconds) / pause;
}

/* A reader refuses a file that is shorter than its superblock says. */
static enum hs_status lengthen(struct hs_store *store, int64_t end, struct hs_error *err)
{
    struct stat s;
    if (fstat(store->file, &s) || (s.st_size < end && ftruncate(store->file, end)))
        return hs_file_failed(store->path, "lengthen", errno, 0, err);
    return HS_OK;
}

static enum hs_status to_disk(struct hs_store *store, struct hs_error *err)
{
    /* EINVAL: a file system that cannot sync has nothing to wait for */
    if (fdatasync(store->file) && errno != EINVAL)
        return hs_file_failed(store->path, "write to the disk", errno, 0, err);
    return HS_OK;
}

enum hs_status hs_store_write(struct hs_store *store, const struct hs_image *image,
                              struct hs_error *err)
{
    enum hs_status st = write_at(store, image->bytes, (int64_t)image->used, image->base, err);
    if (!st)
        st = lengthen(store, image->end, err);
    return st ? st : to_disk(store, err);
}

enum hs_status hs_store_commit(struct hs_store *store, const struct hs_image *image,
                               struct hs_error *err)
{
    enum hs_status st = write_at(store, image->superblock, HS_SUPERBLOCK_BYTES, 0, err);
    if (st)
        return st;
    /* with room to grow, so that later ones fit there, too, where chunks lie between the gaps */
    int64_t bytes = hs_round_up((int64_t)(image->used + image->used / 4 + 4096), ALIGNED);
    if (image->base == store->end)
        store->end += bytes;
    else
        bytes = hs_room_take(&store->room, image->base, bytes);
    if (store->live_bytes > 0)
        hs_room_leave(&store->room, store->live_at, store->live_bytes, hs_clock_now());
    store->live_at = image->base;
    store->live_bytes = bytes;
    st = to_disk(store, err);
    if (!st && !store->named) {
        st = hs_file_rename(store->part, store->path, err);
        store->named = !st;
    }
    return st;
}

void hs_store_destroy(struct hs_store *store)
{
    if (!store)
        return;
    if (store->file >= 0) {
        close(store->file);
        if (!store->named)
            unlink(store->part);
    }
    free(store->path);
    free(store->part);
    hs_room_release(&store->room);
    free(store);
}
