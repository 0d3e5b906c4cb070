/*
 * heatsolve explain: shows a kernel's launch, by the same arithmetic that launches it.
 *
 * Works without a GPU and in a build without nvcc.
 */
#include "commands/command.h"
#include "core/device.h"
#include "core/text.h"
#include "engine/registry.h"
#include "input/arguments.h"
#include "input/options.h"
#include "input/points.h"
#include "output/launch_report.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The requested launch: a case with fixed faces, on a device. */
struct question {
    struct hs_case of;
    struct hs_face face[HS_FACES];
    int registers; /* per thread; 0: not known */
    const struct hs_device_limits *device;
    struct hs_device_limits at_hand;
};

static enum hs_status set_grid(struct question *question, const char *points, int64_t dims,
                               int radius, struct hs_error *err)
{
    struct hs_case *of = &question->of;
    struct hs_grid grid = {.spacing = {1.0, 1.0, 1.0}};
    HS_TRY(hs_points_read("explain", points, dims, &grid.dims, grid.points, err));
    /* the total loads of a kernel are counted in 64 bits */
    const double most_nodes = 1e15;
    if ((double)grid.points[HS_X] * (double)grid.points[HS_Y] * (double)grid.points[HS_Z] >
        most_nodes)
        return hs_error_add(err, HS_BAD_INPUT, "--points %s: more than %g nodes; give fewer",
                            points, most_nodes);
    for (int axis = 0; axis < grid.dims; axis++)
        if (grid.points[axis] < 2 * radius + 1)
            return hs_error_add(err, HS_BAD_INPUT,
                                "--points %s: at least %d points are needed for radius %d", points,
                                2 * radius + 1, radius);
    of->dims = grid.dims;
    of->radius = radius;
    of->layout = hs_layout_make(&grid, radius, 128 / (int64_t)hs_precision_size(of->precision));
    of->asked = hs_feature_stencil(grid.dims, radius, of->precision);
    /* the textbook's boundary: the outermost layers are held fixed */
    of->box = hs_grid_box(&grid);
    of->face = question->face;
    for (int axis = 0; axis < grid.dims; axis++) {
        question->face[2 * axis].held = question->face[2 * axis + 1].held = radius;
        of->box.lo[axis] += radius;
        of->box.hi[axis] -= radius;
    }
    return HS_OK;
}

/* `planes` that a block marches through, loading and writing all of them; 0: the kernel's own. */
static enum hs_status set_planes(struct question *question, int64_t planes, struct hs_error *err)
{
    const struct hs_case *of = &question->of;
    const int64_t most = of->box.hi[of->dims - 1] - of->box.lo[of->dims - 1];
    if (planes > most)
        return hs_error_add(err, HS_BAD_INPUT,
                            "--planes %lld: along %c there are %lld to march through, "
                            "without those held at both ends; give no more",
                            (long long)planes, "xyz"[of->dims - 1], (long long)most);
    question->of.blocking.planes = (int)(planes < 1000000 ? planes : 1000000);
    return HS_OK;
}

/* Checks that the kernel's scheme allows the user's block. */
static enum hs_status check_blocking(const struct hs_kernel *kernel,
                                     const struct question *question, struct hs_error *err)
{
    const struct hs_blocking *wish = &question->of.blocking;
    const int *t = wish->threads;
    if (wish->planes && !(kernel->features & HS_TAKES_PLANES))
        return hs_error_add(err, HS_BAD_INPUT,
                            "--planes: %s does not march through a chosen number of planes",
                            kernel->name);
    if (!t[HS_X])
        return HS_OK;
    if (!(kernel->features & HS_TAKES_BLOCK))
        return hs_error_add(err, HS_BAD_INPUT, "--block: %s has a fixed block", kernel->name);
    if ((int64_t)t[HS_X] * t[HS_Y] * t[HS_Z] > 1024)
        return hs_error_add(err, HS_BAD_INPUT,
                            "--block %dx%dx%d: a block can have 1024 threads, no more", t[HS_X],
                            t[HS_Y], t[HS_Z]);
    const int marched = kernel->features & HS_TAKES_PLANES ? 1 : 0;
    const int threaded = question->of.dims - marched;
    for (int axis = threaded; axis < HS_AXES; axis++)
        if (t[axis] != 1)
            return hs_error_add(err, HS_BAD_INPUT, "--block: %s has threads along %d axes here",
                                kernel->name, threaded);
    return HS_OK;
}

