#include "output/picture_field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- values between nodes ------------------------------------------------------------------ */

/* What a stretch of an axis, from..to of 0..1, looks at: two nodes with weights, or all nodes in it
 * alike where there are more. */
struct sample {
    int64_t first, count;
    double share; /* of the second node; -1: all alike */
};

static struct sample sample_at(double from, double to, int64_t points)
{
    const double most = (double)(points - 1);
    const double lower = fmax(0, ceil(from * most)), upper = fmin(most, floor(to * most));
    if ((to - from) * most > 1)
        return (struct sample){(int64_t)lower, (int64_t)(fmax(upper, lower) - lower) + 1, -1};
    const double middle = fmax(0, 0.5 * (from + to) * most); /* rounding may go below */
    const double node = fmin(floor(middle), most - 1);
    return (struct sample){(int64_t)node, 2, middle - node};
}

static double weight(const struct sample *s, int64_t i)
{
    return s->share < 0 ? 1.0 / (double)s->count : i ? s->share : 1 - s->share;
}

static int64_t nearest(const struct sample *s)
{
    return s->first + (s->share < 0 ? s->count / 2 : s->share >= 0.5);
}

static double value_at(const struct hs_field *f, const struct sample *sx, const struct sample *sy)
{
    const int64_t row = f->points[0];
    if (!isfinite(f->values[nearest(sy) * row + nearest(sx)]))
        return NAN; /* the nearest node says whether there is a value */
    double sum = 0, weights = 0;
    for (int64_t j = 0; j < sy->count; j++)
        for (int64_t i = 0; i < sx->count; i++) {
            const double w = weight(sx, i) * weight(sy, j);
            const double value = f->values[(sy->first + j) * row + sx->first + i];
            if (w > 0 && isfinite(value)) {
                sum += w * value;
                weights += w;
            }
        }
    return sum / weights;
}

/* ---- colours ------------------------------------------------------------------------------- */

enum hs_status hs_field_draw(const struct hs_chart *c, const struct hs_field *field,
                             struct hs_error *err)
{
    const int w = (int)c->plot.w, h = (int)c->plot.h;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, w, h);
    unsigned char *pixels = cairo_image_surface_get_data(image);
    if (!pixels) {
        cairo_surface_destroy(image);
        return hs_error_add(err, HS_DEVICE, "no memory for a picture of %d x %d pixels", w, h);
    }
    for (int j = 0; j < h; j++) {
        uint32_t *row = (uint32_t *)(pixels + j * cairo_image_surface_get_stride(image));
        const struct sample sy =
            sample_at((h - 1.0 - j) / h, (h - (double)j) / h, field->points[1]); /* y up */
        for (int i = 0; i < w; i++) {
            const struct sample sx = sample_at((double)i / w, (i + 1.0) / w, field->points[0]);
            const double value = value_at(field, &sx, &sy);
            const struct hs_colour colour =
                hs_colour_map_at(c->map, (value - c->bar.from) / (c->bar.to - c->bar.from));
            row[i] = (uint32_t)colour.r << 16 | (uint32_t)colour.g << 8 | colour.b;
        }
    }
    cairo_surface_mark_dirty(image);
    cairo_set_source_surface(c->canvas.cr, image, c->plot.x, c->plot.y);
    cairo_pattern_set_filter(cairo_get_source(c->canvas.cr), CAIRO_FILTER_NEAREST);
    cairo_paint(c->canvas.cr);
    cairo_surface_destroy(image);
    return HS_OK;
}

/* ---- contours ------------------------------------------------------------------------------ */

/* The field every three pixels, so that lines are smooth between coarse nodes, and of fine ones. */
struct mesh {
    int columns, rows;
    double dx, dy;  /* pixels */
    double *values; /* [rows][columns], downwards */
};

static enum hs_status make_mesh(const struct hs_chart *c, const struct hs_field *field,
                                struct mesh *mesh, struct hs_error *err)
{
    mesh->columns = 2 + (int)(c->plot.w / 3);
    mesh->rows = 2 + (int)(c->plot.h / 3);
    mesh->values = malloc((size_t)(mesh->columns * mesh->rows) * sizeof *mesh->values);
    if (!mesh->values)
        return hs_error_add(err, HS_DEVICE, "no memory for contours");
    const double dx = 1.0 / (mesh->columns - 1), dy = 1.0 / (mesh->rows - 1);
    for (int j = 0; j < mesh->rows; j++)
        for (int i = 0; i < mesh->columns; i++) {
            const struct sample sx = sample_at((i - 0.5) * dx, (i + 0.5) * dx, field->points[0]);
            const struct sample sy =
                sample_at(1 - (j + 0.5) * dy, 1 - (j - 0.5) * dy, field->points[1]);
            mesh->values[j * mesh->columns + i] = value_at(field, &sx, &sy);
        }
    mesh->dx = c->plot.w * dx;
    mesh->dy = c->plot.h * dy;
    return HS_OK;
}

/* Marching squares: the level crosses none, two or all four sides of a cell. With four, the mean
 * says which corners belong together. */
