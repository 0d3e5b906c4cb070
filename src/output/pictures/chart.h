/* The common layout of all pictures: a heading, a plot with two axes, and a colour bar or names to
 * its right. The plot shows a field with contours, curves, or both. */
#ifndef HS_OUTPUT_PICTURES_CHART_H
#define HS_OUTPUT_PICTURES_CHART_H

#include "output/pictures/canvas.h"
#include "output/pictures/scale.h"

/* Text, lesser text, a curve, outlines of parts. */
enum { HS_INK = 0x262A30, HS_SOFT = 0x5F646C, HS_BLUE = 0x1F5AA0, HS_PART = 0xB8BEC8 };

/* A line through points, interrupted where y is not finite; a single point is a dot. */
struct hs_curve {
    const double *x, *y; /* [count] */
    int64_t count;
    uint32_t colour;
    const char *name, *label; /* at its last point, right of the plot; along the curve; or NULL */
    bool dots;                /* also at its points */
};

struct hs_chart {
    int width, height; /* pixels; the height is set while drawing */
    const char *title, *subtitle;
    struct hs_scale x, y, bar;       /* below, left, right */
    const struct hs_colour_map *map; /* of the bar */
    double colours;                  /* share of the map that the bar uses */
    bool beyond[2];                  /* whether there are values below and above the bar */
    const double *field; /* [points[1]][points[0]], up and across; NULL: grid lines instead */
    int64_t points[2];
    const double *place[2]; /* of the nodes, ascending */
    double ratio;           /* with a field: width to height of the plot */
    const double *levels;   /* of contours */
    int level_count;
    /* Number of the part at a position, 0 to 1 across and up. Parts are outlined; without a field
     * lines stand where they meet across the plot. NULL: no parts. */
    int (*part)(const void *self, double across, double up);
    const void *self;
    struct hs_curve *curves; /* drawing sorts them by their last points if they have names */
    int count;

    cairo_t *cr;            /* set while drawing, as is `plot` */
    cairo_rectangle_t plot; /* in whole pixels, y downwards */
};

/* Draw charts of equal width one below the other: a page of a sink, or a file. */
enum hs_status hs_charts_draw(struct hs_chart *charts, int count, const struct hs_sink *sink,
                              struct hs_error *err);
enum hs_status hs_charts_write(struct hs_chart *charts, int count, const char *path,
                               struct hs_error *err);

/* Converts a share of an axis (0: across, 1: up) to a position in the field's nodes: 2.5 is
 * half-way between the third and the fourth. */
double hs_chart_node(const struct hs_chart *chart, int axis, double share);

uint32_t hs_chart_colour(const struct hs_chart *chart, double value); /* by the bar */

/* Draws the field, bilinear between nodes, with outlines of parts and labelled contours. Nodes that
 * are not finite are grey half-way to their neighbours. Where nodes are denser than pixels, a pixel
 * shows their mean. */
void hs_chart_draw_field(const struct hs_chart *chart);

#endif
