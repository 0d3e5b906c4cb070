/* A picture while it is drawn, with Cairo, as pixels or vectors, into a file or a film. Lengths are
 * in units, 1600 of which are the width. */
#ifndef HS_OUTPUT_PICTURES_CANVAS_H
#define HS_OUTPUT_PICTURES_CANVAS_H

#include "output/beside.h"

#include <cairo.h>
#include <stdint.h>

enum { HS_CANVAS_UNITS = 1600 };

/* White paper on a surface, whose owner it becomes, so many pixels wide. */
cairo_t *hs_canvas_on(cairo_surface_t *surface, int width);

/* Colours are 0xRRGGBB. A colour map is perceptually even, and linear between its colours. */
struct hs_colour_map {
    const char *name;
    int count;
    uint32_t colour[17]; /* [count] at even distances */
};
extern const struct hs_colour_map hs_colour_maps[]; /* ends with a NULL name; the default first */
/* place: 0 the first colour, 1 the last; beyond them the same; NaN: grey. */
uint32_t hs_colour_map_at(const struct hs_colour_map *map, double place);

void hs_canvas_ink(cairo_t *cr, uint32_t colour);
void hs_canvas_stroke(cairo_t *cr, double width, uint32_t colour); /* a point is a dot */

/* Sans-serif. A place is the start, middle or end of the text, as `anchor` is 0, 0.5 or 1, and the
 * baseline, middle or top of its capitals, as `drop` is. */
struct hs_lettering {
    double size; /* of a capital */
    uint32_t colour;
    double anchor, drop;
    double turn; /* radians, to the left */
    double room; /* what is wider is made smaller; 0: as wide as it is */
    bool bold;
    uint32_t halo; /* around the letters, with 0xFF before its colour; 0: none */
};
void hs_canvas_text(cairo_t *cr, struct hs_lettering letters, double x, double y, const char *text);
double hs_canvas_width(cairo_t *cr, struct hs_lettering letters, const char *text);

/* What a name ends like. */
enum hs_picture_kind { HS_PNG, HS_SVG, HS_PDF, HS_MP4, HS_WEBM, HS_NO_PICTURE };
enum hs_picture_kind hs_picture_kind_of(const char *path);

/* HS_BAD_INPUT unless `path`, which `option` gave, ends in .png, .svg or .pdf; or, where there may
 * be `films`, as theirs do. */
enum hs_status hs_canvas_check_name(const char *option, const char *path, bool films,
                                    struct hs_error *err);

/* Where a picture goes, or all frames of a film. The file has no date, and the mark that heatsolve
 * wrote it; it is whole or not there, in folders that are made. HS_IO where something is there that
 * heatsolve did not draw. A film is made by ffmpeg: where that is not installed `to` is NULL. */
struct hs_sink {
    struct hs_beside part, frames; /* the file, and a pipe to ffmpeg */
    struct hs_beside *to;          /* which of them is drawn to */
};
enum hs_status hs_sink_open(struct hs_sink *sink, const char *path, int per_second,
                            struct hs_error *err);
cairo_t *hs_sink_page(const struct hs_sink *sink, int width, int height); /* pixels */
/* Ends a page or frame. Warns where the machine has no font. */
enum hs_status hs_sink_add(const struct hs_sink *sink, cairo_t *cr, struct hs_error *err);
enum hs_status hs_sink_close(struct hs_sink *sink, enum hs_status so_far, struct hs_error *err);

extern const char hs_canvas_elsewhere[]; /* what to do then, for hs_existing_check */

#endif
