/*
 * Every kernel of the table that a device here can run, held to `reference`.
 *
 * Alone: each dims, radius and precision that it claims, on grids of odd sizes, on the whole grid
 * and on boxes of it, with a source field and without, from random data with random coefficients,
 * no two alike. Through its backend: several sweeps under all eight kinds of boundary.
 *
 * double: bit for bit, since all add in one order with one fma a term.
 * float: reference adds in double and rounds once. A kernel in float rounds each coefficient, each
 * partial sum and the source: at most (terms + 2) halves of an epsilon of sum |c in| + |source|.
 */
#include "core/backend.h"
#include "core/kernel.h"
#include "engine/registry.h"
#include "test.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

extern const struct hs_kernel hs_kernel_cpu_reference;

static uint64_t seed = 1;

/* Uniform in [-1, 1): an xorshift generator, so that a failure comes back. */
static double noise(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-52 - 1.0;
}

static double get(enum hs_precision precision, const void *values, int64_t i)
{
    return precision == HS_FLOAT ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static void set(enum hs_precision precision, void *values, int64_t i, double x)
{
    if (precision == HS_FLOAT)
        ((float *)values)[i] = (float)x;
    else
        ((double *)values)[i] = x;
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
    int threads;
};

/* A field of random values, ghosts too: all that lies in the allocation. */
static char *random_field(const struct hs_layout *layout, enum hs_precision precision)
{
    char *field = aligned_alloc(64, (size_t)layout->elements * 8);
    assert_non_null(field);
    for (int64_t i = 0; i < layout->elements; i++)
        set(precision, field, i, noise());
    return field;
}

static const void *origin(const struct trial *t, const struct hs_layout *layout, const char *field)
{
    return field + (size_t)layout->origin * hs_precision_size(t->precision);
}

static char *swept(const struct trial *t, const struct hs_kernel *kernel, struct hs_sweep sweep)
{
    const size_t bytes = (size_t)sweep.layout.elements * 8;
    char *out = aligned_alloc(64, bytes);
    assert_non_null(out);
    memset(out, 0xa5, bytes); /* poison: what a kernel leaves out, or adds to, shows */
    sweep.out = (void *)(uintptr_t)origin(t, &sweep.layout, out);
    struct hs_error err;
    hs_error_init(&err);
    assert_int_equal(kernel->sweep(&sweep, &err), HS_OK);
    hs_error_release(&err);
    return out;
}

/* sum |c in| + |source| at a node, times what the roundings of a float kernel amount to. */
static double float_bound(const struct hs_sweep *s, int64_t node)
{
    struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
    const int count = hs_stencil_terms(s->stencil, terms);
    double sum = fabs(s->source ? get(s->precision, s->source, node) : s->source_value[0]);
    for (int n = 0; n < count; n++)
        sum += fabs(terms[n].c * get(s->precision, s->in,
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
                const double x = get(t->precision, a, node), y = get(t->precision, b, node);
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

/* All bytes of the allocation outside the box still hold the poison. */
static void check_outside(const struct trial *t, const struct hs_layout *layout, char *field)
{
    const size_t size = hs_precision_size(t->precision);
    char *nodes = field + (size_t)layout->origin * size;
    for (int64_t k = t->box.lo[2]; k < t->box.hi[2]; k++)
        for (int64_t j = t->box.lo[1]; j < t->box.hi[1]; j++)
            memset(nodes + hs_layout_offset(layout, t->box.lo[0], j, k) * (int64_t)size, 0xa5,
                   (size_t)(t->box.hi[0] - t->box.lo[0]) * size);
    for (size_t i = 0; i < (size_t)layout->elements * size; i++)
        if ((unsigned char)field[i] != 0xa5)
            fail_msg("%s, %dD radius %d %s: wrote outside the box", t->kernel->name, t->grid.dims,
                     t->radius, hs_precision_name(t->precision));
}

static void run_trial(const struct trial *t)
{
    const struct hs_stencil stencil = random_stencil(t->grid.dims, t->radius);
    const double source_value = noise();
    struct hs_sweep sweep = {
        .precision = t->precision,
        .layout =
            hs_layout_make(&t->grid, t->radius, 64 / (int64_t)hs_precision_size(t->precision)),
        .box = t->box,
        .stencil = &stencil,
        .source_value = &source_value,
        .steps = 1,
        .threads = t->threads,
    };
    char *in = random_field(&sweep.layout, t->precision);
    char *source = random_field(&sweep.layout, t->precision);
    sweep.in = origin(t, &sweep.layout, in);
    sweep.source = t->source_field ? origin(t, &sweep.layout, source) : NULL;
    char *out = swept(t, t->kernel, sweep);
    char *expected = swept(t, &hs_kernel_cpu_reference, sweep);
    compare_inside(t, &sweep, origin(t, &sweep.layout, out), origin(t, &sweep.layout, expected));
    check_outside(t, &sweep.layout, out);
    free(in);
    free(source);
    free(out);
    free(expected);
}

/* Odd sizes: short and long rows, more threads than planes, and one large enough (in each dims)
 * to take the path past the cache. */
static const int64_t sizes[][HS_AXES] = {
    {7, 7, 7}, {8, 9, 10}, {67, 13, 11}, {130, 33, 5}, {2049, 7, 9}, {173, 131, 97},
};

static void trials_on(struct trial t, const int64_t points[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        t.grid.points[axis] = axis < t.grid.dims ? points[axis] : 1;
        t.grid.spacing[axis] = 1.0;
    }
    for (int shrink = 0; shrink <= 3; shrink++) {
        t.box = hs_grid_box(&t.grid);
        for (int axis = 0; axis < t.grid.dims; axis++) {
            t.box.lo[axis] += shrink;
            t.box.hi[axis] -= shrink == 3 ? 0 : shrink + axis % 2;
        }
        t.source_field = shrink % 2;
        t.threads = 1 + shrink;
        run_trial(&t);
    }
}

/* Kernels of the CPU that sweep once a call and leave ghosts to the backend can be tried alone. */
static bool stands_alone(const struct hs_kernel *kernel)
{
    return kernel->device == HS_CPU && !kernel->own_ghosts;
}

void test_kernels__each_agrees_with_reference(void **state)
{
    (void)state;
    int tried = 0;
    for (int n = 0; hs_kernels[n]; n++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
                for (int p = 0; p < HS_PRECISIONS; p++) {
                    char reason[128];
                    if (!stands_alone(hs_kernels[n]) ||
                        !hs_kernel_can(hs_kernels[n], dims, radius, (enum hs_precision)p, reason,
                                       sizeof reason))
                        continue;
                    const struct trial t = {.kernel = hs_kernels[n],
                                            .precision = (enum hs_precision)p,
                                            .grid = {.dims = dims},
                                            .radius = radius};
                    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
                        trials_on(t, sizes[s]);
                    tried++;
                }
    assert_true(tried >= 2 * 18); /* reference and openmp at least */
}

/* An empty box is no work, and no crash. */
void test_kernels__empty_box_is_left_alone(void **state)
{
    (void)state;
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
