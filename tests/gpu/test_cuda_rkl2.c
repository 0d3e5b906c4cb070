/*
 * rkl2 on the GPU: under every kind of wall, with walls and sources that change and that stay,
 * every kernel gives the bits of the CPU (bodies: test_cuda_bodies.c); then how long 512^3 in
 * double takes to t = 0.1 L^2/alpha, beside Euler's sweeps (HS_RKL2_POINTS=N: N^3 instead; 0:
 * none).
 */
#include "engine/stability.h"
#include "gpu/gpu.h"
#include "modes_case.h"

#include <time.h>

extern const struct hs_method hs_method_rkl2;

static const int64_t grid_points[HS_AXES] = {70, 37, 19};

/* ---- bits ------------------------------------------------------------------------------------ */

static int ran;

/* What has data gets ones that change in time, of one value and along the wall in turn. */
static void make_vary(struct modes_case *c, int n)
{
    struct hs_problem *problem = &c->problem;
    for (int face = 0; face < 2 * problem->grid.dims; face++)
        if (!problem->face[face].wrap && strcmp(problem->face[face].type, "fixed"))
            problem->face[face].data = make_value(problem, data_texts[1 + 2 * ((face + n) % 2)]);
    problem->source.field.value = make_value(problem, source_texts[2 + 2 * (n % 2)]);
}

static void hold_bits(const struct modes_case *c, const char *name)
{
    const double step = 30.0 * hs_stability_limit(&c->problem);
    const size_t bytes = (size_t)hs_grid_count(&c->problem.grid) * sizeof(double);
    struct hs_reduction due, here;
    double *expected = run_case(c, &hs_backend_cpu, &hs_kernel_cpu_openmp, &hs_method_rkl2, step, 5,
                                5, true, &due);
    for (int n = 0; hs_kernels[n]; n++) {
        char reason[512];
        const struct hs_kernel *kernel = hs_kernels[n];
        if (kernel->device != HS_CUDA || !kernel->sweep || !asked_for(kernel->name) ||
            !hs_kernel_suits(kernel, &c->problem, reason, sizeof reason))
            continue;
        double *out =
            run_case(c, cuda_backend(), kernel, &hs_method_rkl2, step, 5, 1 + n % 3, true, &here);
        if (memcmp(out, expected, bytes))
            fail_msg("%s: %s has other bits, off by %g", name, kernel->name,
                     difference(c, out, expected));
        assert_true(here.change == due.change);
        free(out);
        ran++;
    }
    free(expected);
}

void test_cuda_rkl2__has_the_bits_of_the_cpu(void **state)
{
    (void)state;
    const char *kind[HS_FACES], *walls;
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int precision = 0; precision < HS_PRECISIONS; precision++)
            for (int n = 0; (walls = wall_names(n, kind)); n++) {
                char name[128];
                const int dims = 1 + (radius + n) % 3;
                struct modes_case c =
                    make_case(dims, radius, (enum hs_precision)precision, kind, grid_points, true);
                snprintf(name, sizeof name, "%dD, radius %d, %s, walls %s", dims, radius,
                         hs_precision_name((enum hs_precision)precision), walls);
                hold_bits(&c, name);
                make_vary(&c, n);
                strcat(name, ", in time");
                hold_bits(&c, name);
                release_case(&c);
            }
    printf("%d cases agree\n", ran);
    assert_true(ran > 100);
}

/* ---- how long a large grid takes ------------------------------------------------------------- */

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A product of sines between cold walls, which each sweep multiplies by one number. */
struct decay {
    struct modes_case c;
    double rate; /* 1/s, of the grid's equations */
    double end;  /* s */
};

static struct decay make_decay(int64_t points)
{
    static const char *const walls[HS_FACES] = {"dirichlet", "dirichlet", "dirichlet",
                                                "dirichlet", "dirichlet", "dirichlet"};
    static const int64_t few[HS_AXES] = {5, 5, 5};
    struct decay out = {.c = make_case(3, 1, HS_DOUBLE, walls, few, false), .end = 0.1};
    struct hs_problem *problem = &out.c.problem;
    const double cells = (double)(points - 1), pi = acos(-1.0);
    out.rate = -12.0 * cells * cells * pow(sin(0.5 * pi / cells), 2.0);
    free(out.c.initial);
    out.c.initial = malloc((size_t)(points * points * points) * sizeof(double));
    assert_non_null(out.c.initial);
    for (int axis = 0; axis < HS_AXES; axis++) {
        problem->grid.points[axis] = points;
        problem->grid.spacing[axis] = 1.0 / cells;
    }
    for (int face = 0; face < HS_FACES; face++) {
        problem->face[face] = make_wall(
            "dirichlet", (struct hs_value){.constant = 0.0}, 3.0,
            (struct hs_boundary_spec){.conductivity = 1.0, .spacing = 1.0 / cells, .radius = 1});
    }
    double *line = malloc((size_t)points * sizeof *line);
    assert_non_null(line);
    for (int64_t i = 0; i < points; i++)
        line[i] = i == 0 || i == points - 1 ? 0.0 : sin(pi * (double)i / cells);
    for (int64_t n = 0; n < points * points * points; n++)
        ((double *)out.c.initial)[n] =
            line[n % points] * line[n / points % points] * line[n / (points * points)];
    free(line);
    return out;
}

