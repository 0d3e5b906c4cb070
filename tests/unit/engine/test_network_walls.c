/* What walls and their patches do to nodes: areas, integrals, precedence. */
#include "network_case.h"

static const double rounding = 1e-14; /* of sums of a few products */

static const int64_t points[] = {7, 5, 6};
static const double size[] = {0.3, 0.7, 1.1};

static void init(struct network_case *c, int dims)
{
    case_init(c, dims, points, size);
    case_solid(c, HS_SHAPE_EVERYWHERE, case_substance(c, 1.0, 1.0));
}

/* The part of a node's part of a face that a rectangle covers. */
static double overlap_on(const struct hs_grid *grid, int face, const int64_t at[HS_AXES],
                         const struct hs_wall *wall)
{
    const int axis = face / 2;
    double product = at[axis] == (face % 2 ? grid->points[axis] - 1 : 0);
    for (int a = 0; a < HS_AXES; a++)
        product *= a == axis ? 1.0 : case_overlap(grid, a, at[a], wall->lower[a], wall->upper[a]);
    return product;
}

/* A convecting face with a laser spot, part of which a shadow covers. */
void test_network_walls__patches_have_exactly_their_area(void **state)
{
    for (int dims = 1; dims <= 3; dims++)
        for (int face = 0; face < 2 * dims; face++) {
            struct network_case c;
            init(&c, dims);
            struct hs_wall *base = case_wall(&c, face, HS_WALL_EXCHANGES);
            base->h = 12.0;
            base->ambient.function = 3;
            struct hs_wall *spot = case_wall(&c, face, HS_WALL_EXCHANGES);
            spot->flux.function = 1;
            struct hs_wall *shadow = case_wall(&c, face, HS_WALL_EXCHANGES);
            struct hs_wall both = *spot;
            for (int a = 0; a < HS_AXES; a++) {
                spot->lower[a] = 0.11 * size[a];
                spot->upper[a] = 0.52 * size[a];
                shadow->lower[a] = 0.43 * size[a];
                shadow->upper[a] = 0.83 * size[a];
                both.lower[a] = shadow->lower[a];
                both.upper[a] = spot->upper[a];
            }
            struct hs_network network = case_make(&c);
            const struct hs_wall all = *base;
            double sums[3] = {0.0, 0.0, 0.0};
            for (int64_t n = 0; n < hs_grid_count(&c.grid); n++) {
                const int64_t *p = c.grid.points;
                const int64_t at[] = {n % p[0], n / p[0] % p[1], n / p[0] / p[1]};
                const struct hs_network_row *row = case_row(&network, at[0], at[1], at[2]);
                const double lit = dims == 1 ? 0.0
                                             : overlap_on(&c.grid, face, at, spot) -
                                                   overlap_on(&c.grid, face, at, &both);
                const double left = dims == 1 ? 0.0
                                              : overlap_on(&c.grid, face, at, &all) -
                                                    overlap_on(&c.grid, face, at, spot) -
                                                    overlap_on(&c.grid, face, at, shadow) +
                                                    overlap_on(&c.grid, face, at, &both);
                const double near = 1e-13 * overlap_on(&c.grid, face, at, &all);
                assert_near(case_weight(&network, row, 1), -lit, near);
                assert_near(row->sink, 12.0 * left, 12.0 * near);
                assert_near(case_weight(&network, row, 3), 12.0 * left, 12.0 * near);
                sums[0] -= case_weight(&network, row, 1);
                sums[1] += row->sink;
            }
            double share = 1.0, whole = 1.0, hidden = 1.0, shade = 1.0;
            for (int a = 0; a < dims; a++)
                if (a != face / 2) {
                    whole *= size[a];
                    share *= 0.41 * size[a];
                    shade *= 0.4 * size[a];
                    hidden *= 0.09 * size[a];
                }
            assert_near(sums[0], dims == 1 ? 0.0 : share - hidden, 1e-13 * whole);
            assert_near(sums[1], dims == 1 ? 0.0 : 12.0 * (whole - share - shade + hidden),
                        1e-12 * whole);
            hs_network_release(&network);
        }
}

