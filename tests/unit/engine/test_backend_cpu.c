/* The CPU backend except for its sweeps, which tests/kernels compares with a model. */
#include "engine/backends/cpu_parts.h"
#include "engine/registry.h"
#include "functions/fields.h"
#include "functions/program.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const struct hs_backend hs_backend_cpu;
extern const struct hs_kernel hs_kernel_cpu_reference;

enum { NX = 7, NY = 6, NZ = 5, COUNT = NX * NY * NZ };

struct fixture {
    struct hs_problem problem;
    struct hs_backend_state *state;
    double values[COUNT];
};

/* 3D, x walls reflective (edge weight 1/2), y clamp (1), z dirichlet with value (2 + t). */
static struct hs_instruction ramp[] = {{HS_OP_CONSTANT, 2.0}, {HS_OP_T, 0}, {HS_OP_ADD, 0}};

static void set_up(struct fixture *f, int threads)
{
    static const char *const names[] = {"reflective", "reflective", "clamp",
                                        "clamp",      "dirichlet",  "dirichlet"};
    const struct hs_value data = {.expression = {ramp, 3, HS_VARIES_T}};
    hs_problem_init(&f->problem);
    f->problem.solver.threads = threads;
    f->problem.grid =
        (struct hs_grid){.dims = 3, .points = {NX, NY, NZ}, .spacing = {0.5, 0.5, 0.5}};
    f->problem.material.diffusivity = 1.0;
    f->problem.material.density = 3.0;
    f->problem.material.specific_heat = 5.0;
    for (int face = 0; face < HS_FACES; face++)
        set_wall(&f->problem, face, names[face], data, 0.0);
    for (int i = 0; i < COUNT; i++)
        f->values[i] = 1.0 + 0.01 * ((i * 37) % COUNT);
    assert_ok(hs_backend_cpu.create(&f->problem, &hs_kernel_cpu_reference, &f->state, &err));
    const struct hs_box all = hs_grid_box(&f->problem.grid);
    assert_ok(hs_backend_cpu.upload(f->state, &all, f->values, &err));
}

static void tear_down(struct fixture *f)
{
    hs_backend_cpu.destroy(f->state);
    hs_problem_release(&f->problem);
}

static void sweep(struct fixture *f, int64_t count, bool keep_last)
{
    const struct hs_span span = {.count = count,
                                 .step = 0.01,
                                 .op = hs_problem_operator(&f->problem, 0.01),
                                 .keep_last = keep_last};
    assert_ok(hs_backend_cpu.sweep(f->state, &span, &err));
}

static struct hs_reduction reduce(struct fixture *f)
{
    struct hs_reduction out;
    assert_ok(hs_reduce(&hs_backend_cpu, f->state, &f->problem, &out, &err));
    return out;
}

static void download(struct fixture *f, double *out)
{
    const struct hs_box all = hs_grid_box(&f->problem.grid);
    assert_ok(hs_backend_cpu.download(f->state, &all, out, &err));
}

void test_backend_cpu__gives_back_what_was_uploaded(void **state)
{
    struct fixture f;
    set_up(&f, 2);
    double back[COUNT], part[2 * 3 * 4];
    download(&f, back);
    assert_memory_equal(back, f.values, sizeof back);
    const struct hs_box box = {{3, 2, 1}, {7, 5, 3}};
    assert_ok(hs_backend_cpu.download(f.state, &box, part, &err));
    for (int k = 0, n = 0; k < 2; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 4; i++, n++)
                assert_true(part[n] == f.values[((k + 1) * NY + j + 2) * NX + i + 3]);
    tear_down(&f);
}

void test_backend_cpu__uploads_a_box_alone(void **state)
{
    struct fixture f;
    set_up(&f, 1);
    const struct hs_box box = {{1, 2, 3}, {2, 3, 4}};
    const double value = 99.0;
    double back[COUNT];
    assert_ok(hs_backend_cpu.upload(f.state, &box, &value, &err));
    download(&f, back);
    for (int i = 0; i < COUNT; i++)
        assert_true(back[i] == (i == (3 * NY + 2) * NX + 1 ? 99.0 : f.values[i]));
    tear_down(&f);
}

