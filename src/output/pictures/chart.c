#include "output/pictures/chart.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

enum { FAINT = 0xE2E5E9, FAINTER = 0xF1F3F5, GREY = 0xB0B6BE };
enum { TITLE = 25, SUBTITLE = 18, LABEL = 18, NUMBER = 16, NAME = 15 }; /* letters */
enum { MARGIN = 48, LINE_GAP = 19, HEADING_GAP = 40, LABEL_GAP = 24, NAME_GAP = 28, BAR_GAP = 44 };
enum { LINE = 2, CURVE = 3, DOT = 15, TICK = 10, GAP = 12, BAR = 34 };
enum { TICK_APART = 64, NAME_APART = 30, NAMES = 640 };

uint32_t hs_chart_colour(const struct hs_chart *c, double value)
{
    return hs_colour_map_at(c->map, c->colours * hs_scale_place(&c->bar, value));
}

/* A point of the plot, clamped if far outside, because Cairo's coordinates have a limited range. */
static void place(const struct hs_chart *c, double x, double y, double *px, double *py)
{
    *px = c->plot.x + c->plot.width * fmax(-300, fmin(300, hs_scale_place(&c->x, x)));
    *py = c->plot.y + c->plot.height * fmax(-300, fmin(300, 1 - hs_scale_place(&c->y, y)));
}

/* ---- axes ---------------------------------------------------------------------------------- */

/* Chooses as many ticks as fit into a length, with labels `wide` units wide. */
static void choose_ticks(cairo_t *cr, struct hs_scale *s, double room, double wide)
{
    char label[HS_LABEL_SIZE];
    double value;
    hs_scale_set_step(s, fmax(2, fmin(16, floor(room / fmax(TICK_APART, wide)))));
    s->widest = 0;
    for (int n = 0; hs_scale_tick(s, n, &value, label); n++)
        s->widest =
            fmax(s->widest, hs_canvas_width(cr, (struct hs_lettering){.size = NUMBER}, label));
}

/* Rounds a length to whole pixels. */
static double snap(const struct hs_chart *c, double length)
{
    const double unit = (double)c->width / HS_CANVAS_UNITS;
    return rint(length * unit) / unit;
}

/* A rectangle outlined by at least one whole pixel; without width or height, a line. */
static void rule(const struct hs_chart *c, double x, double y, double w, double h, uint32_t colour)
{
    cairo_rectangle(c->cr, x, y, w, h);
    cairo_set_antialias(c->cr, CAIRO_ANTIALIAS_NONE);
    hs_canvas_stroke(c->cr, fmax(snap(c, LINE), (double)HS_CANVAS_UNITS / c->width), colour);
    cairo_set_antialias(c->cr, CAIRO_ANTIALIAS_DEFAULT);
}

static void frame(const struct hs_chart *c, const cairo_rectangle_t *b)
{
    rule(c, b->x - 0.5 * LINE, b->y - 0.5 * LINE, b->width + LINE, b->height + LINE, HS_INK);
}

enum side { LEFT = -1, BELOW, RIGHT };

