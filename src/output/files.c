#include "output/files.h"

#include "core/memory.h"
#include "output/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
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

char *hs_file_sibling(const char *path, const char *ending)
{
    const char *name = hs_file_name(path), *dot = strrchr(name, '.');
    const bool replaced = dot && dot > name && strcmp(dot, ".h5") == 0;
    return hs_format("%.*s%s", replaced ? (int)(dot - path) : (int)strlen(path), path, ending);
}

char *hs_file_twin(const char *path)
{
    char *stem = hs_file_sibling(path, "");
    if (strcmp(stem, path) != 0)
        return stem;
    free(stem);
    return hs_file_sibling(path, ".h5");
}

/* Where a link leads, so that a renaming does not replace it: it may lead to a larger disk. A link
 * to nothing is taken for a name. */
char *hs_file_resolved(const char *path)
{
    struct stat s;
    char *target = lstat(path, &s) == 0 && S_ISLNK(s.st_mode) ? realpath(path, NULL) : NULL;
    return target ? target : hs_copy(path);
}

/* The directory of `path`, allocated. */
static char *directory_of(const char *path)
{
    const char *name = hs_file_name(path);
    return name == path ? hs_copy(".")
                        : hs_format("%.*s", name > path + 1 ? (int)(name - path - 1) : 1, path);
}

/* Bytes that this user may still write beside `path`, or where its directory will be made; -1 if
 * that cannot be told. */
static double bytes_free(const char *path)
{
    char *directory = directory_of(path);
    struct statvfs s;
    int failed;
    while ((failed = statvfs(directory, &s)) && (errno == ENOENT || errno == ENOTDIR) &&
           strcmp(directory, ".") != 0 && strcmp(directory, "/") != 0) {
        char *above = directory_of(directory);
        free(directory);
        directory = above;
    }
    free(directory);
    if (failed || s.f_blocks == 0) /* some that only look like file systems have none */
        return -1.0;
    return (double)s.f_bavail * (double)s.f_frsize;
}

static double bytes_taken(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? 512.0 * (double)s.st_blocks : 0.0;
}

double hs_file_free_space(const char *path, bool anew)
{
    char *target = realpath(path, NULL); /* where a link leads, it is written */
    const char *name = target ? target : path;
    char *part = hs_beside_name(name);
    double bytes = bytes_free(name);
    if (anew && bytes >= 0.0)
        bytes += bytes_taken(name) + bytes_taken(part);
    free(part);
    free(target);
    return bytes >= 0.0 ? bytes : INFINITY;
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
    const double have = bytes_free(path);
    if ((number == ENOSPC || number == EDQUOT) && needed > 0 && have >= 0.0)
        return hs_error_add(err, HS_IO,
                            "%s: cannot %s: %s: %lld bytes are needed and %.0f are free; %s", path,
                            doing, strerror(number), (long long)needed, have, remedy(number));
    return hs_error_add(err, HS_IO, "%s: cannot %s: %s; %s", path, doing, strerror(number),
                        remedy(number));
}

char *hs_file_make_directories(const char *path, mode_t mode)
{
    char *part = hs_copy(path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, mode) && errno != EEXIST)
            return part;
        *slash = '/';
    }
    free(part);
    return NULL;
}

enum hs_status hs_file_make_parents(const char *path, const char *elsewhere, struct hs_error *err)
{
    char *failed = hs_file_make_directories(path, 0777);
    if (!failed)
        return HS_OK;
    hs_error_add(err, HS_IO, "%s: cannot make this directory: %s; %s", failed, strerror(errno),
                 elsewhere);
    free(failed);
    return HS_IO;
}

/* A rename is on the disk only once its directory is. Best effort: some file systems refuse. */
static void sync_directory(const char *path)
{
    char *directory = directory_of(path);
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(directory);
}

enum hs_status hs_file_rename(const char *from, const char *to, struct hs_error *err)
{
    if (rename(from, to))
        return hs_file_failed(to, "put the file there", errno, 0, err);
    sync_directory(to);
    return HS_OK;
}
