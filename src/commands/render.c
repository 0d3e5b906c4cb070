/* heatsolve render: draws pictures and films from a run's file. */
#include "commands/command.h"
#include "input/arguments.h"
#include "output/pictures/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads a number that ends at `end` or with the text; moves *text past both. */
static bool read_number(const char **text, char end, double *out)
{
    char *stop;
    *out = strtod(*text, &stop);
    const bool good = stop != *text && isfinite(*out) && (*stop == '\0' || *stop == end);
    *text = stop + (*stop != '\0');
    return good;
}

/* Reads a text that is a whole number from least to most. */
static bool read_count(const char *text, int64_t least, int64_t most, int64_t *out)
{
    double value;
    if (!read_number(&text, '\0', &value) || value != rint(value) || value < (double)least ||
        value > (double)most)
        return false;
    *out = (int64_t)value;
    return true;
}

static enum hs_status read_step(const char *text, struct hs_picture *p, struct hs_error *err)
{
    const int64_t last = p->file.step.count - 1;
    p->all = strcmp(text, "all") == 0;
    p->first = p->all ? 0 : last;
    p->last = last;
    if (p->all || strcmp(text, "last") == 0)
        return HS_OK;
    if (read_count(text, 0, last, &p->first)) {
        p->last = p->first;
        return HS_OK;
    }
    return hs_error_add(err, HS_BAD_INPUT,
                        "--step %s: %s has %lld snapshot%s, which count from 0 on: give 0 to %lld, "
                        "last or all",
                        text, p->file.path, (long long)last + 1, last ? "s" : "", (long long)last);
}

/* The node at or before cut->at and the fraction of the way to the next; false if outside. */
static bool find(const struct hs_picture_column *axis, struct hs_cut *cut)
{
    const double slack = 1e-6; /* allows for the rounding of a coordinate */
    const int64_t i = hs_interval_of(axis->value, axis->count - 1, cut->at);
    const double *node = &axis->value[i];
    const double apart = axis->count > 1 ? node[1] - node[0] : 0.0;
    const double share = cut->at == node[0] ? 0.0 : (cut->at - node[0]) / apart;
    cut->node = i + (share > 1 - slack);
    cut->share = share > slack && share < 1 - slack ? share : 0;
    return share > -slack && share < 1 + slack;
}

static enum hs_status read_time(const char *text, struct hs_picture *p, struct hs_error *err)
{
    const struct hs_picture_column *time = &p->file.step;
    struct hs_cut nearest = {0};
    const char *rest = text;
    if (!read_number(&rest, '\0', &nearest.at))
        return hs_error_add(err, HS_BAD_INPUT, "--time %s: give a time in s, such as 30", text);
    if (!find(time, &nearest))
        return hs_error_add(err, HS_BAD_INPUT, "--time %s: %s goes from %g to %g s", text,
                            p->file.path, time->value[0], time->value[time->count - 1]);
    p->first = p->last = nearest.node + (nearest.share >= 0.5);
    return HS_OK;
}

static enum hs_status read_slice(const char *text, struct hs_picture *p, struct hs_error *err)
{
    const char *letter = *text ? strchr("xyz", *text) : NULL, *place = text + 2;
    const int dims = p->file.dims;
    struct hs_cut *cut = &p->cut;
    cut->at = NAN;
    if (!letter || (text[1] && (text[1] != '=' || !read_number(&place, '\0', &cut->at))))
        return hs_error_add(err, HS_BAD_INPUT,
                            "--slice %s: give an axis and where along it in m, such as z=0.05, or "
                            "the axis alone for its middle",
                            text);
    cut->axis = *letter - 'x';
    if (dims == 1 || cut->axis >= dims)
        return hs_error_add(err, HS_BAD_INPUT, "--slice %s: %s is %dD: %s", text, p->file.path,
                            dims,
                            dims == 1 ? "leave --slice out, its line is drawn whole"
                                      : "cut along x or y, or leave --slice out");
    const struct hs_picture_column *axis = &p->file.axis[cut->axis];
    const double from = axis->value[0], to = axis->value[axis->count - 1];
    cut->at = isnan(cut->at) ? 0.5 * (from + to) : cut->at;
    if (find(axis, cut))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT, "--slice %s: outside; %s goes from %c=%g to %g%s%s",
                        text, p->file.path, *letter, from, to, *axis->unit ? " " : "", axis->unit);
}

