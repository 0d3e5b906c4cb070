/*
 * Preloaded into the program, makes its writes fail:
 *
 *     FAULT_MATCH=TEXT   affects files whose path contains TEXT (needed)
 *     FAULT_KILL=N       SIGKILL instead of the Nth call that changes such a file (1: the first)
 *     FAULT_HALF=N       SIGKILL in the middle of the Nth: half of its bytes are written
 *     FAULT_FAIL=N       the Nth fails (EIO)
 *     FAULT_SPACE=BYTES  the disk is full after this many bytes of such files
 *     FAULT_FREE=BYTES   every file system reports this much free space
 *     FAULT_CLOCK=S      the monotonic clock gains S seconds after each renaming, at the second
 *                        reading by the thread that renamed
 *     FAULT_STOP=WHERE   SIGSTOP, once, here: "create" before such a file is opened with O_CREAT,
 *                        "created" after it, "rename" before such a file is renamed
 *     FAULT_LOG=PATH     appends a line to this file for each such call
 *     FAULT_MALLOC=N     the Nth allocation since main began fails, whoever makes it
 *     FAULT_MALLOC_ON=1  all later ones fail, too
 *     FAULT_MALLOC_LEAST=BYTES  only requests of at least this size are counted, and fail
 *     FAULT_MALLOCS=PATH writes the number of allocations to this file at the end
 *
 * Calls that change a file: pwrite, ftruncate, rename. Build: cc -shared -fPIC -o fault.so fault.c
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static long calls;
static long long space = -1;
/* This thread's readings of the clock since it renamed a file; only the second one matters. */
static __thread long looks = 2;

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static int matches(const char *path)
{
    const char *match = getenv("FAULT_MATCH");
    return match && path && strstr(path, match);
}

static int matches_file(int file)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return 0;
    path[n] = '\0';
    return matches(path);
}

static void note(const char *call, long long bytes, long long at)
{
    const char *path = getenv("FAULT_LOG");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (log) {
        fprintf(log, "%ld %s %lld %lld\n", calls, call, bytes, at);
        fclose(log);
    }
}

enum fate { GOES_ON, KILLED_AT_HALF, FAILS };

/* Counts a call; does not return if the process is to be killed here. */
static enum fate count(const char *call, long long bytes, long long at)
{
    calls++;
    note(call, bytes, at);
    if (calls == number("FAULT_KILL"))
        kill(getpid(), SIGKILL);
    errno = EIO;
    return calls == number("FAULT_FAIL")   ? FAILS
           : calls == number("FAULT_HALF") ? KILLED_AT_HALF
                                           : GOES_ON;
}

/* How many of `bytes` the disk still has room for. */
static size_t fitting(size_t bytes)
{
    if (!getenv("FAULT_SPACE"))
        return bytes;
    if (space < 0)
        space = number("FAULT_SPACE");
    const size_t fits = (long long)bytes <= space ? bytes : (size_t)space;
    space -= (long long)fits;
    return fits;
}

/* Stops the process, once, so that another process can act at this point. */
static void stop_at(const char *where)
{
    static int stopped;
    const char *wanted = getenv("FAULT_STOP");
    if (!wanted || strcmp(wanted, where) != 0 || stopped)
        return;
    stopped = 1;
    raise(SIGSTOP);
}

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    if (!real)
        real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    const int watched = (flags & O_CREAT) && matches(path);
    if (watched)
        stop_at("create");
    const int file = real(path, flags, mode);
    if (watched)
        stop_at("created");
    return file;
}

ssize_t pwrite(int file, const void *data, size_t bytes, off_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real)
        real = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    if (!matches_file(file))
        return real(file, data, bytes, at);
    const enum fate fate = count("pwrite", (long long)bytes, at);
    if (fate == FAILS)
        return -1;
    if (fate == KILLED_AT_HALF) {
        real(file, data, bytes / 2, at);
        kill(getpid(), SIGKILL);
    }
    const size_t fits = fitting(bytes);
    if (fits == 0 && bytes > 0) {
        errno = ENOSPC;
        return -1;
    }
    return real(file, data, fits, at);
}

ssize_t pwrite64(int file, const void *data, size_t bytes, off_t at)
{
    return pwrite(file, data, bytes, at);
}

int ftruncate(int file, off_t length)
{
    static int (*real)(int, off_t);
    if (!real)
        real = (int (*)(int, off_t))dlsym(RTLD_NEXT, "ftruncate");
    if (matches_file(file) && count("ftruncate", 0, length) == FAILS)
        return -1;
    return real(file, length);
}

int rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);
    if (!real)
        real = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    if (matches(from)) {
        stop_at("rename");
        if (count("rename", 0, 0) == FAILS)
            return -1;
        looks = 0;
    }
    return real(from, to);
}

int statvfs(const char *path, struct statvfs *out)
{
    static int (*real)(const char *, struct statvfs *);
    if (!real)
        real = (int (*)(const char *, struct statvfs *))dlsym(RTLD_NEXT, "statvfs");
    const int failed = real(path, out);
    if (!failed && getenv("FAULT_FREE")) {
        out->f_frsize = 1;
        out->f_bavail = (fsblkcnt_t)number("FAULT_FREE");
    }
    return failed;
}

int clock_gettime(clockid_t which, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    static double ahead;
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const int failed = real(which, out);
    if (!failed && which == CLOCK_MONOTONIC && getenv("FAULT_CLOCK")) {
        ahead += ++looks == 2 ? atof(getenv("FAULT_CLOCK")) : 0.0;
        out->tv_sec += (time_t)ahead;
    }
    return failed;
}

/* ---- memory ---------------------------------------------------------------------------------- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static long allocations, failing = -1; /* since main began; the one that fails, 0: none */
static int counting, lasting;
static size_t least;

static int fails(size_t size)
{
    if (!counting || size < least)
        return 0;
    const long n = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
    if (n != failing && !(lasting && failing && n > failing))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails(size) ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size)
{
    return fails(size) ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *made = memalign(alignment, size);
    if (made)
        *out = made;
    return made ? 0 : ENOMEM;
}

static int (*real_main)(int, char **, char **);

static int counted_main(int argc, char **argv, char **environment)
{
    failing = number("FAULT_MALLOC");
    lasting = (int)number("FAULT_MALLOC_ON");
    least = (size_t)number("FAULT_MALLOC_LEAST");
    counting = 1;
    return real_main(argc, argv, environment);
}

int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv,
                      void (*begin)(void), void (*end)(void), void (*end_loader)(void), void *stack)
{
    int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                 void (*)(void), void *);
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = program;
    return start(counted_main, argc, argv, begin, end, end_loader, stack);
}

static void tell_allocations(void)
{
    counting = 0;
    const char *path = getenv("FAULT_MALLOCS");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out, "%ld\n", allocations);
        fclose(out);
    }
}

/* The program exits by this call. */
void _exit(int status)
{
    tell_allocations();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
