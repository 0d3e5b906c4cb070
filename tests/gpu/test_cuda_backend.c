/* The CUDA backend: copies of boxes, reductions, sines on the device, and refusals. */
#include "gpu/gpu.h"

#include <float.h>

static const int64_t points[HS_AXES] = {70, 21, 13};

static struct hs_backend_state *create(const struct hs_problem *problem)
{
    struct hs_backend_state *state = NULL;
    const struct hs_kernel *kernel = NULL;
    assert_ok(hs_kernel_find("basic", HS_CUDA, &kernel, &err));
    assert_ok(cuda_backend()->create(problem, kernel, &state, &err));
    return state;
}

void test_cuda_backend__boxes_come_back(void **state)
{
    for (int dims = 1; dims <= 3; dims++)
        for (int p = 0; p < HS_PRECISIONS; p++) {
            struct hs_problem problem;
            make_problem(&problem, dims, 2, (enum hs_precision)p, points, &wall_table[0], NULL);
            const size_t size = hs_precision_size(problem.precision);
            char *all = random_values(&problem), *back = malloc(field_bytes(&problem));
            struct hs_backend_state *device = create(&problem);
            const struct hs_box whole = hs_grid_box(&problem.grid);
            assert_ok(cuda_backend()->upload(device, &whole, all, &err));
            assert_ok(cuda_backend()->download(device, &whole, back, &err));
            assert_memory_equal(back, all, field_bytes(&problem));

            struct hs_box box = whole; /* a part of the grid, and one node */
            for (int axis = 0; axis < dims; axis++) {
                box.lo[axis] += 3;
                box.hi[axis] -= 2;
            }
            assert_ok(cuda_backend()->download(device, &box, back, &err));
            const int64_t nx = box.hi[0] - box.lo[0], ny = box.hi[1] - box.lo[1];
            for (int64_t k = box.lo[2]; k < box.hi[2]; k++)
                for (int64_t j = box.lo[1]; j < box.hi[1]; j++)
                    assert_memory_equal(
                        back + (size_t)(((k - box.lo[2]) * ny + j - box.lo[1]) * nx) * size,
                        all + (size_t)((k * problem.grid.points[1] + j) * problem.grid.points[0] +
                                       box.lo[0]) *
                                  size,
                        (size_t)nx * size);
            struct hs_box node = whole;
            for (int axis = 0; axis < HS_AXES; axis++)
                node.lo[axis] = node.hi[axis] - 1;
            assert_ok(cuda_backend()->download(device, &node, back, &err));
            assert_memory_equal(back, all + field_bytes(&problem) - size, size);
            cuda_backend()->destroy(device);
            free(all);
            free(back);
            hs_problem_release(&problem);
        }
}

/* Fields of many pieces, cut along each axis in turn, with rows of odd lengths. */
void test_cuda_backend__large_boxes_come_back(void **state)
{
    static const int64_t sizes[][HS_AXES] = {{201, 151, 149}, {5003, 907, 1}, {4500001, 1, 1}};
    for (int dims = 1; dims <= 3; dims++) {
        struct hs_problem problem;
        make_problem(&problem, dims, 1, HS_DOUBLE, sizes[3 - dims], &wall_table[4], NULL);
        char *all = random_values(&problem), *back = malloc(field_bytes(&problem));
        char *shown = malloc(field_bytes(&problem));
        struct hs_backend_state *device = create(&problem);
        const struct hs_box whole = hs_grid_box(&problem.grid);
        struct hs_box part = whole;
        part.lo[dims - 1] = 1; /* the rest is contiguous in memory */
        const size_t skipped = field_bytes(&problem) - (size_t)hs_box_count(&part) * sizeof(double);
        for (int again = 0; again < 2; again++) {
            memset(back, 0, field_bytes(&problem));
            assert_ok(cuda_backend()->upload(device, &whole, all, &err));
            assert_ok(cuda_backend()->download(device, &whole, back, &err));
            assert_memory_equal(back, all, field_bytes(&problem));
            /* when upload returns, the memory may be overwritten */
            memset(back, 0, field_bytes(&problem));
            memcpy(shown, all, field_bytes(&problem));
            assert_ok(cuda_backend()->upload(device, &part, shown + skipped, &err));
            memset(shown, 0x3f, field_bytes(&problem));
            assert_ok(cuda_backend()->download(device, &part, back, &err));
            assert_memory_equal(back, all + skipped, field_bytes(&problem) - skipped);
        }
        cuda_backend()->destroy(device);
        free(all);
        free(back);
        free(shown);
        hs_problem_release(&problem);
    }
}

/* The box of planes [from, to). */
static struct hs_box slab(const struct hs_problem *problem, int64_t from, int64_t to)
{
    struct hs_box box = hs_grid_box(&problem->grid);
    box.lo[HS_Z] = from;
    box.hi[HS_Z] = to;
    return box;
}

/* Slabs of several sizes, each filled as soon as the one before is handed over, with ordinary
 * uploads in between. */