/* Draws ticks, their labels and the scale's label along one side of an area, and grid lines. */
static void draw_axis(const struct hs_chart *c, const struct hs_scale *s,
                      const cairo_rectangle_t *b, enum side side)
{
    const bool below = side == BELOW, grid = !c->field && side != RIGHT;
    const double out = side, down = below, far = TICK + GAP; /* away from the side */
    const double x0 = b->x + (side == RIGHT ? b->width : 0), along_x = below ? b->width : 0;
    const double y0 = b->y + b->height, along_y = below ? 0 : -b->height;
    char text[HS_LABEL_SIZE];
    double value;
    for (int n = 0; hs_scale_tick(s, n, &value, text); n++) {
        const double at = hs_scale_place(s, value);
        const double x = x0 + at * along_x, y = y0 + at * along_y;
        if (grid)
            rule(c, x, y, -out * b->width, -down * b->height, *text ? FAINT : FAINTER);
        if (*text)
            rule(c, x, y, out * TICK, down * TICK, HS_INK);
        hs_canvas_text(c->cr,
                       (struct hs_lettering){NUMBER, HS_INK, .anchor = 0.5 - 0.5 * out,
                                             .drop = 0.5 + 0.5 * down},
                       x + out * far, y + down * far, text);
    }
    const double depth = far + (below ? NUMBER : s->widest) + LABEL_GAP;
    const struct hs_lettering letters = {LABEL,
                                         HS_INK,
                                         .anchor = 0.5,
                                         .drop = side != LEFT,
                                         .turn = below ? 0 : M_PI / 2,
                                         .room = (below ? b->width : b->height) + 2 * MARGIN};
    char *label = hs_format(*s->unit.power || *s->unit.name ? "%s [%s%s]" : "%s", s->what,
                            s->unit.power, s->unit.name);
    hs_canvas_text(c->cr, letters, x0 + 0.5 * along_x + out * depth,
                   y0 + 0.5 * along_y + down * depth, label);
    free(label);
}

/* ---- at the plot's right ------------------------------------------------------------------- */

static void draw_bar(const struct hs_chart *c)
{
    const cairo_rectangle_t *p = &c->plot,
                            b = {p->x + p->width + snap(c, BAR_GAP), p->y, snap(c, BAR), p->height};
    cairo_pattern_t *colours = cairo_pattern_create_linear(0, b.y + b.height, 0, b.y);
    for (int n = 0; n <= 16; n++) { /* one stop per colour of a map */
        const uint32_t k = hs_colour_map_at(c->map, c->colours * n / 16);
        cairo_pattern_add_color_stop_rgb(colours, n / 16.0, (k >> 16) / 255.0,
                                         (k >> 8 & 0xFF) / 255.0, (k & 0xFF) / 255.0);
    }
    cairo_set_source(c->cr, colours);
    cairo_rectangle(c->cr, b.x, b.y, b.width, b.height);
    cairo_fill(c->cr);
    cairo_pattern_destroy(colours);
    draw_axis(c, &c->bar, &b, RIGHT);
    frame(c, &b);
    for (int end = 0; end < 2; end++) /* triangles mark values beyond the bar */
        for (int inner = 0; inner < 2 && c->beyond[end]; inner++) {
            const uint32_t colour = inner ? hs_colour_map_at(c->map, end) : HS_INK;
            hs_canvas_text(c->cr, (struct hs_lettering){inner ? 28 : 34, colour, 0.5, .drop = !end},
                           b.x + 0.5 * b.width, end ? b.y - 4 : b.y + b.height + 4,
                           end ? "\u25B2" : "\u25BC");
        }
}

static int lower_last(const void *a, const void *b)
{
    const struct hs_curve *p = a, *q = b;
    const double x = p->y[p->count - 1], y = q->y[q->count - 1];
    return x > y ? -1 : x < y;
}

/* Places each name as near to its point as the names above allow, but high enough that the last one
 * stays within the plot. A thin line connects name and point. */
