/*
 * heatsolve explain: what a kernel's launch looks like, from the arithmetic that launches it.
 *
 * Works without a GPU, and in a build without nvcc.
 */
#include "commands/command.h"
#include "core/device.h"
#include "engine/registry.h"
#include "input/arguments.h"
#include "input/options.h"
#include "input/points.h"
#include "output/launch_report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The launch asked about, and what holds its parts. */
struct question {
    struct hs_sweep sweep;
    struct hs_stencil stencil;
    struct hs_face face[HS_FACES];
    struct hs_blocking blocking; /* 0 where the user leaves it to the kernel */
    int dims;
    int registers;                         /* of a thread; 0: not known */
    const struct hs_device_limits *device; /* NULL: none is known */
    struct hs_device_limits at_hand;
};

/* Reads "120,120,120" or "8x8x8": as many numbers as there are, -1 if it is not that. */
static int read_numbers(const char *text, int64_t out[HS_AXES])
{
    int count = 0;
    for (const char *at = text; count < HS_AXES; at++) { /* past the separator */
        char *end;
        out[count] = strtoll(at, &end, 10);
        if (end == at || out[count] < 1 || out[count] > 1000000000000)
            return -1;
        count++;
        at = end;
        if (*at == '\0')
            return count;
        if (*at != ',' && *at != 'x')
            return -1;
    }
    return -1;
}

static enum hs_status set_grid(struct question *question, const char *points, int64_t dims,
                               int radius, int steps, struct hs_error *err)
{
    int64_t count[HS_AXES];
    const enum hs_status status =
        hs_points_read("explain", points, dims, &question->dims, count, err);
    if (status)
        return status;
    /* what a kernel loads in all is counted in 64 bits */
    const double most_nodes = 1e15;
    if ((double)count[HS_X] * (double)count[HS_Y] * (double)count[HS_Z] > most_nodes)
        return hs_error_add(err, HS_BAD_INPUT, "--points %s: more than %g nodes; give fewer",
                            points, most_nodes);
    struct hs_sweep *sweep = &question->sweep;
    struct hs_grid grid = {.dims = question->dims};
    for (int axis = 0; axis < HS_AXES; axis++) {
        grid.points[axis] = count[axis];
        grid.spacing[axis] = 1.0;
        if (axis < question->dims && count[axis] < 2 * radius + 1)
            return hs_error_add(err, HS_BAD_INPUT,
                                "--points %s: at least %d points are needed for radius %d", points,
                                2 * radius + 1, radius);
    }
    question->stencil = (struct hs_stencil){.dims = question->dims, .radius = radius};
    sweep->stencil = &question->stencil;
    sweep->face = question->face;
    sweep->steps = steps;
    sweep->layout =
        hs_layout_make(&grid, radius, 128 / (int64_t)hs_precision_size(sweep->precision));
    /* the textbook's boundary: the outermost layers are held */
    sweep->box = hs_grid_box(&grid);
    for (int axis = 0; axis < question->dims; axis++) {
        question->face[2 * axis].held = question->face[2 * axis + 1].held = radius;
        sweep->box.lo[axis] += radius;
        sweep->box.hi[axis] -= radius;
    }
    return HS_OK;
}

/* A kernel as `explain` knows it. */
struct subject {
    const char *name;
    const struct hs_kernel *kernel; /* NULL: not built */
    const struct hs_tiling *tiling;
};

static bool can(const struct subject *subject, const struct question *question, char *reason,
                size_t size)
{
    const hs_features asked =
        hs_feature_stencil(question->dims, question->stencil.radius, question->sweep.precision);
    return hs_features_cover(subject->name, subject->tiling->features, asked, reason, size);
}