static enum hs_status launch_of(const struct hs_kernel *kernel, const struct question *question,
                                struct hs_kernel_plan *out, struct hs_error *err)
{
    const int *t = question->of.blocking.threads;
    char reason[256];
    HS_TRY(check_blocking(kernel, question, err));
    if (!hs_kernel_plan_make(kernel, &question->of, question->device, out, reason, sizeof reason))
        return hs_error_add(err, HS_BAD_INPUT, "%s", reason);
    for (int axis = 0; axis < HS_AXES; axis++)
        if (out->launch.output_tile[axis] < 1)
            return hs_error_add(err, HS_BAD_INPUT,
                                "--block %dx%dx%d: the halo of radius %d leaves no output tile",
                                t[HS_X], t[HS_Y], t[HS_Z], question->of.radius);
    return HS_OK;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static enum hs_status find(const char *name, const struct hs_kernel **out, struct hs_error *err)
{
    char choices[512] = "", meant[64] = "there";
    *out = NULL;
    for (int n = 0; hs_kernels[n]; n++) {
        const struct hs_kernel *kernel = hs_kernels[n];
        const bool named = strcmp(kernel->name, name) == 0;
        if (named && kernel->device == HS_CPU)
            return hs_error_add(err, HS_BAD_INPUT,
                                "%s: runs on the CPU and has no launch to explain", name);
        if (kernel->device == HS_CPU)
            continue;
        *out = kernel;
        if (named)
            return HS_OK;
        hs_text_add(choices, sizeof choices, "|", kernel->name);
    }
    const char *const nearest = hs_nearest_word(name, choices);
    if (nearest)
        snprintf(meant, sizeof meant, "did you mean %s? There", nearest);
    char *known = hs_list_said(choices);
    hs_error_add(err, HS_BAD_INPUT, "%s: no such CUDA kernel; %s are %s", name, meant, known);
    free(known);
    return HS_BAD_INPUT;
}

/* Whether the kernel supports the launch, including its block and fused sweeps; if so, the plan. */
static bool fits(const struct hs_kernel *kernel, const struct question *question,
                 struct hs_kernel_plan *plan)
{
    return kernel->device == HS_CUDA && launch_of(kernel, question, plan, NULL) == HS_OK;
}

static enum hs_status cannot(const struct question *question, const char *reason,
                             struct hs_error *err)
{
    char able[512] = "";
    struct hs_kernel_plan plan;
    for (int n = 0; hs_kernels[n]; n++)
        if (fits(hs_kernels[n], question, &plan))
            hs_text_add(able, sizeof able, ", ", hs_kernels[n]->name);
    return hs_error_add(err, HS_BAD_INPUT, "%s; kernels that can do what is asked: %s", reason,
                        able[0] ? able : "none");
}

static struct hs_launch as_launch(const struct hs_kernel *kernel, const struct question *question,
                                  const struct hs_kernel_plan *plan)
{
    return (struct hs_launch){.kernel = kernel,
                              .of = &question->of,
                              .geometry = &plan->launch,
                              .recursion = plan->recursion,
                              .registers = question->registers,
                              .device = question->device};
}

/* Prints one line for each kernel that supports the launch. */
static enum hs_status explain_all(const struct question *question, bool as_json,
                                  struct hs_error *err)
{
    struct hs_kernel_plan plan;
    struct hs_json json = {.stream = stdout};
    bool any = false;
    for (int n = 0; hs_kernels[n]; n++) {
        if (!fits(hs_kernels[n], question, &plan))
            continue;
        if (!any && as_json)
            hs_json_open(&json, NULL), hs_json_open_array(&json, "kernels");
        else if (!any)
            hs_launch_print_heading();
        any = true;
        const struct hs_launch launch = as_launch(hs_kernels[n], question, &plan);
        if (as_json)
            hs_launch_json(&json, &launch);
        else
            hs_launch_print_line(&launch);
    }
    if (!any)
        return cannot(question, "explain: no kernel has such a launch", err);
    if (as_json)
        hs_json_close(&json), hs_json_close(&json);
    return HS_OK;
}

static enum hs_status explain_one(const char *name, const struct question *question, bool as_json,
                                  struct hs_error *err)
{
    const struct hs_kernel *kernel = NULL;
    struct hs_kernel_plan plan;
    char reason[160];
    HS_TRY(find(name, &kernel, err));
    if (!hs_features_cover(kernel->name, kernel->features, question->of.asked, reason,
                           sizeof reason))
        return cannot(question, reason, err);
    HS_TRY(launch_of(kernel, question, &plan, err));
    const struct hs_launch launch = as_launch(kernel, question, &plan);
    if (as_json) {
        struct hs_json json = {.stream = stdout};
        hs_launch_json(&json, &launch);
    } else {
        hs_launch_print(&launch);
    }
    return HS_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The first GPU of this machine; having none is no error. */
static bool find_device_at_hand(struct hs_device_limits *out)
{
    bool found = false;
    for (int n = 0; hs_backends[n] && !found; n++)
        found = hs_backends[n]->limits && hs_backends[n]->available(0, NULL) == HS_OK &&
                hs_backends[n]->limits(0, out, NULL) == HS_OK;
    return found;
}

static enum hs_status choose_device(const char *name, struct question *question,
                                    struct hs_error *err)
{
    if (!name) {
        question->device =
            find_device_at_hand(&question->at_hand) ? &question->at_hand : hs_device_find("H200");
        return HS_OK;
    }
    question->device = hs_device_find(name);
    if (question->device)
        return HS_OK;
    char known[256] = "";
    for (const struct hs_device_limits *d = hs_device_table; d->name[0]; d++)
        hs_text_add(known, sizeof known, ", ", d->name);
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
    HS_TRY(hs_arguments_read(argc, argv, table, sizeof table / sizeof table[0], err));
    struct question question = {.registers = (int)(registers < 256 ? registers : 255)};
    if (!points)
        return hs_error_add(err, HS_BAD_INPUT,
                            "explain: needs --points, as in --points 256 or --points 512,512,256");
    if (radius > HS_MAX_RADIUS)
        return hs_error_add(err, HS_BAD_INPUT, "--radius %lld: give 1, 2 or 3", (long long)radius);
    if (strcmp(precision, "double") == 0)
        question.of.precision = HS_DOUBLE;
    else if (strcmp(precision, "float") != 0)
        return hs_error_add(err, HS_BAD_INPUT, "--precision %s: give float or double", precision);
    question.of.steps = (int)(steps < 1000 ? steps : 1000);
    HS_TRY(set_grid(&question, points, dims, (int)radius, err));
    HS_TRY(choose_device(device, &question, err));
    if (block) {
        int64_t threads[HS_AXES] = {1, 1, 1};
        if (hs_points_counts("--block", block, "give one to three counts, as in --block 8,8,8",
                             threads, err) < 0)
            return HS_BAD_INPUT;
        for (int axis = 0; axis < HS_AXES; axis++)
            question.of.blocking.threads[axis] = (int)(threads[axis] < 2000 ? threads[axis] : 2000);
    }
    HS_TRY(set_planes(&question, planes, err));
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
        "  --device NAME      the launch, occupancy and roofline on H200, H100, A100, RTX 4090,\n"
        "                     T4, ...; default: this machine's GPU, if it has one, else H200\n"
        "  --registers N      of a thread, for the occupancy (nvcc -Xptxas -v prints them)\n"
        "  --json             one JSON object\n\n"
        "Without KERNEL, one line for each that can do it. Loads, operations and OP/B are\n"
        "counted as in Hwu, Kirk, El Hajj, Programming Massively Parallel Processors, ch. 8.\n",
    .run = run,
};
