/* Layout and drawing: see the header. Lengths are in pixels of a picture 1600 wide, times `u`. */
#include "output/picture_plot.h"
#include "output/picture_font.h"
#include "output/picture_ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hs_colour ink = {38, 42, 48}, faint = {226, 229, 233}, blue = {31, 90, 160};
static const struct hs_colour soft = {95, 100, 108};

/* Beyond this ratio of sides the shorter side is stretched, and the subtitle says so. */
static const double longest_ratio = 6;

/* Sizes, at u = 1. */
enum {
    MARGIN = 48,
    TITLE = 25,
    SUBTITLE = 18,
    LABEL = 18,
    TICK_LABEL = 16,
    TICK = 9,
    GAP = 12,
    BAR = 34,
    BAR_GAP = 44,
    LINE_SPACING = 44,
    TITLE_LINES = 2,
};

struct layout {
    double u;
    struct hs_canvas *canvas;
    char title[TITLE_LINES][HS_PICTURE_TEXT];
    int title_lines;
    struct hs_rect plot;
    struct hs_rect bar; /* w = 0: none */
    struct hs_ticks across, up, scale;
    struct hs_shown_unit unit_across, unit_up, unit_scale;
    double stretch[2]; /* of the two axes against true proportions; 1: none */
};

static int pixels(const struct layout *l, double length)
{
    return (int)lrint(length * l->u);
}

static struct hs_lettering lettering(const struct layout *l, double height, double weight,
                                     struct hs_colour colour)
{
    return (struct hs_lettering){.height = height * l->u, .weight = weight, .colour = colour};
}

static void write_text(const struct layout *l, double height, double x, double y, int anchor,
                       bool upright, const char *text)
{
    const struct hs_lettering plain = lettering(l, height, 0.125, ink);
    hs_text_draw(l->canvas, &plain, x, y, anchor, upright, text);
}

/* ---- title ---- */

/* Moves the words that fit into `width` from *text to `line`; a word too long is cut. */
static void take_line(const char **text, double height, double width, bool last, char *line)
{
    const char *end = *text, *next = *text;
    char trial[HS_PICTURE_TEXT + 8];
    while (*next) {
        const char *stop = next + strspn(next, " ");
        stop += strcspn(stop, " ");
        snprintf(trial, sizeof trial, "%.*s", (int)(stop - *text), *text);
        if (hs_text_width(trial, height) > width)
            break;
        end = next = stop;
    }
    const bool rest = *end != 0;
    if (rest && (last || end == *text)) { /* as many letters as fit, and an ellipsis */
        const char *stop = *text;
        for (;;) {
            const char *after = stop;
            if (!hs_text_next(&after))
                break;
            snprintf(trial, sizeof trial, "%.*s\u2026", (int)(after - *text), *text);
            if (hs_text_width(trial, height) > width)
                break;
            stop = after;
        }
        snprintf(line, HS_PICTURE_TEXT, "%.*s%s", (int)(stop - *text), *text, last ? "\u2026" : "");
        *text = stop;
        return;
    }
    snprintf(line, HS_PICTURE_TEXT, "%.*s", (int)(end - *text), *text);
    *text = end + strspn(end, " ");
}

static void break_title(struct layout *l, const struct hs_scene *scene)
{
    const char *text = scene->title;
    const double width = scene->width - 2 * MARGIN * l->u;
    for (int i = 0; i < TITLE_LINES && *text; i++)
        take_line(&text, TITLE * l->u, width, i == TITLE_LINES - 1, l->title[l->title_lines++]);
}

static double top_height(const struct layout *l)
{
    return (MARGIN + l->title_lines * LINE_SPACING + SUBTITLE + 40) * l->u;
}