static void draw_names(const struct hs_chart *c)
{
    const double edge = c->plot.x + c->plot.width, bottom = c->plot.y + c->plot.height - 16;
    const double apart = fmin(NAME_APART, (c->plot.height - 8) / c->count);
    const struct hs_curve *end = c->curves + c->count;
    if (c->count && end[-1].name)
        qsort(c->curves, (size_t)c->count, sizeof *c->curves, lower_last);
    double x, at, y = -INFINITY;
    for (const struct hs_curve *k = c->curves; k < end; k++) {
        if (!k->name)
            continue;
        place(c, k->x[k->count - 1], k->y[k->count - 1], &x, &at);
        y = fmin(fmax(at, y + apart), bottom - (end - k - 1) * apart);
        cairo_move_to(c->cr, x, at);
        cairo_line_to(c->cr, fmax(x, edge - 40), at);
        cairo_line_to(c->cr, edge + 18, y);
        hs_canvas_stroke(c->cr, 1.6, GREY);
        hs_canvas_text(c->cr, (struct hs_lettering){NAME, k->colour, .drop = 0.5, .room = NAMES},
                       edge + NAME_GAP, y, k->name);
    }
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void draw_curve(const struct hs_chart *c, const struct hs_curve *k)
{
    enum { AT_ONCE = 256 }; /* the time of a stroke grows faster than the number of its points */
    double x = 0, y = 0, last_x = 0, last_y = 0;
    int drawn = 0;
    for (int64_t i = 0; i < k->count && c->count == 1; i++) /* a single curve: grey where it is */
        if (!isfinite(k->y[i])) {                           /* not finite, half-way to the next */
            double end;
            place(c, 0.5 * (k->x[i] + k->x[i > 0 ? i - 1 : i]), 0, &x, &y);
            place(c, 0.5 * (k->x[i] + k->x[i + 1 < k->count ? i + 1 : i]), 0, &end, &y);
            cairo_rectangle(c->cr, x, c->plot.y, end - x, c->plot.height);
        }
    hs_canvas_ink(c->cr, hs_colour_map_at(hs_colour_maps, NAN));
    cairo_fill(c->cr);
    for (int64_t i = 0; i < k->count; i++) {
        const bool begun = cairo_has_current_point(c->cr);
        place(c, k->x[i], k->y[i], &x, &y);
        if (!isfinite(k->y[i])) {
            cairo_new_sub_path(c->cr);
        } else if (!begun || i == k->count - 1 || hypot(x - last_x, y - last_y) > 0.3) {
            cairo_line_to(c->cr, x, y);
            cairo_line_to(c->cr, last_x = x, last_y = y); /* an isolated point is a dot */
            if (++drawn % AT_ONCE == 0) {
                hs_canvas_stroke(c->cr, CURVE, k->colour);
                cairo_move_to(c->cr, x, y);
            }
        }
    }
    hs_canvas_stroke(c->cr, k->count > 1 ? CURVE : DOT, k->colour);
    for (int64_t i = 0; i < k->count && k->dots; i++) {
        place(c, k->x[i], k->y[i], &x, &y);
        cairo_move_to(c->cr, x, y);
        cairo_line_to(c->cr, x, y);
    }
    hs_canvas_stroke(c->cr, DOT, k->colour);
    place(c, k->x[0], k->y[0], &last_x, &last_y);
    const double dx = x - last_x, dy = y - last_y, turn = -atan2(dy, dx);
    if (k->label)
        hs_canvas_text(
            c->cr, (struct hs_lettering){LABEL, k->colour, 0.5, -0.7, turn, .room = hypot(dx, dy)},
            last_x + 0.5 * dx, last_y + 0.5 * dy, k->label);
}

/* The places on a line where its parts meet, with a resolution of one unit. */
static void draw_borders(const struct hs_chart *c)
{
    const int columns = (int)c->plot.width;
    int last = c->part(c->self, 0.5 / columns, 0);
    for (int i = 1; i < columns; i++) {
        const int here = c->part(c->self, (i + 0.5) / columns, 0);
        if (here != last)
            rule(c, c->plot.x + i, c->plot.y, 0, c->plot.height, HS_PART);
        last = here;
    }
}

/* The subtitle's baseline from the top, below the title if there is one. */
static double subtitle_of(const struct hs_chart *c)
{
    return MARGIN + (*c->title ? TITLE + LINE_GAP : 0) + SUBTITLE;
}

/* Labels need room, and the height determines the labels. */
static void lay_out(struct hs_chart *c)
{
    const double top = subtitle_of(c) + HEADING_GAP;
    const double side = LABEL + LABEL_GAP + GAP + TICK, bottom = side + NUMBER + MARGIN;
    const double most = (c->field ? 0.75 : 0.625) * HS_CANVAS_UNITS - top - bottom;
    const double about = c->field ? fmin(most, 0.75 * HS_CANVAS_UNITS / c->ratio) : most;
    cairo_t *cr = hs_canvas_on(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1), HS_CANVAS_UNITS);
    double right = 0;
    for (int k = 0; k < c->count; k++)
        if (c->curves[k].name)
            right = fmax(right, NAME_GAP + hs_canvas_width(cr, (struct hs_lettering){.size = NAME},
                                                           c->curves[k].name));
    choose_ticks(cr, &c->y, about, 0);
    if (c->bar.what) {
        choose_ticks(cr, &c->bar, about, 0);
        right = BAR_GAP + BAR + side + c->bar.widest;
    }
    const double left = MARGIN + side + c->y.widest;
    const double room = HS_CANVAS_UNITS - left - MARGIN - fmin(right, HS_CANVAS_UNITS / 2);
    const double w = fmin(room, c->field ? most * c->ratio : room);
    const double h = c->field ? w / c->ratio : most;
    choose_ticks(cr, &c->x, w, 0);
    choose_ticks(cr, &c->x, w, 1.7 * c->x.widest);
    cairo_destroy(cr);
    const double height = (top + h + bottom) * c->width / HS_CANVAS_UNITS;
    c->plot =
        (cairo_rectangle_t){snap(c, left + 0.5 * (room - w)), snap(c, top), snap(c, w), snap(c, h)};
    c->height = 2 * (int)ceil(0.5 * height); /* even, for films */
}

