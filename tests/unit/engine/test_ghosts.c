/* Ghost and prescribed layers, checked by hand; tests/kernels compares all kinds with a model. */
#include "engine/walls/ghosts.h"
#include "functions/program.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

enum { NX = 5, NY = 4 };

static struct hs_instruction x_plus_t[] = {{HS_OP_X, 0}, {HS_OP_T, 0}, {HS_OP_ADD, 0}};
static struct hs_instruction y_times_two[] = {
    {HS_OP_Y, 0}, {HS_OP_CONSTANT, 2.0}, {HS_OP_MULTIPLY, 0}};

static struct hs_problem problem;
static struct hs_layout layout;
static struct hs_ghosts ghosts;
static double *memory, *field;

/* 2D, 5 x 4 nodes, spacing 1, radius 2: x_min a constant outside, x_max y*2 outside, y_min a
 * prescribed wall at x + t, y_max a clamp. Nodes hold 10*j + i, ghosts NaN. */
static void set_up(int slots)
{
    hs_problem_init(&problem);
    problem.radius = 2;
    problem.grid = (struct hs_grid){.dims = 2, .points = {NX, NY, 1}, .spacing = {1, 1, 1}};
    const struct hs_face outside = {.c = {1.0, 1.0}, .edge_weight = 1.0};
    problem.face[0] = problem.face[1] = outside;
    problem.face[0].data.constant = 7.0;
    problem.face[1].data.expression = (struct hs_expression){y_times_two, 3, HS_VARIES_Y};
    problem.face[2] = (struct hs_face){.held = 1, .prescribed = true, .a = {-1, -1}, .b = {2, 2}};
    problem.face[2].data.expression =
        (struct hs_expression){x_plus_t, 3, HS_VARIES_X | HS_VARIES_T};
    problem.face[3] = (struct hs_face){.b = {1.0, 1.0}, .edge_weight = 1.0};
    layout = hs_layout_make(&problem.grid, 2, 8);
    memory = malloc((size_t)layout.elements * sizeof *memory);
    field = memory + layout.origin;
    for (int64_t i = 0; i < layout.elements; i++)
        memory[i] = NAN;
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            field[hs_layout_offset(&layout, i, j, 0)] = 10.0 * j + i;
    assert_ok(hs_ghosts_init(&ghosts, &problem, &layout, slots, 2, &err));
}

static void tear_down(void)
{
    hs_ghosts_release(&ghosts);
    free(memory);
}

static double at(int64_t i, int64_t j)
{
    return field[hs_layout_offset(&layout, i, j, 0)];
}

void test_ghosts__fill_what_a_sweep_reads_and_no_more(void **state)
{
    set_up(1);
    hs_ghosts_at(&ghosts, 0, 0.5);
    hs_ghosts_fill(&ghosts, 0, field);
    for (int j = 0; j < NY; j++) {
        assert_true(at(-1, j) == 7.0 && at(-2, j) == 7.0);
        assert_true(at(NX, j) == 2.0 * j && at(NX + 1, j) == 2.0 * j);
    }
    for (int i = 0; i < NX; i++) {
        assert_true(at(i, -1) == 2.0 * i - (10.0 + i)); /* 2*edge - inner */
        assert_true(isnan(at(i, -2)));                  /* one layer is held, so one is read */
        assert_true(at(i, NY) == 30.0 + i && at(i, NY + 1) == 30.0 + i);
    }
    for (int j = 0; j < NY; j++)
        for (int i = 0; i < NX; i++)
            assert_true(at(i, j) == 10.0 * j + i);
    tear_down();
}

void test_ghosts__prescribe_writes_the_outermost_layer(void **state)
{
    set_up(1);
    hs_ghosts_at(&ghosts, 0, 0.5);
    hs_ghosts_prescribe(&ghosts, 0, field);
    for (int i = 0; i < NX; i++) {
        assert_true(at(i, 0) == i + 0.5);
        assert_true(at(i, 1) == 10.0 + i);
    }
    assert_true(hs_face_slots_prescribed_vary(&ghosts.slots));
    tear_down();
}

/* Slots hold values of different times; they share what does not change in time. */
void test_ghosts__slots_are_moments(void **state)
{
    set_up(2);
    hs_ghosts_at(&ghosts, 0, 1.0);
    hs_ghosts_at(&ghosts, 1, 2.0);
    const struct hs_face_level level = hs_face_slots_level(&ghosts.slots, 0, 1);
    assert_true(level.data[0] == 7.0 && level.prescribed[0] == 7.0);
    assert_null(level.data_field[0]);
    const double *along_y = level.data_field[1];
    assert_ptr_equal(level.prescribed_field[1], along_y);
    for (int j = 0; j < NY; j++)
        assert_true(along_y[j] == 2.0 * j);
    const double *data = level.data_field[2], *hold = level.prescribed_field[2];
    for (int i = 0; i < NX; i++)
        assert_true(data[i] == i + 1.0 && hold[i] == i + 2.0);
    tear_down();
}

void test_ghosts__a_moment_is_evaluated_once(void **state)
{
    set_up(1);
    hs_ghosts_at(&ghosts, 0, 1.0);
    double *table = (double *)(uintptr_t)hs_face_slots_level(&ghosts.slots, 0, 0).data_field[2];
    table[0] = -1.0; /* would be overwritten */
    hs_ghosts_at(&ghosts, 0, 1.0);
    assert_true(table[0] == -1.0);
    hs_ghosts_at(&ghosts, 0, 1.5);
    assert_true(table[0] == 1.5);
    tear_down();
}
