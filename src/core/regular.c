#include "core/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether the name stands for a descriptor that the program was started with. */
static bool is_handed_over(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(path, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? strerror(EISDIR)
           : S_ISFIFO(mode) ? "it is a pipe, and a file is needed"
           : S_ISSOCK(mode) ? "it is a socket, and a file is needed"
                            : "it is a device, and a file is needed";
}

int hs_regular_open(const char *path, bool streams, const char **why)
{
    struct stat s;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is_none = file < 0 && errno == ENXIO && stat(path, &s) == 0; /* as of a socket */
    if (!is_none && (file < 0 || fstat(file, &s))) {
        *why = strerror(errno);
        if (file >= 0)
            close(file);
        return -1;
    }
    const bool stream = streams && !is_none && !S_ISDIR(s.st_mode) && is_handed_over(path);
    if (!S_ISREG(s.st_mode) && !stream) {
        *why = kind_of(s.st_mode);
        if (file >= 0)
            close(file);
        errno = 0;
        return -1;
    }
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK); /* a pipe's writer may need time */
    return file;
}

FILE *hs_regular_adopt(int file, const char *mode)
{
    FILE *stream = file < 0 ? NULL : fdopen(file, mode);
    const int why = errno;
    if (file >= 0 && !stream)
        close(file);
    errno = why;
    return stream;
}

FILE *hs_regular_stream(const char *path, bool streams, const char **why)
{
    const int file = hs_regular_open(path, streams, why);
    FILE *stream = hs_regular_adopt(file, "rb");
    if (file >= 0 && !stream)
        *why = strerror(errno);
    return stream;
}

static bool are_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool hs_regular_has_name(int file, const char *path)
{
    struct stat here, there;
    return fstat(file, &here) == 0 && lstat(path, &there) == 0 && are_one(&here, &there);
}

bool hs_regular_same(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && are_one(&sa, &sb);
}
