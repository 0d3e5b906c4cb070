/* Reads what pictures need from a run's file, a plane or a line at a time. */
#ifndef HS_OUTPUT_PICTURE_FILE_H
#define HS_OUTPUT_PICTURE_FILE_H

#include "core/grid.h"
#include "core/status.h"

enum { HS_PICTURE_TEXT = 512, HS_PICTURE_UNIT = 32 };

struct hs_picture_axis {
    int64_t points;
    double lower, upper;        /* coordinates of the first and last node */
    char unit[HS_PICTURE_UNIT]; /* "m"; "" if the file names none */
};

struct hs_picture_file {
    const char *path;
    int dims;
    int64_t steps;
    struct hs_picture_axis axis[HS_AXES];
    double *time;                /* [steps], s; owned */
    char title[HS_PICTURE_TEXT]; /* "" if there is none */
    char unit[HS_PICTURE_UNIT];  /* of the temperature */
    struct hs_picture_handles *handles;
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

/*
 * Reads the nodes of a snapshot that lie on the cut, linearly interpolated along the cut axis,
 * lower axes fastest: [ny][nx] of a 2D file or [points of the other two axes]. out: their number
 * of doubles.
 */
enum hs_status hs_picture_read(const struct hs_picture_file *file, int64_t step,
                               const struct hs_cut *cut, double *out, struct hs_error *err);

#endif
