/*
 * Bodies of many materials: every conduction kernel on the CUDA backend gives the bits of the CPU
 * backend, also in the long steps of rkl2. Networks have random rows in all forms, uniform,
 * periodic or stretched axes, held and prescribed nodes, and sinks, forcings and sources that
 * change with time or do not. The step changes during a run and changes back. Some runs are long
 * enough for a CUDA graph.
 *
 * HS_GPU_BODIES=N: N bodies with few sweeps, the first of them small, which is enough for
 * sanitizers. By default there are 240, some with many sweeps.
 */
#include "core/method.h"
#include "gpu/gpu.h"

extern const struct hs_kernel hs_kernel_cpu_reference;
extern const struct hs_method hs_method_rkl2;

/* ---- bodies --------------------------------------------------------------------------------- */

static uint64_t dice;
static unsigned roll(unsigned sides) /* 0 .. sides-1 */
{
    dice = dice * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((dice >> 33) % sides);
}

/* Not representable in float. */
static double between(double low, double high)
{
    return low + (high - low) * (roll(1u << 30) / 0x1p30 + roll(1u << 20) / 0x1p50);
}

enum { LAST = 1 << HS_AXES, FUNCTIONS = 4, FORCINGS = 6, MOST_KINDS = 900 };

static void make_time_functions(struct hs_problem *problem, bool varies)
{
    problem->time_function_count = FUNCTIONS;
    problem->time_functions = calloc(FUNCTIONS, sizeof *problem->time_functions);
    struct hs_time_function *function = problem->time_functions;
    function[0].value.constant = between(-1.0, 2.0);
    function[1].value.constant = between(1.0, 2.0);
    function[2].value = varies ? make_value(problem, "1.5 + 3*t*(1 - t)") : function[0].value;
    if (!varies)
        return;
    function[3].points = 3;
    function[3].time = malloc(3 * sizeof(double));
    function[3].number = malloc(3 * sizeof(double));
    for (int n = 0; n < 3; n++) {
        function[3].time[n] = 0.013 * n;
        function[3].number[n] = between(0.0, 2.0);
    }
}

static void make_forcings(struct hs_network *network, bool sinks)
{
    network->forcing_count = FORCINGS;
    network->forcing = calloc(FORCINGS, sizeof *network->forcing);
    for (int f = 1; f < FORCINGS; f++) {
        struct hs_forcing *forcing = &network->forcing[f];
        forcing->inflow.count = 1 + (int)roll(HS_FORCING_TERMS);
        for (int n = 0; n < forcing->inflow.count; n++) {
            forcing->inflow.function[n] = (int)roll(FUNCTIONS);
            forcing->inflow.weight[n] = between(-0.5, 1.0);
        }
        forcing->sink.count = sinks ? (int)roll(4) : 0;
        for (int n = 0; n < forcing->sink.count; n++) {
            forcing->sink.function[n] = 1 + (int)roll(FUNCTIONS - 1);
            forcing->sink.weight[n] = between(0.0, 0.5);
        }
        forcing->steady_sink = forcing->sink.count > 0 ? between(0.0, 0.5) : 0.0;
    }
}

/* Of a sink that changes with time, 4 is above the largest. */
static void set_largest(const struct hs_network *network, struct hs_network_row *row, int64_t count)
{
    for (int64_t n = 0; n < count; n++)
        if (network->forcing[row[n].forcing].sink.count > 0)
            row[n].sink = 4.0;
}

/* A row for nodes that are the last along some axes (one bit each), where they have no edge. Steps
 * of 0.01 are stable. */
static struct hs_network_row make_row(unsigned last, bool acted)
{
    const unsigned kind = roll(8);
    struct hs_network_row row = {.capacity = between(0.5, 1.5),
                                 .sink = acted && roll(2) ? between(0.0, 2.0) : 0.0,
                                 .kind = kind == 0   ? HS_NODE_PRESCRIBED
                                         : kind == 1 ? HS_NODE_HELD
                                                     : HS_NODE_FREE};
    row.forcing = row.kind == HS_NODE_PRESCRIBED      ? 1 + (int)roll(FORCINGS - 1)
                  : acted && row.kind == HS_NODE_FREE ? (int)roll(FORCINGS)
                                                      : 0;
    for (int axis = 0; axis < HS_AXES; axis++)
        row.conductance[axis] = last >> axis & 1u ? 0.0 : between(0.0, 2.0);
    return row;
}

