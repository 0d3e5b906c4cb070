#include "output/pictures/chart.h"

#include "core/grid.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

double hs_chart_node(const struct hs_chart *c, int axis, double share)
{
    const double *place = c->place[axis];
    const int64_t last = c->points[axis] - 1;
    const double at = place[0] + fmax(0, fmin(1, share)) * (place[last] - place[0]);
    const int64_t i = hs_interval_of(place, last, at);
    return (double)i + (at - place[i]) / (place[i + 1] - place[i]);
}

/* A position along an axis, in nodes, and the width of the sample there, at least one node. */
struct sample {
    double node, reach;
};

/* Samples of the plot's columns, from the left, then of its rows, from the top: at the middles of
 * equal parts with `offset` 0.5, at their borders with 0. Allocated. */
static struct sample *sample(const struct hs_chart *c, int columns, int rows, double offset)
{
    struct sample *out = hs_new((size_t)(columns + rows) * sizeof *out);
    for (int n = 0; n < columns + rows; n++) {
        const int axis = n >= columns;
        const double parts = (axis ? rows : columns) - 1 + 2 * offset, half = 0.5 / parts;
        const double on = (n - axis * columns + offset) / parts, share = axis ? 1 - on : on;
        out[n].node = hs_chart_node(c, axis, share);
        out[n].reach =
            fmax(1, hs_chart_node(c, axis, share + half) - hs_chart_node(c, axis, share - half));
    }
    return out;
}

/* The field at a sample: the mean of the nodes within its reach (at least one cell), with weights
 * that fall linearly with distance. So it is bilinear between nodes. NaN if the nearest node is not
 * finite. */
static double value_at(const struct hs_chart *c, const struct sample *x, const struct sample *y)
{
    const int64_t nx = c->points[0], ny = c->points[1];
    const int64_t first = (int64_t)fmax(0, ceil(x->node - x->reach));
    const long double nearest = c->field[lround(y->node) * nx + lround(x->node)];
    long double sum = 0; /* cannot overflow; exactly 0 if all nodes are equal */
    double weights = 0;
    if (!isfinite(nearest))
        return NAN;
    for (int64_t j = (int64_t)fmax(0, ceil(y->node - y->reach)); j < ny && j < y->node + y->reach;
         j++)
        for (int64_t i = first; i < nx && i < x->node + x->reach; i++) {
            const double value = c->field[j * nx + i];
            const double w =
                (1 - fabs(i - x->node) / x->reach) * (1 - fabs(j - y->node) / y->reach);
            if (w > 0 && isfinite(value)) {
                sum += w * (value - nearest);
                weights += w;
            }
        }
    return (double)(nearest + sum / weights);
}

/* If there is no memory for the image, cr has an error, which is reported when it is written. */
static void draw_colours(const struct hs_chart *c)
{
    const double unit = (double)c->width / HS_CANVAS_UNITS;
    const int w = (int)lrint(c->plot.width * unit), h = (int)lrint(c->plot.height * unit);
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
    uint32_t *pixel =
        (uint32_t *)(void *)cairo_image_surface_get_data(image); /* rows have no padding */
    struct sample *at = sample(c, w, h, 0.5);
    for (int n = 0; pixel && n < w * h; n++)
        *pixel++ = hs_chart_colour(c, value_at(c, &at[n % w], &at[w + n / w]));
    free(at);
    cairo_surface_mark_dirty(image);
    cairo_save(c->cr);
    cairo_translate(c->cr, c->plot.x, c->plot.y);
    cairo_scale(c->cr, 1 / unit, 1 / unit);
    cairo_set_source_surface(c->cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(c->cr), CAIRO_FILTER_NEAREST);
    cairo_paint(c->cr);
    cairo_restore(c->cr);
    cairo_surface_destroy(image);
}

/* ---- contours ------------------------------------------------------------------------------ */

/* Adds the path of a contour through a mesh, in cells: one or two segments per cell. */
static void add_level(cairo_t *cr, const double *mesh, int columns, int rows, double level)
{
    static const int right[] = {0, 1, 1, 0, 0}, down[] = {0, 0, 1, 1, 0}; /* corners */
    for (int cell = 0; cell < columns * (rows - 1); cell++) {
        bool begun = false;
        for (int k = 0; k < 4 && (cell + 1) % columns > 0; k++) {
            const double a = mesh[cell + right[k] + down[k] * columns];
            const double b = mesh[cell + right[k + 1] + down[k + 1] * columns];
            const double t = (level - a) / (b - a);
            if ((a < level) == (b < level) || !isfinite(t))
                continue;
            (begun ? cairo_line_to
                   : cairo_move_to)(cr, cell % columns + right[k] + t * (right[k + 1] - right[k]),
                                    cell / columns + down[k] + t * (down[k + 1] - down[k]));
            begun = !begun;
        }
    }
}

