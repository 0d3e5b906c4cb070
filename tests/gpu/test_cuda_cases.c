/*
 * Every CUDA kernel, with each dims, radius and precision that it claims, under every kind of
 * boundary and source, on grids of odd sizes, gives the same bits as the CPU backend.
 */
#include "fused_line_1d/plan.h"
#include "gpu/gpu.h"

/* Smaller and larger than the tiles, along every axis. */
static const int64_t sizes[][HS_AXES] = {{37, 23, 19}, {131, 18, 33}, {70, 67, 9}, {517, 11, 12}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void describe(char *out, size_t size, const struct hs_kernel *kernel,
                     const struct hs_problem *p, const struct walls *walls, const char *source,
                     int64_t count)
{
    snprintf(out, size,
             "%s, %dD radius %d %s, %lldx%lldx%lld, %s %s %s %s %s %s (data %d), source %s, "
             "%lld sweeps",
             kernel->name, p->grid.dims, p->radius, hs_precision_name(p->precision),
             (long long)p->grid.points[0], (long long)p->grid.points[1],
             (long long)p->grid.points[2], walls->kind[0], walls->kind[1], walls->kind[2],
             walls->kind[3], walls->kind[4], walls->kind[5], walls->data, source ? source : "none",
             (long long)count);
}

/* The sweeps of a run: whole fusions, a remainder, and two more. */
static int64_t sweeps_of(const struct hs_kernel *kernel)
{
    return 2 * kernel->steps + 3 + (kernel->steps > 1 ? kernel->steps / 2 : 0);
}

static bool left_out(const struct hs_kernel *kernel)
{
    return !asked_for(kernel->name) || !(kernel->features & HS_STENCIL); /* bodies: elsewhere */
}

/* For every kernel of the table: whether it ran anything, or needs another GPU. */
static bool has_run[256], wants_another[256];

/* Runs a case by all kernels. Those that fuse the same number of sweeps share the CPU's result. */
static int compare_all(const struct hs_problem *problem, const struct walls *walls,
                       const char *source)
{
    void *initial = random_values(problem);
    struct outcome expected = {0};
    int64_t expected_count = -1;
    int ran = 0;
    for (int n = 0; hs_kernels[n]; n++) {
        const struct hs_kernel *kernel = hs_kernels[n];
        char text[512];
        if (kernel->device != HS_CUDA)
            continue;
        if (!hs_kernel_suits(kernel, problem, text, sizeof text)) {
            wants_another[n] |= strstr(text, "needs a GPU") != NULL;
            continue;
        }
        if (left_out(kernel)) {
            ran++;
            continue;
        }
        const int64_t count = sweeps_of(kernel);
        if (count != expected_count) {
            free(expected.field);
            expected = run_on(&hs_backend_cpu, &hs_kernel_cpu_openmp, problem, initial, count, 2);
            expected_count = count;
        }
        const struct outcome out = run_on(cuda_backend(), kernel, problem, initial, count, 2);
        describe(text, sizeof text, kernel, problem, walls, source, count);
        assert_same_field(problem, out.field, expected.field, text);
        assert_same_reduction(&out.reduction, &expected.reduction);
        free(out.field);
        has_run[n] = true;
        ran++;
    }
    free(expected.field);
    free(initial);
    return ran;
}

static void compare_dims(int dims)
{
    int ran = 0, turn = 0;
    for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
        for (int p = 0; p < HS_PRECISIONS; p++)
            for (int w = 0; w < WALLS; w++, turn++) {
                struct hs_problem problem;
                const char *source = source_texts[(turn + radius) % SOURCE_TEXTS];
                make_problem(&problem, dims, radius, (enum hs_precision)p, sizes[turn % SIZES],
                             &wall_table[w], source);
                ran += compare_all(&problem, &wall_table[w], source);
                hs_problem_release(&problem);
            }
    printf("%dD: %d runs agree\n", dims, ran);
    assert_true(ran >= 3 * HS_PRECISIONS * WALLS); /* at least `basic` does all */
}

void test_cuda_cases__agree_in_1d(void **state)
{
    compare_dims(1);
}

void test_cuda_cases__agree_in_2d(void **state)
{
    compare_dims(2);
}

void test_cuda_cases__agree_in_3d(void **state)
{
    compare_dims(3);
}

/* Fused kernels need grids of at least one tile: exactly one, and several with a remainder. */
void test_cuda_cases__agree_on_grids_of_many_tiles(void **state)
{
    static const struct {
        int dims;
        int64_t points[HS_AXES];
    } wide[] = {
        {3, {64, 66, 11}}, {3, {131, 69, 23}},  {3, {190, 130, 40}},
        {2, {257, 40, 1}}, {2, {1031, 203, 1}}, {2, {2500, 1700, 1}},
        {1, {512, 1, 1}},  {1, {20011, 1, 1}},  {1, {HS_LINE_LONG + 5, 1, 1}},
    };
    enum { GRIDS = sizeof wide / sizeof *wide };
    int ran = 0;
    for (int n = 0; n < GRIDS; n++)
        for (int p = 0; p < HS_PRECISIONS; p++)
            for (int w = 0; w < WALLS; w++) {
                struct hs_problem problem;
                const char *source = source_texts[(n + w) % SOURCE_TEXTS];
                const int radius = wide[n].dims == 1 ? 1 + (w + p) % HS_MAX_RADIUS : 1;
                make_problem(&problem, wide[n].dims, radius, (enum hs_precision)p, wide[n].points,
                             &wall_table[w], source);
                ran += compare_all(&problem, &wall_table[w], source);
                hs_problem_release(&problem);
            }
    printf("many tiles: %d runs agree\n", ran);
    assert_true(ran >= GRIDS * HS_PRECISIONS * WALLS);
}

/* Long stretches without time dependence are captured as CUDA graphs. */
void test_cuda_cases__replayed_stretches_agree(void **state)
{
    static const int64_t points[HS_AXES] = {67, 66, 13};
    for (int w = 0; w < 2; w++)
        for (int n = 0; hs_kernels[n]; n++) {
            char text[512];
            const struct hs_kernel *kernel = hs_kernels[n];
            for (int dims = 1; dims <= 3 && !left_out(kernel); dims++) {
                if (kernel->device != HS_CUDA ||
                    !hs_features_cover(kernel->name, kernel->features,
                                       hs_feature_stencil(dims, 1, HS_FLOAT), text, sizeof text))
                    continue;
                const struct walls walls = {{"periodic", "periodic", "reflective", "robin",
                                             "dirichlet", w ? "fixed" : "constant"},
                                            0};
                struct hs_problem problem;
                make_problem(&problem, dims, 1, HS_FLOAT, points, &walls, source_texts[w ? 3 : 1]);
                if (!hs_kernel_suits(kernel, &problem, text, sizeof text)) {
                    hs_problem_release(&problem);
                    continue;
                }
                void *initial = random_values(&problem);
                const int64_t count = 5 * 32 * (int64_t)kernel->steps + 3 * w + 4;
                const struct outcome a =
                    run_on(&hs_backend_cpu, &hs_kernel_cpu_openmp, &problem, initial, count, 2);
                const struct outcome b =
                    run_on(cuda_backend(), kernel, &problem, initial, count, 2);
                describe(text, sizeof text, kernel, &problem, &walls, "constant", count);
                assert_same_field(&problem, b.field, a.field, text);
                free(a.field);
                free(b.field);
                free(initial);
                hs_problem_release(&problem);
            }
        }
}

/* ---- anything with anything ------------------------------------------------------------------ */

static uint64_t drawn;

/* 0 to count - 1 */
static int any(int count)
{
    return (int)((noise(drawn++) - 1.0) * count);
}

static void any_points(int dims, int radius, int64_t points[HS_AXES])
{
    static const int most[HS_AXES][HS_AXES] = {{50000, 1, 1}, {1500, 300, 1}, {260, 150, 40}};
    for (int axis = 0; axis < HS_AXES; axis++)
        points[axis] = axis < dims ? 2 * radius + 3 + any(most[dims - 1][axis]) : 1;
}

/* Any kind with any values; periodic more often than one in eight, since it takes both sides. */
static void any_walls(struct hs_problem *problem, struct walls *walls)
{
    static const char *const kinds[] = {"fixed",    "dirichlet",  "neumann", "robin",
                                        "periodic", "reflective", "clamp",   "constant"};
    enum { KINDS = sizeof kinds / sizeof *kinds, PERIODIC = 4 };
    for (int axis = 0; axis < HS_AXES; axis++) {
        int kind[2] = {any(KINDS), any(KINDS)};
        if (kind[0] == PERIODIC || kind[1] == PERIODIC || any(6) == 0)
            kind[0] = kind[1] = PERIODIC;
        for (int side = 0; side < 2; side++) {
            const int face = 2 * axis + side, data = any(DATA_TEXTS);
            walls->kind[face] = kinds[kind[side]];
            if (axis < problem->grid.dims) {
                memset(&problem->face[face], 0, sizeof problem->face[face]);
                set_face(problem, face, walls->kind[face], data);
            }
        }
    }
}

/* Random cases: combinations of a face's kind with others and with the cuts of the grid, of which
 * the tables above have too few. The environment may set SEED, and MANY for the number of cases. */
void test_cuda_cases__agree_at_random(void **state)
{
    const char *first = getenv("SEED"), *many = getenv("MANY");
    const int cases = many ? atoi(many) : 100;
    int ran = 0;
    for (int n = 0; n < cases; n++) {
        drawn = (uint64_t)(first ? atoi(first) : 1) * 1000000 + (uint64_t)n * 100;
        const int dims = any(2) ? 3 : 1 + any(3), radius = any(2) ? 1 : 1 + any(HS_MAX_RADIUS);
        const enum hs_precision precision = any(2) ? HS_FLOAT : HS_DOUBLE;
        const char *source = any(2) ? source_texts[any(SOURCE_TEXTS)] : NULL;
        struct walls walls = {.data = n}; /* faces draw their own; the number is for messages */
        for (int face = 0; face < HS_FACES; face++)
            walls.kind[face] = "fixed";
        int64_t points[HS_AXES];
        any_points(dims, radius, points);
        struct hs_problem problem;
        make_problem(&problem, dims, radius, precision, points, &walls, source);
        any_walls(&problem, &walls);
        ran += compare_all(&problem, &walls, source);
        hs_problem_release(&problem);
    }
    printf("at random: %d runs agree\n", ran);
    assert_true(ran >= cases); /* at least `basic` does all */
}

/* Otherwise a kernel that suits none of these cases would go unnoticed. */
void test_cuda_cases__every_kernel_ran(void **state)
{
    int missing = 0;
    for (int n = 0; hs_kernels[n]; n++) {
        if (hs_kernels[n]->device != HS_CUDA || left_out(hs_kernels[n]) || has_run[n])
            continue;
        printf("%s: %s\n", hs_kernels[n]->name,
               wants_another[n] ? "not for this GPU" : "no case for it");
        missing += !wants_another[n];
    }
    assert_int_equal(missing, 0);
}