/* A laser on a convecting wall: both on one face. */
void test_network_walls__flux_and_convection_go_together(void **state)
{
    struct network_case c;
    init(&c, 3);
    struct hs_wall *wall = case_wall(&c, 5, HS_WALL_EXCHANGES);
    wall->h = 8.0;
    wall->ambient.function = 0;
    wall->flux.function = 1;
    struct hs_network network = case_make(&c);
    const double area = size[0] * size[1];
    assert_close(case_sum(&network, case_sink_of, 0), 8.0 * area, 1e-13);
    assert_close(case_sum(&network, case_weight, 0), 8.0 * area, 1e-13);
    assert_close(case_sum(&network, case_weight, 1), -area, 1e-13); /* fluxes leave */
    assert_true(case_row(&network, 3, 3, 4)->sink == 0.0);
    assert_close(case_row(&network, 3, 3, 5)->sink, 8.0 * c.grid.spacing[0] * c.grid.spacing[1],
                 rounding);
    hs_network_release(&network);
}

/* Numbers at the nodes of a face, the lower axis fastest. */
void test_network_walls__fields_are_of_the_faces_nodes(void **state)
{
    for (int face = 0; face < HS_FACES; face++) {
        struct network_case c;
        init(&c, 3);
        const int b = face / 2 == 0 ? 1 : 0, d = face / 2 == 2 ? 1 : 2;
        double field[4][42], *h = field[0], *flux = field[1], *ambient = field[2];
        double *value = field[3];
        for (int n = 0; n < 42; n++) {
            h[n] = 1.0 + n;
            flux[n] = n % 5 == 0 ? 0.0 : 0.01 * n;
            ambient[n] = 300.0 - n;
            value[n] = 7.0 * n;
        }
        struct hs_wall *wall = case_wall(&c, face, HS_WALL_EXCHANGES);
        wall->h = 2.0;
        wall->h_field = h;
        wall->flux = (struct hs_wall_number){.function = 4, .field = flux};
        wall->ambient = (struct hs_wall_number){.function = 5, .field = ambient};
        struct hs_wall *prescribed = case_wall(&c, face ^ 1, HS_WALL_PRESCRIBES);
        prescribed->value = (struct hs_wall_number){.function = 6, .field = value};
        struct hs_network network = case_make(&c);
        int64_t at[HS_AXES];
        for (at[d] = 0; at[d] < points[d]; at[d]++)
            for (at[b] = 0; at[b] < points[b]; at[b]++) {
                const int64_t n = at[b] + points[b] * at[d];
                at[face / 2] = face % 2 ? points[face / 2] - 1 : 0;
                const double area = case_overlap(&c.grid, b, at[b], -INFINITY, INFINITY) *
                                    case_overlap(&c.grid, d, at[d], -INFINITY, INFINITY);
                const struct hs_network_row *row = case_row(&network, at[0], at[1], at[2]);
                assert_close(row->sink, 2.0 * h[n] * area, rounding);
                assert_close(case_weight(&network, row, 4), -flux[n] * area, rounding);
                assert_close(case_weight(&network, row, 5), 2.0 * h[n] * ambient[n] * area,
                             rounding);
                /* zero is not a term */
                assert_int_equal(network.forcing[row->forcing].inflow.count,
                                 flux[n] == 0.0 ? 1 : 2);
                at[face / 2] = face % 2 ? 0 : points[face / 2] - 1;
                row = case_row(&network, at[0], at[1], at[2]);
                assert_int_equal(row->kind, HS_NODE_PRESCRIBED);
                /* it keeps its capacity, for the heat that it takes */
                assert_close(row->capacity, 0.5 * c.grid.spacing[face / 2] * area, rounding);
                assert_true(case_weight(&network, row, 6) == value[n]);
            }
        hs_network_release(&network);
    }
}

/* Nodes in a held patch or on its border are held; the rest of the area that it covers is
 * insulated. */