struct spot { /* of a label */
    double x, y, turn, level, width;
};

/* Finds the segment of the path that is farthest from the plot's edges and from other labels, most
 * of all from those of its own level. False if none is far enough. */
static bool find_spot(const struct hs_chart *c, const cairo_path_t *path, const struct spot *taken,
                      int count, struct spot *out)
{
    const cairo_rectangle_t *p = &c->plot;
    double best = 1;
    for (int n = 0; n + 3 < path->num_data; n += 4) {
        const cairo_path_data_t *a = &path->data[n + 1], *b = &path->data[n + 3];
        if (a->point.x == b->point.x && a->point.y == b->point.y)
            continue; /* the contour only touches a corner */
        const double x = 0.5 * (a->point.x + b->point.x), y = 0.5 * (a->point.y + b->point.y);
        double room =
            fmin(fmin(x - p->x, p->x + p->width - x), fmin(y - p->y, p->y + p->height - y)) /
            (0.5 * out->width + 8);
        for (int k = 0; k < count; k++) {
            const double apart = 0.5 * (taken[k].width + out->width) + 20;
            room = fmin(room, hypot(x - taken[k].x, y - taken[k].y) /
                                  (taken[k].level == out->level ? 500 : apart));
        }
        if (room > best) {
            best = room;
            out->x = x;
            out->y = y;
            out->turn = -atan((b->point.y - a->point.y) / (b->point.x - a->point.x));
        }
    }
    return best > 1;
}

static void draw_contours(const struct hs_chart *c)
{
    enum { MOST = 200 };
    struct spot spots[MOST];
    int used = 0;
    /* a mesh of three units: contours are smooth with both coarse and fine nodes */
    const int columns = 2 + (int)(c->plot.width / 3), rows = 2 + (int)(c->plot.height / 3);
    struct sample *at = sample(c, columns, rows, 0);
    double *mesh = hs_new((size_t)columns * (size_t)rows * sizeof *mesh);
    for (int n = 0; n < columns * rows; n++)
        mesh[n] = value_at(c, &at[n % columns], &at[columns + n / columns]);
    for (int n = 0; n < c->level_count; n++) {
        const double level = c->levels[n];
        const uint32_t under = hs_chart_colour(c, level);
        const bool dark = 2 * (under >> 16) + 5 * (under >> 8 & 0xFF) + (under & 0xFF) < 8 * 110;
        struct hs_lettering letters = {14, dark ? 0xFFFFFF : HS_INK, 0.5, 0.5,
                                       .halo = 0xFF000000 | under};
        char text[HS_LABEL_SIZE];
        hs_number_text(level / c->bar.unit.factor,
                       1e-3 * (c->bar.to - c->bar.from) / c->bar.unit.factor, text);
        const double width = hs_canvas_width(c->cr, letters, text);
        spots[used] = (struct spot){.level = level, .width = width};
        cairo_save(c->cr);
        cairo_translate(c->cr, c->plot.x, c->plot.y);
        cairo_scale(c->cr, c->plot.width / (columns - 1), c->plot.height / (rows - 1));
        add_level(c->cr, mesh, columns, rows, level);
        cairo_restore(c->cr);
        cairo_path_t *path = cairo_copy_path(c->cr);
        hs_canvas_stroke(c->cr, 1.8, letters.colour);
        while (used < MOST - 1 && find_spot(c, path, spots, used, &spots[used])) {
            letters.turn = spots[used].turn;
            hs_canvas_text(c->cr, letters, spots[used].x, spots[used].y, text);
            spots[++used] = (struct spot){.level = level, .width = width};
        }
        cairo_path_destroy(path);
    }
    free(mesh);
    free(at);
}

/* ---- parts --------------------------------------------------------------------------------- */

/* Draws the borders between parts, with a resolution of one unit. */
static void draw_parts(const struct hs_chart *c)
{
    const int columns = (int)c->plot.width, rows = (int)c->plot.height;
    int *last = hs_new((size_t)columns * sizeof *last); /* of each column */
    for (int n = 0; n < columns * rows; n++) {
        const int i = n % columns, j = n / columns;
        const int here = c->part(c->self, (i + 0.5) / columns, 1 - (j + 0.5) / rows);
        for (int above = 0; above < 2; above++) /* else at the left */
            if (above ? j > 0 && here != last[i] : i > 0 && here != last[i - 1]) {
                cairo_move_to(c->cr, c->plot.x + i, c->plot.y + j);
                cairo_line_to(c->cr, c->plot.x + i + above, c->plot.y + j + !above);
            }
        last[i] = here;
    }
    free(last);
    hs_canvas_stroke(c->cr, 1.2, HS_PART);
}

void hs_chart_draw_field(const struct hs_chart *c)
{
    draw_colours(c);
    if (c->part)
        draw_parts(c);
    if (c->level_count)
        draw_contours(c);
}