static enum hs_status read_range(const char *text, struct hs_picture *p, struct hs_error *err)
{
    double *range = p->range;
    const char *rest = text;
    bool good = strchr(text, ':') != NULL && (*text == ':' || read_number(&rest, ':', &range[0]));
    rest += *text == ':';
    good = good && (*rest == '\0' || read_number(&rest, '\0', &range[1]));
    if (good && !(range[1] - range[0] <= hs_picture_narrowest(range)) &&
        !isinf(range[1] - range[0]))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "--range %s: give two temperatures, the lower first and apart by more than "
                        "rounding, such as 290:350; one may be left out (290: or :350)",
                        text);
}

static enum hs_status read_width(const char *text, struct hs_picture *p, struct hs_error *err)
{
    const int64_t least = 400, most = 10000;
    if (read_count(text, least, most, &p->width)) {
        p->width += p->width % 2; /* films need even sides */
        return HS_OK;
    }
    return hs_error_add(err, HS_BAD_INPUT, "--width %s: give %d to %d pixels", text, (int)least,
                        (int)most);
}

static enum hs_status read_map(const char *text, struct hs_picture *p, struct hs_error *err)
{
    char names[256] = "";
    for (p->map = hs_colour_maps; p->map->name; p->map++) {
        if (strcmp(p->map->name, text) == 0)
            return HS_OK;
        strcat(strcat(names, *names ? ", " : ""), p->map->name);
    }
    return hs_error_add(err, HS_BAD_INPUT, "--map %s: no such colour map; there are %s", text,
                        names);
}

static enum hs_status read_contours(const char *text, struct hs_picture *p, struct hs_error *err)
{
    bool good = true;
    const char *rest = text;
    if (p->file.dims - (p->cut.axis >= 0) == 1)
        return hs_error_add(err, HS_BAD_INPUT,
                            "--contours: what is drawn of %s is a line: leave it out",
                            p->file.path);
    if (strchr(text, ',')) {
        while (good && *rest && p->level_count < HS_PICTURE_LEVELS)
            good = read_number(&rest, ',', &p->levels[p->level_count++]);
        good = good && *rest == '\0';
    } else {
        good = read_count(text, 1, HS_PICTURE_LEVELS, &p->contours);
    }
    if (good)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "--contours %s: give how many lines, 1 to %d, or their temperatures with "
                        "commas, such as 300,310 (one alone: 300,)",
                        text, HS_PICTURE_LEVELS);
}

static enum hs_status read_fps(const char *text, struct hs_picture *p, struct hs_error *err)
{
    if (read_count(text, 1, 120, &p->per_second))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT, "--fps %s: give 1 to 120 frames a second", text);
}

/* The options as given; NULL if not given. */
struct given {
    const char *input, *output, *step, *time, *slice, *range, *map, *width, *contours, *plot, *fps;
};

/* Refuses options that exclude each other. */
static enum hs_status check_together(const struct given *given, bool film, struct hs_error *err)
{
    const struct {
        const char *a, *b, *text;
    } pairs[] = {
        {given->step, given->time, "--step and --time both choose a snapshot: give one of them"},
        {given->plot, given->step, "--plot draws all rows: leave --step out"},
        {given->plot, given->time, "--plot draws all rows: leave --time out"},
        {given->plot, given->slice, "--plot draws columns, not the field: leave --slice out"},
        {given->plot, given->contours, "--plot draws columns, not the field: leave --contours out"},
        {given->plot, given->map, "--plot draws columns, not the field: leave --map out"},
        {given->plot, film ? "" : NULL, "--plot is one picture: end -o in .png, .svg or .pdf"},
        {given->time, film ? "" : NULL, "a film has all snapshots: leave --time out"},
        {given->fps, film ? NULL : "", "--fps is for films: end -o in .mp4 or .webm"},
    };
    for (size_t n = 0; n < sizeof pairs / sizeof *pairs; n++)
        if (pairs[n].a && pairs[n].b)
            return hs_error_add(err, HS_BAD_INPUT, "render: %s", pairs[n].text);
    if (film && given->step && strcmp(given->step, "all") != 0)
        return hs_error_add(err, HS_BAD_INPUT,
                            "--step %s: a film has all snapshots: leave --step out", given->step);
    return HS_OK;
}

