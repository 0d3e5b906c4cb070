/*
 * CPU kernels for bodies of many materials, against the definition in core/network.h as written out
 * in network_model.h: bit for bit, in both precisions, since all of them add in the same order.
 *
 * Random: grids, periodic axes, networks in all forms (layers, blocks, noise; sinks, held and
 * prescribed nodes), forcing and source fields that change from sweep to sweep, threads, sweeps per
 * call. What a kernel need not read is NaN, or the number of a row of NaNs. Scratch memory is kept
 * between calls with different numbers of sweeps and threads.
 *
 * The environment may set SEED, and MANY for the number of cases.
 */
#include "core/kernel.h"
#include "engine/registry.h"
#include "network_model.h"
#include "recursion.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct hs_kernel hs_kernel_cpu_reference, hs_kernel_cpu_openmp;
extern const struct hs_kernel hs_kernel_cpu_conduction_wavefront;

/* ---- instruction sets ------------------------------------------------------------------------ */

/* Kernels choose the best set when they run. The tests hide better sets in what the compiler's
 * library knows of the machine, so that each set is held to the same bits. */
enum { BEST, AVX2_AT_MOST, BASELINE, SETS };

#if defined(__x86_64__) && defined(__GNUC__)
extern struct {
    unsigned vendor, type, subtype, features;
} __cpu_model;
enum { HAS_AVX2 = 1 << 10, HAS_AVX512F = 1 << 15 };

static void take_set(int set)
{
    static unsigned all;
    all |= __cpu_model.features;
    __cpu_model.features = all & ~(set == BEST       ? 0u
                                   : set == BASELINE ? HAS_AVX512F | HAS_AVX2
                                                     : (unsigned)HAS_AVX512F);
}
#else
static void take_set(int set)
{
}
#endif

/* ---- a case ---------------------------------------------------------------------------------- */

static int64_t any(int64_t count)
{
    return network_any(count);
}

/* False if the kernel cannot do the case; `reason` says why. */
static bool make_plan(const struct hs_kernel *kernel, const struct network_case *c,
                      const struct network_fields *f, int threads, struct hs_kernel_plan *plan,
                      char *reason, size_t size)
{
    const struct hs_case of = {.layout = f->layout, .box = network_whole(c), .threads = threads};
    return network_plan(kernel, c, of, NULL, plan, reason, size);
}

static int passes; /* recursion passes of several sweeps that were tried */

/* A call of `steps` sweeps of the box, from f->values to f->values. */
static void call(const struct hs_kernel *kernel, const struct hs_kernel_plan *plan,
                 const struct network_model *m, struct network_fields *f, const struct hs_box *box,
                 int first, int steps, int threads, void *scratch)
{
    static const double zero[64] = {0.0};
    const size_t size = hs_precision_size(f->precision);
    f->walled = true;
    f->wrapped = !(kernel->features & HS_APPLIES_WALLS);
    network_fields_begin(m, f, first);
    const struct hs_operator op = {.network = &f->view};
    const void *source = network_origin(f, f->source, size);
    const struct hs_sweep sweep = {
        .precision = f->precision,
        .layout = f->layout,
        .box = *box,
        .op = &op,
        .in = network_origin(f, f->in, size),
        .out = network_origin(f, f->out, size),
        .steps = steps,
        .source = {.form = m->c->source ? HS_SOURCE_IS_FIELD : HS_SOURCE_IS_UNIFORM,
                   .value = zero,
                   .field = &source},
        .threads = threads,
        .may_copy = true,
        .scratch = scratch,
    };
    assert_ok(kernel->sweep(plan, &sweep, &err));
    for (int over = 0; over < 2 && steps == 1 && plan->recursion > 0; over++)
        hold_recursion(kernel, plan, sweep, f->out, over, network_name(m->c));
    if (steps == 1 && plan->recursion > 1)
        hold_pass(kernel, plan, sweep, plan->recursion, network_name(m->c)), passes++;
    const int64_t written = network_fields_end(m, f);
    if (written != hs_box_count(box))
        fail_msg("%s, %s: %lld values were written, not %lld", kernel->name, network_name(m->c),
                 (long long)written, (long long)hs_box_count(box));
}

static void compare(const struct hs_kernel *kernel, const struct network_model *m,
                    const struct network_fields *f, const struct hs_box *box, int threads, int set)
{
    char what[400];
    snprintf(what, sizeof what, "%s, %s, %d threads, set %d", kernel->name, network_name(m->c),
             threads, set);
    network_compare(m, f, box, what);
}

static void *zeros(size_t bytes)
{
    void *memory = network_lines(NETWORK_CPU_LINE, bytes + 1);
    return memset(memory, 0, bytes + 1);
}

/* All sweeps of the case in calls of up to `steps`, each with some of the threads. False: the
 * kernel cannot do the case. */
