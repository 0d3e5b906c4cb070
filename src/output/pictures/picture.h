/* Draws what a run's file holds: slices as coloured maps, lines, columns of its history, films. */
#ifndef HS_OUTPUT_PICTURES_PICTURE_H
#define HS_OUTPUT_PICTURES_PICTURE_H

#include "output/pictures/canvas.h"
#include "output/pictures/file.h"

#include <stdio.h>

enum { HS_PICTURE_LEVELS = 50 };

struct hs_picture {
    struct hs_picture_file file;
    const char *output;  /* numbered pictures get -0000 and on before the ending */
    int64_t first, last; /* snapshots */
    bool all;            /* as they are all of them */
    struct hs_cut cut;
    double range[2]; /* temperatures; NaN: the data's (over all steps drawn) */
    const struct hs_colour_map *map;
    int64_t width;                    /* pixels; made even */
    int64_t contours;                 /* about so many, at round temperatures */
    double levels[HS_PICTURE_LEVELS]; /* or at these */
    int level_count;
    int64_t per_second; /* frames of a film */
};

/* What a range must be wider than for its ticks to differ in double precision. */
double hs_picture_narrowest(const double range[2]);

/*
 * Draws the field, and says on `out` what was drawn where. What remains of the field after the cut:
 * two axes as a coloured map, one as a line plot. Of all snapshots maps become numbered pictures
 * with one colour range, and lines curves of one plot, coloured by time; of both a film is made
 * where `output` ends like one. HS_IO where reading or writing fails. What leaves nothing to be
 * seen is drawn with a warning.
 */
enum hs_status hs_picture_draw(const struct hs_picture *picture, FILE *out, struct hs_error *err);

/* Draws the file's columns, which `names` asked for, over time. */
enum hs_status hs_picture_plot(const struct hs_picture *picture, const char *names, FILE *out,
                               struct hs_error *err);

#endif
