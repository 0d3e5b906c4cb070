/* What to draw from a file, and in which range; picture_chart.c and its like draw it. */
#include "output/picture.h"

#include "output/picture_chart.h"
#include "output/picture_field.h"
#include "output/picture_file.h"
#include "output/picture_film.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All that is settled before the first picture. */
struct job {
    const struct hs_picture_request *request;
    FILE *out;
    struct hs_picture_file file;
    struct hs_picture_columns columns;
    struct hs_cut cut;
    int64_t first, last;             /* snapshots */
    struct hs_picture_axis *axis[2]; /* of the picture; one for a line */
    int axes;
    int64_t nodes; /* of the slice */
    bool film;
    struct hs_film maker;
    struct hs_chart chart;
    char subtitle[256], axis_name[2][2];
    double *values; /* [nodes], or [snapshots][nodes] for curves */
    double levels[HS_PICTURE_LEVELS];
    int level_count;
};

static bool is_line(const struct job *job)
{
    return job->axes == 1;
}

/* One plot shows all the snapshots. */
static bool is_bundle(const struct job *job)
{
    return is_line(job) && !job->film;
}

/* ---- what to draw -------------------------------------------------------------------------- */

static enum hs_status choose_map(struct job *job, struct hs_error *err)
{
    const char *name = job->request->map ? job->request->map : hs_colour_maps[0].name;
    job->chart.map = hs_colour_map_find(name);
    if (job->chart.map)
        return HS_OK;
    char names[256] = "";
    for (const struct hs_colour_map *map = hs_colour_maps; map->name; map++)
        strcat(strcat(names, *names ? ", " : ""), map->name);
    return hs_error_add(err, HS_BAD_INPUT, "--map %s: no such colour map; there are %s", name,
                        names);
}

static enum hs_status choose_time(struct job *job, struct hs_error *err)
{
    const double wanted = job->request->time, *time = job->file.time;
    int64_t best = 0;
    for (int64_t n = 1; n < job->file.steps; n++)
        if (fabs(time[n] - wanted) < fabs(time[best] - wanted))
            best = n;
    const double first = time[0], last = time[job->file.steps - 1];
    const double slack = 1e-6 * fabs(last - first);
    if (!(wanted >= first - slack && wanted <= last + slack))
        return hs_error_add(err, HS_BAD_INPUT, "--time %g: %s goes from %g to %g s", wanted,
                            job->file.path, first, last);
    job->first = job->last = best;
    return HS_OK;
}

static enum hs_status choose_steps(struct job *job, struct hs_error *err)
{
    const int64_t steps = job->file.steps, step = job->request->step;
    if (!isnan(job->request->time))
        return choose_time(job, err);
    if (step >= steps)
        return hs_error_add(err, HS_BAD_INPUT,
                            "--step %lld: %s has %lld snapshot%s: give 0 to %lld, last or all",
                            (long long)step, job->file.path, (long long)steps,
                            steps == 1 ? "" : "s", (long long)steps - 1);
    job->first = step == HS_PICTURE_STEP_ALL ? 0 : step >= 0 ? step : steps - 1;
    job->last = step == HS_PICTURE_STEP_ALL ? steps - 1 : job->first;
    return HS_OK;
}

