/*
 * spectral and exponential on the GPU: every kind of wall, dims, radius and precision against
 * sweeps of the GPU, and against the same method on the CPU; then how long large grids take
 * (HS_MODES_LARGE=0: without these).
 */
#include "engine/modes.h"
#include "engine/stability.h"
#include "gpu/gpu.h"
#include "modes_case.h"

#include <float.h>
#include <time.h>

extern const struct hs_kernel hs_kernel_cuda_basic, hs_kernel_cpu_wavefront;

static const int64_t grid_points[HS_AXES] = {70, 37, 19};

/* As in tests/unit/engine/test_modes.c, which says why. */
static double tolerance_of(const struct modes_case *c, int64_t sweeps)
{
    if (c->problem.precision == HS_FLOAT)
        return 1e-6;
    return holds_mean(c) ? 1e-11 : fmax(1e-11, DBL_EPSILON * (double)sweeps);
}

/* In double the sweeps of the GPU are what the modes are held to; in float, whose sweeps round as
 * much as that in some hundred, the modes of the CPU, which its own tests hold to sweeps. */
static void hold(int dims, int radius, enum hs_precision precision, int walls, int64_t sweeps)
{
    const char *kind[HS_FACES];
    const char *name = wall_names(walls, kind);
    struct modes_case c = make_case(dims, radius, precision, kind, grid_points, walls % 2);
    const double step = 0.9 * hs_stability_limit(&c.problem);
    double *jumped = run_case(&c, cuda_backend(), &hs_kernel_cuda_basic, &hs_method_spectral, step,
                              sweeps, sweeps, false, NULL);
    double *expected = precision == HS_DOUBLE
                           ? run_case(&c, cuda_backend(), &hs_kernel_cuda_basic, NULL, step, sweeps,
                                      sweeps, false, NULL)
                           : run_case(&c, &hs_backend_cpu, &hs_kernel_cpu_wavefront,
                                      &hs_method_spectral, step, sweeps, sweeps, false, NULL);
    const double off = difference(&c, jumped, expected);
    if (!(off <= tolerance_of(&c, sweeps)))
        fail_msg("%dD, radius %d, %s, walls %s: after %lld sweeps off by %g", dims, radius,
                 hs_precision_name(precision), name, (long long)sweeps, off);
    free(jumped);
    free(expected);
    release_case(&c);
}

void test_cuda_modes__are_sweeps(void **state)
{
    (void)state;
    static const int64_t sweeps[] = {1, 2, 1000};
    const char *kind[HS_FACES];
    int cases = 0;
    for (int n = 0; n < 3; n++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
                for (int precision = 0; precision < HS_PRECISIONS; precision++)
                    for (int walls = 0; wall_names(walls, kind); walls++, cases++)
                        hold(dims, radius, (enum hs_precision)precision, walls, sweeps[n]);
    printf("%d cases of 1, 2 and 1000 sweeps agree\n", cases);
}

void test_cuda_modes__are_a_hundred_thousand_sweeps(void **state)
{
    (void)state;
    const char *kind[HS_FACES];
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int walls = 0; wall_names(walls, kind); walls++)
            hold(1 + (radius + walls) % 3, radius, HS_DOUBLE, walls, 100000);
}

/* What is left of a sweep after a jump: its change, and the fields' order, are those of the CPU. */
void test_cuda_modes__stops_and_exponential_are_those_of_the_cpu(void **state)
{
    (void)state;
    static const struct hs_method *const methods[] = {&hs_method_spectral, &hs_method_exponential};
    const char *kind[HS_FACES];
    for (int m = 0; m < 2; m++)
        for (int precision = 0; precision < HS_PRECISIONS; precision++)
            for (int walls = 0; wall_names(walls, kind); walls++) {
                struct modes_case c =
                    make_case(3, 2, (enum hs_precision)precision, kind, grid_points, true);
                const double step = 0.9 * hs_stability_limit(&c.problem);
                struct hs_reduction here, there;
                double *a = run_case(&c, cuda_backend(), &hs_kernel_cuda_basic, methods[m], step,
                                     500, 130, true, &here);
                double *b = run_case(&c, &hs_backend_cpu, &hs_kernel_cpu_wavefront, methods[m],
                                     step, 500, 130, true, &there);
                assert_true(difference(&c, a, b) <= tolerance_of(&c, 500));
                assert_near(here.change, there.change, 330.0 * tolerance_of(&c, 500));
                free(a);
                free(b);
                release_case(&c);
            }
}

void test_cuda_modes__steady_is_that_of_the_cpu(void **state)
{
    (void)state;
    const char *kind[HS_FACES];
    for (int walls = 0; wall_names(walls, kind); walls++)
        for (int radius = 1; radius <= HS_MAX_RADIUS; radius++) {
            struct modes_case c =
                make_case(1 + (walls + radius) % 3, radius, HS_DOUBLE, kind, grid_points, true);
            struct hs_solution solution, there;
            if (!holds_mean(&c)) {
                release_case(&c);
                continue;
            }
            double *a = solve_case(&c, cuda_backend(), &hs_kernel_cuda_basic, &hs_method_spectral,
                                   &solution);
            double *b = solve_case(&c, &hs_backend_cpu, &hs_kernel_cpu_wavefront,
                                   &hs_method_spectral, &there);
            assert_true(solution.reached);
            assert_true(difference(&c, a, b) <= 1e-11);
            free(a);
            free(b);
            release_case(&c);
        }
}

/* ---- how long large grids take --------------------------------------------------------------- */

