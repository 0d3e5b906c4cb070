/*
 * Every CUDA kernel, with every dims, radius, precision and kind of boundary that it can do, gives
 * the same bits as the CPU backend. Grids are as small and sweeps as few as still run all of its
 * code. Made for compute-sanitizer, under which a launch takes milliseconds to seconds.
 *
 * HS_GPU_FEW: for kernels that leave walls to the backend and only see how many layers are held,
 * the first kinds only; for others the kinds whose code differs.
 * HS_GPU_SHARE=K/N: the Kth of N shares of the cases. Each case prints a line with its time. The
 * last line says how many of all cases agree; cases that this GPU cannot run are named before.
 */
#include "core/clock.h"
#include "fused_line_1d/plan.h"
#include "gpu/gpu.h"

struct grid {
    int64_t points[HS_AXES];
    const char *kernel; /* the kernel with special code for this grid, ... */
    int dims, radius;   /* ... with this dims, and at most this radius, ... */
    int source;         /* ... and with this source; 0: as for others */
    bool single;        /* float only */
    const char *walls;  /* all faces of this kind; NULL: a mixture */
};

/* A case takes the first grid that suits its kernel: below a tile; one or two tiles and a rest. */
static const struct grid usual[] = {{.points = {37, 19, 9}},
                                    {.points = {70, 64, 7}},
                                    {.points = {517, 67, 7}},
                                    {.points = {70, 83, 9}}};
enum { USUAL = sizeof usual / sizeof *usual };

/* For kernels with special code for larger grids: each once per radius and precision. */
static const struct grid larger[] = {
    /* more tiles than there are multiprocessors */
    {{517, 540, 5}, "bulk_march", 3, 1, .source = 1},
    {{517, 540, 5}, "bulk_march", 3, 1, .source = 3},
    {{HS_LINE_LONG + 5, 1, 1}, "fused_line_1d", 1, 3, .source = 0},
    {{700, 61, 1}, "fused_march_2d", 2, 1, .walls = "periodic"}, /* rows of whole vectors */
    {{1024, 512, 1}, "resident", 2, 1, .source = 0},             /* more points per thread */
    {{1024, 512, 1}, "resident", 2, 1, .source = 3},
    {{1011, 1013, 1}, "resident", 2, 1, .source = 0}, /* as many as possible in double */
    {{1011, 1013, 1}, "resident", 2, 1, .source = 3},
    {{1024, 1012, 1}, "resident", 2, 1, .source = 3, .walls = "fixed"},
    {{1024, 1012, 1}, "resident", 2, 1, .source = 3, .walls = "periodic"},
    {{1490, 1480, 1}, "resident", 2, 1, .source = 3, .single = true}, /* in float */
    {{131, 69, 23}, "resident", 3, 1, .source = 0},
    {{131, 69, 23}, "resident", 3, 1, .source = 3},
    {{89, 83, 61}, "resident", 3, 1, .source = 0},
    {{89, 83, 61}, "resident", 3, 1, .source = 3},
    {{96, 94, 62}, "resident", 3, 1, .source = 3, .walls = "fixed"},
    {{96, 94, 62}, "resident", 3, 1, .source = 3, .walls = "periodic"},
    {{125, 103, 47}, "resident", 3, 1, .source = 3, .single = true},
    /* columns enough for blocks to march in step */
    {{512, 360, 9}, "fused_radius2_3d", 3, 2, .walls = "fixed"},
};
enum { LARGER = sizeof larger / sizeof *larger };

/* After the table's kinds, each on all faces: several together, with different walls on an axis. */
static const char *const mixtures[][HS_FACES] = {
    {"dirichlet", "robin", "neumann", "dirichlet", "fixed", "reflective"},
    {"periodic", "periodic", "clamp", "constant", "robin", "dirichlet"},
};
enum { MIXTURES = sizeof mixtures / sizeof *mixtures };

struct choice {
    const struct hs_kernel *kernel;
    int dims, radius, kind, number;
    enum hs_precision precision;
    const struct grid *grid, *end; /* candidates; the first that suits is used */
};

static int kind_of(const char *name)
{
    int kind = 0;
    while (strcmp(hs_boundary_kinds[kind].name, name) != 0)
        kind++;
    return kind;
}

static struct walls walls_of(int kind, int data)
{
    struct walls walls = {.data = data};
    for (int face = 0; face < HS_FACES; face++)
        walls.kind[face] = kind < count_kinds() ? hs_boundary_kinds[kind].name
                                                : mixtures[kind - count_kinds()][face];
    return walls;
}

enum { FEW = 4 }; /* fixed, dirichlet, neumann, robin; as many as the sources of such a kernel */

/* Kernels that apply walls also need periodic ones and the mixtures. To them the kinds in between
 * are only other numbers in robin's rule. */
static bool is_one_too_many(const struct choice *c)
{
    const bool more =
        (c->kernel->features & HS_APPLIES_WALLS) && (c->kind == FEW || c->kind >= count_kinds());
    return getenv("HS_GPU_FEW") && c->grid == usual && c->kind >= FEW && !more;
}

static bool my_share(const struct choice *c)
{
    int share = 0, shares = 1;
    const char *text = getenv("HS_GPU_SHARE");
    if (text && (sscanf(text, "%d/%d", &share, &shares) != 2 || shares < 1))
        fail_msg("HS_GPU_SHARE=%s: give K/N", text);
    return c->number % shares == share && asked_for(c->kernel->name);
}

/* Single sweeps: there and back. Fused ones: as many as a call can have (16 if that is above 32), a
 * rest that differs from case to case, since kernels have code for each number, and two single
 * ones. */