static void draw_heading(const struct layout *l, const struct hs_scene *scene)
{
    const struct hs_lettering bold = lettering(l, TITLE, 0.165, ink);
    const double x = 0.5 * scene->width;
    double y = (MARGIN + TITLE) * l->u;
    for (int i = 0; i < l->title_lines; i++, y += LINE_SPACING * l->u)
        hs_text_draw(l->canvas, &bold, x, y, HS_TEXT_MIDDLE, false, l->title[i]);
    y -= (TITLE - SUBTITLE) * l->u;

    char text[sizeof scene->subtitle + 64];
    snprintf(text, sizeof text, "%s", scene->subtitle);
    for (int a = 0; a < 2; a++)
        if (l->stretch[a] > 1) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%c stretched %.3g\u00D7", used ? ", " : "",
                     scene->axis_name[a], l->stretch[a]);
        }
    double height = SUBTITLE;
    const double room = scene->width - 2 * MARGIN * l->u;
    const double width = hs_text_width(text, height * l->u);
    if (width > room)
        height *= room / width;
    const struct hs_lettering plain = lettering(l, height, 0.125, soft);
    hs_text_draw(l->canvas, &plain, x, y, HS_TEXT_MIDDLE, false, text);
}

/* ---- axes ---- */

static double widest(const struct layout *l, const struct hs_ticks *ticks)
{
    double width = 0;
    for (int i = 0; i < ticks->count; i++)
        width = fmax(width, hs_text_width(ticks->label[i], TICK_LABEL * l->u));
    return width;
}

/* Lengths get a prefix that fits, other units are shown as they are. */
static struct hs_shown_unit unit_of(const struct hs_picture_axis *axis)
{
    if (strcmp(axis->unit, "m") == 0)
        return hs_length_unit(fmax(fabs(axis->lower), fabs(axis->upper)));
    return (struct hs_shown_unit){1, axis->unit};
}

static void axis_ticks(const struct hs_picture_axis *axis, struct hs_shown_unit unit, int most,
                       struct hs_ticks *out)
{
    hs_ticks_make(axis->lower / unit.factor, axis->upper / unit.factor, most, out);
}

static int fitting(double length, double each)
{
    return (int)fmax(2, fmin(HS_TICKS_MAX, length / each));
}

/* As many ticks across as leave room between their labels. */
static void ticks_across(struct layout *l, const struct hs_picture_axis *axis)
{
    for (int most = fitting(l->plot.w, 60 * l->u);; most--) {
        axis_ticks(axis, l->unit_across, most, &l->across);
        const double apart =
            l->across.step * l->unit_across.factor / (axis->upper - axis->lower) * l->plot.w;
        if (most <= 2 || apart > 1.6 * widest(l, &l->across))
            return;
    }
}

/* "temperature [K] ×10³": what an axis shows, its unit, and what its labels share. */
static void label_text(const char *what, const char *unit, const char *note, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s%s%s%s%s", what, *unit ? " [" : "", unit, *unit ? "]" : "",
             *note ? " (" : "", note, *note ? ")" : "");
}

static double place(double value, double lower, double upper)
{
    return (value - lower) / (upper - lower);
}

static double tick_x(const struct layout *l, const struct hs_picture_axis *axis, int i)
{
    return l->plot.x +
           l->plot.w * place(l->across.at[i] * l->unit_across.factor, axis->lower, axis->upper);
}

static double tick_y(const struct layout *l, double lower, double upper, int i)
{
    return l->plot.y + l->plot.h * (1 - place(l->up.at[i] * l->unit_up.factor, lower, upper));
}

static void bar_of_ink(const struct layout *l, double x, double y, double w, double h)
{
    hs_canvas_fill(l->canvas,
                   (struct hs_rect){(int)lrint(x), (int)lrint(y), (int)lrint(w), (int)lrint(h)},
                   ink);
}

static int thickness(const struct layout *l)
{
    const int t = pixels(l, 2);
    return t > 1 ? t : 1;
}

static void frame(const struct layout *l, struct hs_rect r)
{
    const int t = thickness(l);
    bar_of_ink(l, r.x - t, r.y - t, r.w + 2 * t, t);
    bar_of_ink(l, r.x - t, r.y + r.h, r.w + 2 * t, t);
    bar_of_ink(l, r.x - t, r.y, t, r.h);
    bar_of_ink(l, r.x + r.w, r.y, t, r.h);
}

