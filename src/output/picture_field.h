/* A field on a chart: colours between its nodes, and lines of equal temperature over them. */
#ifndef HS_OUTPUT_PICTURE_FIELD_H
#define HS_OUTPUT_PICTURE_FIELD_H

#include "output/picture_chart.h"

struct hs_field {
    const double *values; /* [points[1]][points[0]]: across, and up */
    int64_t points[2];
};

/* Bilinear between nodes, in the colours of the chart's bar; nodes that are not finite are grey out
 * to half-way to their neighbours. Where nodes are denser than pixels, a pixel has their mean. */
enum hs_status hs_field_draw(const struct hs_chart *chart, const struct hs_field *field,
                             struct hs_error *err);

/* Lines at `levels`, each with its number on it. */
enum hs_status hs_field_contours(const struct hs_chart *chart, const struct hs_field *field,
                                 const double *levels, int count, struct hs_error *err);

#endif
