#include "output/store.h"

#include "core/clock.h"
#include "core/memory.h"
#include "core/regular.h"
#include "output/beside.h"
#include "output/files.h"
#include "output/free_space.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A reader that opened the live file has this long [s] to read what it found there. */
static const double reader_seconds = 10.0;

/* Limit of superseded contents within that time: the largest of a number of bytes, a multiple of
 * the contents in use, and a share of the file. */
static const double superseded_bytes = 4 << 20, superseded_contents = 2.0, superseded_file = 0.125;

/* While a run writes the file, it is longer by this than its superblock says. */
static const int64_t ahead_bytes = 4 << 20;

struct hs_store {
    char *path, *part;
    enum hs_existing kind;
    bool overwrite; /* an earlier run's file, if there is one */
    int file;
    bool owns_part, named;                         /* the file is at `part`, or at `path` */
    unsigned char superblock[HS_SUPERBLOCK_BYTES]; /* in the file, once it is named */
    int64_t end;                                   /* nothing lies beyond */
    int64_t committed_end;                         /* according to the superblock; 0: not known */
    int64_t live_at, live_bytes;                   /* of the contents in use; 0 bytes: none yet */
    struct hs_free_space space;                    /* of superseded contents */
};

static struct hs_store *store_make(const char *path, enum hs_existing kind)
{
    struct hs_store *store = hs_new(sizeof *store);
    store->kind = kind;
    store->file = -1;
    store->path = hs_file_resolved(path);
    store->part = hs_beside_name(store->path);
    return store;
}

/* ---- one writer a file -------------------------------------------------------------------------
 *
 * Two writers, as when a run that seems dead is resumed, would overwrite each other's snapshots and
 * both report success. So a writer holds a lock on one byte far beyond the end of the file. flock()
 * would not do, because HDF5's readers use it on the whole file. The lock ends with the process. On
 * a file system without locks there is no such protection.
 *
 * A new run locks the part, then checks whether the existing file is locked. A resumed run locks
 * the existing file, then checks whether a part is locked. So of two runs at once, in any order,
 * one finds the other's lock. A lock is valid only while the name still refers to the locked file,
 * because another process may have replaced the file in between.
 */

static const struct flock far_byte = {
    .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)1 << 62, .l_len = 1};

static bool is_locked(const char *path)
{
    struct flock lock = far_byte;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool locked = file >= 0 && fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    if (file >= 0)
        close(file);
    return locked;
}

/* False if another process holds the lock. */
static bool take_lock(int file)
{
    return fcntl(file, F_OFD_SETLK, &far_byte) == 0 || (errno != EAGAIN && errno != EACCES);
}

static enum hs_status is_being_written(const char *path, struct hs_error *err)
{
    return hs_error_add(err, HS_IO,
                        "%s: another run is writing it; wait until that has ended, or set "
                        "output.file to another path",
                        path);
}

enum hs_status hs_store_check_writers(const char *path, struct hs_error *err)
{
    char *part = hs_beside_name(path);
    const bool locked = is_locked(path) || is_locked(part);
    free(part);
    return locked ? is_being_written(path, err) : HS_OK;
}

/* Opens and locks `name` for this run. A file that another run has locked is left unchanged. */
static enum hs_status open_alone(struct hs_store *store, const char *name, int flags,
                                 const char *doing, struct hs_error *err)
{
    const int file = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK | flags, 0666);
    if (file < 0)
        return errno == EEXIST ? is_being_written(store->path, err)
                               : hs_file_failed(store->path, doing, errno, 0, err);
    if (!take_lock(file) || !hs_regular_has_name(file, name)) {
        close(file);
        return is_being_written(store->path, err);
    }
    store->file = file;
    return HS_OK;
}

/* Removes the part that a killed run left behind. Locks it first, so that only one of two new runs
 * removes it. */
static enum hs_status clear_part(struct hs_store *store, struct hs_error *err)
{
    enum hs_status st = hs_existing_check_part(store->part, hs_existing_elsewhere, err);
    if (st || hs_existing_at(store->part, false) == HS_EXISTING_NOTHING)
        return st;
    st = open_alone(store, store->part, O_NOFOLLOW, "take over its .part", err);
    if (!st)
        st = hs_beside_clear(store->part, hs_existing_elsewhere, err);
    if (store->file >= 0)
        close(store->file);
    store->file = -1;
    return st;
}

/* Checks that the new file may replace the existing one. */
static enum hs_status check_target(const struct hs_store *store, struct hs_error *err)
{
    if (is_locked(store->path))
        return is_being_written(store->path, err);
    return hs_existing_check_work(store->path, store->kind, store->overwrite, err);
}

