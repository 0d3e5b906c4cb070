/* Shared by the tests of the CUDA backend: cases of every boundary kind, run on both backends. */
#ifndef HS_TESTS_GPU_H
#define HS_TESTS_GPU_H

#include "core/backend.h"
#include "core/method.h"
#include "engine/registry.h"
#include "input/expression.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct hs_kernel hs_kernel_cpu_openmp;
extern const struct hs_backend hs_backend_cpu;

/* HS_KERNEL="NAME NAME ..." restricts the tests to these kernels. */
static inline bool asked_for(const char *name)
{
    const char *names = getenv("HS_KERNEL");
    for (size_t length; names && *names; names += length + (names[length] == ' ')) {
        length = strcspn(names, " ");
        if (strlen(name) == length && strncmp(names, name, length) == 0)
            return true;
    }
    return !getenv("HS_KERNEL");
}

static inline const struct hs_backend *cuda_backend(void)
{
    for (int n = 0; hs_backends[n]; n++)
        if (hs_backends[n]->device == HS_CUDA)
            return hs_backends[n];
    fail_msg("this build has no CUDA backend: " HS_NOT_BUILT "");
    return NULL;
}

/* Uniform in [1, 2), by splitmix64 (Steele, Lea and Flood, OOPSLA 2014) from a counter. */
static inline double noise(uint64_t n)
{
    uint64_t z = (n + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return 1.0 + (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ---- problems -------------------------------------------------------------------------------- */

/* No sin, exp and so on of x, y or z, which a GPU may round differently in the last bit. The host
 * evaluates functions of t alone. */
static const char *const data_texts[] = {"1.25", "1.5 + 3*t*(1 - t)",
                                         "1 + 0.5*x*(1 - y) + 0.25*z*y*x",
                                         "1 + 0.5*x*(1 - y) + 0.25*z*y*x - 2*t*(x - z)"};
enum { DATA_TEXTS = 4 };
static const char *const source_texts[] = {
    NULL, "0.125", "0.5*t*t - 0.25", "0.5*x - y*z + 0.125", "0.5*x*t - y*z*t*t + 0.125",
    "(0.5*x - y*z + 0.125)*(1 - t)/(2 + t*t)*0.3", "(1 - t)*x", "x + t", "0.25*x - 0.5",
    "y*t*t - 0.5", "(z - t)*(z > 0.5 ? 0.5 : x)", "x*y - t/(1 + y*y)",
    "x*x*y*y*z*z - abs(t - x*y)*max(z, 0.3*t)",
    /* tables along z, y, x */
    "(x - y*t)*(z + 0.5*t) + z*t", "(x + z*t)*(y - t)", "(y - z*t)*(x + 0.5*t) + x*t",
    /* functions of t along fewer axes, with tables along z, and with a field */
    "x*sin(7*t)", "(x - y*exp(-t))*(z + 0.5*cos(9*t))",
    "((x - 0.3)*(y - 0.5)*z + x*x < 0.1 ? y : z*x)*exp(sin(7*t))"};
enum { SOURCE_TEXTS = 19 };

static inline struct hs_value make_value(struct hs_problem *problem, const char *text)
{
    struct hs_value value = {0};
    char reason[256];
    struct hs_instruction *code =
        hs_expression_compile(text, &value.expression, reason, sizeof reason);
    if (!code)
        fail_msg("%s: %s", text, reason);
    problem->programs = realloc(problem->programs,
                                (size_t)(problem->program_count + 1) * sizeof *problem->programs);
    problem->programs[problem->program_count++] = code;
    return value;
}

static inline void set_face(struct hs_problem *problem, int face, const char *kind, int data)
{
    problem->face[face] =
        make_wall(kind, make_value(problem, data_texts[data % DATA_TEXTS]), 3.0,
                  (struct hs_boundary_spec){.conductivity = 2.0,
                                            .spacing = problem->grid.spacing[face / 2],
                                            .radius = problem->radius});
}

/* One kind on all faces, or a mixture. */
struct walls {
    const char *kind[HS_FACES];
    int data;
};
#define ALL(kind, data)                                                                            \
    {                                                                                              \
        {kind, kind, kind, kind, kind, kind}, data                                                 \
    }
static const struct walls wall_table[] = {
    {{"dirichlet", "robin", "neumann", "dirichlet", "fixed", "reflective"}, 3},
    ALL("dirichlet", 3),
    {{"periodic", "periodic", "clamp", "dirichlet", "constant", "neumann"}, 1},
    {{"neumann", "fixed", "periodic", "periodic", "dirichlet", "robin"}, 3},
    ALL("fixed", 0),
    ALL("periodic", 0),
    ALL("reflective", 0),
    ALL("clamp", 0),
    ALL("dirichlet", 0),
    ALL("dirichlet", 1),
    ALL("neumann", 0),
    ALL("neumann", 1),
    ALL("neumann", 3),
    ALL("robin", 0),
    ALL("robin", 1),
    ALL("robin", 3),
    ALL("constant", 0),
    ALL("constant", 1),
    ALL("constant", 3),
};
enum { WALLS = sizeof wall_table / sizeof *wall_table };

/* The coefficients are positive, all different, with sum 1 so that values stay of order 1. */
static inline void make_problem(struct hs_problem *problem, int dims, int radius,
                                enum hs_precision precision, const int64_t points[HS_AXES],
                                const struct walls *walls, const char *source)
{
    hs_problem_init(problem);
    problem->precision = precision;
    problem->radius = radius;
    problem->raw = true;
    problem->grid.dims = dims;
    for (int axis = 0; axis < dims; axis++) {
        problem->grid.points[axis] = points[axis];
        problem->grid.lower[axis] = -0.125;
        problem->grid.spacing[axis] = 1.0 / (double)(points[axis] - 1);
    }
    for (int face = 0; face < 2 * dims; face++)
        set_face(problem, face, walls->kind[face], walls->data);
    if (source) {
        problem->source.present = true;
        problem->source.rate = 0.0625;
        problem->source.field.value = make_value(problem, source);
    }
    const int count = hs_stencil_count(dims, radius);
    double sum = 0.0;
    for (int n = 0; n < count; n++)
        sum += problem->c[n] = noise((uint64_t)n);
    for (int n = 0; n < count; n++)
        problem->c[n] /= sum;
}

static inline size_t field_bytes(const struct hs_problem *problem)
{
    return (size_t)hs_grid_count(&problem->grid) * hs_precision_size(problem->precision);
}

static inline void *random_values(const struct hs_problem *problem)
{
    const int64_t count = hs_grid_count(&problem->grid);
    void *values = malloc(field_bytes(problem));
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        if (problem->precision == HS_FLOAT)
            ((float *)values)[i] = (float)noise((uint64_t)i + 100);
        else
            ((double *)values)[i] = noise((uint64_t)i + 100);
    return values;
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct outcome {
    void *field;
    struct hs_reduction reduction;
};

/* Takes the spans by the method (NULL: sweeps), each with the problem's operator. */
static inline struct outcome run_spans(const struct hs_backend *backend,
                                       const struct hs_kernel *kernel,
                                       const struct hs_method *method,
                                       const struct hs_problem *problem, const void *initial,
                                       const struct hs_span *spans, int count)
{
    struct hs_backend_state *state = NULL;
    struct hs_method_state *self = NULL;
    struct outcome out = {.field = malloc(field_bytes(problem))};
    assert_non_null(out.field);
    memset(out.field, 0xa5, field_bytes(problem));
    const struct hs_box all = hs_grid_box(&problem->grid);
    assert_ok_of(kernel->name, backend->create(problem, kernel, &state, &err));
    assert_ok(backend->upload(state, &all, initial, &err));
    if (method)
        assert_ok_of(method->name, method->create(problem, backend, state, &self, &err));
    for (int n = 0; n < count; n++) {
        struct hs_span span = spans[n];
        span.op = hs_problem_operator(problem, span.step);
        assert_ok_of(kernel->name, method ? method->advance(self, backend, state, &span, &err)
                                          : backend->sweep(state, &span, &err));
    }
    assert_ok(backend->download(state, &all, out.field, &err));
    assert_ok(hs_reduce(backend, state, problem, &out.reduction, &err));
    if (method)
        method->destroy(self);
    backend->destroy(state);
    return out;
}

/* `count` sweeps in two stretches. The second has `last` sweeps and is asked for its change. */
static inline struct outcome run_on(const struct hs_backend *backend,
                                    const struct hs_kernel *kernel,
                                    const struct hs_problem *problem, const void *initial,
                                    int64_t count, int64_t last)
{
    const struct hs_span spans[] = {
        {.count = count - last, .step = 0.01},
        {.count = last, .first = count - last, .step = 0.01, .keep_last = true}};
    return run_spans(backend, kernel, NULL, problem, initial, spans, 2);
}

static inline double value_of(enum hs_precision precision, const void *values, int64_t i)
{
    return precision == HS_FLOAT ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* Bit for bit: all kernels add in the same order, and only explicit fmas are contracted. */
static inline void assert_same_field(const struct hs_problem *problem, const void *a,
                                     const void *expected, const char *what)
{
    if (memcmp(a, expected, field_bytes(problem)) == 0)
        return;
    const int64_t *n = problem->grid.points, count = hs_grid_count(&problem->grid);
    int64_t differing = 0, first = -1;
    for (int64_t i = 0; i < count; i++)
        if (memcmp((const char *)a + (size_t)i * hs_precision_size(problem->precision),
                   (const char *)expected + (size_t)i * hs_precision_size(problem->precision),
                   hs_precision_size(problem->precision))) {
            first = first < 0 ? i : first;
            differing++;
        }
    fail_msg("%s: %lld of %lld nodes differ, first (%lld, %lld, %lld): %.17g, expected %.17g", what,
             (long long)differing, (long long)count, (long long)(first % n[HS_X]),
             (long long)(first / n[HS_X] % n[HS_Y]), (long long)(first / n[HS_X] / n[HS_Y]),
             value_of(problem->precision, a, first), value_of(problem->precision, expected, first));
}

/* Sums of some 10^4 values in different orders: far less apart than 10^4 halves of an epsilon. */
static inline void assert_same_reduction(const struct hs_reduction *a,
                                         const struct hs_reduction *expected)
{
    const double slack = 1e-12 * fmax(fabs(expected->min), fabs(expected->max));
    assert_true(a->min == expected->min);
    assert_true(a->max == expected->max);
    assert_true(a->change == expected->change);
    assert_near(a->mean, expected->mean, slack);
    assert_near(a->heat, expected->heat, slack * fmax(1.0, fabs(expected->heat)));
    assert_int_equal(a->not_finite, expected->not_finite);
}

#endif
