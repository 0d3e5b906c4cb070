#include "engine/registry.h"
#include "test.h"

#include <string.h>

/* ---- a registry of our own: a GPU whose state the test decides, and the CPU ------------------ */

static enum hs_status gpu_status;

static enum hs_status gpu_available(int device, struct hs_error *err)
{
    return gpu_status ? hs_error_add(err, gpu_status, "cuda: no driver is loaded") : HS_OK;
}

static enum hs_status cpu_available(int device, struct hs_error *err)
{
    return HS_OK;
}

static enum hs_status swept(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                            struct hs_error *err)
{
    return HS_OK;
}

#define ALL (HS_STENCIL | HS_ALL_DIMS | HS_ALL_RADII | HS_ALL_PRECISIONS | HS_ALL_VALUES)

static const struct hs_backend gpu = {
    .name = "cuda", .device = HS_CUDA, .available = gpu_available};
static const struct hs_backend cpu = {.name = "cpu", .device = HS_CPU, .available = cpu_available};
static const struct hs_backend *const backends[] = {&gpu, &cpu, NULL};
static const struct hs_backend *const cpu_only[] = {&cpu, NULL};

static const struct hs_kernel reference = {
    .name = "reference", .device = HS_CPU, .features = ALL, .sweep = swept};
static const struct hs_kernel openmp = {
    .name = "openmp", .device = HS_CPU, .features = ALL, .sweep = swept};
static const struct hs_kernel march = {.name = "vector_march",
                                       .device = HS_CUDA,
                                       .features = HS_STENCIL | HS_3D | HS_RADIUS_1 |
                                                   HS_ALL_PRECISIONS | HS_ALL_VALUES,
                                       .sweep = swept};
static const struct hs_kernel window = {.name = "register_window",
                                        .device = HS_CUDA,
                                        .features = HS_STENCIL | HS_1D | HS_ALL_RADII |
                                                    HS_IN_FLOAT | HS_ALL_VALUES,
                                        .sweep = swept};
static const struct hs_kernel bulk = {.name = "bulk_march", .device = HS_CUDA, .features = ALL};
static const struct hs_kernel *const kernels[] = {&reference, &openmp, &march, &window, NULL};
static const struct hs_kernel *const not_built[] = {&reference, &openmp, &bulk, NULL};

struct outcome {
    enum hs_status status;
    const struct hs_backend *backend;
    const struct hs_kernel *kernel;
    char note[256];
    char message[1024];
};

static struct outcome choose_from(const struct hs_registry *registry, const char *backend,
                                  const char *kernel, int dims, int radius)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid.dims = dims;
    problem.radius = radius;
    problem.solver.backend = (char *)(uintptr_t)backend;
    problem.solver.kernel = (char *)(uintptr_t)kernel;
    struct outcome out = {0};
    struct hs_error err = {0};
    out.status = hs_choose_among(registry, &problem, &out.backend, &out.kernel, out.note,
                                 sizeof out.note, &err);
    if (err.text)
        strncpy(out.message, err.text, sizeof out.message - 1);
    hs_error_release(&err);
    return out;
}

static struct outcome choose(const struct hs_backend *const *from, const char *backend,
                             const char *kernel, int dims, int radius)
{
    return choose_from(&(struct hs_registry){from, kernels}, backend, kernel, dims, radius);
}

#define assert_says(text, part)                                                                    \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("\"%s\" does not say \"%s\"", text, part);                                    \
    } while (0)

void test_registry__auto_takes_the_gpu_where_there_is_one(void **state)
{
    gpu_status = HS_OK;
    const struct outcome out = choose(backends, "auto", "auto", 3, 1);
    assert_int_equal(out.status, HS_OK);
    assert_ptr_equal(out.backend, &gpu);
    assert_ptr_equal(out.kernel, &march);
    assert_string_equal(out.note, "");
}

void test_registry__auto_falls_to_the_cpu_and_says_why(void **state)
{
    gpu_status = HS_DEVICE;
    const struct outcome out = choose(backends, "auto", "auto", 3, 1);
    assert_int_equal(out.status, HS_OK);
    assert_ptr_equal(out.backend, &cpu);
    assert_ptr_equal(out.kernel, &openmp);
    assert_string_equal(out.note, "using the cpu backend: cuda: no driver is loaded");
}

void test_registry__auto_needs_no_note_without_a_gpu_backend(void **state)
{
    const struct outcome out = choose(cpu_only, "auto", "auto", 2, 3);
    assert_int_equal(out.status, HS_OK);
    assert_ptr_equal(out.kernel, &openmp);
    assert_string_equal(out.note, "");
}

/* A kernel that is named for the CPU is not looked for on the GPU. */
void test_registry__named_kernel_decides_the_device(void **state)
{
    gpu_status = HS_OK;
    struct outcome out = choose(backends, "auto", "reference", 3, 1);
    assert_int_equal(out.status, HS_OK);
    assert_ptr_equal(out.backend, &cpu);
    assert_ptr_equal(out.kernel, &reference);
    out = choose(backends, "auto", "vector_march", 3, 1);
    assert_ptr_equal(out.backend, &gpu);
}

