/* The CPU backend: two fields in host memory, swept by a kernel of kernels/cpu/. */
#include "core/clock.h"
#include "core/largest_grid.h"
#include "core/machine.h"
#include "core/memory.h"
#include "engine/backends/cpu_parts.h"
#include "engine/threads.h"

#include <assert.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum hs_status available(int device, struct hs_error *err)
{
    (void)device, (void)err;
    return HS_OK;
}

/* ---- create, destroy ------------------------------------------------------------------------- */

/* "2 threads, AMD EPYC" */
static void describe_machine(int threads, char *out, size_t size)
{
    char model[96] = "CPU", line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "model name : %95[^\n]", model) == 1)
            break;
    if (file)
        fclose(file);
    snprintf(out, size, "%d thread%s, %s", threads, threads == 1 ? "" : "s", model);
}

static enum hs_status fingerprint(int device, int threads, struct hs_device_fingerprint *out,
                                  struct hs_error *err)
{
    (void)device, (void)err;
    describe_machine(threads > 0 ? threads : omp_get_max_threads(), out->device,
                     sizeof out->device);
    snprintf(out->driver, sizeof out->driver, "none");
    return HS_OK;
}

/* The kernel's plan for `threads` threads. False: there is none, and no scratch. */
static bool make_plan(const struct hs_problem *problem, const struct hs_kernel *kernel, int threads,
                      struct hs_kernel_plan *out, char *reason, size_t size)
{
    const struct hs_layout layout = hs_cpu_layout(problem);
    const struct hs_case of = hs_kernel_case(problem, &layout, threads);
    return hs_kernel_plan_make(kernel, &of, NULL, out, reason, size);
}

/* Most sweeps in a call, of a recursion or not. */
static int most_steps(const struct hs_kernel_plan *plan)
{
    return plan->recursion > plan->steps ? plan->recursion : plan->steps;
}

static double bytes_needed(const struct hs_problem *problem, const void *of)
{
    const struct hs_kernel *kernel = of;
    const double more_than_any = 0x1p50; /* a larger layout may not fit into an integer */
    const double field = hs_cpu_field_bytes(problem);
    const double bytes = (hs_cpu_source_describe(problem).uniform ? 2.0 : 3.0) * field;
    struct hs_kernel_plan plan = {.steps = kernel->steps};
    if (bytes < more_than_any)
        make_plan(problem, kernel, hs_threads_of(problem), &plan, NULL, 0);
    return bytes + (double)plan.scratch + hs_cpu_network_bytes(problem, field, most_steps(&plan)) +
           hs_face_slots_bytes(problem, most_steps(&plan) + 1);
}

static double readback_bytes(const struct hs_problem *problem)
{
    return (double)hs_grid_count(&problem->grid) * (double)hs_precision_size(problem->precision);
}

static double memory(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    return bytes_needed(problem, kernel) + readback_bytes(problem) +
           hs_cpu_source_table_bytes(problem) + hs_cpu_body_bytes(problem);
}

static enum hs_status memory_short(const struct hs_problem *problem, const struct hs_kernel *kernel,
                                   double needed, const struct hs_memory_free *available,
                                   struct hs_error *err)
{
    const struct hs_largest_grid limit = {bytes_needed, kernel, available->bytes};
    char points[HS_POINTS_TEXT], largest[HS_LARGEST_GRID_TEXT];
    hs_grid_name_points(&problem->grid, points, sizeof points);
    if (needed > available->bytes)
        hs_largest_grid_say(&limit, problem, largest, sizeof largest);
    else
        snprintf(largest, sizeof largest, "this process may not take as much (ulimit -v)");
    return hs_error_add(err, HS_DEVICE,
                        "not enough memory: %s points in %s precision need %.0f bytes (%.2f GiB), "
                        "%s has %.0f bytes (%.2f GiB) free; take fewer points%s; %s",
                        points, hs_precision_name(problem->precision), needed, needed / 0x1p30,
                        available->whose, available->bytes, available->bytes / 0x1p30,
                        problem->precision == HS_DOUBLE ? ", or precision = \"float\"" : "",
                        largest);
}

static void destroy(struct hs_backend_state *state)
{
    if (!state)
        return;
    hs_cpu_field_destroy(&state->now);
    hs_cpu_field_destroy(&state->next);
    hs_cpu_vectors_release(state);
    hs_cpu_field_destroy(&state->source.field);
    free(state->source.scratch);
    free(state->source.base);
    free(state->source.inflow);
    hs_tables_release(&state->source.tables);
    free(state->source.value);
    free(state->level);
    free(state->scratch);
    free(state->partial);
    hs_cpu_network_release(&state->network);
    hs_ghosts_release(&state->ghosts);
    free(state->readback.values);
    free(state);
}

