/*
 * A file that is written beside, as PATH.part, and takes its name when it is whole.
 *
 * The part is always a new file: no link is followed, no pipe is waited for, and what somebody else
 * has under that name stays. One that an earlier run left behind is removed first. Until it is
 * whole hs_existing_part_mark stands in the place of its first bytes, so one that was cut off is
 * known.
 */
#ifndef HS_OUTPUT_BESIDE_H
#define HS_OUTPUT_BESIDE_H

#include "output/existing.h"

#include <stdio.h>

/* "PATH.part", allocated. */
char *hs_beside_name(const char *path);

/* Removes what an earlier run left under the name of a part: HS_OK, too, where there is nothing.
 * HS_IO where it is not heatsolve's. */
enum hs_status hs_beside_clear(const char *part, const char *elsewhere, struct hs_error *err);

struct hs_beside {
    const char *path;      /* not owned */
    const char *elsewhere; /* see hs_existing_check */
    enum hs_existing own;  /* what it may replace */
    char *part;
    FILE *file;
    int number;                     /* errno of the first write that failed; 0 */
    char first[HS_PART_MARK_BYTES]; /* of what was written, which come last */
    size_t first_size;
};

/* Opens the part; path and elsewhere are for the caller to keep. HS_IO where what is at `path` may
 * not be replaced. Close it on success only. */
enum hs_status hs_beside_open(const char *path, enum hs_existing own, const char *elsewhere,
                              struct hs_beside *out, struct hs_error *err);

/* Writes to the part; closing it tells whether all was written. */
void hs_beside_write(struct hs_beside *beside, const void *bytes, size_t size);

/* Puts it in its place where it is `whole` and all of it could be written; else removes it. HS_IO
 * where it is not, unless the caller knows and has said so. */
enum hs_status hs_beside_close(struct hs_beside *beside, bool whole, struct hs_error *err);

/* Replaces `path`, nothing or of the kind `own`, by `text` as a whole. */
enum hs_status hs_beside_replace(const char *path, enum hs_existing own, const char *text,
                                 struct hs_error *err);

#endif
