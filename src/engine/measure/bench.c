#include "engine/measure/bench.h"
#include "core/machine.h"
#include "core/memory.h"
#include "engine/backends/cpu_parts.h"
#include "engine/network/of_problem.h"
#include "engine/registry.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PAIRS = 64,
    LARGE = 2 << 20 /* bytes: page faults of a field of gigabytes in small pages take seconds */
};

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

static void make_grid(struct hs_problem *problem, const struct hs_bench_request *request)
{
    hs_problem_init(problem);
    problem->precision = request->precision;
    problem->radius = request->radius;
    problem->solver.threads = request->threads;
    problem->grid.dims = request->dims;
    for (int axis = 0; axis < request->dims; axis++)
        problem->grid.points[axis] = request->points[axis];
}

static void make_stencil(struct hs_problem *problem, const struct hs_bench_request *request)
{
    problem->raw = true;
    const struct hs_boundary_spec nothing = {.spacing = 1.0, .radius = request->radius};
    for (int face = 0; face < 2 * request->dims; face++)
        problem->face[face] = hs_boundary_lower(&hs_boundary_kinds[0], &nothing);
    const int count = hs_stencil_count(request->dims, request->radius);
    double sum = 0.0;
    for (int n = 0; n < count; n++)
        sum += problem->c[n] = 0.5 + noise((uint64_t)n);
    for (int n = 0; n < count; n++)
        problem->c[n] /= sum;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static struct hs_substance substance(int n)
{
    const double k = 0.5 + noise((uint64_t)n), capacity = 0.5 + noise((uint64_t)n + 1000);
    return (struct hs_substance){
        .conductivity = {k, k, k}, .capacity = capacity, .density = NAN, .source = -1};
}

/* One material, and boxes of others in it with faces on nodes: corners, edges and faces of a box
 * make up to 27 distinct rows. */
static void add_boxes(struct hs_problem *problem, int boxes)
{
    struct hs_body *body = problem->body;
    body->substance_count = body->solid_count = 1 + boxes;
    body->substance = hs_new((size_t)(1 + boxes) * sizeof *body->substance);
    body->solid = hs_new((size_t)(1 + boxes) * sizeof *body->solid);
    for (int n = 0; n <= boxes; n++) {
        struct hs_solid *solid = &body->solid[n];
        solid->substance = n;
        solid->shape.kind = n == 0 ? HS_SHAPE_EVERYWHERE : HS_SHAPE_BOX;
        body->substance[n] = substance(n);
        for (int axis = 0; axis < HS_AXES; axis++) {
            const double last = (double)(problem->grid.points[axis] - 1);
            const double at = noise((uint64_t)(HS_AXES * n + axis));
            solid->shape.lower[axis] = floor(0.8 * at * last);
            solid->shape.upper[axis] = solid->shape.lower[axis] + ceil(0.15 * last);
        }
    }
}

static bool add_fields(struct hs_problem *problem)
{
    const int64_t count = hs_grid_count(&problem->grid);
    double **const fields[] = {&problem->body->conductivity.value, &problem->body->capacity.value};
    for (int f = 0; f < 2; f++) {
        double *field = *fields[f] = malloc((size_t)count * sizeof *field);
        if (!field)
            return false;
#pragma omp parallel for schedule(static)
        for (int64_t n = 0; n < count; n++)
            field[n] = 0.5 + noise((uint64_t)(2 * n + f));
    }
    return true;
}

static enum hs_status make_body(struct hs_problem *problem, enum hs_bench_case which,
                                struct hs_error *err)
{
    problem->body = hs_new(sizeof *problem->body);
    problem->body->source = -1;
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        problem->face[face] = (struct hs_face){.type = "reflective", .edge_weight = 0.5};
    if (which != HS_BENCH_ARRAYS)
        add_boxes(problem, which == HS_BENCH_BYTES ? 4 : 16);
    else if (!add_fields(problem))
        return hs_error_add(err, HS_DEVICE,
                            "bench: no memory for fields of conductivity and "
                            "capacity; take fewer --points");
    return hs_network_of_problem(problem, false, err);
}

const char *hs_bench_case_name(enum hs_bench_case which)
{
    static const char *const names[HS_BENCH_CASES] = {"stencil", "bytes", "shorts", "arrays"};
    return names[which];
}

/* All fields begin with the same values. */
static void fill(const struct hs_bench *bench, int64_t count)
{
    const enum hs_precision precision = bench->request.precision;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        const double x = 1.0 + noise((uint64_t)i + HS_MAX_COEFFICIENTS);
        hs_write(precision, bench->initial, i, x);
        hs_write(precision, bench->expected, i, x);
        hs_write(precision, bench->spare, i, x);
    }
}

