#include "output/pictures/picture.h"

#include "core/memory.h"
#include "output/pictures/chart.h"
#include "output/pictures/outlines.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- range --------------------------------------------------------------------------------- */

double hs_picture_narrowest(const double range[2])
{
    return fmax(1e-12 * fmax(fabs(range[0]), fabs(range[1])), 1e-300);
}

static void widen(const double *values, int64_t count, double bounds[2])
{
    for (int64_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            bounds[0] = fmin(bounds[0], values[i]);
            bounds[1] = fmax(bounds[1], values[i]);
        }
}

/* A scale over the data's bounds (from > to: no data) with a margin, or with the ends that `p` asks
 * for (NULL: none). Warns if all data lie outside. Widens a range that is no wider than the
 * rounding of a constant. */
static struct hs_scale fit(const struct hs_picture *p, const char *what, const char *unit,
                           const double bounds[2], double margin, struct hs_error *err)
{
    const double *asked = p ? p->range : (double[]){NAN, NAN};
    const double most = 0.25 * DBL_MAX; /* keeps widths and margins finite */
    const bool none = bounds[0] > bounds[1];
    const double lower = none ? 0 : fmax(-most, fmin(most, bounds[0]));
    const double upper = none ? 0 : fmax(-most, fmin(most, bounds[1]));
    const double more = margin * (upper - lower);
    double range[2] = {isnan(asked[0]) ? lower - more : asked[0],
                       isnan(asked[1]) ? upper + more : asked[1]};
    double largest = fmax(fabs(range[0]), fabs(range[1]));
    if (range[1] - range[0] <= hs_picture_narrowest(range)) {
        const double half = largest > 1e-297 ? 0.01 * largest : 1;
        range[0] = isnan(asked[0]) ? fmin(range[0], range[1]) - half : range[0];
        range[1] = isnan(asked[1]) ? fmax(range[0], range[1]) + half : range[1];
        largest += half;
    }
    const bool below = range[1] < bounds[0];
    const bool above = range[0] > bounds[1];
    if (!none && (below || above) && !(isnan(asked[0]) && isnan(asked[1])))
        hs_error_add(err, HS_OK,
                     "%s: the range, %.9g to %.9g, lies %s all that is drawn, which is %.9g to "
                     "%.9g: nothing can be told from the picture",
                     p->output, range[0], range[1], below ? "below" : "above", bounds[0],
                     bounds[1]);
    return (struct hs_scale){what, range[0], range[1], .unit = hs_unit_shown(unit, largest)};
}

static struct hs_scale scale_of(const struct hs_picture_column *axis)
{
    const double ends[] = {axis->value[0], axis->value[axis->count - 1]};
    return fit(NULL, axis->name, axis->unit, ends, 0, NULL);
}

static void choose_levels(struct hs_picture *p, struct hs_scale scale, const double bounds[2],
                          struct hs_error *err)
{
    bool crossed = p->level_count == 0 && p->contours == 0;
    char label[HS_LABEL_SIZE];
    hs_scale_set_step(&scale, (double)p->contours + 2);
    for (int n = 0; p->contours && p->level_count < HS_PICTURE_LEVELS; n++) {
        double *level = &p->levels[p->level_count];
        if (!hs_scale_tick(&scale, n, level, label))
            break;
        p->level_count += *level > scale.from && *level < scale.to; /* not along the border */
    }
    for (int n = 0; n < p->level_count; n++)
        crossed |= p->levels[n] > bounds[0] && p->levels[n] <= bounds[1];
    if (!crossed && bounds[0] > bounds[1])
        hs_error_add(err, HS_OK, "%s: --contours: no line is drawn, for no temperature is a number",
                     p->output);
    else if (!crossed)
        hs_error_add(err, HS_OK,
                     "%s: --contours: no line is drawn, for the temperatures are %.9g to %.9g",
                     p->output, bounds[0], bounds[1]);
}

/* ---- the field ----------------------------------------------------------------------------- */

