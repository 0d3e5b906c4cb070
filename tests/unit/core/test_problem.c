#include "core/problem.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <string.h>

void test_problem__interior_leaves_the_held_layers_out(void **state)
{
    struct hs_problem problem = box_problem();
    problem.face[0].held = 1;
    problem.face[5].held = 3;
    const struct hs_box box = hs_problem_interior(&problem);
    const struct hs_box expected = {{1, 0, 0}, {5, 4, 3}};
    assert_memory_equal(&box, &expected, sizeof box);
}

/* Half cells at walls through the nodes: the volumes add up to the body's, 2 x 3 x 10. */
void test_problem__node_volumes_add_up_to_the_body(void **state)
{
    struct hs_problem problem = box_problem();
    for (int face = 0; face < HS_FACES; face++)
        problem.face[face].edge_weight = 0.5;
    double volume = 0.0;
    for (int64_t k = 0; k < 6; k++)
        for (int64_t j = 0; j < 4; j++)
            for (int64_t i = 0; i < 5; i++)
                volume += hs_problem_node_volume(&problem, i, j, k);
    assert_true(volume == 60.0); /* eighths and quarters: exact */
    assert_true(hs_problem_node_volume(&problem, 0, 0, 0) == 0.125);
    assert_true(hs_problem_node_volume(&problem, 1, 1, 1) == 1.0);
}

/* The same with x stretched, from 0 to 4 in unequal cells, and y periodic, to 4: 4 x 4 x 10. */
void test_problem__node_volumes_of_stretched_axes_add_up_too(void **state)
{
    struct hs_problem problem = box_problem();
    static const double x[] = {0.0, 0.5, 0.75, 2.0, 4.0}, y[] = {0.0, 1.0, 1.5, 3.5, 4.0};
    problem.grid.coordinate[HS_X] = x;
    problem.grid.coordinate[HS_Y] = y;
    for (int face = 0; face < HS_FACES; face++)
        problem.face[face].edge_weight = 0.5;
    problem.face[2 * HS_Y].wrap = problem.face[2 * HS_Y + 1].wrap = true;
    double volume = 0.0;
    for (int64_t k = 0; k < 6; k++)
        for (int64_t j = 0; j < 4; j++)
            for (int64_t i = 0; i < 5; i++)
                volume += hs_problem_node_volume(&problem, i, j, k);
    assert_true(volume == 160.0); /* eighths and quarters: exact */
    assert_true(hs_problem_node_volume(&problem, 0, 0, 0) == 0.25 * 0.75 * 1.0);
    assert_true(hs_problem_node_volume(&problem, 3, 1, 1) == 1.625 * 0.75 * 2.0);
}

void test_problem__heat_capacity_is_density_times_specific_heat(void **state)
{
    struct hs_problem problem = box_problem();
    assert_true(hs_problem_heat_capacity(&problem) == 1.0);
    problem.material.density = 1000.0;
    problem.material.specific_heat = 4.0;
    assert_true(hs_problem_heat_capacity(&problem) == 4000.0);
}

static void assert_heat_unit(const struct hs_problem *problem, const char *expected)
{
    char unit[80];
    hs_problem_heat_unit(problem, unit, sizeof unit);
    assert_string_equal(unit, expected);
}

void test_problem__heat_is_in_joules_per_metre_that_the_grid_lacks(void **state)
{
    static const char *const joules[] = {"J/m^2", "J/m", "J"};
    static const char *const degrees[] = {"K m", "K m^2", "K m^3"};
    static char celsius[] = "degC";
    for (int dims = 1; dims <= HS_AXES; dims++) {
        struct hs_problem problem = box_problem();
        problem.grid.dims = dims;
        problem.temperature_unit = celsius;
        assert_heat_unit(&problem, degrees[dims - 1]);
        problem.material.density = 1000.0;
        assert_heat_unit(&problem, degrees[dims - 1]);
        problem.material.specific_heat = 4.0;
        assert_heat_unit(&problem, joules[dims - 1]);
        problem.raw = true;
        assert_heat_unit(&problem, "1");
    }
}

void test_problem__a_difference_of_celsius_is_in_kelvin(void **state)
{
    char units[][2][20] = {{"degC", "K"}, {"°C", "K"}, {"Celsius", "K"}, {"C", "K"},
                           {"K", "K"},    {"", "K"},   {"mK", "mK"},     {"1", "1"}};
    struct hs_problem problem = box_problem();
    for (size_t n = 0; n < sizeof units / sizeof units[0]; n++) {
        problem.temperature_unit = units[n][0];
        assert_string_equal(hs_problem_difference_unit(&problem), units[n][1]);
    }
}

void test_problem__power_has_the_unit_of_heat_in_a_second(void **state)
{
    static const char *const watts[] = {"W/m^2", "W/m", "W"};
    static const char *const kelvins[] = {"K m/s", "K m^2/s", "K m^3/s"};
    struct hs_problem problem;
    char unit[64];
    for (int dims = 1; dims <= HS_AXES; dims++) {
        hs_problem_init(&problem);
        problem.grid.dims = dims;
        hs_problem_power_unit(&problem, unit, sizeof unit);
        assert_string_equal(unit, kelvins[dims - 1]);
        problem.material.density = problem.material.specific_heat = 2.0;
        hs_problem_power_unit(&problem, unit, sizeof unit);
        assert_string_equal(unit, watts[dims - 1]);
    }
}

void test_problem__walls_are_the_faces_that_are_not_periodic(void **state)
{
    static const char *const names[] = {"x_min", "x_max", "z_min", "z_max"};
    struct hs_problem problem = box_problem();
    problem.face[2].wrap = problem.face[3].wrap = true;
    assert_int_equal(hs_problem_wall_count(&problem), 4);
    for (int wall = 0; wall < 4; wall++) {
        char name[32];
        hs_problem_wall_name(&problem, wall, name, sizeof name);
        assert_string_equal(name, names[wall]);
        assert_int_equal(hs_problem_wall_face(&problem, wall), wall < 2 ? wall : wall + 2);
    }
}

void test_problem__stencil_is_the_raw_one_or_the_materials(void **state)
{
    struct hs_problem problem = box_problem();
    const struct hs_stencil diffusion = hs_problem_stencil(&problem, 0.1);
    assert_near(diffusion.c[1], 0.25 * 0.1 / 0.25, 1e-16); /* alpha dt / dx^2 */
    assert_near(diffusion.c[5], 0.25 * 0.1 / 4.0, 1e-16);
    problem.precision = HS_FLOAT; /* floats with sum 1 */
    const struct hs_stencil floats = hs_problem_stencil(&problem, 0.1);
    assert_near(floats.c[1], 0.25 * 0.1 / 0.25, 1e-5 * 0.1);
    assert_true((double)(float)floats.c[1] == floats.c[1]);
    assert_false((double)(float)diffusion.c[1] == diffusion.c[1]);
    problem.raw = true;
    for (int i = 0; i < HS_MAX_COEFFICIENTS; i++)
        problem.c[i] = i + 0.1; /* not a float; a raw stencil is used as it is */
    const struct hs_stencil raw = hs_problem_stencil(&problem, 123.0);
    for (int i = 0; i < 7; i++)
        assert_true(raw.c[i] == i + 0.1);
}

void test_problem__an_empty_one_can_be_released_twice(void **state)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    hs_problem_release(&problem);
    hs_problem_release(&problem);
    assert_null(problem.title);
}
