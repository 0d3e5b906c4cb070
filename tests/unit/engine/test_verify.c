#include "engine/make_plan.h"
#include "engine/network/of_problem.h"
#include "engine/registry.h"
#include "engine/verify.h"
#include "functions/program.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_face(struct hs_problem *problem, int which, const char *type)
{
    set_wall(problem, which, type, (struct hs_value){.constant = 3.0}, 6.0);
}

/* exp(-pi^2 t) sin(pi x) between walls at 0: x from 0 to 1 in n-1 cells, diffusivity 1. */
static const struct hs_instruction sine[] = {
    {HS_OP_T, 0.0},        {HS_OP_CONSTANT, -9.869604401089358},
    {HS_OP_MULTIPLY, 0.0}, {HS_OP_EXP, 0.0},
    {HS_OP_X, 0.0},        {HS_OP_CONSTANT, 3.141592653589793},
    {HS_OP_MULTIPLY, 0.0}, {HS_OP_SIN, 0.0},
    {HS_OP_MULTIPLY, 0.0}};

static struct hs_problem make(int64_t points, enum hs_precision precision)
{
    struct hs_problem problem = make_line(points, 1.0 / (double)(points - 1));
    problem.precision = precision;
    problem.material.conductivity = 2.0;
    const struct hs_expression expression = {sine, 9, HS_VARIES_X | HS_VARIES_T};
    problem.initial.field.value.expression = expression;
    problem.exact.present = true;
    problem.exact.value.expression = expression;
    problem.schedule.end = 0.05;
    for (int f = 0; f < 2; f++) {
        set_face(&problem, f, "dirichlet");
        problem.face[f].data.constant = 0.0;
    }
    return problem;
}

extern const struct hs_backend hs_backend_cpu;

static struct hs_plan plan_of(const struct hs_problem *problem, const char *kernel)
{
    struct hs_plan plan;
    assert_ok(hs_plan_steps(problem, &plan, &err));
    plan.backend = &hs_backend_cpu;
    assert_ok(hs_kernel_find(kernel, HS_CPU, &plan.kernel, &err));
    return plan;
}

static struct hs_comparison comparison_of(const struct hs_problem *problem,
                                          const struct hs_plan *plan, int64_t sweeps)
{
    struct hs_reference reference;
    struct hs_comparison c;
    assert_ok(hs_verify_reference(problem, plan, sweeps, &reference, &err));
    assert_ok(hs_verify_compare(problem, plan, &reference, &c, &err));
    hs_verify_reference_release(&reference);
    return c;
}

void test_verify__double_is_the_same_bits(void **state)
{
    struct hs_problem problem = make(101, HS_DOUBLE);
    const struct hs_plan plan = plan_of(&problem, "openmp");
    const struct hs_comparison c = comparison_of(&problem, &plan, 200);
    assert_int_equal(c.sweeps, 200);
    assert_int_equal(c.nodes, 101);
    assert_int_equal(c.differing, 0);
    assert_int_equal(c.max_ulps, 0);
    assert_near(c.bound, 0.0, 0.0);
    assert_near(c.largest, 1.0, 0.0);
}

void test_verify__float_differs_within_its_bound(void **state)
{
    struct hs_problem problem = make(101, HS_FLOAT);
    const struct hs_plan plan = plan_of(&problem, "openmp");
    const struct hs_comparison c = comparison_of(&problem, &plan, 200);
    assert_true(c.differing > 0 && c.max_ulps > 0);
    assert_true(c.max_abs > 0.0 && c.max_abs <= c.bound);
    /* 200 sweeps; 3 terms, the coefficients and the reference's own, half an ulp of 1 each */
    assert_near(c.bound, 200.0 * 5.0 * 0x1p-24, 1e-9);
    assert_true(c.max_relative >= c.max_abs / c.largest);
}

/* A kernel that is wrong at one node, by a little. */
static enum hs_status wrong_sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                                  struct hs_error *err)
{
    const struct hs_kernel *right;
    enum hs_status st = hs_kernel_find("openmp", HS_CPU, &right, err);
    if (!st)
        st = right->sweep(plan, sweep, err);
    if (sweep->box.lo[HS_X] <= 50 && sweep->box.hi[HS_X] > 50)
        ((double *)sweep->out)[50] *= 1.0 + 0x1p-52;
    return st;
}

void test_verify__one_wrong_bit_is_found_where_it_is(void **state)
{
    struct hs_problem problem = make(101, HS_DOUBLE);
    struct hs_plan plan = plan_of(&problem, "openmp");
    struct hs_kernel wrong = *plan.kernel;
    wrong.sweep = wrong_sweep;
    plan.kernel = &wrong;
    const struct hs_comparison c = comparison_of(&problem, &plan, 1);
    assert_int_equal(c.differing, 1);
    assert_in_range(c.max_ulps, 1, 2);
    assert_int_equal(c.worst[HS_X], 50);
    assert_true(c.max_abs > c.bound);
}

