/* Conductances, capacities, sinks and sources of bodies that have closed-form solutions. */
#include "network_case.h"
#include "random.h"

/* Some roundings of a sum of a few products. */
static const double rounding = 1e-14;

static const int64_t points[] = {7, 5, 6};
static const double size[] = {0.3, 0.7, 1.1};

static double width(const struct hs_grid *grid, int axis, int64_t i)
{
    return case_overlap(grid, axis, i, -INFINITY, INFINITY);
}

/* Cross-section of the control volume. */
static double area(const struct hs_grid *grid, int axis, const int64_t at[HS_AXES])
{
    double product = 1.0;
    for (int a = 0; a < HS_AXES; a++)
        product *= a == axis ? 1.0 : width(grid, a, at[a]);
    return product;
}

/* alpha*dt/dx^2 inside, and twice that across walls, since half of the volume lies beyond. */
void test_network_edges__of_a_uniform_body_are_the_textbooks(void **state)
{
    const double k[] = {1.7, 0.6, 29.0}, capacity = 3.3e6, dt = 0.37;
    for (int dims = 1; dims <= 3; dims++) {
        struct network_case c;
        case_init(&c, dims, points, size);
        case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1.0, capacity));
        memcpy(c.substance[0].conductivity, k, sizeof k);
        struct hs_network network = case_make(&c);
        for (int64_t n = 0; n < hs_grid_count(&c.grid); n++) {
            const int64_t *p = c.grid.points;
            const int64_t at[] = {n % p[0], n / p[0] % p[1], n / p[0] / p[1]};
            const struct hs_network_row *row = case_row(&network, at[0], at[1], at[2]);
            for (int a = 0; a < HS_AXES; a++) {
                const bool outer = at[a] == 0 || at[a] == p[a] - 1;
                const double dx = c.grid.spacing[a];
                const double textbook = k[a] / capacity * dt / (dx * dx) * (outer ? 2.0 : 1.0);
                assert_close(row->conductance[a] * dt / row->capacity,
                             at[a] < p[a] - 1 ? textbook : 0.0, rounding);
            }
            assert_true(row->sink == 0.0 && row->forcing == 0 && row->kind == HS_NODE_FREE);
        }
        hs_network_release(&network);
    }
}

/* The resistance of all edges in series along a line, times its cross-section. */
static double resistance(const struct hs_network *network, int axis, const int64_t start[HS_AXES])
{
    int64_t at[HS_AXES] = {start[0], start[1], start[2]};
    double sum = 0.0;
    for (at[axis] = 0; at[axis] < network->grid.points[axis] - 1; at[axis]++)
        sum += area(&network->grid, axis, at) /
               case_row(network, at[0], at[1], at[2])->conductance[axis];
    return sum;
}

/* Interfaces anywhere: at nodes, halfway, several in a cell; contrasts up to 1e5. */
void test_network_edges__of_layers_are_in_series(void **state)
{
    const double share[] = {0.0, 0.1, 1.0 / 6.0, 0.25, 0.26, 0.2600001, 0.5, 0.713, 1.0};
    const double k[] = {0.04, 4000.0, 1.0, 0.04, 17.0, 3999.0, 0.4, 200.0};
    for (int axis = 0; axis < HS_AXES; axis++)
        for (int contacts = 0; contacts < 2; contacts++) {
            struct network_case c;
            case_init(&c, 3, (const int64_t[]){7, 7, 7}, size);
            double expected = 0.0;
            for (int n = 0; n < 8; n++) {
                const double lower = share[n] * size[axis], upper = share[n + 1] * size[axis];
                case_layer(&c, case_substance(&c, k[n], 1.0 + n), axis, lower, upper);
                expected += (upper - lower) / k[n];
                if (contacts && n > 0) {
                    case_contact(&c, n, n - 1, 0.01 * n);
                    expected += 0.01 * n;
                }
            }
            struct hs_network network = case_make(&c);
            int64_t start[HS_AXES];
            for (int n = 0; n < 7 * 7; n++) {
                start[axis] = 0;
                start[(axis + 1) % 3] = n % 7;
                start[(axis + 2) % 3] = n / 7;
                assert_close(resistance(&network, axis, start), expected, 1e-12);
            }
            hs_network_release(&network);
        }
}

/* The edge below the interface is unaffected. */
void test_network_edges__above_a_node_have_a_contact_that_lies_there(void **state)
{
    for (int labels = 0; labels < 2; labels++) {
        struct network_case c;
        case_init(&c, 3, points, size);
        const int one = case_substance(&c, 2.0, 1.0), other = case_substance(&c, 5.0, 1.0);
        const double at = 3.0 * c.grid.spacing[HS_X]; /* up to rounding */
        case_layer(&c, one, HS_X, -1.0, at * (1.0 + 2e-16));
        case_layer(&c, other, HS_X, at, 1.0);
        case_contact(&c, other, one, 0.7);
        uint16_t label[6 * 4 * 5];
        for (int n = 0; n < 6 * 4 * 5; n++)
            label[n] = (uint16_t)(n % 6 < 3 ? one : other);
        if (labels) {
            c.body.labels = HS_LABEL_CELLS;
            c.body.label = label;
        }
        struct hs_network network = case_make(&c);
        const int64_t middle[] = {0, 2, 2};
        const double dx = c.grid.spacing[HS_X], across = area(&c.grid, HS_X, middle);
        assert_close(case_row(&network, 2, 2, 2)->conductance[HS_X], across / (dx / 2.0), rounding);
        assert_close(case_row(&network, 3, 2, 2)->conductance[HS_X], across / (dx / 5.0 + 0.7),
                     rounding);
        assert_close(case_row(&network, 4, 2, 2)->conductance[HS_X], across / (dx / 5.0), rounding);
        /* edges along the interface lie half in one substance, half in the other */
        const int64_t along[] = {3, 2, 2};
        assert_close(case_row(&network, 3, 2, 2)->conductance[HS_Y],
                     area(&c.grid, HS_Y, along) * 3.5 / c.grid.spacing[HS_Y], rounding);
        hs_network_release(&network);
    }
}