/* The reference has one thread; it sweeps boxes, so each thread gives it a slab. Fixed layers are
 * never written, so both fields begin as the initial one, and no ghosts are read. */
static enum hs_status sweep_reference(const struct hs_bench *bench,
                                      const struct hs_kernel *reference, const void *in, void *out,
                                      struct hs_error *err)
{
    enum { SLABS = 64 };
    const struct hs_box all = hs_problem_interior(&bench->problem);
    const int axis = bench->request.dims - 1;
    const double nothing = 0.0;
    const struct hs_operator op = hs_problem_operator(&bench->problem, 1.0);
    struct hs_layout layout = hs_layout_make(&bench->problem.grid, 0, 1);
    enum hs_status st = HS_OK;
#pragma omp parallel for schedule(dynamic)
    for (int slab = 0; slab < SLABS; slab++) {
        struct hs_sweep sweep = {.precision = bench->request.precision,
                                 .layout = layout,
                                 .box = all,
                                 .op = &op,
                                 .in = in,
                                 .out = out,
                                 .source.value = &nothing,
                                 .steps = 1,
                                 .threads = 1};
        const int64_t extent = all.hi[axis] - all.lo[axis];
        sweep.box.lo[axis] = all.lo[axis] + extent * slab / SLABS;
        sweep.box.hi[axis] = all.lo[axis] + extent * (slab + 1) / SLABS;
        const enum hs_status slab_status = reference->sweep(NULL, &sweep, err);
        if (slab_status)
#pragma omp critical
            st = slab_status;
    }
    return st;
}

static enum hs_status expect_of_stencil(struct hs_bench *bench, struct hs_error *err)
{
    const struct hs_kernel *reference = NULL;
    HS_TRY(hs_kernel_find("reference", HS_CPU, &reference, err));
    for (int64_t n = 0; n < bench->proof_sweeps; n++) {
        HS_TRY(sweep_reference(bench, reference, bench->expected, bench->spare, err));
        void *swept = bench->spare;
        bench->spare = bench->expected;
        bench->expected = swept;
    }
    return HS_OK;
}

static struct hs_span span_of(const struct hs_bench *bench, int64_t count)
{
    return (struct hs_span){.count = count,
                            .step = bench->step,
                            .op = hs_problem_operator(&bench->problem, bench->step)};
}

/* The sweeps of the proof, from the initial field. */
static enum hs_status sweep_all(const struct hs_bench *bench, const struct hs_backend *backend,
                                struct hs_backend_state *state, void *out, struct hs_error *err)
{
    const struct hs_box all = hs_grid_box(&bench->problem.grid);
    const struct hs_span span = span_of(bench, bench->proof_sweeps);
    HS_TRY(backend->upload(state, &all, bench->initial, err));
    HS_TRY(backend->sweep(state, &span, err));
    return backend->download(state, &all, out, err);
}

/* For a body: by the plain kernel, which has the reference's bits. */
static enum hs_status expect_of_body(struct hs_bench *bench, struct hs_error *err)
{
    const struct hs_backend *backend = hs_backend_of(HS_CPU);
    const struct hs_kernel *kernel = NULL;
    struct hs_backend_state *state = NULL;
    enum hs_status st = hs_kernel_find("openmp", HS_CPU, &kernel, err);
    if (!st)
        st = backend->create(&bench->problem, kernel, &state, err);
    if (!st)
        st = sweep_all(bench, backend, state, bench->expected, err);
    backend->destroy(state);
    return st;
}

enum hs_status hs_bench_init(struct hs_bench *bench, const struct hs_bench_request *request,
                             struct hs_error *err)
{
    *bench = (struct hs_bench){.request = *request, .step = 1.0};
    make_grid(&bench->problem, request);
    if (request->which == HS_BENCH_STENCIL) {
        make_stencil(&bench->problem, request);
        return HS_OK;
    }
    const enum hs_status st = make_body(&bench->problem, request->which, err);
    if (!st && bench->problem.network) /* only the first rank has one */
        bench->step = 0.9 * bench->problem.network->limit;
    return st;
}

