/* Pictures: what to draw from a file, and in which range; picture_plot.c draws it. */
#include "output/picture.h"
#include "output/picture_plot.h"
#include "output/picture_ticks.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char ending[] = ".png";

/* All that is settled before the first picture. */
struct job {
    const struct hs_picture_request *request;
    struct hs_picture_file file;
    struct hs_cut cut;
    int64_t first, last; /* snapshots */
    int64_t nodes;       /* of the slice */
    struct hs_scene scene;
    double *values; /* [nodes], or [steps][nodes] for curves */
};

static char axis_letter(int axis)
{
    return "xyz"[axis];
}

/* ---- checks ---- */

static enum hs_status check_output(const char *output, struct hs_error *err)
{
    const size_t length = strlen(output), tail = sizeof ending - 1;
    if (length > tail && strcasecmp(output + length - tail, ending) == 0)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT, "-o %s: pictures are PNG; end its name in .png", output);
}

static enum hs_status choose_map(struct job *job, struct hs_error *err)
{
    const char *name = job->request->map ? job->request->map : hs_colour_maps[0].name;
    job->scene.map = hs_colour_map_find(name);
    if (job->scene.map)
        return HS_OK;
    char names[256] = "";
    for (const struct hs_colour_map *map = hs_colour_maps; map->name; map++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", map->name);
    }
    return hs_error_add(err, HS_BAD_INPUT, "--map %s: no such colour map; there are %s", name,
                        names);
}

static enum hs_status choose_steps(struct job *job, struct hs_error *err)
{
    const int64_t steps = job->file.steps;
    if (job->request->step >= steps && !job->request->all_steps)
        return hs_error_add(err, HS_BAD_INPUT,
                            "--step %lld: %s has %lld snapshot%s: give 0 to %lld, last or all",
                            (long long)job->request->step, job->file.path, (long long)steps,
                            steps == 1 ? "" : "s", (long long)steps - 1);
    job->first = job->last = job->request->step < 0 ? steps - 1 : job->request->step;
    if (job->request->all_steps) {
        job->first = 0;
        job->last = steps - 1;
    }
    return HS_OK;
}

static enum hs_status choose_cut(struct job *job, struct hs_error *err)
{
    const int axis =
        job->request->slice_axis < 0 && job->file.dims == HS_AXES ? HS_Z : job->request->slice_axis;
    job->cut = (struct hs_cut){.axis = axis};
    if (axis < 0)
        return HS_OK;
    if (axis >= job->file.dims || job->file.dims == 1)
        return hs_error_add(err, HS_BAD_INPUT, "--slice %c: %s is %dD: %s", axis_letter(axis),
                            job->file.path, job->file.dims,
                            job->file.dims == 1 ? "leave --slice out, its line is drawn whole"
                                                : "cut along x or y, or leave --slice out");
    const struct hs_picture_axis *a = &job->file.axis[axis];
    const double spacing = (a->upper - a->lower) / (double)(a->points - 1);
    const double slack = 1e-6 * spacing; /* what rounding does to a coordinate at the face */
    double at = job->request->slice_at;
    if (isnan(at))
        at = 0.5 * (a->lower + a->upper);
    if (at < a->lower - slack || at > a->upper + slack)
        return hs_error_add(err, HS_BAD_INPUT,
                            "--slice %c=%g: outside; %s goes from %c=%g to %g%s%s",
                            axis_letter(axis), at, job->file.path, axis_letter(axis), a->lower,
                            a->upper, *a->unit ? " " : "", a->unit);
    const double place = fmax(0, fmin((at - a->lower) / spacing, (double)(a->points - 1)));
    const double nearest = round(place);
    job->cut.at = at;
    if (fabs(place - nearest) < 1e-6) {
        job->cut.node = (int64_t)nearest;
    } else {
        job->cut.node = (int64_t)floor(place);
        job->cut.share = place - floor(place);
    }
    return HS_OK;
}

/* What a range must be wider than for its ticks to differ in double precision. */
static double narrowest(double lower, double upper)
{
    return fmax(1e-12 * fmax(fabs(lower), fabs(upper)), 1e-300);
}

static enum hs_status check_range(const struct hs_picture_request *request, struct hs_error *err)
{
    const double *r = request->range;
    if (isnan(r[0]) || isnan(r[1]))
        return HS_OK;
    if (isfinite(r[1] - r[0]) && r[1] - r[0] > narrowest(r[0], r[1]))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "--range %g:%g: give two finite temperatures, the lower one first, and "
                        "apart by more than rounding",
                        r[0], r[1]);
}

