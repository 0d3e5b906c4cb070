/* Distinct rows: their form and their order, and that neither depends on the threads. */
#include "network_case.h"

#include "engine/network/palette.h"

/* Shapes, contacts, sources, sinks and patches: hundreds of rows, tens of forcings. */
static void fill(struct network_case *c)
{
    case_init(c, 3, (const int64_t[]){17, 13, 15}, (const double[]){1.0, 1.0, 1.0});
    for (int s = 0; s < 3; s++) {
        case_substance(c, 1.0 + s, 2.0 + s);
        c->substance[s].source = s;
        c->substance[s].perfusion = 0.1 * s;
        c->substance[s].reference = 3;
    }
    case_solid(c, HS_SHAPE_EVERYWHERE, 0);
    struct hs_solid *ball = case_solid(c, HS_SHAPE_SPHERE, 1);
    memcpy(ball->shape.centre, (const double[]){0.4, 0.5, 0.6}, sizeof ball->shape.centre);
    ball->shape.radius = 0.37;
    case_layer(c, 2, HS_Y, 0.51, 0.77);
    case_contact(c, 1, 2, 0.1);
    for (int face = 0; face < HS_FACES; face++) {
        struct hs_wall *wall = case_wall(c, face, HS_WALL_EXCHANGES);
        wall->h = 1.0 + face;
        wall->ambient.function = 4;
        wall->upper[HS_X] = 0.3 + 0.1 * face;
        wall->lower[HS_Z] = 0.2;
    }
    case_wall(c, 5, HS_WALL_PRESCRIBES)->lower[HS_X] = 0.7;
    c->wall[6].value.function = 5;
}

static void assert_same_bytes(const void *a, const void *b, size_t size)
{
    assert_int_equal(memcmp(a, b, size), 0);
}

void test_network_palette__is_the_same_for_all_threads(void **state)
{
    struct network_case c;
    fill(&c);
    const size_t nodes = (size_t)hs_grid_count(&c.grid);
    double capacity[17 * 13 * 15];
    for (size_t n = 0; n < nodes; n++)
        capacity[n] = 1.0 + 1e-3 * (double)(n % 70);
    for (int measured = 0; measured < 2; measured++) {
        c.body.capacity.value = measured ? capacity : NULL;
        c.spec.threads = 1;
        struct hs_network network = case_make(&c);
        assert_int_equal(network.form, HS_NETWORK_SHORTS);
        assert_true(network.row_count > 500 && network.forcing_count > 100);
        const int threads[] = {2, 3, 5, 600};
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
            c.spec.threads = threads[t];
            struct hs_network other = case_make(&c);
            assert_int_equal(other.row_count, network.row_count);
            assert_same_bytes(other.row, network.row,
                              (size_t)network.row_count * sizeof *network.row);
            assert_int_equal(other.forcing_count, network.forcing_count);
            assert_same_bytes(other.forcing, network.forcing,
                              (size_t)network.forcing_count * sizeof *network.forcing);
            assert_same_bytes(other.number, network.number, nodes * 2);
            assert_same_bytes(other.volume, network.volume, 3 * sizeof *network.volume);
            hs_network_release(&other);
        }
        hs_network_release(&network);
    }
}

/* Rows that most nodes have come first; those of equally many nodes are in the order of rows. */
void test_network_palette__is_sorted_by_use_and_without_doubles(void **state)
{
    struct network_case c;
    fill(&c);
    struct hs_network network = case_make(&c);
    int *nodes = calloc((size_t)network.row_count, sizeof *nodes), tied = 0;
    for (int64_t n = 0; n < hs_grid_count(&c.grid); n++)
        nodes[((const uint16_t *)network.number)[n]]++;
    assert_int_equal(nodes[0], 0); /* the row of elements that are not nodes */
    for (int n = 1; n < network.row_count; n++) {
        assert_true(nodes[n] > 0);
        assert_true(n == 1 || nodes[n] <= nodes[n - 1]);
        if (n > 1 && nodes[n] == nodes[n - 1]) {
            tied++;
            assert_true(hs_network_row_compare(&network.row[n - 1], &network.row[n]) < 0);
        }
    }
    assert_true(tied > 0 && nodes[1] > nodes[network.row_count - 1]);
    for (int n = 1; n < network.forcing_count; n++)
        assert_true(hs_forcing_compare(&network.forcing[n - 1], &network.forcing[n]) < 0);
    assert_int_equal(network.forcing[0].inflow.count, 0);
    free(nodes);
    hs_network_release(&network);
}