/* Sheets along an edge share its cross-section by area. */
void test_network_edges__of_laminates_are_in_parallel(void **state)
{
    const double share[] = {0.0, 0.03, 0.2, 0.2 + 1e-7, 0.375, 0.66, 1.0};
    const double k[] = {3.0, 3e5, 70.0, 0.5, 3.0, 11.0};
    for (int across = 0; across < HS_AXES; across++)
        for (int axis = 0; axis < HS_AXES; axis++) {
            if (axis == across)
                continue;
            struct network_case c;
            case_init(&c, 3, points, size);
            for (int n = 0; n < 6; n++)
                case_layer(&c, case_substance(&c, k[n], 1.0), across, share[n] * size[across],
                           share[n + 1] * size[across]);
            struct hs_network network = case_make(&c);
            for (int64_t i = 0; i < points[across]; i++) {
                int64_t at[HS_AXES] = {1, 1, 1};
                at[across] = i;
                double expected = 0.0;
                for (int n = 0; n < 6; n++)
                    expected += k[n] * case_overlap(&c.grid, across, i, share[n] * size[across],
                                                    share[n + 1] * size[across]);
                expected *= width(&c.grid, 3 - across - axis, 1) / c.grid.spacing[axis];
                /* a sheet's place has one rounding error, its share of a cell several */
                assert_close(case_row(&network, at[0], at[1], at[2])->conductance[axis], expected,
                             1e-13);
            }
            hs_network_release(&network);
        }
}

/* A brick with faces anywhere: its part of each cross-section and control volume. */
void test_network_edges__of_a_brick_are_exact(void **state)
{
    const double lower[] = {0.11, 0.2, 0.3}, upper[] = {0.27, 0.6, 0.94};
    const double k[] = {1.0, 40.0}, capacity[] = {2.0, 7.0};
    for (int dims = 1; dims <= 3; dims++) {
        struct network_case c;
        case_init(&c, dims, points, size);
        case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, k[0], capacity[0]));
        struct hs_solid *brick =
            case_solid(&c, HS_SHAPE_BOX, case_substance(&c, k[1], capacity[1]));
        memcpy(brick->shape.lower, lower, sizeof lower);
        memcpy(brick->shape.upper, upper, sizeof upper);
        struct hs_network network = case_make(&c);
        for (int64_t n = 0; n < hs_grid_count(&c.grid); n++) {
            const int64_t *p = c.grid.points;
            const int64_t at[] = {n % p[0], n / p[0] % p[1], n / p[0] / p[1]};
            const struct hs_network_row *row = case_row(&network, at[0], at[1], at[2]);
            double inside = 1.0, all = 1.0;
            for (int a = 0; a < HS_AXES; a++) {
                inside *= case_overlap(&c.grid, a, at[a], lower[a], upper[a]);
                all *= width(&c.grid, a, at[a]);
            }
            assert_close(row->capacity, inside * capacity[1] + (all - inside) * capacity[0], 1e-13);
            for (int a = 0; a < dims; a++) {
                if (at[a] == p[a] - 1)
                    continue;
                const double dx = c.grid.spacing[a], x = dx * (double)at[a];
                const double in = fmax(fmin(x + dx, upper[a]) - fmax(x, lower[a]), 0.0);
                double brick_area = 1.0;
                for (int b = 0; b < HS_AXES; b++)
                    brick_area *=
                        b == a ? 1.0 : case_overlap(&c.grid, b, at[b], lower[b], upper[b]);
                const double rest = area(&c.grid, a, at) - brick_area;
                assert_close(row->conductance[a],
                             brick_area / (in / k[1] + (dx - in) / k[0]) + rest / (dx / k[0]),
                             1e-13);
            }
        }
        hs_network_release(&network);
    }
}

/* Labelled cells: each contributes a quarter of an edge and an octant of a node, whatever it is. A
 * node has the substance of the cell below it along all axes. A quarter has the contact of its own
 * cells, or that of the nodes where a contact lies between. */
void test_network_edges__of_labelled_cells_are_sums_of_quarters(void **state)
{
    struct network_case c;
    seed = 5;
    case_init(&c, 3, points, size);
    for (int s = 0; s < 4; s++)
        case_substance(&c, pow(10.0, s), 1.0 + s);
    case_contact(&c, 0, 2, 0.3);
    uint16_t label[5][4][6];
    for (int n = 0; n < 5 * 4 * 6; n++)
        (&label[0][0][0])[n] = (uint16_t)below(4);
    c.body.labels = HS_LABEL_CELLS;
    c.body.label = &label[0][0][0];
    struct hs_network network = case_make(&c);
    const double dx = c.grid.spacing[0], dy = c.grid.spacing[1], dz = c.grid.spacing[2];
    for (int k = 1; k < 5; k++)
        for (int j = 1; j < 4; j++)
            for (int i = 1; i < 6; i++) {
                double g = 0.0, capacity = 0.0;
                const int here = label[k - 1][j - 1][i - 1], next = label[k - 1][j - 1][i];
                for (int n = 0; n < 4; n++) {
                    const int low = label[k - n / 2][j - n % 2][i - 1];
                    const int high = label[k - n / 2][j - n % 2][i];
                    const bool apart = low + here == 2 && low != 1;
                    const bool beyond = high + next == 2 && high != 1;
                    const bool touch = apart || beyond ? here + next == 2 && here != 1
                                                       : low + high == 2 && low != 1;
                    g += dy * dz / 4.0 /
                         (dx / c.substance[high].conductivity[0] + (touch ? 0.3 : 0.0));
                    capacity += (c.substance[low].capacity + c.substance[high].capacity) / 8.0;
                }
                const struct hs_network_row *row = case_row(&network, i, j, k);
                assert_close(row->conductance[HS_X], g, rounding);
                assert_close(row->capacity, capacity * dx * dy * dz, rounding);
            }
    hs_network_release(&network);
}

