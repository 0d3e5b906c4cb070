/* Files of a run: names beside one another, parent directories. */
#ifndef HS_OUTPUT_FILES_H
#define HS_OUTPUT_FILES_H

#include "core/disk.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A name beside `path`: .h5 is replaced by the ending, behind any other it comes: "out/a.h5" and
 * ".xdmf" give "out/a.xdmf", "out/a.vtkhdf" gives "out/a.vtkhdf.xdmf". Allocated. */
char *hs_file_sibling(const char *path, const char *ending);

/* The only other file whose siblings may have the same names: "a" of "a.h5", "a.h5" of "a". */
char *hs_file_twin(const char *path);

/* Where a link leads to, or the path itself: what is really written. Allocated. */
char *hs_file_resolved(const char *path);

/* Makes the directories that `path` needs. NULL, or the name of the one that could not be made,
 * allocated, with errno. *made: characters of the first that was not there; 0: all were. */
char *hs_file_make_directories(const char *path, mode_t mode, size_t *made);

/* Removes them again, as far as they are empty. */
void hs_file_remove_directories(const char *path, size_t made);

/* The same for a run: all or none. HS_IO with the one that failed, why, and `elsewhere`, how to
 * name another path. */
enum hs_status hs_file_make_parents(const char *path, const char *elsewhere, size_t *made,
                                    struct hs_error *err);

/* Bytes that are free for `path`, where neither a file nor its directory need be yet: what
 * its file system has free for this user, and for a file that is written anew those that are there
 * under its name, or that of a part, and go. INFINITY where it cannot be told. */
double hs_file_free_space(const char *path, bool anew);

/* Renames within a directory and syncs the directory. HS_IO on failure. */
enum hs_status hs_file_rename(const char *from, const char *to, struct hs_error *err);

#endif
