/*
 * A canvas of 8-bit RGB pixels with anti-aliased strokes, and its way into a PNG file.
 *
 * Pixel (i, j) covers [i, i+1) x [j, j+1), y downwards. Strokes gather in a mask, which takes the
 * larger coverage where they meet, and are put on the canvas together by hs_canvas_ink; so joints
 * and crossings do not show.
 */
#ifndef HS_OUTPUT_PICTURE_CANVAS_H
#define HS_OUTPUT_PICTURE_CANVAS_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_colour {
    uint8_t r, g, b;
};

struct hs_point {
    double x, y; /* pixels */
};

struct hs_rect {
    int x, y, w, h; /* pixels */
};

struct hs_canvas {
    int width, height;
    struct hs_colour *pixels; /* [height][width] */
    float *mask;              /* [height][width], 0..1 */
    struct hs_rect clip;      /* strokes leave no mark outside */
    struct hs_rect inked;     /* where the mask may be other than 0 */
};

/* White, unclipped. */
enum hs_status hs_canvas_create(int width, int height, struct hs_canvas **out,
                                struct hs_error *err);
void hs_canvas_destroy(struct hs_canvas *canvas); /* accepts NULL */

void hs_canvas_fill(struct hs_canvas *canvas, struct hs_rect rect, struct hs_colour colour);
void hs_canvas_set(struct hs_canvas *canvas, int i, int j, struct hs_colour colour);

/* Round joints and ends; one point is a dot. */
void hs_canvas_stroke(struct hs_canvas *canvas, const struct hs_point *points, int64_t count,
                      double width);
/* Triangle, gathered in the mask as strokes are. */
void hs_canvas_triangle(struct hs_canvas *canvas, const struct hs_point corner[3]);
void hs_canvas_ink(struct hs_canvas *canvas, struct hs_colour colour);

/* Writes path.part and renames it, so that `path` is a whole picture or not there. HS_IO where
 * something is there that heatsolve did not draw. */
enum hs_status hs_canvas_write(const struct hs_canvas *canvas, const char *path,
                               struct hs_error *err);
extern const char hs_canvas_elsewhere[]; /* what to do then, for hs_existing_check */

#endif
