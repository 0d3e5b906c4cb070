/* Reads what pictures need from a run's file: planes and lines of a snapshot, and columns. */
#ifndef HS_OUTPUT_PICTURE_FILE_H
#define HS_OUTPUT_PICTURE_FILE_H

#include "core/grid.h"
#include "core/status.h"

#include <hdf5.h>

struct hs_picture_axis {
    int64_t points;
    double lower, upper; /* coordinates of the first and last node */
    char *unit;          /* "m"; "" if the file names none */
};

struct hs_picture_file {
    const char *path;
    int dims;
    int64_t steps;
    struct hs_picture_axis axis[HS_AXES];
    double *time; /* [steps], s */
    char *title;  /* "" if there is none */
    char *unit;   /* of the temperature */
    hid_t file, temperature;
};

/* HS_IO where the file cannot be read, HS_BAD_INPUT where it is none of ours. Close it whatever
 * the result. The file may be one that a run is still writing. */
enum hs_status hs_picture_open(const char *path, struct hs_picture_file *out, struct hs_error *err);
void hs_picture_close(struct hs_picture_file *file);

/* What is cut out of a snapshot. */
struct hs_cut {
    int axis;     /* along which, or -1: all nodes */
    double at;    /* coordinate */
    int64_t node; /* at or before it */
    double share; /* 0..1: weight of the node after; the rest is the node's */
};

/* The nodes of a snapshot that lie on the cut, linearly interpolated along the cut axis, lower axes
 * fastest: [ny][nx] of a 2D file or [points of the other two axes]. */
enum hs_status hs_picture_read(const struct hs_picture_file *file, int64_t step,
                               const struct hs_cut *cut, double *out, struct hs_error *err);

/* Columns of the file's history and probes, without the rows that have no value. */
struct hs_picture_column {
    char *name, *unit;
    double *time, *value; /* [rows] */
    int64_t rows;
};
struct hs_picture_columns {
    struct hs_picture_column *column;
    int count;
};

/* `names`: "probes" for all probes, "history" for min, mean and max, or names with commas between
 * them. HS_BAD_INPUT for one that is not there, or where units differ. Release it whatever comes.
 */
enum hs_status hs_picture_read_columns(const struct hs_picture_file *file, const char *names,
                                       struct hs_picture_columns *out, struct hs_error *err);
void hs_picture_columns_release(struct hs_picture_columns *columns);

#endif