/* Blocks of nodes of one kind, with some nodes of any kind among them. */
static void set_nodes(struct hs_network *network, unsigned kinds, bool acted)
{
    const struct hs_grid *grid = &network->grid;
    const unsigned block[HS_AXES] = {1 + roll(40), 1 + roll(20), 1 + roll(9)};
    const unsigned salt = roll(1u << 30), noise = roll(3) ? 1u << 29 : 1 + roll(50);
    for (int64_t n = 0; n < hs_grid_count(grid); n++) {
        const int64_t nx = grid->points[HS_X], ny = grid->points[HS_Y];
        const int64_t node[HS_AXES] = {n % nx, n / nx % ny, n / nx / ny};
        unsigned last = 0, kind = salt;
        for (int axis = 0; axis < HS_AXES; axis++) {
            if (axis >= grid->dims ||
                (!network->wrap[axis] && node[axis] == grid->points[axis] - 1))
                last |= 1u << axis;
            kind = (kind ^ (unsigned)node[axis] / block[axis]) * 2654435761u;
            kind ^= kind >> 15;
        }
        if (roll(noise) == 0)
            kind = roll(1u << 30);
        const unsigned row = 1 + kind % kinds * LAST + last;
        if (network->form == HS_NETWORK_ARRAYS)
            network->node[n] = make_row(last, acted);
        else if (network->form == HS_NETWORK_BYTES)
            ((uint8_t *)network->number)[n] = (uint8_t)row;
        else
            ((uint16_t *)network->number)[n] = (uint16_t)row;
    }
}

static struct hs_network *make_network(const struct hs_problem *problem, enum hs_network_form form)
{
    struct hs_network *network = calloc(1, sizeof *network);
    const size_t count = (size_t)hs_grid_count(&problem->grid);
    const unsigned most = form == HS_NETWORK_BYTES ? 31 : MOST_KINDS;
    const unsigned kinds = roll(2) ? most : 1 + roll(8);
    const bool acted = roll(4) > 0;
    network->grid = problem->grid;
    network->form = form;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        network->wrap[axis] = problem->face[2 * axis].wrap;
    make_forcings(network, roll(3) == 0);
    if (form == HS_NETWORK_ARRAYS)
        network->node = calloc(count, sizeof *network->node);
    else {
        network->row_count = (int)(1 + kinds * LAST);
        network->row = calloc((size_t)network->row_count, sizeof *network->row);
        network->row[0].kind = HS_NODE_HELD;
        for (int r = 1; r < network->row_count; r++)
            network->row[r] = make_row((unsigned)(r - 1) % LAST, acted);
        network->number = calloc(count, form == HS_NETWORK_BYTES ? 1 : 2);
    }
    set_nodes(network, kinds, acted);
    set_largest(network, network->row, network->row_count);
    set_largest(network, network->node, form == HS_NETWORK_ARRAYS ? (int64_t)count : 0);
    return network;
}

/* Sizes below a tile, of a tile and slightly more, and of several tiles. Tiles of fused sweeps have
 * 64 nodes along x, and along y 72 in float and 36 in double. */
static const int64_t sizes[][HS_AXES] = {{3, 4, 5},   {37, 19, 11}, {64, 72, 9},   {132, 79, 12},
                                         {70, 73, 7}, {128, 8, 17}, {140, 90, 41}, {517, 75, 6}};
enum { SMALL = 4, SIZES = sizeof sizes / sizeof *sizes };