void test_cuda_backend__values_go_up_from_its_own_memory(void **state)
{
    static const int64_t size[HS_AXES] = {203, 301, 97};
    static const int64_t planes[] = {1, 7, 2, 30, 3};
    struct hs_problem problem;
    make_problem(&problem, 3, 1, HS_DOUBLE, size, &wall_table[4], NULL);
    const size_t plane = (size_t)(size[HS_X] * size[HS_Y]) * sizeof(double);
    char *all = random_values(&problem), *back = malloc(field_bytes(&problem));
    struct hs_backend_state *device = create(&problem);
    const struct hs_box whole = hs_grid_box(&problem.grid);
    int64_t from = 0;
    for (int n = 0; from < size[HS_Z]; n++) {
        const int64_t left = size[HS_Z] - from;
        const int64_t count = planes[n % 5] < left ? planes[n % 5] : left;
        const struct hs_box box = slab(&problem, from, from + count);
        void *values = all + (size_t)from * plane;
        if (n % 3 < 2) {
            assert_ok(cuda_backend()->upload_space(device, (size_t)count * plane, &values, &err));
            memcpy(values, all + (size_t)from * plane, (size_t)count * plane);
        }
        assert_ok(cuda_backend()->upload(device, &box, values, &err));
        from += count;
    }
    assert_ok(cuda_backend()->download(device, &whole, back, &err));
    assert_memory_equal(back, all, field_bytes(&problem));
    cuda_backend()->destroy(device);
    free(all);
    free(back);
    hs_problem_release(&problem);
}

/* Read while sweeps go on, also by CUDA graphs, in slabs of which the last is shorter. */
void test_cuda_backend__a_ticket_keeps_its_moment(void **state)
{
    enum { PLANES = 5 };
    static const int64_t size[HS_AXES] = {203, 101, 37};
    for (int p = 0; p < HS_PRECISIONS; p++) {
        struct hs_problem problem;
        make_problem(&problem, 3, 1, (enum hs_precision)p, size, &wall_table[4], NULL);
        const int64_t plane = size[HS_X] * size[HS_Y];
        const size_t bytes = hs_precision_size(problem.precision);
        char *all = random_values(&problem);
        char *then = malloc(field_bytes(&problem)), *later = malloc(field_bytes(&problem));
        struct hs_backend_state *device = create(&problem);
        const struct hs_box whole = hs_grid_box(&problem.grid);
        struct hs_span span = {.count = 3, .step = 1.0, .op = hs_problem_operator(&problem, 1.0)};
        assert_ok(cuda_backend()->upload(device, &whole, all, &err));
        for (int round = 0; round < 3; round++) {
            struct hs_readback *readback = NULL;
            const void *values = NULL;
            span.count = 3;
            assert_ok(cuda_backend()->sweep(device, &span, &err));
            assert_ok(cuda_backend()->download(device, &whole, then, &err));
            assert_ok(cuda_backend()->download_begin(device, &readback, &err));
            assert_non_null(readback);
            span.count = 150; /* more than four CUDA graphs of 32 */
            assert_ok(cuda_backend()->sweep(device, &span, &err));
            for (int64_t k = 0; k < size[HS_Z]; k += PLANES) {
                const int64_t end = k + PLANES < size[HS_Z] ? k + PLANES : size[HS_Z];
                const int64_t beyond = end + PLANES < size[HS_Z] ? end + PLANES : size[HS_Z];
                const struct hs_box box = slab(&problem, k, end),
                                    next = slab(&problem, end, beyond);
                /* announced, not announced, wrongly announced */
                const struct hs_box *announced = round == 0 ? &next : round == 1 ? NULL : &box;
                assert_ok(cuda_backend()->download_part(
                    readback, &box, end < beyond ? announced : NULL, &values, &err));
                assert_memory_equal(values, then + (size_t)(k * plane) * bytes,
                                    (size_t)((end - k) * plane) * bytes);
            }
            cuda_backend()->download_end(readback);
            assert_ok(cuda_backend()->download(device, &whole, later, &err));
            assert_memory_not_equal(later, then, field_bytes(&problem));
        }
        cuda_backend()->destroy(device);
        free(all);
        free(then);
        free(later);
        hs_problem_release(&problem);
    }
}

void test_cuda_backend__counts_what_is_not_finite(void **state)
{
    struct hs_problem problem;
    make_problem(&problem, 3, 1, HS_FLOAT, points, &wall_table[4], NULL);
    float *all = random_values(&problem);
    all[(5 * points[1] + 7) * points[0] + 69] = NAN;
    all[(6 * points[1] + 7) * points[0] + 1] = -INFINITY;
    struct hs_backend_state *device = create(&problem);
    const struct hs_box whole = hs_grid_box(&problem.grid);
    struct hs_reduction r;
    assert_ok(cuda_backend()->upload(device, &whole, all, &err));
    assert_ok(hs_reduce(cuda_backend(), device, &problem, &r, &err));
    assert_int_equal(r.not_finite, 2);
    assert_int_equal(r.first_bad[0], 69);
    assert_int_equal(r.first_bad[1], 7);
    assert_int_equal(r.first_bad[2], 5);
    assert_true(r.min >= 1.0 && r.max < 2.0 + FLT_EPSILON && isnan(r.change));
    /* 18,000 values in [1, 2) have a mean of 1.5 within 6 sigma = 0.013 */
    assert_near(r.mean, 1.5, 0.013);
    cuda_backend()->destroy(device);
    free(all);
    hs_problem_release(&problem);
}

