/* Draws the data in a run's file: slices as colour maps, lines, columns of its history, films. */
#ifndef HS_OUTPUT_PICTURES_PICTURE_H
#define HS_OUTPUT_PICTURES_PICTURE_H

#include "output/pictures/canvas.h"
#include "output/pictures/file.h"

enum { HS_PICTURE_LEVELS = 50 };

struct hs_picture {
    struct hs_picture_file file;
    const char *output;  /* numbered pictures add -0000, -0001, ... before the ending */
    int64_t first, last; /* snapshots */
    bool all;            /* all snapshots were asked for */
    struct hs_cut cut;
    double range[2]; /* temperatures; NaN: those of the data (over all steps drawn) */
    const struct hs_colour_map *map;
    int64_t width;                    /* pixels; made even */
    int64_t contours;                 /* approximate number, at round temperatures */
    double levels[HS_PICTURE_LEVELS]; /* or contours at these; drawing fills them in */
    int level_count;
    int64_t per_second; /* frames of a film */
};

/* A range must be wider than this for its ticks to differ in double precision. */
double hs_picture_narrowest(const double range[2]);

/*
 * Draws the field and prints what was drawn where. After the cut, a field with two axes
 * is drawn as a colour map, one with one axis as a line plot. For all snapshots, maps become
 * numbered pictures with one colour range, and lines become curves of one plot, coloured by time;
 * if `output` ends like a film, either becomes a film. HS_IO if reading or writing fails. Warns if
 * the options leave nothing to be seen.
 */
enum hs_status hs_picture_draw(struct hs_picture *picture, struct hs_error *err);

/* Plots columns of the file over time: see hs_picture_read_columns. */
enum hs_status hs_picture_plot(struct hs_picture *picture, const char *names, struct hs_error *err);

#endif