struct job {
    struct hs_picture *picture;
    bool film, numbered; /* a film; or a picture of each snapshot */
    int64_t together;    /* snapshots in one picture: the curves of a line plot; else 1 */
    int64_t nodes;       /* of the cut */
    double *values;      /* [together][nodes], and room for a second cut */
    struct hs_outlines outlines;
    struct hs_chart chart;
    struct hs_sink sink;
};

static enum hs_status init(struct job *job, struct hs_error *err)
{
    const struct hs_picture *p = job->picture;
    struct hs_chart *c = &job->chart;
    int axes = 0;
    job->nodes = 1;
    for (int a = 0; a < p->file.dims; a++) {
        const struct hs_picture_column *axis = &p->file.axis[a];
        if (a == p->cut.axis)
            continue;
        *(axes ? &c->y : &c->x) = scale_of(axis);
        c->points[axes] = axis->count;
        c->place[axes++] = axis->value;
        job->nodes *= axis->count;
    }
    job->film = hs_picture_kind_of(p->output) > HS_PDF;
    job->together = axes == 1 && !job->film ? p->last - p->first + 1 : 1;
    job->numbered = p->all && (axes == 2 || job->film);
    c->count = axes == 1 ? (int)job->together : 0;
    c->curves = hs_new((size_t)job->together * sizeof *c->curves);
    job->values = malloc((size_t)(job->nodes * (job->together + 1)) * sizeof *job->values);
    return job->values ? HS_OK
                       : hs_error_add(err, HS_DEVICE, "%s: no memory for %lld nodes", p->file.path,
                                      (long long)(job->nodes * (job->together + 1)));
}

/* The material at a position in the picture. */
static int material_at(const void *self, double across, double up)
{
    const struct job *job = self;
    const struct hs_chart *c = &job->chart;
    const struct hs_picture *p = job->picture;
    const double place[] = {c->x.from + across * (c->x.to - c->x.from),
                            c->y.from + up * (c->y.to - c->y.from)}; /* of a line only x counts */
    double at[HS_AXES] = {0};
    if (job->outlines.labels.label)
        return hs_labels_at(&job->outlines.labels, hs_chart_node(c, 0, across),
                            c->field ? hs_chart_node(c, 1, up) : 0.0);
    for (int a = 0, n = 0; a < p->file.dims; a++)
        at[a] = a == p->cut.axis ? p->cut.at : place[n++];
    return hs_outlines_material(&job->outlines, p->file.dims, at);
}

/* True proportions with a common unit, or the shorter side stretched so that it can be seen. */
static void choose_ratio(struct hs_chart *c)
{
    const double longest = 6, ratio = (c->x.to - c->x.from) / (c->y.to - c->y.from);
    c->ratio = fmin(fmax(ratio, 1 / longest), longest);
    if (ratio == c->ratio)
        c->x.unit = c->y.unit = c->x.unit.factor > c->y.unit.factor ? c->x.unit : c->y.unit;
}

/* Reads one slice at a time, to save memory. */
static enum hs_status choose_scales(struct job *job, struct hs_error *err)
{
    struct hs_picture *p = job->picture;
    struct hs_chart *c = &job->chart;
    double bounds[2] = {INFINITY, -INFINITY};
    for (int64_t step = p->first; step <= p->last; step++) {
        double *values = job->values + (step - p->first) % job->together * job->nodes;
        HS_TRY(hs_picture_read(&p->file, step, &p->cut, values, err));
        widen(values, job->nodes, bounds);
    }
    const struct hs_scale temperature =
        fit(p, "temperature", p->file.unit, bounds, c->count ? 0.05 : 0, err);
    *(c->count ? &c->y : &c->bar) = temperature;
    job->outlines = hs_outlines_read(&p->file, &p->cut, err);
    c->part = job->outlines.count > 1 || job->outlines.labels.label ? material_at : NULL;
    c->self = job;
    if (c->count)
        return HS_OK;
    c->beyond[0] = bounds[0] < c->bar.from;
    c->beyond[1] = bounds[1] > c->bar.to;
    c->field = job->values;
    choose_levels(p, c->bar, bounds, err);
    c->levels = p->levels;
    c->level_count = p->level_count;
    choose_ratio(c);
    return HS_OK;
}

