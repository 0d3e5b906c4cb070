/* Draws what a run's file holds: slices as coloured maps, lines, columns of its history, films. */
#ifndef HS_OUTPUT_PICTURE_H
#define HS_OUTPUT_PICTURE_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    HS_PICTURE_WIDTH = 1600,
    HS_PICTURE_WIDTH_LEAST = 400,
    HS_PICTURE_WIDTH_MOST = 10000,
    HS_PICTURE_LEVELS = 50,
    HS_PICTURE_STEP_LAST = -1,
    HS_PICTURE_STEP_ALL = -2,
};

/*
 * What remains of the field after the slice is drawn: two axes as a coloured map, one as a line
 * plot. With all steps, maps become numbered pictures with one colour range, and lines become
 * curves of one plot, coloured by time; of both a film is made where `output` ends like one.
 */
struct hs_picture_request {
    const char *input;                /* HDF5 file of a run */
    const char *output;               /* numbered pictures get -0000 and on before the ending */
    const char *plot;                 /* columns to draw instead of the field; NULL: none */
    int64_t step;                     /* snapshot, 0 the first */
    double time;                      /* or the snapshot nearest to this; NaN: as `step` says */
    int slice_axis;                   /* -1: z in 3D, nothing is cut in 1D and 2D */
    double slice_at;                  /* m; NaN: the middle */
    double range[2];                  /* temperatures; NaN: the data's (over all steps drawn) */
    const char *map;                  /* name of a colour map; NULL: the first */
    int width;                        /* pixels; made even */
    int contours;                     /* about so many, at round temperatures */
    double levels[HS_PICTURE_LEVELS]; /* or at these */
    int level_count;
    int per_second; /* frames of a film */
};

/* Says on `out` what was drawn where. HS_BAD_INPUT for a request that the file cannot answer, HS_IO
 * where reading or writing fails. What leaves nothing to be seen is drawn with a warning. */
enum hs_status hs_picture_draw(const struct hs_picture_request *request, FILE *out,
                               struct hs_error *err);

/* What a range must be wider than for its ticks to differ in double precision. */
double hs_picture_narrowest(const double range[2]);

#endif
