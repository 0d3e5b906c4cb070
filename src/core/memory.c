/*
 * Out of memory: the program ends with HS_DEVICE and a message.
 *
 * HDF5 and libgomp do not handle failed allocations: they crash, end the program silently, or free
 * memory that is in use and so corrupt the heap in which the output's contents are built. No status
 * reports that. So the program defines its own malloc and related functions, which all libraries
 * then call; they pass requests on to those of the system.
 *
 * A large request gets its NULL: it may be nonsense from a damaged file, or the grid may be too
 * large, and the caller reports it. A failed small request means that memory is exhausted. A file
 * keeps all that was written, as after a kill.
 */
#include "core/memory.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

static _Noreturn void end_with_message(void)
{
    static const char message[] = "heatsolve: out of memory; free some, or take a smaller grid; "
                                  "what was written before stays readable\n";
    const ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    _exit(HS_DEVICE);
}

static void *had(void *memory)
{
    if (!memory)
        end_with_message();
    return memory;
}

void *hs_new(size_t size)
{
    return had(calloc(1, size));
}

void *hs_grow(void *array, size_t count, size_t size)
{
    return had(reallocarray(array, count ? count : 1, size));
}

void *hs_reserve(void *array, size_t count, size_t size)
{
    return count & (count - 1) ? array : hs_grow(array, count ? 2 * count : 1, size);
}

char *hs_copy(const char *text)
{
    return had(strdup(text));
}

char *hs_format(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    return had(length < 0 ? NULL : text);
}

#ifndef SANITIZED /* sanitizers have their own malloc */

static const size_t large = (size_t)1 << 24; /* bytes */

static void *checked(void *memory, size_t size)
{
    if (!memory && size > 0 && size < large)
        end_with_message();
    return memory;
}

/* Finds the next function of this name: the system's, or a preloaded allocator's. Allocations
 * during the search itself fail. */
static bool find(const char *name, void *function)
{
    static _Thread_local bool finding;
    if (finding)
        return false;
    finding = true;
    void *next = dlsym(RTLD_NEXT, name);
    finding = false;
    memcpy(function, &next, sizeof next);
    return next != NULL;
}

void *malloc(size_t size)
{
    static void *(*next)(size_t);
    if (!next && !find("malloc", &next))
        return NULL;
    return checked(next(size), size);
}

void *calloc(size_t count, size_t size)
{
    static void *(*next)(size_t, size_t);
    if (!next && !find("calloc", &next))
        return NULL;
    size_t all;
    if (__builtin_mul_overflow(count, size, &all))
        all = SIZE_MAX;
    return checked(next(count, size), all);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    static void *(*next)(size_t, size_t);
    if (!next && !find("aligned_alloc", &next))
        return NULL;
    return checked(next(alignment, size), size);
}

void *memalign(size_t alignment, size_t size)
{
    static void *(*next)(size_t, size_t);
    if (!next && !find("memalign", &next))
        return NULL;
    return checked(next(alignment, size), size);
}

void *realloc(void *old, size_t size)
{
    static void *(*next)(void *, size_t);
    if (!next && !find("realloc", &next))
        return NULL;
    return checked(next(old, size), size);
}

#endif