/* Draws the chart, after lay_out; leaves its plot as the clip. */
static void paint(const struct hs_chart *c)
{
    const double middle = 0.5 * HS_CANVAS_UNITS, width = HS_CANVAS_UNITS - 2 * MARGIN;
    hs_canvas_text(c->cr, (struct hs_lettering){TITLE, HS_INK, 0.5, .room = width, .bold = true},
                   middle, MARGIN + TITLE, c->title);
    hs_canvas_text(c->cr, (struct hs_lettering){SUBTITLE, HS_SOFT, 0.5, .room = width}, middle,
                   subtitle_of(c), c->subtitle);
    draw_axis(c, &c->x, &c->plot, BELOW);
    draw_axis(c, &c->y, &c->plot, LEFT);
    draw_names(c);
    frame(c, &c->plot);
    if (c->bar.what)
        draw_bar(c);
    cairo_rectangle(c->cr, c->plot.x, c->plot.y, c->plot.width, c->plot.height);
    cairo_clip(c->cr);
    if (c->field)
        hs_chart_draw_field(c);
    else if (c->part)
        draw_borders(c);
    for (int k = 0; k < c->count; k++)
        draw_curve(c, &c->curves[k]);
}

enum hs_status hs_charts_draw(struct hs_chart *charts, int count, const struct hs_sink *sink,
                              struct hs_error *err)
{
    int height = 0;
    for (int n = 0; n < count; n++) {
        lay_out(&charts[n]);
        height += charts[n].height;
    }
    cairo_t *cr = hs_sink_page(sink, charts->width, height);
    for (int n = 0; n < count; n++) {
        charts[n].cr = cr;
        paint(&charts[n]);
        cairo_reset_clip(cr);
        cairo_translate(cr, 0, (double)charts[n].height * HS_CANVAS_UNITS / charts->width);
    }
    return hs_sink_add(sink, cr, err);
}

enum hs_status hs_charts_write(struct hs_chart *charts, int count, const char *path,
                               struct hs_error *err)
{
    struct hs_sink sink;
    HS_TRY(hs_sink_open(&sink, path, 0, err));
    return hs_sink_close(&sink, hs_charts_draw(charts, count, &sink, err), err);
}
