/* heatsolve render: a slice of a run's file as a picture. */
#include "commands/command.h"
#include "output/picture.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A number that is all of the text. */
static bool read_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == 0 && isfinite(*out);
}

static bool read_count(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    *out = value;
    return end != text && *end == 0 && errno == 0 && value >= 0;
}

static enum hs_status set_output(struct hs_picture_request *request, const char *text,
                                 struct hs_error *err)
{
    (void)err;
    request->output = text;
    return HS_OK;
}

static enum hs_status set_map(struct hs_picture_request *request, const char *text,
                              struct hs_error *err)
{
    (void)err;
    request->map = text;
    return HS_OK;
}

static enum hs_status set_step(struct hs_picture_request *request, const char *text,
                               struct hs_error *err)
{
    request->all_steps = strcmp(text, "all") == 0;
    request->step = -1;
    if (request->all_steps || strcmp(text, "last") == 0 || read_count(text, &request->step))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "--step %s: give a snapshot's number from 0 on, last or all", text);
}

static enum hs_status set_slice(struct hs_picture_request *request, const char *text,
                                struct hs_error *err)
{
    const char *letter = *text ? strchr("xyz", *text) : NULL;
    request->slice_at = NAN;
    if (!letter || (text[1] != 0 && (text[1] != '=' || !read_number(text + 2, &request->slice_at))))
        return hs_error_add(err, HS_BAD_INPUT,
                            "--slice %s: give an axis and where along it in m, such as z=0.05, or "
                            "the axis alone for its middle",
                            text);
    request->slice_axis = *letter - 'x';
    return HS_OK;
}

static enum hs_status set_range(struct hs_picture_request *request, const char *text,
                                struct hs_error *err)
{
    const char *colon = strchr(text, ':');
    bool good = colon != NULL;
    for (int end = 0; end < 2 && good; end++) {
        const char *from = end ? colon + 1 : text;
        const size_t length = end ? strlen(from) : (size_t)(colon - text);
        char part[64];
        if (length == 0) {
            request->range[end] = NAN;
            continue;
        }
        good = length < sizeof part;
        if (good) {
            memcpy(part, from, length);
            part[length] = 0;
            good = read_number(part, &request->range[end]);
        }
    }
    if (good && !(request->range[0] >= request->range[1]))
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "--range %s: give two temperatures, the lower first, such as 290:350; one "
                        "may be left out (290: or :350)",
                        text);
}

static enum hs_status set_width(struct hs_picture_request *request, const char *text,
                                struct hs_error *err)
{
    int64_t width;
    if (!read_count(text, &width) || width < HS_PICTURE_WIDTH_LEAST ||
        width > HS_PICTURE_WIDTH_MOST)
        return hs_error_add(err, HS_BAD_INPUT, "--width %s: give %d to %d pixels", text,
                            HS_PICTURE_WIDTH_LEAST, HS_PICTURE_WIDTH_MOST);
    request->width = (int)width;
    return HS_OK;
}

static const struct {
    const char *name;
    enum hs_status (*set)(struct hs_picture_request *request, const char *text,
                          struct hs_error *err);
} options[] = {
    {"--map", set_map},     {"--range", set_range}, {"--slice", set_slice},   {"--step", set_step},
    {"--width", set_width}, {"-o", set_output},     {"--output", set_output},
};

/* The option that `argument` names, "--name" or "--name=value"; -1 if none. */
static int find_option(const char *argument, const char **value)
{
    const size_t length = strcspn(argument, "=");
    for (int i = 0; i < (int)(sizeof options / sizeof *options); i++)
        if (strlen(options[i].name) == length && strncmp(options[i].name, argument, length) == 0) {
            *value = argument[length] ? argument + length + 1 : NULL;
            return i;
        }
    return -1;
}

static enum hs_status read_arguments(int argc, char **argv, struct hs_picture_request *request,
                                     struct hs_error *err)
{
    for (int i = 1; i < argc; i++) {
        const char *value = NULL;
        const int option = find_option(argv[i], &value);
        if (option < 0 && argv[i][0] == '-')
            return hs_error_add(err, HS_BAD_INPUT,
                                "%s: no such option; heatsolve render --help lists them", argv[i]);
        if (option < 0 && request->input)
            return hs_error_add(err, HS_BAD_INPUT, "%s: one file at a time; %s was given before",
                                argv[i], request->input);
        if (option < 0) {
            request->input = argv[i];
            continue;
        }
        if (!value && i + 1 < argc)
            value = argv[++i];
        if (!value)
            return hs_error_add(err, HS_BAD_INPUT, "%s: its value is missing", argv[i]);
        const enum hs_status status = options[option].set(request, value, err);
        if (status != HS_OK)
            return status;
    }
    return HS_OK;
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    struct hs_picture_request request = {
        .step = -1, .slice_axis = -1, .slice_at = NAN, .range = {NAN, NAN}};
    const enum hs_status status = read_arguments(argc, argv, &request, err);
    if (status != HS_OK)
        return status;
    if (!request.input)
        return hs_error_add(err, HS_BAD_INPUT,
                            "render: of which file? heatsolve render out.h5 -o picture.png");
    if (!request.output)
        return hs_error_add(err, HS_BAD_INPUT, "render: where to? add -o picture.png");
    return hs_picture_draw(&request, err);
}

const struct hs_command hs_command_render = {
    .name = "render",
    .usage =
        "heatsolve render FILE [--step N|last|all] [--slice z=0.05] [--range A:B] [--map NAME] "
        "[--width PIXELS] -o PICTURE.png",
    .summary = "draw a slice of a run's file as a PNG",
    .help =
        "  -o, --output PICTURE.png  where to\n"
        "  --step N|last|all         snapshot, 0 the first (default: last). all: numbered "
        "pictures\n"
        "                            with one range, or, of a line, one plot with a curve for "
        "each\n"
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
        "  --map NAME                inferno (default), viridis, magma, plasma, coolwarm, gray\n"
        "  --width PIXELS            400 to 10000 (default 1600)\n",
    .run = run,
};