enum hs_status hs_bench_expect(struct hs_bench *bench, int64_t proof_sweeps, struct hs_error *err)
{
    const struct hs_bench_request *request = &bench->request;
    const double field = (double)hs_precision_size(request->precision) *
                         (double)request->points[HS_X] * (double)request->points[HS_Y] *
                         (double)request->points[HS_Z];
    const double needed = (3.0 + bench->kernels_fields) * field;
    const struct hs_memory_free available = hs_machine_memory_free("");
    if (needed <= available.bytes) {
        const size_t bytes = (size_t)field;
        bench->initial = hs_cpu_memory_create(bytes, LARGE);
        bench->expected = hs_cpu_memory_create(bytes, LARGE);
        bench->spare = hs_cpu_memory_create(bytes, LARGE);
    }
    if (!bench->initial || !bench->expected || !bench->spare)
        return hs_error_add(
            err, HS_DEVICE,
            "bench: not enough memory for the proof: %.0f bytes (%.2f GiB) needed, %s "
            "has %.0f (%.2f GiB) free; take fewer --points",
            needed, needed / 0x1p30, available.whose, available.bytes, available.bytes / 0x1p30);
    bench->proof_sweeps = proof_sweeps;
    const struct hs_box box = hs_problem_interior(&bench->problem);
    bench->updated = hs_box_count(&box);
    fill(bench, hs_grid_count(&bench->problem.grid));
    return bench->problem.body ? expect_of_body(bench, err) : expect_of_stencil(bench, err);
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
 * double: all kernels add in one order, so the bits are the same. float: the reference rounds once,
 * a kernel each coefficient and each partial sum. Per sweep that is at most terms + 2 halves of an
 * epsilon of sum |c in| < 2; the c are positive of sum 1, so later sweeps do not amplify it.
 */
static double proof_bound(const struct hs_bench *bench)
{
    const int terms = hs_stencil_count(bench->request.dims, bench->request.radius);
    return bench->request.precision == HS_DOUBLE || bench->problem.body
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
        const double apart = fabs(hs_read(precision, a, i) - hs_read(precision, b, i));
        if (!(apart <= largest)) /* NaN counts as infinitely far apart */
            largest = isnan(apart) ? INFINITY : apart;
    }
    return largest;
}

static enum hs_status prove(struct hs_bench *bench, const struct hs_backend *backend,
                            struct hs_backend_state *state, struct hs_bench_row *out,
                            struct hs_error *err)
{
    HS_TRY(sweep_all(bench, backend, state, bench->spare, err));
    out->bound = proof_bound(bench);
    out->apart = largest_difference(bench, bench->spare, bench->expected);
    out->proven = out->apart <= out->bound;
    return HS_OK;
}

/* ---- timing ---------------------------------------------------------------------------------- */

const char *hs_bench_place_name(enum hs_bench_place place)
{
    static const char *const names[HS_BENCH_PLACES] = {"memory", "cache"};
    return names[place];
}

/* Bytes of two fields. */
static double pair_bytes(const struct hs_bench *bench)
{
    return 2.0 * (double)hs_precision_size(bench->request.precision) *
           (double)hs_grid_count(&bench->problem.grid);
}

/* How many pairs of fields to sweep in turn so that each has left a cache of `cache` bytes before
 * its next turn: 1 where one pair is too large for the cache, 0 where too many would be needed. */
static int pairs_of(const struct hs_bench *bench, double cache)
{
    const double pair = pair_bytes(bench);
    int pairs = 1;
    while (pairs <= MOST_PAIRS && pairs * pair < 2.0 * cache)
        pairs *= 2;
    return pairs <= MOST_PAIRS ? pairs : 0;
}

