/*
 * Finds out what exists at a path and whether heatsolve may replace it.
 *
 * heatsolve replaces and removes only files that it wrote itself. It recognises
 *
 *   - HDF5 files by a 96-byte mark after the superblock: the mark is written first and never
 *     changes; files of versions without the mark by their root attributes;
 *   - texts and pictures by their first or last 4096 bytes: .xdmf by a comment "made by heatsolve",
 *     .svg by a comment "Software: heatsolve", .png by the text chunk Software, .pdf by its
 *     Creator, .mp4 and .webm by their comment;
 *   - unfinished parts of these by a mark in place of their first bytes.
 *
 * An empty file may always be replaced: it holds nothing that could be lost.
 */
#ifndef HS_OUTPUT_EXISTING_H
#define HS_OUTPUT_EXISTING_H

#include "core/status.h"

#include <stdbool.h>

enum hs_existing {
    HS_EXISTING_NOTHING,
    HS_EXISTING_EMPTY,
    HS_EXISTING_RUN,        /* the HDF5 file of a run, finished or not */
    HS_EXISTING_CHECKPOINT, /* also HDF5 */
    HS_EXISTING_SIDECAR,    /* .xdmf */
    HS_EXISTING_PICTURE,
    HS_EXISTING_PART,   /* an unfinished text or picture */
    HS_EXISTING_OTHERS, /* a file that heatsolve did not write */
    HS_EXISTING_SPECIAL /* a link (if not followed), directory, pipe or device */
};

/* Reads no more than it needs and never blocks. `follow`: follows links. */
enum hs_existing hs_existing_at(const char *path, bool follow);

/* HS_OK if there is no file at `path`, an empty one, or one of the kind `own`, which may be
 * replaced or removed without asking. Else HS_IO with what the file is and what to do; `elsewhere`
 * says how to choose another file ("write elsewhere with --output FILE"). Follows links. */
enum hs_status hs_existing_check(const char *path, enum hs_existing own, const char *elsewhere,
                                 struct hs_error *err);

/* The same for the part of a file, which may be any kind of heatsolve's, and no link. */
enum hs_status hs_existing_check_part(const char *part, const char *elsewhere,
                                      struct hs_error *err);

/* The same for a file of a run. Its output and its checkpoints may hold hours of work: they are
 * replaced only with `overwrite`. The message says what they hold and what the user can do. */
enum hs_status hs_existing_check_work(const char *path, enum hs_existing own, bool overwrite,
                                      struct hs_error *err);

/* How to choose another file for a run: an `elsewhere`. */
extern const char hs_existing_elsewhere[];

/* Offset and length of the mark of an HDF5 file; it follows the superblock. */
enum { HS_MARK_AT = 96, HS_MARK_BYTES = 96 };

/* The mark that a PART begins with. */
enum { HS_PART_MARK_BYTES = 15 };
extern const char hs_existing_part_mark[];

/* The marks of a RUN and a CHECKPOINT. */
extern const char hs_existing_marks[][HS_MARK_BYTES];

#endif