static int64_t sweeps_of(const struct choice *c, const struct hs_problem *problem)
{
    const int steps = hs_kernel_steps_for(c->kernel, problem), whole = steps <= 32 ? steps : 16;
    return whole == 1 ? 2 : whole + c->number % whole + 2;
}

static void compare(const struct choice *c, const struct hs_problem *problem, const char *what)
{
    void *initial = random_values(problem);
    const int64_t count = sweeps_of(c, problem);
    /* calls of the most sweeps give a fused max-norm of the last one's change, if the kernel can */
    struct hs_kernel_plan plan;
    char reason[256];
    hs_kernel_plan_here(c->kernel, problem, &plan, reason, sizeof reason);
    const bool tells = plan.fused_max_norm;
    const int64_t last = tells ? plan.steps + 1 : 2;
    const struct outcome a =
        run_on(&hs_backend_cpu, &hs_kernel_cpu_openmp, problem, initial, count, 2);
    const double begin = hs_clock_now();
    const struct outcome b = run_on(cuda_backend(), c->kernel, problem, initial, count, last);
    const double seconds = hs_clock_now() - begin;
    assert_same_field(problem, b.field, a.field, what);
    assert_same_reduction(&b.reduction, &a.reduction);
    printf("%s, %lld sweeps: %.0f ms\n", what, (long long)count, 1e3 * seconds);
    free(a.field);
    free(b.field);
    free(initial);
}

/* How many of the boundary data and sources a kernel is tried with: all that reach the kernel. The
 * backend puts the others into the ghosts, or adds them up, before it calls the kernel. */
static int data_of(const struct hs_kernel *kernel)
{
    return (kernel->features & HS_APPLIES_WALLS) ? DATA_TEXTS : 1;
}

/* Of all; of those that are not fields that change in time; of those that are not fields. */
static int source_of(const struct choice *c, int attempt)
{
    static const int sources[] = {SOURCE_TEXTS, 4, 3};
    return c->number % ((c->kernel->features & HS_APPLIES_WALLS) ? sources[attempt] : 4);
}

/* Runs the first grid that the kernel suits, with the walls and the source that vary most. */
static bool run_first_that_suits(const struct choice *c, char *reason, size_t size)
{
    enum { ATTEMPTS = 3 };
    for (const struct grid *grid = c->grid; grid < c->end; grid++)
        for (int way = ATTEMPTS * data_of(c->kernel) - 1; way >= 0; way--) {
            const int data = way / ATTEMPTS, attempt = ATTEMPTS - 1 - way % ATTEMPTS;
            const int source = grid->source ? grid->source : source_of(c, attempt);
            const struct walls walls = walls_of(c->kind, data);
            const int64_t *n = grid->points;
            struct hs_problem problem;
            make_problem(&problem, c->dims, c->radius, c->precision, n, &walls,
                         source_texts[source]);
            const bool suits = hs_kernel_suits(c->kernel, &problem, reason, size);
            if (suits) {
                char what[256];
                snprintf(what, sizeof what,
                         "%s, %dD radius %d %s, %lld %lld %lld, %s..., data %d, source %d",
                         c->kernel->name, c->dims, c->radius, hs_precision_name(c->precision),
                         (long long)n[0], (long long)n[1], (long long)n[2], walls.kind[0], data,
                         source);
                compare(c, &problem, what);
            }
            hs_problem_release(&problem);
            if (suits)
                return true;
        }
    return false;
}

static int all, mine, ran;

static void run_if_mine(const struct choice *c)
{
    char reason[512];
    if (is_one_too_many(c))
        return;
    all++;
    if (!my_share(c))
        return;
    mine++;
    if (run_first_that_suits(c, reason, sizeof reason))
        ran++;
    else
        printf("%s: not run: %s\n", c->kernel->name, reason); /* on this GPU */
}

/* One dims, radius and precision: every kind of wall, then the larger grids. */
static void run_cases(struct choice c)
{
    for (c.kind = 0; c.kind < count_kinds() + MIXTURES; c.kind++, c.number++) {
        c.grid = usual;
        c.end = usual + USUAL;
        run_if_mine(&c);
    }
    for (const struct grid *grid = larger; grid < larger + LARGER; grid++)
        if (strcmp(grid->kernel, c.kernel->name) == 0 && grid->dims == c.dims &&
            c.radius <= grid->radius && !(grid->single && c.precision == HS_DOUBLE)) {
            c.grid = grid;
            c.end = grid + 1;
            c.kind =
                grid->walls ? kind_of(grid->walls) : count_kinds() + (int)c.precision % MIXTURES;
            c.number = all;
            run_if_mine(&c);
        }
}

void test_cuda_small__all_agree(void **state)
{
    char reason[512];
    setvbuf(stdout, NULL, _IOLBF, 0); /* shows how far a slow run is */
    for (int n = 0; hs_kernels[n]; n++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
                for (int p = 0; p < HS_PRECISIONS; p++) {
                    const struct choice c = {.kernel = hs_kernels[n],
                                             .dims = dims,
                                             .radius = radius,
                                             .number = all,
                                             .precision = (enum hs_precision)p};
                    if (c.kernel->device == HS_CUDA &&
                        hs_features_cover(c.kernel->name, c.kernel->features,
                                          hs_feature_stencil(dims, radius, c.precision), reason,
                                          sizeof reason))
                        run_cases(c);
                }
    printf("%d of %d cases agree\n", ran, all);
    assert_true(mine > 0); /* else HS_KERNEL names no kernel */
    assert_true(all >= 3 * HS_MAX_RADIUS * HS_PRECISIONS * FEW); /* the cases of `basic` */
}
