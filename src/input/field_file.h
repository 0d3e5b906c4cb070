/* Reads a scalar field from a file: a dataset of HDF5, or NumPy's .npy; its content tells which. */
#ifndef HS_INPUT_FIELD_FILE_H
#define HS_INPUT_FIELD_FILE_H

#include "core/grid.h"
#include "core/status.h"

/*
 * Reads dataset `name` (of a .npy file its one array) of file `path` into *out, allocated,
 * [nz][ny][nx]. Its shape is the grid's (fewer axes in 1D and 2D), or has a leading axis of steps,
 * of which `step` is taken (-1: the last). Else HS_IO if it cannot be read, HS_BAD_INPUT if the
 * shape or type does not fit, and the reason.
 */
enum hs_status hs_field_file_read(const char *path, const char *name, int64_t step,
                                  const struct hs_grid *grid, double **out, struct hs_error *why);

#endif