/* Labelled nodes, and a field of the same numbers: two halves in series. */
void test_network_edges__of_labelled_nodes_are_two_halves(void **state)
{
    struct network_case c;
    seed = 6;
    uint16_t label[7 * 5 * 6];
    double conductivity[7 * 5 * 6], capacity[7 * 5 * 6];
    case_init(&c, 3, points, size);
    for (int s = 0; s < 4; s++)
        case_substance(&c, pow(7.0, s), 1.0 + s);
    for (int n = 0; n < 7 * 5 * 6; n++) {
        label[n] = (uint16_t)below(4);
        conductivity[n] = c.substance[label[n]].conductivity[0];
        capacity[n] = c.substance[label[n]].capacity;
    }
    for (int form = 0; form < 3; form++) { /* labels, labels with a contact, fields */
        c.body.labels = form < 2 ? HS_LABEL_NODES : HS_LABEL_NONE;
        c.body.label = form < 2 ? label : NULL;
        c.body.contact_count = 0;
        if (form == 1)
            case_contact(&c, 1, 3, 0.02);
        c.body.conductivity.value = form == 2 ? conductivity : NULL;
        c.body.capacity.value = form == 2 ? capacity : NULL;
        struct hs_network network = case_make(&c);
        for (int64_t n = 0; n < hs_grid_count(&c.grid); n++) {
            const int64_t at[] = {n % 7, n / 7 % 5, n / 35}, stride[] = {1, 7, 35};
            const struct hs_network_row *row = case_row(&network, at[0], at[1], at[2]);
            double volume = 1.0;
            for (int a = 0; a < HS_AXES; a++)
                volume *= width(&c.grid, a, at[a]);
            assert_close(row->capacity, volume * capacity[n], rounding);
            for (int a = 0; a < HS_AXES; a++) {
                if (at[a] == points[a] - 1)
                    continue;
                const int64_t next = n + stride[a];
                const bool touch = form == 1 && label[n] + label[next] == 4 && label[n] != 2;
                const double half = 0.5 * c.grid.spacing[a];
                assert_close(
                    row->conductance[a],
                    area(&c.grid, a, at) /
                        (half / conductivity[n] + half / conductivity[next] + (touch ? 0.02 : 0.0)),
                    rounding);
            }
        }
        hs_network_release(&network);
    }
}

/* A substance's volume: the sum of all capacities, if its own is 1 and the others' nearly 0. */
static double volume_of(struct network_case *c, int substance)
{
    for (int s = 0; s < c->body.substance_count; s++)
        c->substance[s].capacity = s == substance ? 1.0 : 1e-30;
    struct hs_network network = case_make(c);
    const double sum = case_sum(&network, case_capacity_of, 0);
    assert_close(network.volume[substance], sum, 1e-12); /* of 1e5 terms */
    hs_network_release(&network);
    return sum;
}

/* Boxes over boxes: each has the volume that no later one takes. */
void test_network_edges__boxes_keep_their_volume(void **state)
{
    struct network_case c;
    case_init(&c, 3, (const int64_t[]){11, 8, 9}, size);
    case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1.0, 1.0));
    const double lower[][3] = {{0.01, 0.1, 0.2}, {0.1, 0.3, 0.1}, {0.2, -1.0, 0.5}};
    const double upper[][3] = {{0.2, 0.5, 0.9}, {0.25, 0.6, 0.4}, {0.21, 2.0, 0.52}};
    for (int n = 0; n < 3; n++) {
        struct hs_solid *box = case_solid(&c, HS_SHAPE_BOX, case_substance(&c, 2.0 + n, 1.0));
        memcpy(box->shape.lower, lower[n], sizeof lower[n]);
        memcpy(box->shape.upper, upper[n], sizeof upper[n]);
    }
    const double first = 0.19 * 0.4 * 0.7 - 0.1 * 0.2 * 0.2, second = 0.15 * 0.3 * 0.3;
    const double third = 0.01 * 0.7 * 0.02; /* there is nothing beyond the grid */
    const double all = size[0] * size[1] * size[2];
    assert_close(volume_of(&c, 1), first, 1e-13);
    assert_close(volume_of(&c, 2), second, 1e-13);
    assert_close(volume_of(&c, 3), third, 1e-12);
    assert_close(volume_of(&c, 0), all - first - second - third, 1e-13);
}

/* Discs and balls of any size below a cell, anywhere: by 4 x 4 lines in each octant that they
 * reach, or 4. */
