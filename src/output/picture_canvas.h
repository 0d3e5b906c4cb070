/* A picture while it is drawn, with Cairo, and its way into a file: PNG, SVG or PDF. It is drawn
 * once, as a list of strokes, and played back as pixels or vectors. Lengths are in pixels. */
#ifndef HS_OUTPUT_PICTURE_CANVAS_H
#define HS_OUTPUT_PICTURE_CANVAS_H

#include "core/status.h"
#include "output/picture_maps.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdio.h>

struct hs_canvas {
    cairo_t *cr;
    int width, height; /* pixels */
};

/* A square, whose height may then be set lower. Warns where the machine has no font. Release it
 * whatever comes. */
enum hs_status hs_canvas_init(struct hs_canvas *canvas, int width, struct hs_error *err);
void hs_canvas_release(struct hs_canvas *canvas);

/* HS_BAD_INPUT unless `path`, which `option` gave, ends in .png, .svg or .pdf. */
enum hs_status hs_canvas_check_name(const char *option, const char *path, struct hs_error *err);

/* Writes a picture as the ending of `path` says, with no date, and with the mark that heatsolve
 * wrote it: PNG in the text chunk Software, SVG in a comment at the end, PDF as Creator.
 * hs_canvas_write makes the folders it needs, writes path.part and renames it, so that `path` is a
 * whole picture or not there; HS_IO where something is there that heatsolve did not draw.
 * hs_canvas_put writes to an open stream. */
enum hs_status hs_canvas_write(const struct hs_canvas *canvas, const char *path,
                               struct hs_error *err);
enum hs_status hs_canvas_put(const struct hs_canvas *canvas, const char *path, FILE *stream,
                             struct hs_error *err);
extern const char hs_canvas_elsewhere[]; /* what to do then, for hs_existing_check */

void hs_canvas_ink(const struct hs_canvas *canvas, struct hs_colour colour);
void hs_canvas_fill(const struct hs_canvas *canvas, double x, double y, double w, double h,
                    struct hs_colour colour);
/* Strokes the path of cr; one that goes nowhere is a dot. */
void hs_canvas_stroke(const struct hs_canvas *canvas, double width, struct hs_colour colour);

/* Sans-serif; `size` is a capital's. `text` is UTF-8. `anchor`: 0 puts its start at (x, y) on the
 * baseline, 0.5 its middle, 1 its end; `turn` in degrees, upwards. */
struct hs_lettering {
    double size;
    struct hs_colour colour;
    bool bold;
    double anchor, turn;
};
void hs_canvas_text(const struct hs_canvas *canvas, struct hs_lettering lettering, double x,
                    double y, const char *text);
double hs_canvas_text_width(const struct hs_canvas *canvas, double size, bool bold,
                            const char *text);

#endif