/* Prescribed layers take the value at the end of the sweep; both walls, corners included. */
void test_backend_cpu__prescribed_layers_follow_the_time(void **state)
{
    struct fixture f;
    set_up(&f, 2);
    double back[COUNT];
    for (int n = 1; n <= 3; n++) {
        const struct hs_span span = {.count = 1,
                                     .first = n - 1,
                                     .start = 0.25,
                                     .step = 0.01,
                                     .op = hs_problem_operator(&f.problem, 0.01)};
        assert_ok(hs_backend_cpu.sweep(f.state, &span, &err));
        download(&f, back);
        for (int i = 0; i < NX * NY; i++) {
            assert_true(back[i] == 2.0 + (0.25 + n * 0.01));
            assert_true(back[(NZ - 1) * NX * NY + i] == 2.0 + (0.25 + n * 0.01));
        }
    }
    tear_down(&f);
}

/* Against sums over the nodes as core/problem.h defines them. */
void test_backend_cpu__reduces_as_the_problem_defines(void **state)
{
    struct fixture f;
    set_up(&f, 2);
    double before[COUNT], after[COUNT];
    sweep(&f, 3, false);
    assert_true(isnan(reduce(&f).change));
    download(&f, before);
    sweep(&f, 1, true);
    download(&f, after);
    double min = INFINITY, max = -INFINITY, sum = 0.0, volume = 0.0, change = 0.0;
    for (int i = 0; i < COUNT; i++) {
        const double v = hs_problem_node_volume(&f.problem, i % NX, i / NX % NY, i / NX / NY);
        min = fmin(min, after[i]);
        max = fmax(max, after[i]);
        change = fmax(change, fabs(after[i] - before[i]));
        sum += v * after[i];
        volume += v;
    }
    const struct hs_reduction r = reduce(&f);
    assert_true(r.min == min && r.max == max && r.change == change);
    assert_int_equal(r.not_finite, 0);
    /* 210 additions of numbers near 1 in another order: some 1e-14 */
    assert_near(r.mean, sum / volume, 1e-13);
    assert_near(r.heat, 15.0 * sum, 1e-11);
    tear_down(&f);
}

void test_backend_cpu__reduction_does_not_depend_on_threads(void **state)
{
    struct fixture f;
    struct hs_reduction one, other;
    set_up(&f, 1);
    sweep(&f, 2, true);
    one = reduce(&f);
    tear_down(&f);
    for (int threads = 2; threads <= 5; threads++) {
        set_up(&f, threads);
        sweep(&f, 2, true);
        other = reduce(&f);
        assert_true(one.mean == other.mean && one.heat == other.heat && one.change == other.change);
        tear_down(&f);
    }
}

/* NaN and Inf are counted, the first in memory order is named, and the rest is reduced without
 * them. */
void test_backend_cpu__finds_what_is_not_finite(void **state)
{
    struct fixture f;
    set_up(&f, 2);
    const struct {
        int64_t at[HS_AXES];
        double value;
    } bad[] = {{{6, 4, 3}, INFINITY}, {{2, 1, 3}, NAN}, {{5, 1, 3}, -INFINITY}};
    for (int n = 0; n < 3; n++) {
        struct hs_box box;
        for (int axis = 0; axis < HS_AXES; axis++) {
            box.lo[axis] = bad[n].at[axis];
            box.hi[axis] = bad[n].at[axis] + 1;
        }
        assert_ok(hs_backend_cpu.upload(f.state, &box, &bad[n].value, &err));
    }
    const struct hs_reduction r = reduce(&f);
    assert_int_equal(r.not_finite, 3);
    struct hs_partial swept = {.change = 2.0, .bad = 1};
    assert_true(isnan(hs_reduction_of(&f.problem, &swept, 1).change));
    swept.bad = 0;
    assert_true(hs_reduction_of(&f.problem, &swept, 1).change == 2.0);
    assert_int_equal(r.first_bad[HS_X], 2);
    assert_int_equal(r.first_bad[HS_Y], 1);
    assert_int_equal(r.first_bad[HS_Z], 3);
    double sum = 0.0, volume = 0.0;
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t at[HS_AXES] = {i % NX, i / NX % NY, i / NX / NY};
        bool left_out = false;
        for (int n = 0; n < 3; n++)
            left_out = left_out || memcmp(at, bad[n].at, sizeof at) == 0;
        const double v = left_out ? 0.0 : hs_problem_node_volume(&f.problem, at[0], at[1], at[2]);
        sum += v * f.values[i];
        volume += v;
    }
    assert_near(r.mean, sum / volume, 1e-13); /* as above */
    assert_true(isfinite(r.min) && isfinite(r.max));
    tear_down(&f);
}