/* The line at one snapshot, or at each in a colour by its time; leaves out colours too pale for
 * white paper. */
static void make_curves(struct job *job, const double *time)
{
    struct hs_chart *c = &job->chart;
    const double ends[] = {time[0], time[c->count - 1]};
    const bool many = ends[1] > ends[0];
    if (many)
        c->bar = fit(NULL, "time", "s", ends, 0, NULL);
    c->colours = 0.9;
    for (int64_t k = 0; k < c->count; k++)
        c->curves[k] = (struct hs_curve){c->place[0], job->values + k * job->nodes, job->nodes,
                                         .colour = many ? hs_chart_colour(c, time[k]) : HS_BLUE};
}

/* "t = 60 s, z = 20 mm, y stretched 3×", allocated. */
static char *describe(const struct job *job, double from, double to)
{
    const struct hs_picture *p = job->picture;
    const struct hs_scale *x = &job->chart.x, *y = &job->chart.y;
    const double more = (x->to - x->from) / (y->to - y->from) / job->chart.ratio;
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fputs(p->file.solved ? "steady state" : "t = ", stream);
    if (!p->file.solved)
        hs_quantity_put(stream, from, hs_unit_shown("s", from));
    if (from < to) {
        fputs(" to ", stream);
        hs_quantity_put(stream, to, hs_unit_shown("s", to));
    }
    if (p->cut.axis >= 0) {
        const struct hs_scale cut = scale_of(&p->file.axis[p->cut.axis]);
        fprintf(stream, ", %s = ", cut.what);
        hs_quantity_put(stream, p->cut.at, cut.unit);
    }
    if (job->chart.field && more != 1)
        fprintf(stream, ", %s stretched %.3g×", (more > 1 ? y : x)->what, fmax(more, 1 / more));
    fclose(stream);
    return text;
}

/* Draws a page into the film or a file of its own. */
static enum hs_status draw_page(struct job *job, int64_t first, struct hs_error *err)
{
    const struct hs_picture *p = job->picture;
    const double *time = p->file.step.value;
    const int64_t last = first + job->together - 1;
    if (job->numbered) /* else choose_scales has read it */
        HS_TRY(hs_picture_read(&p->file, first, &p->cut, job->values, err));
    const char *ending = strrchr(p->output, '.');
    char *name = job->numbered ? hs_format("%.*s-%04lld%s", (int)(ending - p->output), p->output,
                                           (long long)first, job->film ? ".png" : ending)
                               : hs_copy(p->output);
    char *subtitle = describe(job, time[first], time[last]);
    char *which = first < last
                      ? hs_format("snapshots %lld to %lld", (long long)first, (long long)last)
                      : hs_format("snapshot %lld of 0 to %lld", (long long)last,
                                  (long long)p->file.step.count - 1);
    enum hs_status status;
    if (job->chart.count)
        make_curves(job, time + first);
    job->chart.subtitle = subtitle;
    if (job->sink.to)
        status = hs_charts_draw(&job->chart, 1, &job->sink, err);
    else if (!(status = hs_charts_write(&job->chart, 1, name, err)))
        printf("%s: %s, %s\n", name, which, subtitle);
    free(which);
    free(name);
    free(subtitle);
    return status;
}

/* Reports the film; without ffmpeg, says how to make it. */
static enum hs_status say_film(const struct job *job, struct hs_error *err)
{
    const struct hs_picture *p = job->picture;
    const int stem = (int)(strrchr(p->output, '.') - p->output);
    if (job->sink.to) {
        printf("%s: a film of %lld frames\n", p->output, (long long)p->last + 1);
        return HS_OK;
    }
    return hs_error_add(
        err, HS_IO,
        "%s: not made, for ffmpeg is not installed; its frames are %.*s-0000.png and on. Install "
        "it (apt-get install ffmpeg) and draw again, or where it is run\n"
        "    ffmpeg -framerate %d -i '%.*s-%%04d.png' -pix_fmt yuv420p '%s'",
        p->output, stem, p->output, (int)p->per_second, stem, p->output, p->output);
}

