#include "output/picture_roofline.h"

#include "output/picture_chart.h"

#include <math.h>
#include <string.h>

static const struct hs_colour cache_colour = {94, 158, 160}, compute_colour = {178, 60, 40};
enum { LABEL = 18, DOT = 15 };

/* From the lowest point to the ceiling, and as far along as shows where the ceilings meet. */
static void choose_ends(const struct hs_roofline *r, struct hs_chart *c)
{
    const double peak = r->ceilings.flops;
    double x[2] = {INFINITY, 0}, y[2] = {INFINITY, 0};
    for (int n = 0; n < r->count; n++) {
        const struct hs_roofline_point *p = &r->point[n];
        x[0] = fmin(x[0], p->intensity);
        x[1] = fmax(x[1], p->intensity);
        y[0] = fmin(y[0], p->flops);
        y[1] = fmax(y[1], p->flops);
    }
    x[1] = fmax(x[1], peak / r->bandwidth);
    y[1] = fmax(y[1], peak > 0 ? peak : x[1] * r->bandwidth);
    c->x =
        (struct hs_scale){.what = "operational intensity", .log = true, .unit = {1, "FLOP/byte"}};
    c->y = (struct hs_scale){.what = "performance", .log = true, .unit = {1e9, "GFLOP/s"}};
    c->x.from = x[0] / 5;
    c->x.to = x[1] * 2.5;
    c->y.from = fmin(y[0] / 2.5, 0.45 * c->x.from * r->bandwidth);
    c->y.to = y[1] * 1.78;
    if (c->y.to >= 2e12)
        c->y.unit = (struct hs_shown_unit){1e12, "TFLOP/s"};
}

/* Bytes a second: a line that rises to the ceiling of arithmetic, or to the plot's top. */
static void draw_slope(const struct hs_chart *c, double bandwidth, double peak, double width,
                       struct hs_colour colour)
{
    const double to = fmin((peak > 0 ? peak : c->y.to) / bandwidth, c->x.to);
    cairo_move_to(c->canvas.cr, hs_chart_x(c, c->x.from), hs_chart_y(c, c->x.from * bandwidth));
    cairo_line_to(c->canvas.cr, hs_chart_x(c, to), hs_chart_y(c, to * bandwidth));
    hs_canvas_stroke(&c->canvas, width, colour);
}

/* "copy 4.2 TB/s", with `anchor` at (x, y). */
static void label(const struct hs_chart *c, const char *what, double rate, const char *unit,
                  struct hs_colour colour, double anchor, double x, double y)
{
    char text[96];
    const bool tera = rate >= 1e12;
    snprintf(text, sizeof text, "%s %.3g %s%s", what, rate / (tera ? 1e12 : 1e9), tera ? "T" : "G",
             unit);
    const double left = c->plot.x + 12,
                 width = hs_canvas_text_width(&c->canvas, LABEL, false, text);
    hs_canvas_text(&c->canvas, (struct hs_lettering){LABEL, colour, .anchor = anchor},
                   fmax(x, left + anchor * width), y, text);
}

static void draw_ceilings(const struct hs_roofline *r, const struct hs_chart *c)
{
    const double peak = r->ceilings.flops, cache = r->ceilings.cache;
    const double right = c->plot.x + c->plot.w;
    hs_chart_clip(c);
    if (cache > 0)
        draw_slope(c, cache, peak, 3, cache_colour);
    draw_slope(c, r->bandwidth, peak, 4.5, hs_blue);
    if (peak > 0) {
        cairo_move_to(c->canvas.cr, hs_chart_x(c, peak / fmax(r->bandwidth, cache)),
                      hs_chart_y(c, peak));
        cairo_line_to(c->canvas.cr, right, hs_chart_y(c, peak));
        hs_canvas_stroke(&c->canvas, 4.5, compute_colour);
    }
    cairo_reset_clip(c->canvas.cr);
    label(c, r->place == HS_BENCH_CACHE ? "copy in cache" : "copy", r->bandwidth, "B/s", hs_blue, 0,
          c->plot.x + 14, hs_chart_y(c, c->x.from * r->bandwidth) + LABEL + 16);
    const double high = c->y.from * pow(c->y.to / c->y.from, 0.85); /* over the line, at 85 % */
    if (cache > 0)
        label(c, "reads from cache", cache, "B/s", cache_colour, 1, hs_chart_x(c, high / cache),
              hs_chart_y(c, high) - 14);
    if (peak > 0)
        label(c, "multiply-adds", peak, "FLOP/s", compute_colour, 1, right - 14,
              hs_chart_y(c, peak) - 14);
}