/* The user's block instead of the kernel's own, if it is one that the kernel's scheme can have. */
static enum hs_status choose_blocking(const struct subject *subject,
                                      const struct question *question, struct hs_blocking *out,
                                      struct hs_error *err)
{
    const struct hs_blocking *asked = &question->blocking;
    const int *t = asked->threads;
    const int radius = question->stencil.radius;
    *out = subject->tiling->usual(question->dims, radius, question->sweep.precision);
    if (asked->planes) {
        if (!out->planes)
            return hs_error_add(err, HS_BAD_INPUT,
                                "--planes: %s does not march through a chosen number of planes",
                                subject->name);
        out->planes = asked->planes;
    }
    if (!t[HS_X])
        return HS_OK;
    if (!subject->tiling->resizable)
        return hs_error_add(err, HS_BAD_INPUT, "--block: %s has a fixed block, %dx%dx%d",
                            subject->name, out->threads[HS_X], out->threads[HS_Y],
                            out->threads[HS_Z]);
    if ((int64_t)t[HS_X] * t[HS_Y] * t[HS_Z] > 1024)
        return hs_error_add(err, HS_BAD_INPUT,
                            "--block %dx%dx%d: a block can have 1024 threads, no more", t[HS_X],
                            t[HS_Y], t[HS_Z]);
    const int threaded = out->planes ? question->dims - 1 : question->dims;
    for (int axis = 0; axis < HS_AXES; axis++) {
        if (axis >= threaded && t[axis] != 1)
            return hs_error_add(err, HS_BAD_INPUT, "--block: %s has threads along %d axes here",
                                subject->name, threaded);
        out->threads[axis] = t[axis];
    }
    struct hs_geometry trial;
    subject->tiling->geometry(&question->sweep, out, &trial);
    for (int axis = 0; axis < HS_AXES; axis++)
        if (trial.output_tile[axis] < 1)
            return hs_error_add(err, HS_BAD_INPUT,
                                "--block %dx%dx%d: the halo of radius %d leaves no output tile",
                                t[HS_X], t[HS_Y], t[HS_Z], radius);
    return HS_OK;
}

/* Blocks that wait for each other are a launch only where each has a multiprocessor. Without a
 * device, of those that grids are cut for. */
static enum hs_status check_together(const struct subject *subject, const struct question *question,
                                     const struct hs_geometry *g, struct hs_error *err)
{
    const struct hs_device_limits *device = question->device;
    if (!device)
        device = hs_device_find("H200");
    if (!subject->tiling->together || hs_geometry_blocks(g) <= device->multiprocessors)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: this grid does not fit on the chip: %lld blocks would have to run at "
                        "once, and %s has %d multiprocessors",
                        subject->name, (long long)hs_geometry_blocks(g), device->name,
                        device->multiprocessors);
}

/* With the fields where the kernel likes them. */
static enum hs_status geometry_of(const struct subject *subject, const struct question *question,
                                  struct hs_geometry *out, struct hs_error *err)
{
    const enum hs_precision precision = question->sweep.precision;
    struct question moved = *question;
    moved.sweep.layout =
        hs_tiling_layout(subject->tiling, precision, question->face, &question->sweep.layout);
    const int most = subject->tiling->steps[precision], few = subject->tiling->few[precision];
    if (question->sweep.steps > most)
        return hs_error_add(err, HS_BAD_INPUT, "--steps %d: %s fuses at most %d in %s",
                            question->sweep.steps, subject->name, most,
                            hs_precision_name(precision));
    if (few && question->sweep.steps > few && question->sweep.steps < most)
        return hs_error_add(err, HS_BAD_INPUT, "--steps %d: %s fuses up to %d in %s, or %d",
                            question->sweep.steps, subject->name, few, hs_precision_name(precision),
                            most);
    struct hs_blocking blocking;
    const enum hs_status status = choose_blocking(subject, question, &blocking, err);
    if (status)
        return status;
    subject->tiling->geometry(&moved.sweep, &blocking, out);
    return check_together(subject, question, out, err);
}

/* ---- subjects -------------------------------------------------------------------------------- */

static const struct hs_kernel *built(const char *name)
{
    for (int n = 0; hs_kernels[n]; n++)
        if (hs_kernels[n]->device == HS_CUDA && strcmp(hs_kernels[n]->name, name) == 0)
            return hs_kernels[n];
    return NULL;
}

static enum hs_status find(const char *name, struct subject *out, struct hs_error *err)
{
    *out = (struct subject){name, built(name), hs_tiling_find(name)};
    if (out->tiling)
        return HS_OK;
    for (int n = 0; hs_kernels[n]; n++)
        if (strcmp(hs_kernels[n]->name, name) == 0)
            return hs_error_add(err, HS_BAD_INPUT,
                                "%s: runs on the CPU and has no launch to explain", name);
    char known[512] = "", choices[512] = "", meant[64] = "there";
    for (const struct hs_tiling *const *row = hs_tilings; *row; row++) {
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", known[0] ? ", " : "",
                 (*row)->kernel);
        snprintf(choices + strlen(choices), sizeof choices - strlen(choices), "%s%s",
                 choices[0] ? "|" : "", (*row)->kernel);
    }
    const char *const nearest = hs_nearest_word(name, choices);
    if (nearest)
        snprintf(meant, sizeof meant, "did you mean %s? There", nearest);
    return hs_error_add(err, HS_BAD_INPUT, "%s: no such CUDA kernel; %s are %s", name, meant,
                        known);
}