void test_network_edges__round_solids_smaller_than_a_cell_keep_their_volume(void **state)
{
    double worst[2] = {0.0, 0.0};
    for (int n = 0; n < 2000; n++) {
        const int dims = 2 + n % 2;
        const double radius = pow(10.0, between(-3.0, 0.0)); /* of a cell */
        struct network_case c;
        case_init(&c, dims, (const int64_t[]){6, 6, 6}, (const double[]){5.0, 5.0, 5.0});
        case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1.0, 1.0));
        struct hs_solid *solid = case_solid(&c, HS_SHAPE_SPHERE, case_substance(&c, 2.0, 1.0));
        solid->shape.radius = radius;
        for (int a = 0; a < dims; a++)
            solid->shape.centre[a] = between(2.0, 3.0);
        const double exact = dims == 2 ? M_PI * pow(radius, 2) : 4.0 / 3.0 * M_PI * pow(radius, 3);
        worst[n % 2] = fmax(worst[n % 2], fabs(volume_of(&c, 1) / exact - 1.0));
    }
    if (!(worst[0] < 0.04) || !(worst[1] < 0.065))
        fail_msg("areas are off by up to %g, volumes by %g", worst[0], worst[1]);
}

/* Error of a shape's volume in a unit cube with `cells` cells per axis. */
static double volume_error(enum hs_shape_kind kind, int dims, int64_t cells, double exact)
{
    struct network_case c;
    case_init(&c, dims, (const int64_t[]){cells + 1, cells + 1, cells + 1},
              (const double[]){1.0, 1.0, 1.0});
    case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1.0, 1.0));
    struct hs_solid *solid = case_solid(&c, kind, case_substance(&c, 2.0, 1.0));
    solid->shape = (struct hs_shape){.kind = kind,
                                     .centre = {0.48, 0.53, 0.51},
                                     .radius = 0.37,
                                     .axis = HS_Z,
                                     .from = 0.123,
                                     .to = 0.777,
                                     .point = {0.7, 0.0, 0.0}, /* a corner of the cube */
                                     .normal = {3.0, 2.5, 4.0}};
    return fabs(volume_of(&c, 1) / exact - 1.0);
}

/* Of any length, even one whose square overflows or underflows. */
void test_network_edges__normals_have_a_direction_alone(void **state)
{
    static const double lengths[] = {1e-200, 1.0, 1e200};
    double volume[3];
    for (int n = 0; n < 3; n++) {
        struct network_case c;
        case_init(&c, 2, points, size);
        case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1.0, 1.0));
        struct hs_solid *solid = case_solid(&c, HS_SHAPE_HALF_SPACE, case_substance(&c, 1.0, 1.0));
        solid->shape.point[0] = solid->shape.point[1] = 0.2;
        solid->shape.normal[0] = solid->shape.normal[1] = lengths[n];
        volume[n] = volume_of(&c, 1);
        assert_close(volume[n], volume[0], 1e-12);
    }
    assert_true(volume[0] > 0.01);
}

/* The errors of round solids fluctuate with the grid, so each is the largest of three. A slab is
 * exact. */
void test_network_edges__volumes_of_round_solids_are_of_second_order(void **state)
{
    const double r = 0.37;
    const struct {
        enum hs_shape_kind kind;
        int dims;
        double exact;
    } cases[] = {{HS_SHAPE_SPHERE, 3, 4.0 / 3.0 * M_PI * r * r * r},
                 {HS_SHAPE_CYLINDER, 3, M_PI * r * r * (0.777 - 0.123)},
                 {HS_SHAPE_SPHERE, 2, M_PI * r * r},
                 {HS_SHAPE_HALF_SPACE, 3, 0.7 * 0.84 * 0.525 / 6.0}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        double error[2] = {0.0, 0.0};
        for (int m = 0; m < 6; m++)
            error[m / 3] =
                fmax(error[m / 3], volume_error(cases[n].kind, cases[n].dims,
                                                (m < 3 ? 8 : 40) + m % 3, cases[n].exact));
        assert_true(error[0] < 1e-3 && error[0] / error[1] > pow(5.0, 1.8));
    }
    assert_near(volume_error(HS_SHAPE_SPHERE, 1, 9, 2.0 * r), 0.0, rounding); /* a slab */
}

/* Conductance of a contact of 1 m^2 K/W around a shape in a unit cube whose substances conduct
 * almost without limit: twice what all edges lose with a contact of 2 m^2 K/W. */
static double through_contact(const struct hs_shape *shape, int dims, int64_t cells)
{
    double sum[2] = {0.0, 0.0};
    for (int n = 0; n < 2; n++) {
        struct network_case c;
        case_init(&c, dims, (const int64_t[]){cells + 1, cells + 1, cells + 1},
                  (const double[]){1.0, 1.0, 1.0});
        case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1e6, 1.0));
        case_solid(&c, shape->kind, case_substance(&c, 1e6, 1.0))->shape = *shape;
        case_contact(&c, 0, 1, 1.0 + n);
        struct hs_network network = case_make(&c);
        for (int a = 0; a < dims; a++)
            sum[n] += case_sum(&network, case_conductance_of, a);
        hs_network_release(&network);
    }
    return 2.0 * (sum[0] - sum[1]);
}

/* Heat crosses a surface along its normal. The resistances in edges at an angle, each weighted by
 * the cosine to the surface, add up to that of its area, like the sides of a stair. If the number
 * of stairs along a circle is off by one at each of its four ends, the sum is off by some
 * 1/cells^1.5. */
void test_network_edges__contacts_count_by_the_area_of_their_surface(void **state)
{
    const struct hs_shape disc = {
        .kind = HS_SHAPE_SPHERE, .centre = {0.5, 0.48, 0.51}, .radius = 0.38};
    const struct hs_shape slope = {
        .kind = HS_SHAPE_HALF_SPACE, .point = {0.52, 0.5, 0.5}, .normal = {2.0, 0.0, 1.0}};
    for (int64_t cells = 20; cells <= 40; cells += 20) {
        const double all = 0.5 * pow((double)cells, -1.5);
        assert_close(through_contact(&disc, 2, cells), 2.0 * M_PI * 0.38, all);
        assert_close(through_contact(&disc, 3, cells), 4.0 * M_PI * 0.38 * 0.38, all);
        assert_close(through_contact(&slope, 3, cells), sqrt(1.25), all);
    }
}

