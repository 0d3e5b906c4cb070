/* Methods by modes, against sweeps, against each other, and against known solutions. */
#include "engine/modes/modes.h"
#include "engine/stability.h"
#include "modes_case.h"

extern const struct hs_backend hs_backend_cpu;
extern const struct hs_kernel hs_kernel_cpu_wavefront;

static const struct hs_backend *const cpu = &hs_backend_cpu;
static const struct hs_kernel *const kernel = &hs_kernel_cpu_wavefront;

static const int64_t points[HS_AXES] = {13, 10, 9};

/* Halves of 35 and 34 nodes, and some 39 that are not halved: groups with slots to spare. */
static const int64_t long_points[HS_AXES] = {69, 39, 35};

static double step_of(const struct modes_case *c)
{
    return 0.9 * hs_stability_limit(&c->problem);
}

/* Float sweeps without their rounding: the float coefficients in double. */
static struct modes_case in_double(const struct modes_case *c, double step)
{
    struct modes_case out = *c;
    const struct hs_stencil stencil = hs_problem_stencil(&c->problem, step);
    const int64_t count = hs_grid_count(&c->problem.grid);
    out.problem.precision = HS_DOUBLE;
    out.problem.raw = true;
    out.problem.source.rate *= step;
    memcpy(out.problem.c, stencil.c, sizeof stencil.c);
    out.initial = malloc((size_t)count * sizeof(double));
    for (int64_t n = 0; n < count; n++)
        ((double *)out.initial)[n] = hs_read(c->problem.precision, c->initial, n);
    return out;
}

static double off_sweeps(const struct modes_case *c, int64_t sweeps)
{
    const double step = step_of(c);
    struct modes_case exact = *c;
    if (c->problem.precision == HS_FLOAT)
        exact = in_double(c, step);
    double *swept = run_case(&exact, cpu, kernel, NULL, step, sweeps, sweeps, false, NULL);
    double *jumped =
        run_case(c, cpu, kernel, &hs_method_spectral, step, sweeps, sweeps, false, NULL);
    const double off = difference(c, jumped, swept);
    if (c->problem.precision == HS_FLOAT)
        free(exact.initial);
    free(swept);
    free(jumped);
    return off;
}

static void hold_to_sweeps(const int64_t grid[HS_AXES], int dims, int radius,
                           enum hs_precision precision, int walls, int64_t sweeps)
{
    const char *kind[HS_FACES];
    const char *name = wall_names(walls, kind);
    struct modes_case c = make_case(dims, radius, precision, kind, grid, walls % 2);
    const double off = off_sweeps(&c, sweeps);
    if (!(off <= modes_tolerance(&c, sweeps)))
        fail_msg("%dD, radius %d, %s, walls %s: after %lld sweeps off by %g", dims, radius,
                 hs_precision_name(precision), name, (long long)sweeps, off);
    release_case(&c);
}

static void hold_all(int64_t sweeps)
{
    const char *kind[HS_FACES];
    for (int dims = 1; dims <= 3; dims++)
        for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
            for (int precision = 0; precision < HS_PRECISIONS; precision++)
                for (int walls = 0; wall_names(walls, kind); walls++)
                    hold_to_sweeps(points, dims, radius, (enum hs_precision)precision, walls,
                                   sweeps);
}

void test_modes__are_one_sweep_and_two(void **state)
{
    hold_all(1);
    hold_all(2);
}

void test_modes__are_a_thousand_sweeps(void **state)
{
    hold_all(1000);
}

/* Each kind with each radius, in one of the dimensions. */
void test_modes__are_a_hundred_thousand_sweeps(void **state)
{
    const char *kind[HS_FACES];
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int walls = 0; wall_names(walls, kind); walls++)
            hold_to_sweeps(points, 1 + (radius + walls) % 3, radius, HS_DOUBLE, walls, 100000);
}

void test_modes__with_slots_to_spare(void **state)
{
    const char *kind[HS_FACES];
    for (int precision = 0; precision < HS_PRECISIONS; precision++)
        for (int walls = 0; wall_names(walls, kind); walls++)
            hold_to_sweeps(long_points, 2 + walls % 2, 1 + walls % HS_MAX_RADIUS,
                           (enum hs_precision)precision, walls, walls % 2 ? 20 : 2000);
}

