/* Draws a slice of a run's file as a PNG: colour bar, axes with units, title; 1D as a line plot. */
#ifndef HS_OUTPUT_PICTURE_H
#define HS_OUTPUT_PICTURE_H

#include "core/grid.h"
#include "core/status.h"

struct hs_picture_request {
    const char *input;  /* HDF5 file of a run */
    const char *output; /* PNG; with all_steps, a number is put before its ending */
    int64_t step;       /* snapshot; -1: the last */
    bool all_steps;
    int slice_axis;  /* -1: the middle of the last axis (3D) */
    double slice_at; /* m */
    double range[2]; /* colour range; NaN: the data's (over all steps with all_steps) */
    const char *map; /* name of a colour map */
};

enum hs_status hs_picture_draw(const struct hs_picture_request *request, struct hs_error *err);

const char *const *hs_picture_maps(void); /* names, ends with NULL */

#endif
