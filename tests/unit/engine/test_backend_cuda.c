/*
 * What can be tested of the CUDA backend and its kernels without a GPU: why it cannot run here, the
 * memory that it would need, and launches that cover the grid and that a device accepts.
 */
#include "engine/registry.h"
#include "test.h"

#include <string.h>

/* NULL in a build without nvcc. */
static const struct hs_backend *cuda_backend(void)
{
    for (int n = 0; hs_backends[n]; n++)
        if (hs_backends[n]->device == HS_CUDA)
            return hs_backends[n];
    return NULL;
}

/* Limits of all devices from sm_75 on, but 227 KB of shared memory is Hopper's, the largest. */
static void check_launch(const struct hs_kernel *kernel, const struct hs_case *of,
                         const struct hs_geometry *g)
{
    const int64_t threads = (int64_t)g->threads[0] * g->threads[1] * g->threads[2];
    if (threads < 1 || threads > 1024 || g->threads[HS_Z] > 64 || g->launched < 1 ||
        g->launched > INT32_MAX || g->shared_bytes > 227 * 1024)
        fail_msg("%s: %lld blocks of %lld threads with %lld bytes of shared memory", kernel->name,
                 (long long)g->launched, (long long)threads, (long long)g->shared_bytes);
    /* only the box, even if a kernel that applies walls also writes held layers */
    if (g->points_updated != hs_box_count(&of->box))
        fail_msg("%s: %lld output points of a box of %lld", kernel->name,
                 (long long)g->points_updated, (long long)hs_box_count(&of->box));
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t extent = of->box.hi[axis] - of->box.lo[axis];
        /* a fused march's tiles at two faces also store their halos there */
        const int halos = kernel->steps > 1 ? g->input_tile[axis] - g->output_tile[axis] : 0;
        if (g->blocks[axis] * g->output_tile[axis] + halos < extent)
            fail_msg("%s: axis %d: %lld tiles of %d do not cover %lld points", kernel->name, axis,
                     (long long)g->blocks[axis], g->output_tile[axis], (long long)extent);
    }
}

/* Counts the grids for which the kernel has a launch. */
static int check_launches(const struct hs_kernel *kernel, int dims, int radius,
                          enum hs_precision precision)
{
    static const int64_t sizes[][HS_AXES] = {
        {7, 7, 7}, {120, 120, 120}, {517, 131, 33}, {1024, 1024, 1024}, {1536, 1536, 1536}};
    struct hs_face face[HS_FACES] = {{0}};
    int launches = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int held = 0; held <= radius; held += radius) {
            struct hs_grid grid = {.dims = dims};
            for (int axis = 0; axis < HS_AXES; axis++)
                grid.points[axis] = axis < dims ? sizes[s][axis] : 1;
            const int64_t align = 128 / (int64_t)hs_precision_size(precision);
            struct hs_case of = {.asked = hs_feature_stencil(dims, radius, precision),
                                 .precision = precision,
                                 .dims = dims,
                                 .radius = radius,
                                 .layout = hs_layout_make(&grid, radius, align),
                                 .box = hs_grid_box(&grid),
                                 .face = face};
            for (int axis = 0; axis < dims; axis++) {
                of.box.lo[axis] += held;
                of.box.hi[axis] -= held;
                face[2 * axis].held = face[2 * axis + 1].held = held;
            }
            struct hs_kernel_plan plan;
            char reason[256];
            if (!hs_kernel_plan_make(kernel, &of, hs_device_find("H200"), &plan, reason,
                                     sizeof reason))
                continue;
            check_launch(kernel, &of, &plan.launch);
            launches++;
        }
    return launches;
}

void test_backend_cuda__launches_cover_the_grid(void **state)
{
    int kernels = 0;
    for (int n = 0; hs_kernels[n]; n++) {
        if (hs_kernels[n]->device != HS_CUDA || !(hs_kernels[n]->features & HS_STENCIL))
            continue; /* those of bodies are tested in the emulator */
        int launches = 0;
        for (int dims = 1; dims <= 3; dims++)
            for (int radius = 1; radius <= HS_MAX_RADIUS; radius++)
                for (int p = 0; p < HS_PRECISIONS; p++)
                    launches += check_launches(hs_kernels[n], dims, radius, (enum hs_precision)p);
        assert_true(launches > 0);
        kernels++;
    }
    assert_true(kernels >= 18);
}

void test_backend_cuda__says_why_it_cannot_run(void **state)
{
    const struct hs_backend *cuda = cuda_backend();
    if (!cuda)
        return;
    struct hs_error err = {0};
    /* either there is no driver or no device here, or none has this number */
    assert_int_equal(cuda->available(1000, &err), HS_DEVICE);
    assert_int_equal(err.count, 1);
    if (!strstr(err.text, "no CUDA d") && !strstr(err.text, "solver.device = 1000") &&
        !strstr(err.text, "update the driver"))
        fail_msg("unexpected reason: %s", err.text);
    hs_error_release(&err);
}

void test_backend_cuda__a_run_takes_two_fields_and_a_source(void **state)
{
    const struct hs_backend *cuda = cuda_backend();
    const struct hs_kernel *basic = NULL;
    if (!cuda)
        return;
    assert_ok(hs_kernel_find("basic", HS_CUDA, &basic, &err));
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid.dims = 3;
    problem.precision = HS_FLOAT;
    for (int axis = 0; axis < HS_AXES; axis++)
        problem.grid.points[axis] = 512;
    const double field = 4.0 * 512 * 512 * 512;
    /* ghosts and the gap between rows add 2, 2 and 34 to 512 */
    const double most = (514.0 / 512) * (514.0 / 512) * (546.0 / 512);
    const double plain = cuda->memory(&problem, basic);
    /* two for sweeps, and one for snapshots in transit */
    assert_true(plain >= 3.0 * field && plain <= 3.0 * field * most * (1.0 + 1e-12));
    problem.source.present = true;
    problem.source.field.data = (double *)&problem; /* from a file: never read here */
    assert_near(cuda->memory(&problem, basic) / plain, 4.0 / 3.0, 1e-12);
    problem.source.field.data = NULL;
    hs_problem_release(&problem);
}