/* The share of the modes of which something may be left after so many sweeps. */
static double lasting_share(const struct modes_case *c, double step, int64_t sweeps)
{
    const struct hs_box all = hs_grid_box(&c->problem.grid);
    const struct hs_span span = {
        .count = 1, .step = step, .op = hs_problem_operator(&c->problem, step)};
    struct hs_backend_state *device = NULL;
    struct hs_method_state *self;
    double share = 1.0;
    assert_ok(cpu->create(&c->problem, kernel, &device, &err));
    assert_ok(cpu->upload(device, &all, c->initial, &err));
    assert_ok(hs_modes_create(sizeof(struct hs_modes), &c->problem, cpu, device, &self, &err));
    struct hs_modes *modes = (void *)self;
    assert_ok(hs_modes_begin(modes, &span, HS_MODE_STEPS, (double)sweeps, &err));
    for (int axis = 0; axis < HS_AXES; axis++)
        share *= (double)hs_lasting_all(&modes->lasting[axis]) / (double)modes->extent[axis];
    hs_modes_destroy(self);
    cpu->destroy(device);
    return share;
}

/* Without forcing, as between walls that convect to 0 K, the way back starts from those that last,
 * too. With the longest stable step the fastest modes last as long as the slowest. */
void test_modes__are_left_out_when_nothing_is_left_of_them(void **state)
{
    static const struct {
        double of_limit; /* the step */
        int64_t sweeps;
        double least, most; /* share */
    } known[] = {{0.9, 3, 1.0, 1.0},
                 {0.9, 900, 0.9, 1.0},
                 {0.9, 9000, 0.002, 0.2},
                 {0.9999, 2000, 1.0, 1.0}};
    static const char *const walls[][HS_FACES] = {
        {"robin", "robin", "robin", "robin", "robin", "robin"},
        {"reflective", "robin", "reflective", "robin", "periodic", "periodic"},
        {"fixed", "robin", "dirichlet", "reflective", "robin", "robin"}};
    for (size_t w = 0; w < sizeof walls / sizeof *walls; w++)
        for (size_t n = 0; n < sizeof known / sizeof *known; n++) {
            struct modes_case c = make_case(3, 1, HS_DOUBLE, walls[w], long_points, false);
            const double step = known[n].of_limit * hs_stability_limit(&c.problem);
            const int64_t sweeps = known[n].sweeps;
            for (int face = 0; face < HS_FACES && w < 2; face++)
                c.problem.face[face].data.constant = 0.0;
            const double share = lasting_share(&c, step, sweeps);
            double *swept = run_case(&c, cpu, kernel, NULL, step, sweeps, sweeps, false, NULL);
            double *jumped =
                run_case(&c, cpu, kernel, &hs_method_spectral, step, sweeps, sweeps, false, NULL);
            const double off = difference(&c, jumped, swept);
            if (share < known[n].least || share > known[n].most)
                fail_msg("walls %zu: %g of all modes last %lld sweeps", w, share,
                         (long long)sweeps);
            if (!(off <= modes_tolerance(&c, sweeps)))
                fail_msg("walls %zu: after %lld sweeps off by %g", w, (long long)sweeps, off);
            free(swept);
            free(jumped);
            release_case(&c);
        }
}

/* Only the sum of the coefficients changes the mean of a periodic field. It is off 1 by less than
 * an epsilon, a hundred thousand times. */
void test_modes__keep_a_mean_to_the_last_digit(void **state)
{
    static const char *const walls[HS_FACES] = {"periodic", "periodic", "periodic", "periodic"};
    struct modes_case c = make_case(2, 3, HS_DOUBLE, walls, points, false);
    const double step = step_of(&c);
    const struct hs_stencil stencil = hs_problem_stencil(&c.problem, step);
    long double off = -1.0L, before = 0.0L, after = 0.0L;
    for (int n = 0; n < hs_stencil_count(2, 3); n++)
        off += stencil.c[n];
    double *out = run_case(&c, cpu, kernel, &hs_method_spectral, step, 100000, 100000, false, NULL);
    for (int64_t n = 0; n < 130; n++) {
        before += ((double *)c.initial)[n];
        after += out[n];
    }
    /* sums of 13 and 10 products, back and forth */
    assert_near((double)(after / before), exp(1e5 * (double)off), 2e-15);
    free(out);
    release_case(&c);
}

/* Stops, and a step that changes at one, do not matter. The last sweep's change and heat are those
 * of a real sweep. */
