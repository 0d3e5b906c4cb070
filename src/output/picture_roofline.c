#include "output/picture_roofline.h"
#include "output/picture_font.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_colour ink = {38, 42, 48}, faint = {226, 229, 233},
                              fainter = {241, 243, 245};
static const struct hs_colour soft = {95, 100, 108}, grey = {176, 182, 190};
static const struct hs_colour memory_colour = {31, 90, 160}, cache_colour = {94, 158, 160};
static const struct hs_colour compute_colour = {178, 60, 40};

/* Pixels. */
enum {
    WIDTH = 1600,
    HEIGHT = 1000,
    LEFT = 190,
    RIGHT = 400, /* the names of kernels stand there */
    TOP = 130,
    BOTTOM = 130,
    TITLE = 25,
    SUBTITLE = 18,
    LABEL = 18,
    TICK_LABEL = 16,
    NAME = 15,
    NAME_APART = 30, /* lines of names */
    TICK = 9,
    DOT = 15,
};

struct chart {
    const struct hs_roofline *roofline;
    struct hs_canvas *canvas;
    struct hs_rect plot;
    double x[2], y[2]; /* decimal logarithms of the axes' ends */
};

static void write_text(const struct chart *c, double height, struct hs_colour colour, double x,
                       double y, int anchor, bool upright, const char *text)
{
    const struct hs_lettering plain = {.height = height, .weight = 0.125, .colour = colour};
    hs_text_draw(c->canvas, &plain, x, y, anchor, upright, text);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static double place_x(const struct chart *c, double intensity)
{
    return c->plot.x + c->plot.w * (log10(intensity) - c->x[0]) / (c->x[1] - c->x[0]);
}

static double place_y(const struct chart *c, double flops)
{
    return c->plot.y + c->plot.h * (1.0 - (log10(flops) - c->y[0]) / (c->y[1] - c->y[0]));
}

/* From the lowest point to the ceiling, and as far along as shows where the ceilings meet. */
static void choose_ends(struct chart *c)
{
    const struct hs_roofline *r = c->roofline;
    double x[2] = {INFINITY, 0.0}, y[2] = {INFINITY, 0.0};
    for (int n = 0; n < r->count; n++) {
        const struct hs_roofline_point *p = &r->point[n];
        x[0] = fmin(x[0], p->intensity);
        x[1] = fmax(x[1], p->intensity);
        y[0] = fmin(y[0], p->flops);
        y[1] = fmax(y[1], p->flops);
    }
    if (r->ceilings.flops > 0.0) {
        y[1] = fmax(y[1], r->ceilings.flops);
        x[1] = fmax(x[1], r->ceilings.flops / r->bandwidth);
    } else {
        y[1] = fmax(y[1], x[1] * r->bandwidth);
    }
    c->x[0] = log10(x[0]) - 0.7;
    c->x[1] = log10(x[1]) + 0.4;
    c->y[0] = fmin(log10(y[0]) - 0.4, c->x[0] + log10(r->bandwidth) - 0.35);
    c->y[1] = log10(y[1]) + 0.25;
}

static void fill(const struct chart *c, double x, double y, double w, double h,
                 struct hs_colour colour)
{
    hs_canvas_fill(c->canvas,
                   (struct hs_rect){(int)lrint(x), (int)lrint(y), (int)lrint(w), (int)lrint(h)},
                   colour);
}

/* Numbers as they stand at an axis: 0.1, 1, 10, 1000. */
static void tick_text(double value, char *out, size_t size)
{
    snprintf(out, size, "%.10g", value);
}

/* A unit whose numbers at the axis are between 1 and some thousands. */
static double rate_unit(double most, const char **name)
{
    *name = most >= 2e12 ? "TFLOP/s" : "GFLOP/s";
    return most >= 2e12 ? 1e12 : 1e9;
}

/* The lines and numbers of one axis: powers of ten, and 2 to 9 times them fainter. Where there is
 * hardly more than a decade, 2 and 5 have numbers too. */
static void draw_axis(const struct chart *c, bool upright, double unit)
{
    const double *ends = upright ? c->y : c->x;
    const double from = ends[0] - log10(unit), to = ends[1] - log10(unit);
    const bool narrow = to - from < 2.5;
    const int bottom = c->plot.y + c->plot.h;
    for (int decade = (int)floor(from); decade <= (int)ceil(to); decade++)
        for (int digit = 1; digit < 10; digit++) {
            const double value = digit * pow(10.0, decade);
            if (log10(value) < from || log10(value) > to)
                continue;
            const struct hs_colour colour = digit == 1 ? faint : fainter;
            const bool numbered = digit == 1 || (narrow && (digit == 2 || digit == 5));
            const double at = upright ? place_y(c, value * unit) : place_x(c, value * unit);
            char text[32];
            tick_text(value, text, sizeof text);
            if (upright) {
                fill(c, c->plot.x, at - 1, c->plot.w, 2, colour);
                if (numbered) {
                    fill(c, c->plot.x - TICK, at - 1, TICK, 2, ink);
                    write_text(c, TICK_LABEL, ink, c->plot.x - TICK - 12, at + 0.5 * TICK_LABEL,
                               HS_TEXT_END, false, text);
                }
            } else {
                fill(c, at - 1, c->plot.y, 2, c->plot.h, colour);
                if (numbered) {
                    fill(c, at - 1, bottom, 2, TICK, ink);
                    write_text(c, TICK_LABEL, ink, at, bottom + TICK + 12 + TICK_LABEL,
                               HS_TEXT_MIDDLE, false, text);
                }
            }
        }
}

static void draw_frame(const struct chart *c, const char *unit)
{
    const struct hs_rect *p = &c->plot;
    fill(c, p->x - 2, p->y - 2, p->w + 4, 2, ink);
    fill(c, p->x - 2, p->y + p->h, p->w + 4, 2, ink);
    fill(c, p->x - 2, p->y, 2, p->h, ink);
    fill(c, p->x + p->w, p->y, 2, p->h, ink);
    char text[128];
    write_text(c, LABEL, ink, p->x + 0.5 * p->w, p->y + p->h + 82, HS_TEXT_MIDDLE, false,
               "operational intensity [FLOP/byte]");
    snprintf(text, sizeof text, "performance [%s]", unit);
    write_text(c, LABEL, ink, p->x - 115, p->y + 0.5 * p->h, HS_TEXT_MIDDLE, true, text);
}

/* ---- ceilings -------------------------------------------------------------------------------- */

static void stroke(const struct chart *c, double x0, double y0, double x1, double y1, double width,
                   struct hs_colour colour)
{
    const struct hs_point line[2] = {{x0, y0}, {x1, y1}};
    hs_canvas_stroke(c->canvas, line, 2, width);
    hs_canvas_ink(c->canvas, colour);
}

/* Bytes a second as a line that rises to the ceiling of arithmetic, or to the plot's top. */
static void draw_slope(const struct chart *c, double bandwidth, double width,
                       struct hs_colour colour)
{
    const double peak = c->roofline->ceilings.flops;
    const double top = peak > 0.0 ? peak : pow(10.0, c->y[1]);
    const double left = pow(10.0, c->x[0]), right = fmin(top / bandwidth, pow(10.0, c->x[1]));
    stroke(c, place_x(c, left), place_y(c, left * bandwidth), place_x(c, right),
           place_y(c, right * bandwidth), width, colour);
}

static void rate_text(const char *what, double rate, double unit, const char *name, char *out,
                      size_t size)
{
    snprintf(out, size, "%s %.3g %s", what, rate / unit, name);
}

/* The text stands under the slope from the plot's left side, or over it up to where `over` of the
 * plot's height is reached: there the line rises away from it. */
static void label_slope(const struct chart *c, double bandwidth, const char *what, double over,
                        struct hs_colour colour)
{
    char text[96];
    const bool large = bandwidth >= 1e12;
    rate_text(what, bandwidth, large ? 1e12 : 1e9, large ? "TB/s" : "GB/s", text, sizeof text);
    if (over > 0.0) {
        const double flops = pow(10.0, c->y[0] + over * (c->y[1] - c->y[0]));
        const double x =
            fmax(place_x(c, flops / bandwidth), c->plot.x + 12 + hs_text_width(text, LABEL));
        write_text(c, LABEL, colour, x, place_y(c, flops) - 14, HS_TEXT_END, false, text);
    } else {
        const double x = c->plot.x + 14;
        const double left = pow(10.0, c->x[0]);
        write_text(c, LABEL, colour, x, place_y(c, left * bandwidth) + LABEL + 16, HS_TEXT_START,
                   false, text);
    }
}

static void draw_ceilings(const struct chart *c)
{
    const struct hs_roofline *r = c->roofline;
    const double peak = r->ceilings.flops;
    c->canvas->clip = c->plot;
    if (r->ceilings.cache > 0.0)
        draw_slope(c, r->ceilings.cache, 3.0, cache_colour);
    draw_slope(c, r->bandwidth, 4.5, memory_colour);
    const double ridge = peak / fmax(r->bandwidth, r->ceilings.cache);
    if (peak > 0.0)
        stroke(c, place_x(c, ridge), place_y(c, peak), c->plot.x + c->plot.w, place_y(c, peak), 4.5,
               compute_colour);
    c->canvas->clip = (struct hs_rect){0, 0, c->canvas->width, c->canvas->height};
    label_slope(c, r->bandwidth, r->place == HS_BENCH_CACHE ? "copy in cache" : "copy", 0.0,
                memory_colour);
    if (r->ceilings.cache > 0.0)
        label_slope(c, r->ceilings.cache, "reads from cache", 0.85, cache_colour);
    if (peak > 0.0) {
        char text[96];
        const bool large = peak >= 1e12;
        rate_text("multiply-adds", peak, large ? 1e12 : 1e9, large ? "TFLOP/s" : "GFLOP/s", text,
                  sizeof text);
        write_text(c, LABEL, compute_colour, c->plot.x + c->plot.w - 14, place_y(c, peak) - 14,
                   HS_TEXT_END, false, text);
    }
}

/* ---- kernels --------------------------------------------------------------------------------- */

static int faster_first(const void *a, const void *b)
{
    const double x = (*(const struct hs_roofline_point *const *)a)->flops;
    const double y = (*(const struct hs_roofline_point *const *)b)->flops;
    return x > y ? -1 : x < y;
}

static struct hs_colour colour_of(enum hs_roofline_bound bound)
{
    return bound == HS_BOUND_MEMORY    ? memory_colour
           : bound == HS_BOUND_CACHE   ? cache_colour
           : bound == HS_BOUND_COMPUTE ? compute_colour
                                       : soft;
}

/* Heights of the names, top to bottom: each as near to its point as those above leave room for,
 * then all moved up where the last would stand below the plot. */
static void spread(const struct chart *c, const struct hs_roofline_point *const *sorted, int count,
                   double *heights)
{
    const double bottom = c->plot.y + c->plot.h - 8;
    const double apart = fmin(NAME_APART, (c->plot.h - 8.0) / count);
    for (int n = 0; n < count; n++) {
        heights[n] = place_y(c, sorted[n]->flops) + 0.5 * NAME;
        if (n && heights[n] < heights[n - 1] + apart)
            heights[n] = heights[n - 1] + apart;
    }
    for (int n = count - 1; n >= 0; n--) {
        const double most = n == count - 1 ? bottom : heights[n + 1] - apart;
        heights[n] = fmin(heights[n], most);
    }
}

static void draw_kernels(const struct chart *c)
{
    const struct hs_roofline *r = c->roofline;
    const struct hs_roofline_point *sorted[HS_ROOFLINE_MOST] = {NULL};
    double heights[HS_ROOFLINE_MOST];
    for (int n = 0; n < r->count; n++)
        sorted[n] = &r->point[n];
    qsort(sorted, (size_t)r->count, sizeof *sorted, faster_first);
    spread(c, sorted, r->count, heights);
    const double edge = c->plot.x + c->plot.w;
    for (int n = 0; n < r->count; n++) {
        const double x = place_x(c, sorted[n]->intensity), y = place_y(c, sorted[n]->flops);
        const double name = heights[n] - 0.5 * NAME;
        const struct hs_point leader[3] = {{x, y}, {edge - 40, y}, {edge + 18, name}};
        hs_canvas_stroke(c->canvas, leader, 3, 1.6);
        hs_canvas_ink(c->canvas, grey);
    }
    for (int n = 0; n < r->count; n++) {
        const struct hs_point at = {place_x(c, sorted[n]->intensity), place_y(c, sorted[n]->flops)};
        hs_canvas_stroke(c->canvas, &at, 1, DOT);
        hs_canvas_ink(c->canvas, colour_of(sorted[n]->bound));
        char text[128];
        snprintf(text, sizeof text, "%s %.0f %%", sorted[n]->name, 100.0 * sorted[n]->share);
        write_text(c, NAME, ink, edge + 28, heights[n], HS_TEXT_START, false, text);
    }
}

/* Under the names: what the numbers and the dots' colours say. */
static void draw_legend(const struct chart *c)
{
    const double left = c->plot.x + c->plot.w + 28, top = c->plot.y + c->plot.h + 36;
    const enum hs_roofline_bound flow =
        c->roofline->place == HS_BENCH_CACHE ? HS_BOUND_CACHE : HS_BOUND_MEMORY;
    const enum hs_roofline_bound bounds[] = {flow, HS_BOUND_COMPUTE, HS_BOUND_NEITHER};
    write_text(c, NAME, soft, left, top, HS_TEXT_START, false, "%: of the ceiling; bound by");
    double x = left;
    for (int n = 0; n < 3; n++) {
        const struct hs_point dot = {x + 0.5 * DOT, top + 34 - 0.5 * NAME};
        hs_canvas_stroke(c->canvas, &dot, 1, DOT);
        hs_canvas_ink(c->canvas, colour_of(bounds[n]));
        const char *text = hs_roofline_bound_name(bounds[n]);
        write_text(c, NAME, soft, x + DOT + 8, top + 34, HS_TEXT_START, false, text);
        x += DOT + 8 + hs_text_width(text, NAME) + 22;
    }
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* A line that is too wide is written smaller. */
static void draw_line(const struct chart *c, double height, double weight, struct hs_colour colour,
                      double y, const char *text)
{
    const double room = WIDTH - 96, width = hs_text_width(text, height);
    const struct hs_lettering lettering = {.height = width > room ? height * room / width : height,
                                           .weight = weight,
                                           .colour = colour};
    hs_text_draw(c->canvas, &lettering, 0.5 * WIDTH, y, HS_TEXT_MIDDLE, false, text);
}

enum hs_status hs_picture_roofline(const struct hs_roofline *roofline, const char *title,
                                   const char *subtitle, const char *path, struct hs_error *err)
{
    if (roofline->count == 0 || !(roofline->bandwidth > 0.0))
        return hs_error_add(err, HS_FAILED_CHECK, "%s: no kernel was timed: nothing to draw", path);
    struct chart c = {.roofline = roofline,
                      .plot = {LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM}};
    enum hs_status st = hs_canvas_create(WIDTH, HEIGHT, &c.canvas, err);
    if (st)
        return st;
    choose_ends(&c);
    const char *unit_name;
    const double unit = rate_unit(pow(10.0, c.y[1]), &unit_name);
    draw_line(&c, TITLE, 0.165, ink, 62, title);
    draw_line(&c, SUBTITLE, 0.125, soft, 102, subtitle);
    draw_axis(&c, false, 1.0);
    draw_axis(&c, true, unit);
    draw_frame(&c, unit_name);
    draw_ceilings(&c);
    draw_kernels(&c);
    draw_legend(&c);
    st = hs_canvas_write(c.canvas, path, err);
    hs_canvas_destroy(c.canvas);
    return st;
}
