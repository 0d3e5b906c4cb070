/*
 * What is there at a path already, and whether heatsolve may take its place.
 *
 * heatsolve replaces and removes files that it wrote itself, and no others. It knows its own
 *
 *   - HDF5 files by a mark of 96 bytes behind the superblock, which is the first that is written
 *     and stays; those of versions before the mark by their root attributes;
 *   - texts and pictures by what their first or last 4096 bytes say: .xdmf in a comment "made by
 *     heatsolve", .svg in a comment "Software: heatsolve", .png in the text chunk Software, .pdf as
 *     its Creator, .mp4 and .webm in their comment;
 *   - parts of these, which have the mark of parts in the place of their first bytes.
 *
 * An empty file is nobody's: there is nothing to be lost.
 */
#ifndef HS_OUTPUT_EXISTING_H
#define HS_OUTPUT_EXISTING_H

#include "core/status.h"

#include <stdbool.h>

enum hs_existing {
    HS_EXISTING_NOTHING,
    HS_EXISTING_EMPTY,
    HS_EXISTING_RUN,        /* the HDF5 file of a run, finished or not */
    HS_EXISTING_CHECKPOINT, /* HDF5, too */
    HS_EXISTING_SIDECAR,    /* .xdmf */
    HS_EXISTING_PICTURE,
    HS_EXISTING_PART,   /* of a text or picture that was cut off */
    HS_EXISTING_OTHERS, /* a file that heatsolve did not write */
    HS_EXISTING_SPECIAL /* a link (where it is not followed), directory, pipe or device */
};

/* Reads no more than it needs; never waits. `follow`: of a link, what it leads to. */
enum hs_existing hs_existing_at(const char *path, bool follow);

/* HS_OK where `path` has nothing, or an empty file, or one of the kind `own`, which may be replaced
 * or removed without a question. Else HS_IO with what it is and what to do; `elsewhere`: how to
 * name another file ("write elsewhere with --output FILE"). */
enum hs_status hs_existing_check(const char *path, enum hs_existing own, bool follow,
                                 const char *elsewhere, struct hs_error *err);

/* The same for the file of a run, which holds hours of work: with `overwrite` only. The message
 * tells its title, snapshots, where it ended, and the ways to go on. */
enum hs_status hs_existing_check_run(const char *path, bool overwrite, struct hs_error *err);

/* HS_IO with the state that a checkpoint holds, and the ways to go on. */
enum hs_status hs_existing_refuse_checkpoint(const char *path, struct hs_error *err);

/* How the file of a run is named another. */
extern const char hs_existing_elsewhere[];

/* Of an HDF5 file: so many bytes from this place on, next to the superblock. */
enum { HS_MARK_AT = 96, HS_MARK_BYTES = 96 };

/* What a PART begins with. */
enum { HS_PART_MARK_BYTES = 15 };
extern const char hs_existing_part_mark[];

/* The mark of a RUN or CHECKPOINT. */
const char *hs_existing_mark(enum hs_existing kind);

#endif
