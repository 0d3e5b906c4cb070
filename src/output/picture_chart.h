/* What all pictures have: heading, a plot with two axes, a colour bar or names at its right. */
#ifndef HS_OUTPUT_PICTURE_CHART_H
#define HS_OUTPUT_PICTURE_CHART_H

#include "output/picture_canvas.h"
#include "output/picture_ticks.h"

#include <stdint.h>

struct hs_scale {
    const char *what; /* "x", "temperature"; NULL: there is no such scale */
    double from, to;  /* from < to; both above 0 where it is logarithmic */
    bool log;
    struct hs_shown_unit unit;
    struct hs_ticks ticks; /* of values / unit.factor; made by hs_chart_begin */
};

struct hs_chart_name { /* of a point, at the plot's right, with a thin line that leads to it */
    double x, y;       /* values */
    const char *text;
    struct hs_colour colour;
};

struct hs_area {
    double x, y, w, h; /* pixels */
};

/* Lengths that are no values are in pixels of a picture 1600 wide, times `u`. */
struct hs_chart {
    int width; /* of the picture; its height follows */
    const char *title, *subtitle;
    double ratio; /* width to height of the plot; 0: as there is room */
    bool grid;
    struct hs_scale x, y, bar;       /* below, left, right */
    const struct hs_colour_map *map; /* of the bar */
    double colours;                  /* share of the map that the bar has */
    bool beyond[2];                  /* whether there are values below and above the bar */
    struct hs_chart_name *names;     /* [name_count]; sorted by hs_chart_begin */
    int name_count;
    double names_room; /* at least, at u = 1 */

    double u; /* these are made by hs_chart_begin */
    struct hs_canvas canvas;
    struct hs_area plot;
};

extern const struct hs_colour hs_ink, hs_soft, hs_blue; /* for text, for lesser text, for a curve */
enum { HS_NAME_SIZE = 15, HS_NAME_GAP = 28 };           /* at u = 1 */

/* Begins with the layout, the heading and the grid; ends with frame, axes, bar and names. Release
 * the canvas whatever comes. */
enum hs_status hs_chart_begin(struct hs_chart *chart, struct hs_error *err);
void hs_chart_end(struct hs_chart *chart);

/* Pixels of values; what lies far outside is brought near. */
double hs_chart_x(const struct hs_chart *chart, double value);
double hs_chart_y(const struct hs_chart *chart, double value);

void hs_chart_clip(const struct hs_chart *chart); /* to the plot, until cairo_reset_clip */

/* A line through the points that have finite values; `breaks` interrupts it at the others. */
void hs_chart_curve(const struct hs_chart *chart, const double *x, const double *y, int64_t count,
                    bool breaks, struct hs_colour colour);

#endif