/* A line of nodes, each with its own capacity. */
void test_network_palette__form_goes_by_the_number_of_rows(void **state)
{
    const struct {
        int64_t nodes;
        enum hs_network_form form;
    } cases[] = {{255, HS_NETWORK_BYTES},
                 {256, HS_NETWORK_SHORTS},
                 {65535, HS_NETWORK_SHORTS},
                 {65536, HS_NETWORK_ARRAYS},
                 {70000, HS_NETWORK_ARRAYS}};
    double *capacity = malloc(70000 * sizeof *capacity);
    for (int n = 0; n < 70000; n++)
        capacity[n] = 1.0 + 1e-3 * n;
    for (int dims = 1; dims <= 2; dims++) /* in 2D threads share the nodes */
        for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
            struct network_case c;
            const int64_t rows = dims == 2 && cases[n].nodes % 5 == 0 ? 5 : dims == 2 ? 4 : 1;
            if (dims == 2 && cases[n].nodes % rows != 0)
                continue;
            case_init(&c, dims, (const int64_t[]){cases[n].nodes / rows, rows, 1},
                      (const double[]){1.0, 1.0, 1.0});
            case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1.0, 1.0));
            c.body.capacity.value = capacity;
            case_wall(&c, 1, HS_WALL_EXCHANGES)->flux.function = 6;
            struct hs_network network = case_make(&c);
            assert_int_equal(network.form, cases[n].form);
            assert_int_equal(network.row_count,
                             cases[n].form == HS_NETWORK_ARRAYS ? 0 : cases[n].nodes + 1);
            assert_non_null(network.number);
            assert_true((network.row == NULL) == (cases[n].form == HS_NETWORK_ARRAYS));
            assert_int_equal(network.forced, cases[n].form == HS_NETWORK_ARRAYS ? rows : 0);
            const int64_t nx = c.grid.points[HS_X];
            for (int64_t m = 0; m < cases[n].nodes; m++) {
                const struct hs_network_row *row = hs_network_row_at(&network, m);
                const double dx = c.grid.spacing[HS_X] * (m % nx % (nx - 1) == 0 ? 0.5 : 1.0);
                const double dy = c.grid.spacing[HS_Y] *
                                  (dims == 2 && (m < nx || m >= nx * (rows - 1)) ? 0.5 : 1.0);
                assert_close(row->capacity, capacity[m] * dx * dy, 1e-14);
                assert_close(case_weight(&network, row, 6), m % nx == nx - 1 ? -dy : 0.0, 1e-14);
            }
            hs_network_release(&network);
        }
    free(capacity);
}

/* All zero and held. A held node in the last corner, without edges and forcing, has another row. */
void test_network_palette__first_row_is_of_no_node(void **state)
{
    struct network_case c;
    case_init(&c, 2, (const int64_t[]){4, 4, 1}, (const double[]){1.0, 1.0, 1.0});
    case_solid(&c, HS_SHAPE_EVERYWHERE, case_substance(&c, 1.0, 1.0));
    case_wall(&c, 1, HS_WALL_HOLDS);
    struct hs_network network = case_make(&c);
    const uint8_t *number = network.number;
    assert_int_equal(network.form, HS_NETWORK_BYTES);
    struct hs_network_row none;
    memset(&none, 0, sizeof none);
    none.kind = HS_NODE_HELD;
    assert_same_bytes(&network.row[0], &none, sizeof none);
    none.capacity = 0.5 / 3.0 * (0.5 / 3.0); /* of its quarter of a cell */
    const struct hs_network_row corner = *hs_network_row_at(&network, 15);
    assert_close(corner.capacity, none.capacity, 1e-15);
    none.capacity = corner.capacity;
    assert_same_bytes(&corner, &none, sizeof none);
    for (int n = 0; n < 16; n++)
        assert_true(number[n] > 0 && number[n] < network.row_count);
    hs_network_release(&network);
    assert_null(network.number);
    assert_null(network.row);
    assert_null(network.forcing);
    hs_network_release(&network); /* again: nothing is there */
}
