/* Which rows ranks make of a network that they make together, and what they read for that. */
#include "engine/network/pass.h"
#include "network_case.h"
#include "random.h"

static struct hs_grid random_grid(void)
{
    struct hs_grid grid = {.dims = 1 + below(3), .points = {1, 1, 1}};
    for (int a = 0; a < grid.dims; a++)
        grid.points[a] = 2 + below(a < grid.dims - 1 ? 9 : 700);
    return grid;
}

void test_network_portion__follow_one_another_and_are_a_layer_at_least(void **state)
{
    int several = 0;
    seed = 90;
    for (int n = 0; n < 2000; n++) {
        const struct hs_grid grid = random_grid();
        const int ranks = 1 + below(n % 2 ? 9 : 700);
        const int64_t layer = hs_grid_count(&grid) / grid.points[grid.dims - 1];
        int64_t row = 0;
        int part = 0;
        for (int rank = 0; rank < ranks; rank++) {
            const struct hs_portion portion = hs_portion_of(&grid, ranks, rank);
            const bool some = rank < portion.ranks;
            assert_int_equal(portion.row, row);
            assert_int_equal(portion.part, part);
            assert_int_equal(portion.row, hs_portion_part(&grid, part));
            assert_int_equal(portion.beside, portion.ranks > 1 ? layer : 0);
            if (some && portion.ranks > 1)
                assert_true(hs_portion_nodes(&portion, &grid) >= layer);
            if (!some)
                assert_int_equal(hs_portion_nodes(&portion, &grid), 0);
            row = portion.end_row;
            part = portion.end_part;
        }
        assert_int_equal(row, grid.points[HS_Y] * grid.points[HS_Z]);
        assert_int_equal(part, HS_PARTS_OF_ROWS);
        several += hs_portion_of(&grid, ranks, 0).ranks > 1;
    }
    assert_true(several > 500);
}

