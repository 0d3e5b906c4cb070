/* Canvas: see the header. */
#include "output/picture_canvas.h"

#include "output/beside.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum hs_status hs_canvas_create(int width, int height, struct hs_canvas **out, struct hs_error *err)
{
    const size_t count = (size_t)width * (size_t)height;
    struct hs_canvas *canvas = calloc(1, sizeof *canvas);
    if (canvas) {
        canvas->pixels = malloc(count * sizeof *canvas->pixels);
        canvas->mask = calloc(count, sizeof *canvas->mask);
    }
    if (!canvas || !canvas->pixels || !canvas->mask) {
        hs_canvas_destroy(canvas);
        return hs_error_add(err, HS_DEVICE, "no memory for a picture of %d x %d pixels", width,
                            height);
    }
    memset(canvas->pixels, 255, count * sizeof *canvas->pixels);
    canvas->width = width;
    canvas->height = height;
    canvas->clip = (struct hs_rect){0, 0, width, height};
    *out = canvas;
    return HS_OK;
}

void hs_canvas_destroy(struct hs_canvas *canvas)
{
    if (!canvas)
        return;
    free(canvas->pixels);
    free(canvas->mask);
    free(canvas);
}

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

static int greater(int a, int b)
{
    return a > b ? a : b;
}

static struct hs_rect overlap(struct hs_rect a, struct hs_rect b)
{
    const int x = greater(a.x, b.x), y = greater(a.y, b.y);
    const int w = lesser(a.x + a.w, b.x + b.w) - x, h = lesser(a.y + a.h, b.y + b.h) - y;
    return (struct hs_rect){x, y, greater(w, 0), greater(h, 0)};
}

static struct hs_rect whole(const struct hs_canvas *canvas)
{
    return (struct hs_rect){0, 0, canvas->width, canvas->height};
}

void hs_canvas_set(struct hs_canvas *canvas, int i, int j, struct hs_colour colour)
{
    canvas->pixels[(size_t)j * (size_t)canvas->width + (size_t)i] = colour;
}

void hs_canvas_fill(struct hs_canvas *canvas, struct hs_rect rect, struct hs_colour colour)
{
    const struct hs_rect r = overlap(rect, whole(canvas));
    for (int j = r.y; j < r.y + r.h; j++)
        for (int i = r.x; i < r.x + r.w; i++)
            hs_canvas_set(canvas, i, j, colour);
}

/* The pixels of a box given in pixel coordinates, within the clip; they may be marked now. */
static struct hs_rect touch(struct hs_canvas *canvas, double x0, double y0, double x1, double y1)
{
    const double far_away = 1e6; /* keeps the conversions to int in range */
    const struct hs_rect box = {(int)floor(fmax(x0, -far_away)), (int)floor(fmax(y0, -far_away)),
                                (int)(ceil(fmin(x1, far_away)) - floor(fmax(x0, -far_away))),
                                (int)(ceil(fmin(y1, far_away)) - floor(fmax(y0, -far_away)))};
    const struct hs_rect r = overlap(overlap(box, canvas->clip), whole(canvas));
    if (r.w == 0 || r.h == 0)
        return r;
    struct hs_rect *inked = &canvas->inked;
    if (inked->w == 0) {
        *inked = r;
    } else {
        const int right = greater(inked->x + inked->w, r.x + r.w);
        const int bottom = greater(inked->y + inked->h, r.y + r.h);
        inked->x = lesser(inked->x, r.x);
        inked->y = lesser(inked->y, r.y);
        inked->w = right - inked->x;
        inked->h = bottom - inked->y;
    }
    return r;
}

static void mark(struct hs_canvas *canvas, int i, int j, double coverage)
{
    float *m = &canvas->mask[(size_t)j * (size_t)canvas->width + (size_t)i];
    if (coverage > *m)
        *m = (float)fmin(coverage, 1);
}

/* Coverage falls from 1 to 0 within a pixel about the edge of the stroke. */
static void segment(struct hs_canvas *canvas, struct hs_point a, struct hs_point b, double width)
{
    const double radius = 0.5 * width, reach = radius + 1;
    const struct hs_rect r = touch(canvas, fmin(a.x, b.x) - reach, fmin(a.y, b.y) - reach,
                                   fmax(a.x, b.x) + reach, fmax(a.y, b.y) + reach);
    const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    const double strength = fmin(width, 1); /* a hairline is paler, not thinner */
    for (int j = r.y; j < r.y + r.h; j++)
        for (int i = r.x; i < r.x + r.w; i++) {
            const double px = i + 0.5 - a.x, py = j + 0.5 - a.y;
            const double t = square > 0 ? fmax(0, fmin(1, (px * dx + py * dy) / square)) : 0;
            const double distance = hypot(px - t * dx, py - t * dy);
            const double coverage = fmax(radius, 0.5) + 0.5 - distance;
            if (coverage > 0)
                mark(canvas, i, j, strength * fmin(coverage, 1));
        }
}