void test_network_walls__patches_hold_the_nodes_inside_them(void **state)
{
    struct network_case c;
    init(&c, 3);
    struct hs_wall *base = case_wall(&c, 1, HS_WALL_EXCHANGES);
    base->h = 3.0;
    struct hs_wall *patch = case_wall(&c, 1, HS_WALL_PRESCRIBES);
    patch->value.function = 9;
    const double dy = c.grid.spacing[HS_Y], dz = c.grid.spacing[HS_Z];
    patch->lower[HS_Y] = dy; /* right at nodes 1 and 3, but for rounding */
    patch->upper[HS_Y] = 3.0 * dy * (1.0 - 1e-15);
    patch->lower[HS_Z] = 1.3 * dz;
    patch->upper[HS_Z] = 3.2 * dz;
    struct hs_network network = case_make(&c);
    for (int64_t k = 0; k < points[2]; k++)
        for (int64_t j = 0; j < points[1]; j++) {
            const struct hs_network_row *row = case_row(&network, 6, j, k);
            const int64_t at[] = {6, j, k};
            const bool inside = j >= 1 && j <= 3 && k >= 2 && k <= 3;
            assert_int_equal(row->kind, inside ? HS_NODE_PRESCRIBED : HS_NODE_FREE);
            assert_close(row->capacity,
                         0.5 * c.grid.spacing[HS_X] * overlap_on(&c.grid, 1, at, base), rounding);
            assert_true(case_weight(&network, row, 9) == (inside ? 1.0 : 0.0));
            const double left =
                overlap_on(&c.grid, 1, at, base) - overlap_on(&c.grid, 1, at, patch);
            assert_near(row->sink, inside ? 0.0 : 3.0 * left, 1e-14);
            assert_int_equal(case_row(&network, 5, j, k)->kind, HS_NODE_FREE);
        }
    hs_network_release(&network);
    /* a patch over it takes its nodes back */
    struct hs_wall *over = case_wall(&c, 1, HS_WALL_EXCHANGES);
    over->upper[HS_Y] = 1.1 * dy;
    network = case_make(&c);
    assert_int_equal(case_row(&network, 6, 1, 2)->kind, HS_NODE_FREE);
    assert_int_equal(case_row(&network, 6, 2, 2)->kind, HS_NODE_PRESCRIBED);
    hs_network_release(&network);
}

/* Prescribed faces win over held ones, and these over the rest; of prescribed faces the last one
 * wins. As for a stencil (core/problem.h), in whatever order they are listed. */
void test_network_walls__where_faces_meet(void **state)
{
    struct network_case c;
    init(&c, 3);
    case_wall(&c, 4, HS_WALL_PRESCRIBES)->value.function = 4;
    case_wall(&c, 2, HS_WALL_HOLDS);
    case_wall(&c, 0, HS_WALL_PRESCRIBES)->value.function = 0;
    case_wall(&c, 3, HS_WALL_EXCHANGES)->h = 1.0;
    case_wall(&c, 5, HS_WALL_HOLDS);
    struct hs_network network = case_make(&c);
    const struct hs_network_row *row = case_row(&network, 0, 0, 0);
    assert_true(row->kind == HS_NODE_PRESCRIBED && case_weight(&network, row, 4) == 1.0);
    assert_int_equal(network.forcing[row->forcing].inflow.count, 1);
    row = case_row(&network, 0, 0, 2);
    assert_true(row->kind == HS_NODE_PRESCRIBED && case_weight(&network, row, 0) == 1.0);
    row = case_row(&network, 0, 4, 2);
    assert_true(row->kind == HS_NODE_PRESCRIBED && case_weight(&network, row, 0) == 1.0);
    row = case_row(&network, 0, 0, 5);
    assert_true(row->kind == HS_NODE_PRESCRIBED && case_weight(&network, row, 0) == 1.0);
    row = case_row(&network, 3, 0, 2);
    assert_true(row->kind == HS_NODE_HELD && row->forcing == 0);
    row = case_row(&network, 3, 4, 5);
    assert_true(row->kind == HS_NODE_HELD && row->sink == 0.0);
    row = case_row(&network, 3, 4, 2);
    assert_true(row->kind == HS_NODE_FREE && row->sink > 0.0);
    hs_network_release(&network);
}

/* At an edge, heat flows through both faces, by the area of each. */
void test_network_walls__of_an_edge_add_up(void **state)
{
    struct network_case c;
    init(&c, 2);
    for (int face = 0; face < 4; face += 2) {
        struct hs_wall *wall = case_wall(&c, face, HS_WALL_EXCHANGES);
        wall->h = 1.0 + 4.0 * face;
        wall->ambient.function = 2;
        wall->flux.function = face;
    }
    struct hs_network network = case_make(&c);
    const double dx = c.grid.spacing[0], dy = c.grid.spacing[1];
    const struct hs_network_row *row = case_row(&network, 0, 0, 0);
    assert_close(row->sink, 0.5 * dy + 9.0 * 0.5 * dx, rounding);
    assert_close(case_weight(&network, row, 0), -0.5 * dy, rounding);
    /* the same function makes one term, in whatever role */
    assert_close(case_weight(&network, row, 2), 0.5 * dy + 9.0 * 0.5 * dx - 0.5 * dx, rounding);
    hs_network_release(&network);
}

