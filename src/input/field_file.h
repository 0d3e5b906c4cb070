/* Reads a scalar field from a file: a dataset of HDF5, or NumPy's .npy; its content tells which. */
#ifndef HS_INPUT_FIELD_FILE_H
#define HS_INPUT_FIELD_FILE_H

#include "core/stored.h"

/* What the numbers of a field are for, and its shape. */
struct hs_field_shape {
    const struct hs_grid *grid;
    const char *what; /* "the grid" */
    const char *axes; /* slowest first: "(z, y, x)" */
    const char *fit;  /* how another shape is made to fit: "make grid.points fit" */
};
struct hs_field_shape hs_field_shape_of(const struct hs_grid *grid); /* of the grid itself */

/*
 * Finds dataset `name` (of a .npy file its one array) of file `path`, allocated. Its shape is
 * `shape` (fewer axes in 1D and 2D), or has a leading axis of steps, of which `step` is taken (-1:
 * the last). Else HS_IO if it cannot be read, HS_BAD_INPUT if the shape or type does not fit, and
 * the reason.
 */
enum hs_status hs_field_file_find(const char *path, const char *name, int64_t step,
                                  const struct hs_field_shape *shape, struct hs_stored **out,
                                  struct hs_error *why);

#endif
