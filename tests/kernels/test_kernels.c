/*
 * Every kernel of the table that a device here can run, against `reference`.
 *
 * Alone: each dims, radius and precision that it claims, on grids of odd sizes, on the whole grid
 * and on boxes of it, with and without a source field, from random data with random coefficients,
 * all different. Through its backend: several sweeps under all eight kinds of boundary.
 *
 * double: bit for bit, since all kernels add in the same order with one fma per term.
 * float: reference adds in double and rounds once. A float kernel rounds each coefficient, each
 * partial sum and the source: at most (terms + 2) halves of an epsilon of sum |c in| + |source|.
 */
#include "core/backend.h"
#include "core/kernel.h"
#include "engine/registry.h"
#include "model.h"
#include "recursion.h"
#include "test.h"
#include "walls.h"

#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct hs_kernel hs_kernel_cpu_reference;

static uint64_t seed = 1;
static int recursions, passes; /* numbers of those that were tried */

/* Uniform in [-1, 1): a xorshift generator, so that failures are reproducible. */
static double noise(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-52 - 1.0;
}

static struct hs_stencil random_stencil(int dims, int radius)
{
    struct hs_stencil stencil = {.dims = dims, .radius = radius};
    for (int i = 0; i < hs_stencil_count(dims, radius); i++)
        stencil.c[i] = noise();
    return stencil;
}

/* ---- one sweep, the kernel alone ------------------------------------------------------------- */

struct trial {
    const struct hs_kernel *kernel;
    enum hs_precision precision;
    struct hs_grid grid;
    int radius;
    struct hs_box box;
    bool source_field;
    bool may_copy; /* as in hs_sweep */
    int threads;
};

/* Not a byte more than needed, so that the sanitizer sees overruns. */
static size_t field_bytes(const struct hs_layout *layout, enum hs_precision precision)
{
    const size_t bytes = (size_t)layout->elements * hs_precision_size(precision);
    assert_int_equal(bytes % 64, 0);
    return bytes;
}

/* Random values in the whole allocation, ghosts included. */
static char *random_field(const struct hs_layout *layout, enum hs_precision precision)
{
    char *field = aligned_alloc(64, field_bytes(layout, precision));
    assert_non_null(field);
    for (int64_t i = 0; i < layout->elements; i++)
        hs_write(precision, field, i, noise());
    return field;
}

static const void *origin(const struct trial *t, const struct hs_layout *layout, const char *field)
{
    return field + (size_t)layout->origin * hs_precision_size(t->precision);
}

static char *swept(const struct trial *t, const struct hs_kernel *kernel, struct hs_sweep sweep)
{
    const size_t bytes = field_bytes(&sweep.layout, t->precision);
    char *out = aligned_alloc(64, bytes);
    assert_non_null(out);
    memset(out, 0xa5, bytes); /* poison: shows what a kernel leaves out, or adds to */
    sweep.out = (void *)(uintptr_t)origin(t, &sweep.layout, out);
    assert_ok(kernel->sweep(NULL, &sweep, &err));
    return out;
}

/* What a float kernel may round: (terms + 2) halves of an epsilon of sum |c in| + |source|. */
static double float_bound(const struct hs_sweep *s, int64_t node)
{
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(&s->op->stencil, terms);
    const void *source = hs_source_field(&s->source);
    double sum = fabs(source ? hs_read(s->precision, source, node) : s->source.value[0]);
    for (int n = 0; n < count; n++)
        sum += fabs(terms[n].c * hs_read(s->precision, s->in,
                                         node + terms[n].offset * s->layout.pitch[terms[n].axis]));
    return (count + 2) * (FLT_EPSILON / 2.0) * sum;
}

static void compare_inside(const struct trial *t, const struct hs_sweep *s, const void *a,
                           const void *b)
{
    for (int64_t k = t->box.lo[2]; k < t->box.hi[2]; k++)
        for (int64_t j = t->box.lo[1]; j < t->box.hi[1]; j++)
            for (int64_t i = t->box.lo[0]; i < t->box.hi[0]; i++) {
                const int64_t node = hs_layout_offset(&s->layout, i, j, k);
                const double x = hs_read(t->precision, a, node), y = hs_read(t->precision, b, node);
                const double bound = t->precision == HS_FLOAT ? float_bound(s, node) : 0.0;
                if (!(fabs(x - y) <= bound))
                    fail_msg("%s, %dD radius %d %s, %lldx%lldx%lld, source %d, threads %d: at "
                             "(%lld, %lld, %lld) %.17g, reference %.17g, apart by more than %g",
                             t->kernel->name, t->grid.dims, t->radius,
                             hs_precision_name(t->precision), (long long)t->grid.points[0],
                             (long long)t->grid.points[1], (long long)t->grid.points[2],
                             t->source_field, t->threads, (long long)i, (long long)j, (long long)k,
                             x, y, bound);
            }
}