void test_network_walls__may_be_where_labels_are(void **state)
{
    struct network_case c;
    uint16_t label[7 * 5];
    init(&c, 3);
    for (int n = 0; n < 35; n++)
        label[n] = (uint16_t)(n % 3);
    for (int n = 0; n < 3; n++) {
        struct hs_wall *wall = case_wall(&c, 4, n == 2 ? HS_WALL_HOLDS : HS_WALL_EXCHANGES);
        wall->label = label;
        wall->number = n;
        wall->h = 1.0 + n;
    }
    struct hs_network network = case_make(&c);
    for (int64_t n = 0; n < 35; n++) {
        const int64_t at[] = {n % 7, n / 7, 0};
        const struct hs_network_row *row = case_row(&network, at[0], at[1], 0);
        assert_int_equal(row->kind, label[n] == 2 ? HS_NODE_HELD : HS_NODE_FREE);
        assert_close(row->sink,
                     label[n] == 2
                         ? 0.0
                         : (1.0 + label[n]) * case_overlap(&c.grid, 0, at[0], -INFINITY, INFINITY) *
                               case_overlap(&c.grid, 1, at[1], -INFINITY, INFINITY),
                     rounding);
    }
    hs_network_release(&network);
}

/* A patch that ends where a periodic axis ends: the first node's area lies at both ends. */
void test_network_walls__along_a_periodic_axis(void **state)
{
    struct network_case c;
    init(&c, 3);
    c.spec.wrap[HS_X] = true;
    const double dx = c.grid.spacing[HS_X], period = 7.0 * dx;
    struct hs_wall *wall = case_wall(&c, 4, HS_WALL_EXCHANGES);
    wall->h = 1.0;
    wall->lower[HS_X] = 5.8 * dx;
    wall->upper[HS_X] = period;
    struct hs_network network = case_make(&c);
    const double dy = c.grid.spacing[HS_Y], width[] = {0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.7};
    for (int i = 0; i < 7; i++)
        assert_near(case_row(&network, i, 2, 0)->sink, width[i] * dx * dy, rounding * dx * dy);
    hs_network_release(&network);
    wall->kind = HS_WALL_HOLDS; /* node 0 is on the patch's border, across the seam */
    network = case_make(&c);
    for (int i = 0; i < 7; i++)
        assert_int_equal(case_row(&network, i, 2, 0)->kind,
                         i == 0 || i == 6 ? HS_NODE_HELD : HS_NODE_FREE);
    hs_network_release(&network);
}

/* A patch makes few rows: those of its edges, corners and inside. */
void test_network_walls__patches_make_few_rows(void **state)
{
    struct network_case c;
    case_init(&c, 3, (const int64_t[]){40, 41, 4}, size);
    case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1.0, 1.0));
    case_wall(&c, 4, HS_WALL_EXCHANGES)->h = 2.0;
    struct hs_network network = case_make(&c);
    const int plain = network.row_count;
    hs_network_release(&network);
    struct hs_wall *patch = case_wall(&c, 4, HS_WALL_EXCHANGES);
    patch->h = 5.0;
    for (int a = 0; a < 2; a++) {
        patch->lower[a] = 0.2123 * size[a];
        patch->upper[a] = 0.7321 * size[a];
    }
    network = case_make(&c);
    assert_true(network.row_count <= plain + 9);
    hs_network_release(&network);
}

void test_network_walls__too_many_values_at_a_node_are_refused(void **state)
{
    struct network_case c;
    init(&c, 3);
    for (int n = 0; n <= HS_FORCING_TERMS; n++) {
        struct hs_wall *strip = case_wall(&c, 1, HS_WALL_EXCHANGES);
        strip->flux.function = 20 - n;
        strip->lower[HS_Y] = 0.3 + 0.01 * n;
        strip->upper[HS_Y] = 0.3 + 0.01 * (n + 1);
    }
    case_refused(&c, "x = 0.3, y = 0.35, z = 0 m: too many");
    c.spec.wall_count--;
    struct hs_network network = case_make(&c);
    const struct hs_network_row *row = case_row(&network, 6, 2, 3);
    assert_int_equal(network.forcing[row->forcing].inflow.count, HS_FORCING_TERMS);
    for (int n = 1; n < HS_FORCING_TERMS; n++)
        assert_true(network.forcing[row->forcing].inflow.function[n] >
                    network.forcing[row->forcing].inflow.function[n - 1]);
    hs_network_release(&network);
}
