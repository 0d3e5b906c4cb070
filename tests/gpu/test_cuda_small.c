/*
 * Every CUDA kernel with every dims, radius, precision and kind of boundary that it can do, each on
 * the smallest grid of a list that it suits: the same bits as the CPU backend. Small enough for
 * compute-sanitizer. HS_GPU_SHARE=K/N runs the Kth of N shares of the cases, so that processes can
 * do it side by side. The last line says how many of all there are agree; what this GPU cannot do
 * is named before.
 */
#include "gpu/gpu.h"

/* Less than a tile, and for kernels that fuse sweeps a tile or two and a rest. */
static const int64_t sizes[][HS_AXES] = {
    {37, 19, 11}, {70, 67, 12}, {517, 67, 12}, {2061, 131, 23}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* After the kinds of the table one on all faces: several together, and the walls of an axis apart.
 */
static const char *const mixtures[][HS_FACES] = {
    {"dirichlet", "robin", "neumann", "dirichlet", "fixed", "reflective"},
    {"periodic", "periodic", "clamp", "constant", "robin", "dirichlet"},
};
enum { MIXTURES = sizeof mixtures / sizeof *mixtures };

static int kinds(void)
{
    int count = 0;
    while (hs_boundary_kinds[count].name)
        count++;
    return count;
}

static struct walls walls_of(int kind, int drive)
{
    struct walls walls = {.drive = drive};
    for (int face = 0; face < HS_FACES; face++)
        walls.kind[face] =
            kind < kinds() ? hs_boundary_kinds[kind].name : mixtures[kind - kinds()][face];
    return walls;
}

static bool my_share(int number)
{
    int share = 0, shares = 1;
    const char *text = getenv("HS_GPU_SHARE");
    if (text && (sscanf(text, "%d/%d", &share, &shares) != 2 || shares < 1))
        fail_msg("HS_GPU_SHARE=%s: give K/N", text);
    return number % shares == share;
}

static void compare(const struct hs_kernel *kernel, const struct hs_problem *problem,
                    const char *what)
{
    void *initial = random_values(problem);
    const int64_t count = 2 * kernel->steps + 3; /* whole fusions, one left, and two more */
    const struct outcome a =
        run_on(&hs_backend_cpu, &hs_kernel_cpu_openmp, problem, initial, count);
    const struct outcome b = run_on(cuda_backend(), kernel, problem, initial, count);
    assert_same_field(problem, b.field, a.field, what);
    assert_same_reduction(&b.reduction, &a.reduction);
    free(a.field);
    free(b.field);
    free(initial);
}

struct choice {
    const struct hs_kernel *kernel;
    int dims, radius, kind, number;
    enum hs_precision precision;
};

/* On the first grid that the kernel suits, with the walls and the source that vary most there. */
static bool run_first_that_suits(const struct choice *c, char *reason, size_t size)
{
    for (int s = 0; s < SIZES; s++)
        for (int variant = 0; variant < DRIVE_TEXTS; variant++) {
            const int drive = DRIVE_TEXTS - 1 - variant;
            /* none, uniform, in time, a field, both, in turn; no fields for those that take none */
            const int source = c->number % (variant == 0 ? SOURCE_TEXTS : 3);
            const struct walls walls = walls_of(c->kind, drive);
            struct hs_problem problem;
            make_problem(&problem, c->dims, c->radius, c->precision, sizes[s], &walls,
                         source_texts[source]);
            const bool suits = hs_kernel_suits(c->kernel, &problem, reason, size);
            if (suits) {
                char what[256];
                snprintf(what, sizeof what, "%s, %dD radius %d %s, %s..., drive %d, source %d",
                         c->kernel->name, c->dims, c->radius, hs_precision_name(c->precision),
                         walls.kind[0], drive, source);
                compare(c->kernel, &problem, what);
            }
            hs_problem_release(&problem);
            if (suits)
                return true;
        }
    return false;
}

void test_cuda_small__all_agree(void **state)
{
    (void)state;
    char reason[512];
    int all = 0, ran = 0;
    for (int n = 0; hs_kernels[n]; n++)
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
                for (int p = 0; p < HS_PRECISIONS; p++) {
                    if (hs_kernels[n]->device != HS_CUDA ||
                        !hs_kernel_can(hs_kernels[n], dims, radius, (enum hs_precision)p, reason,
                                       sizeof reason))
                        continue;
                    for (int kind = 0; kind < kinds() + MIXTURES; kind++) {
                        const struct choice c = {hs_kernels[n], dims,  radius,
                                                 kind,          all++, (enum hs_precision)p};
                        if (!my_share(c.number))
                            continue;
                        if (!run_first_that_suits(&c, reason, sizeof reason)) {
                            printf("%s: not run: %s\n", c.kernel->name, reason);
                            continue; /* on this GPU */
                        }
                        ran++;
                    }
                }
    printf("%d of %d cases agree\n", ran, all);
    assert_true(ran > 0 && all >= 3 * HS_MAX_RADIUS * HS_PRECISIONS * kinds()); /* those of basic */
}