static enum hs_status choose_cut(struct job *job, struct hs_error *err)
{
    const int wanted = job->request->slice_axis, dims = job->file.dims;
    const int axis = wanted < 0 && dims == HS_AXES ? HS_Z : wanted;
    job->cut = (struct hs_cut){.axis = axis};
    if (axis < 0)
        return HS_OK;
    const char letter = "xyz"[axis];
    if (axis >= dims || dims == 1)
        return hs_error_add(err, HS_BAD_INPUT, "--slice %c: %s is %dD: %s", letter, job->file.path,
                            dims,
                            dims == 1 ? "leave --slice out, its line is drawn whole"
                                      : "cut along x or y, or leave --slice out");
    const struct hs_picture_axis *a = &job->file.axis[axis];
    const double spacing = (a->upper - a->lower) / (double)(a->points - 1);
    const double slack = 1e-6 * spacing; /* what rounding does to a coordinate at the face */
    double *at = &job->cut.at;
    *at = isnan(job->request->slice_at) ? 0.5 * (a->lower + a->upper) : job->request->slice_at;
    if (*at < a->lower - slack || *at > a->upper + slack)
        return hs_error_add(
            err, HS_BAD_INPUT, "--slice %c=%g: outside; %s goes from %c=%g to %g%s%s", letter, *at,
            job->file.path, letter, a->lower, a->upper, *a->unit ? " " : "", a->unit);
    const double place = fmax(0, fmin((*at - a->lower) / spacing, (double)(a->points - 1)));
    const bool on_node = fabs(place - round(place)) < 1e-6;
    job->cut.node = (int64_t)(on_node ? round(place) : floor(place));
    job->cut.share = on_node ? 0 : place - floor(place);
    return HS_OK;
}

/* The axes that the cut leaves are the picture's. */
static enum hs_status choose_axes(struct job *job, struct hs_error *err)
{
    job->nodes = 1;
    for (int a = 0; a < job->file.dims; a++)
        if (a != job->cut.axis) {
            job->axis_name[job->axes][0] = "xyz"[a];
            job->axis[job->axes++] = &job->file.axis[a];
            job->nodes *= job->file.axis[a].points;
        }
    if (is_line(job) && (job->request->contours || job->request->level_count))
        return hs_error_add(err, HS_BAD_INPUT,
                            "--contours: what is drawn of %s is a line: leave it out",
                            job->file.path);
    const int64_t held = is_bundle(job) ? job->last - job->first + 1 : 1;
    job->values = malloc((size_t)(job->nodes * held) * sizeof *job->values);
    return job->values ? HS_OK
                       : hs_error_add(err, HS_DEVICE, "%s: no memory for %lld nodes",
                                      job->file.path, (long long)(job->nodes * held));
}

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

/* From the data's bounds and the request. A range of no width is given one that shows its value
 * in the middle; so is one so narrow that it is the rounding of a constant field. */
static void settle_range(const double asked[2], const double bounds[2], double margin,
                         struct hs_scale *scale)
{
    const double most = 0.25 * DBL_MAX; /* so that widths and margins are finite */
    double lower = fmax(bounds[0], -most), upper = fmin(bounds[1], most);
    if (lower > upper) /* nothing is finite */
        lower = upper = 0;
    const double largest = fmax(fabs(lower), fabs(upper)), width = upper - lower;
    const double middle = 0.5 * lower + 0.5 * upper, half = largest > 1e-297 ? 0.01 * largest : 1;
    const bool constant = width <= hs_picture_narrowest((double[]){lower, upper});
    lower = constant ? middle - half : lower - margin * width;
    upper = constant ? middle + half : upper + margin * width;
    scale->from = isnan(asked[0]) ? lower : asked[0];
    scale->to = isnan(asked[1]) ? upper : asked[1];
    if (scale->to - scale->from > hs_picture_narrowest((double[]){scale->from, scale->to}))
        return;
    /* one end was given, beyond all data */
    const double room = fmax(upper - lower, 1e-3 * fmax(fabs(scale->from), fabs(scale->to)));
    if (isnan(asked[0]))
        scale->from = scale->to - room;
    else
        scale->to = scale->from + room;
}