/* Creates the part and marks it at once, so that it is recognised if this run is killed. */
static enum hs_status begin_part(struct hs_store *store, struct hs_error *err)
{
    HS_TRY(clear_part(store, err));
    HS_TRY(open_alone(store, store->part, O_CREAT | O_EXCL | O_NOFOLLOW, "create", err));
    store->owns_part = true;
    store->end = 2048; /* room for a superblock of any version, and the mark */
    HS_TRY(check_target(store, err));
    return hs_store_put(store, hs_existing_marks[store->kind], HS_MARK_BYTES, HS_MARK_AT, err);
}

enum hs_status hs_store_create(const char *path, enum hs_existing kind, bool overwrite,
                               struct hs_store **out, struct hs_error *err)
{
    *out = store_make(path, kind);
    (*out)->overwrite = overwrite;
    enum hs_status st = HS_OK;
    size_t made = 0;
    if (kind == HS_EXISTING_RUN) /* a checkpoint's directory is that of its run */
        st = hs_file_make_parents(path, hs_existing_elsewhere, &made, err);
    if (!st) /* checked here too, before anything is written */
        st = check_target(*out, err);
    if (!st)
        st = begin_part(*out, err);
    if (st) {
        hs_store_destroy(*out);
        hs_file_remove_directories(path, made);
        *out = NULL;
    }
    return st;
}

/* Checks that a reopened file is a run's and that no new run is about to replace it. */
static enum hs_status check_reopened(struct hs_store *store, struct hs_error *err)
{
    struct stat s;
    if (is_locked(store->part))
        return is_being_written(store->path, err);
    if (fstat(store->file, &s))
        return hs_file_failed(store->path, "open", errno, 0, err);
    store->end = s.st_size;
    if (pread(store->file, store->superblock, HS_SUPERBLOCK_BYTES, 0) != HS_SUPERBLOCK_BYTES)
        return hs_file_failed(store->path, "read", errno, 0, err);
    return hs_existing_check(store->path, store->kind, hs_existing_elsewhere, err);
}

