/* Draws a slice of a run's file as a PNG: colour bar, axes with units, title; lines as a plot. */
#ifndef HS_OUTPUT_PICTURE_H
#define HS_OUTPUT_PICTURE_H

#include "core/grid.h"
#include "core/status.h"

enum { HS_PICTURE_WIDTH = 1600, HS_PICTURE_WIDTH_LEAST = 400, HS_PICTURE_WIDTH_MOST = 10000 };

/*
 * What remains of the field after the slice is drawn: two axes as a coloured map, one as a line
 * plot. With all_steps, maps become numbered pictures with one colour range, and lines become
 * curves of one plot, coloured by time.
 */
struct hs_picture_request {
    const char *input;  /* HDF5 file of a run */
    const char *output; /* PNG; numbered pictures get -0000 and on before the ending */
    int64_t step;       /* snapshot, 0 the first; -1: the last */
    bool all_steps;
    int slice_axis;  /* -1: z in 3D, nothing is cut in 1D and 2D */
    double slice_at; /* m; NaN: the middle */
    double range[2]; /* temperatures; NaN: the data's (over all steps with all_steps) */
    const char *map; /* name of a colour map; NULL: inferno */
    int width;       /* pixels; 0: HS_PICTURE_WIDTH */
};

/* HS_BAD_INPUT for a request that the file cannot answer, HS_IO where reading or writing fails. A
 * range outside all data is drawn, and a message added that says so. */
enum hs_status hs_picture_draw(const struct hs_picture_request *request, struct hs_error *err);

#endif