static void warn_of_nothing(const struct job *job, const struct hs_scale *scale,
                            const double bounds[2], struct hs_error *err)
{
    const double *asked = job->request->range, *levels = job->levels;
    const bool below = scale->to<bounds[0], above = scale->from> bounds[1];
    if ((!isnan(asked[0]) || !isnan(asked[1])) && bounds[0] <= bounds[1] && (below || above))
        hs_error_add(err, HS_OK,
                     "%s: the range, %.9g to %.9g, lies %s all that is drawn, which is %.9g to "
                     "%.9g: nothing can be told from the picture",
                     job->request->output, scale->from, scale->to, below ? "below" : "above",
                     bounds[0], bounds[1]);
    bool crossed = job->level_count == 0;
    for (int n = 0; n < job->level_count; n++)
        crossed |= levels[n] > bounds[0] && levels[n] <= bounds[1];
    if (!crossed)
        hs_error_add(err, HS_OK,
                     "%s: --contours: no line is drawn, for the temperatures are %.9g to %.9g",
                     job->request->output, bounds[0], bounds[1]);
}

static void choose_levels(struct job *job, const struct hs_scale *scale)
{
    const struct hs_picture_request *request = job->request;
    job->level_count = request->level_count;
    memcpy(job->levels, request->levels, sizeof job->levels);
    if (!request->contours)
        return;
    struct hs_ticks ticks;
    hs_ticks_make(scale->from, scale->to, request->contours + 2, &ticks);
    for (int n = 0; n < ticks.count && job->level_count < HS_PICTURE_LEVELS; n++)
        if (ticks.at[n] > scale->from && ticks.at[n] < scale->to) /* none along the field's rim */
            job->levels[job->level_count++] = ticks.at[n];
}

/* Slice by slice, so that memory holds one. */
static enum hs_status range_of_all(struct job *job, struct hs_error *err)
{
    struct hs_scale *scale = is_line(job) ? &job->chart.y : &job->chart.bar;
    double bounds[2] = {INFINITY, -INFINITY};
    for (int64_t step = job->first; step <= job->last; step++) {
        double *values = job->values + (is_bundle(job) ? (step - job->first) * job->nodes : 0);
        const enum hs_status status = hs_picture_read(&job->file, step, &job->cut, values, err);
        if (status != HS_OK)
            return status;
        widen(values, job->nodes, bounds);
    }
    *scale = (struct hs_scale){.what = "temperature", .unit = hs_unit_shown(job->file.unit, 0)};
    settle_range(job->request->range, bounds, is_line(job) ? 0.05 : 0, scale);
    job->chart.beyond[0] = bounds[0] < scale->from;
    job->chart.beyond[1] = bounds[1] > scale->to;
    choose_levels(job, scale);
    warn_of_nothing(job, scale, bounds, err);
    return HS_OK;
}

/* ---- one picture --------------------------------------------------------------------------- */

static void time_text(double time, char out[HS_LABEL_SIZE])
{
    hs_quantity_text(time, hs_unit_shown("s", time), out, HS_LABEL_SIZE);
}

static void scale_of_axis(struct job *job, int a, struct hs_scale *scale)
{
    const struct hs_picture_axis *axis = job->axis[a];
    *scale = (struct hs_scale){
        .what = job->axis_name[a],
        .from = axis->lower,
        .to = axis->upper,
        .unit = hs_unit_shown(axis->unit, fmax(fabs(axis->lower), fabs(axis->upper)))};
}

static void describe(struct job *job, int64_t first, int64_t last)
{
    char at[HS_LABEL_SIZE], from[HS_LABEL_SIZE];
    time_text(job->file.time[last], at);
    time_text(job->file.time[first], from);
    int used = snprintf(job->subtitle, sizeof job->subtitle, "t = %s%s%s", first < last ? from : "",
                        first < last ? " to " : "", at);
    if (job->cut.axis < 0)
        return;
    const struct hs_picture_axis *a = &job->file.axis[job->cut.axis];
    hs_quantity_text(job->cut.at, hs_unit_shown(a->unit, fmax(fabs(a->lower), fabs(a->upper))), at,
                     sizeof at);
    snprintf(job->subtitle + used, sizeof job->subtitle - (size_t)used, ", %c = %s",
             "xyz"[job->cut.axis], at);
}

