/*
 * spectral and exponential on the GPU, for every kind of wall, dims, radius and precision, against
 * sweeps of the GPU and against the same method on the CPU. Then the times of large grids
 * (HS_MODES_LARGE=N: the first N of 4, 3 by default; 16384^2 takes minutes of LAPACK).
 */
#include "core/clock.h"
#include "engine/modes/modes.h"
#include "engine/stability.h"
#include "gpu/gpu.h"
#include "modes_case.h"

#include <float.h>

extern const struct hs_kernel hs_kernel_cuda_basic, hs_kernel_cuda_vector_march,
    hs_kernel_cpu_wavefront;

static const int64_t grid_points[HS_AXES] = {70, 37, 19};

/* In double the modes are compared with the GPU's sweeps. In float some hundred sweeps round by as
 * much as the tolerance, so the modes are compared with the CPU's, which its own tests compare with
 * sweeps. */
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
    if (!(off <= modes_tolerance(&c, sweeps)))
        fail_msg("%dD, radius %d, %s, walls %s: after %lld sweeps off by %g", dims, radius,
                 hs_precision_name(precision), name, (long long)sweeps, off);
    free(jumped);
    free(expected);
    release_case(&c);
}

void test_cuda_modes__are_sweeps(void **state)
{
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
    const char *kind[HS_FACES];
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int walls = 0; wall_names(walls, kind); walls++)
            hold(1 + (radius + walls) % 3, radius, HS_DOUBLE, walls, 100000);
}

/* After a jump, the change of the last sweep and the order of the fields are those of the CPU. */
void test_cuda_modes__stops_and_exponential_are_those_of_the_cpu(void **state)
{
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
                assert_true(difference(&c, a, b) <= modes_tolerance(&c, 500));
                assert_near(here.change, there.change, 330.0 * modes_tolerance(&c, 500));
                free(a);
                free(b);
                release_case(&c);
            }
}