/* `steps` of the method (NULL: sweeps) that make up `end` [s]: their time, and how far the middle
 * is off what the grid's equations say of it, in parts. */
static double time_steps(const struct decay *d, const struct hs_kernel *kernel,
                         const struct hs_method *method, double end, int64_t steps, double *off)
{
    const struct hs_problem *problem = &d->c.problem;
    const struct hs_box all = hs_grid_box(&problem->grid);
    const int64_t middle = problem->grid.points[HS_X] / 2, points = problem->grid.points[HS_X];
    const struct hs_box node = {{middle, middle, middle}, {middle + 1, middle + 1, middle + 1}};
    const double step = end / (double)steps;
    const double before = ((double *)d->c.initial)[middle * (1 + points * (1 + points))];
    struct hs_error err;
    struct hs_backend_state *state = NULL;
    struct hs_method_state *self = NULL;
    double after;
    hs_error_init(&err);
    must(cuda_backend()->create(problem, kernel, 0, 0, &state, &err), &err, kernel->name);
    must(cuda_backend()->upload(state, &all, d->c.initial, &err), &err, "upload");
    if (method)
        must(method->create(problem, cuda_backend(), state, &self, &err), &err, method->name);
    const struct hs_span span = {
        .count = steps, .step = step, .op = hs_problem_operator(problem, step)};
    const double begin = clock_now();
    if (method)
        must(method->advance(self, cuda_backend(), state, &span, &err), &err, method->name);
    else
        must(cuda_backend()->sweep(state, &span, &err), &err, "sweep");
    const double seconds = clock_now() - begin;
    must(cuda_backend()->download(state, &node, &after, &err), &err, "download");
    *off = fabs(after / before / exp(d->rate * end) - 1.0);
    if (method)
        method->destroy(self);
    cuda_backend()->destroy(state);
    hs_error_release(&err);
    return seconds;
}

void test_cuda_rkl2__of_a_large_grid_takes(void **state)
{
    (void)state;
    static const char *const names[] = {"vector_march", "bulk_march", "fused_march_3d"};
    const char *wanted = getenv("HS_RKL2_POINTS");
    const int64_t points = wanted ? atoi(wanted) : 512;
    if (points < 5)
        return;
    struct decay d = make_decay(points);
    const double limit = hs_stability_limit(&d.c.problem);
    d.c.problem.schedule.safety = 0.9;
    for (int64_t steps = 38; steps <= 40; steps++)
        for (int n = 0; n < 3; n++) {
            const struct hs_kernel *kernel;
            struct hs_error err;
            double off;
            hs_error_init(&err);
            must(hs_kernel_find(names[n], HS_CUDA, &kernel, &err), &err, names[n]);
            const int64_t stages =
                hs_method_rkl2.sweeps(&d.c.problem, limit, d.end / (double)steps);
            const double seconds = time_steps(&d, kernel, &hs_method_rkl2, d.end, steps, &off);
            printf("%lld^3 double, t = 0.1: rkl2 by %s, %lld steps of %lld sweeps: %.3f s, error "
                   "%.2e\n",
                   (long long)points, names[n], (long long)steps, (long long)stages, seconds, off);
            assert_true(off <= 1.1e-3);
            hs_error_release(&err);
        }
    struct hs_error err;
    const struct hs_kernel *fused;
    double off;
    hs_error_init(&err);
    must(hs_kernel_find("fused_march_3d", HS_CUDA, &fused, &err), &err, "fused_march_3d");
    const int64_t sweeps = (int64_t)ceil(0.1 * d.end / (0.9 * limit)); /* a tenth of the way */
    const double seconds = time_steps(&d, fused, NULL, 0.1 * d.end, sweeps, &off);
    printf(
        "%lld^3 double: a tenth of that by Euler and fused_march_3d, %lld sweeps: %.3f s, so %.2f "
        "s in all\n",
        (long long)points, (long long)sweeps, seconds, 10.0 * seconds);
    hs_error_release(&err);
    release_case(&d.c);
}