/* Poisons copies of `in` beside the box, in cache lines that the box's nodes share. */
static void forgive_copies(const struct trial *t, const struct hs_sweep *s, char *nodes)
{
    const int64_t size = (int64_t)hs_precision_size(t->precision), line = 64 / size;
    const int64_t lo = t->box.lo[0] / line * line;
    const int64_t hi = (t->box.hi[0] + line - 1) / line * line;
    for (int64_t k = t->box.lo[2]; k < t->box.hi[2]; k++)
        for (int64_t j = t->box.lo[1]; j < t->box.hi[1]; j++)
            for (int64_t i = lo; i < hi && i < t->grid.points[0]; i++) {
                const int64_t at = hs_layout_offset(&s->layout, i, j, k) * size;
                if (memcmp(nodes + at, (const char *)s->in + at, (size_t)size) == 0)
                    memset(nodes + at, 0xa5, (size_t)size);
            }
}

/* All bytes of the allocation outside the box must still hold the poison. */
static void check_outside(const struct trial *t, const struct hs_sweep *s, char *field)
{
    const struct hs_layout *layout = &s->layout;
    const size_t size = hs_precision_size(t->precision);
    char *nodes = field + (size_t)layout->origin * size;
    for (int64_t k = t->box.lo[2]; k < t->box.hi[2]; k++)
        for (int64_t j = t->box.lo[1]; j < t->box.hi[1]; j++)
            memset(nodes + hs_layout_offset(layout, t->box.lo[0], j, k) * (int64_t)size, 0xa5,
                   (size_t)(t->box.hi[0] - t->box.lo[0]) * size);
    if (t->may_copy)
        forgive_copies(t, s, nodes);
    for (size_t i = 0; i < (size_t)layout->elements * size; i++)
        if ((unsigned char)field[i] != 0xa5)
            fail_msg("%s, %dD radius %d %s: wrote outside the box", t->kernel->name, t->grid.dims,
                     t->radius, hs_precision_name(t->precision));
}

static void try_recursion(const struct trial *t, const struct hs_sweep *sweep, const char *swept)
{
    struct hs_face face[HS_FACES] = {{0}};
    for (int f = 0; f < HS_FACES; f++)
        face[f].held = HS_MAX_RADIUS; /* so that a pass needs no ghosts between its sweeps */
    const struct hs_case of = {.asked = hs_feature_stencil(t->grid.dims, t->radius, t->precision),
                               .precision = t->precision,
                               .dims = t->grid.dims,
                               .radius = t->radius,
                               .layout = sweep->layout,
                               .box = t->box,
                               .face = face,
                               .threads = t->threads};
    struct hs_kernel_plan plan;
    char what[256];
    if (!hs_kernel_plan_make(t->kernel, &of, NULL, &plan, what, sizeof what) || !plan.recursion)
        return;
    snprintf(what, sizeof what, "%dD radius %d %s, %lldx%lldx%lld, source %d, threads %d",
             t->grid.dims, t->radius, hs_precision_name(t->precision), (long long)t->grid.points[0],
             (long long)t->grid.points[1], (long long)t->grid.points[2], t->source_field,
             t->threads);
    for (int over = 0; over < 2; over++)
        hold_recursion(t->kernel, &plan, *sweep, swept, over, what);
    for (int steps = 2; steps <= plan.recursion; steps++)
        hold_pass(t->kernel, &plan, *sweep, steps, what), passes++;
    recursions++;
}