enum { SEALED_MOST = 9 }; /* points along an axis */

/* Marks all nodes that a path of well conducting edges joins to marked ones. */
static void spread(const struct hs_network *network, bool *marked)
{
    const struct hs_grid *grid = &network->grid;
    const int64_t apart[] = {1, grid->points[HS_X], grid->points[HS_X] * grid->points[HS_Y]};
    for (bool more = true; more;) {
        more = false;
        for (int64_t n = 0; n < hs_grid_count(grid); n++)
            for (int a = 0; a < grid->dims; a++) {
                if (hs_network_row_at(network, n)->conductance[a] < 1e-6)
                    continue;
                bool *one = &marked[n], *other = &marked[n + apart[a]];
                more = more || *one != *other;
                *one = *other = *one || *other;
            }
    }
}

/* Half-spaces whose boundary passes through many nodes, those on walls too, and a contact that
 * insulates: no path leads from one side to the other, whichever side the nodes in between are on.
 * An edge through it has the contact of its cross-section times the cosine to the normal.
 * The lengths make surfaces cross the lines between nodes that are taken a little aside at any
 * distance from their ends. */
void test_network_edges__of_no_path_bypass_a_contact(void **state)
{
    seed = 71;
    int cut = 0;
    for (int n = 0; n < 3000; n++) {
        const int dims = 2 + n % 2;
        int64_t nodes[HS_AXES];
        double length[HS_AXES];
        for (int a = 0; a < HS_AXES; a++) {
            nodes[a] = 3 + (int64_t)below(SEALED_MOST - 2);
            length[a] = 0.01 * (1.0 + (double)below(100));
        }
        struct network_case c;
        case_init(&c, dims, nodes, length);
        case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 50.0, 1.0));
        struct hs_shape *shape =
            &case_solid(&c, HS_SHAPE_HALF_SPACE, case_substance(&c, 50.0, 1.0))->shape;
        double normal[HS_AXES] = {0.0}, through = 0.0; /* in spacings */
        for (int a = 0; a < dims; a++) {
            const double node = (double)below((uint32_t)nodes[a]);
            normal[a] = (double)below(5) - 2.0;
            through += normal[a] * node;
            shape->point[a] = node * c.grid.spacing[a];
            shape->normal[a] = normal[a] / c.grid.spacing[a];
        }
        if (normal[0] == 0.0 && normal[1] == 0.0 && normal[2] == 0.0)
            continue;
        case_contact(&c, 0, 1, 1e12);
        struct hs_network network = case_make(&c);
        bool marked[SEALED_MOST * SEALED_MOST * SEALED_MOST], there[2] = {false, false};
        const double length_of_normal =
            sqrt(shape->normal[0] * shape->normal[0] + shape->normal[1] * shape->normal[1] +
                 shape->normal[2] * shape->normal[2]);
        for (int from = 0; from < 2; from++) {
            for (int64_t m = 0; m < hs_grid_count(&c.grid); m++) {
                const int64_t *p = c.grid.points;
                const double beyond = normal[0] * (double)(m % p[0]) +
                                      normal[1] * (double)(m / p[0] % p[1]) +
                                      normal[2] * (double)(m / p[0] / p[1]) - through;
                if (from == 0)
                    marked[m] = beyond > 0.5;
                else if (beyond < -0.5)
                    assert_false(marked[m]);
                there[from] = there[from] || (from == 0 ? beyond > 0.5 : beyond < -0.5);
                const int64_t at[] = {m % p[0], m / p[0] % p[1], m / p[0] / p[1]};
                for (int a = 0; a < dims && from == 0; a++) {
                    const double conductance =
                        case_row(&network, at[0], at[1], at[2])->conductance[a];
                    if (at[a] < p[a] - 1 && conductance < 1e-6)
                        assert_close(conductance * 1e12 / area(&c.grid, a, at),
                                     fabs(shape->normal[a]) / length_of_normal, 1e-9);
                }
            }
            if (from == 0)
                spread(&network, marked);
        }
        cut += there[0] && there[1];
        hs_network_release(&network);
    }
    assert_true(cut > 1500);
}

/* A line that grazes a disc between two nodes crosses its surface at almost no angle. It stands for
 * lines further in, or a contact of hardly any resistance would block it. */
void test_network_edges__that_graze_a_disc_are_not_blocked(void **state)
{
    for (int64_t cells = 10; cells <= 40; cells *= 2)
        for (double off = 0.0; off<1e-3; off = off> 0.0 ? 10.0 * off : 1e-17) {
            struct network_case c;
            case_init(&c, 2, (const int64_t[]){cells + 1, cells + 1, 1},
                      (const double[]){1.0, 1.0, 1.0});
            case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1.0, 1.0));
            struct hs_shape *disc =
                &case_solid(&c, HS_SHAPE_SPHERE, case_substance(&c, 1.0, 1.0))->shape;
            disc->centre[HS_X] = 0.5;
            disc->centre[HS_Y] = 0.5 + 0.5 / (double)cells;
            disc->radius = 0.3 + off;
            case_contact(&c, 0, 1, 1e-6);
            struct hs_network network = case_make(&c);
            for (int64_t n = 0; n < hs_grid_count(&c.grid); n++) {
                const int64_t at[] = {n % (cells + 1), n / (cells + 1), 0};
                for (int a = 0; a < 2; a++) /* 1e-6 to a cell of 1/40, and over the cosine */
                    if (at[a] < cells)
                        assert_close(case_row(&network, at[0], at[1], 0)->conductance[a],
                                     area(&c.grid, a, at) * (double)cells, 1e-3);
            }
            hs_network_release(&network);
        }
}

