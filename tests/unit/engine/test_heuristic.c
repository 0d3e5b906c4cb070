#include "engine/heuristic.h"
#include "engine/registry.h"
#include "functions/program.h"
#include "test.h"

#include <string.h>

static struct hs_problem case_of(int dims, int64_t points, int radius, enum hs_precision precision)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid.dims = dims;
    for (int axis = 0; axis < HS_AXES; axis++)
        problem.grid.points[axis] = axis < dims ? points : 1;
    problem.radius = radius;
    problem.precision = precision;
    for (int face = 0; face < HS_FACES; face++)
        problem.face[face].held = radius; /* fixed */
    return problem;
}

void test_heuristic__empty_row_holds_for_all(void **state)
{
    const struct hs_heuristic row = {.kernel = "any"};
    for (int dims = 1; dims <= 3; dims++)
        for (int radius = 1; radius <= 3; radius++)
            for (int p = 0; p < HS_PRECISIONS; p++) {
                struct hs_problem problem = case_of(dims, 9, radius, (enum hs_precision)p);
                problem.face[0].wrap = true;
                problem.source.present = true;
                assert_true(hs_heuristic_holds(&row, &problem));
            }
}

static bool holds(const struct hs_heuristic *row, int dims, int64_t points, int radius,
                  enum hs_precision precision)
{
    const struct hs_problem problem = case_of(dims, points, radius, precision);
    return hs_heuristic_holds(row, &problem);
}

void test_heuristic__dims_radius_and_precision(void **state)
{
    const struct hs_heuristic row = {.kernel = "some",
                                     .only = HS_2D | HS_3D | HS_RADIUS_1 | HS_IN_FLOAT};
    assert_true(holds(&row, 2, 9, 1, HS_FLOAT));
    assert_false(holds(&row, 1, 9, 1, HS_FLOAT));
    assert_false(holds(&row, 3, 9, 2, HS_FLOAT));
    assert_false(holds(&row, 3, 9, 1, HS_DOUBLE));
}

void test_heuristic__sizes_from_and_below(void **state)
{
    const struct hs_heuristic row = {.kernel = "middle", .from = 1000, .below = 1728};
    assert_false(holds(&row, 3, 9, 1, HS_FLOAT));
    assert_true(holds(&row, 3, 10, 1, HS_FLOAT));
    assert_true(holds(&row, 3, 11, 1, HS_FLOAT));
    assert_false(holds(&row, 3, 12, 1, HS_FLOAT));
}

void test_heuristic__features_with_and_without(void **state)
{
    const struct hs_heuristic wants = {.kernel = "wants", .with = HS_SOURCE | HS_WALL_PERIODIC};
    const struct hs_heuristic shuns = {.kernel = "shuns", .without = HS_SOURCE | HS_WALL_PERIODIC};
    struct hs_problem problem = case_of(1, 9, 1, HS_DOUBLE);
    assert_false(hs_heuristic_holds(&wants, &problem));
    assert_true(hs_heuristic_holds(&shuns, &problem));
    problem.source.present = true; /* one of two */
    assert_false(hs_heuristic_holds(&wants, &problem));
    assert_false(hs_heuristic_holds(&shuns, &problem));
    problem.face[0].wrap = problem.face[1].wrap = true;
    assert_true(hs_heuristic_holds(&wants, &problem));
    assert_false(hs_heuristic_holds(&shuns, &problem));
}

static bool is_known(const char *name, enum hs_device device)
{
    for (int n = 0; hs_kernels[n]; n++)
        if (hs_kernels[n]->device == device && strcmp(hs_kernels[n]->name, name) == 0)
            return true;
    return false;
}

/* A row for a kernel that is not in the tree would never be taken, unnoticed. */
void test_heuristic__rows_name_kernels_of_the_tree(void **state)
{
    for (int device = 0; device < HS_DEVICES; device++) {
        int rows = 0;
        for (const struct hs_heuristic *row = hs_heuristics((enum hs_device)device); row->kernel;
             row++, rows++) {
            if (!is_known(row->kernel, (enum hs_device)device))
                fail_msg("no kernel %s", row->kernel);
            assert_true(row->below == 0 || row->from < row->below);
            assert_int_equal(row->with & row->without, 0);
        }
        assert_true(rows > 0);
    }
}

/* The kernel of the first of the CPU's rows that holds. */
static const char *taken(const struct hs_problem *problem)
{
    for (const struct hs_heuristic *row = hs_heuristics(HS_CPU); row->kernel; row++)
        if (hs_heuristic_holds(row, problem))
            return row->kernel;
    return "none";
}

void test_heuristic__short_lines_are_fused_on_the_cpu(void **state)
{
    for (int radius = 1; radius <= 3; radius++)
        for (int p = 0; p < HS_PRECISIONS; p++) {
            struct hs_problem problem = case_of(1, 2000, radius, (enum hs_precision)p);
            assert_string_equal(taken(&problem), "wavefront");
            problem = case_of(1, 1 << 20, radius, (enum hs_precision)p);
            assert_string_equal(taken(&problem), "openmp");
            problem = case_of(2, 40, radius, (enum hs_precision)p);
            assert_string_equal(taken(&problem), "openmp");
        }
    /* a field that changes in time is valid for one sweep */
    static struct hs_instruction product[] = {{HS_OP_X, 0}, {HS_OP_T, 0}, {HS_OP_MULTIPLY, 0}};
    struct hs_problem problem = case_of(1, 2000, 1, HS_DOUBLE);
    problem.source.present = true;
    problem.source.field.value.expression =
        (struct hs_expression){product, 3, HS_VARIES_X | HS_VARIES_T};
    assert_string_equal(taken(&problem), "openmp");
    problem.source.field.value.expression = (struct hs_expression){product, 1, HS_VARIES_X};
    assert_string_equal(taken(&problem), "wavefront");
}
