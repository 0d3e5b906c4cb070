/*
 * heatsolve explain: what a kernel's launch looks like, from the arithmetic that launches it.
 *
 * Works without a GPU, and for the kernels of the tiling table also in a build without nvcc.
 */
#include "commands/command.h"
#include "core/device.h"
#include "core/tiling.h"
#include "engine/registry.h"
#include "input/arguments.h"
#include "output/json.h"

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

static enum hs_status set_grid(struct question *question, const char *points, int radius, int steps,
                               struct hs_error *err)
{
    int64_t count[HS_AXES] = {1, 1, 1};
    question->dims = read_numbers(points, count);
    if (question->dims < 0)
        return hs_error_add(err, HS_BAD_INPUT,
                            "--points %s: give one to three counts, as in --points 120,120,120",
                            points);
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

/* A kernel as `explain` knows it: built or not, with a row of the table or not. */
struct subject {
    const char *name;
    const struct hs_kernel *kernel; /* NULL: not built */
    const struct hs_tiling *tiling; /* NULL: it has only its own function */
};

static bool can(const struct subject *subject, const struct question *question, char *reason,
                size_t size)
{
    const struct hs_sweep *sweep = &question->sweep;
    const int radius = question->stencil.radius;
    if (subject->kernel)
        return hs_kernel_can(subject->kernel, question->dims, radius, sweep->precision, reason,
                             size);
    const struct hs_kernel stand_in = {.name = subject->name,
                                       .dims = subject->tiling->dims,
                                       .radius = subject->tiling->radius,
                                       .precision = 1u << HS_FLOAT | 1u << HS_DOUBLE};
    return hs_kernel_can(&stand_in, question->dims, radius, sweep->precision, reason, size);
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

static int64_t block_count(const struct hs_geometry *g)
{
    return g->blocks[HS_X] * g->blocks[HS_Y] * g->blocks[HS_Z];
}

/* Blocks that wait for each other are a launch only where each has a multiprocessor. Without a
 * device, of those that grids are cut for. */
static enum hs_status check_together(const struct subject *subject, const struct question *question,
                                     const struct hs_geometry *g, struct hs_error *err)
{
    const struct hs_device_limits *device = question->device;
    const int room = device ? device->multiprocessors : HS_MULTIPROCESSORS;
    if (!subject->tiling || !subject->tiling->together || block_count(g) <= room)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "%s: this grid does not fit on the chip: %lld blocks would have to run at "
                        "once, and %s has %d multiprocessors",
                        subject->name, (long long)block_count(g), device ? device->name : "an H200",
                        room);
}

/* With the fields where the kernel likes them. */
static enum hs_status geometry_of(const struct subject *subject, const struct question *question,
                                  struct hs_geometry *out, struct hs_error *err)
{
    const bool chosen = question->blocking.threads[HS_X] || question->blocking.planes;
    const enum hs_precision precision = question->sweep.precision;
    struct question moved = *question;
    moved.sweep.layout =
        hs_tiling_layout(subject->name, precision, question->face, &question->sweep.layout);
    const int most = subject->tiling   ? subject->tiling->steps[precision]
                     : subject->kernel ? subject->kernel->steps
                                       : 1;
    if (question->sweep.steps > most)
        return hs_error_add(err, HS_BAD_INPUT, "--steps %d: %s fuses at most %d in %s",
                            question->sweep.steps, subject->name, most,
                            hs_precision_name(precision));
    if (subject->kernel && subject->kernel->geometry && !chosen) {
        subject->kernel->geometry(&moved.sweep, out); /* what a launch does */
        return check_together(subject, question, out, err);
    }
    if (!subject->tiling)
        return hs_error_add(err, HS_BAD_INPUT,
                            chosen ? "--block, --planes: those of %s cannot be chosen"
                                   : "%s: has no launch to explain; it runs on the CPU",
                            subject->name);
    struct hs_blocking blocking;
    const enum hs_status status = choose_blocking(subject, question, &blocking, err);
    if (status)
        return status;
    subject->tiling->geometry(&moved.sweep, &blocking, out);
    return check_together(subject, question, out, err);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_extent(const char *what, const int extent[HS_AXES])
{
    printf("%-20s %d x %d x %d\n", what, extent[HS_X], extent[HS_Y], extent[HS_Z]);
}

static void print_device(const struct question *question, const struct hs_geometry *g)
{
    const struct hs_device_limits *d = question->device;
    const struct hs_occupancy o = hs_device_occupancy(d, g, question->registers);
    const double time = hs_device_roofline(d, g, question->sweep.precision);
    const int64_t words = (g->points_loaded + g->points_written) * block_count(g);
    const double uncached =
        (double)words * (double)hs_precision_size(question->sweep.precision) / d->bandwidth;
    printf("\non %s (sm_%d%d, %d multiprocessors, %.0f GB/s)\n", d->name, d->capability[0],
           d->capability[1], d->multiprocessors, d->bandwidth / 1e9);
    if (o.blocks == 0)
        printf("%-20s none: a block does not fit (%s)\n", "occupancy", o.bound);
    else
        printf("%-20s %d blocks, %d threads a multiprocessor: %.0f%% (bound by %s%s)\n",
               "occupancy", o.blocks, o.threads, 100.0 * o.share, o.bound,
               question->registers ? "" : "; registers not counted, see --registers");
    printf("%-20s %.4g ms, %.4g GCell/s (each point read once and written once)\n", "roofline",
           1e3 * time, (double)g->points_updated * question->sweep.steps / time / 1e9);
    printf("%-20s %.4g ms (all that the blocks load, none of it from a cache)\n", "without caches",
           1e3 * uncached);
}

static void print_subject(const struct subject *subject, const struct question *question,
                          const struct hs_geometry *g)
{
    const enum hs_precision precision = question->sweep.precision;
    printf("%s, %dD, radius %d, %s", subject->name, question->dims, question->stencil.radius,
           hs_precision_name(precision));
    if (question->sweep.steps > 1)
        printf(", %d sweeps a launch", question->sweep.steps);
    printf("%s\n", subject->kernel ? "" : " (not built: nvcc was not found)");
    printf("%-20s %lld\n", "output points", (long long)g->points_updated);
    printf("%-20s %lld (%lld x %lld x %lld)\n", "blocks", (long long)block_count(g),
           (long long)g->blocks[HS_X], (long long)g->blocks[HS_Y], (long long)g->blocks[HS_Z]);
    print_extent("threads a block", g->threads);
    if (g->input_tile[HS_X])
        print_extent("input tile", g->input_tile);
    print_extent("output tile", g->output_tile);
    printf("%-20s %lld a block\n", "points loaded", (long long)g->points_loaded);
    printf("%-20s %lld a block\n", "points written", (long long)g->points_written);
    printf("%-20s %.1f%% of the loads\n", "halo", 100.0 * hs_geometry_halo_share(g));
    printf("%-20s %lld bytes a block\n", "shared memory", (long long)g->shared_bytes);
    printf("%-20s %.0f a point, %.4g in all\n", "operations", g->flops_per_point,
           g->flops_per_point * (double)g->points_updated);
    printf("%-20s %.2f OP/B\n", "intensity", hs_geometry_intensity(g, precision));
    if (question->device)
        print_device(question, g);
}

static void json_extent(struct hs_json *json, const char *key, const int extent[HS_AXES])
{
    const int64_t wide[HS_AXES] = {extent[HS_X], extent[HS_Y], extent[HS_Z]};
    hs_json_integers(json, key, wide, HS_AXES);
}

static void json_subject(struct hs_json *json, const struct subject *subject,
                         const struct question *question, const struct hs_geometry *g)
{
    const enum hs_precision precision = question->sweep.precision;
    hs_json_open(json, NULL);
    hs_json_text(json, "kernel", subject->name);
    hs_json_flag(json, "built", subject->kernel != NULL);
    hs_json_integer(json, "dims", question->dims);
    hs_json_integer(json, "radius", question->stencil.radius);
    hs_json_text(json, "precision", hs_precision_name(precision));
    hs_json_integer(json, "steps", question->sweep.steps);
    hs_json_integer(json, "output_points", g->points_updated);
    hs_json_integer(json, "blocks", block_count(g));
    hs_json_integers(json, "block_grid", g->blocks, HS_AXES);
    json_extent(json, "threads", g->threads);
    json_extent(json, "input_tile", g->input_tile);
    json_extent(json, "output_tile", g->output_tile);
    hs_json_integer(json, "points_loaded", g->points_loaded);
    hs_json_integer(json, "points_written", g->points_written);
    hs_json_number(json, "halo_share", hs_geometry_halo_share(g));
    hs_json_integer(json, "shared_bytes", g->shared_bytes);
    hs_json_number(json, "flops_per_point", g->flops_per_point);
    hs_json_number(json, "intensity", hs_geometry_intensity(g, precision));
    if (question->device) {
        const struct hs_occupancy o = hs_device_occupancy(question->device, g, question->registers);
        hs_json_text(json, "device", question->device->name);
        hs_json_integer(json, "occupancy_blocks", o.blocks);
        hs_json_number(json, "occupancy", o.share);
        hs_json_text(json, "occupancy_bound", o.bound);
        hs_json_number(json, "roofline_seconds",
                       hs_device_roofline(question->device, g, precision));
    }
    hs_json_close(json);
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
    if (out->kernel || out->tiling)
        return HS_OK;
    for (int n = 0; hs_kernels[n]; n++)
        if (strcmp(hs_kernels[n]->name, name) == 0)
            return hs_error_add(err, HS_BAD_INPUT,
                                "%s: runs on the CPU and has no launch to explain", name);
    for (const struct hs_absent_kernel *absent = hs_absent_kernels; absent->name; absent++)
        if (strcmp(absent->name, name) == 0)
            return hs_error_add(err, HS_BAD_INPUT, "%s: %s", name, absent->why);
    char known[512] = "";
    for (const struct hs_tiling *const *row = hs_tilings; *row; row++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", known[0] ? ", " : "",
                 (*row)->kernel);
    return hs_error_add(err, HS_BAD_INPUT, "%s: no such CUDA kernel; there are %s, and those of %s",
                        name, known, "heatsolve kernels");
}

/* The subject number `n`: those of the table, then kernels with a function of their own. False when
 * there are no more. */
static bool subject_at(int n, struct subject *out)
{
    int rows = 0;
    while (hs_tilings[rows])
        rows++;
    if (n < rows) {
        const struct hs_tiling *row = hs_tilings[n];
        *out = (struct subject){row->kernel, built(row->kernel), row};
        return true;
    }
    for (int k = 0, own = rows; hs_kernels[k]; k++) {
        const struct hs_kernel *kernel = hs_kernels[k];
        if (kernel->device != HS_CUDA || !kernel->geometry || hs_tiling_find(kernel->name))
            continue;
        *out = (struct subject){kernel->name, kernel, NULL};
        if (own++ == n)
            return true;
    }
    return false;
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

static void print_line(const struct subject *subject, const struct question *question,
                       const struct hs_geometry *g)
{
    char threads[32];
    snprintf(threads, sizeof threads, "%dx%dx%d", g->threads[HS_X], g->threads[HS_Y],
             g->threads[HS_Z]);
    printf("%-18s %10lld %12s %10lld %10lld %6.1f%% %8lld %6.2f\n", subject->name,
           (long long)block_count(g), threads, (long long)g->points_loaded,
           (long long)g->points_written, 100.0 * hs_geometry_halo_share(g),
           (long long)g->shared_bytes, hs_geometry_intensity(g, question->sweep.precision));
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
        printf("%-18s %10s %12s %10s %10s %7s %8s %6s\n", "kernel", "blocks", "threads", "loaded",
               "written", "halo", "shared", "OP/B");
    for (int n = 0; subject_at(n, &subject); n++) {
        if (!fits(&subject, question, &g))
            continue;
        if (as_json)
            json_subject(&json, &subject, question, &g);
        else
            print_line(&subject, question, &g);
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
    if (as_json) {
        struct hs_json json = hs_json_on(stdout);
        json_subject(&json, &subject, question, &g);
    } else {
        print_subject(&subject, question, &g);
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
    return hs_error_add(err, HS_BAD_INPUT, "--device %s: not in the table, which has %s", name,
                        known);
}

static enum hs_status run(int argc, char **argv, struct hs_error *err)
{
    const char *points = NULL, *block = NULL, *precision = "float", *device = NULL, *kernel = NULL;
    int64_t planes = 0, radius = 1, registers = 0, steps = 1;
    bool json = false;
    const struct hs_argument table[] = {
        {"--points", HS_ARGUMENT_STRING, &points, "NX,NY,NZ"},
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
                            "explain: needs --points, as in --points 120,120,120");
    if (radius > HS_MAX_RADIUS)
        return hs_error_add(err, HS_BAD_INPUT, "--radius %lld: 1, 2 or 3", (long long)radius);
    if (strcmp(precision, "double") == 0)
        question.sweep.precision = HS_DOUBLE;
    else if (strcmp(precision, "float") != 0)
        return hs_error_add(err, HS_BAD_INPUT, "--precision %s: float or double", precision);
    status = set_grid(&question, points, (int)radius, (int)(steps < 1000 ? steps : 1000), err);
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
    .usage = "heatsolve explain [KERNEL] --points NX[,NY[,NZ]] [--block X,Y,Z] [--device NAME] ...",
    .summary = "what a CUDA kernel's launch looks like, and what bounds it; needs no GPU",
    .help =
        "  --points N,N,N     nodes of the grid; its outermost layers are held (fixed)\n"
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
