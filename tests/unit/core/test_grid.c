#include "core/grid.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static const struct hs_grid grids[] = {
    {.dims = 1, .points = {7, 1, 1}, .lower = {-1.0}, .spacing = {0.1, 1.0, 1.0}},
    {.dims = 2, .points = {16, 5, 1}, .spacing = {0.1, 0.2, 1.0}},
    {.dims = 3, .points = {9, 4, 6}, .spacing = {1.0, 1.0, 1.0}},
};

void test_grid__coordinates_are_lower_plus_i_spacings(void **state)
{
    for (int i = 0; i < 7; i++) /* not a running sum: the same bits wherever it is computed */
        assert_true(hs_grid_coordinate(&grids[0], HS_X, i) == -1.0 + i * 0.1);
}

void test_grid__counts_the_nodes(void **state)
{
    assert_int_equal(hs_grid_count(&grids[0]), 7);
    assert_int_equal(hs_grid_count(&grids[2]), 216);
    const struct hs_grid large = {.dims = 3, .points = {4096, 4096, 4096}};
    assert_true(hs_grid_count(&large) == (int64_t)1 << 36); /* beyond 32 bits */
}

void test_grid__a_box_is_half_open(void **state)
{
    struct hs_box box = hs_grid_box(&grids[2]);
    assert_int_equal(hs_box_count(&box), 216);
    box.lo[HS_Y] = 1;
    assert_int_equal(hs_box_count(&box), 162);
    box.lo[HS_Y] = 5; /* beyond hi: empty, not negative */
    assert_int_equal(hs_box_count(&box), 0);
}

/* Every node and every ghost has its own element, except that a row's right ghosts share a gap with
 * the next row's left ones. All are inside the allocation, and rows are aligned. */
void test_grid__a_layout_holds_all_nodes_and_ghosts(void **state)
{
    for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++)
        for (int ghost = 0; ghost <= HS_MAX_RADIUS; ghost++) {
            const struct hs_grid *grid = &grids[g];
            const struct hs_layout layout = hs_layout_make(grid, ghost, 8);
            unsigned char *used = calloc((size_t)layout.elements, 1);
            assert_non_null(used);
            const int64_t gy = grid->dims > 1 ? ghost : 0, gz = grid->dims > 2 ? ghost : 0;
            for (int64_t k = -gz; k < grid->points[HS_Z] + gz; k++)
                for (int64_t j = -gy; j < grid->points[HS_Y] + gy; j++) {
                    assert_int_equal((layout.origin + hs_layout_offset(&layout, 0, j, k)) % 8, 0);
                    for (int64_t i = -ghost; i < grid->points[HS_X] + ghost; i++) {
                        const int64_t at = layout.origin + hs_layout_offset(&layout, i, j, k);
                        assert_true(at >= 0 && at < layout.elements);
                        const bool node = i >= 0 && i < grid->points[HS_X];
                        assert_true(used[at] == 0 || (!node && used[at] == 1));
                        used[at] = node ? 2 : 1;
                    }
                }
            free(used);
        }
}

void test_grid__names_and_sizes_of_the_precisions(void **state)
{
    assert_int_equal(hs_precision_size(HS_FLOAT), 4);
    assert_int_equal(hs_precision_size(HS_DOUBLE), 8);
    assert_string_equal(hs_precision_name(HS_FLOAT), "float");
    assert_string_equal(hs_precision_name(HS_DOUBLE), "double");
}

void test_grid__a_face_is_the_outermost_nodes_of_an_axis(void **state)
{
    static const char *const names[HS_FACES] = {"x_min", "x_max", "y_min",
                                                "y_max", "z_min", "z_max"};
    static const int first[HS_AXES] = {HS_Y, HS_X, HS_X}, second[HS_AXES] = {HS_Z, HS_Z, HS_Y};
    static const int64_t index[HS_FACES] = {0, 8, 0, 3, 0, 5}, count[HS_AXES] = {24, 54, 36};
    for (int face = 0; face < HS_FACES; face++) {
        assert_string_equal(hs_face_name(face), names[face]);
        assert_int_equal(hs_face_first_axis(face), first[face / 2]);
        assert_int_equal(hs_face_second_axis(face), second[face / 2]);
        assert_int_equal(hs_grid_face_index(&grids[2], face), index[face]);
        assert_int_equal(hs_grid_face_count(&grids[2], face), count[face / 2]);
        const struct hs_box box = hs_grid_face_box(&grids[2], face);
        assert_int_equal(hs_box_count(&box), count[face / 2]);
        assert_int_equal(box.lo[face / 2], index[face]);
    }
}

/* Nodes of a stretched axis x and a uniform one y; the end of a periodic one. */
static const double places[] = {-1.0, -0.9, -0.6, 0.0, 0.5, 0.75};
static const struct hs_grid stretched = {.dims = 2,
                                         .points = {5, 4, 1},
                                         .lower = {-1.0, 2.0},
                                         .spacing = {0.1, 0.5, 1.0},
                                         .coordinate = {places}};