/* Makes the cells of an axis 1 to 3 times as long as its spacing. */
static void stretch(struct hs_grid *grid, int axis)
{
    const int64_t n = grid->points[axis];
    double *place = malloc((size_t)(n + 1) * sizeof *place);
    place[0] = grid->lower[axis];
    for (int64_t i = 0; i < n; i++)
        place[i + 1] = place[i] + grid->spacing[axis] * between(1.0, 3.0);
    grid->coordinate[axis] = place;
}

static void make_body_problem(struct hs_problem *problem, int n, bool small)
{
    static const char *const sources[] = {"0.5*x - y*z + 0.125", "0.5*x*t - y*z*t*t + 0.125"};
    const int64_t *points = sizes[roll(small ? SMALL : SIZES)];
    hs_problem_init(problem);
    problem->precision = (enum hs_precision)((n + n / 8) % HS_PRECISIONS);
    problem->radius = 1;
    problem->grid.dims = n % 8 < 6 ? 3 : n % 8 - 5;
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        problem->grid.points[axis] = points[axis] * (problem->grid.dims == 1 ? 5 : 1);
        problem->grid.lower[axis] = -0.125;
        problem->grid.spacing[axis] = 1.0 / (double)(problem->grid.points[axis] - 1);
        const bool wraps = roll(3) == 0;
        for (int side = 0; side < 2; side++)
            set_face(problem, 2 * axis + side, wraps ? "periodic" : "reflective", 0);
        if (roll(4) == 0)
            stretch(&problem->grid, axis);
    }
    const unsigned source = roll(6);
    if (source < 2) {
        problem->source.present = true;
        problem->source.rate = 0.5;
        problem->source.field.value = make_value(problem, sources[source]);
    }
    make_time_functions(problem, roll(2));
    problem->body = calloc(1, sizeof *problem->body);
    problem->network = make_network(problem, (enum hs_network_form)(n / 2 % 3));
}

/* ---- runs ----------------------------------------------------------------------------------- */

/* The step changes and changes back; with `many` there are enough sweeps for a CUDA graph. */
static struct outcome run_body(const struct hs_backend *backend, const struct hs_kernel *kernel,
                               const struct hs_problem *problem, const void *initial, bool many)
{
    const struct hs_span spans[] = {{.count = 4, .step = 0.01},
                                    {.count = many ? 700 : 5, .step = 0.007, .start = 0.04},
                                    {.count = 2, .step = 0.01, .start = 0.1, .first = 7},
                                    {.count = many ? 431 : 1, .step = 0.007, .start = 0.3},
                                    {.count = 5, .step = 0.01, .start = 1.0, .keep_last = true}};
    return run_spans(backend, kernel, NULL, problem, initial, spans, 5);
}

static int ran;

static void compare_kernels(const struct hs_problem *problem, int n, bool many)
{
    static const char *const forms[] = {"bytes", "shorts", "arrays"};
    void *const initial = random_values(problem);
    /* the reference has one thread */
    const bool quick = !many && hs_grid_count(&problem->grid) < 50000;
    const struct outcome due =
        run_body(&hs_backend_cpu, quick ? &hs_kernel_cpu_reference : &hs_kernel_cpu_openmp, problem,
                 initial, many);
    for (int k = 0; hs_kernels[k]; k++) {
        char what[256], reason[512];
        const struct hs_kernel *kernel = hs_kernels[k];
        if (kernel->device != HS_CUDA || !kernel->sweep || !asked_for(kernel->name) ||
            !(kernel->features & HS_CONDUCTION) ||
            !hs_kernel_suits(kernel, problem, reason, sizeof reason))
            continue;
        const int64_t *points = problem->grid.points;
        snprintf(what, sizeof what, "body %d: %s, %dD %s %s, %lld x %lld x %lld, wraps %d%d%d", n,
                 kernel->name, problem->grid.dims, hs_precision_name(problem->precision),
                 forms[problem->network->form], (long long)points[0], (long long)points[1],
                 (long long)points[2], problem->network->wrap[0], problem->network->wrap[1],
                 problem->network->wrap[2]);
        const struct outcome out = run_body(cuda_backend(), kernel, problem, initial, many);
        assert_same_field(problem, out.field, due.field, what);
        assert_same_reduction(&out.reduction, &due.reduction);
        printf("%s%s\n", what, many ? ", many sweeps" : "");
        free(out.field);
        ran++;
    }
    free(due.field);
    free(initial);
}