/* Sides in true proportion, with one unit, or stretched so that the shorter one can be seen. */
static void choose_proportions(struct job *job)
{
    const double longest = 6;
    struct hs_scale *x = &job->chart.x, *y = &job->chart.y;
    const double ratio = (x->to - x->from) / (y->to - y->from);
    job->chart.ratio = fmin(fmax(ratio, 1 / longest), longest);
    const double stretch = fmax(ratio / job->chart.ratio, job->chart.ratio / ratio);
    const size_t used = strlen(job->subtitle);
    if (stretch > 1)
        snprintf(job->subtitle + used, sizeof job->subtitle - used, ", %s stretched %.3g×",
                 ratio > 1 ? y->what : x->what, stretch);
    else if (x->unit.factor > y->unit.factor)
        y->unit = x->unit;
    else
        x->unit = y->unit;
}

static enum hs_status draw_map(struct job *job, struct hs_error *err)
{
    const struct hs_field field = {job->values, {job->axis[0]->points, job->axis[1]->points}};
    struct hs_chart *chart = &job->chart;
    scale_of_axis(job, 0, &chart->x);
    scale_of_axis(job, 1, &chart->y);
    choose_proportions(job);
    chart->colours = 1;
    enum hs_status status = hs_chart_begin(chart, err);
    if (status == HS_OK)
        status = hs_field_draw(chart, &field, err);
    if (status == HS_OK && job->level_count)
        status = hs_field_contours(chart, &field, job->levels, job->level_count, err);
    if (status == HS_OK)
        hs_chart_end(chart);
    return status;
}

/* Where one curve has no finite value. */
static void shade_holes(const struct hs_chart *c, const double *values, int64_t points)
{
    const double half = 0.5 * c->plot.w / (double)(points - 1);
    hs_chart_clip(c);
    for (int64_t i = 0; i < points; i++)
        if (!isfinite(values[i]))
            hs_canvas_fill(&c->canvas, c->plot.x + (2.0 * (double)i - 1) * half, c->plot.y,
                           fmax(1, 2 * half), c->plot.h, hs_colour_of_nan);
    cairo_reset_clip(c->canvas.cr);
}

/* The line at one snapshot, or at each in a colour for its time; white paper leaves out the palest.
 */
static enum hs_status draw_lines(struct job *job, int64_t count, struct hs_error *err)
{
    struct hs_chart *c = &job->chart;
    const double *time = job->file.time + job->first, span = time[count - 1] - time[0];
    const int64_t points = job->axis[0]->points;
    const bool many = count > 1 && span > 0;
    double *x = malloc((size_t)points * sizeof *x);
    if (!x)
        return hs_error_add(err, HS_DEVICE, "no memory for a line of %lld nodes",
                            (long long)points);
    scale_of_axis(job, 0, &c->x);
    for (int64_t i = 0; i < points; i++)
        x[i] = c->x.from + (c->x.to - c->x.from) * (double)i / (double)(points - 1);
    c->grid = true;
    c->colours = 0.9;
    c->bar = (struct hs_scale){.what = many ? "time" : NULL,
                               .from = time[0],
                               .to = time[0] + span,
                               .unit = hs_unit_shown("s", time[count - 1])};
    c->beyond[0] = c->beyond[1] = false; /* of temperatures, and the bar is of times */
    const enum hs_status status = hs_chart_begin(c, err);
    if (status == HS_OK && !many)
        shade_holes(c, job->values, points);
    for (int64_t k = 0; k < count && status == HS_OK; k++)
        hs_chart_curve(c, x, job->values + k * points, points, true,
                       many ? hs_colour_map_at(c->map, c->colours * (time[k] - time[0]) / span)
                            : hs_blue);
    if (status == HS_OK)
        hs_chart_end(c);
    free(x);
    return status;
}