static bool run(const struct hs_kernel *kernel, const struct network_case *c,
                const struct network_model *before, const struct network_model *after, int steps,
                int threads, int set)
{
    char reason[256];
    struct network_fields f;
    struct hs_kernel_plan plan;
    const struct hs_box box = network_whole(c);
    network_fields_init(&f, before, NETWORK_CPU_LINE, 0);
    const bool can = make_plan(kernel, c, &f, threads, &plan, reason, sizeof reason);
    if (can) {
        void *scratch = zeros(plan.scratch);
        take_set(set);
        for (int done = 0; done < c->steps;) {
            const int most = steps < kernel->steps ? steps : kernel->steps;
            const int next = most < c->steps - done ? most : c->steps - done;
            call(kernel, &plan, before, &f, &box, done, next, 1 + (int)any(threads), scratch);
            done += next;
        }
        take_set(BEST);
        compare(kernel, after, &f, &box, threads, set);
        free(scratch);
    }
    network_fields_release(&f);
    return can;
}

/* Compares every kernel that can do the case with the model; the reference only on small grids,
 * since it is slow and has only one code path. Returns how many kernels were tried. */
static int run_all(const struct network_case *c, int steps, int threads, int set)
{
    const bool large = c->points[0] * c->points[1] * c->points[2] > 1 << 19;
    struct network_model before, after;
    const uint64_t seed = network_seed;
    network_model_init(&before, c);
    network_seed = seed;
    network_model_init(&after, c);
    for (int step = 0; step < c->steps; step++)
        network_model_sweep(&after, step);
    int tried = 0;
    for (int k = 0; hs_kernels[k]; k++)
        if (hs_kernels[k]->device == HS_CPU &&
            (!large || hs_kernels[k] != &hs_kernel_cpu_reference))
            tried += run(hs_kernels[k], c, &before, &after, steps, threads, set);
    network_model_release(&before);
    network_model_release(&after);
    return tried;
}

/* ---- at random ------------------------------------------------------------------------------- */

/* Layers along each axis, bricks, a few odd nodes, bricks with odd nodes, all odd, one material. */
static void any_body(struct network_case *c)
{
    static const struct {
        int64_t block[HS_AXES], noise;
    } bodies[] = {
        {{10000, 10000, 3}, 1 << 30},
        {{10000, 3, 10000}, 1 << 30},
        {{37, 10000, 10000}, 1 << 30},
        {{48, 5, 7}, 1 << 30},
        {{10000, 10000, 10000}, 300},
        {{90, 6, 9}, 900},
        {{1, 1, 1}, 1},
        {{10000, 10000, 10000}, 1 << 30},
    };
    const int64_t n = any(sizeof bodies / sizeof *bodies);
    memcpy(c->block, bodies[n].block, sizeof c->block);
    c->noise = bodies[n].noise;
    c->kinds = c->form == HS_NETWORK_BYTES ? 1 + any(30) : any(2) ? 1 + any(30) : 31 + any(300);
    c->sinks = any(3) == 0;
    c->forced = any(2);
    c->source = any(4) == 0;
    c->anew = c->source && any(2) == 0;
}

/* Rows of all lengths, also longer ones than the fused kernel keeps whole; few nodes in total. */
static void any_grid(struct network_case *c)
{
    static const int64_t most[HS_AXES][HS_AXES] = {{5000, 1, 1}, {160, 40, 1}, {70, 14, 12}};
    c->dims = any(2) ? 3 : 1 + (int)any(3);
    for (int axis = 0; axis < HS_AXES; axis++) {
        c->points[axis] = axis < c->dims ? 3 + any(most[c->dims - 1][axis]) : 1;
        c->wrap[axis] = axis < c->dims && any(4) == 0;
    }
    if (c->dims > 1 && any(10) == 0) {
        c->points[HS_X] = 400 + any(900);
        for (int axis = HS_Y; axis < c->dims; axis++)
            c->points[axis] = 3 + any(6);
    }
    if (c->dims == 3 && any(16) == 0) { /* several tiles */
        c->points[HS_X] = 3 + any(20);
        c->points[HS_Y] = 60 + any(150);
        c->points[HS_Z] = 3 + any(12);
    }
    c->padding = any(2) * 64 / (int64_t)hs_precision_size(c->precision) * any(9);
}

/* Half of the calls have four sweeps, for which there is special code in 3D. */
void test_conduction__all_kernels_give_the_bits_of_the_definition(void **state)
{
    const char *first = getenv("SEED"), *many = getenv("MANY");
    const int count = many ? atoi(many) : 1200;
    int tried = 0;
    for (int n = 0; n < count; n++) {
        network_seed = 7919 * (uint64_t)(first ? atoi(first) : 1) + 104729 * (uint64_t)n;
        struct network_case c = {.precision = (enum hs_precision)any(2),
                                 .form = (enum hs_network_form)any(3)};
        any_grid(&c);
        any_body(&c);
        const int steps = any(2) ? 4 : 1 + (int)any(8);
        c.steps = 1 + (int)any(2 * steps);
        /* as backends call them: a source field is valid at one time only */
        tried += run_all(&c, c.anew ? 1 : steps, 1 + (int)any(4), n % SETS);
    }
    /* reference and openmp do all cases, the fused kernel does palettes in 2D and 3D */
    assert_true(tried >= 2 * count + (many ? 0 : count / 3));
}

