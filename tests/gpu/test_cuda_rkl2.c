/*
 * rkl2 on the GPU: under every kind of wall, with walls and sources that change and that do not,
 * every kernel gives the bits of the CPU, whether it has a pass for stages or does a sweep and a
 * sum for each (bodies: test_cuda_bodies.c). Then the time that 512^3 takes to reach t = 0.1
 * L^2/alpha, compared with Euler's sweeps (HS_RKL2_POINTS=N: N^3 instead; 0: none).
 */
#include "core/clock.h"
#include "engine/stability.h"
#include "gpu/gpu.h"
#include "modes_case.h"

extern const struct hs_method hs_method_rkl2;

static const int64_t grid_points[HS_AXES] = {70, 67, 19};

/* ---- bits ------------------------------------------------------------------------------------ */

static int ran, by_passes;

/* Gives faces with data other data, which change in time, uniform and along the wall in turn. */
static void make_vary(struct modes_case *c, int n)
{
    struct hs_problem *problem = &c->problem;
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        if (!problem->face[face].wrap && strcmp(problem->face[face].type, "fixed"))
            problem->face[face].data = make_value(problem, data_texts[1 + 2 * ((face + n) % 2)]);
    problem->source.field.value = make_value(problem, source_texts[2 + 2 * (n % 2)]);
}

/* `due`: the CPU's result, by a sweep and a sum for each stage. */
static void compare(const struct modes_case *c, const struct hs_backend *backend,
                    const struct hs_kernel *kernel, double step, int64_t stretch, const double *due,
                    double change, const char *name)
{
    struct hs_reduction here;
    double *out = run_case(c, backend, kernel, &hs_method_rkl2, step, 5, stretch, true, &here);
    if (memcmp(out, due, (size_t)hs_grid_count(&c->problem.grid) * sizeof *out))
        fail_msg("%s: %s has other bits, off by %g", name, kernel->name, difference(c, out, due));
    assert_true(here.change == change);
    free(out);
    ran++;
}

static void hold_bits(const struct modes_case *c, const char *name)
{
    const double step = 30.0 * hs_stability_limit(&c->problem);
    struct without_passes cpu, cuda;
    struct hs_reduction due;
    double *expected = run_case(c, make_without_passes(&hs_backend_cpu, &cpu),
                                &hs_kernel_cpu_openmp, &hs_method_rkl2, step, 5, 5, true, &due);
    for (int n = 0; hs_kernels[n]; n++) {
        char reason[512];
        struct hs_kernel_plan plan;
        const struct hs_kernel *kernel = hs_kernels[n];
        if (kernel->device != HS_CUDA || !kernel->sweep || !asked_for(kernel->name) ||
            !hs_kernel_plan_here(kernel, &c->problem, &plan, reason, sizeof reason))
            continue;
        compare(c, cuda_backend(), kernel, step, 1 + n % 3, expected, due.change, name);
        if (plan.recursion > 0) {
            compare(c, make_without_passes(cuda_backend(), &cuda), kernel, step, 5, expected,
                    due.change, name);
            by_passes++;
        }
    }
    free(expected);
}

static void has_bits(struct modes_case *c, const char *name, int n)
{
    char varying[160];
    snprintf(varying, sizeof varying, "%s, in time", name);
    hold_bits(c, name);
    make_vary(c, n);
    hold_bits(c, varying);
}

void test_cuda_rkl2__has_the_bits_of_the_cpu(void **state)
{
    for_all_walls(grid_points, has_bits);
    printf("%d cases agree, %d of them by passes for stages\n", ran, by_passes);
    assert_true(ran > 100 && (by_passes > 100 || getenv("HS_KERNEL")));
}

/* ---- how long a large grid takes ------------------------------------------------------------- */

/* A product of sines between cold walls. Each sweep multiplies it by the same number. */
struct decay {
    struct modes_case c;
    double rate; /* 1/s, of the grid's equations */
    double end;  /* s */
};

static struct decay make_decay(int64_t points, enum hs_precision precision)
{
    static const char *const walls[HS_FACES] = {"dirichlet", "dirichlet", "dirichlet",
                                                "dirichlet", "dirichlet", "dirichlet"};
    static const int64_t few[HS_AXES] = {5, 5, 5};
    struct decay out = {.c = make_case(3, 1, precision, walls, few, false), .end = 0.1};
    struct hs_problem *problem = &out.c.problem;
    const double cells = (double)(points - 1), pi = acos(-1.0);
    out.rate = -12.0 * cells * cells * pow(sin(0.5 * pi / cells), 2.0);
    free(out.c.initial);
    out.c.initial = malloc((size_t)(points * points * points) * hs_precision_size(precision));
    assert_non_null(out.c.initial);
    for (int axis = 0; axis < HS_AXES; axis++) {
        problem->grid.points[axis] = points;
        problem->grid.spacing[axis] = 1.0 / cells;
    }
    for (int face = 0; face < HS_FACES; face++)
        set_wall(problem, face, "dirichlet", (struct hs_value){.constant = 0.0}, 3.0);
    double *line = malloc((size_t)points * sizeof *line);
    assert_non_null(line);
    for (int64_t i = 0; i < points; i++)
        line[i] = i == 0 || i == points - 1 ? 0.0 : sin(pi * (double)i / cells);
    for (int64_t n = 0; n < points * points * points; n++)
        hs_write(precision, out.c.initial, n,
                 line[n % points] * line[n / points % points] * line[n / (points * points)]);
    free(line);
    return out;
}

