/*
 * multigrid on the GPU against the host, steady and in implicit steps: walls of every kind in one
 * to three dimensions, odd and thin grids and grids whose rows are padded by up to 15 nodes, in
 * double and float; random bodies in every form of network; stretched grids. Then the iterations
 * for layers and random blocks, and the time for 512^3 (HS_MULTIGRID_POINTS=N: N^3 instead; 0:
 * none).
 */
#include "core/clock.h"
#include "engine/multigrid/conjugate_gradients.h"
#include "gpu/gpu.h"
#include "modes_case.h"

extern const struct hs_method hs_method_multigrid, hs_method_implicit;
extern const struct hs_kernel hs_kernel_cuda_basic, hs_kernel_cuda_conduction_basic,
    hs_kernel_cpu_wavefront;

/* ---- walls ----------------------------------------------------------------------------------- */

/* A relative residual of 1e-9 leaves about as much times the condition number, some 1e3. */
static double tolerance_of(const struct modes_case *c)
{
    return c->problem.precision == HS_FLOAT ? 1e-6 : 1e-7;
}

void test_cuda_multigrid__is_that_of_the_host_between_all_walls(void **state)
{
    static const int64_t sizes[][HS_AXES] = {{70, 37, 19}, {64, 64, 64}, {33, 65, 7}, {5, 200, 4},
                                             {129, 3, 48}, {257, 21, 9}, {514, 8, 12}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const char *kind[HS_FACES], *name;
    int cases = 0;
    for (int size = 0; size < SIZES; size++)
        for (int dims = 1; dims <= 3; dims++)
            for (int precision = 0; precision < HS_PRECISIONS; precision++)
                for (int walls = 0; (name = wall_names(walls, kind)); walls++) {
                    struct modes_case c = make_case(dims, 1, (enum hs_precision)precision, kind,
                                                    sizes[size], walls % 2);
                    struct hs_solution here, there;
                    if (!holds_mean(&c))
                        c.problem.source.present = false;
                    if (strcmp(name, "neumann") == 0) { /* the inflow does not balance */
                        release_case(&c);
                        continue;
                    }
                    double *a = solve_case(&c, cuda_backend(), &hs_kernel_cuda_basic,
                                           &hs_method_multigrid, &there);
                    double *b = solve_case(&c, &hs_backend_cpu, &hs_kernel_cpu_wavefront,
                                           &hs_method_multigrid, &here);
                    const double off = difference(&c, a, b);
                    if (!here.reached || !there.reached || !(off <= tolerance_of(&c)) ||
                        abs(here.iterations - there.iterations) > 3)
                        fail_msg("%dD, size %d, %s, walls %s: %d iterations to %g, on the host %d "
                                 "to %g; off by %g",
                                 dims, size, hs_precision_name((enum hs_precision)precision), name,
                                 there.iterations, there.residual, here.iterations, here.residual,
                                 off);
                    free(a);
                    free(b);
                    release_case(&c);
                    cases++;
                }
    printf("%d cases agree\n", cases);
    assert_true(cases > 200);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Three steps, in two stretches. On both sides each is solved to 1e-6 of its change, which is at
 * most 50 of 330 K. */
static void check_steps(const struct modes_case *c, const struct hs_kernel *kernel,
                        const struct hs_kernel *of_host, double step, const char *name)
{
    double *a = run_case(c, cuda_backend(), kernel, &hs_method_implicit, step, 3, 2, true, NULL);
    double *b = run_case(c, &hs_backend_cpu, of_host, &hs_method_implicit, step, 3, 2, true, NULL);
    const double off = difference(c, a, b);
    if (!(off <= 1e-6))
        fail_msg("%dD, %s, %s, steps of %g s: off by %g", c->problem.grid.dims,
                 hs_precision_name(c->problem.precision), name, step, off);
    free(a);
    free(b);
}

void test_cuda_multigrid__steps_are_those_of_the_host_between_all_walls(void **state)
{
    static const int64_t points[HS_AXES] = {70, 37, 19};
    static const double steps[] = {1e-4, 1e-2, 1.0, 100.0};
    const char *kind[HS_FACES], *name;
    for (int dims = 1; dims <= 3; dims++)
        for (int precision = 0; precision < HS_PRECISIONS; precision++)
            for (int walls = 0; (name = wall_names(walls, kind)); walls++) {
                struct modes_case c =
                    make_case(dims, 1, (enum hs_precision)precision, kind, points, walls % 2);
                check_steps(&c, &hs_kernel_cuda_basic, &hs_kernel_cpu_wavefront,
                            steps[(walls + dims) % 4], name);
                release_case(&c);
            }
}

/* ---- bodies ---------------------------------------------------------------------------------- */

enum body_kind { LAYERS, BLOCKS, DENSE_MIDDLE, DENSE_HALF };

/* Conductivity of a node: layers 1 : 0.01 : 130 along z, or blocks of 4^3 spread by `contrast`; 1
 * in bodies whose cells differ. */
static double conductivity(enum body_kind kind, double contrast, const int64_t n[HS_AXES],
                           const int64_t at[HS_AXES])
{
    static const double layers[] = {1.0, 0.01, 130.0};
    if (kind == LAYERS)
        return layers[3 * at[HS_Z] / n[HS_Z]];
    if (kind != BLOCKS)
        return 1.0;
    const uint64_t block =
        (uint64_t)(at[HS_X] / 4 + 1000 * (at[HS_Y] / 4) + 1000000 * (at[HS_Z] / 4));
    return pow(contrast, noise(block) - 1.0);
}

/* Coordinates of an axis: cells 1 : 20 towards the middle, or 1 : 16 in two halves, whose lengths
 * are exact so that there are few rows. NULL: even cells. */
static double *coordinates_of(enum body_kind kind, int64_t points)
{
    if (kind != DENSE_MIDDLE && kind != DENSE_HALF)
        return NULL;
    double *at = calloc((size_t)points + 1, sizeof *at);
    assert_non_null(at);
    for (int64_t i = 0; i < points; i++) {
        const double half = 2.0 * ((double)i + 0.5) / (double)(points - 1) - 1.0;
        at[i + 1] = at[i] + (kind == DENSE_MIDDLE ? pow(20.0, fabs(half))
                             : half < 0.0         ? 1.0
                                                  : 16.0) /
                                1024.0;
    }
    return at;
}

/* A network of a body of unit size. All faces are insulated, but x = 0 is held and, in 3D, z = 1
 * convects, unless `floating`. */
static struct hs_network *make_network(enum body_kind kind, double contrast, bool floating,
                                       enum hs_network_form form, const struct hs_grid *grid)
{
    struct hs_network *network = calloc(1, sizeof *network);
    const int64_t *n = grid->points, nodes = hs_grid_count(grid);
    assert_non_null(network);
    network->grid = *grid;
    network->form = form;
    network->forcing_count = 1;
    network->forcing = calloc(1, sizeof *network->forcing);
    struct hs_network_row *node = calloc((size_t)nodes, sizeof *node);
    assert_true(network->forcing && node);
    for (int64_t m = 0; m < nodes; m++) {
        const int64_t at[HS_AXES] = {m % n[HS_X], m / n[HS_X] % n[HS_Y], m / (n[HS_X] * n[HS_Y])};
        double area[HS_AXES], volume = 1.0;
        for (int axis = 0; axis < HS_AXES; axis++) {
            area[axis] = axis < grid->dims ? hs_grid_node_width(grid, axis, false, at[axis]) : 1.0;
            volume *= area[axis];
        }
        node[m] = (struct hs_network_row){.capacity = volume, .kind = HS_NODE_FREE};
        for (int axis = 0; axis < grid->dims; axis++) {
            int64_t next[HS_AXES] = {at[HS_X], at[HS_Y], at[HS_Z]};
            if (++next[axis] == n[axis])
                continue;
            const double one = conductivity(kind, contrast, n, at),
                         other = conductivity(kind, contrast, n, next);
            node[m].conductance[axis] = 2.0 * one * other / (one + other) * volume / area[axis] /
                                        hs_grid_cell(grid, axis, at[axis]);
        }
        if (floating)
            continue;
        if (at[HS_X] == 0)
            node[m].kind = HS_NODE_HELD;
        if (grid->dims == 3 && at[HS_Z] == n[HS_Z] - 1)
            node[m].sink = 5.0 * volume / area[HS_Z];
    }
    if (form == HS_NETWORK_ARRAYS) {
        network->node = node;
        return network;
    }
    /* layers have few rows */
    uint16_t *number = calloc((size_t)nodes, sizeof *number);
    uint8_t *byte = (uint8_t *)number;
    network->row = calloc(256, sizeof *network->row);
    assert_true(number && network->row);
    network->row[0].kind = HS_NODE_HELD;
    network->row_count = 1;
    for (int64_t m = 0; m < nodes; m++) {
        int r = 1;
        while (r < network->row_count && memcmp(&network->row[r], &node[m], sizeof *node))
            r++;
        assert_true(r < 256);
        if (r == network->row_count)
            network->row[network->row_count++] = node[m];
        if (form == HS_NETWORK_BYTES)
            byte[m] = (uint8_t)r;
        else
            number[m] = (uint16_t)r;
    }
    network->number = number;
    free(node);
    return network;
}

struct body_case {
    struct modes_case c;
    struct hs_network *network;
};

static struct body_case make_body(enum body_kind kind, double contrast, bool floating,
                                  enum hs_network_form form, enum hs_precision precision, int dims,
                                  const int64_t points[HS_AXES])
{
    static const char *const walls[HS_FACES] = {"reflective", "reflective", "reflective",
                                                "reflective", "reflective", "reflective"};
    struct body_case out = {.c = make_case(dims, 1, precision, walls, points, !floating)};
    struct hs_problem *problem = &out.c.problem;
    for (int axis = 0; axis < dims; axis++) {
        problem->grid.coordinate[axis] = coordinates_of(kind, points[axis]);
        problem->grid.spacing[axis] = 1.0 / (double)(points[axis] - 1);
    }
    problem->network = out.network = make_network(kind, contrast, floating, form, &problem->grid);
    out.network->limit = 1e-9;
    problem->schedule.step = 1e-9;
    return out;
}

static void release_body(struct body_case *body)
{
    release_case(&body->c); /* and the network */
}

/* Residuals are 1e-12 of that of a guess that is random from node to node. The error left in a
 * body's slowest modes is about as much times the condition number: some 1e3 to 1e4, times the
 * contrast of conductivities, up to 1.3e4, or times the square of that of cells, 400. */
static struct hs_solution solve_body(enum body_kind kind, double contrast, bool floating,
                                     enum hs_network_form form, enum hs_precision precision,
                                     int dims, const int64_t points[HS_AXES])
{
    struct body_case body = make_body(kind, contrast, floating, form, precision, dims, points);
    struct hs_solution here, there, fewer;
    const double may = kind == DENSE_MIDDLE || kind == DENSE_HALF ? 1e-4 : 5e-6;
    double *a = solve_case_to(&body.c, cuda_backend(), &hs_kernel_cuda_conduction_basic,
                              &hs_method_multigrid, 1e-12, &there);
    double *b = solve_case_to(&body.c, &hs_backend_cpu, &hs_kernel_cpu_openmp, &hs_method_multigrid,
                              1e-12, &here);
    const double off = difference(&body.c, a, b);
    free(a);
    free(solve_case_to(&body.c, cuda_backend(), &hs_kernel_cuda_conduction_basic,
                       &hs_method_multigrid, 1e-10, &fewer));
    if (!here.reached || !there.reached || !(off <= may) ||
        abs(here.iterations - there.iterations) > 2 + here.iterations / 10)
        fail_msg("body %d, %dD, contrast %g, form %d, %s%s: %d iterations to %g, on the host %d to "
                 "%g; off by %g",
                 (int)kind, dims, contrast, (int)form, hs_precision_name(precision),
                 floating ? ", floating" : "", there.iterations, there.residual, here.iterations,
                 here.residual, off);
    free(b);
    release_body(&body);
    return fewer;
}

void test_cuda_multigrid__of_bodies_is_that_of_the_host(void **state)
{
    static const int64_t sizes[][HS_AXES] = {{49, 49, 49}, {97, 97, 5},  {200, 7, 31}, {33, 65, 12},
                                             {300, 4, 4},  {65, 66, 30}, {257, 11, 9}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    int cases = 0;
    for (int size = 0; size < SIZES; size++)
        for (int dims = 1; dims <= 3; dims++)
            for (int precision = 0; precision < HS_PRECISIONS; precision++)
                for (int floating = 0; floating < 2; floating++)
                    for (int form = 0; form < 3; form++, cases++)
                        solve_body(form == HS_NETWORK_ARRAYS ? BLOCKS : LAYERS, 1e3, floating,
                                   (enum hs_network_form)form, (enum hs_precision)precision, dims,
                                   sizes[size]);
    printf("%d bodies agree\n", cases);
}

/* How many iterations the residual needs. Others may follow: the square of a guess that is random
 * from node to node is far above the solution's, with which the error is compared as well. */
static int iterations_to(const struct hs_solution *solution, double residual)
{
    int n = 0;
    while (n < solution->iterations && solution->residuals[n] > residual)
        n++;
    return n;
}

/* As many iterations as with even cells, or a few more. */
void test_cuda_multigrid__of_stretched_grids_is_that_of_the_host(void **state)
{
    static const int64_t sizes[][HS_AXES] = {
        {49, 49, 49}, {64, 64, 64}, {97, 97, 5}, {257, 11, 9}, {66, 31, 20}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    int most = 0;
    for (int size = 0; size < SIZES; size++)
        for (int dims = 1; dims <= 3; dims++)
            for (int precision = 0; precision < HS_PRECISIONS; precision++)
                for (int form = 0; form < 3; form++) {
                    const struct hs_solution solution =
                        solve_body(form == HS_NETWORK_ARRAYS ? DENSE_MIDDLE : DENSE_HALF, 1.0,
                                   size % 2, (enum hs_network_form)form,
                                   (enum hs_precision)precision, dims, sizes[size]);
                    const int took = iterations_to(&solution, 1e-10);
                    most = took > most ? took : most;
                }
    printf("%d iterations at most\n", most);
    assert_true(most <= 13);
}

void test_cuda_multigrid__steps_of_bodies_are_those_of_the_host(void **state)
{
    static const int64_t points[HS_AXES] = {49, 33, 21};
    for (int form = 0; form < 3; form++)
        for (int floating = 0; floating < 2; floating++)
            for (double step = 1e-5; step < 20.0; step *= 100.0) {
                struct body_case body =
                    make_body(form == HS_NETWORK_ARRAYS ? BLOCKS : LAYERS, 1e3, floating,
                              (enum hs_network_form)form, HS_DOUBLE, 3, points);
                check_steps(&body.c, &hs_kernel_cuda_conduction_basic, &hs_kernel_cpu_openmp, step,
                            floating ? "floating body" : "body");
                release_body(&body);
            }
}

/* Gives the rows that have a sink one that falls from its value to a tenth and rises again. */
static void vary_sinks(struct hs_problem *problem, int64_t rows, struct hs_network_row *row)
{
    static const double time[] = {0.0, 1e-4, 3e-4, 1.0}, number[] = {1.0, 0.1, 1.0, 0.3};
    struct hs_time_function *function = calloc(1, sizeof *function);
    struct hs_network *network = problem->network;
    function->points = 4;
    function->time = memcpy(malloc(sizeof time), time, sizeof time);
    function->number = memcpy(malloc(sizeof number), number, sizeof number);
    problem->time_function_count = 1;
    problem->time_functions = function;
    network->forcing = realloc(network->forcing, 2 * sizeof *network->forcing);
    network->forcing_count = 2;
    double largest = 0.0;
    for (int64_t n = 0; n < rows; n++)
        largest = fmax(largest, row[n].sink);
    network->forcing[1] = (struct hs_forcing){.sink = {.count = 1, .weight = {largest}}};
    for (int64_t n = 0; n < rows; n++)
        if (row[n].sink > 0.0) {
            row[n].forcing = 1;
            row[n].sink = largest;
        }
}

void test_cuda_multigrid__steps_with_sinks_that_change_are_those_of_the_host(void **state)
{
    static const int64_t points[HS_AXES] = {49, 37, 19};
    for (int precision = 0; precision < HS_PRECISIONS; precision++)
        for (int form = 0; form < 3; form++) {
            struct body_case body =
                make_body(form == HS_NETWORK_ARRAYS ? BLOCKS : LAYERS, 10.0, false,
                          (enum hs_network_form)form, (enum hs_precision)precision, 3, points);
            const bool arrays = form == HS_NETWORK_ARRAYS;
            vary_sinks(&body.c.problem,
                       arrays ? hs_grid_count(&body.network->grid) : body.network->row_count,
                       arrays ? body.network->node : body.network->row);
            check_steps(&body.c, &hs_kernel_cuda_conduction_basic, &hs_kernel_cpu_openmp, 1e-4,
                        "sinks that change");
            release_body(&body);
        }
}

void test_cuda_multigrid__takes_few_iterations(void **state)
{
    static const int64_t sizes[] = {32, 33, 64, 65};
    for (int size = 0; size < 4; size++) {
        const int64_t n = sizes[size], points[HS_AXES] = {n, n, n};
        const int layers =
            solve_body(LAYERS, 1.0, false, HS_NETWORK_BYTES, HS_DOUBLE, 3, points).iterations;
        printf("%lld^3: layers 1 : 0.01 : 130 %d iterations; blocks", (long long)n, layers);
        assert_true(layers <= 20);
        for (double contrast = 10.0; contrast < 1e6; contrast *= 100.0) {
            const int took =
                solve_body(BLOCKS, contrast, false, HS_NETWORK_ARRAYS, HS_DOUBLE, 3, points)
                    .iterations;
            printf(" of 1 : %g %d", contrast, took);
            assert_true(contrast > 1e4 || took <= (contrast > 10.0 ? 80 : 20));
        }
        printf("\n");
    }
}

/* ---- how long a large grid takes ------------------------------------------------------------- */

/* Times the parts of a solution. */
static void time_case(const struct modes_case *c, const struct hs_kernel *kernel, const char *name)
{
    const struct hs_problem *problem = &c->problem;
    const struct hs_device_krylov *krylov = cuda_backend()->krylov;
    const struct hs_box all = hs_grid_box(&problem->grid);
    struct hs_backend_state *backend = NULL;
    struct hs_equations equations = {.network = NULL};
    struct hs_solution solution;
    struct hs_conjugate_gradients gradients;
    double copy = 0.0, zr, curvature;
    int64_t bytes;
    const double begin = hs_clock_now();
    assert_ok(hs_equations_init(&equations, problem, &err));
    const double made = hs_clock_now();
    assert_ok_of(kernel->name, cuda_backend()->create(problem, kernel, &backend, &err));
    assert_ok(cuda_backend()->upload(backend, &all, c->initial, &err));
    assert_ok(cuda_backend()->copy(backend, 10, &bytes, &copy, &err));
    assert_ok(cuda_backend()->copy(backend, 10, &bytes, &copy, &err));
    for (int run = 0; run < 3; run++) {
        double largest;
        struct hs_krylov_rates rates;
        assert_ok(cuda_backend()->upload(backend, &all, c->initial, &err));
        const double start = hs_clock_now();
        assert_ok(
            hs_conjugate_gradients_init(&gradients, &equations, cuda_backend(), backend, &err));
        struct hs_krylov_state *const vectors = gradients.of;
        assert_ok(krylov->load(backend, vectors, HS_KRYLOV_T, 0, &err));
        assert_ok(krylov->vectors->begin(vectors, &err));
        assert_ok(krylov->vectors->residual(vectors, 1.0, &rates, &err));
        const double there = hs_clock_now();
        assert_ok(krylov->vectors->precondition(vectors, &zr, &err));
        const double levels = hs_clock_now();
        double turning = 0.0, advancing = 0.0, cycling = 0.0;
        for (int n = 0; n < 6; n++) { /* steps of length 0; the first captures a graph */
            const double t0 = hs_clock_now();
            assert_ok(krylov->vectors->turn(vectors, 0.5, &curvature, &err));
            const double t1 = hs_clock_now();
            assert_ok(krylov->vectors->advance(vectors, 1e-30, &largest, &err));
            const double t2 = hs_clock_now();
            assert_ok(krylov->vectors->precondition(vectors, &zr, &err));
            turning += n > 1 ? (t1 - t0) / 4.0 : 0.0;
            advancing += n > 1 ? (t2 - t1) / 4.0 : 0.0;
            cycling += n > 1 ? (hs_clock_now() - t2) / 4.0 : 0.0;
        }
        assert_ok(krylov->vectors->residual(vectors, 1.0, &rates, &err));
        const double begun = hs_clock_now();
        assert_ok(krylov->vectors->residual(vectors, 1.0, &rates, &err));
        const double ready = hs_clock_now();
        assert_ok(hs_conjugate_gradients_solve(&gradients, 1e-10, 0.0, &solution, &err));
        const double solved = hs_clock_now();
        assert_ok(krylov->store(backend, vectors, HS_KRYLOV_T, 0, &err));
        const double done = hs_clock_now();
        hs_conjugate_gradients_release(&gradients);
        printf("%s: equations on the host %.2f s; to the device %.1f ms, levels %.1f ms; residual "
               "%.2f ms, turn %.2f, advance %.2f, cycle %.2f; solve %.1f ms, %d iterations to "
               "%.1e, %.2f ms each; field back %.2f ms; a copy of the field %.3f ms, so %.0f "
               "copies\n",
               name, made - begin, 1e3 * (there - start), 1e3 * (levels - there),
               1e3 * (ready - begun), 1e3 * turning, 1e3 * advancing, 1e3 * cycling,
               1e3 * (solved - ready), solution.iterations, solution.residual,
               1e3 * (solved - ready) / (double)solution.iterations, 1e3 * (done - solved),
               1e2 * copy, (solved - ready) / (0.1 * copy));
        fflush(stdout);
        assert_true(solution.reached);
    }
    cuda_backend()->destroy(backend);
    hs_equations_release(&equations);
}

void test_cuda_multigrid__of_a_large_grid_takes(void **state)
{
    static const char *const walls[HS_FACES] = {"dirichlet", "dirichlet", "dirichlet",
                                                "dirichlet", "dirichlet", "dirichlet"};
    static const int64_t few[HS_AXES] = {5, 5, 5};
    const char *wanted = getenv("HS_MULTIGRID_POINTS");
    const int64_t n = wanted ? atoi(wanted) : 512;
    if (n < 5)
        return;
    struct modes_case c = make_case(3, 1, HS_DOUBLE, walls, few, true);
    char name[64];
    free(c.initial);
    c.initial = calloc((size_t)(n * n * n), sizeof(double));
    assert_non_null(c.initial);
    for (int axis = 0; axis < HS_AXES; axis++) {
        c.problem.grid.points[axis] = n;
        c.problem.grid.spacing[axis] = 1.0 / (double)(n - 1);
    }
    for (int face = 0; face < HS_FACES; face++)
        set_wall(&c.problem, face, "dirichlet", (struct hs_value){.constant = 0.0}, 3.0);
    snprintf(name, sizeof name, "%lld^3 double, uniform", (long long)n);
    time_case(&c, &hs_kernel_cuda_basic, name);
    release_case(&c);
    if (n > 600)
        return;
    const int64_t points[HS_AXES] = {n, n, n};
    struct body_case body = make_body(LAYERS, 1.0, false, HS_NETWORK_BYTES, HS_DOUBLE, 3, points);
    snprintf(name, sizeof name, "%lld^3 double, layers", (long long)n);
    time_case(&body.c, &hs_kernel_cuda_conduction_basic, name);
    release_body(&body);
    body = make_body(DENSE_MIDDLE, 1.0, false, HS_NETWORK_ARRAYS, HS_DOUBLE, 3, points);
    snprintf(name, sizeof name, "%lld^3 double, stretched 1 : 20", (long long)n);
    time_case(&body.c, &hs_kernel_cuda_conduction_basic, name);
    release_body(&body);
}