void test_backend_cpu__the_field_before_the_last_sweep_stays(void **state)
{
    struct fixture f;
    set_up(&f, 2);
    double before[COUNT], kept[COUNT], now[COUNT], part[2 * 3 * 4];
    const struct hs_box all = hs_grid_box(&f.problem.grid), box = {{3, 2, 1}, {7, 5, 3}};
    sweep(&f, 4, false);
    download(&f, before);
    sweep(&f, 1, true);
    download(&f, now);
    assert_ok(hs_backend_cpu.download_before(f.state, &all, kept, &err));
    assert_memory_equal(kept, before, sizeof kept);
    assert_memory_not_equal(kept, now, sizeof kept);
    assert_ok(hs_backend_cpu.download_before(f.state, &box, part, &err));
    assert_true(part[5] == before[(1 * NY + 3) * NX + 4]);
    tear_down(&f);
}

void test_backend_cpu__what_is_stored_is_the_heat_of_the_last_change(void **state)
{
    struct fixture f;
    set_up(&f, 2);
    double before[COUNT], now[COUNT], stored = 0.0;
    download(&f, before);
    sweep(&f, 1, false);
    assert_true(isnan(reduce(&f).stored));
    download(&f, before);
    sweep(&f, 1, true);
    download(&f, now);
    for (int64_t i = 0; i < COUNT; i++)
        stored += 15.0 * hs_problem_node_volume(&f.problem, i % NX, i / NX % NY, i / NX / NY) *
                  (now[i] - before[i]);
    assert_true(fabs(stored) > 1e-3);
    assert_near(reduce(&f).stored, stored, 1e-13); /* 210 terms of 1e-2, in another order */
    tear_down(&f);
}

/* A backend with the expression as its source. */
static void set_up_source(struct fixture *f, const struct hs_instruction *code, int length,
                          unsigned varies)
{
    set_up(f, 2);
    hs_backend_cpu.destroy(f->state);
    f->problem.source.present = true;
    f->problem.source.rate = 0.7;
    f->problem.source.field.value.expression = (struct hs_expression){code, length, varies};
    assert_ok(hs_backend_cpu.create(&f->problem, &hs_kernel_cpu_reference, &f->state, &err));
}

/* Three sweeps add, to the last bit, the whole expression at each node. */
static void check_source(struct fixture *f)
{
    for (int step = 0; step < 3; step++) {
        const double t = 0.1 * step, dt = 0.01 * (step + 1);
        hs_cpu_source_update(f->state, dt, t);
        double expected[NX];
        for (int k = 0; k < NZ; k++)
            for (int j = 0; j < NY; j++) {
                hs_problem_source_row(&f->problem, dt, t, j, k, expected);
                assert_memory_equal((double *)f->state->source.field.origin +
                                        hs_layout_offset(&f->state->layout, 0, j, k),
                                    expected, sizeof expected);
            }
    }
}

/* sin(x*y*z)*exp(t)/3, a field once and a number for each sweep; (x + y*t)*z + t, a plane. */
void test_backend_cpu__sources_by_tables_keep_their_bits(void **state)
{
    static const struct hs_instruction product[] = {
        {HS_OP_X, 0},        {HS_OP_Y, 0},          {HS_OP_MULTIPLY, 0}, {HS_OP_Z, 0},
        {HS_OP_MULTIPLY, 0}, {HS_OP_SIN, 0},        {HS_OP_T, 0},        {HS_OP_EXP, 0},
        {HS_OP_MULTIPLY, 0}, {HS_OP_CONSTANT, 3.0}, {HS_OP_DIVIDE, 0}};
    static const struct hs_instruction moving[] = {
        {HS_OP_X, 0}, {HS_OP_Y, 0},        {HS_OP_T, 0}, {HS_OP_MULTIPLY, 0}, {HS_OP_ADD, 0},
        {HS_OP_Z, 0}, {HS_OP_MULTIPLY, 0}, {HS_OP_T, 0}, {HS_OP_ADD, 0}};
    struct fixture f;
    set_up_source(&f, product, 11, HS_VARIES_SPACE | HS_VARIES_T);
    assert_int_equal(f.state->source.tables.tabulation.tables, 2);
    assert_true(f.state->source.tables.stride[0][HS_Z] > 0);
    check_source(&f);
    tear_down(&f);
    set_up_source(&f, moving, 9, HS_VARIES_SPACE | HS_VARIES_T);
    assert_int_equal(f.state->source.tables.tabulation.tables, 2);
    assert_true(f.state->source.tables.stride[0][HS_Z] == 0);
    check_source(&f);
    tear_down(&f);
}

