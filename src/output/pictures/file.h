/* Reads what pictures need from a run's file: planes and lines of a snapshot, and columns. */
#ifndef HS_OUTPUT_PICTURES_FILE_H
#define HS_OUTPUT_PICTURES_FILE_H

#include "core/grid.h"
#include "core/status.h"

#include <hdf5.h>

struct hs_picture_column {
    char *name, *unit; /* "" if the file names none */
    int64_t count;
    double *value, *time; /* [count]; time of history and probes only */
};

struct hs_picture_file {
    const char *path;
    int dims;
    struct hs_picture_column axis[HS_AXES]; /* coordinates of the nodes, ascending */
    struct hs_picture_column step;          /* times of the snapshots */
    struct hs_picture_column *column;       /* [columns] that were read */
    int columns;
    char *title, *unit; /* "" if there is none; of the temperature */
    bool solved;        /* for the steady state, which goes through no time */
    hid_t file;
};

/* HS_IO where the file cannot be read, HS_BAD_INPUT where it is none of ours. Close it whatever
 * the result. The file may be one that a run is still writing. */
enum hs_status hs_picture_open(const char *path, struct hs_picture_file *out, struct hs_error *err);
void hs_picture_close(struct hs_picture_file *file);

/* A place along an axis, where a snapshot is cut. */
struct hs_cut {
    int axis;     /* -1: it is not cut */
    double at;    /* coordinate */
    int64_t node; /* at or before it */
    double share; /* 0..1: weight of the node after; the rest is the node's */
};

/* The nodes of a snapshot that lie on the cut, linearly interpolated along the cut axis, lower axes
 * fastest: [ny][nx] of a 2D file or [points of the other two axes]. `out` has room for two cuts. */
enum hs_status hs_picture_read(const struct hs_picture_file *file, int64_t step,
                               const struct hs_cut *cut, double *out, struct hs_error *err);

/* Columns of the history and the probes, without the rows that have no value: names with commas
 * between them, "probes" for all probes, "history" for min, mean and max; "probes/max" and
 * "history/max" where both have one. HS_BAD_INPUT for one that is not there, or in both, or where
 * units differ. */
enum hs_status hs_picture_read_columns(struct hs_picture_file *file, const char *names,
                                       struct hs_error *err);

#endif