static enum hs_status check_width(struct job *job, struct hs_error *err)
{
    const int width = job->request->width;
    job->scene.width = width ? width : HS_PICTURE_WIDTH;
    if (width && (width < HS_PICTURE_WIDTH_LEAST || width > HS_PICTURE_WIDTH_MOST))
        return hs_error_add(err, HS_BAD_INPUT, "--width %d: give %d to %d pixels", width,
                            HS_PICTURE_WIDTH_LEAST, HS_PICTURE_WIDTH_MOST);
    return HS_OK;
}

/* The axes that the cut leaves are the picture's. */
static void choose_axes(struct job *job)
{
    int kept = 0;
    job->nodes = 1;
    for (int a = 0; a < job->file.dims; a++)
        if (a != job->cut.axis) {
            job->scene.axis_name[kept] = axis_letter(a);
            job->scene.axis[kept++] = job->file.axis[a];
            job->nodes *= job->file.axis[a].points;
        }
}

static bool is_line(const struct job *job)
{
    return job->scene.axis_name[1] == 0;
}

static enum hs_status settle(struct job *job, struct hs_error *err)
{
    enum hs_status status = choose_steps(job, err);
    if (status == HS_OK)
        status = choose_cut(job, err);
    if (status != HS_OK)
        return status;
    choose_axes(job);
    job->scene.title = job->file.title;
    job->scene.unit = job->file.unit;
    const int64_t held = is_line(job) ? job->last - job->first + 1 : 1;
    job->values = malloc((size_t)(job->nodes * held) * sizeof *job->values);
    if (!job->values)
        return hs_error_add(err, HS_DEVICE, "%s: no memory for %lld nodes", job->file.path,
                            (long long)(job->nodes * held));
    return HS_OK;
}

/* ---- range ---- */

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
static void settle_range(struct job *job, const double bounds[2])
{
    const double most = 0.25 * DBL_MAX; /* so that widths and margins are finite */
    double lower = fmax(bounds[0], -most), upper = fmin(bounds[1], most);
    if (lower > upper) /* nothing is finite */
        lower = upper = 0;
    const double largest = fmax(fabs(lower), fabs(upper));
    const double middle = 0.5 * lower + 0.5 * upper;
    const double half = largest > 1e-297 ? 0.01 * largest : 1;
    const bool constant = upper - lower <= narrowest(lower, upper);
    const double margin = is_line(job) ? 0.05 * (upper - lower) : 0;
    lower = constant ? middle - half : lower - margin;
    upper = constant ? middle + half : upper + margin;
    const double *asked = job->request->range;
    double *range = job->scene.range;
    range[0] = isnan(asked[0]) ? lower : asked[0];
    range[1] = isnan(asked[1]) ? upper : asked[1];
    if (range[1] - range[0] <= narrowest(range[0], range[1])) {
        /* one end was given, beyond all data */
        const double width = fmax(upper - lower, 1e-3 * fmax(fabs(range[0]), fabs(range[1])));
        if (isnan(asked[0]))
            range[0] = range[1] - width;
        else
            range[1] = range[0] + width;
    }
    job->scene.beyond[0] = bounds[0] < job->scene.range[0];
    job->scene.beyond[1] = bounds[1] > job->scene.range[1];
}

static void warn_of_empty(const struct job *job, const double bounds[2], struct hs_error *err)
{
    const double *range = job->scene.range, *asked = job->request->range;
    const bool below = range[1]<bounds[0], above = range[0]> bounds[1];
    if ((isnan(asked[0]) && isnan(asked[1])) || bounds[0] > bounds[1] || !(below || above))
        return;
    hs_error_add(err, HS_OK,
                 "%s: the range, %.9g to %.9g, lies %s all that is drawn, which is %.9g to %.9g: "
                 "nothing can be told from the picture",
                 job->request->output, range[0], range[1], below ? "below" : "above", bounds[0],
                 bounds[1]);
}

/* Slice by slice, so that memory holds one. */
static enum hs_status range_of_all(struct job *job, struct hs_error *err)
{
    double bounds[2] = {INFINITY, -INFINITY};
    for (int64_t step = job->first; step <= job->last; step++) {
        double *values = job->values + (is_line(job) ? (step - job->first) * job->nodes : 0);
        const enum hs_status status = hs_picture_read(&job->file, step, &job->cut, values, err);
        if (status != HS_OK)
            return status;
        widen(values, job->nodes, bounds);
    }
    settle_range(job, bounds);
    warn_of_empty(job, bounds, err);
    return HS_OK;
}