/* ---- what is not met at random --------------------------------------------------------------- */

/* Fields larger than a cache, whose rows are stored past it, and 1D rows that are cut. */
void test_conduction__nor_does_size_matter(void **state)
{
    static const int64_t large[HS_PRECISIONS][HS_AXES][HS_AXES] = {
        [HS_FLOAT] = {{1430007, 1, 1}, {4567, 321, 1}, {149, 131, 113}},
        [HS_DOUBLE] = {{720003, 1, 1}, {500, 1453, 1}, {149, 131, 57}},
    };
    for (int p = 0; p < HS_PRECISIONS; p++)
        for (int dims = 1; dims <= HS_AXES; dims++) {
            struct network_case c = {.dims = dims,
                                     .precision = (enum hs_precision)p,
                                     .form = (enum hs_network_form)((p + dims) % 2),
                                     .steps = dims == 3 ? 4 : 2,
                                     .source = dims != 3,
                                     .kinds = 9,
                                     .block = {60, 20, 25},
                                     .noise = 5000,
                                     .forced = true};
            memcpy(c.points, large[p][dims - 1], sizeof c.points);
            c.wrap[HS_Y] = dims == 3;
            assert_int_equal(run_all(&c, 4, 2, (p + dims) % SETS), dims == 1 ? 1 : 2);
        }
}

/* Slabs of any planes and rows, and for the reference any box; nothing is written outside. */
void test_conduction__boxes_are_kept_to(void **state)
{
    const struct hs_kernel *const kernels[] = {&hs_kernel_cpu_reference, &hs_kernel_cpu_openmp};
    for (int n = 0; n < 120; n++) {
        network_seed = 31 * (uint64_t)n + 5;
        struct network_case c = {.precision = (enum hs_precision)(n % 2),
                                 .form = (enum hs_network_form)(n / 2 % 3),
                                 .steps = 1};
        any_grid(&c);
        any_body(&c);
        for (int k = 0; k < 2; k++) {
            struct hs_box box = network_whole(&c);
            for (int axis = k == 0 ? HS_X : HS_Y; axis < c.dims; axis++) {
                box.lo[axis] = any(c.points[axis]);
                box.hi[axis] = box.lo[axis] + any(c.points[axis] - box.lo[axis] + 1);
            }
            struct network_model m;
            struct network_fields f;
            network_model_init(&m, &c);
            network_fields_init(&f, &m, NETWORK_CPU_LINE, 0);
            const int threads = 1 + (int)any(4);
            struct hs_kernel_plan plan;
            char reason[256];
            assert_true(make_plan(kernels[k], &c, &f, threads, &plan, reason, sizeof reason));
            call(kernels[k], &plan, &m, &f, &box, 0, 1, threads, NULL);
            network_model_sweep(&m, 0);
            compare(kernels[k], &m, &f, &box, threads, BEST);
            network_fields_release(&f);
            network_model_release(&m);
        }
    }
    assert_true(passes > 10);
}

/* The fused kernel keeps rows that wrap whole. */
void test_conduction__long_rows_that_wrap_are_refused_by_name(void **state)
{
    struct network_case c = {.dims = 2,
                             .precision = HS_DOUBLE,
                             .points = {512, 5, 1},
                             .wrap = {true},
                             .kinds = 1,
                             .block = {1, 1, 1},
                             .noise = 1,
                             .steps = 1};
    for (int longer = 0; longer < 2; longer++) {
        char reason[256];
        struct network_model m;
        struct network_fields f;
        struct hs_kernel_plan plan;
        c.points[HS_X] += longer;
        network_model_init(&m, &c);
        network_fields_init(&f, &m, NETWORK_CPU_LINE, 0);
        assert_int_equal(
            make_plan(&hs_kernel_cpu_conduction_wavefront, &c, &f, 2, &plan, reason, sizeof reason),
            !longer);
        if (longer)
            assert_non_null(strstr(reason, "periodic axis x may have 512 nodes at most in double"));
        network_fields_release(&f);
        network_model_release(&m);
    }
}

/* Otherwise the sets above could all be the same one. */
void test_conduction__every_instruction_set_was_tried(void **state)
{
#if defined(__x86_64__) && defined(__GNUC__)
    const struct conduction_functions *hs_conduction_functions(enum hs_precision precision);
    const struct conduction_functions *of[SETS];
    for (int set = 0; set < SETS; set++) {
        take_set(set);
        of[set] = hs_conduction_functions(HS_DOUBLE);
    }
    take_set(BEST);
    if (__cpu_model.features & HAS_AVX512F)
        assert_ptr_not_equal(of[BEST], of[AVX2_AT_MOST]);
    if (__cpu_model.features & HAS_AVX2)
        assert_ptr_not_equal(of[AVX2_AT_MOST], of[BASELINE]);
#else
    skip();
#endif
}