enum hs_status hs_store_reopen(const char *path, struct hs_store **out, struct hs_error *err)
{
    *out = store_make(path, HS_EXISTING_RUN);
    (*out)->named = true;
    enum hs_status st = open_alone(*out, (*out)->path, 0, "open", err);
    if (!st)
        st = check_reopened(*out, err);
    if (st) {
        hs_store_destroy(*out);
        *out = NULL;
    }
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

int64_t hs_store_end(const struct hs_store *store)
{
    return store->end;
}

enum hs_status hs_store_put(struct hs_store *store, const void *data, int64_t bytes, int64_t at,
                            struct hs_error *err)
{
    return hs_file_put(store->file, store->path, data, bytes, at, err);
}

void hs_store_share(const struct hs_store *store, struct hs_shared_file *out)
{
    struct stat s = {0};
    (void)fstat(store->file, &s);
    out->path = store->named ? store->path : store->part;
    out->name = store->path;
    out->inode = (uint64_t)s.st_ino;
}

void hs_store_keep(struct hs_store *store, int64_t at, int64_t bytes)
{
    store->end = hs_file_behind(at, bytes);
}

int64_t hs_store_free_space(struct hs_store *store, size_t bytes, int fresh, struct hs_image *image)
{
    /* new contents are a little larger than the last */
    const int64_t wanted = hs_file_behind(0, (int64_t)bytes + 1024);
    struct hs_gap gap;
    const int found =
        !fresh && hs_free_space_find(&store->space, wanted, hs_clock_now() - reader_seconds, &gap);
    image->base = found ? gap.at : store->end;
    image->end = store->end;
    return found ? gap.bytes : INT64_MAX;
}

double hs_store_pause(double contents, double end)
{
    const double most =
        fmax(superseded_bytes, fmax(superseded_contents * contents, superseded_file * end));
    return reader_seconds * contents / most;
}

double hs_store_superseded(double first, double last, double end, double gap, double seconds)
{
    double sum = first;
    for (double t = fmax(gap, seconds - reader_seconds); t < seconds;) {
        const double share = t / seconds, contents = first + share * (last - first);
        sum += contents;
        t += fmax(gap, hs_store_pause(contents, share * end));
    }
    return sum;
}

/* Lengthens the file by ahead_bytes beyond `end`. A reader gets the file's length before it reads
 * the superblock, and refuses a file that is shorter than the superblock says; a commit may come in
 * between. If the file may not grow that far, lengthens to `end` only. */
static enum hs_status lengthen(struct hs_store *store, int64_t end, struct hs_error *err)
{
    struct stat s;
    if (fstat(store->file, &s))
        return hs_file_failed(store->path, "lengthen", errno, 0, err);
    if (s.st_size < end + ahead_bytes && ftruncate(store->file, end + ahead_bytes) &&
        s.st_size < end && ftruncate(store->file, end))
        return hs_file_failed(store->path, "lengthen", errno, 0, err);
    return HS_OK;
}

/* Only if nobody else has changed the file. A failure leaves a valid file that is longer. */
static void shorten(const struct hs_store *store)
{
    struct stat s;
    if (store->committed_end > 0 && !hs_store_check_intact(store, NULL) &&
        !fstat(store->file, &s) && s.st_size > store->committed_end &&
        ftruncate(store->file, store->committed_end))
        return;
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
    HS_TRY(hs_store_put(store, image->bytes, (int64_t)image->used, image->base, err));
    HS_TRY(lengthen(store, image->end, err));
    return to_disk(store, err);
}

/* Reports a file that somebody has removed, renamed or replaced: further data would be lost, and
 * the user should know at once rather than at the end of the run. */
static enum hs_status check_name(const struct hs_store *store, const char *name,
                                 struct hs_error *err)
{
    struct stat s;
    if (hs_regular_has_name(store->file, name))
        return HS_OK;
    const bool there = lstat(name, &s) == 0;
    if (fstat(store->file, &s) == 0 && s.st_nlink > 0)
        return hs_error_add(err, HS_IO,
                            "%s: was moved or renamed while this run wrote it; move it back and "
                            "continue with --resume, from its last snapshot",
                            name);
    return hs_error_add(err, HS_IO,
                        "%s: was %s while this run wrote it, and its snapshots are lost; %sstart "
                        "over with --overwrite",
                        name, there ? "replaced" : "removed",
                        there ? "move away what is there now, and " : "");
}

/* Reports a file that another program has written to or truncated: its data can no longer be
 * trusted. */
static enum hs_status check_superblock(const struct hs_store *store, struct hs_error *err)
{
    unsigned char there[HS_SUPERBLOCK_BYTES];
    if (!store->named || (pread(store->file, there, sizeof there, 0) == sizeof there &&
                          memcmp(there, store->superblock, sizeof there) == 0))
        return HS_OK;
    return hs_error_add(err, HS_IO,
                        "%s: was changed by another program while this run wrote it, and its "
                        "snapshots may be lost; move it away, and start over with --overwrite",
                        store->path);
}

enum hs_status hs_store_check_intact(const struct hs_store *store, struct hs_error *err)
{
    HS_TRY(check_superblock(store, err));
    return check_name(store, store->path, err);
}

static enum hs_status take_name(struct hs_store *store, struct hs_error *err)
{
    enum hs_status st = check_name(store, store->part, err);
    if (!st)
        st = check_target(store, err);
    if (!st)
        st = hs_file_rename(store->part, store->path, err);
    store->owns_part = store->owns_part && st;
    store->named = !st;
    return st;
}

enum hs_status hs_store_commit(struct hs_store *store, const struct hs_image *image,
                               struct hs_error *err)
{
    HS_TRY(check_superblock(store, err));
    HS_TRY(hs_store_put(store, image->superblock, HS_SUPERBLOCK_BYTES, 0, err));
    memcpy(store->superblock, image->superblock, HS_SUPERBLOCK_BYTES);
    store->committed_end = image->end;
    /* with room to grow, so that later contents fit in this gap too when chunks follow it */
    int64_t bytes = hs_file_behind(0, (int64_t)(image->used + image->used / 4 + 4096));
    if (image->base == store->end)
        store->end += bytes;
    else
        bytes = hs_free_space_take(&store->space, image->base, bytes);
    if (store->live_bytes > 0)
        hs_free_space_leave(&store->space, store->live_at, store->live_bytes, hs_clock_now());
    store->live_at = image->base;
    store->live_bytes = bytes;
    HS_TRY(to_disk(store, err));
    if (!store->named)
        HS_TRY(take_name(store, err));
    return check_name(store, store->path, err);
}

void hs_store_destroy(struct hs_store *store)
{
    if (!store)
        return;
    if (store->file >= 0) {
        shorten(store);
        if (store->owns_part && hs_regular_has_name(store->file, store->part))
            unlink(store->part);
        close(store->file);
    }
    free(store->path);
    free(store->part);
    hs_free_space_release(&store->space);
    free(store);
}