static void run_trial(const struct trial *t)
{
    const struct hs_operator op = {.stencil = random_stencil(t->grid.dims, t->radius)};
    const double source_value = noise();
    struct hs_sweep sweep = {
        .precision = t->precision,
        .layout =
            hs_layout_make(&t->grid, t->radius, 64 / (int64_t)hs_precision_size(t->precision)),
        .box = t->box,
        .op = &op,
        .steps = 1,
        .threads = t->threads,
        .may_copy = t->may_copy,
    };
    char *in = random_field(&sweep.layout, t->precision);
    char *source = random_field(&sweep.layout, t->precision);
    sweep.in = origin(t, &sweep.layout, in);
    const void *field = origin(t, &sweep.layout, source);
    sweep.source =
        (struct hs_source_view){.form = t->source_field ? HS_SOURCE_IS_FIELD : HS_SOURCE_IS_UNIFORM,
                                .value = &source_value,
                                .field = &field};
    char *out = swept(t, t->kernel, sweep);
    char *expected = swept(t, &hs_kernel_cpu_reference, sweep);
    compare_inside(t, &sweep, origin(t, &sweep.layout, out), origin(t, &sweep.layout, expected));
    try_recursion(t, &sweep, out);
    check_outside(t, &sweep, out);
    free(in);
    free(source);
    free(out);
    free(expected);
}

/* Odd sizes: short and long rows, more threads than planes. */
static const int64_t sizes[][HS_AXES] = {
    {7, 7, 7}, {8, 9, 10}, {67, 13, 11}, {130, 33, 8}, {2049, 7, 9},
};

/* Larger than a cache, so that kernels may store past it: about 2^20 double or 2^21 float values in
 * each field. In 2D rows are long enough to be cut. */
static const int64_t large[HS_PRECISIONS][HS_AXES][HS_AXES] = {
    [HS_FLOAT] = {{2200001, 1, 1}, {40009, 57, 1}, {149, 131, 113}},
    [HS_DOUBLE] = {{1100003, 1, 1}, {40009, 29, 1}, {149, 131, 57}},
};

static void set_points(struct trial *t, const int64_t points[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        t->grid.points[axis] = axis < t->grid.dims ? points[axis] : 1;
        t->grid.spacing[axis] = 1.0;
    }
    t->box = hs_grid_box(&t->grid);
}

static void trials_on(struct trial t, const int64_t points[HS_AXES])
{
    for (int shrink = 0; shrink <= 3; shrink++) {
        set_points(&t, points);
        for (int axis = 0; axis < t.grid.dims; axis++) {
            t.box.lo[axis] += shrink;
            t.box.hi[axis] -= shrink == 3 ? 0 : shrink + axis % 2;
        }
        t.source_field = shrink % 2;
        t.threads = 1 + shrink;
        run_trial(&t);
    }
}

static void large_trial(struct trial t)
{
    set_points(&t, large[t.precision][t.grid.dims - 1]);
    t.box.lo[HS_X] = 1; /* rows that do not begin at a cache line */
    t.source_field = t.radius == 2;
    t.threads = 2;
    run_trial(&t);
    t.box.hi[HS_X] -= 3;
    t.source_field = t.radius == 3;
    t.may_copy = true;
    run_trial(&t);
}

/* CPU kernels that do one sweep per call and leave ghosts to the backend can be tried alone. */
static bool stands_alone(const struct hs_kernel *kernel)
{
    return kernel->device == HS_CPU && !(kernel->features & HS_APPLIES_WALLS);
}