/* Writes the number just below zero where zero is due. */
static enum hs_status below_zero_sweep(const struct hs_kernel_plan *plan,
                                       const struct hs_sweep *sweep, struct hs_error *err)
{
    for (int64_t i = sweep->box.lo[HS_X]; i < sweep->box.hi[HS_X]; i++)
        ((double *)sweep->out)[i] = i == 70 ? -0x1p-1074 : 0.0;
    return HS_OK;
}

void test_verify__the_number_before_zero_is_one_ulp_away(void **state)
{
    struct hs_problem problem = make(101, HS_DOUBLE);
    problem.initial.field.value = (struct hs_value){.constant = 0.0};
    struct hs_plan plan = plan_of(&problem, "openmp");
    struct hs_kernel wrong = *plan.kernel;
    wrong.sweep = below_zero_sweep;
    plan.kernel = &wrong;
    const struct hs_comparison c = comparison_of(&problem, &plan, 1);
    assert_int_equal(c.differing, 1);
    assert_int_equal(c.max_ulps, 1);
    assert_int_equal(c.worst[HS_X], 70);
    assert_true(c.value == -0x1p-1074 && c.reference == 0.0);
}

void test_verify__one_reference_serves_many_kernels(void **state)
{
    struct hs_problem problem = make(101, HS_DOUBLE);
    struct hs_plan right = plan_of(&problem, "openmp");
    struct hs_kernel wrong = *right.kernel;
    wrong.sweep = wrong_sweep;
    struct hs_plan off = right;
    off.kernel = &wrong;
    struct hs_reference reference;
    assert_ok(hs_verify_reference(&problem, &right, 10, &reference, &err));
    struct hs_comparison c;
    assert_ok(hs_verify_compare(&problem, &off, &reference, &c, &err));
    assert_true(c.differing > 0);
    assert_ok(hs_verify_compare(&problem, &right, &reference, &c, &err));
    assert_int_equal(c.differing, 0);
    assert_int_equal(c.sweeps, 10);
    hs_verify_reference_release(&reference);
}

static struct hs_power power_of(const struct hs_problem *problem, const struct hs_plan *plan,
                                int64_t sweeps)
{
    struct hs_power power;
    assert_ok(hs_verify_power(problem, plan, sweeps, &power, &err));
    return power;
}

/* Between walls at 0, so that after many sweeps the field is small, and so is its rounding. */
void test_verify__holds_many_sweeps_to_the_power_of_one(void **state)
{
    struct hs_problem problem = make(65, HS_DOUBLE);
    struct hs_plan plan = plan_of(&problem, "wavefront");
    plan.sweeps = 1000000;
    struct hs_power power = power_of(&problem, &plan, 1000000);
    assert_string_equal(power.lacking, "");
    assert_int_equal(power.comparison.sweeps, 1000000);
    assert_true(power.comparison.max_abs <= power.comparison.bound);
    assert_true(power.comparison.max_abs < 1e-12);
    problem.precision = HS_FLOAT;
    power = power_of(&problem, &plan, 100);
    assert_true(power.comparison.max_abs <= power.comparison.bound);
    problem.source.present = true;
    problem.source.field.value.expression = (struct hs_expression){sine, 9, HS_VARIES_T};
    power = power_of(&problem, &plan, 100);
    assert_non_null(strstr(power.lacking, "the source changes in time"));
}

/* The centre's coefficient is 1e-9 too large: the modes, which begin with a sweep, do not go on. */
static enum hs_status growing_sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                                    struct hs_error *err)
{
    struct hs_operator op = *sweep->op;
    struct hs_sweep wrong = *sweep;
    const struct hs_kernel *kernel;
    op.stencil.c[0] += 1e-9;
    wrong.op = &op;
    assert_int_equal(hs_kernel_find("openmp", HS_CPU, &kernel, err), HS_OK);
    return kernel->sweep(plan, &wrong, err);
}

void test_verify__a_kernel_that_drifts_is_not_of_its_modes(void **state)
{
    struct hs_problem problem = make(65, HS_DOUBLE);
    struct hs_plan plan = plan_of(&problem, "openmp");
    struct hs_kernel wrong = *plan.kernel;
    struct hs_power power;
    wrong.sweep = growing_sweep;
    plan.kernel = &wrong;
    plan.sweeps = 10000;
    assert_fails(hs_verify_power(&problem, &plan, 10000, &power, &err), HS_FAILED_CHECK,
                 "a sweep is not what its modes say");
}

