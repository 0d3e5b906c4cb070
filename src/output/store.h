/*
 * Writes the bytes of a run's HDF5 file so that the file is consistent at every moment.
 *
 *     [ superblock | mark | chunks ... | contents | chunks ... | contents | ... ]
 *
 * An HDF5 file begins with a superblock of 96 bytes, which gives the location of the root group and
 * the length of the file; everything else is found from there. So nothing that the file's
 * superblock refers to is ever overwritten. New chunks, and after them a new table of contents
 * (every group, dataset header, attribute, chunk index and small array), go to unreferenced bytes.
 * When they are on the disk, one write of the superblock switches to them. It lies within one page,
 * so a signal cannot split it. A process killed at any moment, even while it writes contents,
 * leaves either the old or the new state of the file.
 *
 * The space of superseded contents is reused after a while, so that the file does not grow with the
 * square of the number of snapshots. The delay is for readers that have the live file open.
 *
 * The first state is written to PATH.part, which is renamed once it is complete.
 */
#ifndef HS_OUTPUT_STORE_H
#define HS_OUTPUT_STORE_H

#include "core/contents_sum.h"
#include "core/shared_file.h"
#include "core/status.h"
#include "output/existing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_store;

/* A table of contents at file offset `base`, with the superblock that refers to it. */
struct hs_image {
    int64_t base; /* file offset of bytes[0] */
    unsigned char *bytes;
    size_t used, capacity; /* of bytes */
    int64_t end;           /* of the file, according to the superblock */
    int64_t placed;        /* offset of the next raw data if already in the file, else -1 */
    unsigned char superblock[HS_SUPERBLOCK_BYTES];
};

/* Begin a file of `kind` RUN or CHECKPOINT, or reopen a run's. On failure HS_IO with path, reason
 * and remedy. They fail also while another process writes the file or the part that will replace
 * it, and if the existing file may not be replaced (see hs_existing_check); an earlier run's may be
 * only with `overwrite`. */
enum hs_status hs_store_create(const char *path, enum hs_existing kind, bool overwrite,
                               struct hs_store **out, struct hs_error *err);
enum hs_status hs_store_reopen(const char *path, struct hs_store **out, struct hs_error *err);

/* HS_IO while another run writes the file, or the part that will replace it. */
enum hs_status hs_store_check_writers(const char *path, struct hs_error *err);

/* Chunks go to the space from hs_store_end on, which stays free until hs_store_keep claims it. */
int64_t hs_store_end(const struct hs_store *store);
enum hs_status hs_store_put(struct hs_store *store, const void *data, int64_t bytes, int64_t at,
                            struct hs_error *err);
/* Describes the file to other processes that write to that space. Points into the store. */
void hs_store_share(const struct hs_store *store, struct hs_shared_file *out);
void hs_store_keep(struct hs_store *store, int64_t at, int64_t bytes);

/* Finds space for new contents of about `bytes`, and sets the image's base and end. Returns how
 * many bytes there are from base on (INT64_MAX: no limit). `fresh`: at the end of the file, even if
 * there are gaps. */
int64_t hs_store_free_space(struct hs_store *store, size_t bytes, int fresh,
                            struct hs_image *image);

/* Minimum time [s] between commits of `contents` bytes in a file of `end` bytes, so that superseded
 * contents kept for readers stay small beside the file: see superseded_bytes. */
double hs_store_pause(double contents, double end);

/* Bytes of superseded contents in a file that has reached `end` bytes after `seconds`, if contents
 * grow linearly from `first` to `last` and commits are at least `gap` seconds apart. */
double hs_store_superseded(double first, double last, double end, double gap, double seconds);

/* Writes the contents in `image` and syncs. Nothing after it can fail for lack of space. */
enum hs_status hs_store_write(struct hs_store *store, const struct hs_image *image,
                              struct hs_error *err);

/* Switches to the written contents; the first commit gives the file its name. HS_IO also if
 * somebody has removed, renamed, replaced or changed the file. */
enum hs_status hs_store_commit(struct hs_store *store, const struct hs_image *image,
                               struct hs_error *err);

/* HS_IO if the file does not have its name, or no longer the superblock that was last committed.
 * Commits check this too. */
enum hs_status hs_store_check_intact(const struct hs_store *store, struct hs_error *err);

/* Closes; removes PATH.part if the file never got its name. Accepts NULL. */
void hs_store_destroy(struct hs_store *store);

#endif
