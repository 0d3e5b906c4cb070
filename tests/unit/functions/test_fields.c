#include "functions/evaluate.h"
#include "functions/fields.h"
#include "input/expression.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdlib.h>

/* In both ways, which give the same bits. */
static double initial_at(const struct hs_problem *problem, int64_t i, int64_t j, int64_t k)
{
    double row[64], prepared[64];
    struct hs_initial_rows rows;
    hs_problem_initial_row(problem, j, k, row);
    hs_initial_rows_init(&rows, problem, 1);
    hs_initial_row(&rows, j, k, prepared);
    hs_initial_rows_release(&rows);
    assert_memory_equal(row, prepared, (size_t)problem->grid.points[HS_X] * sizeof *row);
    return row[i];
}

static const struct hs_instruction add_all[] = {{HS_OP_X, 0},  {HS_OP_Y, 0},   {HS_OP_ADD, 0},
                                                {HS_OP_Z, 0},  {HS_OP_ADD, 0}, {HS_OP_T, 0},
                                                {HS_OP_ADD, 0}};
static const struct hs_value sum_of_coordinates = {
    .expression = {add_all, sizeof add_all / sizeof add_all[0], 15}};

void test_fields__initial_is_the_expression_at_t_0(void **state)
{
    struct hs_problem problem = box_problem();
    problem.initial.field.value = sum_of_coordinates;
    for (int64_t k = 0; k < 6; k++)
        for (int64_t j = 0; j < 4; j++)
            for (int64_t i = 0; i < 5; i++)
                assert_true(initial_at(&problem, i, j, k) ==
                            (-1.0 + (double)i * 0.5) + (double)j + (3.0 + (double)k * 2.0));
}

void test_fields__initial_is_the_data_in_z_y_x_order(void **state)
{
    struct hs_problem problem = box_problem();
    double data[120];
    for (int n = 0; n < 120; n++)
        data[n] = n;
    problem.initial.field.data = data;
    assert_true(initial_at(&problem, 4, 0, 0) == 4.0);
    assert_true(initial_at(&problem, 0, 1, 0) == 5.0);
    assert_true(initial_at(&problem, 0, 0, 1) == 20.0);
    assert_true(initial_at(&problem, 4, 3, 5) == 119.0);
}

/* Whether a node is in a region, by x, y, z, regardless of how rows are walked. */
static bool holds(const struct hs_region *region, double x, double y, double z)
{
    const double at[] = {x, y, z};
    const double margin =
        1e-6; /* nodes lie 0.5 apart and none is meant to be this near a surface */
    double square = 0.0;
    for (int axis = 0; axis < 3; axis++) {
        const double d = at[axis] - region->shape.centre[axis];
        if (region->shape.kind == HS_SHAPE_BOX) {
            if (at[axis] < region->shape.lower[axis] - margin ||
                at[axis] > region->shape.upper[axis] + margin)
                return false;
        } else if (region->shape.kind == HS_SHAPE_CYLINDER && axis == region->shape.axis) {
            if (at[axis] < region->shape.from - margin || at[axis] > region->shape.to + margin)
                return false;
        } else
            square += d * d;
    }
    return region->shape.kind == HS_SHAPE_BOX || sqrt(square) <= region->shape.radius + margin;
}

void test_fields__later_regions_lie_over_earlier_ones(void **state)
{
    struct hs_problem problem = box_problem();
    struct hs_region regions[] = {
        {.shape.kind = HS_SHAPE_BOX,
         .shape.lower = {-1, 1, 3},
         .shape.upper = {0, 2, 9},
         .value = {.constant = 10}},
        {.shape.kind = HS_SHAPE_SPHERE,
         .shape.centre = {0, 2, 7},
         .shape.radius = 2,
         .value = {.constant = 20}},
        {.shape.kind = HS_SHAPE_CYLINDER,
         .shape.axis = HS_Z,
         .shape.centre = {1, 3, 77},
         .shape.radius = 1,
         .shape.from = -INFINITY,
         .shape.to = 5,
         .value = {.constant = 30}},
        {.shape.kind = HS_SHAPE_CYLINDER,
         .shape.axis = HS_X,
         .shape.centre = {77, 0, 13},
         .shape.radius = 1,
         .shape.from = -0.5,
         .shape.to = INFINITY,
         .value = sum_of_coordinates},
        {.shape.kind = HS_SHAPE_BOX,
         .shape.lower = {1, 0, 3},
         .shape.upper = {1, 0, 3},
         .value = {.constant = 50}},
    };
    const int count = sizeof regions / sizeof regions[0];
    problem.initial.regions = regions;
    problem.initial.region_count = count;
    int seen[6] = {0};
    for (int64_t k = 0; k < 6; k++)
        for (int64_t j = 0; j < 4; j++)
            for (int64_t i = 0; i < 5; i++) {
                const double x = -1.0 + 0.5 * (double)i, y = (double)j, z = 3.0 + 2.0 * (double)k;
                double expected = 1.0;
                int owner = 5;
                for (int r = 0; r < count; r++)
                    if (holds(&regions[r], x, y, z)) {
                        expected = hs_value_at(&regions[r].value, x, y, z, 0.0);
                        owner = r;
                    }
                seen[owner]++;
                assert_true(initial_at(&problem, i, j, k) == expected);
            }
    for (int r = 0; r < 6; r++)
        assert_true(seen[r] > 0);
}