/* Reads the options, checks them against the file, and draws. */
static enum hs_status draw(const struct given *given, bool film, struct hs_picture *p,
                           struct hs_error *err)
{
    const char *step = film ? "all" : "last", *slice = p->file.dims == HS_AXES ? "z" : NULL;
    const struct {
        const char *text, *otherwise;
        enum hs_status (*read)(const char *, struct hs_picture *, struct hs_error *);
    } values[] = {
        {given->step, step, read_step},     {given->time, NULL, read_time},
        {given->slice, slice, read_slice},  {given->contours, NULL, read_contours},
        {given->range, ":", read_range},    {given->map, hs_colour_maps[0].name, read_map},
        {given->width, "1600", read_width}, {given->fps, "10", read_fps},
    };
    for (size_t n = 0; n < sizeof values / sizeof *values; n++) {
        const char *text = values[n].text ? values[n].text : values[n].otherwise;
        if (text)
            HS_TRY(values[n].read(text, p, err));
    }
    return given->plot ? hs_picture_plot(p, given->plot, err) : hs_picture_draw(p, err);
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    struct given given = {0};
    const struct hs_argument table[] = {
        {NULL, HS_ARGUMENT_OPTIONAL, &given.input, "FILE"},
        {"--contours", HS_ARGUMENT_STRING, &given.contours, "N"},
        {"--fps", HS_ARGUMENT_STRING, &given.fps, "N"},
        {"--map", HS_ARGUMENT_STRING, &given.map, "NAME"},
        {"--output", HS_ARGUMENT_STRING, &given.output, "PICTURE"},
        {"--plot", HS_ARGUMENT_STRING, &given.plot, "NAMES"},
        {"--range", HS_ARGUMENT_STRING, &given.range, "A:B"},
        {"--slice", HS_ARGUMENT_STRING, &given.slice, "AXIS=POSITION"},
        {"--step", HS_ARGUMENT_STRING, &given.step, "N|last|all"},
        {"--time", HS_ARGUMENT_STRING, &given.time, "T"},
        {"--width", HS_ARGUMENT_STRING, &given.width, "PIXELS"},
        {"-o", HS_ARGUMENT_STRING, &given.output, "PICTURE"},
    };
    HS_TRY(hs_arguments_read(argc, argv, table, (int)(sizeof table / sizeof *table), err));
    if (!given.input)
        return hs_error_add(err, HS_BAD_INPUT,
                            "render: of which file? heatsolve render out.h5 -o picture.png");
    if (!given.output)
        return hs_error_add(err, HS_BAD_INPUT, "render: where to? add -o picture.png");
    const enum hs_picture_kind kind = hs_picture_kind_of(given.output);
    const bool film = kind == HS_MP4 || kind == HS_WEBM;
    struct hs_picture picture = {.output = given.output, .cut = {.axis = -1}, .range = {NAN, NAN}};
    HS_TRY(check_together(&given, film, err));
    HS_TRY(hs_canvas_check_name("-o", given.output, true, err));
    enum hs_status status = hs_picture_open(given.input, &picture.file, err);
    status = status ? status : draw(&given, film, &picture, err);
    hs_picture_close(&picture.file);
    return status;
}

const struct hs_command hs_command_render = {
    .name = "render",
    .usage = "heatsolve render FILE [--step N|last|all | --time T] [--slice z=0.05] [--range A:B] "
             "[--contours N] [--plot NAMES] [--map NAME] [--width PIXELS] [--fps N] -o PICTURE",
    .summary = "draw a run's file: a slice, a line, its history, a film",
    .help =
        "  -o, --output PICTURE      where to; .png, .svg or .pdf, or .mp4 or .webm for a film of "
        "all\n"
        "                            snapshots with one range (made by ffmpeg)\n"
        "  --step N|last|all         snapshot, 0 the first (default: last). all: numbered "
        "pictures\n"
        "                            with one range, or, of a line, one plot with a curve for "
        "each\n"
        "  --time T                  the snapshot nearest to this time, in s\n"
        "  --slice AXIS=POSITION     cut along x, y or z there, in m (default: the middle of z in "
        "3D;\n"
        "                            2D and 1D are drawn whole). The axis alone: its middle. In "
        "2D\n"
        "                            a cut is drawn as a line plot\n"
        "  --range A:B               temperatures that the colours, or a plot's axis, span "
        "(default:\n"
        "                            those of the slice, over all steps drawn); A: or :B sets one "
        "end.\n"
        "                            Where all data lie outside, a message says so\n"
        "  --contours N|A,B,...      lines of equal temperature: about N (1 to 50) at round ones, "
        "or at\n"
        "                            those given (one alone: A,)\n"
        "  --plot NAMES              columns over time instead of the field: probes for all of "
        "them,\n"
        "                            history for min, mean and max, or names such as heat or "
        "tip,rim,\n"
        "                            history/max and probes/max where both have one\n"
        "  --map NAME                inferno (default), viridis, magma, plasma, coolwarm, gray\n"
        "  --width PIXELS            400 to 10000 (default 1600); width and height are made even\n"
        "  --fps N                   frames of a film a second, 1 to 120 (default 10)\n",
    .run = run,
};