/* A body with everything that lines are traced for. No surface passes exactly through a node: it
 * would count as above the node, but in a mirror image as below. */
static void add_shapes(struct network_case *c)
{
    for (int s = 0; s < 4; s++) {
        case_substance(c, 1.0 + 3.0 * s, 2.0 + s);
        for (int a = 0; a < HS_AXES; a++)
            c->substance[s].conductivity[a] += 0.3 * a;
    }
    case_solid(c, HS_SHAPE_EVERYWHERE, 0);
    struct hs_solid *solid = case_solid(c, HS_SHAPE_BOX, 1);
    memcpy(solid->shape.lower, (const double[]){0.06, 0.1, 0.2}, sizeof solid->shape.lower);
    memcpy(solid->shape.upper, (const double[]){0.21, 0.5, 0.83}, sizeof solid->shape.upper);
    solid = case_solid(c, HS_SHAPE_SPHERE, 2);
    memcpy(solid->shape.centre, (const double[]){0.2, 0.45, 0.7}, sizeof solid->shape.centre);
    solid->shape.radius = 0.13;
    solid = case_solid(c, HS_SHAPE_CYLINDER, 3);
    memcpy(solid->shape.centre, (const double[]){0.1, 0.2, 0.0}, sizeof solid->shape.centre);
    solid->shape.radius = 0.06;
    solid->shape.axis = HS_Z;
    solid->shape.from = 0.33;
    solid->shape.to = 0.9;
    solid = case_solid(c, HS_SHAPE_HALF_SPACE, 2);
    memcpy(solid->shape.point, (const double[]){0.03, 0.03, 0.0}, sizeof solid->shape.point);
    memcpy(solid->shape.normal, (const double[]){1.0, 0.5, 0.25}, sizeof solid->shape.normal);
    case_contact(c, 1, 2, 0.05);
    case_contact(c, 0, 3, 0.02);
}

static void mirror(struct network_case *c, int axis)
{
    for (int n = 0; n < c->body.solid_count; n++) {
        struct hs_solid *solid = &c->solid[n];
        const double lower = solid->shape.lower[axis], from = solid->shape.from;
        solid->shape.lower[axis] = -solid->shape.upper[axis];
        solid->shape.upper[axis] = -lower;
        solid->shape.centre[axis] *= -1.0;
        solid->shape.point[axis] *= -1.0;
        solid->shape.normal[axis] *= -1.0;
        if (solid->shape.axis == axis) {
            solid->shape.from = -solid->shape.to;
            solid->shape.to = -from;
        }
    }
    c->grid.lower[axis] = -c->grid.spacing[axis] * (double)(c->grid.points[axis] - 1);
}

/* The rows of one network are those of another with other node numbers and axes. */
static void assert_moved(const struct hs_network *one, const struct hs_network *other,
                         const int axis_of[HS_AXES], int mirrored, double relative)
{
    const int64_t *p = one->grid.points;
    for (int64_t n = 0; n < hs_grid_count(&one->grid); n++) {
        const int64_t at[] = {n % p[0], n / p[0] % p[1], n / p[0] / p[1]};
        const struct hs_network_row *row = case_row(one, at[0], at[1], at[2]);
        for (int a = 0; a < HS_AXES; a++) {
            if (at[a] == p[a] - 1)
                continue;
            int64_t there[HS_AXES];
            for (int b = 0; b < HS_AXES; b++)
                there[axis_of[b]] = b != mirrored ? at[b] : p[b] - 1 - at[b] - (b == a);
            const struct hs_network_row *edge = case_row(other, there[0], there[1], there[2]);
            assert_close(edge->conductance[axis_of[a]], row->conductance[a], relative);
            if (a == mirrored)
                there[axis_of[a]]++;
            assert_close(case_row(other, there[0], there[1], there[2])->capacity, row->capacity,
                         relative);
        }
    }
}

void test_network_edges__of_a_mirrored_body_are_mirrored(void **state)
{
    struct network_case c;
    case_init(&c, 3, points, size);
    add_shapes(&c);
    struct hs_network network = case_make(&c);
    for (int axis = 0; axis < HS_AXES; axis++) {
        struct network_case m;
        case_init(&m, 3, points, size);
        add_shapes(&m);
        mirror(&m, axis);
        struct hs_network mirrored = case_make(&m);
        /* a contact is taken 1e-14 of the grid beside the edge, where that may nearly graze a
         * surface */
        assert_moved(&network, &mirrored, (const int[]){0, 1, 2}, axis, 1e-11);
        hs_network_release(&mirrored);
    }
    hs_network_release(&network);
}

static void turn(double x[HS_AXES])
{
    const double last = x[2];
    x[2] = x[1];
    x[1] = x[0];
    x[0] = last;
}

void test_network_edges__of_a_turned_body_are_turned(void **state)
{
    struct network_case c, t;
    case_init(&c, 3, points, size);
    add_shapes(&c);
    case_init(&t, 3, (const int64_t[]){6, 7, 5}, (const double[]){1.1, 0.3, 0.7});
    add_shapes(&t);
    for (int n = 0; n < t.body.solid_count; n++) {
        turn(t.solid[n].shape.lower);
        turn(t.solid[n].shape.upper);
        turn(t.solid[n].shape.centre);
        turn(t.solid[n].shape.point);
        turn(t.solid[n].shape.normal);
        t.solid[n].shape.axis = (t.solid[n].shape.axis + 1) % 3;
    }
    for (int s = 0; s < t.body.substance_count; s++)
        turn(t.substance[s].conductivity);
    struct hs_network network = case_make(&c), turned = case_make(&t);
    assert_moved(&network, &turned, (const int[]){1, 2, 0}, -1, 1e-11); /* as above */
    hs_network_release(&network);
    hs_network_release(&turned);
}