/* 0.1*3 is not 0.3: nodes whose coordinates are rounded past a surface belong to the region. */
void test_fields__a_region_holds_the_nodes_on_its_surface(void **state)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid = (struct hs_grid){.dims = 1, .points = {11, 1, 1}, .spacing = {0.1, 1, 1}};
    struct hs_region box = {.shape.kind = HS_SHAPE_BOX,
                            .shape.lower = {0.3},
                            .shape.upper = {0.7},
                            .value = {.constant = 9}};
    problem.initial.regions = &box;
    problem.initial.region_count = 1;
    for (int i = 0; i < 11; i++)
        assert_true(initial_at(&problem, i, 0, 0) == (i >= 3 && i <= 7 ? 9.0 : 0.0));
    box.shape.lower[0] = box.shape.upper[0] = 0.3; /* a slice of no thickness */
    for (int i = 0; i < 11; i++)
        assert_true(initial_at(&problem, i, 0, 0) == (i == 3 ? 9.0 : 0.0));
}

/* Checks that the region has the nodes from `first` to `last` of a bar of 61. */
static void check_bar(double lower, double spacing, struct hs_shape shape, int first, int last)
{
    struct hs_region region = {.shape = shape, .value = {.constant = 9}};
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid = (struct hs_grid){
        .dims = 1, .points = {61, 1, 1}, .lower = {lower}, .spacing = {spacing, 1, 1}};
    problem.initial.regions = &region;
    problem.initial.region_count = 1;
    for (int i = 0; i < 61; i++)
        assert_true(initial_at(&problem, i, 0, 0) == (i >= first && i <= last ? 9.0 : 0.0));
}

/* A bound far beyond the grid is none, for any shape, and leaves the other bound where it is. */
void test_fields__a_far_bound_is_no_slack(void **state)
{
    const double far[] = {1e7, 1e9, 1e12};
    for (int n = 0; n < 3; n++) {
        const double d = far[n];
        check_bar(0, 0.01, (struct hs_shape){.lower = {-d}, .upper = {0.455}}, 0, 45);
        check_bar(0, 0.01, (struct hs_shape){.lower = {0.455}, .upper = {d}}, 46, 60);
        check_bar(
            0, 0.01,
            (struct hs_shape){.kind = HS_SHAPE_CYLINDER, .radius = d, .from = -d, .to = 0.455}, 0,
            45);
    }
    /* their surface is given by a far centre, and is accurate to a rounding of it */
    check_bar(0, 0.01,
              (struct hs_shape){.kind = HS_SHAPE_SPHERE, .centre = {-1e7}, .radius = 10000000.455},
              0, 45);
    check_bar(0, 0.01,
              (struct hs_shape){.kind = HS_SHAPE_CYLINDER,
                                .axis = HS_Y,
                                .centre = {-1e7},
                                .radius = 10000000.455,
                                .from = -INFINITY,
                                .to = INFINITY},
              0, 45);
}

/* However far the origin is: a bound on a node includes it, one between nodes the nodes before. */
void test_fields__a_region_far_from_the_origin_has_its_nodes(void **state)
{
    const double from = 5e6, h = 1e-3;
    const struct {
        double end;
        int last;
    } of[] = {{5000000.0500, 50}, {5000000.0505, 50}, {5000000.0499, 49}};
    for (int n = 0; n < 3; n++) {
        const double end = of[n].end;
        const int last = of[n].last;
        check_bar(from, h, (struct hs_shape){.lower = {0}, .upper = {end}}, 0, last);
        check_bar(from, h,
                  (struct hs_shape){.kind = HS_SHAPE_HALF_SPACE, .point = {end}, .normal = {1e-4}},
                  0, last);
        check_bar(
            from, h,
            (struct hs_shape){.kind = HS_SHAPE_SPHERE, .centre = {from}, .radius = end - from}, 0,
            last);
    }
}

