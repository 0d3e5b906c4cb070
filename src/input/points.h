/* Grid sizes from the command line. */
#ifndef HS_INPUT_POINTS_H
#define HS_INPUT_POINTS_H

#include "core/grid.h"
#include "core/status.h"

/* Reads an option's value of up to three counts of at least 1, "8,8,8" or "8x8x8". Returns how
 * many; on error -1, with a message that contains the option and the remedy. */
int hs_points_counts(const char *option, const char *text, const char *remedy,
                     int64_t numbers[HS_AXES], struct hs_error *err);

/*
 * Reads --points: "512,384,256" or "512x384x256", nodes along x, y, z; a single number is for every
 * axis. `given_dims` is the value of --dims, 0 if not given: then the number of axes is that of the
 * numbers, or three for a single number. Fills *dims and `points`, 1 along axes that are not there.
 * HS_BAD_INPUT with a message that begins with the command's name.
 */
enum hs_status hs_points_read(const char *command, const char *text, int64_t given_dims, int *dims,
                              int64_t points[HS_AXES], struct hs_error *err);

#endif