void test_cuda_bodies__have_the_bits_of_the_cpu(void **state)
{
    const char *const asked = getenv("HS_GPU_BODIES");
    setvbuf(stdout, NULL, _IOLBF, 0); /* shows how far a slow run is */
    const int bodies = asked ? atoi(asked) : 240;
    for (int n = 0; n < bodies; n++) {
        struct hs_problem problem;
        dice = (uint64_t)(noise((uint64_t)n) * 0x1p52);
        make_body_problem(&problem, n, n < 24);
        const bool many = !asked && n % 4 == 0 && hs_grid_count(&problem.grid) < 50000;
        compare_kernels(&problem, n, many);
        hs_problem_release(&problem);
    }
    printf("%d cases agree\n", ran);
    assert_true(ran > bodies);
}

/* ---- steps of many sweeps -------------------------------------------------------------------- */

/* A random field whose prescribed nodes have the values of the walls, as in a run. */
static void *swept_once(const struct hs_problem *problem)
{
    void *const initial = random_values(problem);
    const struct hs_span span = {.count = 1, .step = 0.01};
    const struct outcome swept =
        run_spans(&hs_backend_cpu, &hs_kernel_cpu_openmp, NULL, problem, initial, &span, 1);
    free(initial);
    return swept.field;
}

/* Steps of nine sweeps, of five and of nine again. */
static struct outcome run_steps(const struct hs_backend *backend, const struct hs_kernel *kernel,
                                const struct hs_problem *problem, const void *initial)
{
    const struct hs_span spans[] = {{.count = 2, .step = 0.2, .start = 0.01},
                                    {.count = 3, .step = 0.05, .start = 0.41},
                                    {.count = 2, .step = 0.2, .start = 0.56, .keep_last = true}};
    return run_spans(backend, kernel, &hs_method_rkl2, problem, initial, spans, 3);
}

static void compare_steps(const struct hs_problem *problem, int n)
{
    void *const initial = swept_once(problem);
    const struct outcome due = run_steps(&hs_backend_cpu, &hs_kernel_cpu_openmp, problem, initial);
    for (int k = 0; hs_kernels[k]; k++) {
        char what[256], reason[512];
        const struct hs_kernel *kernel = hs_kernels[k];
        if (kernel->device != HS_CUDA || !kernel->sweep || !asked_for(kernel->name) ||
            !(kernel->features & HS_CONDUCTION) ||
            !hs_kernel_suits(kernel, problem, reason, sizeof reason))
            continue;
        snprintf(what, sizeof what, "body %d by rkl2: %s, %dD %s", n, kernel->name,
                 problem->grid.dims, hs_precision_name(problem->precision));
        const struct outcome out = run_steps(cuda_backend(), kernel, problem, initial);
        assert_same_field(problem, out.field, due.field, what);
        assert_same_reduction(&out.reduction, &due.reduction);
        free(out.field);
        ran++;
    }
    free(due.field);
    free(initial);
}

void test_cuda_bodies__long_steps_have_the_bits_of_the_cpu(void **state)
{
    const char *const asked = getenv("HS_GPU_BODIES");
    const int bodies = asked ? atoi(asked) : 96;
    ran = 0;
    for (int n = 0; n < bodies; n++) {
        struct hs_problem problem;
        dice = (uint64_t)(noise((uint64_t)n + 1000) * 0x1p52);
        make_body_problem(&problem, n, n < 24);
        problem.network->limit = 0.012;
        problem.schedule.safety = 1.0;
        compare_steps(&problem, n);
        hs_problem_release(&problem);
    }
    printf("%d cases of long steps agree\n", ran);
    assert_true(ran > bodies);
}