static bool allocate_scratch(struct hs_backend_state *state)
{
    const size_t bytes = state->plan.scratch;
    if (bytes == 0)
        return true;
    state->scratch = hs_cpu_memory_create(bytes, 1024 * 1024);
    if (state->scratch)
        memset(state->scratch, 0, bytes);
    return state->scratch != NULL;
}

static bool allocate(struct hs_backend_state *state)
{
    const enum hs_precision precision = state->problem->precision;
    const size_t threads = (size_t)state->threads, steps = (size_t)state->most_steps;
    struct hs_cpu_source *source = &state->source;
    state->level = hs_new(steps * sizeof *state->level);
    source->value = hs_new(steps * sizeof *source->value);
    source->scratch = calloc(threads * (size_t)state->layout.points[HS_X], sizeof *source->scratch);
    state->partial = hs_new((size_t)hs_blocks_of(state->problem).pieces * sizeof *state->partial);
    return source->scratch && allocate_scratch(state) && hs_cpu_network_init(state) &&
           hs_cpu_field_create(&state->layout, precision, state->threads, 0, &state->now) &&
           hs_cpu_field_create(&state->layout, precision, state->threads,
                               hs_cpu_shift(&state->layout, precision), &state->next) &&
           (source->uniform ||
            hs_cpu_field_create(&state->layout, precision, state->threads, 0, &source->field));
}

static enum hs_status create(const struct hs_problem *problem, const struct hs_kernel *kernel,
                             struct hs_backend_state **out, struct hs_error *err)
{
    *out = NULL;
    struct hs_kernel_plan plan;
    char reason[256];
    const int threads = hs_threads_of(problem);
    if (!make_plan(problem, kernel, threads, &plan, reason, sizeof reason))
        return hs_error_add(err, HS_BAD_INPUT, "%s", reason);
    const double needed = bytes_needed(problem, kernel);
    const struct hs_memory_free available = hs_machine_memory_free("");
    if (needed > available.bytes)
        return memory_short(problem, kernel, needed, &available, err);
    struct hs_backend_state *state = hs_new(sizeof *state);
    state->plan = plan;
    state->most_steps = most_steps(&plan);
    state->problem = problem;
    state->kernel = kernel;
    state->team = hs_team_of(threads);
    state->threads = threads;
    state->layout = hs_cpu_layout(problem);
    state->interior = hs_problem_interior(problem);
    state->source = hs_cpu_source_describe(problem);
    describe_machine(state->threads, state->description, sizeof state->description);
    enum hs_status st =
        allocate(state) ? HS_OK : memory_short(problem, kernel, needed, &available, err);
    if (!st)
        st = hs_ghosts_init(&state->ghosts, problem, &state->layout, state->most_steps + 1,
                            state->threads, err);
    if (!st)
        hs_cpu_source_prepare(state);
    if (st)
        destroy(state);
    else
        *out = state;
    return st;
}

/* ---- upload, download ------------------------------------------------------------------------ */

static void copy_row(const struct hs_backend_state *state, const struct hs_box *box, int64_t row,
                     const char *from_dense, char *to_dense, char *field)
{
    const size_t size = hs_precision_size(state->problem->precision);
    const int64_t rows = box->hi[HS_Y] - box->lo[HS_Y];
    const size_t bytes = (size_t)(box->hi[HS_X] - box->lo[HS_X]) * size;
    const int64_t at = hs_layout_offset(&state->layout, box->lo[HS_X], box->lo[HS_Y] + row % rows,
                                        box->lo[HS_Z] + row / rows);
    char *inside = field + at * (int64_t)size;
    if (from_dense)
        memcpy(inside, from_dense + (size_t)row * bytes, bytes);
    else
        memcpy(to_dense + (size_t)row * bytes, inside, bytes);
}

/* Copies a box between dense host memory and a field. Small boxes take no threads: a probe's node
 * is copied in some ns, and even a team of one thread takes most of a microsecond. */
static void copy_box(const struct hs_backend_state *state, const struct hs_box *box,
                     const char *from_dense, char *to_dense, char *field)
{
    const int64_t rows = (box->hi[HS_Y] - box->lo[HS_Y]) * (box->hi[HS_Z] - box->lo[HS_Z]);
    if (hs_box_count(box) <= 1 << 16) {
        for (int64_t row = 0; row < rows; row++)
            copy_row(state, box, row, from_dense, to_dense, field);
        return;
    }
#pragma omp parallel for num_threads(state->threads) schedule(static)
    for (int64_t row = 0; row < rows; row++)
        copy_row(state, box, row, from_dense, to_dense, field);
}

