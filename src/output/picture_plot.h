/* Lays out and draws one picture: a coloured map with its bar, or curves. */
#ifndef HS_OUTPUT_PICTURE_PLOT_H
#define HS_OUTPUT_PICTURE_PLOT_H

#include "output/picture_file.h"
#include "output/picture_maps.h"

/* What all kinds of picture have. */
struct hs_scene {
    int width; /* pixels; the height follows */
    const char *title;
    char subtitle[256];
    struct hs_picture_axis axis[2]; /* across and, in maps, up */
    char axis_name[2];
    const char *unit; /* of the temperature; "" if unknown */
    double range[2];  /* of the colours, or of the curves' axis; lower < upper */
    bool beyond[2];   /* whether there are values below and above the range */
    const struct hs_colour_map *map;
};

/* values: [axis[1].points][axis[0].points], the nodes; between them bilinear, NaN nodes in grey
 * out to half-way to their neighbours. Where nodes are denser than pixels, a pixel has their mean.
 */
enum hs_status hs_plot_map(const struct hs_scene *scene, const double *values,
                           struct hs_canvas **out, struct hs_error *err);

/* values: [count][axis[0].points]; time: [count], s. One curve is blue; more take the map's
 * colours by time, with a bar. NaN nodes interrupt a curve; a single curve has grey bands there. */
enum hs_status hs_plot_curves(const struct hs_scene *scene, const double *values,
                              const double *time, int64_t count, struct hs_canvas **out,
                              struct hs_error *err);

#endif
