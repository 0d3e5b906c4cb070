#include "output/picture_chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct hs_colour hs_ink = {38, 42, 48}, hs_soft = {95, 100, 108}, hs_blue = {31, 90, 160};
static const struct hs_colour faint = {226, 229, 233}, fainter = {241, 243, 245};
static const struct hs_colour grey = {176, 182, 190};

/* Sizes, at u = 1. */
enum {
    MARGIN = 48,
    TITLE = 25,
    TITLE_LINE = 44,
    SUBTITLE = 18,
    LABEL = 18,
    TICK_LABEL = 16,
    TICK = 9,
    GAP = 12,
    BAR = 34,
    BAR_GAP = 44,
    NAME_APART = 30,
    TICK_APART = 60,
};

enum side { BELOW, LEFT, RIGHT };

static void text(const struct hs_chart *c, double size, struct hs_colour colour, double x, double y,
                 double anchor, double turn, const char *what)
{
    const struct hs_lettering letters = {size * c->u, colour, .anchor = anchor, .turn = turn};
    hs_canvas_text(&c->canvas, letters, x, y, what);
}

static double text_width(const struct hs_chart *c, double size, const char *what)
{
    return hs_canvas_text_width(&c->canvas, size * c->u, false, what);
}

/* ---- heading ------------------------------------------------------------------------------ */

/* In the middle of the picture; what is too wide is made smaller. */
static void heading(const struct hs_chart *c, double size, bool bold, struct hs_colour colour,
                    double y, const char *what)
{
    const double room = c->width - 2 * MARGIN * c->u;
    const double width = hs_canvas_text_width(&c->canvas, size * c->u, bold, what);
    const struct hs_lettering letters = {size * c->u * fmin(1, room / width), colour, bold, 0.5, 0};
    hs_canvas_text(&c->canvas, letters, 0.5 * c->width, y * c->u, what);
}

static double top_height(const struct hs_chart *c)
{
    return (MARGIN + (*c->title ? TITLE_LINE : 0) + SUBTITLE + 40) * c->u;
}

/* ---- scales ------------------------------------------------------------------------------- */

static double share(const struct hs_scale *s, double value)
{
    const double at = s->log ? log(value / s->from) / log(s->to / s->from)
                             : (value - s->from) / (s->to - s->from);
    return fmax(-1e3, fmin(1e3, at));
}

double hs_chart_x(const struct hs_chart *c, double value)
{
    return c->plot.x + c->plot.w * share(&c->x, value);
}

static double height_of(const struct hs_scale *s, const struct hs_area *b, double value)
{
    return b->y + b->h * (1 - share(s, value));
}

double hs_chart_y(const struct hs_chart *c, double value)
{
    return height_of(&c->y, &c->plot, value);
}

static void make_ticks(struct hs_scale *s, double length, double each)
{
    const double from = s->from / s->unit.factor, to = s->to / s->unit.factor;
    if (s->log)
        hs_ticks_log(from, to, &s->ticks);
    else
        hs_ticks_make(from, to, (int)fmax(2, fmin(16, length / each)), &s->ticks);
}

static double widest(const struct hs_chart *c, const struct hs_scale *s)
{
    double width = 0;
    for (int i = 0; i < s->ticks.count; i++)
        width = fmax(width, text_width(c, TICK_LABEL, s->ticks.label[i]));
    return width;
}

/* As many ticks across as leave room between their labels. */
static void ticks_across(struct hs_chart *c)
{
    make_ticks(&c->x, c->plot.w, TICK_APART * c->u);
    make_ticks(&c->x, c->plot.w, fmax(TICK_APART * c->u, 1.7 * widest(c, &c->x)));
}

/* ---- layout ------------------------------------------------------------------------------- */

static double left_room(const struct hs_chart *c)
{
    return (LABEL + 24 + GAP + TICK + 4) * c->u + widest(c, &c->y);
}

static double right_room(const struct hs_chart *c)
{
    double names = c->names_room * c->u;
    for (int i = 0; i < c->name_count; i++)
        names = fmax(names, text_width(c, HS_NAME_SIZE, c->names[i].text));
    if (c->name_count)
        return HS_NAME_GAP * c->u + fmin(names, 0.4 * c->width);
    return c->bar.what ? (BAR_GAP + BAR + TICK + GAP + 28 + LABEL + 8) * c->u + widest(c, &c->bar)
                       : 0;
}

static void lay_out(struct hs_chart *c)
{
    const double bottom = (TICK + GAP + TICK_LABEL + 22 + LABEL + MARGIN) * c->u;
    const double room_h = (c->ratio > 0 ? 0.75 : 0.625) * c->width - top_height(c) - bottom;
    struct hs_area plot = {.y = top_height(c), .w = 0.8 * c->width, .h = room_h};
    for (int pass = 0; pass < 3; pass++) { /* labels need room, and the room decides on labels */
        make_ticks(&c->y, plot.h, TICK_APART * c->u);
        if (c->bar.what)
            make_ticks(&c->bar, plot.h, TICK_APART * c->u);
        const double room_w = c->width - 2 * MARGIN * c->u - left_room(c) - right_room(c);
        plot.w = c->ratio > 0 ? fmin(room_w, room_h * c->ratio) : room_w;
        plot.h = c->ratio > 0 ? plot.w / c->ratio : room_h;
        plot.x = 0.5 * (c->width + left_room(c) - right_room(c) - plot.w);
    }
    c->plot = (struct hs_area){rint(plot.x), rint(plot.y), rint(plot.w), rint(plot.h)};
    ticks_across(c);
    c->canvas.height = 2 * (int)ceil(0.5 * (c->plot.y + c->plot.h + bottom)); /* even: for films */
}

