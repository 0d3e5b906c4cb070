/* Drawing a picture with Cairo, as pixels or vectors, into a file or a film. Lengths are in units;
 * the picture is 1600 units wide. */
#ifndef HS_OUTPUT_PICTURES_CANVAS_H
#define HS_OUTPUT_PICTURES_CANVAS_H

#include "output/beside.h"

#include <cairo.h>
#include <stdint.h>

enum { HS_CANVAS_UNITS = 1600 };

/* A white page `width` pixels wide on a surface, which it then owns. */
cairo_t *hs_canvas_on(cairo_surface_t *surface, int width);

/* Colours are 0xRRGGBB. Colour maps are perceptually uniform, and linear between their colours. */
struct hs_colour_map {
    const char *name;
    int count;
    uint32_t colour[17]; /* [count] equidistant */
};
extern const struct hs_colour_map hs_colour_maps[]; /* ends with a NULL name; the default first */
/* place: 0 the first colour, 1 the last; values beyond are clamped; NaN: grey. */
uint32_t hs_colour_map_at(const struct hs_colour_map *map, double place);

void hs_canvas_ink(cairo_t *cr, uint32_t colour);
void hs_canvas_stroke(cairo_t *cr, double width, uint32_t colour); /* a point is a dot */

/* Sans-serif. The given point is the start, middle or end of the text for `anchor` 0, 0.5 or 1, and
 * the baseline, middle or top of its capitals for `drop` 0, 0.5 or 1. */
struct hs_lettering {
    double size; /* of a capital */
    uint32_t colour;
    double anchor, drop;
    double turn; /* radians, counter-clockwise */
    double room; /* maximum width, wider text is scaled down; 0: no limit */
    bool bold;
    uint32_t halo; /* 0xFFRRGGBB: outline around the letters; 0: none */
};
void hs_canvas_text(cairo_t *cr, struct hs_lettering letters, double x, double y, const char *text);
double hs_canvas_width(cairo_t *cr, struct hs_lettering letters, const char *text);

/* The kind of picture by the ending of its name. */
enum hs_picture_kind { HS_PNG, HS_SVG, HS_PDF, HS_MP4, HS_WEBM, HS_NO_PICTURE };
enum hs_picture_kind hs_picture_kind_of(const char *path);

/* HS_BAD_INPUT unless `path`, given by `option`, ends in .png, .svg or .pdf or, if `films` are
 * allowed, in .mp4 or .webm. */
enum hs_status hs_canvas_check_name(const char *option, const char *path, bool films,
                                    struct hs_error *err);

/* The destination of a picture, or of all frames of a film. The file has no date, and a mark that
 * heatsolve wrote it. It appears only when complete; its folders are made. HS_IO if a file exists
 * that heatsolve did not draw. ffmpeg makes films: `to` is NULL if it is not installed. */
struct hs_sink {
    struct hs_beside part, frames; /* the file, and a pipe to ffmpeg */
    struct hs_beside *to;          /* the one of them that is drawn to */
};
enum hs_status hs_sink_open(struct hs_sink *sink, const char *path, int per_second,
                            struct hs_error *err);
cairo_t *hs_sink_page(const struct hs_sink *sink, int width, int height); /* pixels */
/* Ends a page or frame. Warns if the machine has no font. */
enum hs_status hs_sink_add(const struct hs_sink *sink, cairo_t *cr, struct hs_error *err);
enum hs_status hs_sink_close(struct hs_sink *sink, enum hs_status so_far, struct hs_error *err);

extern const char hs_canvas_elsewhere[]; /* for hs_existing_check: how to choose another file */

#endif
