/* heatsolve render: pictures and films of what a run's file holds. */
#include "commands/command.h"
#include "input/arguments.h"
#include "output/picture.h"
#include "output/picture_film.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The options as given; NULL those that were not. */
struct given {
    const char *input, *output, *step, *time, *slice, *range, *map, *width, *contours, *plot, *fps;
};

/* A number that ends at one of `ends`, or with the text; *text moves behind it. */
static bool read_number(const char **text, char end, double *out)
{
    char *stop;
    *out = strtod(*text, &stop);
    const bool good = stop != *text && isfinite(*out) && (*stop == '\0' || *stop == end);
    *text = stop + (*stop != '\0');
    return good;
}

/* A whole number from least to most, and nothing else. */
static bool read_count(const char *text, int64_t least, int64_t most, int64_t *out)
{
    double value;
    if (!read_number(&text, '\0', &value) || value != rint(value) || value < (double)least ||
        value > (double)most)
        return false;
    *out = (int64_t)value;
    return true;
}

static enum hs_status read_step(const char *text, struct hs_picture_request *request,
                                struct hs_error *err)
{
    request->step = strcmp(text, "all") == 0 ? HS_PICTURE_STEP_ALL : HS_PICTURE_STEP_LAST;
    if (request->step == HS_PICTURE_STEP_ALL || strcmp(text, "last") == 0 ||
        read_count(text, 0, (int64_t)1 << 53, &request->step))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "--step %s: give a snapshot's number from 0 on, last or all", text);
}

static enum hs_status read_time(const char *text, struct hs_picture_request *request,
                                struct hs_error *err)
{
    const char *rest = text;
    if (read_number(&rest, '\0', &request->time))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT, "--time %s: give a time in s, such as 30", text);
}

static enum hs_status read_slice(const char *text, struct hs_picture_request *request,
                                 struct hs_error *err)
{
    const char *letter = *text ? strchr("xyz", *text) : NULL, *at = text + 2;
    if (letter &&
        (text[1] == '\0' || (text[1] == '=' && read_number(&at, '\0', &request->slice_at)))) {
        request->slice_axis = *letter - 'x';
        return HS_OK;
    }
    return hs_error_add(err, HS_BAD_INPUT,
                        "--slice %s: give an axis and where along it in m, such as z=0.05, or "
                        "the axis alone for its middle",
                        text);
}

static enum hs_status read_range(const char *text, struct hs_picture_request *request,
                                 struct hs_error *err)
{
    double *range = request->range;
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

static enum hs_status read_width(const char *text, struct hs_picture_request *request,
                                 struct hs_error *err)
{
    int64_t width;
    if (!read_count(text, HS_PICTURE_WIDTH_LEAST, HS_PICTURE_WIDTH_MOST, &width))
        return hs_error_add(err, HS_BAD_INPUT, "--width %s: give %d to %d pixels", text,
                            HS_PICTURE_WIDTH_LEAST, HS_PICTURE_WIDTH_MOST);
    request->width = (int)width;
    return HS_OK;
}

static enum hs_status read_contours(const char *text, struct hs_picture_request *request,
                                    struct hs_error *err)
{
    int64_t count = 0;
    bool good = true;
    const char *rest = text;
    if (strchr(text, ',')) {
        while (good && *rest && request->level_count < HS_PICTURE_LEVELS)
            good = read_number(&rest, ',', &request->levels[request->level_count++]);
        good = good && *rest == '\0';
    } else {
        good = read_count(text, 1, HS_PICTURE_LEVELS, &count);
    }
    request->contours = (int)count;
    if (good)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "--contours %s: give how many lines, 1 to %d, or their temperatures with "
                        "commas, such as 300,310 (one alone: 300,)",
                        text, HS_PICTURE_LEVELS);
}

static enum hs_status read_fps(const char *text, struct hs_picture_request *request,
                               struct hs_error *err)
{
    int64_t fps;
    if (!read_count(text, 1, 120, &fps))
        return hs_error_add(err, HS_BAD_INPUT, "--fps %s: give 1 to 120 frames a second", text);
    request->per_second = (int)fps;
    return HS_OK;
}

/* Options that do not go together. */
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
    enum hs_status status =
        hs_arguments_read(argc, argv, table, (int)(sizeof table / sizeof *table), err);
    if (status != HS_OK)
        return status;
    if (!given.input)
        return hs_error_add(err, HS_BAD_INPUT,
                            "render: of which file? heatsolve render out.h5 -o picture.png");
    if (!given.output)
        return hs_error_add(err, HS_BAD_INPUT, "render: where to? add -o picture.png");
    struct hs_picture_request request = {.input = given.input,
                                         .output = given.output,
                                         .map = given.map,
                                         .plot = given.plot,
                                         .step = HS_PICTURE_STEP_LAST,
                                         .time = NAN,
                                         .slice_axis = -1,
                                         .slice_at = NAN,
                                         .range = {NAN, NAN},
                                         .width = HS_PICTURE_WIDTH,
                                         .per_second = 10};
    const struct {
        const char *text;
        enum hs_status (*read)(const char *, struct hs_picture_request *, struct hs_error *);
    } values[] = {
        {given.contours, read_contours}, {given.fps, read_fps},   {given.range, read_range},
        {given.slice, read_slice},       {given.step, read_step}, {given.time, read_time},
        {given.width, read_width},
    };
    for (size_t n = 0; n < sizeof values / sizeof *values && status == HS_OK; n++)
        if (values[n].text)
            status = values[n].read(values[n].text, &request, err);
    const bool film = hs_film_is_name(given.output);
    if (status == HS_OK)
        status = check_together(&given, film, err);
    if (film)
        request.step = HS_PICTURE_STEP_ALL;
    return status == HS_OK ? hs_picture_draw(&request, stdout, err) : status;
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
        "                            2D and 1D are drawn whole). The axis alone: its middle. Of "
        "2D,\n"
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
        "tip,rim\n"
        "  --map NAME                inferno (default), viridis, magma, plasma, coolwarm, gray\n"
        "  --width PIXELS            400 to 10000 (default 1600); width and height are made even\n"
        "  --fps N                   frames of a film a second, 1 to 120 (default 10)\n",
    .run = run,
};