/* "pic.png" or, for one of many, "pic-0003.png"; allocated. */
static char *name_of(const char *output, const char *ending, int64_t step)
{
    const size_t stem = (size_t)(strrchr(output, '.') - output), size = stem + 32;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%.*s-%04lld%s", (int)stem, output, (long long)step, ending);
    return name;
}

/* ---- all of them --------------------------------------------------------------------------- */

static enum hs_status keep(struct job *job, int64_t step, struct hs_error *err)
{
    const char *output = job->request->output;
    const struct hs_canvas *canvas = &job->chart.canvas;
    if (job->film && job->maker.pipe)
        return hs_film_add(&job->maker, canvas, err);
    if (is_bundle(job) || job->request->step != HS_PICTURE_STEP_ALL)
        return hs_canvas_write(canvas, output, err);
    char *name = name_of(output, job->film ? ".png" : strrchr(output, '.'), step);
    const enum hs_status status = name
                                      ? hs_canvas_write(canvas, name, err)
                                      : hs_error_add(err, HS_DEVICE, "no memory for a file's name");
    free(name);
    return status;
}

static enum hs_status draw_step(struct job *job, int64_t first, int64_t last, struct hs_error *err)
{
    enum hs_status status = HS_OK;
    describe(job, first, last);
    if (job->last > job->first && !is_bundle(job)) /* else it is there from the look at its range */
        status = hs_picture_read(&job->file, first, &job->cut, job->values, err);
    if (status == HS_OK)
        status = is_line(job) ? draw_lines(job, last - first + 1, err) : draw_map(job, err);
    if (status == HS_OK)
        status = keep(job, first, err);
    hs_canvas_release(&job->chart.canvas);
    return status;
}

/* Says where the pictures are; without ffmpeg, how to make the film of them. */
static enum hs_status say(const struct job *job, struct hs_error *err)
{
    const char *output = job->request->output;
    const int stem = (int)(strrchr(output, '.') - output);
    const bool numbered = job->request->step == HS_PICTURE_STEP_ALL && !is_bundle(job);
    const char *ending = job->film ? ".png" : output + stem;
    char at[2][HS_LABEL_SIZE];
    time_text(job->file.time[job->first], at[0]);
    time_text(job->file.time[job->last], at[1]);
    if (job->film && job->maker.pipe)
        fprintf(job->out, "%s: a film of %lld frames, t = %s to %s\n", output,
                (long long)(job->last + 1), at[0], at[1]);
    else if (numbered)
        fprintf(job->out, "%.*s-0000%s to %.*s-%04lld%s: t = %s to %s\n", stem, output, ending,
                stem, output, (long long)job->last, ending, at[0], at[1]);
    else
        fprintf(job->out, "%s: snapshot %lld of 0 to %lld, %s\n", output, (long long)job->last,
                (long long)job->file.steps - 1, job->subtitle);
    if (!job->film || job->maker.pipe)
        return HS_OK;
    return hs_error_add(
        err, HS_IO,
        "%s: not made, for ffmpeg is not installed; its frames are %.*s-0000.png "
        "and on. Install it (apt-get install ffmpeg) and draw again, or where it "
        "is run\n    ffmpeg -framerate %d -i '%.*s-%%04d.png' -pix_fmt yuv420p '%s'",
        output, stem, output, job->request->per_second, stem, output, output);
}

static enum hs_status draw_field(struct job *job, struct hs_error *err)
{
    enum hs_status status = choose_steps(job, err);
    if (status == HS_OK)
        status = choose_cut(job, err);
    if (status == HS_OK)
        status = choose_axes(job, err);
    if (status == HS_OK)
        status = range_of_all(job, err);
    if (status == HS_OK && job->film)
        status = hs_film_begin(&job->maker, job->request->output, job->request->per_second, err);
    if (status == HS_OK && is_bundle(job))
        status = draw_step(job, job->first, job->last, err);
    for (int64_t n = job->first; n <= job->last && !is_bundle(job) && status == HS_OK; n++)
        status = draw_step(job, n, n, err);
    if (job->film)
        status = hs_film_finish(&job->maker, status, err);
    return status == HS_OK ? say(job, err) : status;
}

