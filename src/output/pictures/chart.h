/* What all pictures have: heading, a plot with two axes, a colour bar or names at its right; in it
 * a field with contours, and curves. */
#ifndef HS_OUTPUT_PICTURES_CHART_H
#define HS_OUTPUT_PICTURES_CHART_H

#include "output/pictures/canvas.h"
#include "output/pictures/scale.h"

/* Text, lesser text, a curve, outlines of parts. */
enum { HS_INK = 0x262A30, HS_SOFT = 0x5F646C, HS_BLUE = 0x1F5AA0, HS_PART = 0xB8BEC8 };

/* A line through points, interrupted where y is not finite; of one point a dot. */
struct hs_curve {
    const double *x, *y; /* [count] */
    int64_t count;
    uint32_t colour;
    const char *name, *label; /* of its last point, at the right of the plot; along it; or NULL */
    bool dots;                /* at its points, too */
};

struct hs_area {
    double x, y, w, h; /* whole pixels, y downwards */
};

struct hs_chart {
    int width; /* pixels; the height follows */
    const char *title, *subtitle;
    struct hs_scale x, y, bar;       /* below, left, right */
    const struct hs_colour_map *map; /* of the bar */
    double colours;                  /* share of the map that the bar has */
    bool beyond[2];                  /* whether there are values below and above the bar */
    const double *field; /* [points[1]][points[0]], across and up; NULL: a grid instead */
    int64_t points[2];
    const double *place[2]; /* of the nodes, ascending */
    double ratio;           /* with a field: width to height of the plot */
    const double *levels;   /* of contours */
    int level_count;
    /* Number of the part that a place belongs to, 0 to 1 across and up; parts are outlined. NULL:
     * there are none. */
    int (*part)(const void *self, double across, double up);
    const void *self;
    struct hs_curve *curves; /* sorted by their last points where they have names */
    int count;

    cairo_t *cr; /* while it is drawn: what on, and where */
    struct hs_area plot;
};

/* As a page of a sink, or into a file of its own. */
enum hs_status hs_chart_draw(struct hs_chart *chart, const struct hs_sink *sink,
                             struct hs_error *err);
enum hs_status hs_chart_write(struct hs_chart *chart, const char *path, struct hs_error *err);

/* Below each other, of one width. */
enum hs_status hs_charts_write(struct hs_chart *charts, int count, const char *path,
                               struct hs_error *err);

/* Where a share of an axis, 0 across or 1 up, lies in the field's nodes: 2.5 is half-way between
 * the third and the fourth. */
double hs_chart_node(const struct hs_chart *chart, int axis, double share);

uint32_t hs_chart_colour(const struct hs_chart *chart, double value); /* by the bar */

/* The part of it that draws the field, bilinear between nodes, and contours with their numbers on
 * them. Nodes that are not finite are grey out to half-way to their neighbours. Where nodes are
 * denser than pixels, a pixel has their mean. */
void hs_chart_draw_field(const struct hs_chart *chart);

#endif