/* The subject number `n`; false when there are no more. */
static bool subject_at(int n, struct subject *out)
{
    const struct hs_tiling *row = hs_tilings[n];
    if (row)
        *out = (struct subject){row->kernel, built(row->kernel), row};
    return row != NULL;
}

/* Whether the subject can do all that is asked, blocks and fused sweeps too; its launch then. */
static bool fits(const struct subject *subject, const struct question *question,
                 struct hs_geometry *g)
{
    char reason[160];
    struct hs_error unused;
    hs_error_init(&unused);
    const bool good = can(subject, question, reason, sizeof reason) &&
                      geometry_of(subject, question, g, &unused) == HS_OK;
    hs_error_release(&unused);
    return good;
}

static enum hs_status cannot(const struct question *question, const char *reason,
                             struct hs_error *err)
{
    char able[512] = "";
    struct subject subject;
    struct hs_geometry g;
    for (int n = 0; subject_at(n, &subject); n++)
        if (fits(&subject, question, &g))
            snprintf(able + strlen(able), sizeof able - strlen(able), "%s%s", able[0] ? ", " : "",
                     subject.name);
    return hs_error_add(err, HS_BAD_INPUT, "%s; kernels that can do what is asked: %s", reason,
                        able[0] ? able : "none");
}

static struct hs_launch launch_of(const struct subject *subject, const struct question *question,
                                  const struct hs_geometry *g)
{
    return (struct hs_launch){.kernel = subject->name,
                              .built = subject->kernel != NULL,
                              .sweep = &question->sweep,
                              .geometry = g,
                              .registers = question->registers,
                              .device = question->device};
}

/* All that can do what is asked, in a row: one line each. */
static enum hs_status explain_all(const struct question *question, bool as_json,
                                  struct hs_error *err)
{
    struct subject subject;
    struct hs_geometry g;
    bool any = false;
    for (int n = 0; !any && subject_at(n, &subject); n++)
        any = fits(&subject, question, &g);
    if (!any)
        return cannot(question, "explain: no kernel has such a launch", err);
    struct hs_json json = hs_json_on(stdout);
    if (as_json)
        hs_json_open(&json, NULL), hs_json_open_array(&json, "kernels");
    else
        hs_launch_print_heading();
    for (int n = 0; subject_at(n, &subject); n++) {
        if (!fits(&subject, question, &g))
            continue;
        const struct hs_launch launch = launch_of(&subject, question, &g);
        if (as_json)
            hs_launch_json(&json, &launch);
        else
            hs_launch_print_line(&launch);
    }
    if (as_json)
        hs_json_close_array(&json), hs_json_close(&json);
    return HS_OK;
}