static void draw_across(const struct layout *l, const struct hs_picture_axis *axis, char name)
{
    const int t = thickness(l), bottom = l->plot.y + l->plot.h + t;
    for (int i = 0; i < l->across.count; i++) {
        const double x = tick_x(l, axis, i);
        bar_of_ink(l, x - 0.5 * t, bottom, t, pixels(l, TICK));
        write_text(l, TICK_LABEL, x, bottom + (TICK + GAP + TICK_LABEL) * l->u, HS_TEXT_MIDDLE,
                   false, l->across.label[i]);
    }
    char text[256];
    label_text((char[]){name, 0}, l->unit_across.name, l->across.note, text, sizeof text);
    write_text(l, LABEL, l->plot.x + 0.5 * l->plot.w,
               bottom + (TICK + GAP + TICK_LABEL + 22 + LABEL) * l->u, HS_TEXT_MIDDLE, false, text);
}

static void draw_up(const struct layout *l, double lower, double upper, const char *what)
{
    const int t = thickness(l), left = l->plot.x - t;
    for (int i = 0; i < l->up.count; i++) {
        const double y = tick_y(l, lower, upper, i);
        bar_of_ink(l, left - pixels(l, TICK), y - 0.5 * t, pixels(l, TICK), t);
        write_text(l, TICK_LABEL, left - (TICK + GAP) * l->u, y + 0.5 * TICK_LABEL * l->u,
                   HS_TEXT_END, false, l->up.label[i]);
    }
    char text[256];
    label_text(what, l->unit_up.name, l->up.note, text, sizeof text);
    write_text(l, LABEL, left - (TICK + GAP + 24) * l->u - widest(l, &l->up),
               l->plot.y + 0.5 * l->plot.h, HS_TEXT_MIDDLE, true, text);
}

/* ---- colour bar ---- */

/* Curves on white leave out the palest colours. */
static const double curve_colours = 0.9;

static void bar_end(const struct layout *l, const struct hs_scene *scene, bool upper)
{
    const int t = thickness(l);
    const double x = l->bar.x, w = l->bar.w, reach = 0.55 * l->bar.w;
    const double y = upper ? l->bar.y - 2 * t : l->bar.y + l->bar.h + 2 * t;
    const struct hs_point corner[3] = {
        {x, y}, {x + w, y}, {x + 0.5 * w, y + (upper ? -reach : reach)}};
    hs_canvas_triangle(l->canvas, corner);
    hs_canvas_ink(l->canvas, hs_colour_map_at(scene->map, upper));
    const struct hs_point outline[4] = {corner[0], corner[2], corner[1], corner[0]};
    hs_canvas_stroke(l->canvas, outline, 4, t);
    hs_canvas_ink(l->canvas, ink);
}

static void draw_bar(const struct layout *l, const struct hs_scene *scene, const double range[2],
                     double colours, const char *what)
{
    const int t = thickness(l);
    for (int j = 0; j < l->bar.h; j++) {
        const struct hs_rect row = {l->bar.x, l->bar.y + j, l->bar.w, 1};
        hs_canvas_fill(l->canvas, row,
                       hs_colour_map_at(scene->map, colours * (1 - (j + 0.5) / l->bar.h)));
    }
    frame(l, l->bar);
    const double right = l->bar.x + l->bar.w + t;
    for (int i = 0; i < l->scale.count; i++) {
        const double at = place(l->scale.at[i] * l->unit_scale.factor, range[0], range[1]);
        const double y = l->bar.y + l->bar.h * (1 - at);
        bar_of_ink(l, right, y - 0.5 * t, pixels(l, TICK), t);
        write_text(l, TICK_LABEL, right + (TICK + GAP) * l->u, y + 0.5 * TICK_LABEL * l->u,
                   HS_TEXT_START, false, l->scale.label[i]);
    }
    char text[256];
    label_text(what, l->unit_scale.name, l->scale.note, text, sizeof text);
    write_text(l, LABEL, right + (TICK + GAP + 28 + LABEL) * l->u + widest(l, &l->scale),
               l->bar.y + 0.5 * l->bar.h, HS_TEXT_MIDDLE, true, text);
}

/* Room that the bar, its labels and its gap take at the plot's right. */
static double bar_room(const struct layout *l)
{
    return (BAR_GAP + BAR + TICK + GAP + 28 + LABEL + 8) * l->u + widest(l, &l->scale);
}

static double left_room(const struct layout *l)
{
    return (LABEL + 24 + GAP + TICK + 4) * l->u + widest(l, &l->up);
}

