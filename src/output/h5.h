/*
 * Groups, small datasets and attributes in few words. The first failure is remembered and the calls
 * after it do nothing, so that a writer checks once, at its end.
 */
#ifndef HS_OUTPUT_H5_H
#define HS_OUTPUT_H5_H

#include "core/contents_sum.h"

#include <hdf5.h>
#include <stdint.h>

struct hs_h5 {
    const char *failed; /* what could not be made or read; NULL while all is well */
};

/* Passes an id or herr_t on; a negative one is the failure of `what`. */
hid_t hs_h5_made(struct hs_h5 *h5, hid_t id, const char *what);

/* HDF5 prints no error stacks of its own; call before anything else. */
void hs_h5_quiet(void);

hid_t hs_h5_group(struct hs_h5 *h5, hid_t at, const char *name);

/* Of a dataset: doubles, 64-bit integers that can grow, as their dimension may; doubles of which
 * there are no more. */
enum hs_h5_kind { HS_H5_GROWS, HS_H5_WHOLE, HS_H5_FIXED };

/* `values` [rows] as dataset `name`, whose groups are made; the caller closes it. */
hid_t hs_h5_column(struct hs_h5 *h5, hid_t at, const char *name, int64_t rows, const double *values,
                   enum hs_h5_kind kind);

void hs_h5_text(struct hs_h5 *h5, hid_t at, const char *name, const char *text);
void hs_h5_number(struct hs_h5 *h5, hid_t at, const char *name, double value);
void hs_h5_whole(struct hs_h5 *h5, hid_t at, const char *name, int64_t value);
void hs_h5_array(struct hs_h5 *h5, hid_t at, const char *name, hid_t memory, hid_t type,
                 int64_t count, const void *values);

/* Opens a file for reading that somebody may have open; negative on failure. */
hid_t hs_h5_open_unlocked(const char *path);

/* The same of a file of ours, which a run may be writing. Its contents are checked first, and where
 * their checksum is wrong nothing is opened; *sum is FITS or NONE where something is. */
hid_t hs_h5_open(struct hs_h5 *h5, const char *path, enum hs_contents_sum *sum);

/* Scalar attributes of `file`; 0 or NULL on failure. A text is allocated. */
int64_t hs_h5_read_whole(struct hs_h5 *h5, hid_t file, const char *name);
double hs_h5_read_number(struct hs_h5 *h5, hid_t file, const char *name);
char *hs_h5_read_text(struct hs_h5 *h5, hid_t file, const char *name);

/* A dataset of one axis as doubles, allocated; *rows is its length. NULL on failure. */
double *hs_h5_read_column(struct hs_h5 *h5, hid_t at, const char *name, int64_t *rows);

/* Reads `count` values from `first` on along each of the `rank` axes of a dataset. */
void hs_h5_read_block(struct hs_h5 *h5, hid_t at, const char *name, int rank, const hsize_t *first,
                      const hsize_t *count, hid_t type, void *out);

void hs_h5_close(hid_t id); /* of any kind; nothing for a negative one */

#endif