/* A ticket keeps the field as it was, however the sweeps go on, also the second time. */
void test_backend_cpu__a_ticket_keeps_its_moment(void **state)
{
    struct fixture f;
    set_up(&f, 2);
    double then[COUNT], later[COUNT];
    for (int round = 0; round < 2; round++) {
        struct hs_readback *readback = NULL;
        const void *values = NULL;
        download(&f, then);
        assert_ok(hs_backend_cpu.download_begin(f.state, &readback, &err));
        assert_non_null(readback);
        sweep(&f, 3, false);
        for (int k = 0; k < NZ; k += 2) {
            const struct hs_box box = {{0, 0, k}, {NX, NY, k + 2 < NZ ? k + 2 : NZ}};
            assert_ok(hs_backend_cpu.download_part(readback, &box, NULL, &values, &err));
            assert_memory_equal(values, then + k * NX * NY,
                                (size_t)hs_box_count(&box) * sizeof *then);
        }
        hs_backend_cpu.download_end(readback);
        download(&f, later);
        assert_memory_not_equal(later, then, sizeof then);
    }
    tear_down(&f);
}

void test_backend_cpu__says_what_memory_it_lacks(void **state)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid =
        (struct hs_grid){.dims = 3, .points = {2000000, 2000000, 2000000}, .spacing = {1, 1, 1}};
    struct hs_backend_state *out;
    struct hs_error err = {0};
    assert_int_equal(hs_backend_cpu.create(&problem, &hs_kernel_cpu_reference, &out, &err),
                     HS_DEVICE);
    assert_null(out);
    assert_non_null(strstr(err.text, "2000000 x 2000000 x 2000000"));
    assert_non_null(strstr(err.text, " free; take fewer "));
    assert_non_null(strstr(err.text, "; the largest grid of these proportions that fits is "));
    hs_error_release(&err);
    hs_backend_cpu.destroy(NULL);
}

void test_backend_cpu__describes_its_threads(void **state)
{
    struct fixture f;
    set_up(&f, 3);
    assert_int_equal(strncmp(hs_backend_cpu.describe(f.state), "3 threads, ", 11), 0);
    tear_down(&f);
    set_up(&f, 1);
    assert_int_equal(strncmp(hs_backend_cpu.describe(f.state), "1 thread, ", 10), 0);
    tear_down(&f);
}

/* The copy for the bench's ceiling is of the whole field. */
void test_backend_cpu__copy_moves_the_whole_field(void **state)
{
    struct hs_layout layout = hs_layout_make(
        &(struct hs_grid){.dims = 2, .points = {1001, 37, 1}, .spacing = {1, 1, 1}}, 2, 8);
    struct hs_cpu_field from, to;
    assert_true(hs_cpu_field_create(&layout, HS_DOUBLE, 2, 0, &from));
    assert_true(hs_cpu_field_create(&layout, HS_DOUBLE, 2, 64, &to));
    for (int64_t i = 0; i < layout.elements; i++)
        ((double *)from.memory)[i] = (double)i;
    hs_cpu_field_copy(&layout, HS_DOUBLE, 3, &from, &to);
    assert_memory_equal(from.memory, to.memory, (size_t)layout.elements * sizeof(double));
    hs_cpu_field_destroy(&from);
    hs_cpu_field_destroy(&to);
}

static struct hs_problem problem_of(int64_t points, int radius, enum hs_precision precision)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.precision = precision;
    problem.radius = radius;
    problem.grid.dims = 3;
    for (int axis = 0; axis < HS_AXES; axis++)
        problem.grid.points[axis] = points;
    return problem;
}

/* In the lowest twelve bits, no row that a sweep reads lies within 192 bytes of what it writes, in
 * either direction. Large planes differ by 64 bytes. */