static struct hs_colour colour_of(enum hs_roofline_bound bound)
{
    return bound == HS_BOUND_MEMORY    ? hs_blue
           : bound == HS_BOUND_CACHE   ? cache_colour
           : bound == HS_BOUND_COMPUTE ? compute_colour
                                       : hs_soft;
}

static void dot(const struct hs_chart *c, double x, double y, enum hs_roofline_bound bound)
{
    cairo_move_to(c->canvas.cr, x, y);
    cairo_close_path(c->canvas.cr);
    hs_canvas_stroke(&c->canvas, DOT, colour_of(bound));
}

/* Under the names: what the numbers and the dots' colours say. */
static void draw_legend(const struct hs_roofline *r, const struct hs_chart *c)
{
    const enum hs_roofline_bound flow =
        r->place == HS_BENCH_CACHE ? HS_BOUND_CACHE : HS_BOUND_MEMORY;
    const enum hs_roofline_bound bounds[] = {flow, HS_BOUND_COMPUTE, HS_BOUND_NEITHER};
    const struct hs_lettering letters = {HS_NAME_SIZE, hs_soft, .anchor = 0};
    double x = c->plot.x + c->plot.w + HS_NAME_GAP;
    const double y = c->plot.y + c->plot.h + 70;
    hs_canvas_text(&c->canvas, letters, x, y - 34, "%: of the ceiling; bound by");
    for (int n = 0; n < 3; n++) {
        const char *name = hs_roofline_bound_name(bounds[n]);
        dot(c, x + 0.5 * DOT, y - 0.5 * HS_NAME_SIZE, bounds[n]);
        hs_canvas_text(&c->canvas, letters, x + DOT + 8, y, name);
        x += DOT + 26 + hs_canvas_text_width(&c->canvas, HS_NAME_SIZE, false, name);
    }
}

enum hs_status hs_picture_roofline(const struct hs_roofline *r, const char *title,
                                   const char *subtitle, const char *path, struct hs_error *err)
{
    if (r->count == 0 || !(r->bandwidth > 0.0))
        return hs_error_add(err, HS_FAILED_CHECK, "%s: no kernel was timed: nothing to draw", path);
    char text[HS_ROOFLINE_MOST][128];
    struct hs_chart_name names[HS_ROOFLINE_MOST];
    for (int n = 0; n < r->count; n++) {
        const struct hs_roofline_point *p = &r->point[n];
        snprintf(text[n], sizeof text[n], "%s %.0f %%", p->name, 100.0 * p->share);
        names[n] = (struct hs_chart_name){p->intensity, p->flops, text[n], hs_ink};
    }
    struct hs_chart c = {.width = 1600,
                         .title = title,
                         .subtitle = subtitle,
                         .grid = true,
                         .names = names,
                         .name_count = r->count,
                         .names_room = 345};
    choose_ends(r, &c);
    enum hs_status status = hs_chart_begin(&c, err);
    if (status == HS_OK) {
        draw_ceilings(r, &c);
        hs_chart_end(&c);
        for (int n = 0; n < r->count; n++)
            dot(&c, hs_chart_x(&c, r->point[n].intensity), hs_chart_y(&c, r->point[n].flops),
                r->point[n].bound);
        draw_legend(r, &c);
        status = hs_canvas_write(&c.canvas, path, err);
    }
    hs_canvas_release(&c.canvas);
    return status;
}