/* Against a test of every node, for shapes around and between the nodes of 1D to 3D grids. */
void test_fields__a_shape_is_known_to_have_a_node(void **state)
{
    struct hs_grid grid = box_problem().grid;
    int seen[2] = {0, 0};
    for (int n = 0; n < 4 * 3 * 1000; n++) {
        struct hs_shape shape = {.kind = (enum hs_shape_kind)(n % 4), .axis = n / 4 % 3};
        grid.dims = shape.axis + 1;
        bool found = false;
        for (int a = 0; a < HS_AXES; a++) {
            grid.points[a] = a < grid.dims ? 4 : 1;
            const double at = grid.lower[a] + grid.spacing[a] * (n * (7 + 4 * a) % 997) / 200.0;
            shape.lower[a] = shape.centre[a] = shape.point[a] = at - 0.8 * grid.spacing[a];
            shape.upper[a] = shape.lower[a] + 0.8 * grid.spacing[a];
            shape.normal[a] = n * (5 + a) % 991 - 495.0;
        }
        shape.radius = n % 83 * 0.02 + 0.01;
        shape.from = shape.lower[shape.axis];
        shape.to = shape.upper[shape.axis];
        for (int64_t i = 0; i < hs_grid_count(&grid); i++) {
            const int64_t node[] = {i % 4, i / 4 % 4, i / 16};
            double at[HS_AXES];
            for (int a = 0; a < HS_AXES; a++)
                at[a] = hs_grid_coordinate(&grid, a, node[a]);
            found = found || hs_shape_covers(&shape, &grid, at);
        }
        assert_int_equal(hs_shape_has_node(&shape, &grid), found);
        seen[found]++;
    }
    assert_true(seen[false] > 1000 && seen[true] > 1000);
}

void test_fields__walls_have_their_temperature_from_the_start(void **state)
{
    for (unsigned set = 0; set < 1u << HS_FACES; set++) { /* every choice of prescribed faces */
        struct hs_problem problem = box_problem();
        for (int face = 0; face < HS_FACES; face++) {
            problem.face[face].prescribed = set >> face & 1;
            problem.face[face].data.constant = 100.0 + face;
        }
        problem.face[3].data = sum_of_coordinates;
        for (int64_t k = 0; k < 6; k++)
            for (int64_t j = 0; j < 4; j++)
                for (int64_t i = 0; i < 5; i++) {
                    const bool on[HS_FACES] = {i == 0, i == 4, j == 0, j == 3, k == 0, k == 5};
                    int owner = -1;
                    for (int face = 0; face < HS_FACES; face++)
                        if (on[face] && problem.face[face].prescribed)
                            owner = face;
                    const int64_t node[] = {i, j, k};
                    assert_int_equal(hs_problem_prescribing_face(&problem, node), owner);
                    const double sum =
                        (-1.0 + (double)i * 0.5) + (double)j + (3.0 + (double)k * 2.0);
                    const double expected = owner < 0 ? 1.0 : owner == 3 ? sum : 100.0 + owner;
                    assert_true(initial_at(&problem, i, j, k) == expected);
                }
    }
}

void test_fields__a_plane_and_a_line_have_walls_too(void **state)
{
    struct hs_problem problem = box_problem();
    problem.grid.dims = 1;
    problem.grid.points[HS_Y] = problem.grid.points[HS_Z] = 1;
    problem.face[0].prescribed = problem.face[1].prescribed = true;
    problem.face[0].data.constant = 7.0;
    problem.face[1].data.constant = 8.0;
    problem.face[4].prescribed = true; /* of a missing axis */
    assert_true(initial_at(&problem, 0, 0, 0) == 7.0);
    assert_true(initial_at(&problem, 2, 0, 0) == 1.0);
    assert_true(initial_at(&problem, 4, 0, 0) == 8.0);
    problem.grid.dims = 2;
    problem.grid.points[HS_Y] = 4;
    problem.face[2].prescribed = true;
    problem.face[2].data.constant = 9.0;
    assert_true(initial_at(&problem, 0, 0, 0) == 9.0);
    assert_true(initial_at(&problem, 0, 1, 0) == 7.0);
}

/* ---- all rows ------------------------------------------------------------------------------- */

enum { NX = 40, NY = 33, NZ = 50, REGIONS = 12, TEXTS = 5 }; /* nodes enough for tables */

static unsigned state_of_random = 1;

static double random_below(int limit)
{
    state_of_random = state_of_random * 1103515245u + 12345u;
    return (double)(state_of_random >> 16) * limit / 65536.0;
}