void hs_canvas_stroke(struct hs_canvas *canvas, const struct hs_point *points, int64_t count,
                      double width)
{
    if (count == 1)
        segment(canvas, points[0], points[0], width);
    for (int64_t i = 1; i < count; i++)
        segment(canvas, points[i - 1], points[i], width);
}

void hs_canvas_triangle(struct hs_canvas *canvas, const struct hs_point corner[3])
{
    const struct hs_point *p = corner;
    const double turn =
        (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[1].y - p[0].y) * (p[2].x - p[0].x);
    const struct hs_rect r = touch(
        canvas, fmin(p[0].x, fmin(p[1].x, p[2].x)) - 1, fmin(p[0].y, fmin(p[1].y, p[2].y)) - 1,
        fmax(p[0].x, fmax(p[1].x, p[2].x)) + 1, fmax(p[0].y, fmax(p[1].y, p[2].y)) + 1);
    for (int j = r.y; j < r.y + r.h; j++)
        for (int i = r.x; i < r.x + r.w; i++) {
            double coverage = 1;
            for (int k = 0; k < 3; k++) {
                const struct hs_point a = p[k], b = p[(k + 1) % 3];
                const double side =
                    ((b.x - a.x) * (j + 0.5 - a.y) - (b.y - a.y) * (i + 0.5 - a.x)) /
                    hypot(b.x - a.x, b.y - a.y);
                coverage = fmin(coverage, 0.5 + (turn > 0 ? side : -side));
            }
            mark(canvas, i, j, coverage);
        }
}

static uint8_t blend(uint8_t below, uint8_t above, float coverage)
{
    return (uint8_t)lrintf((float)below + coverage * (float)(above - below));
}

void hs_canvas_ink(struct hs_canvas *canvas, struct hs_colour colour)
{
    const struct hs_rect r = canvas->inked;
    for (int j = r.y; j < r.y + r.h; j++)
        for (int i = r.x; i < r.x + r.w; i++) {
            const size_t at = (size_t)j * (size_t)canvas->width + (size_t)i;
            const float m = canvas->mask[at];
            struct hs_colour *p = &canvas->pixels[at];
            *p = (struct hs_colour){blend(p->r, colour.r, m), blend(p->g, colour.g, m),
                                    blend(p->b, colour.b, m)};
            canvas->mask[at] = 0;
        }
    canvas->inked = (struct hs_rect){0, 0, 0, 0};
}

/* With a text chunk Software behind the header, by which heatsolve knows its own pictures: libpng's
 * simple interface writes none. The last four bytes are the chunk's checksum. */
static void put_png(struct hs_beside *beside, const unsigned char *bytes, size_t size)
{
    static const char mark[] = "\0\0\0\22tEXtSoftware\0heatsolve\075\240\022\112";
    const size_t header = 8 + 12 + 13;
    hs_beside_write(beside, bytes, header);
    hs_beside_write(beside, mark, sizeof mark - 1);
    hs_beside_write(beside, bytes + header, size - header);
}

static enum hs_status make_png(const struct hs_canvas *canvas, const char *path,
                               unsigned char **out, png_alloc_size_t *size, struct hs_error *err)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)canvas->width,
                       .height = (png_uint_32)canvas->height,
                       .format = PNG_FORMAT_RGB};
    *size = PNG_IMAGE_PNG_SIZE_MAX(image);
    *out = malloc(*size);
    if (*out && png_image_write_to_memory(&image, *out, size, 0, canvas->pixels, 0, NULL))
        return HS_OK;
    free(*out);
    return hs_error_add(err, HS_DEVICE, "%s: no memory to make it", path);
}

const char hs_canvas_elsewhere[] = "give the picture another name";

enum hs_status hs_canvas_write(const struct hs_canvas *canvas, const char *path,
                               struct hs_error *err)
{
    unsigned char *bytes;
    png_alloc_size_t size;
    struct hs_beside beside;
    enum hs_status st = make_png(canvas, path, &bytes, &size, err);
    if (st)
        return st;
    st = hs_beside_open(path, HS_EXISTING_PICTURE, hs_canvas_elsewhere, &beside, err);
    if (!st) {
        put_png(&beside, bytes, size);
        st = hs_beside_close(&beside, true, err);
    }
    free(bytes);
    return st;
}