void test_modes__stops_do_not_matter(void **state)
{
    struct modes_case c = make_case(3, 2, HS_DOUBLE, mixed_walls[0], points, true);
    const double step = step_of(&c);
    struct hs_reduction swept, jumped;
    double *a = run_case(&c, cpu, kernel, NULL, step, 777, 777, true, &swept);
    double *b = run_case(&c, cpu, kernel, &hs_method_spectral, step, 777, 100, true, &jumped);
    assert_true(difference(&c, b, a) <= modes_accuracy[HS_DOUBLE]);
    assert_near(jumped.change, swept.change, 1e-12 * 330.0);
    assert_near(jumped.stored, swept.stored, 1e-12 * 330.0);
    assert_near(jumped.heat, swept.heat, 1e-12 * fabs(swept.heat));
    free(a);
    free(b);
    release_case(&c);
}

/* A product of cosines between insulated walls, which is one mode of the grid's equations. */
void test_modes__exponential_is_exact_in_time(void **state)
{
    static const char *const walls[HS_FACES] = {"reflective", "reflective", "reflective",
                                                "reflective", "reflective", "reflective"};
    const double times[] = {1e-4, 0.05, 2.0};
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int t = 0; t < 3; t++) {
            struct modes_case c = make_case(3, radius, HS_DOUBLE, walls, points, false);
            double *field = c.initial, rate = 0.0;
            const int64_t count = hs_grid_count(&c.problem.grid);
            for (int64_t n = 0; n < count; n++)
                field[n] = cos(3.0 * M_PI * (double)(n % 13) / 12.0) *
                           cos(M_PI * (double)(n / 13 % 10) / 9.0) *
                           cos(2.0 * M_PI * (double)(n / 130) / 8.0);
            const double theta[] = {3.0 * M_PI / 12.0, M_PI / 9.0, 2.0 * M_PI / 8.0};
            for (int axis = 0; axis < 3; axis++)
                for (int m = 1; m <= radius; m++)
                    rate += hs_second_difference(radius, m) * 2.0 * (cos(m * theta[axis]) - 1.0) /
                            (c.problem.grid.spacing[axis] * c.problem.grid.spacing[axis]);
            struct hs_reduction reduction;
            double *out = run_case(&c, cpu, kernel, &hs_method_exponential, times[t] / 4.0, 4, 3,
                                   true, &reduction);
            double change = 0.0;
            for (int64_t n = 0; n < count; n++) {
                const double exact = field[n] * exp(rate * times[t]);
                assert_near(out[n], exact, 4e-15); /* products of 13, 10 and 9 terms, both ways */
                change = fmax(change, fabs(exact - field[n] * exp(0.75 * rate * times[t])));
            }
            assert_near(reduction.change, change, 1e-14);
            free(out);
            release_case(&c);
        }
}

/* The error of Euler's steps falls with their length; the limit is one step of `exponential`. */
void test_modes__exponential_is_the_limit_of_short_sweeps(void **state)
{
    const char *kind[HS_FACES];
    for (int walls = 0; wall_names(walls, kind); walls++) {
        struct modes_case c = make_case(2, 2, HS_DOUBLE, kind, points, true);
        const double time = 0.02;
        double off[2];
        double *limit = run_case(&c, cpu, kernel, &hs_method_exponential, time, 1, 1, false, NULL);
        for (int finer = 0; finer < 2; finer++) {
            const int64_t count = finer ? 80000 : 40000;
            double *swept = run_case(&c, cpu, kernel, &hs_method_spectral, time / (double)count,
                                     count, count, false, NULL);
            off[finer] = difference(&c, swept, limit);
            free(swept);
        }
        assert_near(off[0] / off[1], 2.0, 0.01); /* first order; the next is 1e-4 of it */
        free(limit);
        release_case(&c);
    }
}

/* With walls that hold something, from any initial field. */
void test_modes__steady_is_the_end_of_sweeps(void **state)
{
    const char *kind[HS_FACES];
    for (int walls = 0; wall_names(walls, kind); walls++)
        for (int radius = 1; radius <= HS_MAX_RADIUS; radius++) {
            const int dims = 1 + (walls + radius) % 3;
            struct modes_case c = make_case(dims, radius, HS_DOUBLE, kind, points, true);
            struct hs_solution solution;
            if (!holds_mean(&c)) {
                release_case(&c);
                continue;
            }
            double *steady = solve_case(&c, cpu, kernel, &hs_method_spectral, &solution);
            double *swept = run_case(&c, cpu, kernel, &hs_method_spectral, step_of(&c), 10000000,
                                     10000000, true, NULL);
            assert_true(solution.reached);
            assert_true(solution.residual <= 1e-12); /* roundings of 300 K over changes of 10 K */
            assert_true(difference(&c, steady, swept) <= modes_accuracy[HS_DOUBLE]);
            free(steady);
            free(swept);
            release_case(&c);
        }
}

