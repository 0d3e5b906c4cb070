/* Reads a scalar field from an HDF5 dataset or a NumPy .npy file; the content determines which. */
#ifndef HS_INPUT_FIELD_FILE_H
#define HS_INPUT_FIELD_FILE_H

#include "core/stored.h"

/* The shape that a field must have, and texts for messages. */
struct hs_field_shape {
    const struct hs_grid *grid;
    const char *what;                   /* "the grid" */
    const char *axes;                   /* slowest first: "(z, y, x)" */
    const char *fit;                    /* remedy for another shape: "make grid.points fit" */
    const struct hs_field_shape *other; /* of as many axes, which will do as well; NULL: none */
};
struct hs_field_shape hs_field_shape_of(const struct hs_grid *grid); /* for the grid itself */

/*
 * Finds dataset `name` (or the one array of a .npy file) in file `path`; *out is allocated. Its
 * shape must be `shape` (fewer axes in 1D and 2D), possibly with a leading axis of steps, of which
 * `step` is taken (-1: the last). Returns HS_IO if it cannot be read, HS_BAD_INPUT if shape or type
 * do not fit, with the reason in `why`.
 */
enum hs_status hs_field_file_find(const char *path, const char *name, int64_t step,
                                  const struct hs_field_shape *shape, struct hs_stored **out,
                                  struct hs_error *why);

/*
 * The first node along an axis that lies elsewhere in the file, by more than a hundredth of the
 * axis' smallest cell; *there [m] is where. -1: none, or the file does not say: its coordinates are
 * the dataset x, y or z beside the field, as a run writes them.
 */
int64_t hs_field_file_misplaced(const struct hs_stored *stored, const struct hs_grid *grid,
                                int axis, double *there);

/* The time [s] of the field, by the dataset "time" beside it, as a run writes it; NaN: the file
 * does not say, or the field has no axis of steps. */
double hs_field_file_time(const struct hs_stored *stored);

/* The dataset's attribute "units", as a run and netCDF write it; allocated. NULL: it has none. */
char *hs_field_file_unit(const struct hs_stored *stored);

#endif
