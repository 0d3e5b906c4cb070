#include "output/files.h"

#include "core/memory.h"
#include "output/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The target of a dangling link; NULL if `path` is no link. */
static char *link_target(const char *path)
{
    char target[PATH_MAX];
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return NULL;
    target[length] = '\0';
    const int folder = target[0] == '/' ? 0 : (int)(hs_file_name(path) - path);
    return hs_format("%.*s%s", folder, path, target);
}

/* Resolves links, so that renaming does not replace one: it may point to a larger disk. */
char *hs_file_resolved(const char *path)
{
    enum { MOST_LINKS = 40 }; /* Linux's limit */
    char *name = hs_copy(path);
    for (int links = 0; links < MOST_LINKS; links++) {
        struct stat s;
        const bool is_link = lstat(name, &s) == 0 && S_ISLNK(s.st_mode);
        char *target = is_link ? realpath(name, NULL) : NULL;
        const bool found = target;
        if (is_link && !target)
            target = link_target(name);
        if (!target)
            break;
        free(name);
        name = target;
        if (found)
            break;
    }
    return name;
}

static double bytes_taken(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? 512.0 * (double)s.st_blocks : 0.0;
}

double hs_file_free_space(const char *path, bool anew)
{
    char *target = realpath(path, NULL); /* a link's target is the file that is written */
    const char *name = target ? target : path;
    char *part = hs_beside_name(name);
    double bytes = hs_disk_free(name);
    if (anew && bytes >= 0.0)
        bytes += bytes_taken(name) + bytes_taken(part);
    free(part);
    free(target);
    return bytes >= 0.0 ? bytes : INFINITY;
}

char *hs_file_make_directories(const char *path, mode_t mode, size_t *made)
{
    char *part = hs_copy(path);
    *made = 0;
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, mode) == 0)
            *made = *made ? *made : strlen(part);
        else if (errno != EEXIST)
            return part;
        *slash = '/';
    }
    free(part);
    return NULL;
}

void hs_file_remove_directories(const char *path, size_t made)
{
    char *part = hs_copy(path);
    for (char *slash; made > 0 && (slash = strrchr(part, '/')) && slash >= part + made;) {
        *slash = '\0';
        rmdir(part);
    }
    free(part);
}

enum hs_status hs_file_make_parents(const char *path, const char *elsewhere, size_t *made,
                                    struct hs_error *err)
{
    char *failed = hs_file_make_directories(path, 0777, made);
    if (!failed)
        return HS_OK;
    hs_error_add(err, HS_IO, "%s: cannot make this directory: %s; %s", failed, strerror(errno),
                 elsewhere);
    hs_file_remove_directories(path, *made);
    free(failed);
    return HS_IO;
}

/* A rename is durable only once its directory is synced. Best effort: some file systems refuse. */
static void sync_directory(const char *path)
{
    char *directory = hs_directory_of(path);
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