/* 1D between walls at 290 and 297 K with a source: a parabola, exact at the nodes. */
void test_modes__steady_is_exact(void **state)
{
    static const char *const walls[HS_FACES] = {"dirichlet", "dirichlet"};
    struct modes_case c = make_case(1, 1, HS_DOUBLE, walls, points, true);
    struct hs_solution solution;
    double *steady = solve_case(&c, cpu, kernel, &hs_method_spectral, &solution);
    for (int i = 0; i < 13; i++) {
        const double x = 0.1 * i, length = 1.2;
        assert_near(steady[i], 290.0 + 7.0 * x / length + 12.5 * x * (length - x), 1e-12 * 300.0);
    }
    free(steady);
    release_case(&c);
}

/* Insulated: the mean stays, to rounding. */
void test_modes__steady_keeps_a_mean_that_nothing_holds(void **state)
{
    static const char *const walls[][HS_FACES] = {{"clamp", "clamp", "periodic", "periodic"},
                                                  {"reflective", "reflective", "clamp", "clamp"}};
    for (int w = 0; w < 2; w++) {
        struct modes_case c = make_case(2, 1, HS_DOUBLE, walls[w], points, false);
        struct hs_solution solution;
        double *steady = solve_case(&c, cpu, kernel, &hs_method_spectral, &solution);
        double sum = 0.0, weights = 0.0;
        for (int64_t n = 0; n < 130; n++) {
            const double weight = hs_problem_node_volume(&c.problem, n % 13, n / 13, 0);
            sum += weight * ((double *)c.initial)[n];
            weights += weight;
        }
        for (int64_t n = 0; n < 130; n++)
            assert_near(steady[n], sum / weights, 1e-12 * 300.0);
        assert_true(solution.reached);
        free(steady);
        release_case(&c);
    }
}

void test_modes__a_source_that_nothing_balances_has_no_steady_state(void **state)
{
    static const char *const walls[HS_FACES] = {"clamp", "clamp", "periodic", "periodic"};
    struct modes_case c = make_case(2, 1, HS_DOUBLE, walls, points, true);
    const struct hs_box all = hs_grid_box(&c.problem.grid);
    struct hs_backend_state *device = NULL;
    struct hs_method_state *self = NULL;
    assert_ok(cpu->create(&c.problem, kernel, &device, &err));
    assert_ok(cpu->upload(device, &all, c.initial, &err));
    assert_ok(hs_method_spectral.create(&c.problem, cpu, device, &self, &err));
    assert_fails(hs_method_spectral.check_solve(self, 1e-8, &err), HS_BAD_INPUT,
                 "source and walls change it by 25 K/s");
    hs_method_spectral.destroy(self);
    cpu->destroy(device);
    release_case(&c);
}

void test_modes__say_what_they_cannot_do(void **state)
{
    static const struct hs_instruction code[] = {{0, 1.0}};
    const struct hs_expression of_time = {code, 1, HS_VARIES_T};
    struct modes_case c = make_case(3, 1, HS_DOUBLE, mixed_walls[0], points, true);
    assert_ok(hs_method_spectral.suits(&c.problem, &err));
    c.problem.source.field.value.expression = of_time;
    assert_fails(hs_method_spectral.suits(&c.problem, &err), HS_BAD_INPUT,
                 "the source changes in time");
    c.problem.source.field.value.expression.code = NULL;
    c.problem.face[3].data.expression = of_time;
    assert_fails(hs_method_exponential.suits(&c.problem, &err), HS_BAD_INPUT,
                 "the wall y_max changes in time");
    c.problem.face[3].data.expression.code = NULL;
    c.problem.raw = true;
    assert_fails(hs_method_exponential.suits(&c.problem, &err), HS_BAD_INPUT, "raw coefficients");
    c.problem.c[0] = 0.4;
    c.problem.c[5] = 0.1; /* along z, to one side only */
    assert_fails(hs_method_spectral.suits(&c.problem, &err), HS_BAD_INPUT, "along z ");
    c.problem.grid.points[HS_X] = 40000;
    assert_fails(hs_method_spectral.suits(&c.problem, &err), HS_BAD_INPUT, "40000 nodes along x");
    release_case(&c);
}

void test_modes__memory_that_is_not_there_is_told_in_bytes(void **state)
{
    double *array;
    assert_fails(cpu->transforms->allocate(NULL, 1e15, &array, &err), HS_DEVICE,
                 "the modes need 8000000000000000 bytes");
    assert_null(array);
}

