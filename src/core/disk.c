#include "core/disk.h"

#include "core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *hs_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *hs_directory_of(const char *path)
{
    const char *name = hs_file_name(path);
    return name == path ? hs_copy(".")
                        : hs_format("%.*s", name > path + 1 ? (int)(name - path - 1) : 1, path);
}

/* The directory of `path`, or the nearest existing one above it. Allocated. */
static char *directory_there(const char *path)
{
    char *directory = hs_directory_of(path);
    while (access(directory, F_OK) && (errno == ENOENT || errno == ENOTDIR) &&
           strcmp(directory, ".") != 0 && strcmp(directory, "/") != 0) {
        char *above = hs_directory_of(directory);
        free(directory);
        directory = above;
    }
    return directory;
}

enum hs_status hs_disk_check(const char *path, struct hs_error *err)
{
    char *directory = directory_there(path);
    struct stat there;
    const bool file = stat(directory, &there) == 0 && !S_ISDIR(there.st_mode);
    const int number = file ? ENOTDIR : access(directory, W_OK | X_OK) ? errno : 0;
    free(directory);
    return number ? hs_file_failed(path, "write there", number, 0, err) : HS_OK;
}

double hs_disk_free(const char *path)
{
    char *directory = directory_there(path);
    struct statvfs s;
    const int failed = statvfs(directory, &s);
    free(directory);
    if (failed || s.f_blocks == 0) /* pseudo file systems have no blocks */
        return -1.0;
    return (double)s.f_bavail * (double)s.f_frsize;
}

static const char *remedy(int number)
{
    static const struct {
        int number;
        const char *text;
    } known[] = {
        {EACCES, "make it writable, or set output.file to where you may write"},
        {EPERM, "make it writable, or set output.file to where you may write"},
        {EROFS, "set output.file to where you may write"},
        {ENOTDIR, "part of the path is a file; set output.file to another path"},
        {EISDIR, "it is a directory; set output.file to the name of a file"},
        {ENAMETOOLONG, "set output.file to a shorter name"},
        {ENOSPC, "free space there, or set output.file to another disk"},
        {EDQUOT, "free space there, or set output.file to another disk"},
        {EFBIG, "raise the limit on file sizes (ulimit -f), or write fewer snapshots"},
        {0, "set output.file to another path"},
    };
    int i = 0;
    while (known[i].number && known[i].number != number)
        i++;
    return known[i].text;
}

enum hs_status hs_file_failed(const char *path, const char *doing, int number, int64_t needed,
                              struct hs_error *err)
{
    const double have = hs_disk_free(path);
    if ((number == ENOSPC || number == EDQUOT) && needed > 0 && have >= 0.0)
        return hs_error_add(err, HS_IO,
                            "%s: cannot %s: %s: %lld bytes are needed and %.0f are free; %s", path,
                            doing, strerror(number), (long long)needed, have, remedy(number));
    return hs_error_add(err, HS_IO, "%s: cannot %s: %s; %s", path, doing, strerror(number),
                        remedy(number));
}

/* Whole pages only, without the last page if the next piece shares it. A hint: errors are reported
 * when the file is synced. */
static void begin_to_disk(int file, int64_t at, int64_t bytes)
{
    const int64_t page = 4096, from = at / page * page, until = (at + bytes) / page * page;
    if (until > from)
        (void)sync_file_range(file, from, until - from, SYNC_FILE_RANGE_WRITE);
}

enum hs_status hs_file_put(int file, const char *path, const void *data, int64_t bytes, int64_t at,
                           struct hs_error *err)
{
    const char *from = data;
    for (int64_t done = 0; done < bytes;) {
        const ssize_t n = pwrite(file, from + done, (size_t)(bytes - done), at + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return hs_file_failed(path, "write", n < 0 ? errno : ENOSPC, bytes, err);
        done += n;
    }
    begin_to_disk(file, at, bytes);
    return HS_OK;
}