/* Takes `steps` of the method (NULL: sweeps) to `end` [s]. Returns their time; *off is the relative
 * error in the middle, against the grid's equations. */
static double time_steps(const struct decay *d, const struct hs_backend *backend,
                         const struct hs_kernel *kernel, const struct hs_method *method, double end,
                         int64_t steps, double *off)
{
    const struct hs_problem *problem = &d->c.problem;
    const struct hs_box all = hs_grid_box(&problem->grid);
    const int64_t middle = problem->grid.points[HS_X] / 2, points = problem->grid.points[HS_X];
    const struct hs_box node = {{middle, middle, middle}, {middle + 1, middle + 1, middle + 1}};
    const double step = end / (double)steps;
    const double before =
        hs_read(problem->precision, d->c.initial, middle * (1 + points * (1 + points)));
    struct hs_backend_state *state = NULL;
    struct hs_method_state *self = NULL;
    double value; /* or a float */
    assert_ok_of(kernel->name, backend->create(problem, kernel, &state, &err));
    assert_ok(backend->upload(state, &all, d->c.initial, &err));
    if (method)
        assert_ok_of(method->name, method->create(problem, backend, state, &self, &err));
    const struct hs_span span = {
        .count = steps, .step = step, .op = hs_problem_operator(problem, step)};
    const double begin = hs_clock_now();
    if (method)
        assert_ok_of(method->name, method->advance(self, backend, state, &span, &err));
    else
        assert_ok(backend->sweep(state, &span, &err));
    const double seconds = hs_clock_now() - begin;
    assert_ok(backend->download(state, &node, &value, &err));
    *off = fabs(hs_read(problem->precision, &value, 0) / before / exp(d->rate * end) - 1.0);
    if (method)
        method->destroy(self);
    backend->destroy(state);
    return seconds;
}

enum { TIMES = 5 };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints median, minimum and maximum of TIMES, after an uncounted one; the caller prints a name. */
static double say_time(const struct decay *d, const struct hs_backend *backend,
                       const struct hs_kernel *kernel, const struct hs_method *method, double end,
                       int64_t steps)
{
    double seconds[TIMES], off;
    time_steps(d, backend, kernel, method, end / (double)steps, 1, &off);
    for (int n = 0; n < TIMES; n++)
        seconds[n] = time_steps(d, backend, kernel, method, end, steps, &off);
    qsort(seconds, TIMES, sizeof *seconds, ascending);
    printf("%.3f s (%.3f to %.3f), error %.2e", seconds[TIMES / 2], seconds[0], seconds[TIMES - 1],
           off);
    assert_true(d->c.problem.precision == HS_FLOAT || off <= 1.1e-3);
    return seconds[TIMES / 2];
}

static const struct hs_kernel *kernel_named(const char *name)
{
    const struct hs_kernel *kernel;
    assert_ok_of(name, hs_kernel_find(name, HS_CUDA, &kernel, &err));
    return kernel;
}

/* For an error of 1e-3: 39 steps, on any grid. */
static void time_grid(int64_t points, enum hs_precision precision)
{
    enum { STEPS = 39 };
    static const char *const names[] = {"fused_march_3d", "vector_march", "bulk_march"};
    struct decay d = make_decay(points, precision);
    struct without_passes by;
    const struct hs_backend *apart = make_without_passes(cuda_backend(), &by);
    const double limit = hs_stability_limit(&d.c.problem);
    d.c.problem.schedule.safety = 0.9;
    const int64_t stages = hs_method_rkl2.sweeps(&d.c.problem, limit, d.end / STEPS);
    const int64_t sweeps = (int64_t)ceil(0.1 * d.end / (0.9 * limit));
    printf("%lld^3 %s, t = 0.1, a tenth of euler by fused_march_3d, %lld sweeps: ",
           (long long)points, hs_precision_name(precision), (long long)sweeps);
    const double euler = 10.0 * say_time(&d, cuda_backend(), kernel_named("fused_march_3d"), NULL,
                                         0.1 * d.end, sweeps);
    printf("\n");
    for (int n = 0; n < 3; n++)
        for (int passes = 0; passes < 2; passes++) {
            printf("rkl2 by %s, %s, %d steps of %lld sweeps: ", names[n],
                   passes ? "its passes" : "sweep and sum", STEPS, (long long)stages);
            const double seconds = say_time(&d, passes ? cuda_backend() : apart,
                                            kernel_named(names[n]), &hs_method_rkl2, d.end, STEPS);
            printf("; euler takes %.2f times as long\n", euler / seconds);
        }
    release_case(&d.c);
}

void test_cuda_rkl2__of_a_large_grid_takes(void **state)
{
    const char *wanted = getenv("HS_RKL2_POINTS");
    const int64_t points = wanted ? atoi(wanted) : 512;
    for (int precision = 0; precision < HS_PRECISIONS && points >= 5; precision++)
        time_grid(points, (enum hs_precision)precision);
}