void test_backend_cpu__reads_nothing_that_looks_like_what_is_written(void **state)
{
    static const int64_t points[] = {200, 256, 384, 509, 512};
    for (int n = 0; n < 30; n++) {
        const enum hs_precision precision = n % 2 ? HS_FLOAT : HS_DOUBLE;
        const int64_t size = (int64_t)hs_precision_size(precision);
        const struct hs_problem problem = problem_of(points[n / 2 % 5], 1 + n / 10, precision);
        const struct hs_layout layout = hs_cpu_layout(&problem);
        const int64_t shift = (int64_t)hs_cpu_shift(&layout, precision);
        assert_int_equal(layout.pitch[HS_Z] * size % 4096, 64);
        assert_int_equal(layout.origin * size % 64, 0);
        assert_true(layout.origin >= layout.ghost * (layout.pitch[HS_Y] + layout.pitch[HS_Z]));
        const int64_t last = hs_layout_offset(&layout, layout.points[HS_X], layout.points[HS_Y],
                                              layout.points[HS_Z] + layout.ghost - 1);
        assert_true(layout.origin + last + layout.ghost <= layout.elements);
        for (int64_t row = -layout.ghost; row <= layout.ghost; row++) {
            const int64_t read = row * layout.pitch[HS_Y] * size + 16 * 4096;
            assert_true((16 * 4096 + shift + read) % 4096 >= 192);
            assert_true((16 * 4096 - shift + read) % 4096 >= 192);
        }
    }
}

/* Small planes would grow by more than the padding is worth. */
void test_backend_cpu__leaves_small_planes_as_they_are(void **state)
{
    const struct hs_problem problem = problem_of(64, 1, HS_DOUBLE);
    const struct hs_layout layout = hs_cpu_layout(&problem);
    assert_int_equal(layout.pitch[HS_Z], layout.pitch[HS_Y] * 66);
}

/* wavefront keeps a ring for each of the threads asked for, openmp keeps nothing; both have as many
 * fields. */
void test_backend_cpu__counts_what_a_kernel_keeps(void **state)
{
    struct hs_problem problem = problem_of(128, 1, HS_DOUBLE);
    const struct hs_kernel *openmp = NULL, *wavefront = NULL;
    assert_int_equal(hs_kernel_find("openmp", HS_CPU, &openmp, NULL), HS_OK);
    assert_int_equal(hs_kernel_find("wavefront", HS_CPU, &wavefront, NULL), HS_OK);
    const double without = hs_backend_cpu.memory(&problem, openmp);
    const double with = hs_backend_cpu.memory(&problem, wavefront);
    assert_true(with - without > 256.0 * 1024.0);
    assert_true(without >= 2.0 * 130.0 * 130.0 * 130.0 * 8.0);
    double of_threads[2];
    for (int n = 0; n < 2; n++) {
        problem.solver.threads = 1 + 3 * n;
        of_threads[n] = hs_backend_cpu.memory(&problem, wavefront);
    }
    assert_true(of_threads[1] - of_threads[0] > 3.0 * 128.0 * 1024.0);
}

/* 23 sweeps of a random field; with `fewer`, each span has its own number of threads. */
static double *swept_by(const struct hs_kernel *kernel, bool fewer)
{
    enum { THREADS = 5 };
    struct hs_problem problem = problem_of(71, 1, HS_DOUBLE);
    problem.solver.threads = THREADS;
    problem.raw = true;
    for (int n = 0; n < 7; n++)
        problem.c[n] = 0.11 + 0.01 * n;
    const struct hs_box all = hs_grid_box(&problem.grid);
    const int64_t count = hs_box_count(&all);
    double *values = malloc((size_t)count * sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = 1.0 + 0.001 * (double)((i * 7919) % 1009);
    struct hs_backend_state *s = NULL;
    assert_ok(hs_backend_cpu.create(&problem, kernel, &s, &err));
    assert_ok(hs_backend_cpu.upload(s, &all, values, &err));
    struct hs_span span = {.step = 0.01, .op = hs_problem_operator(&problem, 0.01)};
    for (int n = 0; n < 8; n++) {
        span.count = 1 + n % 5;
        s->team.tried = fewer ? 1 + (3 * n) % THREADS : 0;
        assert_ok(hs_backend_cpu.sweep(s, &span, &err));
    }
    assert_ok(hs_backend_cpu.download(s, &all, values, &err));
    hs_backend_cpu.destroy(s);
    return values;
}

/* As on a machine that is busy with other work (engine/team.h). */
void test_backend_cpu__fewer_threads_for_a_while_change_no_bit(void **state)
{
    for (int n = 0; hs_kernels[n]; n++) {
        if (hs_kernels[n]->device != HS_CPU || !(hs_kernels[n]->features & HS_STENCIL))
            continue;
        double *all = swept_by(hs_kernels[n], false), *fewer = swept_by(hs_kernels[n], true);
        assert_true(isfinite(all[71 * 71 * 35]) && all[71 * 71 * 35] != 0.0);
        assert_memory_equal(all, fewer, 71 * 71 * 71 * sizeof *all);
        free(all);
        free(fewer);
    }
}