void test_registry__cuda_that_cannot_run_is_a_device_error(void **state)
{
    gpu_status = HS_DEVICE;
    struct outcome out = choose(backends, "cuda", "auto", 3, 1);
    assert_int_equal(out.status, HS_DEVICE);
    assert_says(out.message, "--backend \"cuda\": cuda: no driver is loaded");
    assert_says(out.message, "\"auto\" takes what there is");
    out = choose(backends, "auto", "vector_march", 3, 1);
    assert_int_equal(out.status, HS_DEVICE);
    assert_says(out.message, "--kernel \"vector_march\": it is a kernel of the cuda backend, "
                             "which cannot run here: cuda: no driver is loaded; \"auto\" takes");
    out = choose(cpu_only, "cuda", "auto", 3, 1);
    assert_int_equal(out.status, HS_DEVICE);
    assert_says(out.message, "--backend \"cuda\"");
    assert_says(out.message, "make CUDA_ARCH=90");
}

void test_registry__unknown_kernel_names_the_nearest(void **state)
{
    const struct outcome out = choose(cpu_only, "cpu", "openpm", 3, 1);
    assert_int_equal(out.status, HS_BAD_INPUT);
    assert_says(out.message, "did you mean \"openmp\"?");
    assert_says(out.message, "(known: reference, openmp");
    const struct outcome far = choose(cpu_only, "cpu", "zzzzzz", 3, 1);
    assert_int_equal(far.status, HS_BAD_INPUT);
    assert_null(strstr(far.message, "did you mean"));
}

void test_registry__kernel_of_another_device_is_said_to_be_one(void **state)
{
    const struct outcome out = choose(backends, "cpu", "vector_march", 3, 1);
    assert_int_equal(out.status, HS_BAD_INPUT);
    assert_says(out.message, "it is a kernel of the cuda backend");
}

/* If any backend would do, the name is looked for in all of them. The message says why kernels of a
 * backend that does not run here are not available. */
void test_registry__a_mistyped_name_is_looked_for_on_every_device(void **state)
{
    gpu_status = HS_DEVICE;
    struct outcome out = choose(backends, "auto", "vector_mach", 3, 1);
    assert_int_equal(out.status, HS_BAD_INPUT);
    assert_says(out.message,
                "\"vector_mach\": no kernel has that name; did you mean \"vector_march\"? It is a "
                "kernel of the cuda backend, which cannot run here: cuda: no driver is loaded "
                "(known here: reference, openmp)");
    gpu_status = HS_OK;
    out = choose(backends, "auto", "openm", 3, 1); /* the GPU is first, and has no such kernel */
    assert_says(out.message,
                "did you mean \"openmp\"? It is a kernel of the cpu backend (known here: "
                "reference, openmp, vector_march, register_window");
    out = choose(backends, "cpu", "vector_mach", 3, 1);
    assert_says(out.message,
                "the cpu backend has none of that name; did you mean \"vector_march\"? "
                "It is a kernel of the cuda backend (known: reference, openmp)");
}

/* As in a build without CUDA: the kernels that it lacks have no sweep. */
void test_registry__kernel_that_is_not_built_is_a_device_error(void **state)
{
    const struct hs_registry registry = {cpu_only, not_built};
    const struct outcome out = choose_from(&registry, "auto", "bulk_march", 3, 1);
    assert_int_equal(out.status, HS_DEVICE);
    assert_says(out.message,
                "--kernel \"bulk_march\": it is a kernel of the cuda backend, " HS_NOT_BUILT
                "; \"auto\" takes one that can run here");
    const struct outcome near = choose_from(&registry, "auto", "bulk_mach", 3, 1);
    assert_int_equal(near.status, HS_BAD_INPUT);
    assert_says(near.message,
                "did you mean \"bulk_march\"? It is a kernel of the cuda backend, " HS_NOT_BUILT
                " (known here: reference, openmp)");
}

void test_registry__kernel_that_cannot_names_those_that_can(void **state)
{
    gpu_status = HS_OK;
    struct outcome out = choose(backends, "cuda", "register_window", 3, 1);
    assert_int_equal(out.status, HS_BAD_INPUT);
    assert_says(out.message, "register_window cannot do 3D, only 1D");
    assert_says(out.message, "kernels that can (3D, radius 1, double): vector_march");
    out = choose(backends, "cuda", "auto", 2, 1);
    assert_int_equal(out.status, HS_BAD_INPUT);
    assert_says(out.message, "kernels that can (2D, radius 1, double): none");
}

void test_registry__unknown_backend_is_bad_input(void **state)
{
    const struct outcome out = choose(cpu_only, "fpga", "auto", 3, 1);
    assert_int_equal(out.status, HS_BAD_INPUT);
    assert_says(out.message, "this build has: cpu");
}

/* ---- this build's own tables ----------------------------------------------------------------- */

void test_registry__this_build_has_the_cpu_kernels(void **state)
{
    const struct hs_kernel *kernel = NULL;
    assert_ok(hs_kernel_find("openmp", HS_CPU, &kernel, &err));
    assert_string_equal(kernel->name, "openmp");
    assert_ok(hs_kernel_find("reference", HS_CPU, &kernel, &err));
    assert_fails(hs_kernel_find("no such", HS_CPU, &kernel, &err), HS_BAD_INPUT, "");
    assert_null(kernel);
}

/* A kernel file defines the name that its file has, so names are known and unique. */
void test_registry__names_are_not_used_twice(void **state)
{
    for (int a = 0; hs_kernels[a]; a++)
        for (int b = 0; b < a; b++)
            assert_false(hs_kernels[a]->device == hs_kernels[b]->device &&
                         strcmp(hs_kernels[a]->name, hs_kernels[b]->name) == 0);
}