/* A kernel that does not do what the stencil says is detected when the modes begin. */
static enum hs_status faulty_sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                                   struct hs_error *err)
{
    struct hs_operator op = *sweep->op;
    struct hs_sweep wrong = *sweep;
    op.stencil.c[2] *= 1.0 + 1e-9;
    wrong.op = &op;
    return hs_kernel_cpu_wavefront.sweep(plan, &wrong, err);
}

void test_modes__a_sweep_that_is_not_theirs_is_noticed(void **state)
{
    struct modes_case c = make_case(3, 1, HS_DOUBLE, mixed_walls[0], points, true);
    const struct hs_box all = hs_grid_box(&c.problem.grid);
    struct hs_kernel faulty = hs_kernel_cpu_wavefront;
    struct hs_backend_state *device = NULL;
    struct hs_method_state *modes;
    faulty.sweep = faulty_sweep;
    assert_ok(cpu->create(&c.problem, &faulty, &device, &err));
    assert_ok(cpu->upload(device, &all, c.initial, &err));
    assert_ok(hs_modes_create(sizeof(struct hs_modes), &c.problem, cpu, device, &modes, &err));
    const struct hs_span span = hs_modes_sweep(&c.problem);
    assert_fails(hs_modes_begin((void *)modes, &span, HS_MODE_STEPS, 0.0, &err), HS_FAILED_CHECK,
                 "a sweep is not what its modes say");
    hs_modes_destroy(modes);
    cpu->destroy(device);
    release_case(&c);
}

/* The factors of a mode against powers and series in extended precision. */
void test_modes__factors_keep_their_digits(void **state)
{
    const double rates[] = {0.0,     -1e-17,  -1e-9, 1e-12, -1e-3,
                            -0.4999, -0.5001, -1.0,  -1.3,  -1.9999};
    const double counts[] = {1.0, 2.0, 7.0, 1000.0, 1e5};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
            long double kept = 1.0L, gained = 0.0L;
            for (int64_t s = 0; s < (int64_t)counts[n]; s++) {
                gained += kept;
                kept *= 1.0L + rates[r];
            }
            const struct hs_mode_factors f = hs_mode_steps(counts[n], rates[r]);
            /* 1e5 roundings of the sums above, of 5e-20 each, and a few of the function's; terms
             * that alternate add up to less */
            assert_near(f.kept, (double)kept, 1e-14);
            assert_near(f.gained, (double)gained, 1e-14 * fmax(1.0, (double)fabsl(gained)));
        }
    for (int side = 0; side < 2; side++) { /* 0.9^6644 is 1e-304: small, but not nothing */
        const struct hs_mode_factors f = hs_mode_steps(6644.0, side ? -1.9 : -0.1);
        /* the rounding of a logarithm of -700, twice */
        assert_near(f.kept / (double)powl(side ? 1.0L - 1.9 : 1.0L - 0.1, 6644.0L), 1.0, 4e-13);
        assert_true(hs_mode_steps(8000.0, side ? -1.9 : -0.1).kept == 0.0); /* 0.9^8000 is 1e-366 */
    }
    assert_near(hs_mode_time(3.0, -1e-9).gained, 3.0 - 4.5e-9, 1e-15);
    assert_true(hs_mode_time(3.0, 0.0).gained == 3.0);
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) /* a mean by Simpson's rule */
        for (double begin = 0.0; begin < 9.0; begin += 8.0) {
            enum { PARTS = 2000 };
            const double end = begin + 1.5;
            double kept = 0.0, gained = 0.0;
            for (int n = 0; n <= PARTS; n++) {
                const double weight = n == 0 || n == PARTS ? 1.0 : n % 2 ? 4.0 : 2.0;
                const struct hs_mode_factors f =
                    hs_mode_time(begin + (end - begin) * n / PARTS, rates[r]);
                kept += weight / (3.0 * PARTS) * f.kept;
                gained += weight / (3.0 * PARTS) * f.gained;
            }
            /* the rule's error is (3/2000)^4/2880, 2e-15; 2,000 roundings of sums */
            assert_near(hs_mode_mean(begin, end, rates[r]).kept, kept, 1e-13);
            assert_near(hs_mode_mean(begin, end, rates[r]).gained, gained, 1e-12);
        }
    assert_true(hs_mode_mean(1.0, 3.0, 0.0).gained == 2.0);
    assert_true(hs_mode_steady(0.0).kept == 1.0);
    assert_true(hs_mode_steady(0.0).gained == 0.0);
    assert_true(hs_mode_steady(-0.25).gained == 4.0);
}