/* Right in the first sweeps of the modes, wrong where a run goes on. */
static enum hs_status late_sweep(const struct hs_kernel_plan *plan, const struct hs_sweep *sweep,
                                 struct hs_error *err)
{
    const struct hs_kernel *kernel;
    assert_int_equal(hs_kernel_find("openmp", HS_CPU, &kernel, err), HS_OK);
    const enum hs_status st = kernel->sweep(plan, sweep, err);
    static int calls;
    if (++calls == 500)
        ((double *)sweep->out)[32] += 1e-6;
    return st;
}

void test_verify__a_sweep_that_was_wrong_once_fails_against_the_power(void **state)
{
    struct hs_problem problem = make(65, HS_DOUBLE);
    struct hs_plan plan = plan_of(&problem, "openmp");
    struct hs_kernel wrong = *plan.kernel;
    wrong.sweep = late_sweep;
    plan.kernel = &wrong;
    const struct hs_power power = power_of(&problem, &plan, 700);
    assert_true(power.comparison.max_abs > power.comparison.bound);
}

/* T'' + pi^2 sin(pi x) = 0: the tolerance of a sweep's change must shrink with the step, or the
 * finer grids would stop before they are steady. */
void test_verify__a_steady_state_is_as_steady_on_every_grid(void **state)
{
    static const struct hs_instruction profile[] = {{HS_OP_X, 0.0},
                                                    {HS_OP_CONSTANT, 3.141592653589793},
                                                    {HS_OP_MULTIPLY, 0.0},
                                                    {HS_OP_SIN, 0.0}};
    const struct hs_value value = {.expression = {profile, 4, HS_VARIES_X}};
    struct hs_problem problem = make(17, HS_DOUBLE);
    problem.initial.field.value = (struct hs_value){.constant = 0.0};
    problem.exact.value = value;
    problem.source.present = true;
    problem.source.field.value = value;
    problem.source.rate = 9.869604401089358;
    problem.schedule.end = NAN;
    problem.schedule.steady = true;
    problem.schedule.steady_tolerance = 1e-7;
    problem.schedule.steady_check_every = 20;
    const struct hs_plan plan = plan_of(&problem, "openmp");
    struct hs_refinement r;
    assert_ok(hs_verify_refine(&problem, &plan, 1e9, &r, &err));
    /* what is left of the transient, tolerance/(pi^2 dt) = 6e-6, is 1/30 of the finest error */
    assert_near(r.order_max[0], 2.0, 0.05);
    assert_near(r.order_max[1], 2.0, 0.05);
}

void test_verify__three_grids_show_second_order(void **state)
{
    struct hs_problem problem = make(21, HS_DOUBLE);
    const struct hs_plan plan = plan_of(&problem, "openmp");
    struct hs_refinement r;
    assert_ok(hs_verify_refine(&problem, &plan, 1e9, &r, &err));
    assert_int_equal(r.grid[0].points[HS_X], 21);
    assert_int_equal(r.grid[2].points[HS_X], 81);
    for (int g = 0; g < 3; g++)
        assert_true(r.grid[g].time == 0.05);
    for (int g = 0; g < 2; g++) {
        assert_near(r.order_max[g], 2.0, 0.02); /* next term: h^2 smaller by another 1/400 */
        assert_near(r.order_l2[g], 2.0, 0.02);
    }
}

/* The same slab as a body, with cells that grow and shrink by a tenth, and a last cell of twice the
 * size. Finer grids divide each cell. */
