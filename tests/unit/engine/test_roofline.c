#include "engine/measure/roofline.h"
#include "test.h"

#include <string.h>

extern const struct hs_backend hs_backend_cpu;

/* A launch of 4 sweeps: 10 blocks that load 150 points each and write 100, on 1000 points. */
static bool counted(const struct hs_case *of, const struct hs_device_limits *limits,
                    struct hs_kernel_plan *out, char *reason, size_t size)
{
    assert_int_equal(hs_box_count(&of->box), 1000);
    out->launch = (struct hs_geometry){
        .points_updated = 1000, .launched = 10, .points_loaded = 150, .points_written = 100};
    return true;
}

static bool miscounted(const struct hs_case *of, const struct hs_device_limits *limits,
                       struct hs_kernel_plan *out, char *reason, size_t size)
{
    out->launch = (struct hs_geometry){.points_updated = 1000, .launched = 1, .points_loaded = 1};
    return true;
}

static enum hs_status never(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                            struct hs_error *err)
{
    return HS_DEVICE;
}

#define ALL HS_STENCIL | HS_3D | HS_RADIUS_1 | HS_IN_FLOAT
static const struct hs_kernel single = {
    .name = "single", .features = ALL, .steps = 1, .plan = miscounted, .sweep = never};
static const struct hs_kernel fused = {
    .name = "fused", .features = ALL, .steps = 4, .plan = counted, .sweep = never};
static const struct hs_kernel hasty = {
    .name = "hasty", .features = ALL, .steps = 4, .plan = miscounted, .sweep = never};
static const struct hs_kernel bare = {.name = "bare", .features = ALL, .steps = 4, .sweep = never};

/* 12^3 nodes, of which 1000 are updated; a copy of 1 GB/s. */
static void make_bench(struct hs_bench *bench)
{
    *bench = (struct hs_bench){
        .request = {.dims = 3, .points = {12, 12, 12}, .radius = 1, .precision = HS_FLOAT},
        .problem = {.grid = {.dims = 3, .points = {12, 12, 12}}, .radius = 1},
        .updated = 1000};
    for (int face = 0; face < HS_FACES; face++)
        bench->problem.face[face].held = 1;
}

static struct hs_bench_row row_of(const struct hs_kernel *kernel, enum hs_bench_place place,
                                  double seconds)
{
    struct hs_bench_row row = {.kernel = kernel, .proven = true};
    row.figures[place] = (struct hs_bench_figures){
        .pairs = 1, .seconds = {3, seconds, seconds, seconds}, .copy = {3, 1e9, 1e9, 1e9}};
    return row;
}

void test_roofline__a_sweep_a_launch_moves_two_words(void **state)
{
    struct hs_bench bench;
    make_bench(&bench);
    /* 8 bytes a point at 1 GB/s: 8 us at the ceiling */
    const struct hs_bench_row rows[] = {row_of(&single, HS_BENCH_MEMORY, 10e-6),
                                        row_of(&single, HS_BENCH_MEMORY, 16e-6)};
    const struct hs_ceilings ceilings = {.flops = 1e12};
    struct hs_roofline r;
    hs_roofline_make(&bench, rows, 2, &ceilings, &r);
    assert_int_equal(r.count, 2);
    assert_true(r.place == HS_BENCH_MEMORY && r.flops_per_point == 13.0);
    assert_near(r.bandwidth, 1e9, 1.0);
    assert_near(r.point[0].words, 2.0, 0.0);
    assert_near(r.point[0].intensity, 13.0 / 8.0, 1e-15);
    assert_near(r.point[0].flops, 13.0 * 1000 / 10e-6, 1e-3);
    assert_near(r.point[0].fraction, 0.8, 1e-12);
    assert_int_equal(r.point[0].bound, HS_BOUND_MEMORY);
    assert_near(r.point[1].fraction, 0.5, 1e-12);
    assert_int_equal(r.point[1].bound, HS_BOUND_NEITHER);
}

void test_roofline__fused_sweeps_move_what_their_blocks_do(void **state)
{
    struct hs_bench bench;
    make_bench(&bench);
    const struct hs_bench_row rows[] = {row_of(&fused, HS_BENCH_MEMORY, 1e-6),
                                        row_of(&bare, HS_BENCH_MEMORY, 1e-6),
                                        row_of(&hasty, HS_BENCH_MEMORY, 1e-6)};
    const struct hs_ceilings ceilings = {0};
    struct hs_roofline r;
    hs_roofline_make(&bench, rows, 3, &ceilings, &r);
    assert_near(r.point[0].words, 10 * 250.0 / 4000.0, 1e-15);
    assert_near(r.point[0].intensity, 13.0 / (4 * 0.625), 1e-12);
    assert_near(r.point[1].words, 0.5, 0.0); /* without a count: the floor */
    assert_near(r.point[2].words, 0.5, 0.0); /* nor less than it */
}

void test_roofline__arithmetic_bounds_beyond_the_ridge(void **state)
{
    struct hs_bench bench;
    make_bench(&bench);
    const struct hs_bench_row rows[] = {row_of(&fused, HS_BENCH_MEMORY, 13e-6)};
    const struct hs_ceilings ceilings = {.flops = 1.1e9}; /* the ridge is at 1.1 FLOP/byte */
    struct hs_roofline r;
    hs_roofline_make(&bench, rows, 1, &ceilings, &r);
    assert_near(r.point[0].ceiling, 1.1e9, 1e-3);
    assert_near(r.point[0].fraction, 1.0 / 1.1, 1e-12);
    assert_int_equal(r.point[0].bound, HS_BOUND_COMPUTE);
}

void test_roofline__fields_in_the_cache_have_its_ceiling(void **state)
{
    struct hs_bench bench;
    make_bench(&bench);
    struct hs_bench_row rows[] = {row_of(&single, HS_BENCH_CACHE, 2e-6),
                                  row_of(&single, HS_BENCH_CACHE, 2e-6)};
    rows[1].proven = false;
    const struct hs_ceilings ceilings = {.flops = 1e12, .cache = 5e9};
    struct hs_roofline r;
    hs_roofline_make(&bench, rows, 2, &ceilings, &r);
    assert_int_equal(r.count, 1); /* unproven rows are not points */
    assert_int_equal(r.place, HS_BENCH_CACHE);
    assert_near(r.point[0].fraction, 0.8, 1e-12);
    assert_int_equal(r.point[0].bound, HS_BOUND_CACHE);
    rows[0].figures[HS_BENCH_MEMORY] = rows[0].figures[HS_BENCH_CACHE];
    hs_roofline_make(&bench, rows, 2, &ceilings, &r);
    assert_int_equal(r.place, HS_BENCH_MEMORY); /* memory is preferred */
    assert_near(r.point[0].fraction, 4.0, 1e-12);
}

/* From one core of anything since 1990 to one with more units than exist: plausible as a rate. */
void test_roofline__the_processors_ceiling_is_measured(void **state)
{
    struct hs_ceilings of[HS_PRECISIONS];
    for (int p = 0; p < HS_PRECISIONS; p++) {
        assert_ok(hs_backend_cpu.ceilings(0, 1, (enum hs_precision)p, &of[p], &err));
        assert_true(of[p].flops > 1e6 && of[p].flops < 1e13);
    }
}