/* ---- drawing ---- */

static void describe(struct job *job, int64_t step)
{
    char time[HS_LABEL_SIZE] = "", text[128] = "";
    hs_quantity_text(job->file.time[step], hs_time_unit(fabs(job->file.time[step])), time,
                     sizeof time);
    if (job->cut.axis >= 0) {
        const struct hs_picture_axis *a = &job->file.axis[job->cut.axis];
        const bool metres = strcmp(a->unit, "m") == 0;
        const struct hs_shown_unit unit = metres
                                              ? hs_length_unit(fmax(fabs(a->lower), fabs(a->upper)))
                                              : (struct hs_shown_unit){1, a->unit};
        char at[HS_LABEL_SIZE];
        hs_quantity_text(job->cut.at, unit, at, sizeof at);
        snprintf(text, sizeof text, "%c = %s", axis_letter(job->cut.axis), at);
    }
    char from[2 * HS_LABEL_SIZE] = "";
    if (is_line(job) && job->last > job->first) {
        hs_quantity_text(job->file.time[job->first], hs_time_unit(fabs(job->file.time[job->first])),
                         from, HS_LABEL_SIZE);
        strcat(from, " to ");
    }
    snprintf(job->scene.subtitle, sizeof job->scene.subtitle, "t = %s%s%s%s", from, time,
             *text ? ", " : "", text);
}

/* "pic.png" or, for one of many, "pic-0003.png"; allocated. */
static char *name_of(const struct job *job, int64_t step)
{
    const char *output = job->request->output;
    const size_t size = strlen(output) + 32, stem = strlen(output) - (sizeof ending - 1);
    char *name = malloc(size);
    if (!name)
        return NULL;
    if (job->request->all_steps && !is_line(job))
        snprintf(name, size, "%.*s-%04lld%s", (int)stem, output, (long long)step, output + stem);
    else
        snprintf(name, size, "%s", output);
    return name;
}

static enum hs_status finish(const struct job *job, int64_t step, struct hs_canvas *canvas,
                             struct hs_error *err)
{
    char *name = name_of(job, step);
    const enum hs_status status =
        name ? hs_canvas_write(canvas, name, err)
             : hs_error_add(err, HS_DEVICE, "%s: no memory for its name", job->request->output);
    free(name);
    hs_canvas_destroy(canvas);
    return status;
}

static enum hs_status draw_curves(struct job *job, struct hs_error *err)
{
    struct hs_canvas *canvas = NULL;
    describe(job, job->last);
    const enum hs_status status =
        hs_plot_curves(&job->scene, job->values, job->file.time + job->first,
                       job->last - job->first + 1, &canvas, err);
    return status == HS_OK ? finish(job, job->last, canvas, err) : status;
}

static enum hs_status draw_map(struct job *job, int64_t step, struct hs_error *err)
{
    struct hs_canvas *canvas = NULL;
    describe(job, step);
    enum hs_status status = HS_OK;
    if (job->last > job->first) /* else it is still there from the look at its range */
        status = hs_picture_read(&job->file, step, &job->cut, job->values, err);
    if (status == HS_OK)
        status = hs_plot_map(&job->scene, job->values, &canvas, err);
    return status == HS_OK ? finish(job, step, canvas, err) : status;
}

static enum hs_status draw(struct job *job, struct hs_error *err)
{
    enum hs_status status = range_of_all(job, err);
    if (status == HS_OK && is_line(job))
        return draw_curves(job, err);
    for (int64_t step = job->first; step <= job->last && status == HS_OK; step++)
        status = draw_map(job, step, err);
    return status;
}

enum hs_status hs_picture_draw(const struct hs_picture_request *request, struct hs_error *err)
{
    struct job job = {.request = request};
    enum hs_status status = check_output(request->output, err);
    if (status == HS_OK)
        status = choose_map(&job, err);
    if (status == HS_OK)
        status = check_range(request, err);
    if (status == HS_OK)
        status = check_width(&job, err);
    if (status == HS_OK)
        status = hs_picture_open(request->input, &job.file, err);
    if (status == HS_OK)
        status = settle(&job, err);
    if (status == HS_OK)
        status = draw(&job, err);
    free(job.values);
    hs_picture_close(&job.file);
    return status;
}