/* sin and exp round differently on the device and on the host. CUDA bounds the error of its double
 * sin by 2 ulp and of exp by 1. Two sweeps of a stencil of sum 1 do not amplify it. */
void test_cuda_backend__sines_in_space_and_time(void **state)
{
    struct hs_problem problem;
    const struct walls walls = ALL("fixed", 0);
    make_problem(&problem, 3, 1, HS_DOUBLE, points, &walls, "sin(7*x + 3*y*t)*exp(-z*t)");
    const struct hs_kernel *kernel = NULL;
    assert_ok(hs_kernel_find("basic", HS_CUDA, &kernel, &err));
    void *initial = random_values(&problem);
    const struct outcome a =
        run_on(&hs_backend_cpu, &hs_kernel_cpu_openmp, &problem, initial, 4, 2);
    const struct outcome b = run_on(cuda_backend(), kernel, &problem, initial, 4, 2);
    for (int64_t i = 0; i < hs_grid_count(&problem.grid); i++)
        assert_near(((double *)b.field)[i], ((double *)a.field)[i], 16.0 * DBL_EPSILON);
    free(a.field);
    free(b.field);
    free(initial);
    hs_problem_release(&problem);
}

/* The points along an axis of the largest grid that fits, taken from the refusal. */
static long long fitting(const struct hs_problem *problem, const struct hs_kernel *kernel)
{
    struct hs_backend_state *device = NULL;
    long long fits = 0;
    struct hs_error err = {0};
    assert_int_equal(cuda_backend()->create(problem, kernel, &device, &err), HS_DEVICE);
    assert_null(device);
    assert_non_null(strstr(err.text, "the largest grid of these proportions that fits is "));
    puts(err.text);
    assert_int_equal(sscanf(strstr(err.text, "fits is ") + 8, "%lld", &fits), 1);
    hs_error_release(&err);
    return fits;
}

void test_cuda_backend__memory_short_says_what_fits(void **state)
{
    static const int64_t huge[HS_AXES] = {100000, 100000, 100000};
    struct hs_problem problem;
    make_problem(&problem, 3, 1, HS_FLOAT, huge, &wall_table[4], NULL);
    const struct hs_kernel *kernel = NULL;
    assert_ok(hs_kernel_find("basic", HS_CUDA, &kernel, &err));
    const long long fits = fitting(&problem, kernel);
    for (int axis = 0; axis < HS_AXES; axis++)
        problem.grid.points[axis] = fits - 64; /* allocations are rounded up */
    cuda_backend()->destroy(create(&problem));
    hs_problem_release(&problem);
}

void test_cuda_backend__no_such_device(void **state)
{
    assert_fails(cuda_backend()->available(99, &err), HS_DEVICE, "solver.device = 99");
}

/* Pairs of fields in turn: each gets its share of sweeps, by single launches and CUDA graphs. */
void test_cuda_backend__rotated_fields_are_swept_in_turn(void **state)
{
    enum { PAIRS = 4, LAUNCHED = 5, BY_GRAPH = 41 };
    struct hs_problem problem;
    make_problem(&problem, 3, 1, HS_DOUBLE, points, &wall_table[4], NULL);
    double *all = random_values(&problem);
    double *alone = malloc(field_bytes(&problem)), *turned = malloc(field_bytes(&problem));
    const struct hs_box whole = hs_grid_box(&problem.grid);
    struct hs_span span = {.step = 1.0, .op = hs_problem_operator(&problem, 1.0)};
    for (int rounds = LAUNCHED; rounds <= BY_GRAPH; rounds += BY_GRAPH - LAUNCHED) {
        double seconds = 0.0;
        struct hs_backend_state *device = create(&problem);
        assert_ok(cuda_backend()->upload(device, &whole, all, &err));
        span.count = rounds;
        assert_ok(cuda_backend()->sweep(device, &span, &err));
        assert_ok(cuda_backend()->download(device, &whole, alone, &err));
        assert_ok(cuda_backend()->upload(device, &whole, all, &err));
        assert_ok(cuda_backend()->rotate(device, PAIRS, &err));
        span.count = (int64_t)rounds * PAIRS;
        assert_ok(cuda_backend()->time_sweeps(device, &span, &seconds, &err));
        assert_ok(cuda_backend()->download(device, &whole, turned, &err));
        assert_memory_equal(turned, alone, field_bytes(&problem));
        assert_true(seconds > 0.0 && seconds < 10.0);
        span.count = 1; /* the next pair has had as many sweeps */
        assert_ok(cuda_backend()->sweep(device, &span, &err));
        assert_ok(cuda_backend()->download(device, &whole, turned, &err));
        assert_memory_equal(turned, alone, field_bytes(&problem));
        cuda_backend()->destroy(device);
    }
    free(all);
    free(alone);
    free(turned);
    hs_problem_release(&problem);
}