static void cross_cell(cairo_t *cr, const struct hs_chart *c, const struct mesh *mesh, int i, int j,
                       double level)
{
    static const int di[5] = {0, 1, 1, 0, 0}, dj[5] = {0, 0, 1, 1, 0};
    double v[5], x[4], y[4], mean = 0;
    int crossed = 0;
    for (int k = 0; k < 5; k++)
        v[k] = mesh->values[(j + dj[k]) * mesh->columns + i + di[k]];
    for (int k = 0; k < 4; k++) {
        mean += 0.25 * v[k];
        if ((v[k] < level) == (v[k + 1] < level))
            continue;
        const double t = (level - v[k]) / (v[k + 1] - v[k]);
        x[crossed] = c->plot.x + mesh->dx * (i + di[k] + t * (di[k + 1] - di[k]));
        y[crossed++] = c->plot.y + mesh->dy * (j + dj[k] + t * (dj[k + 1] - dj[k]));
    }
    const int from = crossed == 4 && (mean < level) != (v[0] < level);
    for (int k = 0; isfinite(mean) && k < crossed; k += 2) {
        cairo_move_to(cr, x[(k + from) % 4], y[(k + from) % 4]);
        cairo_line_to(cr, x[(k + from + 1) % 4], y[(k + from + 1) % 4]);
    }
}

/* A label's place: the piece of the path that is farthest from the other labels and the plot's
 * edges. False where none is far enough. */
struct spot {
    double x, y, turn, level;
};

static bool find_spot(const struct hs_chart *c, const cairo_path_t *path, double width,
                      const struct spot *taken, int count, struct spot *out)
{
    const struct hs_area *p = &c->plot;
    const double apart = 0.5 * width + 30 * c->u, again = 500 * c->u;
    double best = 0;
    for (int n = 0; n + 3 < path->num_data; n += 4) {
        const cairo_path_data_t *a = &path->data[n + 1], *b = &path->data[n + 3];
        const double x = 0.5 * (a->point.x + b->point.x), y = 0.5 * (a->point.y + b->point.y);
        const double dx = b->point.x - a->point.x, dy = b->point.y - a->point.y;
        double room = fmin(fmin(x - p->x, p->x + p->w - x), fmin(y - p->y, p->y + p->h - y)) /
                      (0.5 * width + 8 * c->u);
        for (int k = 0; k < count; k++)
            room = fmin(room, hypot(x - taken[k].x, y - taken[k].y) /
                                  (taken[k].level == out->level ? again : apart));
        if (room > fmax(best, 1)) {
            best = room;
            out->x = x;
            out->y = y;
            out->turn = dx == 0 ? 90 : -atan(dy / dx) * 180 / M_PI;
        }
    }
    return best > 0;
}

/* Whether a label covers a point: `along` and `across` its line of text. */
static bool is_under(const struct spot *spot, double half, double size, double x, double y)
{
    const double angle = spot->turn * M_PI / 180;
    const double along = (x - spot->x) * cos(angle) - (y - spot->y) * sin(angle);
    const double across = (x - spot->x) * sin(angle) + (y - spot->y) * cos(angle);
    return fabs(along) < half && fabs(across) < size;
}

/* The pieces of the path that no label covers, then the labels. */
static void draw_level(const struct hs_chart *c, const cairo_path_t *path, double size,
                       double width, const char *text, const struct spot *spots, int count)
{
    const double at = (spots->level - c->bar.from) / (c->bar.to - c->bar.from);
    const struct hs_colour under = hs_colour_map_at(c->map, at), white = {255, 255, 255};
    const bool dark = 2 * under.r + 5 * under.g + under.b < 8 * 110;
    struct hs_lettering letters = {size, dark ? white : hs_ink, .anchor = 0.5};
    for (int n = 0; n + 3 < path->num_data; n += 4) {
        const cairo_path_data_t *a = &path->data[n + 1], *b = &path->data[n + 3];
        bool covered = false;
        for (int k = 0; k < count; k++)
            covered |= is_under(&spots[k], 0.5 * width + 5 * c->u, size,
                                0.5 * (a->point.x + b->point.x), 0.5 * (a->point.y + b->point.y));
        if (covered)
            continue;
        cairo_move_to(c->canvas.cr, a->point.x, a->point.y);
        cairo_line_to(c->canvas.cr, b->point.x, b->point.y);
    }
    hs_canvas_stroke(&c->canvas, 1.8 * c->u, letters.colour);
    for (int k = 0; k < count; k++) {
        const double down = 0.5 * size, angle = spots[k].turn * M_PI / 180;
        letters.turn = spots[k].turn;
        hs_canvas_text(&c->canvas, letters, spots[k].x + down * sin(angle),
                       spots[k].y + down * cos(angle), text);
    }
}

enum hs_status hs_field_contours(const struct hs_chart *c, const struct hs_field *field,
                                 const double *levels, int count, struct hs_error *err)
{
    enum { MOST = 200 };
    struct spot spots[MOST];
    struct mesh mesh = {0};
    const enum hs_status status = make_mesh(c, field, &mesh, err);
    int used = 0;
    for (int n = 0; n < count && status == HS_OK; n++) {
        char text[HS_LABEL_SIZE];
        hs_quantity_text(levels[n], (struct hs_shown_unit){c->bar.unit.factor, ""}, text,
                         sizeof text);
        const double size = 14 * c->u;
        const double width = hs_canvas_text_width(&c->canvas, size, false, text);
        cairo_new_path(c->canvas.cr);
        for (int j = 0; j + 1 < mesh.rows; j++)
            for (int i = 0; i + 1 < mesh.columns; i++)
                cross_cell(c->canvas.cr, c, &mesh, i, j, levels[n]);
        cairo_path_t *path = cairo_copy_path(c->canvas.cr);
        cairo_new_path(c->canvas.cr);
        const int first = used;
        spots[used].level = levels[n];
        while (used < MOST - 1 && find_spot(c, path, width, spots, used, &spots[used]))
            spots[++used].level = levels[n];
        draw_level(c, path, size, width, text, &spots[first], used - first);
        cairo_path_destroy(path);
    }
    free(mesh.values);
    return status;
}