/* With three layers or more per rank, every rank has some: none is left out needlessly. */
void test_network_portion__all_ranks_have_some_of_many_layers(void **state)
{
    for (int ranks = 1; ranks <= 64; ranks++) {
        const struct hs_grid grid = {.dims = 3, .points = {5, 7, 3 * ranks}};
        assert_int_equal(hs_portion_of(&grid, ranks, 0).ranks, ranks);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A file of labels, or of measured numbers, which counts the layers that are read. */
static struct {
    struct hs_stored stored;
    uint16_t label[20 * 20 * 60];
    int64_t layers;
} file;

static enum hs_status read_file(const struct hs_stored *stored, const struct hs_box *box,
                                double *out, struct hs_error *unused)
{
    const int axis = stored->dims - 1;
    const int64_t plane = hs_stored_plane(stored);
    assert_true(box->lo[axis] >= 0 && box->hi[axis] <= stored->points[axis]);
    for (int64_t n = box->lo[axis] * plane; n < box->hi[axis] * plane; n++)
        *out++ = (double)file.label[n] + 100.0;
    file.layers += box->hi[axis] - box->lo[axis];
    return HS_OK;
}

static void close_file(const struct hs_stored *stored)
{
}

enum { NODES, CELLS, MEASURED, KINDS };

/* Random numbers from 100 on; labels stand for substances. */
static void fill_file(struct network_case *c, int kind, const bool wrap[HS_AXES])
{
    static uint16_t substance_of[HS_LABEL_NUMBERS];
    file.stored = (struct hs_stored){.dims = c->grid.dims,
                                     .points = {1, 1, 1},
                                     .together = 1 + below(4),
                                     .read = read_file,
                                     .close = close_file};
    for (int a = 0; a < c->grid.dims; a++)
        file.stored.points[a] = c->grid.points[a] - (kind == CELLS && !wrap[a]);
    for (size_t n = 0; n < sizeof file.label / sizeof file.label[0]; n++)
        file.label[n] = (uint16_t)below(3);
    for (int n = 0; n < c->body.substance_count; n++)
        substance_of[100 + n] = (uint16_t)n;
    if (kind == MEASURED) {
        c->body.conductivity.stored = c->body.capacity.stored = &file.stored;
        return;
    }
    c->body.labels = kind == CELLS ? HS_LABEL_CELLS : HS_LABEL_NODES;
    c->body.stored = &file.stored;
    c->body.substance_of = substance_of;
}

static void random_case(struct network_case *c, int kind)
{
    const int dims = 2 + below(2);
    const int64_t points[] = {3 + below(9), dims < 3 ? 20 + below(40) : 3 + below(9),
                              20 + below(40)};
    case_init(c, dims, points, (const double[]){1.0, 1.0, 1.0});
    for (int a = 0; a < dims; a++)
        c->spec.wrap[a] = below(2);
    for (int n = 0; n < 3; n++)
        case_substance(c, between(1.0, 9.0), between(1.0, 2.0));
    fill_file(c, kind, c->spec.wrap);
}

/* Checks that a rank has the file's numbers of its nodes and the next ones. */
static void assert_measured(const struct hs_pass *pass)
{
    const struct hs_grid *grid = pass->spec->grid;
    const int64_t nx = grid->points[HS_X], ny = grid->points[HS_Y];
    for (int64_t row = pass->portion.row; row < pass->portion.end_row; row++)
        for (int axis = HS_X; axis < HS_AXES; axis++) {
            int64_t node[] = {0, row % ny, row / ny};
            node[axis] = axis == HS_X ? 0 : hs_axis_next(&pass->axis[axis], node[axis]);
            const uint16_t *expected = file.label + (node[HS_Z] * ny + node[HS_Y]) * nx;
            for (int64_t i = 0; i < nx && node[axis] >= 0; i++)
                for (int which = 0; which < HS_MEASURED; which++)
                    assert_true(hs_cells_measured(&pass->cells, which, node)[i] ==
                                (double)expected[i] + 100.0);
        }
}

/* Checks that a rank's rows have the labels of the file. */
static void assert_labelled(const struct hs_pass *pass)
{
    const struct hs_cells *cells = &pass->cells;
    const int64_t ny = pass->spec->grid->points[HS_Y];
    const int64_t *points = file.stored.points;
    const bool of_cells = cells->place == HS_LABEL_CELLS;
    for (int64_t row = pass->portion.row; row < pass->portion.end_row; row++)
        for (int n = 0; n < 4; n++) {
            const struct hs_axis *y = &pass->axis[HS_Y], *z = &pass->axis[HS_Z];
            const int64_t j = of_cells ? hs_axis_cell(y, row % ny, n & 1)
                              : n & 1  ? hs_axis_next(y, row % ny)
                                       : row % ny;
            const int64_t k = of_cells ? hs_axis_cell(z, row / ny, n >> 1)
                              : n >> 1 ? hs_axis_next(z, row / ny)
                                       : row / ny;
            if (j < 0 || k < 0)
                continue;
            const uint16_t *expected = file.label + (k * points[HS_Y] + j) * points[HS_X];
            assert_memory_equal(hs_cells_row(cells, j, k), expected,
                                (size_t)points[HS_X] * sizeof *expected);
        }
}

void test_network_portion__reads_its_layers_of_a_file(void **state)
{
    seed = 91;
    for (int n = 0; n < 300; n++) {
        struct network_case c;
        random_case(&c, n % KINDS);
        c.spec.ranks = 1 + below(6);
        for (c.spec.rank = 0; c.spec.rank < c.spec.ranks; c.spec.rank++) {
            struct hs_pass pass;
            file.layers = 0;
            assert_ok(hs_pass_init(&pass, &c.spec, &err));
            (n % KINDS == MEASURED ? assert_measured : assert_labelled)(&pass);
            const int64_t rows = pass.portion.end_row - pass.portion.row;
            const int64_t of_layer = pass.portion.beside / c.grid.points[HS_X];
            const int times = n % KINDS == MEASURED ? 2 : 1;
            if (c.spec.ranks > 1) /* two layers that it has in part, and one beyond each */
                assert_true(file.layers <= times * (rows / of_layer + 4));
            hs_pass_release(&pass);
        }
    }
}

/* The rows are the same as from numbers in memory. */
void test_network_portion__a_file_makes_the_same_network(void **state)
{
    seed = 92;
    for (int n = 0; n < 100; n++) {
        struct network_case c;
        random_case(&c, n % KINDS);
        struct hs_network one = case_make(&c);
        static double number[sizeof file.label / sizeof file.label[0]];
        for (size_t m = 0; m < sizeof number / sizeof number[0]; m++)
            number[m] = (double)file.label[m] + 100.0;
        if (n % KINDS == MEASURED)
            c.body.conductivity.value = c.body.capacity.value = number;
        else
            c.body.label = file.label;
        struct hs_network other = case_make(&c);
        assert_int_equal(one.form, other.form);
        assert_int_equal(one.row_count, other.row_count);
        assert_memory_equal(one.row, other.row, (size_t)one.row_count * sizeof *one.row);
        assert_memory_equal(one.number, other.number,
                            (size_t)hs_grid_count(&c.grid) *
                                (one.form == HS_NETWORK_BYTES ? 1 : sizeof(uint16_t)));
        hs_network_release(&one);
        hs_network_release(&other);
    }
}