static double thickness(const struct hs_chart *c)
{
    return fmax(1, rint(2 * c->u));
}

static void draw_grid(const struct hs_chart *c)
{
    const struct hs_ticks *x = &c->x.ticks, *y = &c->y.ticks;
    const struct hs_area *p = &c->plot;
    const double t = thickness(c);
    for (int i = 0; i < x->count; i++)
        hs_canvas_fill(&c->canvas, hs_chart_x(c, x->at[i] * c->x.unit.factor) - 0.5 * t, p->y, t,
                       p->h, *x->label[i] ? faint : fainter);
    for (int i = 0; i < y->count; i++)
        hs_canvas_fill(&c->canvas, p->x, hs_chart_y(c, y->at[i] * c->y.unit.factor) - 0.5 * t, p->w,
                       t, *y->label[i] ? faint : fainter);
}

static int lower_name_last(const void *a, const void *b)
{
    const double x = ((const struct hs_chart_name *)a)->y, y = ((const struct hs_chart_name *)b)->y;
    return x > y ? -1 : x < y;
}

enum hs_status hs_chart_begin(struct hs_chart *c, struct hs_error *err)
{
    c->u = c->width / 1600.0;
    const enum hs_status status = hs_canvas_init(&c->canvas, c->width, err);
    if (status != HS_OK)
        return status;
    if (c->name_count)
        qsort(c->names, (size_t)c->name_count, sizeof *c->names, lower_name_last);
    lay_out(c);
    heading(c, TITLE, true, hs_ink, MARGIN + TITLE, c->title);
    heading(c, SUBTITLE, false, hs_soft, MARGIN + (*c->title ? TITLE_LINE : 0) + SUBTITLE,
            c->subtitle);
    if (c->grid)
        draw_grid(c);
    return HS_OK;
}

/* ---- frame, axes, bar --------------------------------------------------------------------- */

static void draw_axis(const struct hs_chart *c, const struct hs_scale *s, const struct hs_area *b,
                      enum side side)
{
    const double t = thickness(c), tick = rint(TICK * c->u), out = (TICK + GAP) * c->u;
    const double sign = side == LEFT ? -1 : 1; /* outwards */
    const double edge = side == BELOW ? b->y + b->h + t : side == LEFT ? b->x - t : b->x + b->w + t;
    for (int i = 0; i < s->ticks.count; i++) {
        const double value = s->ticks.at[i] * s->unit.factor;
        const double at = side == BELOW ? hs_chart_x(c, value) : height_of(s, b, value);
        if (!*s->ticks.label[i])
            continue;
        if (side == BELOW) {
            hs_canvas_fill(&c->canvas, at - 0.5 * t, edge, t, tick, hs_ink);
            text(c, TICK_LABEL, hs_ink, at, edge + out + TICK_LABEL * c->u, 0.5, 0,
                 s->ticks.label[i]);
        } else {
            hs_canvas_fill(&c->canvas, side == LEFT ? edge - tick : edge, at - 0.5 * t, tick, t,
                           hs_ink);
            text(c, TICK_LABEL, hs_ink, edge + sign * out, at + 0.5 * TICK_LABEL * c->u,
                 side == LEFT, 0, s->ticks.label[i]);
        }
    }
    char label[256]; /* "temperature [K] (×10³)": what it is, its unit, what its labels share */
    const char *unit = s->unit.name, *note = s->ticks.note;
    snprintf(label, sizeof label, "%s%s%s%s%s%s%s", s->what, *unit ? " [" : "", unit,
             *unit ? "]" : "", *note ? " (" : "", note, *note ? ")" : "");
    if (side == BELOW)
        text(c, LABEL, hs_ink, b->x + 0.5 * b->w, edge + out + (TICK_LABEL + 22 + LABEL) * c->u,
             0.5, 0, label);
    else
        text(c, LABEL, hs_ink,
             edge + sign * (out + (side == LEFT ? 24 : 28 + LABEL) * c->u + widest(c, s)),
             b->y + 0.5 * b->h, 0.5, 90, label);
}

static void draw_frame(const struct hs_chart *c, const struct hs_area *b)
{
    const double t = thickness(c);
    hs_canvas_fill(&c->canvas, b->x - t, b->y - t, b->w + 2 * t, t, hs_ink);
    hs_canvas_fill(&c->canvas, b->x - t, b->y + b->h, b->w + 2 * t, t, hs_ink);
    hs_canvas_fill(&c->canvas, b->x - t, b->y, t, b->h, hs_ink);
    hs_canvas_fill(&c->canvas, b->x + b->w, b->y, t, b->h, hs_ink);
}