/* A shape of random place and size, which may lie beyond the grid. */
static struct hs_region random_region(const struct hs_value *value)
{
    struct hs_region region = {.value = value[(int)random_below(TEXTS)]};
    struct hs_shape *shape = &region.shape;
    shape->kind = (enum hs_shape_kind)random_below(HS_SHAPE_EVERYWHERE);
    shape->axis = (int)random_below(3);
    shape->radius = 0.05 * floor(random_below(20));
    shape->from = 0.1 * floor(random_below(20)) - 1.0;
    shape->to = shape->from + 0.1 * floor(random_below(20));
    for (int axis = 0; axis < HS_AXES; axis++) {
        shape->lower[axis] = shape->centre[axis] = 0.05 * floor(random_below(80)) - 1.5;
        shape->upper[axis] = shape->lower[axis] + 0.05 * floor(random_below(40));
        shape->point[axis] = shape->lower[axis];
        shape->normal[axis] = random_below(2) - 1.0;
    }
    return region;
}

/* At a single node, if no face is prescribed. *covered counts the nodes in regions. */
static double at_node(const struct hs_problem *problem, int64_t i, int64_t j, int64_t k,
                      int *covered)
{
    const struct hs_initial *initial = &problem->initial;
    const double at[] = {hs_grid_coordinate(&problem->grid, HS_X, i),
                         hs_grid_coordinate(&problem->grid, HS_Y, j),
                         hs_grid_coordinate(&problem->grid, HS_Z, k)};
    const struct hs_value *value = &initial->field.value;
    for (int r = 0; r < initial->region_count; r++)
        if (hs_shape_covers(&initial->regions[r].shape, &problem->grid, at))
            value = &initial->regions[r].value;
    *covered += value != &initial->field.value;
    return hs_value_at(value, at[HS_X], at[HS_Y], at[HS_Z], 0.0);
}

static void check_rows(const struct hs_problem *problem, int *covered)
{
    struct hs_initial_rows rows;
    hs_initial_rows_init(&rows, problem, 2);
    for (int64_t k = 0; k < problem->grid.points[HS_Z]; k++)
        for (int64_t j = 0; j < problem->grid.points[HS_Y]; j++) {
            double row[NX], expected[NX];
            hs_initial_row(&rows, j, k, row);
            for (int64_t i = 0; i < NX; i++)
                expected[i] = at_node(problem, i, j, k, covered);
            assert_memory_equal(row, expected, sizeof row);
        }
    hs_initial_rows_release(&rows);
}

void test_fields__rows_have_each_nodes_bits(void **state)
{
    static const char *const texts[TEXTS] = {"300 + 100*sin(pi*x)*cos(pi*y)*sin(pi*z)",
                                             "exp(y) + z", "x*y*z", "sqrt(x + 2)", "7"};
    struct hs_value value[TEXTS] = {{.constant = 0.0}};
    struct hs_instruction *code[TEXTS];
    struct hs_region regions[REGIONS];
    char reason[200];
    int covered = 0;
    for (int n = 0; n < TEXTS; n++) {
        code[n] = hs_expression_compile(texts[n], &value[n].expression, reason, sizeof reason);
        assert_non_null(code[n]);
    }
    for (int c = 0; c < 60; c++) {
        const int dims = 1 + c % 3;
        struct hs_problem problem = box_problem();
        problem.grid = (struct hs_grid){.dims = dims,
                                        .points = {NX, dims > 1 ? NY : 1, dims > 2 ? NZ : 1},
                                        .lower = {-1.0, 0.3, -0.7},
                                        .spacing = {0.05, 0.1 / 3.0, 0.07}};
        problem.initial.field.value = value[c / 3 % TEXTS];
        problem.initial.regions = regions;
        problem.initial.region_count = REGIONS;
        for (int r = 0; r < REGIONS; r++)
            regions[r] = random_region(value);
        check_rows(&problem, &covered);
    }
    assert_in_range(covered, 100000, 1200000); /* of 1.3 million nodes */
    for (int n = 0; n < TEXTS; n++)
        free(code[n]);
}

/* ---- the source ------------------------------------------------------------------------------ */

void test_fields__source_is_scaled_by_rate_and_step(void **state)
{
    struct hs_problem problem = box_problem();
    problem.source.present = true;
    problem.source.field.value = sum_of_coordinates;
    problem.source.rate = 0.25;
    double row[5];
    hs_problem_source_row(&problem, 2.0, 10.0, 1, 2, row);
    for (int i = 0; i < 5; i++) /* all terms are exact in binary */
        assert_true(row[i] == 0.5 * (-1.0 + i * 0.5 + 1.0 + 7.0 + 10.0));
    problem.raw = true; /* K per sweep, however long it is */
    hs_problem_source_row(&problem, 2.0, 10.0, 1, 2, row);
    assert_true(row[0] == 0.25 * 17.0);
}