void test_grid__a_stretched_axis_has_coordinates_of_its_own(void **state)
{
    assert_true(hs_grid_is_stretched(&stretched));
    assert_false(hs_grid_is_stretched(&grids[1]));
    for (int i = 0; i < 6; i++)
        assert_true(hs_grid_coordinate(&stretched, HS_X, i) == places[i]);
    assert_true(hs_grid_coordinate(&stretched, HS_Y, 3) == 3.5);
    assert_true(hs_grid_cell(&stretched, HS_X, 2) == 0.6);
    assert_true(hs_grid_cell(&stretched, HS_Y, 2) == 0.5);
}

void test_grid__node_widths_fill_the_axis(void **state)
{
    for (int wraps = 0; wraps < 2; wraps++)
        for (int axis = 0; axis < 2; axis++) {
            const int64_t n = stretched.points[axis];
            double sum = 0.0;
            for (int64_t i = 0; i < n; i++)
                sum += hs_grid_node_width(&stretched, axis, wraps, i);
            const double length = hs_grid_coordinate(&stretched, axis, wraps ? n : n - 1) -
                                  hs_grid_coordinate(&stretched, axis, 0);
            assert_true(fabs(sum - length) < 1e-15 * 8); /* one rounding each */
        }
    assert_true(hs_grid_node_width(&stretched, HS_X, false, 0) == 0.5 * (places[1] - places[0]));
    assert_true(hs_grid_node_width(&stretched, HS_X, true, 0) ==
                0.5 * (places[5] - places[4] + (places[1] - places[0])));
    assert_true(hs_grid_node_width(&stretched, HS_X, false, 4) == 0.25);
}

void test_grid__the_smallest_and_the_largest_cell(void **state)
{
    double cells[2];
    hs_grid_cells(&stretched, HS_X, false, cells);
    assert_true(cells[0] == stretched.spacing[HS_X] && cells[1] == 0.6);
    hs_grid_cells(&stretched, HS_Y, true, cells);
    assert_true(cells[0] == 0.5 && cells[1] == 0.5);
}

void test_grid__a_place_counts_cells(void **state)
{
    for (int wraps = 0; wraps < 2; wraps++)
        for (int axis = 0; axis < 2; axis++)
            for (int64_t i = 0; i + !wraps < stretched.points[axis]; i++)
                for (int part = 0; part < 4; part++) {
                    const double at = hs_grid_coordinate(&stretched, axis, i) +
                                      0.25 * part * hs_grid_cell(&stretched, axis, i);
                    const double place = hs_grid_place(&stretched, axis, wraps, at);
                    assert_true(fabs(place - ((double)i + 0.25 * part)) < 1e-14);
                }
    /* outside, the outermost cells continue */
    assert_true(fabs(hs_grid_place(&stretched, HS_X, false, -1.2) - -2.0) < 1e-14);
    assert_true(fabs(hs_grid_place(&stretched, HS_X, false, 1.0) - 5.0) < 1e-14);
    assert_true(fabs(hs_grid_place(&stretched, HS_X, true, 1.0) - 6.0) < 1e-14);
}

void test_grid__the_interval_of_a_value(void **state)
{
    static const double from[] = {-1.0, 0.0, 0.5, 2.0, 7.0};
    for (int64_t count = 1; count <= 5; count++)
        for (double at = -2.0; at < 8.0; at += 0.25) {
            int64_t last = 0;
            for (int64_t i = 0; i < count; i++)
                last = from[i] <= at ? i : last;
            assert_int_equal(hs_interval_of(from, count, at), last);
        }
}

/* Each node is in exactly one box of the shell, or inside. */
void test_box__its_shell_is_what_is_outside_of_another(void **state)
{
    const struct hs_box box = {{0, 0, 0}, {7, 5, 6}};
    const struct hs_box inside[] = {{{2, 2, 2}, {5, 3, 4}},
                                    {{0, 2, 0}, {7, 3, 6}},
                                    {{0, 0, 0}, {7, 5, 6}},
                                    {{1, 0, 3}, {6, 5, 6}}};
    const int counts[] = {6, 2, 0, 3};
    for (int c = 0; c < 4; c++) {
        struct hs_box part[HS_FACES];
        int64_t nodes = hs_box_count(&inside[c]);
        const int count = hs_box_shell(&box, &inside[c], part);
        assert_int_equal(count, counts[c]);
        for (int n = 0; n < count; n++) {
            nodes += hs_box_count(&part[n]);
            for (int other = -1; other < n; other++) {
                const struct hs_box *b = other < 0 ? &inside[c] : &part[other];
                struct hs_box both;
                for (int axis = 0; axis < HS_AXES; axis++) {
                    both.lo[axis] = part[n].lo[axis] > b->lo[axis] ? part[n].lo[axis] : b->lo[axis];
                    both.hi[axis] = part[n].hi[axis] < b->hi[axis] ? part[n].hi[axis] : b->hi[axis];
                }
                assert_int_equal(hs_box_count(&both), 0);
            }
        }
        assert_int_equal(nodes, hs_box_count(&box));
    }
}