void test_kernels__each_agrees_with_reference(void **state)
{
    int tried = 0;
    for (int n = 0; hs_kernels[n]; n++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
                for (int p = 0; p < HS_PRECISIONS; p++) {
                    char reason[128];
                    if (!stands_alone(hs_kernels[n]) ||
                        !hs_features_cover(hs_kernels[n]->name, hs_kernels[n]->features,
                                           hs_feature_stencil(dims, radius, (enum hs_precision)p),
                                           reason, sizeof reason))
                        continue;
                    const struct trial t = {.kernel = hs_kernels[n],
                                            .precision = (enum hs_precision)p,
                                            .grid = {.dims = dims},
                                            .radius = radius};
                    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                        trials_on(t, sizes[s]);
                    if (hs_kernels[n] != &hs_kernel_cpu_reference)
                        large_trial(t);
                    tried++;
                }
    assert_true(tried >= 2 * 18 && recursions >= 2 * 18); /* at least reference and openmp */
    assert_true(passes >= 100);
}

/* An empty box is no work, and no crash. */
void test_kernels__empty_box_is_left_alone(void **state)
{
    for (int n = 0; hs_kernels[n]; n++)
        if (stands_alone(hs_kernels[n])) {
            struct trial t = {.kernel = hs_kernels[n],
                              .precision = HS_DOUBLE,
                              .grid = {.dims = 3, .points = {9, 9, 9}},
                              .radius = 1,
                              .threads = 2};
            t.box = (struct hs_box){{1, 5, 1}, {8, 5, 8}};
            run_trial(&t);
        }
}

/* ---- several sweeps, through the backend ----------------------------------------------------- */

/* 0.5 + 0.25*x*y - z, and the same plus 0.1*t */
static struct hs_instruction of_space[] = {
    {HS_OP_CONSTANT, 0.5}, {HS_OP_CONSTANT, 0.25}, {HS_OP_X, 0},   {HS_OP_MULTIPLY, 0},
    {HS_OP_Y, 0},          {HS_OP_MULTIPLY, 0},    {HS_OP_ADD, 0}, {HS_OP_Z, 0},
    {HS_OP_SUBTRACT, 0},   {HS_OP_CONSTANT, 0.1},  {HS_OP_T, 0},   {HS_OP_MULTIPLY, 0},
    {HS_OP_ADD, 0},
};
static struct hs_instruction of_time[] = {{HS_OP_CONSTANT, 2.0}, {HS_OP_T, 0}, {HS_OP_SUBTRACT, 0}};

static struct hs_instruction of_y[] = {{HS_OP_Y, 0}, {HS_OP_CONSTANT, 3.0}, {HS_OP_MULTIPLY, 0}};
static struct hs_instruction of_x_and_time[] = {{HS_OP_T, 0}, {HS_OP_X, 0}, {HS_OP_MULTIPLY, 0}};

/* A constant, programs of space, of time, of both, of one axis. */
static struct hs_value some_value(int variant)
{
    static const struct hs_value values[] = {
        {.constant = 1.5},
        {.expression = {of_space, 9, HS_VARIES_SPACE}},
        {.expression = {of_time, 3, HS_VARIES_T}},
        {.expression = {of_space, 13, HS_VARIES_SPACE | HS_VARIES_T}},
        {.expression = {of_y, 3, HS_VARIES_Y}},
        {.expression = {of_x_and_time, 3, HS_VARIES_X | HS_VARIES_T}},
    };
    return values[variant % (int)(sizeof values / sizeof *values)];
}

enum { SWEEPS = 7 };

static void lower_face(struct hs_problem *problem, int face, int kind, int variant)
{
    set_wall(problem, face, hs_boundary_kinds[kind].name, some_value(variant), 0.3);
}

static const int64_t few_points[HS_AXES] = {13, 9, 8};

/* Case n has different kinds on its faces, such that in as many cases as there are kinds each kind
 * meets every other. Three times as many cases give each of them values of every sort. */
static void make_problem(struct hs_problem *problem, int dims, const int64_t points[HS_AXES],
                         int radius, enum hs_precision precision, int n)
{
    hs_problem_init(problem);
    problem->solver.threads = 2;
    problem->precision = precision;
    problem->radius = radius;
    problem->raw = true;
    problem->material.conductivity = 2.0; /* for the walls */
    problem->grid.dims = dims;
    for (int axis = 0; axis < dims; axis++) {
        problem->grid.points[axis] = points[axis];
        problem->grid.lower[axis] = 0.2 * axis;
        problem->grid.spacing[axis] = 0.1 + 0.01 * axis;
    }
    const int kinds = count_kinds();
    for (int axis = 0; axis < dims; axis++) {
        int kind[2] = {(n + axis) % kinds, (n + 3 * axis + 3) % kinds};
        for (int side = 0; side < 2; side++) /* an axis is periodic on both sides */
            if (hs_boundary_kinds[kind[side]].wrap)
                kind[!side] = kind[side];
        for (int side = 0; side < 2; side++)
            lower_face(problem, 2 * axis + side, kind[side], n + n / kinds + 2 * axis + side);
    }
    const int count = hs_stencil_count(dims, radius);
    double sum = 0.0;
    for (int i = 0; i < count; i++)
        sum += problem->c[i] = 1.0 + 0.9 * noise();
    for (int i = 0; i < count; i++)
        problem->c[i] /= sum; /* sum |c| = 1: nothing grows */
    problem->source.present = n % 2;
    problem->source.field.value = some_value(n / 2 + 3);
    problem->source.rate = 0.125;
}

/* By the faces' rules an error grows by a factor of at most 1 + 2*3*0.13*0.3/2 a sweep (robin,
 * third layer). They add some roundings to those of a sweep (see float_bound). */
static double run_bound(const struct hs_problem *problem, const struct hs_kernel *kernel,
                        double largest)
{
    const int terms = hs_stencil_count(problem->grid.dims, problem->radius);
    if (problem->precision == HS_DOUBLE || strcmp(kernel->name, "reference") == 0)
        return 0.0;
    return SWEEPS * pow(1.12, SWEEPS) * (terms + 2 + 9) * (FLT_EPSILON / 2.0) * largest;
}

static void compare_run(const struct model *m, const struct hs_kernel *kernel, const char *what,
                        const void *values, int n)
{
    const struct hs_problem *problem = m->problem;
    double largest = 4.0; /* of the boundary data */
    for (int64_t i = 0; i < hs_grid_count(&problem->grid); i++)
        largest = fmax(largest, fabs(m->now[i]));
    const double bound = run_bound(problem, kernel, largest);
    for (int64_t i = 0; i < hs_grid_count(&problem->grid); i++) {
        const double x = hs_read(problem->precision, values, i);
        if (!(fabs(x - m->now[i]) <= bound))
            fail_msg("%s, case %d (%s %s %s %s %s %s): node %lld: %.17g, "
                     "expected %.17g, apart by more than %g",
                     what, n, problem->face[0].type, problem->face[1].type,
                     problem->face[2].type ? problem->face[2].type : "",
                     problem->face[3].type ? problem->face[3].type : "",
                     problem->face[4].type ? problem->face[4].type : "",
                     problem->face[5].type ? problem->face[5].type : "", (long long)i, x, m->now[i],
                     bound);
    }
}

/* Sweeps in two stretches of one interval, like a run with an output in between. */
static void run_case(const struct hs_backend *backend, const struct hs_kernel *kernel,
                     const struct hs_problem *problem, int n)
{
    const int64_t count = hs_grid_count(&problem->grid);
    const struct hs_box all = hs_grid_box(&problem->grid);
    struct model m = {problem, malloc((size_t)count * 8), malloc((size_t)count * 8)};
    char *values = malloc((size_t)count * 8);
    for (int64_t i = 0; i < count; i++) {
        m.now[i] = model_round(&m, 1.0 + noise());
        hs_write(problem->precision, values, i, m.now[i]);
    }
    struct hs_span span = {
        .count = SWEEPS, .start = 0.3, .step = 0.1, .op = hs_problem_operator(problem, 0.1)};
    for (int64_t s = 0; s < SWEEPS; s++)
        model_sweep(&m, &span, s);

    char what[100];
    snprintf(what, sizeof what, "%s, %dD radius %d %s", kernel->name, problem->grid.dims,
             problem->radius, hs_precision_name(problem->precision));
    struct hs_backend_state *state = NULL;
    assert_ok_of(what, backend->create(problem, kernel, &state, &err));
    assert_ok_of(what, backend->upload(state, &all, values, &err));
    span.count = 3;
    assert_ok_of(what, backend->sweep(state, &span, &err));
    span.first = 3;
    span.count = SWEEPS - 3;
    span.keep_last = n % 2;
    assert_ok_of(what, backend->sweep(state, &span, &err));
    assert_ok_of(what, backend->download(state, &all, values, &err));
    compare_run(&m, kernel, what, values, n);
    backend->destroy(state);
    free(m.now);
    free(m.next);
    free(values);
}

/* Tries each kernel that the backend can run, in all that it claims, except for kernels that need
 * larger grids. */
static int run_backend(const struct hs_backend *backend)
{
    int tried = 0;
    for (int k = 0; hs_kernels[k]; k++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
                for (int p = 0; p < HS_PRECISIONS; p++)
                    for (int n = 0; n < 3 * count_kinds(); n++) {
                        char reason[128];
                        if (hs_kernels[k]->device != backend->device ||
                            !hs_features_cover(
                                hs_kernels[k]->name, hs_kernels[k]->features,
                                hs_feature_stencil(dims, radius, (enum hs_precision)p), reason,
                                sizeof reason))
                            continue;
                        struct hs_problem problem;
                        make_problem(&problem, dims, few_points, radius, (enum hs_precision)p, n);
                        if (hs_kernel_suits(hs_kernels[k], &problem, reason, sizeof reason)) {
                            run_case(backend, hs_kernels[k], &problem, n);
                            tried++;
                        }
                        hs_problem_release(&problem);
                    }
    return tried;
}

void test_kernels__each_sweeps_under_every_boundary(void **state)
{
    int tried = 0;
    for (int b = 0; hs_backends[b]; b++) {
        struct hs_error err = {0};
        if (hs_backends[b]->available(0, &err) == HS_OK)
            tried += run_backend(hs_backends[b]);
        hs_error_release(&err);
    }
    assert_true(tried >= 2 * 18 * 3 * count_kinds()); /* at least reference and openmp */
}

/* ---- fusing ---------------------------------------------------------------------------------- */

extern const struct hs_backend hs_backend_cpu;
extern const struct hs_kernel hs_kernel_cpu_openmp;

/* The L2 size that kernels see, unless it is 0, so that the code for other machines is held to the
 * same bits. The sysconf() below replaces the library's, and falls back to it. */
static long l2_bytes;

long sysconf(int name)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    if (name == _SC_LEVEL2_CACHE_SIZE && l2_bytes > 0)
        return l2_bytes;
#endif
    static long (*library)(int);
    if (!library)
        *(void **)&library = dlsym(RTLD_NEXT, "sysconf");
    return library(name);
}

/* Grids that are cut into several tiles along each axis, because of their lengths or the threads.
 * The last one's fields are larger than a cache. */
static const struct {
    int dims, threads;
    int64_t points[HS_AXES];
    int radii; /* largest radius tried; 0: all */
} tiled[] = {
    {1, 3, {9001, 1, 1}, 0},   {1, 2, {40013, 1, 1}, 0}, {2, 4, {3001, 61, 1}, 0},
    {2, 5, {97, 701, 1}, 0},   {3, 3, {37, 151, 31}, 0}, {3, 2, {1103, 23, 17}, 0},
    {3, 5, {23, 41, 93}, 0},   {3, 4, {9, 8, 205}, 0},   {3, 1, {129, 67, 33}, 0},
    {3, 2, {203, 211, 57}, 1},
};

/* Two stretches, in which each kernel fuses as many sweeps as it can, and then fewer. */
static void sweep_tiled(const struct hs_kernel *kernel, const struct hs_problem *problem,
                        bool keep_last, char *values)
{
    const struct hs_box all = hs_grid_box(&problem->grid);
    struct hs_span span = {
        .count = 11, .start = 0.3, .step = 0.1, .op = hs_problem_operator(problem, 0.1)};
    struct hs_backend_state *state = NULL;
    assert_ok(hs_backend_cpu.create(problem, kernel, &state, &err));
    assert_ok(hs_backend_cpu.upload(state, &all, values, &err));
    assert_ok(hs_backend_cpu.sweep(state, &span, &err));
    span.first = span.count;
    span.count = 6;
    span.keep_last = keep_last;
    assert_ok(hs_backend_cpu.sweep(state, &span, &err));
    assert_ok(hs_backend_cpu.download(state, &all, values, &err));
    hs_backend_cpu.destroy(state);
}

static void compare_tiled(const struct hs_kernel *kernel, const struct hs_problem *problem, int n)
{
    const int64_t count = hs_grid_count(&problem->grid), *points = problem->grid.points;
    const size_t size = hs_precision_size(problem->precision);
    char *once = malloc((size_t)count * size), *fused = malloc((size_t)count * size);
    for (int64_t i = 0; i < count; i++)
        hs_write(problem->precision, once, i, 1.0 + noise());
    memcpy(fused, once, (size_t)count * size);
    sweep_tiled(&hs_kernel_cpu_openmp, problem, n % 2, once);
    sweep_tiled(kernel, problem, n % 2, fused);
    for (int64_t i = 0; i < count; i++)
        if (memcmp(once + (size_t)i * size, fused + (size_t)i * size, size) != 0)
            fail_msg("%s, %dD radius %d %s, %lld x %lld x %lld, %d threads, case %d (x %s %s), "
                     "%ld bytes of L2: node (%lld, %lld, %lld): %.17g, one by one %.17g",
                     kernel->name, problem->grid.dims, problem->radius,
                     hs_precision_name(problem->precision), (long long)points[0],
                     (long long)points[1], (long long)points[2], problem->solver.threads, n,
                     problem->face[0].type, problem->face[1].type, l2_bytes,
                     (long long)(i % points[0]), (long long)(i / points[0] % points[1]),
                     (long long)(i / points[0] / points[1]), hs_read(problem->precision, fused, i),
                     hs_read(problem->precision, once, i));
    free(once);
    free(fused);
}

/* A kernel that fuses sweeps gives the bits of single sweeps, whatever the tiles, faces, sources
 * and number of sweeps. */
static void fuse_with(long cache, int dims, int radii)
{
    int tried = 0;
    l2_bytes = cache;
    for (int k = 0; hs_kernels[k]; k++)
        for (size_t w = 0; w < sizeof tiled / sizeof *tiled; w++)
            for (int radius = 1; radius <= radii; radius++)
                for (int n = 0; n < count_kinds(); n++) {
                    const enum hs_precision precision = (n + (int)w) % 2 ? HS_FLOAT : HS_DOUBLE;
                    char reason[128];
                    if (hs_kernels[k]->device != HS_CPU || hs_kernels[k]->steps == 1 ||
                        tiled[w].dims < dims || (tiled[w].radii && radius > tiled[w].radii) ||
                        !hs_features_cover(hs_kernels[k]->name, hs_kernels[k]->features,
                                           hs_feature_stencil(tiled[w].dims, radius, precision),
                                           reason, sizeof reason))
                        continue;
                    struct hs_problem problem;
                    make_problem(&problem, tiled[w].dims, tiled[w].points, radius, precision,
                                 n + count_kinds() * radius);
                    problem.solver.threads = tiled[w].threads;
                    compare_tiled(hs_kernels[k], &problem, n);
                    hs_problem_release(&problem);
                    tried++;
                }
    l2_bytes = 0;
    assert_true(tried > 0);
}

void test_kernels__fusing_changes_no_bit(void **state)
{
    fuse_with(1024 * 1024, 1, HS_MAX_RADIUS);
}

/* With level 1 swept together with the others. */
void test_kernels__nor_does_it_where_l2_is_large(void **state)
{
    fuse_with(1280 * 1024, 3, 1);
}

/* Grids of which a thread takes several tiles that are neighbours; there are about `across` of
 * them. One thread; three with two tiles each; pieces along x; along z; fields that, in double, are
 * not left to the last-level cache, with an even number of planes. */
static const struct {
    int threads, across;
    int64_t points[HS_AXES];
} neighbours[] = {
    {1, 4, {37, 151, 31}}, {3, 6, {21, 171, 29}},  {2, 4, {905, 64, 9}},
    {3, 2, {160, 23, 90}}, {2, 4, {128, 140, 64}},
};

/* The cache for which the kernel, which keeps planes of all levels in it, makes such tiles. */
static long cache_for(int64_t bytes, int64_t rows, int radius, int steps)
{
    const int64_t halo = 2 * (int64_t)steps * radius,
                  planes = 2 * (int64_t)radius * (steps - 1) + 4;
    return (long)(planes * bytes * (rows + halo));
}

static int wanted;
static const struct hs_kernel *of_kernel;

/* The kernel's plan, but with the wanted number of sweeps per call. */
static bool as_wanted(const struct hs_case *of, const struct hs_device_limits *limits,
                      struct hs_kernel_plan *out, char *reason, size_t size)
{
    const bool can = of_kernel->plan(of, limits, out, reason, size);
    out->steps = wanted;
    return can;
}

static void fuse_neighbours(const struct hs_kernel *kernel, size_t w, int radius, int n)
{
    const int64_t *points = neighbours[w].points, widest = 3584; /* bytes of a row */
    struct hs_kernel fused = *kernel;
    of_kernel = kernel;
    fused.plan = as_wanted;
    wanted = 2 + (n + 3 * radius + (int)w) % (kernel->steps - 1);
    const enum hs_precision precision = (n + radius + (int)w) % 2 ? HS_FLOAT : HS_DOUBLE;
    const int64_t bytes = points[HS_X] * (int64_t)hs_precision_size(precision);
    l2_bytes = cache_for(bytes < widest ? bytes : widest, points[HS_Y] / neighbours[w].across,
                         radius, wanted);
    struct hs_problem problem;
    make_problem(&problem, 3, points, radius, precision, n + count_kinds() * radius);
    problem.solver.threads = neighbours[w].threads;
    compare_tiled(&fused, &problem, n);
    hs_problem_release(&problem);
    l2_bytes = 0;
}

static bool fuses_stencils(const struct hs_kernel *kernel)
{
    return kernel->device == HS_CPU && kernel->steps > 1 && kernel->features & HS_STENCIL;
}

/* With every number of sweeps that a call may make, not only those that pay. */
void test_kernels__nor_does_it_where_a_thread_has_several_tiles(void **state)
{
    for (int k = 0; hs_kernels[k]; k++)
        for (size_t w = 0; w < sizeof neighbours / sizeof *neighbours; w++)
            for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
                for (int n = 0; n < count_kinds(); n++)
                    if (fuses_stencils(hs_kernels[k]))
                        fuse_neighbours(hs_kernels[k], w, radius, n);
}

/* ---- anything with anything ------------------------------------------------------------------ */

/* 0 to count - 1 */
static int any(int count)
{
    const int n = (int)((noise() + 1.0) / 2.0 * count);
    return n < count ? n : count - 1;
}

/* Periodic more often than one kind in eight, since it takes both sides of an axis. */
static void any_faces(struct hs_problem *problem)
{
    const int periodic = (int)(hs_boundary_find("periodic") - hs_boundary_kinds);
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        int kind[2] = {any(count_kinds()), any(count_kinds())};
        if (kind[0] == periodic || kind[1] == periodic || any(6) == 0)
            kind[0] = kind[1] = periodic;
        for (int side = 0; side < 2; side++) {
            struct hs_face *face = &problem->face[2 * axis + side];
            memset(face, 0, sizeof *face);
            lower_face(problem, 2 * axis + side, kind[side], any(6));
        }
    }
}