static enum hs_status upload(struct hs_backend_state *state, const struct hs_box *box,
                             const void *values, struct hs_error *err)
{
    (void)err;
    if (hs_box_count(box) == 0)
        return HS_OK;
    /* into both fields, since no sweep writes the held layers */
    copy_box(state, box, values, NULL, state->now.origin);
    copy_box(state, box, values, NULL, state->next.origin);
    state->stale_walls = 2;
    state->change_known = false;
    return HS_OK;
}

static enum hs_status download(struct hs_backend_state *state, const struct hs_box *box,
                               void *values, struct hs_error *err)
{
    (void)err;
    if (hs_box_count(box) > 0)
        copy_box(state, box, NULL, values, state->now.origin);
    return HS_OK;
}

static enum hs_status download_before(struct hs_backend_state *state, const struct hs_box *box,
                                      void *values, struct hs_error *err)
{
    (void)err;
    assert(state->change_known);
    if (hs_box_count(box) > 0)
        copy_box(state, box, NULL, values, state->next.origin);
    return HS_OK;
}

/* A copy in memory, since sweeps exchange the fields. */
static enum hs_status download_begin(struct hs_backend_state *state, struct hs_readback **out,
                                     struct hs_error *err)
{
    const struct hs_box box = hs_grid_box(&state->problem->grid);
    struct hs_readback *readback = &state->readback;
    *out = NULL;
    if (!readback->values) {
        const double bytes = readback_bytes(state->problem);
        readback->grid = state->problem->grid;
        readback->size = hs_precision_size(state->problem->precision);
        if (bytes < hs_machine_memory_free("").bytes)
            readback->values = hs_cpu_memory_create((size_t)bytes, 16 << 20);
    }
    if (!readback->values)
        return HS_OK;
    *out = readback;
    return download(state, &box, readback->values, err);
}

static enum hs_status download_part(struct hs_readback *readback, const struct hs_box *box,
                                    const struct hs_box *next, const void **values,
                                    struct hs_error *err)
{
    (void)next, (void)err;
    const int64_t *points = readback->grid.points;
    const int64_t first =
        (box->lo[HS_Z] * points[HS_Y] + box->lo[HS_Y]) * points[HS_X] + box->lo[HS_X];
    *values = readback->values + (size_t)first * readback->size;
    return HS_OK;
}

static void download_end(struct hs_readback *readback)
{
    (void)readback; /* its memory serves the next readback */
}

/* ---- measuring ------------------------------------------------------------------------------- */

static enum hs_status time_sweeps(struct hs_backend_state *state, const struct hs_span *span,
                                  double *seconds, struct hs_error *err)
{
    const double start = hs_clock_now();
    const enum hs_status st = hs_cpu_sweep(state, span, err);
    *seconds = hs_clock_now() - start;
    return st;
}

static enum hs_status copy(struct hs_backend_state *state, int64_t count, int64_t *bytes,
                           double *seconds, struct hs_error *err)
{
    (void)err;
    const enum hs_precision precision = state->problem->precision;
    const double start = hs_clock_now();
    for (int64_t n = 0; n < count; n++)
        hs_cpu_field_copy(&state->layout, precision, state->team.most, &state->now, &state->next);
    *seconds = hs_clock_now() - start;
    *bytes = 2 * state->layout.elements * (int64_t)hs_precision_size(precision);
    state->change_known = false;
    return HS_OK;
}

static double cache(int device)
{
    (void)device;
    double bytes = 0.0;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const long third = sysconf(_SC_LEVEL3_CACHE_SIZE), second = sysconf(_SC_LEVEL2_CACHE_SIZE);
    bytes = third > 0 ? (double)third : second > 0 ? (double)second : 0.0;
#endif
    return bytes;
}

static const char *describe(const struct hs_backend_state *state)
{
    return state->description;
}

const struct hs_backend hs_backend_cpu = {
    .name = "cpu",
    .device = HS_CPU,
    .available = available,
    .layout = hs_cpu_layout,
    .memory = memory,
    .create = create,
    .upload = upload,
    .download = download,
    .download_before = download_before,
    .download_begin = download_begin,
    .download_part = download_part,
    .download_end = download_end,
    .sweep = hs_cpu_sweep,
    .reduce = hs_cpu_reduce,
    .time_sweeps = time_sweeps,
    .copy = copy,
    .cache = cache,
    .ceilings = hs_cpu_ceilings,
    .fingerprint = fingerprint,
    .halo = &hs_cpu_halo,
    .vectors = &hs_cpu_vectors,
    .describe = describe,
    .destroy = destroy,
    .transforms = &hs_cpu_transforms,
};
