/*
 * A grid beyond 2^31 points: 1536^3 in float, periodic. Its initial values repeat every 96 points,
 * so it must remain a repetition of the same case on 96^3.
 */
#include "gpu/gpu.h"

enum { PERIOD = 96, REPEATS = 16, POINTS = PERIOD * REPEATS };

/* Planes [first, first + PERIOD) of the large grid from the small one. */
static void repeat(const float *small, float *slab)
{
    for (int64_t k = 0; k < PERIOD; k++)
        for (int64_t j = 0; j < POINTS; j++)
            for (int64_t i = 0; i < POINTS; i += PERIOD)
                memcpy(slab + (k * POINTS + j) * POINTS + i,
                       small + (k * PERIOD + j % PERIOD) * PERIOD, PERIOD * sizeof *slab);
}

static void check_plane(const struct hs_kernel *kernel, const float *plane, const float *small,
                        int64_t k)
{
    for (int64_t j = 0; j < POINTS; j++)
        for (int64_t i = 0; i < POINTS; i += PERIOD)
            if (memcmp(plane + j * POINTS + i,
                       small + ((k % PERIOD) * PERIOD + j % PERIOD) * PERIOD,
                       PERIOD * sizeof *plane))
                fail_msg("%s: row (%lld.., %lld, %lld) is not that of the small grid", kernel->name,
                         (long long)i, (long long)j, (long long)k);
}

static void run_large(const struct hs_kernel *kernel, const struct hs_problem *large,
                      const float *slab, const float *expected, int64_t count)
{
    /* both ends, and around plane 910, which contains element 2^31 */
    static const int64_t planes[] = {0, 1, 95, 96, 767, 909, 910, 911, 912, 1439, 1534, 1535};
    struct hs_backend_state *state = NULL;
    float *plane = malloc(sizeof *plane * POINTS * POINTS);
    assert_non_null(plane);
    const struct hs_span span = {.count = count, .step = 0.01, .op = hs_problem_operator(large, 1)};
    assert_ok_of(kernel->name, cuda_backend()->create(large, kernel, &state, &err));
    for (int64_t k = 0; k < POINTS; k += PERIOD) {
        const struct hs_box box = {{0, 0, k}, {POINTS, POINTS, k + PERIOD}};
        assert_ok(cuda_backend()->upload(state, &box, slab, &err));
    }
    assert_ok_of(kernel->name, cuda_backend()->sweep(state, &span, &err));
    for (size_t n = 0; n < sizeof planes / sizeof *planes; n++) {
        const struct hs_box box = {{0, 0, planes[n]}, {POINTS, POINTS, planes[n] + 1}};
        assert_ok(cuda_backend()->download(state, &box, plane, &err));
        check_plane(kernel, plane, expected, planes[n]);
    }
    struct hs_reduction r;
    assert_ok(hs_reduce(cuda_backend(), state, large, &r, &err));
    double sum = 0.0, least = INFINITY;
    for (int i = 0; i < PERIOD * PERIOD * PERIOD; i++) {
        sum += expected[i];
        least = fmin(least, expected[i]);
    }
    assert_true(r.min == least && r.not_finite == 0);
    /* the means of 10^6 and 10^9 values, each summed in parts of thousands */
    assert_near(r.mean, sum / (PERIOD * PERIOD * PERIOD), 1e-11);
    cuda_backend()->destroy(state);
    free(plane);
    printf("%s: 1536^3 is the image of 96^3 after %lld sweeps\n", kernel->name, (long long)count);
}

void test_cuda_large__is_the_image_of_a_small_grid(void **state)
{
    static const int64_t few[HS_AXES] = {PERIOD, PERIOD, PERIOD};
    static const int64_t many[HS_AXES] = {POINTS, POINTS, POINTS};
    const struct walls walls = ALL("periodic", 0);
    struct hs_problem small, large;
    make_problem(&small, 3, 1, HS_FLOAT, few, &walls, source_texts[1]);
    make_problem(&large, 3, 1, HS_FLOAT, many, &walls, source_texts[1]);
    float *initial = random_values(&small);
    float *slab = malloc(sizeof *slab * PERIOD * POINTS * POINTS);
    assert_non_null(slab);
    repeat(initial, slab);
    for (int n = 0; hs_kernels[n]; n++) {
        char reason[256];
        const struct hs_kernel *kernel = hs_kernels[n];
        if (kernel->device != HS_CUDA || !hs_kernel_suits(kernel, &large, reason, sizeof reason))
            continue;
        const int64_t count = kernel->steps + 2;
        const struct outcome expected =
            run_on(&hs_backend_cpu, &hs_kernel_cpu_openmp, &small, initial, count, 2);
        run_large(kernel, &large, slab, expected.field, count);
        free(expected.field);
    }
    free(slab);
    free(initial);
    hs_problem_release(&small);
    hs_problem_release(&large);
}