static double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of hs_modes_begin, then of a state after 10^6 sweeps, of another, and of the steady state [s]. */
static void time_modes(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    struct hs_error err;
    struct hs_backend_state *device = NULL;
    struct hs_modes modes;
    char points[HS_POINTS_TEXT];
    hs_error_init(&err);
    hs_grid_name_points(&problem->grid, points, sizeof points);
    if (cuda_backend()->create(problem, kernel, 0, 0, &device, &err)) {
        printf("%s: %s", points, err.text);
        hs_error_release(&err);
        return;
    }
    const int64_t plane = problem->grid.points[HS_X] * problem->grid.points[HS_Y];
    double *slab = malloc((size_t)plane * sizeof *slab);
    assert_non_null(slab);
    for (int64_t n = 0; n < plane; n++)
        slab[n] = noise((uint64_t)n);
    for (int64_t k = 0; k < problem->grid.points[HS_Z]; k++) {
        const struct hs_box box = {{0, 0, k},
                                   {problem->grid.points[HS_X], problem->grid.points[HS_Y], k + 1}};
        must(cuda_backend()->upload(device, &box, slab, &err), &err, "upload");
    }
    free(slab);
    double at[7];
    at[0] = clock_now();
    enum hs_status st = hs_modes_init(&modes, problem, cuda_backend(), device, &err);
    at[1] = clock_now();
    const struct hs_span span = hs_modes_sweep(problem);
    if (!st)
        st = hs_modes_begin(&modes, &span, &err);
    if (!st)
        st = cuda_backend()->transforms->wait(device, &err);
    at[2] = clock_now();
    if (!st)
        st = hs_modes_begin(&modes, &span, &err); /* with the library's kernels loaded */
    if (!st)
        st = cuda_backend()->transforms->wait(device, &err);
    at[3] = clock_now();
    for (int n = 0; n < 2 && !st; n++) {
        st = hs_modes_put(&modes, HS_MODE_STEPS, 1e6 * (n + 1), false, &err);
        at[4 + n] = clock_now();
    }
    if (!st)
        st = hs_modes_put(&modes, HS_MODE_STEADY, hs_modes_still(&modes), false, &err);
    at[6] = clock_now();
    if (st)
        printf("%s: %s", points, err.text);
    else
        printf("%s double: memory and cuBLAS %.1f ms; bases, check and transforms forth %.1f ms, "
               "again %.1f ms; a state %.2f ms, another %.2f ms, the steady one %.2f ms\n",
               points, 1e3 * (at[1] - at[0]), 1e3 * (at[2] - at[1]), 1e3 * (at[3] - at[2]),
               1e3 * (at[4] - at[3]), 1e3 * (at[5] - at[4]), 1e3 * (at[6] - at[5]));
    fflush(stdout);
    hs_modes_release(&modes);
    cuda_backend()->destroy(device);
    hs_error_release(&err);
}

/* The transforms forth of a field alone: what a run's first state takes besides the bases. */
static void time_forth(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    struct hs_error err;
    struct hs_backend_state *device = NULL;
    struct hs_modes modes;
    char points[HS_POINTS_TEXT];
    hs_error_init(&err);
    hs_grid_name_points(&problem->grid, points, sizeof points);
    enum hs_status st = cuda_backend()->create(problem, kernel, 0, 0, &device, &err);
    if (!st)
        st = hs_modes_init(&modes, problem, cuda_backend(), device, &err);
    const struct hs_transforms *transforms = cuda_backend()->transforms;
    double seconds = 0.0;
    for (int turn = 0; turn < 2 && !st; turn++) { /* the first warms up */
        double *in = modes.work[0], *out = modes.work[1];
        const double begin = clock_now();
        st = transforms->gather(device, in, &err);
        for (int axis = 0; axis < problem->grid.dims && !st; axis++) {
            st = transforms->product(device, axis, modes.extent, modes.extent[axis],
                                     modes.inverse[axis], in, out, &err);
            double *other = in;
            in = out, out = other;
        }
        if (!st)
            st = transforms->wait(device, &err);
        seconds = clock_now() - begin;
    }
    if (st)
        printf("%s: %s", points, err.text);
    else
        printf("%s double: a field forth %.2f ms\n", points, 1e3 * seconds);
    hs_modes_release(&modes);
    cuda_backend()->destroy(device);
    hs_error_release(&err);
}

void test_cuda_modes__of_large_grids_take(void **state)
{
    (void)state;
    static const struct {
        int64_t points[HS_AXES];
        int dims;
    } large[] = {{{512, 512, 512}, 3},
                 {{1024, 1024, 1024}, 3},
                 {{4096, 4096, 1}, 2},
                 {{16384, 16384, 1}, 2}};
    static const char *const walls[HS_FACES] = {"dirichlet", "robin",     "reflective",
                                                "dirichlet", "dirichlet", "neumann"};
    static const int64_t few[HS_AXES] = {9, 9, 9};
    const char *wanted = getenv("HS_MODES_LARGE");
    const int count = wanted ? atoi(wanted) : 3;
    for (int n = 0; n < count && n < (int)(sizeof large / sizeof *large); n++) {
        struct modes_case c = make_case(large[n].dims, 1, HS_DOUBLE, walls, few, true);
        memcpy(c.problem.grid.points, large[n].points, sizeof large[n].points);
        const struct hs_kernel *kernel = &hs_kernel_cuda_basic;
        time_modes(&c.problem, kernel);
        time_forth(&c.problem, kernel);
        release_case(&c);
    }
}
