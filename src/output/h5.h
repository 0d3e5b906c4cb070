/*
 * Short calls for HDF5 groups, small datasets and attributes. After a first failure, which is
 * remembered, further calls do nothing, so a writer checks once, at its end.
 */
#ifndef HS_OUTPUT_H5_H
#define HS_OUTPUT_H5_H

#include "core/contents_sum.h"
#include "core/grid.h"

#include <hdf5.h>
#include <stdint.h>

struct hs_h5 {
    const char *failed; /* what could not be made or read; NULL: no failure */
};

/* Returns `id` (or a herr_t); a negative one is recorded as the failure of `what`. */
hid_t hs_h5_made(struct hs_h5 *h5, hid_t id, const char *what);

/* Stops HDF5 from printing error stacks in this thread. Opening a file does this too. */
void hs_h5_quiet(void);

hid_t hs_h5_group(struct hs_h5 *h5, hid_t at, const char *name);

/* Of a dataset: extendible doubles, extendible 64-bit integers, doubles of fixed length. */
enum hs_h5_kind { HS_H5_GROWS, HS_H5_WHOLE, HS_H5_FIXED };

/* Writes `values` [rows] as dataset `name`, creating its groups; the caller closes it. */
hid_t hs_h5_column(struct hs_h5 *h5, hid_t at, const char *name, int64_t rows, const double *values,
                   enum hs_h5_kind kind);

void hs_h5_text(struct hs_h5 *h5, hid_t at, const char *name, const char *text);
void hs_h5_number(struct hs_h5 *h5, hid_t at, const char *name, double value);
void hs_h5_whole(struct hs_h5 *h5, hid_t at, const char *name, int64_t value);
void hs_h5_numbers(struct hs_h5 *h5, hid_t at, const char *name, int64_t count,
                   const double *values);
void hs_h5_array(struct hs_h5 *h5, hid_t at, const char *name, hid_t memory, hid_t type,
                 int64_t count, const void *values);

/* The coordinates of a grid's nodes along an axis, as a column of fixed length. */
hid_t hs_h5_axis(struct hs_h5 *h5, hid_t at, const char *name, const struct hs_grid *grid,
                 int axis);

/* Opens a file for reading that another process may have open; negative on failure. */
hid_t hs_h5_open_unlocked(const char *path);

/* The same for a heatsolve file, which a run may be writing. Verifies the checksum of its contents
 * first and opens nothing if it is wrong; *sum is FITS or NONE if the file was opened. */
hid_t hs_h5_open(struct hs_h5 *h5, const char *path, enum hs_contents_sum *sum);

/* Read a scalar attribute of `file`; 0 or NULL on failure. A text is allocated. */
int64_t hs_h5_read_whole(struct hs_h5 *h5, hid_t file, const char *name);
double hs_h5_read_number(struct hs_h5 *h5, hid_t file, const char *name);
char *hs_h5_read_text(struct hs_h5 *h5, hid_t file, const char *name);

/* Reads a one-dimensional dataset as doubles, allocated; *rows is its length. NULL on failure. */
double *hs_h5_read_column(struct hs_h5 *h5, hid_t at, const char *name, int64_t *rows);

/* Reads a block of a dataset: `count` values from `first` on along each of its `rank` axes. */
void hs_h5_read_block(struct hs_h5 *h5, hid_t at, const char *name, int rank, const hsize_t *first,
                      const hsize_t *count, hid_t type, void *out);

void hs_h5_close(hid_t id); /* of any kind; ignores a negative id */

#endif