static double bottom_height(const struct layout *l)
{
    return (TICK + GAP + TICK_LABEL + 22 + LABEL + MARGIN) * l->u;
}

/* The canvas is as wide as asked and as high as the plot needs. */
static enum hs_status make_canvas(struct layout *l, const struct hs_scene *scene, double plot_w,
                                  double plot_h, bool with_bar, struct hs_error *err)
{
    const double used = left_room(l) + plot_w + (with_bar ? bar_room(l) : 0);
    l->plot = (struct hs_rect){(int)lrint(0.5 * (scene->width - used) + left_room(l)),
                               (int)lrint(top_height(l)), (int)lrint(plot_w), (int)lrint(plot_h)};
    if (with_bar)
        l->bar = (struct hs_rect){l->plot.x + l->plot.w + pixels(l, BAR_GAP), l->plot.y,
                                  pixels(l, BAR), l->plot.h};
    return hs_canvas_create(scene->width, l->plot.y + l->plot.h + (int)lrint(bottom_height(l)),
                            &l->canvas, err);
}

/* ---- map ---- */

/* Nodes that a pixel's row or column looks at. */
struct sample {
    int64_t first, count;
    bool mean;    /* of all of them, alike; else there are two, */
    double share; /* and this is the second's weight */
};

static struct sample sample_at(double from, double to, int64_t points)
{
    const double middle = 0.5 * (from + to) * (double)(points - 1);
    const double width = (to - from) * (double)(points - 1);
    struct sample s = {.first = (int64_t)fmin(floor(middle), (double)(points - 2)), .count = 2};
    s.share = middle - (double)s.first;
    if (width > 1) { /* more nodes than pixels: those in this pixel */
        const double lower = fmax(0, ceil(middle - 0.5 * width));
        const double upper = fmin((double)(points - 1), floor(middle + 0.5 * width));
        s.first = (int64_t)lower;
        s.count = upper > lower ? (int64_t)(upper - lower) + 1 : 1;
        s.mean = true;
    }
    return s;
}

static double weight(const struct sample *s, int64_t i)
{
    if (s->mean)
        return 1.0 / (double)s->count;
    return i ? s->share : 1 - s->share;
}

static int64_t nearest(const struct sample *s)
{
    return s->first + (s->mean ? s->count / 2 : s->share >= 0.5);
}

static double value_at(const double *values, int64_t row, const struct sample *sx,
                       const struct sample *sy)
{
    if (!isfinite(values[nearest(sy) * row + nearest(sx)]))
        return NAN; /* the nearest node says whether there is a value */
    double sum = 0, weights = 0;
    for (int64_t j = 0; j < sy->count; j++)
        for (int64_t i = 0; i < sx->count; i++) {
            const double w = weight(sx, i) * weight(sy, j);
            const double value = values[(sy->first + j) * row + sx->first + i];
            if (w > 0 && isfinite(value)) {
                sum += w * value;
                weights += w;
            }
        }
    return sum / weights;
}

static void fill_plot(const struct layout *l, const struct hs_scene *scene, const double *values)
{
    const int64_t nx = scene->axis[0].points, ny = scene->axis[1].points;
    for (int j = 0; j < l->plot.h; j++) {
        const double from = (double)(l->plot.h - 1 - j) / l->plot.h; /* y up */
        const struct sample sy = sample_at(from, from + 1.0 / l->plot.h, ny);
        for (int i = 0; i < l->plot.w; i++) {
            const struct sample sx = sample_at((double)i / l->plot.w, (i + 1.0) / l->plot.w, nx);
            const double value = value_at(values, nx, &sx, &sy);
            hs_canvas_set(
                l->canvas, l->plot.x + i, l->plot.y + j,
                hs_colour_map_at(scene->map, place(value, scene->range[0], scene->range[1])));
        }
    }
}