/* A grid that lacks an axis gives the network of a body that is uniform along it. */
void test_network_edges__for_each_metre_along_missing_axes(void **state)
{
    struct network_case flat, deep;
    case_init(&flat, 2, points, size);
    case_init(&deep, 3, points, size);
    add_shapes(&flat);
    add_shapes(&deep);
    for (int n = 0; n < deep.body.solid_count; n++) {
        struct hs_solid *solid = &deep.solid[n];
        solid->shape.lower[HS_Z] = solid->shape.from = -INFINITY;
        solid->shape.upper[HS_Z] = solid->shape.to = INFINITY;
        solid->shape.normal[HS_Z] = 0.0;
        if (solid->shape.kind == HS_SHAPE_SPHERE)
            solid->shape.kind = HS_SHAPE_CYLINDER;
        solid->shape.axis = HS_Z;
    }
    struct hs_network one = case_make(&flat), other = case_make(&deep);
    const double dz = deep.grid.spacing[HS_Z];
    for (int64_t j = 0; j < points[1]; j++)
        for (int64_t i = 0; i < points[0]; i++) {
            const struct hs_network_row *row = case_row(&one, i, j, 0);
            const struct hs_network_row *slice = case_row(&other, i, j, 2);
            assert_close(row->conductance[HS_X] * dz, slice->conductance[HS_X], rounding);
            assert_close(row->conductance[HS_Y] * dz, slice->conductance[HS_Y], rounding);
            assert_close(row->capacity * dz, slice->capacity, rounding);
            assert_true(row->conductance[HS_Z] == 0.0);
        }
    hs_network_release(&one);
    hs_network_release(&other);
}

/* The cell between the last node and the first is like any other. */
void test_network_edges__go_round_along_a_periodic_axis(void **state)
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        struct network_case c;
        case_init(&c, 3, points, size);
        c.spec.wrap[axis] = true;
        const double dx = c.grid.spacing[axis], period = dx * (double)points[axis];
        const int one = case_substance(&c, 2.0, 3.0), other = case_substance(&c, 5.0, 7.0);
        case_layer(&c, one, axis, -1.0, 0.3 * dx);
        case_layer(&c, other, axis, 0.3 * dx, period);
        case_contact(&c, one, other, 0.01);
        struct hs_network network = case_make(&c);
        int64_t at[HS_AXES] = {1, 1, 1};
        double series = 0.0, capacity = 0.0;
        for (at[axis] = 0; at[axis] < points[axis]; at[axis]++) {
            const struct hs_network_row *row = case_row(&network, at[0], at[1], at[2]);
            series += 1.0 / row->conductance[axis];
            capacity += row->capacity;
        }
        double across = 1.0;
        for (int a = 0; a < HS_AXES; a++)
            across *= a == axis ? 1.0 : c.grid.spacing[a];
        assert_close(series * across, 0.3 * dx / 2.0 + (period - 0.3 * dx) / 5.0 + 2.0 * 0.01,
                     1e-13);
        assert_close(capacity / across, 0.3 * dx * 3.0 + (period - 0.3 * dx) * 7.0, 1e-13);
        /* the seam's interface is at node 0, so this edge has both contacts */
        at[axis] = 0;
        assert_close(across / case_row(&network, at[0], at[1], at[2])->conductance[axis],
                     0.3 * dx / 2.0 + 0.7 * dx / 5.0 + 2.0 * 0.01, 1e-13);
        hs_network_release(&network);
    }
}

/* A uniform axis given as a list of coordinates gives the same network, with as few rows. */
void test_network_edges__of_listed_coordinates(void **state)
{
    double list[HS_AXES][8];
    for (int wraps = 0; wraps < 2; wraps++) {
        struct network_case c;
        case_init(&c, 3, points, size);
        c.spec.wrap[HS_Y] = wraps;
        add_shapes(&c);
        struct hs_network uniform = case_make(&c);
        for (int a = 0; a < HS_AXES; a++) {
            for (int i = 0; i <= points[a]; i++)
                list[a][i] = hs_grid_coordinate(&c.grid, a, i);
            c.grid.coordinate[a] = list[a];
        }
        struct hs_network listed = case_make(&c);
        for (int64_t n = 0; n < hs_grid_count(&c.grid); n++) {
            const struct hs_network_row *one = hs_network_row_at(&uniform, n);
            const struct hs_network_row *other = hs_network_row_at(&listed, n);
            for (int a = 0; a < HS_AXES; a++)
                assert_close(one->conductance[a], other->conductance[a], 1e-13);
            assert_close(one->capacity, other->capacity, 1e-13);
        }
        hs_network_release(&uniform);
        c.body.solid_count = 1; /* one substance */
        uniform = case_make(&c);
        for (int a = 0; a < HS_AXES; a++)
            c.grid.coordinate[a] = NULL;
        hs_network_release(&listed);
        listed = case_make(&c);
        assert_int_equal(uniform.row_count, listed.row_count);
        hs_network_release(&uniform);
        hs_network_release(&listed);
    }
}