/* ---- columns ------------------------------------------------------------------------------- */

static enum hs_status draw_columns(struct job *job, struct hs_error *err)
{
    static const struct hs_colour colours[] = {{31, 90, 160},  {204, 85, 0},  {0, 130, 90},
                                               {150, 60, 150}, {178, 34, 34}, {120, 100, 30},
                                               {0, 140, 170},  {90, 90, 90}};
    enum { COLOURS = sizeof colours / sizeof *colours };
    const struct hs_picture_columns *all = &job->columns;
    struct hs_chart *c = &job->chart;
    double values[2] = {INFINITY, -INFINITY}, times[2] = {INFINITY, -INFINITY};
    struct hs_chart_name *names = calloc((size_t)all->count, sizeof *names);
    if (!names)
        return hs_error_add(err, HS_DEVICE, "no memory for --plot %s", job->request->plot);
    for (int k = 0; k < all->count; k++) {
        const struct hs_picture_column *one = &all->column[k];
        widen(one->value, one->rows, values);
        widen(one->time, one->rows, times);
        names[k] = (struct hs_chart_name){one->time[one->rows - 1], one->value[one->rows - 1],
                                          one->name, colours[k % COLOURS]};
    }
    const bool warm = strcmp(all->column->unit, job->file.unit) == 0;
    c->x = (struct hs_scale){.what = "t", .unit = hs_unit_shown("s", times[1])};
    c->y = (struct hs_scale){.what = all->count == 1 ? all->column->name
                                     : warm          ? "temperature"
                                                     : job->request->plot,
                             .unit = hs_unit_shown(all->column->unit, 0)};
    settle_range((double[]){NAN, NAN}, times, 0, &c->x);
    settle_range(job->request->range, values, 0.05, &c->y);
    warn_of_nothing(job, &c->y, values, err);
    c->names = names;
    c->name_count = all->count > 1 ? all->count : 0; /* one is named at its axis */
    c->grid = true;
    enum hs_status status = hs_chart_begin(c, err);
    for (int k = 0; k < all->count && status == HS_OK; k++)
        hs_chart_curve(c, all->column[k].time, all->column[k].value, all->column[k].rows, false,
                       colours[k % COLOURS]);
    if (status == HS_OK) {
        hs_chart_end(c);
        status = hs_canvas_write(&c->canvas, job->request->output, err);
    }
    if (status == HS_OK)
        fprintf(job->out, "%s: %d curve%s of %s\n", job->request->output, all->count,
                all->count == 1 ? "" : "s", job->file.path);
    hs_canvas_release(&c->canvas);
    free(names);
    return status;
}

enum hs_status hs_picture_draw(const struct hs_picture_request *request, FILE *out,
                               struct hs_error *err)
{
    struct job job = {.request = request,
                      .out = out,
                      .film = hs_film_is_name(request->output),
                      .file = {.file = -1, .temperature = -1}};
    job.chart.width = 2 * ((request->width + 1) / 2);
    enum hs_status status = job.film ? HS_OK : hs_canvas_check_name("-o", request->output, err);
    if (status == HS_OK)
        status = choose_map(&job, err);
    if (status == HS_OK)
        status = hs_picture_open(request->input, &job.file, err);
    if (status == HS_OK && request->plot)
        status = hs_picture_read_columns(&job.file, request->plot, &job.columns, err);
    job.chart.title = job.file.title;
    job.chart.subtitle = job.subtitle;
    if (status == HS_OK)
        status = request->plot ? draw_columns(&job, err) : draw_field(&job, err);
    hs_picture_columns_release(&job.columns);
    hs_picture_close(&job.file);
    free(job.values);
    return status;
}