static void note_of_holes(const struct layout *l, const struct hs_scene *scene,
                          const double *values)
{
    const int64_t count = scene->axis[0].points * scene->axis[1].points;
    int64_t i = 0;
    while (i < count && isfinite(values[i]))
        i++;
    if (i == count)
        return;
    const double y = l->plot.y + l->plot.h + (TICK + GAP + TICK_LABEL + 22 + LABEL) * l->u;
    const int side = pixels(l, 20);
    const struct hs_rect swatch = {l->bar.x, (int)lrint(y) - side + pixels(l, 1), side, side};
    hs_canvas_fill(l->canvas, swatch, hs_colour_of_nan);
    write_text(l, TICK_LABEL, l->bar.x + side + GAP * l->u, y, HS_TEXT_START, false, "not finite");
}

/* Sides in true proportion within the room there is, or stretched to the longest ratio. */
static void proportions(struct layout *l, const struct hs_scene *scene, double room_w,
                        double room_h, double *w, double *h)
{
    const double ratio = (scene->axis[0].upper - scene->axis[0].lower) /
                         (scene->axis[1].upper - scene->axis[1].lower);
    const double drawn = fmin(fmax(ratio, 1 / longest_ratio), longest_ratio);
    l->stretch[1] = ratio / drawn;
    l->stretch[0] = drawn / ratio;
    *w = fmin(room_w, room_h * drawn);
    *h = *w / drawn;
}

/* Axes in true proportion share a unit. */
static void axis_units(struct layout *l, const struct hs_scene *scene)
{
    l->unit_across = unit_of(&scene->axis[0]);
    l->unit_up = unit_of(&scene->axis[1]);
    if (l->stretch[0] > 1 || l->stretch[1] > 1)
        return;
    if (l->unit_across.factor > l->unit_up.factor)
        l->unit_up = l->unit_across;
    else
        l->unit_across = l->unit_up;
}

enum hs_status hs_plot_map(const struct hs_scene *scene, const double *values,
                           struct hs_canvas **out, struct hs_error *err)
{
    struct layout l = {.u = scene->width / 1600.0, .unit_scale = {1, scene->unit}};
    break_title(&l, scene);
    const double room_h = 0.75 * scene->width - top_height(&l) - bottom_height(&l);
    double w, h = room_h;
    for (int pass = 0; pass < 3; pass++) { /* labels need room, and the room decides on labels */
        proportions(&l, scene, 0.8 * scene->width, h, &w, &h);
        axis_units(&l, scene);
        hs_ticks_make(scene->range[0], scene->range[1], fitting(h, 55 * l.u), &l.scale);
        axis_ticks(&scene->axis[1], l.unit_up, fitting(h, 55 * l.u), &l.up);
        const double room_w = scene->width - 2 * MARGIN * l.u - left_room(&l) - bar_room(&l);
        proportions(&l, scene, room_w, room_h, &w, &h);
    }
    const enum hs_status status = make_canvas(&l, scene, w, h, true, err);
    if (status != HS_OK)
        return status;
    ticks_across(&l, &scene->axis[0]);
    draw_heading(&l, scene);
    fill_plot(&l, scene, values);
    frame(&l, l.plot);
    draw_across(&l, &scene->axis[0], scene->axis_name[0]);
    draw_up(&l, scene->axis[1].lower, scene->axis[1].upper, (char[]){scene->axis_name[1], 0});
    draw_bar(&l, scene, scene->range, 1, "temperature");
    for (int end = 0; end < 2; end++)
        if (scene->beyond[end])
            bar_end(&l, scene, end);
    note_of_holes(&l, scene, values);
    *out = l.canvas;
    return HS_OK;
}

/* ---- curves ---- */

static void draw_grid(const struct layout *l, const struct hs_scene *scene)
{
    const int t = thickness(l);
    for (int i = 0; i < l->across.count; i++) {
        const int x = (int)lrint(tick_x(l, &scene->axis[0], i) - 0.5 * t);
        hs_canvas_fill(l->canvas, (struct hs_rect){x, l->plot.y, t, l->plot.h}, faint);
    }
    for (int i = 0; i < l->up.count; i++) {
        const int y = (int)lrint(tick_y(l, scene->range[0], scene->range[1], i) - 0.5 * t);
        hs_canvas_fill(l->canvas, (struct hs_rect){l->plot.x, y, l->plot.w, t}, faint);
    }
}

static double node_x(const struct layout *l, int64_t i, int64_t points)
{
    return l->plot.x + l->plot.w * (double)i / (double)(points - 1);
}