void test_network_edges__of_a_stretched_axis(void **state)
{
    const double x[] = {-1.0, -0.9, -0.5, 0.25, 0.3, 2.0, 2.1};
    struct network_case c;
    case_init(&c, 2, points, size);
    c.grid.coordinate[HS_X] = x;
    const int one = case_substance(&c, 3.0, 5.0), other = case_substance(&c, 0.1, 2.0);
    case_layer(&c, one, HS_X, -2.0, 0.0);
    case_layer(&c, other, HS_X, 0.0, 3.0);
    struct hs_network network = case_make(&c);
    const double dy = c.grid.spacing[HS_Y];
    for (int i = 0; i < 7; i++) {
        const struct hs_network_row *row = case_row(&network, i, 1, 0);
        const double lo = i > 0 ? 0.5 * (x[i - 1] + x[i]) : x[i];
        const double hi = i < 6 ? 0.5 * (x[i] + x[i + 1]) : x[i];
        const double first = fmax(fmin(hi, 0.0) - lo, 0.0), second = fmax(hi - fmax(lo, 0.0), 0.0);
        assert_close(row->capacity, dy * (first * 5.0 + second * 2.0), rounding);
        assert_close(row->conductance[HS_Y], (first * 3.0 + second * 0.1) / dy, rounding);
        if (i < 6)
            assert_close(row->conductance[HS_X],
                         dy / (fmax(fmin(x[i + 1], 0.0) - x[i], 0.0) / 3.0 +
                               fmax(x[i + 1] - fmax(x[i], 0.0), 0.0) / 0.1),
                         rounding);
    }
    hs_network_release(&network);
}

/* Cells at the origin that are smaller than the roundings of the axis' far end. */
void test_network_edges__of_cells_at_the_origin(void **state)
{
    const double x[] = {0.0, 1e-16, 3e-16, 6e-16, 1e-15, 0.5, 1.0};
    struct network_case c;
    case_init(&c, 1, points, size);
    c.grid.coordinate[HS_X] = x;
    case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 3.0, 5.0));
    struct hs_network network = case_make(&c);
    for (int i = 0; i < 6; i++)
        assert_close(case_row(&network, i, 0, 0)->conductance[HS_X], 3.0 / (x[i + 1] - x[i]),
                     rounding);
    hs_network_release(&network);
}

/* Integrals over the volume of substances: sinks with their reference, and sources. */
void test_network_edges__sinks_and_sources_are_integrals(void **state)
{
    struct network_case c;
    case_init(&c, 3, points, size);
    for (int s = 0; s < 3; s++)
        case_substance(&c, 1.0, 1.0);
    c.body.source = 6;
    c.substance[0].source = 4;
    c.substance[1].perfusion = 900.0;
    c.substance[1].reference = 2;
    c.substance[1].source = 4;
    c.substance[2].perfusion = 50.0;
    c.substance[2].reference = 7;
    case_layer(&c, 0, HS_X, 0.0, 0.13);
    case_layer(&c, 1, HS_X, 0.13, 0.2);
    case_layer(&c, 2, HS_X, 0.2, 0.3);
    struct hs_network network = case_make(&c);
    const double across = size[1] * size[2];
    assert_close(case_sum(&network, case_sink_of, 0), across * (0.07 * 900.0 + 0.1 * 50.0), 1e-13);
    assert_close(case_sum(&network, case_weight, 2), across * 0.07 * 900.0, 1e-13);
    assert_close(case_sum(&network, case_weight, 4), across * 0.2, 1e-13);
    assert_close(case_sum(&network, case_weight, 6), across * 0.3, 1e-13); /* everywhere */
    assert_close(case_sum(&network, case_weight, 7), across * 0.1 * 50.0, 1e-13);
    for (int64_t n = 0; n < hs_grid_count(&c.grid); n++) { /* it tends to its reference */
        const struct hs_network_row *row = hs_network_row_at(&network, n);
        assert_close(row->sink, case_weight(&network, row, 2) + case_weight(&network, row, 7),
                     rounding);
    }
    hs_network_release(&network);
}

void test_network_edges__what_cannot_be_is_refused(void **state)
{
    struct network_case c;
    case_init(&c, 3, points, size);
    case_substance(&c, 1.0, 1.0);
    case_layer(&c, 0, HS_X, -1.0, 0.26);
    case_refused(&c, "case.cfg:3: body: around the node at x = 0.25, y = 0, z = 0 m: no material");
    case_layer(&c, 0, HS_X, 0.26, 0.31); /* now the body is complete */
    struct hs_network network = case_make(&c);
    hs_network_release(&network);
    struct hs_solid *ball = case_solid(&c, HS_SHAPE_SPHERE, 0);
    ball->shape.radius = 0.1;
    c.solid[0] = *ball;
    case_refused(&c, "x = 0, y = 0, z = 0 m: no material"); /* covers a part of its octant only */
    c.body.solid_count = 0;
    case_refused(&c, "no material");
    case_solid(&c, HS_SHAPE_EVERYWHERE, 0);
    c.substance[0].conductivity[HS_X] = 1e308;
    c.grid.spacing[HS_Z] = 1e3;
    case_refused(&c, "x = 0, y = 0, z = 0 m: a conductance");
    c.substance[0].conductivity[HS_X] = 1.0;
    c.grid.spacing[HS_Z] = size[HS_Z] / 5.0;
    c.substance[0].capacity = 1e-322;
    case_refused(&c, "heat capacity");

    uint16_t label[7 * 5 * 6] = {0};
    c.substance[0].capacity = 1.0;
    c.body.labels = HS_LABEL_NODES;
    c.body.label = label;
    label[2 * 35 + 3 * 7 + 1] = 1;
    case_refused(&c, "x = 0.05, y = 0.525, z = 0.44 m: its label is of no material");
    c.body.labels = HS_LABEL_CELLS; /* the same label is that of cell 1 + 6*(3 + 4*3) */
    case_refused(&c, "its label is of no material");
}
