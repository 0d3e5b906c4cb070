/*
 * Writes a file as PATH.part first and renames it to PATH once it is complete.
 *
 * The part is always a new file: links are not followed, pipes are not waited for, and another
 * program's file of that name is left alone. A part left behind by an earlier run is removed first.
 * Until the part is complete, hs_existing_part_mark stands in place of its first bytes, so that an
 * unfinished part can be recognised.
 */
#ifndef HS_OUTPUT_BESIDE_H
#define HS_OUTPUT_BESIDE_H

#include "output/existing.h"

#include <stdio.h>

/* "PATH.part", allocated. */
char *hs_beside_name(const char *path);

/* Removes a part left behind by an earlier run. HS_OK also if there is none; HS_IO if the file is
 * not heatsolve's. */
enum hs_status hs_beside_clear(const char *part, const char *elsewhere, struct hs_error *err);

struct hs_beside {
    const char *path;      /* not owned */
    const char *elsewhere; /* see hs_existing_check */
    enum hs_existing own;  /* kind of file that may be replaced */
    char *part;
    FILE *file;
    int number;                     /* errno of the first write that failed; 0 if none */
    char first[HS_PART_MARK_BYTES]; /* the first bytes, which are written last */
    size_t first_size;
};

/* Opens the part. The caller keeps `path` and `elsewhere` alive. HS_IO if the file at `path` may
 * not be replaced. Call hs_beside_close only after success. */
enum hs_status hs_beside_open(const char *path, enum hs_existing own, const char *elsewhere,
                              struct hs_beside *out, struct hs_error *err);

/* Writes to the part; hs_beside_close reports write errors. */
void hs_beside_write(struct hs_beside *beside, const void *bytes, size_t size);

/* Renames the part to `path` if it is `whole` and every write succeeded; removes it otherwise.
 * HS_IO if a `whole` file could not be written or renamed. */
enum hs_status hs_beside_close(struct hs_beside *beside, bool whole, struct hs_error *err);

/* Writes `text` to `path`, which may be absent or hold a file of the kind `own`. */
enum hs_status hs_beside_replace(const char *path, enum hs_existing own, const char *text,
                                 struct hs_error *err);

#endif