void test_verify__stretched_grids_show_second_order(void **state)
{
    enum { POINTS = 22 };
    struct hs_problem problem = make(POINTS, HS_DOUBLE);
    struct hs_substance substance = {
        .conductivity = {1, 1, 1}, .capacity = 1, .density = NAN, .reference = -1, .source = -1};
    struct hs_solid everywhere = {.shape = {.kind = HS_SHAPE_EVERYWHERE}};
    struct hs_body body = {.source = -1,
                           .substance_count = 1,
                           .substance = &substance,
                           .solid_count = 1,
                           .solid = &everywhere};
    const struct hs_wall wall = {.kind = HS_WALL_PRESCRIBES,
                                 .lower = {-INFINITY, -INFINITY, -INFINITY},
                                 .upper = {INFINITY, INFINITY, INFINITY},
                                 .h_function = -1,
                                 .flux.function = -1,
                                 .ambient.function = -1};
    struct hs_wall walls[2] = {wall, wall};
    struct hs_time_function zero = {.points = 0};
    double place[POINTS] = {0.0}, width = 1.0;
    for (int i = 1; i < POINTS; i++) {
        place[i] = place[i - 1] + (i == POINTS - 1 ? 2.0 * width : width);
        width *= i < POINTS / 2 ? 1.1 : 1.0 / 1.1;
    }
    for (int i = 0; i < POINTS; i++)
        place[i] /= place[POINTS - 1];
    walls[1].face = 1;
    for (int f = 0; f < 2; f++) /* as a config leaves the faces of a body */
        problem.face[f] = (struct hs_face){.type = "dirichlet"};
    problem.grid.coordinate[HS_X] = place;
    problem.body = &body;
    problem.walls = walls;
    problem.wall_count = 2;
    problem.time_functions = &zero;
    problem.time_function_count = 1;
    problem.schedule.safety = 0.05; /* the limit has no exact order, as cells are divided */
    assert_ok(hs_network_of_problem(&problem, false, &err));
    const struct hs_plan plan = plan_of(&problem, "reference");
    struct hs_refinement r;
    assert_null(hs_verify_no_refinement(&problem));
    assert_ok(hs_verify_refine(&problem, &plan, 1e9, &r, &err));
    for (int g = 0; g < 3; g++) {
        assert_int_equal(r.grid[g].points[HS_X], 21 * (1 << g) + 1);
        assert_near(r.grid[g].spacing, 1.0 / (21 * (1 << g)), 1e-15);
    }
    for (int g = 0; g < 2; g++) {
        assert_near(r.order_max[g], 2.0, 0.03); /* next term: as above */
        assert_near(r.order_l2[g], 2.0, 0.03);
    }
    walls[1].value.field = place;
    assert_non_null(strstr(hs_verify_no_refinement(&problem), "values given node by node"));
    hs_network_destroy(problem.network);
}

/* Its own nodes would be too few for the coarsest grid. */
void test_verify__a_small_grid_is_only_refined(void **state)
{
    struct hs_problem problem = make(4, HS_DOUBLE);
    const struct hs_plan plan = plan_of(&problem, "reference");
    struct hs_refinement r;
    assert_ok(hs_verify_refine(&problem, &plan, 1e9, &r, &err));
    for (int g = 0; g < 3; g++)
        assert_int_equal(r.grid[g].points[HS_X], 6 * (1 << g) + 1);
    assert_near(r.order_max[1], 2.0, 0.03); /* next term: h^2 smaller by another 1/144 */
    assert_fails(hs_verify_refine(&problem, &plan, 1.0, &r, &err), HS_BAD_INPUT, "too few points");
}

void test_verify__grids_that_take_long_are_made_coarser(void **state)
{
    struct hs_problem problem = make(1025, HS_DOUBLE); /* some 120000 sweeps */
    const struct hs_plan plan = plan_of(&problem, "openmp");
    struct hs_refinement r;
    assert_ok(hs_verify_refine(&problem, &plan, 2e7, &r, &err));
    assert_true(r.grid[2].points[HS_X] <= 257);
    assert_near(r.order_max[1], 2.0, 0.02);
}

void test_verify__says_why_there_is_no_refinement(void **state)
{
    struct hs_problem problem = make(21, HS_DOUBLE);
    assert_null(hs_verify_no_refinement(&problem));
    problem.raw = true;
    assert_non_null(strstr(hs_verify_no_refinement(&problem), "raw"));
    problem.exact.present = false;
    assert_non_null(strstr(hs_verify_no_refinement(&problem), "no exact"));
}

/* Respacing a lowered rule must give what lowering at the other spacing gives, for every kind. */
void test_verify__respaced_faces_are_those_of_the_other_spacing(void **state)
{
    for (const struct hs_boundary_kind *kind = hs_boundary_kinds; kind->name; kind++) {
        struct hs_problem problem = make(21, HS_DOUBLE);
        problem.radius = 3;
        set_face(&problem, 0, kind->name);
        struct hs_face face = problem.face[0];
        problem.grid.spacing[HS_X] *= 0.25;
        set_face(&problem, 0, kind->name);
        hs_face_respace(&face, 0.25);
        for (int m = 0; m < 3; m++) {
            assert_near(face.a[m], problem.face[0].a[m], 0.0);
            assert_near(face.b[m], problem.face[0].b[m], 0.0); /* powers of 2 do not round */
            assert_near(face.c[m], problem.face[0].c[m], 0.0);
        }
        const double wall = strcmp(kind->name, "clamp") == 0      ? 0.5
                            : strcmp(kind->name, "constant") == 0 ? 1.0
                                                                  : 0.0;
        assert_near(hs_face_wall(&face), wall, 0.0);
    }
}