enum hs_status hs_picture_draw(struct hs_picture *p, struct hs_error *err)
{
    struct job job = {
        .picture = p,
        .chart = {.width = (int)p->width, .title = p->file.title, .map = p->map, .colours = 1}};
    enum hs_status status = init(&job, err);
    status = status ? status : choose_scales(&job, err);
    if (job.film && !status)
        status = hs_sink_open(&job.sink, p->output, (int)p->per_second, err);
    for (int64_t step = p->first; step <= p->last && !status; step += job.together)
        status = draw_page(&job, step, err);
    if (job.sink.part.file)
        status = hs_sink_close(&job.sink, status, err);
    if (job.film && !status)
        status = say_film(&job, err);
    hs_outlines_release(&job.outlines);
    free(job.values);
    free(job.chart.curves);
    return status;
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Whether all rows are of one quantity, such as the fluxes of several walls. */
static bool is_one_quantity(const struct hs_picture_file *file)
{
    bool one = true;
    for (int k = 1; k < file->columns; k++)
        one = one && strcmp(file->column[k].quantity, file->column->quantity) == 0;
    return one;
}

/* What the rows are, which have one unit. */
static const char *quantity_of(const struct hs_picture_file *file)
{
    const struct hs_picture_column *first = file->column;
    return file->columns == 1                     ? first->path
           : is_one_quantity(file)                ? first->quantity
           : strcmp(first->unit, file->unit) == 0 ? "temperature"
           : strcmp(first->unit, "K") == 0        ? "difference in temperature"
                                                  : "heat flow";
}

/* The scale of the rows' times. One time alone stands in the middle: a row at the beginning has
 * nothing before it. */
static struct hs_scale fit_times(const struct hs_picture *p, const double times[2],
                                 char label[HS_LABEL_SIZE])
{
    struct hs_scale s = fit(NULL, "t", "s", times, 0, NULL);
    if (times[0] < times[1])
        return s;
    if (p->file.solved) {
        s.what = "";
        s.unit = (struct hs_unit){.factor = 1, .name = ""};
        s.single = "steady state";
        return s;
    }
    s.unit = hs_unit_shown("s", times[0]);
    hs_number_text(times[0] / s.unit.factor, INFINITY, label);
    s.single = label;
    return s;
}

enum hs_status hs_picture_plot(struct hs_picture *p, const char *names, struct hs_error *err)
{
    static const uint32_t colours[] = {HS_BLUE,  0xCC5500, 0x00825A, 0x963C96,
                                       0xB22222, 0x78641E, 0x008CAA, 0x5A5A5A};
    HS_TRY(hs_picture_read_columns(&p->file, names, err));
    const int count = p->file.columns;
    const struct hs_picture_column *column = p->file.column;
    const bool one = is_one_quantity(&p->file);
    char label[HS_LABEL_SIZE];
    double values[2] = {INFINITY, -INFINITY}, times[2] = {INFINITY, -INFINITY};
    struct hs_chart c = {
        .width = (int)p->width, .title = p->file.title, .subtitle = "", .count = count};
    c.curves = hs_new((size_t)count * sizeof *c.curves);
    for (int k = 0; k < count; k++, column++) {
        widen(column->value, column->count, values);
        widen(column->time, column->count, times);
        c.curves[k] = (struct hs_curve){column->time, column->value, column->count, colours[k % 8],
                                        .name = count == 1 ? NULL
                                                : one      ? column->name
                                                           : column->path};
    }
    c.x = fit_times(p, times, label);
    c.y = fit(p, quantity_of(&p->file), p->file.column->unit, values, 0.05, err);
    const enum hs_status status = hs_charts_write(&c, 1, p->output, err);
    if (!status)
        printf("%s: %d curve%s of %s\n", p->output, count, count == 1 ? "" : "s", p->file.path);
    free(c.curves);
    return status;
}
