/* Reads the data for pictures from a run's file: planes and lines of a snapshot, and columns. */
#ifndef HS_OUTPUT_PICTURES_FILE_H
#define HS_OUTPUT_PICTURES_FILE_H

#include "core/grid.h"
#include "core/status.h"

#include <hdf5.h>

struct hs_picture_column {
    char *name, *unit; /* "" if the file names none */
    char *path;        /* of history and probes: "flux/x_min", whose name is "x_min" */
    char *quantity;    /* "flux" */
    int64_t count;
    double *value, *time; /* [count]; time for history and probes only */
};

struct hs_picture_file {
    const char *path;
    int dims;
    struct hs_picture_column axis[HS_AXES]; /* coordinates of the nodes, ascending */
    struct hs_picture_column step;          /* times of the snapshots */
    struct hs_picture_column *column;       /* [columns] that were read */
    int columns;
    char *title, *unit; /* title, "" if there is none; unit of the temperature */
    bool solved;        /* a steady state that was solved directly, without time steps */
    hid_t file;
};

/* HS_IO if the file cannot be read, HS_BAD_INPUT if it is not a run's file. Close it even on
 * failure. A run may still be writing the file. */
enum hs_status hs_picture_open(const char *path, struct hs_picture_file *out, struct hs_error *err);
void hs_picture_close(struct hs_picture_file *file);

/* The position along an axis at which a snapshot is cut. */
struct hs_cut {
    int axis;     /* -1: no cut */
    double at;    /* coordinate */
    int64_t node; /* the one at or before the cut */
    double share; /* 0..1: weight of node + 1; that of node is 1 - share */
};

/* The values of a snapshot on the cut, interpolated linearly along the cut axis, lower axes
 * fastest: [ny][nx] of a 2D file or [points of the other two axes]. `out` has room for two cuts. */
enum hs_status hs_picture_read(const struct hs_picture_file *file, int64_t step,
                               const struct hs_cut *cut, double *out, struct hs_error *err);

/* Reads columns of the history and the probes, without the rows that have no value. `names` are
 * separated by commas: "probes" means all probes, "history" min, mean and max; "probes/max" and
 * "history/max" tell equal names apart. HS_BAD_INPUT for a name that does not exist or exists in
 * both groups, or if units differ. */
enum hs_status hs_picture_read_columns(struct hs_picture_file *file, const char *names,
                                       struct hs_error *err);

#endif