static enum hs_status take_samples(const struct hs_bench *bench, const struct hs_timing *timing,
                                   struct hs_bench_figures *out, struct hs_error *err)
{
    double sweep[HS_TIMING_SAMPLES], copy[HS_TIMING_SAMPLES], fraction[HS_TIMING_SAMPLES];
    struct hs_timing_effort effort = hs_timing_usual(bench->request.repeats);
    const bool copies_too = timing->backend->copy;
    if (timing->backend->device == HS_CUDA)
        effort.sample = 0.01; /* its clock resolves half a microsecond, and nothing disturbs it */
    int64_t bytes = 0, copies = 0;
    double seconds = 0.0, copied = 0.0;
    const struct hs_timing copying = {
        .backend = timing->backend, .state = timing->state, .fuses = 1, .bytes = &bytes};
    if (copies_too)
        HS_TRY(hs_timing_warm_up(&copying, effort.sample, &copies, &copied, err));
    HS_TRY(hs_timing_warm_up(timing, effort.sample, &out->in_sample, &seconds, err));
    const int repeats = hs_timing_repeats(&effort, seconds);
    for (int n = 0; n < repeats; n++) {
        if (copies_too)
            HS_TRY(hs_timing_take(&copying, copies, &copied, err));
        HS_TRY(hs_timing_take(timing, out->in_sample, &seconds, err));
        sweep[n] = seconds / (double)out->in_sample;
        copy[n] = (double)bytes * (double)copies / copied;
        fraction[n] = hs_bench_bytes(bench, sweep[n]) / copy[n];
    }
    out->seconds = hs_samples_of(sweep, repeats);
    out->copy = hs_samples_of(copy, copies_too ? repeats : 0);
    out->fraction = hs_samples_of(fraction, copies_too ? repeats : 0);
    return HS_OK;
}

/* Sweeps take means of values in [1, 2). A field outside that range, with room for rounding, has
 * another origin, for example a launch that failed. */
static enum hs_status check_field(const struct hs_bench *bench, const struct hs_timing *timing,
                                  struct hs_bench_row *out, struct hs_error *err)
{
    struct hs_reduction r;
    HS_TRY(hs_reduce(timing->backend, timing->state, &bench->problem, &r, err));
    if (r.not_finite || !(r.min > 0.5) || !(r.max < 4.0)) {
        out->proven = false;
        out->apart = INFINITY;
    }
    return HS_OK;
}

static enum hs_status time_kernel(const struct hs_bench *bench, const struct hs_timing *timing,
                                  struct hs_bench_row *out, struct hs_error *err)
{
    const struct hs_backend *backend = timing->backend;
    const double cache = backend->cache ? backend->cache(bench->problem.solver.device) : 0.0;
    const int turned = backend->rotate ? pairs_of(bench, cache) : 1;
    const bool fits = pair_bytes(bench) <= cache;
    const int pairs[HS_BENCH_PLACES] = {
        [HS_BENCH_MEMORY] = fits && turned < 2 ? 0 : turned,
        [HS_BENCH_CACHE] = fits,
    };
    for (int place = HS_BENCH_PLACES - 1; place >= 0; place--) { /* fewest pairs first */
        if (!pairs[place])
            continue;
        if (pairs[place] > 1)
            HS_TRY(backend->rotate(timing->state, pairs[place], err));
        HS_TRY(take_samples(bench, timing, &out->figures[place], err));
        out->figures[place].pairs = pairs[place];
        HS_TRY(check_field(bench, timing, out, err));
    }
    return HS_OK;
}

enum hs_status hs_bench_kernel(struct hs_bench *bench, const struct hs_backend *backend,
                               const struct hs_kernel *kernel, struct hs_bench_row *out,
                               struct hs_error *err)
{
    *out = (struct hs_bench_row){.kernel = kernel};
    struct hs_backend_state *state = NULL;
    enum hs_status st = backend->create(&bench->problem, kernel, &state, err);
    if (!st) {
        strncpy(out->device, backend->describe(state), sizeof out->device - 1);
        st = prove(bench, backend, state, out, err);
    }
    if (!st && out->proven) {
        const struct hs_timing timing = {
            backend, state, hs_kernel_steps_for(kernel, &bench->problem), span_of(bench, 0), NULL};
        st = time_kernel(bench, &timing, out, err);
    }
    backend->destroy(state);
    return st;
}

double hs_bench_copy(const struct hs_bench_row *rows, int count, enum hs_bench_place place)
{
    double rates[HS_BENCH_MOST];
    int measured = 0;
    for (int n = 0; n < count; n++) {
        const struct hs_bench_figures *f = &rows[n].figures[place];
        if (rows[n].proven && f->pairs && f->copy.count)
            rates[measured++] = f->copy.median;
    }
    return hs_samples_of(rates, measured).median;
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