/* Half of the cases have four sweeps in 3D with radius 1, for which there is special code. */
static void fuse_anything(const struct hs_kernel *kernel, int n)
{
    static const int64_t most[HS_AXES][HS_AXES] = {{30000, 1, 1}, {900, 180, 1}, {160, 160, 50}};
    static const long caches[] = {900000, 1024 * 1024, 1280 * 1024, 2048 * 1024};
    struct hs_kernel fused = *kernel;
    of_kernel = kernel;
    fused.plan = as_wanted;
    wanted = any(2) ? 4 : 2 + any(kernel->steps - 1);
    const int dims = any(2) ? 3 : 1 + any(3), radius = any(2) ? 1 : 1 + any(HS_MAX_RADIUS);
    int64_t points[HS_AXES] = {1, 1, 1};
    for (int axis = 0; axis < dims; axis++)
        points[axis] = 2 * radius + 3 + any((int)most[dims - 1][axis]);
    if (dims == 3 && any(8) == 0) /* rows that are cut */
        points[HS_X] = 450 + any(600), points[HS_Y] = 11 + any(30), points[HS_Z] = 9 + any(12);
    struct hs_problem problem;
    make_problem(&problem, dims, points, radius, any(2) ? HS_FLOAT : HS_DOUBLE, n);
    any_faces(&problem);
    problem.source.present = any(2);
    problem.source.field.value = some_value(any(6));
    l2_bytes = caches[any(sizeof caches / sizeof *caches)];
    problem.solver.threads = 1 + any(4);
    compare_tiled(&fused, &problem, n);
    l2_bytes = 0;
    hs_problem_release(&problem);
}

/* Random cases: combinations of a face's kind with others and with the cuts of the grid, of which
 * the tests above have too few. The environment may set SEED, and MANY for the number of cases. */
void test_kernels__nor_does_it_in_cases_at_random(void **state)
{
    const char *first = getenv("SEED"), *many = getenv("MANY");
    seed = 7919 * (uint64_t)(first ? atoi(first) : 1) + 13;
    for (int i = 0; i < 20; i++)
        noise(); /* the first numbers after a small seed are small */
    for (int n = 0; n < (many ? atoi(many) : 100); n++)
        for (int k = 0; hs_kernels[k]; k++)
            if (fuses_stencils(hs_kernels[k]))
                fuse_anything(hs_kernels[k], n);
}
