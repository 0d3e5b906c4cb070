/* Files of a run: sibling names, parent directories, free space. */
#ifndef HS_OUTPUT_FILES_H
#define HS_OUTPUT_FILES_H

#include "core/disk.h"
#include "core/status.h"

#include <stdbool.h>
#include <sys/types.h>

/* A sibling of `path`: `ending` replaces .h5 and is appended to any other name. With ".xdmf",
 * "out/a.h5" gives "out/a.xdmf" and "out/a.vtkhdf" gives "out/a.vtkhdf.xdmf". Allocated. */
char *hs_file_sibling(const char *path, const char *ending);

/* The only other file whose siblings can have the same names: "a" for "a.h5", "a.h5" for "a". */
char *hs_file_twin(const char *path);

/* The file that is really written: the target if `path` is a link, else `path`. Allocated. */
char *hs_file_resolved(const char *path);

/* Makes the parent directories of `path`. Returns NULL, or the allocated name of the one that could
 * not be made, with errno set. *made: length of the first new one's name; 0: all existed. */
char *hs_file_make_directories(const char *path, mode_t mode, size_t *made);

/* Removes the directories that were made, if they are empty. */
void hs_file_remove_directories(const char *path, size_t made);

/* Makes all parent directories or none. On failure HS_IO with the directory, the reason and
 * `elsewhere`, which says how to choose another path. */
enum hs_status hs_file_make_parents(const char *path, const char *elsewhere, size_t *made,
                                    struct hs_error *err);

/* Bytes available for `path`, whose file and directory need not exist yet: what the file system has
 * free for this user plus, for a file written `anew`, the size of the present file and part, which
 * will be replaced. INFINITY if unknown. */
double hs_file_free_space(const char *path, bool anew);

/* Renames a file within its directory and syncs the directory. HS_IO on failure. */
enum hs_status hs_file_rename(const char *from, const char *to, struct hs_error *err);

#endif