/* A triangle that points to where the values beyond the bar's end are. */
static void bar_end(const struct hs_chart *c, const struct hs_area *b, bool upper)
{
    const double t = thickness(c), y = upper ? b->y - 2 * t : b->y + b->h + 2 * t;
    cairo_move_to(c->canvas.cr, b->x, y);
    cairo_line_to(c->canvas.cr, b->x + 0.5 * b->w, y + (upper ? -0.55 : 0.55) * b->w);
    cairo_line_to(c->canvas.cr, b->x + b->w, y);
    cairo_close_path(c->canvas.cr);
    hs_canvas_ink(&c->canvas, hs_colour_map_at(c->map, upper));
    cairo_fill_preserve(c->canvas.cr);
    hs_canvas_stroke(&c->canvas, t, hs_ink);
}

static void draw_bar(const struct hs_chart *c)
{
    const struct hs_area b = {rint(c->plot.x + c->plot.w + BAR_GAP * c->u), c->plot.y,
                              rint(BAR * c->u), c->plot.h};
    cairo_pattern_t *colours = cairo_pattern_create_linear(0, b.y + b.h, 0, b.y);
    for (int n = 0; n <= 32; n++) { /* as many as the maps have */
        const struct hs_colour k = hs_colour_map_at(c->map, c->colours * n / 32);
        cairo_pattern_add_color_stop_rgb(colours, n / 32.0, k.r / 255.0, k.g / 255.0, k.b / 255.0);
    }
    cairo_set_source(c->canvas.cr, colours);
    cairo_rectangle(c->canvas.cr, b.x, b.y, b.w, b.h);
    cairo_fill(c->canvas.cr);
    cairo_pattern_destroy(colours);
    draw_frame(c, &b);
    draw_axis(c, &c->bar, &b, RIGHT);
    for (int end = 0; end < 2; end++)
        if (c->beyond[end])
            bar_end(c, &b, end);
}

/* Each name as near to its point as those above leave room for, all moved up where the last would
 * stand below the plot. */
static void draw_names(const struct hs_chart *c)
{
    const double size = HS_NAME_SIZE * c->u, edge = c->plot.x + c->plot.w;
    const double bottom = c->plot.y + c->plot.h - 8 * c->u;
    const double apart = fmin(NAME_APART * c->u, (c->plot.h - 8 * c->u) / c->name_count);
    double lowest = -INFINITY;
    for (int i = 0; i < c->name_count; i++) {
        const struct hs_chart_name *name = &c->names[i];
        const double x = hs_chart_x(c, name->x), at = hs_chart_y(c, name->y);
        const double y =
            fmin(fmax(at + 0.5 * size, lowest + apart), bottom - (c->name_count - 1 - i) * apart);
        cairo_move_to(c->canvas.cr, x, at);
        cairo_line_to(c->canvas.cr, fmax(x, edge - 40 * c->u), at);
        cairo_line_to(c->canvas.cr, edge + 18 * c->u, y - 0.5 * size);
        hs_canvas_stroke(&c->canvas, 1.6 * c->u, grey);
        text(c, HS_NAME_SIZE, name->colour, edge + HS_NAME_GAP * c->u, y, 0, 0, name->text);
        lowest = y;
    }
}

void hs_chart_end(struct hs_chart *c)
{
    draw_names(c);
    draw_frame(c, &c->plot);
    draw_axis(c, &c->x, &c->plot, BELOW);
    draw_axis(c, &c->y, &c->plot, LEFT);
    if (c->bar.what)
        draw_bar(c);
}

/* ---- curves ------------------------------------------------------------------------------- */

void hs_chart_clip(const struct hs_chart *c)
{
    cairo_rectangle(c->canvas.cr, c->plot.x, c->plot.y, c->plot.w, c->plot.h);
    cairo_clip(c->canvas.cr);
}

void hs_chart_curve(const struct hs_chart *c, const double *x, const double *y, int64_t count,
                    bool breaks, struct hs_colour colour)
{
    cairo_t *cr = c->canvas.cr;
    hs_chart_clip(c);
    double last_x = 0, last_y = 0;
    for (int64_t i = 0; i < count; i++) {
        const double px = hs_chart_x(c, x[i]), py = hs_chart_y(c, y[i]);
        if (!isfinite(y[i])) {
            if (breaks && cairo_has_current_point(cr))
                hs_canvas_stroke(&c->canvas, 3.4 * c->u, colour);
        } else if (!cairo_has_current_point(cr)) {
            cairo_move_to(cr, px, py);
            cairo_line_to(cr, px, py); /* one that stands alone is a dot */
        } else if (i == count - 1 || hypot(px - last_x, py - last_y) > 0.5) {
            cairo_line_to(cr, px, py);
        } else { /* too near to be seen */
            continue;
        }
        last_x = px;
        last_y = py;
    }
    hs_canvas_stroke(&c->canvas, 3.4 * c->u, colour);
    cairo_reset_clip(cr);
}
