#include "engine/walls/face_data.h"
#include "functions/program.h"
#include "test.h"

#include <stdlib.h>

static struct hs_instruction y_code[] = {{HS_OP_Y, 0}};
static struct hs_instruction t_code[] = {{HS_OP_T, 0}};
static struct hs_instruction z_plus_t[] = {{HS_OP_Z, 0}, {HS_OP_T, 0}, {HS_OP_ADD, 0}};

static struct hs_problem problem;
static struct hs_face_slots slots;
static int filled[HS_FACES];

static enum hs_status note(void *self, int face, double t, void *table, struct hs_error *err)
{
    assert_ptr_equal(self, &slots);
    assert_non_null(table);
    filled[face]++;
    return HS_OK;
}

/* 3D, 4 x 5 x 6 nodes. From x_min to z_max the data are a number, y, z + t, z + t (which no rule
 * reads), t, and z + t (which is uniform over z_max). */
static void set_up(int count)
{
    hs_problem_init(&problem);
    problem.radius = 1;
    problem.grid =
        (struct hs_grid){.dims = 3, .points = {4, 5, 6}, .lower = {0, 0, 1}, .spacing = {1, 1, 1}};
    for (int face = 0; face < HS_FACES; face++)
        problem.face[face] = (struct hs_face){.c = {face == 3 ? 0.0 : 1.0}};
    problem.face[0].data.constant = 7.0;
    problem.face[1].data.expression = (struct hs_expression){y_code, 1, HS_VARIES_Y};
    problem.face[2].data.expression =
        (struct hs_expression){z_plus_t, 3, HS_VARIES_Z | HS_VARIES_T};
    problem.face[3].data = problem.face[2].data;
    problem.face[4].data.expression = (struct hs_expression){t_code, 1, HS_VARIES_T};
    problem.face[5].data = problem.face[2].data;
    assert_ok(hs_face_slots_init(&slots, &problem, count, &err));
    for (int face = 0; face < HS_FACES; face++) {
        filled[face] = 0;
        for (int slot = 0; slot < count; slot++)
            if (hs_face_slots_wants_table(&slots, slot, face))
                slots.table[slot][face] = malloc(sizeof(double));
    }
}

static void tear_down(void)
{
    for (int face = 0; face < HS_FACES; face++)
        for (int slot = 0; slot < slots.count; slot++)
            free(slots.table[slot][face]);
    hs_face_slots_release(&slots);
}

void test_face_data__has_tables_where_it_varies_over_the_face(void **state)
{
    set_up(3);
    /* y_min (x, z) has one for each slot, x_max (y, z) one for all; both of doubles */
    assert_true(hs_face_slots_bytes(&problem, 3) == 8.0 * (3 * 4 * 6 + 5 * 6));
    assert_ptr_equal(hs_face_slots_table(&slots, 2, 1), slots.table[0][1]);
    assert_ptr_equal(hs_face_slots_table(&slots, 2, 2), slots.table[2][2]);
    assert_null(hs_face_slots_table(&slots, 0, 0));
    assert_null(hs_face_slots_table(&slots, 0, 3)); /* no rule reads it */
    assert_null(hs_face_slots_table(&slots, 0, 5)); /* z is uniform over it */
    assert_true(hs_face_slots_vary(&slots) && !hs_face_slots_prescribed_vary(&slots));
    problem.face[2].prescribed = true;
    assert_true(hs_face_slots_prescribed_vary(&slots));
    tear_down();
}

void test_face_data__is_evaluated_when_it_changes_and_no_more(void **state)
{
    set_up(2);
    assert_int_equal(hs_face_slots_at(&slots, 0, 2.0, note, &slots, NULL), HS_OK);
    assert_int_equal(hs_face_slots_at(&slots, 0, 2.0, note, &slots, NULL), HS_OK);
    assert_int_equal(hs_face_slots_at(&slots, 1, 3.0, note, &slots, NULL), HS_OK);
    assert_int_equal(hs_face_slots_at(&slots, 0, 4.0, note, &slots, NULL), HS_OK);
    static const int times[HS_FACES] = {0, 1, 3, 0, 0, 0};
    for (int face = 0; face < HS_FACES; face++)
        assert_int_equal(filled[face], times[face]);
    const struct hs_face_level level = hs_face_slots_level(&slots, 0, 1);
    assert_true(level.data[0] == 7.0 && level.prescribed[0] == 7.0);
    assert_true(level.data[4] == 4.0 && level.prescribed[4] == 3.0);
    assert_true(level.data[5] == 6.0 + 4.0 && level.prescribed[5] == 6.0 + 3.0); /* z is 6 there */
    assert_ptr_equal(level.data_field[2], slots.table[0][2]);
    assert_ptr_equal(level.prescribed_field[2], slots.table[1][2]);
    tear_down();
}

static enum hs_status refuse(void *self, int face, double t, void *table, struct hs_error *err)
{
    return HS_DEVICE;
}

void test_face_data__passes_on_that_a_table_failed(void **state)
{
    set_up(1);
    assert_int_equal(hs_face_slots_at(&slots, 0, 0.0, refuse, NULL, NULL), HS_DEVICE);
    tear_down();
}

void test_face_data__lies_in_a_field_by_its_layout(void **state)
{
    const struct hs_grid grid = {.dims = 3, .points = {4, 5, 6}, .spacing = {1, 1, 1}};
    const struct hs_layout layout = hs_layout_make(&grid, 1, 8);
    for (int face = 0; face < HS_FACES; face++) {
        const struct hs_face_place place = hs_face_place_in(&layout, face);
        const struct hs_box box = hs_grid_face_box(&grid, face);
        const int first = hs_face_first_axis(face), second = hs_face_second_axis(face);
        assert_int_equal(place.nodes, hs_box_count(&box));
        int64_t node[HS_AXES];
        for (int64_t n = 0; n < place.nodes; n++) {
            node[face / 2] = box.lo[face / 2];
            node[first] = n % place.length;
            node[second] = n / place.length;
            assert_int_equal(place.edge + n % place.length * place.along +
                                 n / place.length * place.across,
                             hs_layout_offset(&layout, node[0], node[1], node[2]));
        }
        node[face / 2] += face % 2 ? -1 : 1;
        assert_int_equal(place.edge + place.inward + (place.length - 1) * place.along +
                             (place.nodes / place.length - 1) * place.across,
                         hs_layout_offset(&layout, node[0], node[1], node[2]));
        assert_int_equal(place.extent, grid.points[face / 2]);
    }
}
