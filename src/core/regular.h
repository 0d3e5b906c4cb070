/* Opening files named by the user, so that none of them can block the program. */
#ifndef HS_CORE_REGULAR_H
#define HS_CORE_REGULAR_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Opens a file for reading: a descriptor, or -1 with the reason in *why ("No such file or
 * directory", "it is a pipe, and a file is needed"). Anything but a regular file is refused at
 * once: opening a pipe would wait for a writer. With `streams`, descriptors that a shell passes are
 * accepted too, whatever they are: /dev/stdin and the names that <(...) expands to. errno is that
 * of open(), or 0 for something that exists and is refused.
 */
int hs_regular_open(const char *path, bool streams, const char **why);

/* The same as a stream; NULL on failure. */
FILE *hs_regular_stream(const char *path, bool streams, const char **why);

/* A stream of a descriptor, which it closes in the end; without memory at once. NULL, with errno,
 * on failure, and for a descriptor below 0. */
FILE *hs_regular_adopt(int file, const char *mode);

/* Whether the path itself, not a link, is the open file. */
bool hs_regular_has_name(int file, const char *path);

/* Whether two paths lead to the same file, including by symbolic or hard links. */
bool hs_regular_same(const char *a, const char *b);

#endif