static void shade_holes(const struct layout *l, const double *values, int64_t points)
{
    for (int64_t i = 0; i < points; i++)
        if (!isfinite(values[i])) {
            const int from = (int)fmax(
                l->plot.x, lrint(node_x(l, i, points) - 0.5 * l->plot.w / (double)(points - 1)));
            const int to =
                (int)fmin(l->plot.x + l->plot.w,
                          lrint(node_x(l, i, points) + 0.5 * l->plot.w / (double)(points - 1)));
            const struct hs_rect band = {from, l->plot.y, to > from ? to - from : 1, l->plot.h};
            hs_canvas_fill(l->canvas, band, hs_colour_of_nan);
        }
}

/* Points far outside the plot are brought near it, so that strokes stay short. */
static double curve_y(const struct layout *l, const struct hs_scene *scene, double value)
{
    const double at = place(value, scene->range[0], scene->range[1]);
    return l->plot.y + l->plot.h * (1 - fmax(-1e3, fmin(1e3, at)));
}

static void draw_curve(const struct layout *l, const struct hs_scene *scene, const double *values,
                       struct hs_colour colour)
{
    const int64_t points = scene->axis[0].points;
    struct hs_point pair[2] = {{0, 0}, {0, 0}};
    bool joined = false;
    for (int64_t i = 0; i < points; i++) {
        if (!isfinite(values[i])) {
            joined = false;
            continue;
        }
        pair[1] = (struct hs_point){node_x(l, i, points), curve_y(l, scene, values[i])};
        hs_canvas_stroke(l->canvas, joined ? pair : pair + 1, joined ? 2 : 1, 3.4 * l->u);
        pair[0] = pair[1];
        joined = true;
    }
    hs_canvas_ink(l->canvas, colour);
}

static void draw_curves(const struct layout *l, const struct hs_scene *scene, const double *values,
                        const double *time, int64_t count)
{
    l->canvas->clip = l->plot;
    for (int64_t k = 0; k < count; k++)
        draw_curve(l, scene, values + k * scene->axis[0].points,
                   l->bar.w ? hs_colour_map_at(scene->map, curve_colours * place(time[k], time[0],
                                                                                 time[count - 1]))
                            : blue);
    l->canvas->clip = (struct hs_rect){0, 0, l->canvas->width, l->canvas->height};
}

enum hs_status hs_plot_curves(const struct hs_scene *scene, const double *values,
                              const double *time, int64_t count, struct hs_canvas **out,
                              struct hs_error *err)
{
    struct layout l = {.u = scene->width / 1600.0, .unit_up = {1, scene->unit}, .stretch = {1, 1}};
    const bool with_bar = count > 1 && time[count - 1] > time[0];
    break_title(&l, scene);
    l.unit_across = unit_of(&scene->axis[0]);
    const double h = 0.62 * scene->width - top_height(&l) - bottom_height(&l);
    hs_ticks_make(scene->range[0], scene->range[1], fitting(h, 75 * l.u), &l.up);
    if (with_bar) {
        l.unit_scale = hs_time_unit(time[count - 1]);
        hs_ticks_make(time[0] / l.unit_scale.factor, time[count - 1] / l.unit_scale.factor,
                      fitting(h, 75 * l.u), &l.scale);
    }
    const double w =
        scene->width - 2 * MARGIN * l.u - left_room(&l) - (with_bar ? bar_room(&l) : 0);
    const enum hs_status status = make_canvas(&l, scene, w, h, with_bar, err);
    if (status != HS_OK)
        return status;
    ticks_across(&l, &scene->axis[0]);
    draw_heading(&l, scene);
    if (!with_bar)
        shade_holes(&l, values, scene->axis[0].points);
    draw_grid(&l, scene);
    draw_curves(&l, scene, values, time, count);
    frame(&l, l.plot);
    draw_across(&l, &scene->axis[0], scene->axis_name[0]);
    draw_up(&l, scene->range[0], scene->range[1], "temperature");
    if (with_bar)
        draw_bar(&l, scene, (double[]){time[0], time[count - 1]}, curve_colours, "time");
    *out = l.canvas;
    return HS_OK;
}
