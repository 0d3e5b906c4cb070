#include "engine/bench.h"
#include "engine/backends/cpu_parts.h"
#include "engine/registry.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 1000 };                   /* most that are taken */
static const double sample_seconds = 0.02; /* shortest sample: far above the clock's grain */
static const double kernel_seconds = 5.0;  /* longest time spent on a kernel, beyond 3 samples */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the case -------------------------------------------------------------------------------- */

/* Uniform in [0, 1) from a counter, so that threads can fill in any order. Source: splitmix64,
 * Steele, Lea and Flood, OOPSLA 2014. */
static double noise(uint64_t n)
{
    uint64_t z = (n + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double get(enum hs_precision precision, const void *values, int64_t i)
{
    return precision == HS_FLOAT ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static void make_problem(struct hs_problem *problem, const struct hs_bench_request *request)
{
    hs_problem_init(problem);
    problem->precision = request->precision;
    problem->radius = request->radius;
    problem->raw = true;
    problem->grid.dims = request->dims;
    for (int axis = 0; axis < request->dims; axis++)
        problem->grid.points[axis] = request->points[axis];
    const struct hs_boundary_kind *fixed = hs_boundary_find("fixed");
    const struct hs_boundary_spec nothing = {0};
    for (int face = 0; face < 2 * request->dims; face++) {
        const char *reason;
        problem->face[face].type = fixed->name;
        fixed->lower(&nothing, NAN, 1.0, request->radius, &problem->face[face], &reason);
    }
    const int count = hs_stencil_count(request->dims, request->radius);
    double sum = 0.0;
    for (int n = 0; n < count; n++)
        sum += problem->c[n] = 0.5 + noise((uint64_t)n);
    for (int n = 0; n < count; n++)
        problem->c[n] /= sum;
}

static void fill(const struct hs_bench *bench, int64_t count)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        const double x = 1.0 + noise((uint64_t)i + HS_MAX_COEFFICIENTS);
        if (bench->request.precision == HS_FLOAT)
            ((float *)bench->initial)[i] = (float)x;
        else
            ((double *)bench->initial)[i] = x;
    }
}

/* The reference knows one thread; it sweeps boxes, so each thread gives it a slab. Fixed layers
 * are never written, so both fields start from the initial one, and no ghosts are read. */
static enum hs_status sweep_reference(const struct hs_bench *bench,
                                      const struct hs_kernel *reference, const void *in, void *out,
                                      struct hs_error *err)
{
    enum { SLABS = 64 };
    const struct hs_box all = hs_problem_interior(&bench->problem);
    const int axis = bench->request.dims - 1;
    const double nothing = 0.0;
    struct hs_layout layout = hs_layout_make(&bench->problem.grid, 0, 1);
    enum hs_status st = HS_OK;
#pragma omp parallel for schedule(dynamic)
    for (int slab = 0; slab < SLABS; slab++) {
        struct hs_sweep sweep = {.precision = bench->request.precision,
                                 .layout = layout,
                                 .box = all,
                                 .stencil = &bench->stencil,
                                 .in = in,
                                 .out = out,
                                 .source_value = &nothing,
                                 .steps = 1,
                                 .threads = 1};
        const int64_t extent = all.hi[axis] - all.lo[axis];
        sweep.box.lo[axis] = all.lo[axis] + extent * slab / SLABS;
        sweep.box.hi[axis] = all.lo[axis] + extent * (slab + 1) / SLABS;
        const enum hs_status slab_status = reference->sweep(&sweep, err);
        if (slab_status)
#pragma omp critical
            st = slab_status;
    }
    return st;
}

static enum hs_status make_expected(struct hs_bench *bench, size_t bytes, struct hs_error *err)
{
    const struct hs_kernel *reference = NULL;
    enum hs_status st = hs_kernel_find("reference", HS_CPU, &reference, err);
    memcpy(bench->expected, bench->initial, bytes);
    memcpy(bench->spare, bench->initial, bytes);
    for (int64_t n = 0; n < bench->proof_sweeps && !st; n++) {
        st = sweep_reference(bench, reference, bench->expected, bench->spare, err);
        void *swept = bench->spare;
        bench->spare = bench->expected;
        bench->expected = swept;
    }
    return st;
}

static enum hs_status memory_short(double needed, struct hs_error *err)
{
    return hs_error_add(
        err, HS_DEVICE,
        "bench: not enough memory for the proof: %.0f bytes needed, %.0f free; take "
        "fewer --points",
        needed, hs_cpu_memory_free());
}

enum hs_status hs_bench_init(struct hs_bench *bench, const struct hs_bench_request *request,
                             int64_t proof_sweeps, struct hs_error *err)
{
    *bench = (struct hs_bench){.request = *request, .proof_sweeps = proof_sweeps};
    make_problem(&bench->problem, request);
    bench->stencil = hs_problem_stencil(&bench->problem, 1.0);
    const double needed = 3.0 * (double)hs_precision_size(request->precision) *
                          (double)request->points[HS_X] * (double)request->points[HS_Y] *
                          (double)request->points[HS_Z];
    if (needed > hs_cpu_memory_free())
        return memory_short(needed, err);
    const struct hs_box box = hs_problem_interior(&bench->problem);
    bench->updated = hs_box_count(&box);
    const int64_t count = hs_grid_count(&bench->problem.grid);
    const size_t bytes = (size_t)count * hs_precision_size(request->precision);
    bench->initial = malloc(bytes);
    bench->expected = malloc(bytes);
    bench->spare = malloc(bytes);
    if (!bench->initial || !bench->expected || !bench->spare)
        return memory_short(needed, err);
    fill(bench, count);
    return make_expected(bench, bytes, err);
}

void hs_bench_release(struct hs_bench *bench)
{
    free(bench->initial);
    free(bench->expected);
    free(bench->spare);
    hs_problem_release(&bench->problem);
    *bench = (struct hs_bench){0};
}

/* ---- the proof ------------------------------------------------------------------------------- */

/*
 * double: all kernels add in one order, so the same bits. float: the reference rounds once, a
 * kernel each coefficient and each of its partial sums: per sweep at most terms + 2 halves of an
 * epsilon of sum |c in| < 2, and since the c are positive of sum 1, later sweeps do not amplify it.
 */
static double proof_bound(const struct hs_bench *bench)
{
    const int terms = hs_stencil_count(bench->request.dims, bench->request.radius);
    return bench->request.precision == HS_DOUBLE
               ? 0.0
               : (double)bench->proof_sweeps * (terms + 2) * (FLT_EPSILON / 2.0) * 2.0;
}

static double largest_difference(const struct hs_bench *bench, const void *a, const void *b)
{
    const int64_t count = hs_grid_count(&bench->problem.grid);
    const enum hs_precision precision = bench->request.precision;
    double largest = 0.0;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (int64_t i = 0; i < count; i++) {
        const double apart = fabs(get(precision, a, i) - get(precision, b, i));
        if (!(apart <= largest)) /* NaN is as far apart as can be */
            largest = isnan(apart) ? INFINITY : apart;
    }
    return largest;
}

static struct hs_span span_of(const struct hs_bench *bench, int64_t count)
{
    return (struct hs_span){.count = count, .step = 1.0, .stencil = bench->stencil};
}

static enum hs_status prove(struct hs_bench *bench, const struct hs_backend *backend,
                            struct hs_backend_state *state, struct hs_bench_row *out,
                            struct hs_error *err)
{
    const struct hs_box all = hs_grid_box(&bench->problem.grid);
    const struct hs_span span = span_of(bench, bench->proof_sweeps);
    enum hs_status st = backend->upload(state, &all, bench->initial, err);
    if (!st)
        st = backend->sweep(state, &span, err);
    if (!st)
        st = backend->download(state, &all, bench->spare, err);
    if (st)
        return st;
    out->bound = proof_bound(bench);
    out->apart = largest_difference(bench, bench->spare, bench->expected);
    out->proven = out->apart <= out->bound;
    return HS_OK;
}

/* ---- timing ---------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static struct hs_bench_samples summarise(double *values, int count)
{
    if (count == 0)
        return (struct hs_bench_samples){0, NAN, NAN, NAN};
    qsort(values, (size_t)count, sizeof *values, ascending);
    const double middle =
        count % 2 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
    return (struct hs_bench_samples){count, values[0], middle, values[count - 1]};
}

/* What is timed in turn: sweeps, and copies where the backend has them. */
struct timed {
    const struct hs_bench *bench;
    const struct hs_backend *backend;
    struct hs_backend_state *state;
    int64_t copy_bytes;
};

static enum hs_status time_sweeps(const struct timed *t, int64_t count, double *seconds,
                                  struct hs_error *err)
{
    const struct hs_span span = span_of(t->bench, count);
    const double start = now();
    const enum hs_status st = t->backend->sweep(t->state, &span, err);
    *seconds = now() - start;
    return st;
}

static enum hs_status time_copies(struct timed *t, int64_t count, double *seconds,
                                  struct hs_error *err)
{
    const double start = now();
    const enum hs_status st = t->backend->copy(t->state, count, &t->copy_bytes, err);
    *seconds = now() - start;
    return st;
}

/* How many make a sample long enough, from the time that some took. */
static int64_t enough(int64_t tried, double seconds)
{
    return seconds < sample_seconds ? tried * (int64_t)ceil(sample_seconds / fmax(seconds, 1e-7))
                                    : tried;
}

static enum hs_status take_samples(struct timed *t, struct hs_bench_row *out, struct hs_error *err)
{
    static double sweep[SAMPLES], copy[SAMPLES], share[SAMPLES];
    const int64_t at_once = out->kernel->steps;
    double seconds = 0.0, copy_seconds = 0.0;
    int64_t copies = 1;
    /* twice: the first warms up */
    enum hs_status st = time_sweeps(t, at_once, &seconds, err);
    if (!st)
        st = time_sweeps(t, at_once, &seconds, err);
    out->in_sample = enough(at_once, seconds);
    const double sample = seconds * (double)out->in_sample / (double)at_once;
    if (t->backend->copy && !st) {
        st = time_copies(t, 1, &copy_seconds, err);
        if (!st)
            st = time_copies(t, 1, &copy_seconds, err);
        copies = enough(1, copy_seconds);
    }
    int repeats = t->bench->request.repeats < SAMPLES ? t->bench->request.repeats : SAMPLES;
    if (repeats > 3 && sample * repeats > kernel_seconds)
        repeats = (int)fmax(3.0, kernel_seconds / sample);
    int n = 0;
    for (; n < repeats && !st; n++) {
        if (t->backend->copy)
            st = time_copies(t, copies, &copy_seconds, err);
        if (!st)
            st = time_sweeps(t, out->in_sample, &seconds, err);
        sweep[n] = seconds / (double)out->in_sample;
        copy[n] = (double)t->copy_bytes * (double)copies / copy_seconds;
        share[n] = hs_bench_bytes(t->bench, sweep[n]) / copy[n];
    }
    out->seconds = summarise(sweep, n);
    out->copy = summarise(copy, t->backend->copy ? n : 0);
    out->share = summarise(share, t->backend->copy ? n : 0);
    return st;
}

enum hs_status hs_bench_kernel(struct hs_bench *bench, const struct hs_backend *backend,
                               const struct hs_kernel *kernel, struct hs_bench_row *out,
                               struct hs_error *err)
{
    *out = (struct hs_bench_row){.kernel = kernel,
                                 .seconds = summarise(NULL, 0),
                                 .copy = summarise(NULL, 0),
                                 .share = summarise(NULL, 0)};
    struct hs_backend_state *state = NULL;
    enum hs_status st = backend->create(&bench->problem, kernel, bench->request.device,
                                        bench->request.threads, &state, err);
    if (!st) {
        strncpy(out->device, backend->describe(state), sizeof out->device - 1);
        st = prove(bench, backend, state, out, err);
    }
    if (!st && out->proven) {
        struct timed timed = {bench, backend, state, 0};
        st = take_samples(&timed, out, err);
    }
    backend->destroy(state);
    return st;
}

double hs_bench_gcells(const struct hs_bench *bench, double seconds)
{
    return 1e-9 * (double)bench->updated / seconds;
}

double hs_bench_bytes(const struct hs_bench *bench, double seconds)
{
    return 2.0 * (double)hs_precision_size(bench->request.precision) * (double)bench->updated /
           seconds;
}
