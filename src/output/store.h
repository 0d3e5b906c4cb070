/*
 * The bytes of a run's HDF5 file, so that it is whole at every moment.
 *
 *     [ superblock | mark | chunks ... | contents | chunks ... | contents | ... ]
 *
 * An HDF5 file begins with a superblock of 96 bytes, which says where the root group is and how
 * long the file is; all else is found from there. So nothing that the superblock in the file leads
 * to is ever written again. New chunks, and after them a new table of contents (every group,
 * dataset header, attribute, chunk index and small array), go to bytes that nothing leads to; when
 * they are on the disk, one write of the superblock switches to them. That is one write within one
 * page, which a signal cannot cut. A process killed at any moment, while it writes contents too,
 * leaves the file of before or the file of after.
 *
 * The space of contents that were superseded a while ago is used again, so that the file does not
 * grow with the square of its snapshots; the while is for readers that have the live file open.
 *
 * The first state is written beside, as PATH.part, and renamed once whole.
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

/* A table of contents that lies at `base`, with the superblock that leads to it. */
struct hs_image {
    int64_t base; /* file offset of bytes[0] */
    unsigned char *bytes;
    size_t used, capacity; /* of bytes */
    int64_t end;           /* of the file, as the superblock says */
    int64_t placed;        /* where the next raw data lies in the file already, or -1 */
    unsigned char superblock[HS_SUPERBLOCK_BYTES];
};

/* Begins a file of this kind, a RUN's or a CHECKPOINT's, or goes on with a run's. HS_IO with path,
 * reason and remedy; so, too, while another process writes the file, or one that will have its
 * name, and where something has the name that may not be replaced (see hs_existing_check), an
 * earlier run's among them unless `overwrite`. */
enum hs_status hs_store_create(const char *path, enum hs_existing kind, bool overwrite,
                               struct hs_store **out, struct hs_error *err);
enum hs_status hs_store_reopen(const char *path, struct hs_store **out, struct hs_error *err);

/* HS_IO while another run writes the file, or one that will have its name. */
enum hs_status hs_store_check_writers(const char *path, struct hs_error *err);

/* Writes to the space that begins at hs_store_end, which is free until it is kept. */
int64_t hs_store_end(const struct hs_store *store);
enum hs_status hs_store_put(struct hs_store *store, const void *data, int64_t bytes, int64_t at,
                            struct hs_error *err);
/* Where what comes behind so many bytes begins. */
int64_t hs_store_behind(int64_t at, int64_t bytes);
/* The file as others see it who write to that space, too. Points into the store. */
void hs_store_share(const struct hs_store *store, struct hs_shared_file *out);
void hs_store_keep(struct hs_store *store, int64_t at, int64_t bytes);

/* Where new contents of about `bytes` may lie: *capacity bytes from *base on (INT64_MAX: as many
 * as it takes). `fresh`: at the end whatever is free. The file's end is *end. */
void hs_store_free_space(struct hs_store *store, size_t bytes, int fresh, int64_t *base,
                         int64_t *capacity, int64_t *end);

/* Seconds from one commit of so many bytes of contents to the next, in a file of `end` bytes, so
 * that those superseded, which wait for their readers, stay few beside it: see superseded_bytes. */
double hs_store_pause(double contents, double end);

/* Bytes of superseded contents in a file that is `end` long after `seconds`, where contents grow
 * evenly from `first` to `last` and commits are `gap` seconds apart or more. */
double hs_store_superseded(double first, double last, double end, double gap, double seconds);

/* Writes the contents in `image` and syncs; all that can fail for want of space is done then. */
enum hs_status hs_store_write(struct hs_store *store, const struct hs_image *image,
                              struct hs_error *err);

/* Switches to contents that were written; on the first time the file gets its name. HS_IO, too,
 * where somebody has removed, renamed, replaced or changed the file since. */
enum hs_status hs_store_commit(struct hs_store *store, const struct hs_image *image,
                               struct hs_error *err);

/* Of a file that has its name: HS_IO where it no longer holds what was last made visible in it, or
 * is no longer there. Commits check it too. */
enum hs_status hs_store_check_intact(struct hs_store *store, struct hs_error *err);

/* Whether the file has its name and holds what was last made visible in it. */
bool hs_store_is_intact(const struct hs_store *store);

/* Closes; removes PATH.part if the file never got its name. Accepts NULL. */
void hs_store_destroy(struct hs_store *store);

#endif
