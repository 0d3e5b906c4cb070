/* Opening files that somebody named, so that none of them can hold up the program. */
#ifndef HS_CORE_REGULAR_H
#define HS_CORE_REGULAR_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Opens a file to read: a descriptor, or -1 with the reason in *why ("No such file or directory",
 * "it is a pipe, and a file is needed"). What is no regular file is refused at once: to open a pipe
 * would wait for somebody to write to it. With `streams` the descriptors that a shell hands over
 * are taken too, whatever they are: /dev/stdin and what <(...) stands for.
 * errno is that of open(), and 0 for what was there and is refused.
 */
int hs_regular_open(const char *path, bool streams, const char **why);

/* The same as a stream; NULL on failure. */
FILE *hs_regular_stream(const char *path, bool streams, const char **why);

/* Whether the name, which is no link, leads to the open file. */
bool hs_regular_has_name(int file, const char *path);

/* Whether two names lead to one file, by links or another name of it too. */
bool hs_regular_same(const char *a, const char *b);

#endif