static enum hs_status explain_one(const char *name, const struct question *question, bool as_json,
                                  struct hs_error *err)
{
    struct subject subject;
    struct hs_geometry g;
    char reason[160];
    enum hs_status status = find(name, &subject, err);
    if (status)
        return status;
    if (!can(&subject, question, reason, sizeof reason))
        return cannot(question, reason, err);
    status = geometry_of(&subject, question, &g, err);
    if (status)
        return status;
    const struct hs_launch launch = launch_of(&subject, question, &g);
    if (as_json) {
        struct hs_json json = hs_json_on(stdout);
        hs_launch_json(&json, &launch);
    } else {
        hs_launch_print(&launch);
    }
    return HS_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The first GPU of this machine; it is no error to have none. */
static bool find_device_at_hand(struct hs_device_limits *out)
{
    bool found = false;
    for (int n = 0; hs_backends[n] && !found; n++) {
        struct hs_error none;
        hs_error_init(&none);
        found = hs_backends[n]->limits && hs_backends[n]->available(0, &none) == HS_OK &&
                hs_backends[n]->limits(0, out, &none) == HS_OK;
        hs_error_release(&none);
    }
    return found;
}

static enum hs_status choose_device(const char *name, struct question *question,
                                    struct hs_error *err)
{
    if (!name) {
        if (find_device_at_hand(&question->at_hand))
            question->device = &question->at_hand;
        return HS_OK;
    }
    question->device = hs_device_find(name);
    if (question->device)
        return HS_OK;
    char known[256] = "";
    for (const struct hs_device_limits *d = hs_device_table; d->name[0]; d++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", known[0] ? ", " : "",
                 d->name);
    return hs_error_add(err, HS_BAD_INPUT, "--device %s: not known; choose one of %s", name, known);
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    const char *points = NULL, *block = NULL, *precision = "float", *device = NULL, *kernel = NULL;
    int64_t dims = 0, planes = 0, radius = 1, registers = 0, steps = 1;
    bool json = false;
    const struct hs_argument table[] = {
        {"--points", HS_ARGUMENT_STRING, &points, "NX,NY,NZ"},
        {"--dims", HS_ARGUMENT_COUNT, &dims, "D"},
        {"--block", HS_ARGUMENT_STRING, &block, "X,Y,Z"},
        {"--planes", HS_ARGUMENT_COUNT, &planes, "N"},
        {"--radius", HS_ARGUMENT_COUNT, &radius, "R"},
        {"--precision", HS_ARGUMENT_STRING, &precision, "float|double"},
        {"--steps", HS_ARGUMENT_COUNT, &steps, "N"},
        {"--device", HS_ARGUMENT_STRING, &device, "NAME"},
        {"--registers", HS_ARGUMENT_COUNT, &registers, "N"},
        {"--json", HS_ARGUMENT_FLAG, &json, ""},
        {NULL, HS_ARGUMENT_OPTIONAL, &kernel, "KERNEL"},
    };
    enum hs_status status =
        hs_arguments_read(argc, argv, table, sizeof table / sizeof table[0], err);
    if (status)
        return status;
    struct question question = {.registers = (int)(registers < 256 ? registers : 255)};
    if (!points)
        return hs_error_add(err, HS_BAD_INPUT,
                            "explain: needs --points, as in --points 256 or --points 512,512,256");
    if (radius > HS_MAX_RADIUS)
        return hs_error_add(err, HS_BAD_INPUT, "--radius %lld: 1, 2 or 3", (long long)radius);
    if (strcmp(precision, "double") == 0)
        question.sweep.precision = HS_DOUBLE;
    else if (strcmp(precision, "float") != 0)
        return hs_error_add(err, HS_BAD_INPUT, "--precision %s: float or double", precision);
    status =
        set_grid(&question, points, dims, (int)radius, (int)(steps < 1000 ? steps : 1000), err);
    if (!status)
        status = choose_device(device, &question, err);
    if (!status && block) {
        int64_t threads[HS_AXES] = {1, 1, 1};
        if (read_numbers(block, threads) < 0)
            return hs_error_add(err, HS_BAD_INPUT,
                                "--block %s: give one to three counts, as in --block 8,8,8", block);
        for (int axis = 0; axis < HS_AXES; axis++)
            question.blocking.threads[axis] = (int)(threads[axis] < 2000 ? threads[axis] : 2000);
    }
    question.blocking.planes = (int)(planes < 1000000 ? planes : 1000000);
    if (status)
        return status;
    return kernel ? explain_one(kernel, &question, json, err) : explain_all(&question, json, err);
}

const struct hs_command hs_command_explain = {
    .name = "explain",
    .usage =
        "heatsolve explain [KERNEL] --points N|NX,NY,NZ [--dims D] [--block X,Y,Z] [--device NAME] "
        "...",
    .summary = "show a CUDA kernel's launch and what bounds it; needs no GPU",
    .help =
        "  --points N,N,N     nodes of the grid, whose outermost layers are held (fixed); 256 or\n"
        "                     512,512,256, as bench takes it\n"
        "  --dims D           1, 2 or 3 axes; without it as many as --points has, 3 for a lone "
        "one\n"
        "  --block X,Y,Z      threads of a block, instead of the kernel's own\n"
        "  --planes N         planes that a block marches through, instead of the kernel's own\n"
        "  --radius R         1 (default), 2 or 3\n"
        "  --precision P      float (default) or double\n"
        "  --steps N          sweeps that one launch fuses; default 1\n"
        "  --device NAME      occupancy and roofline on H200, H100, A100, RTX 4090, T4, ...;\n"
        "                     default: on this machine's GPU, if it has one\n"
        "  --registers N      of a thread, for the occupancy (nvcc -Xptxas -v tells)\n"
        "  --json             one JSON object\n\n"
        "Without KERNEL, one line for each that can do it. Loads, operations and OP/B are\n"
        "counted as in Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, ch. 8.\n",
    .run = run,
};