void test_cuda_modes__steady_is_that_of_the_cpu(void **state)
{
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

/* The field is fetched for the first time when the axes' modes are done. */
static double fetched_at;

static enum hs_status note_and_gather(struct hs_backend_state *state,
                                      const struct hs_slots axes[HS_AXES], double *array,
                                      struct hs_error *error)
{
    const struct hs_transforms *transforms = cuda_backend()->transforms;
    if (fetched_at == 0.0) {
        assert_ok(transforms->wait(state, error));
        fetched_at = hs_clock_now();
    }
    return transforms->gather(state, axes, array, error);
}

static void upload_noise(struct hs_backend_state *device, const struct hs_problem *problem)
{
    const int64_t *points = problem->grid.points, plane = points[HS_X] * points[HS_Y];
    double *slab = malloc((size_t)plane * sizeof *slab);
    assert_non_null(slab);
    for (int64_t n = 0; n < plane; n++)
        slab[n] = 300.0 * noise((uint64_t)n);
    for (int64_t k = 0; k < points[HS_Z]; k++) {
        const struct hs_box box = {{0, 0, k}, {points[HS_X], points[HS_Y], k + 1}};
        assert_ok(cuda_backend()->upload(device, &box, slab, &err));
    }
    free(slab);
}

enum { BASES, FORTH, STATE, ANOTHER, TIMES };

/* Times [s]: of the axes' modes and of the way forth, the least of three; then of two states, or
 * twice of the steady one. */
static enum hs_status time_states(struct hs_modes *modes, enum hs_mode_rule rule,
                                  double times[TIMES], struct hs_error *err)
{
    const struct hs_span span = hs_modes_sweep(modes->problem);
    enum hs_status st = HS_OK;
    double begun;
    times[BASES] = times[FORTH] = INFINITY;
    for (int turn = 0; turn < 3 && !st; turn++) {
        upload_noise(modes->state, modes->problem);
        fetched_at = 0.0;
        begun = hs_clock_now();
        st = hs_modes_begin(modes, &span, rule, 1e6, err);
        if (!st)
            st = modes->backend->transforms->wait(modes->state, err);
        times[BASES] = fmin(times[BASES], fetched_at - begun);
        times[FORTH] = fmin(times[FORTH], hs_clock_now() - fetched_at);
    }
    for (int n = 1; n < 3 && !st; n++) {
        const struct hs_mode_filter then = {.rule = rule, .amount = 1e6 * n};
        begun = hs_clock_now();
        st = hs_modes_put(modes, then, false, err);
        times[FORTH + n] = hs_clock_now() - begun;
    }
    return st;
}

static enum hs_status time_all(struct hs_modes *modes, struct hs_error *err)
{
    static const enum hs_mode_rule rules[] = {HS_MODE_STEPS, HS_MODE_STEPS, HS_MODE_STEADY};
    enum hs_status st = HS_OK;
    for (int n = 0; n < 3 && !st; n++) { /* the first loads the library's kernels */
        double times[TIMES];
        st = time_states(modes, rules[n], times, err);
        if (!st)
            printf("  %s: bases %.1f ms, check and transforms forth %.2f ms, a state %.2f ms, "
                   "another %.2f ms\n",
                   rules[n] == HS_MODE_STEADY ? "steady" : "10^6 and 2 10^6 sweeps",
                   1e3 * times[BASES], 1e3 * times[FORTH], 1e3 * times[STATE],
                   1e3 * times[ANOTHER]);
        fflush(stdout);
    }
    return st;
}

static void time_modes(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    struct hs_error err;
    struct hs_backend_state *device = NULL;
    struct hs_method_state *modes;
    char points[HS_POINTS_TEXT];
    struct hs_transforms noting = *cuda_backend()->transforms;
    struct hs_backend backend = *cuda_backend();
    noting.gather = note_and_gather;
    backend.transforms = &noting;
    err = (struct hs_error){0};
    hs_grid_name_points(&problem->grid, points, sizeof points);
    enum hs_status st = cuda_backend()->create(problem, kernel, &device, &err);
    if (st) {
        printf("%s: %s", points, err.text);
        hs_error_release(&err);
        return;
    }
    const double begin = hs_clock_now();
    st = hs_modes_create(sizeof(struct hs_modes), problem, &backend, device, &modes, &err);
    printf("%s double, %.2f GiB beside the fields; memory and cuBLAS %.1f ms\n", points,
           hs_modes_memory(problem, cuda_backend()) / 0x1p30, 1e3 * (hs_clock_now() - begin));
    if (!st)
        st = time_all((void *)modes, &err);
    if (st)
        printf("  %s", err.text);
    hs_modes_destroy(modes);
    cuda_backend()->destroy(device);
    hs_error_release(&err);
}

void test_cuda_modes__of_large_grids_take(void **state)
{
    static const struct {
        int64_t points[HS_AXES];
        int dims;
    } large[] = {{{512, 512, 512}, 3},
                 {{1024, 1024, 1024}, 3},
                 {{4096, 4096, 1}, 2},
                 {{16384, 16384, 1}, 2}};
    /* a forcing that is a sum of one vector per axis, with three axes or with two that are the same
     * from either side; and one that is not such a sum */
    static const char *const walls[][HS_FACES] = {
        {"robin", "robin", "robin", "robin", "robin", "robin"},
        {"robin", "robin", "reflective", "reflective", "robin", "neumann"},
        {"fixed", "robin", "reflective", "fixed", "fixed", "neumann"}};
    enum { SETS = sizeof walls / sizeof *walls };
    static const int64_t few[HS_AXES] = {9, 9, 9};
    const char *wanted = getenv("HS_MODES_LARGE");
    const int count = wanted ? atoi(wanted) : 3;
    for (int n = 0; n < SETS * count && n < SETS * (int)(sizeof large / sizeof *large); n++) {
        struct modes_case c =
            make_case(large[n / SETS].dims, 1, HS_DOUBLE, walls[n % SETS], few, true);
        memcpy(c.problem.grid.points, large[n / SETS].points, sizeof large[n / SETS].points);
        printf("walls");
        for (int face = 0; face < HS_FACES; face++)
            printf(" %s", walls[n % SETS][face]);
        printf(": ");
        const struct hs_kernel *kernel = &hs_kernel_cuda_vector_march; /* as a run */
        time_modes(&c.problem, kernel);
        release_case(&c);
    }
}
