/*
 * Conjugate gradients and multigrid on a CUDA device, run by the emulator, against those of the
 * host: random networks in every form, of one to three dimensions, odd sizes, thin ones, and ones
 * whose rows are padded, with periodic axes, held nodes, sinks, cells of any shape, conductances
 * spread by up to 1e5, and where nothing holds the mean; steady states and implicit steps.
 */
#include "random.h"
#include "test.h"

#include "engine/backends/cuda_krylov.cuh"
#include "engine/backends/cuda_multigrid.cuh"
#include "engine/multigrid/conjugate_gradients.h"
#include "engine/multigrid/host_krylov.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

/* The emulator has no threads. */
extern "C" int hs_threads_of(const hs_problem *)
{
    return 1;
}

extern "C" bool hs_boundary_data_in_time(const hs_problem *)
{
    return false;
}

/* ---- cases ----------------------------------------------------------------------------------- */

struct one {
    hs_network network = {};
    std::vector<hs_network_row> node, row;
    std::vector<uint8_t> bytes;
    std::vector<uint16_t> shorts;
    std::vector<double> inflow, guess, coordinate[HS_AXES];
    hs_equations equations = {};
    double spread;
    int64_t nodes;
};

/* Nodes of an axis so that its cells are up to `most` times as long as others: each by chance, or
 * three parts of even ones, of which there are few rows. */
static std::vector<double> coordinates_of(int64_t points, double most)
{
    const bool even = below(2);
    std::vector<double> at(1, 0.0);
    double cell = 1.0;
    for (int64_t i = 0; i < points; i++) {
        if (!even || i % (points / 3 + 1) == 0)
            cell = std::exp(between(0.0, std::log(most)));
        at.push_back(at.back() + cell);
    }
    return at;
}

static void set_coordinates(one *c)
{
    hs_grid &grid = c->network.grid;
    for (int axis = 0; axis < grid.dims; axis++)
        if (below(2)) {
            c->coordinate[axis] = coordinates_of(grid.points[axis], 30.0);
            grid.coordinate[axis] = c->coordinate[axis].data();
        }
}

static void set_sizes(one *c, bool padded)
{
    static const int64_t few[] = {2, 3, 4, 5, 7, 8, 12, 17, 20};
    hs_network &network = c->network;
    network.grid.dims = 1 + (int)below(3);
    for (int axis = 0; axis < HS_AXES; axis++) {
        const bool there = axis < network.grid.dims;
        network.grid.points[axis] = there ? few[below(9)] : 1;
        network.grid.spacing[axis] = 1.0;
        network.wrap[axis] = there && below(4) == 0;
    }
    if (network.grid.dims == 1)
        network.grid.points[HS_X] = 2 + below(3000);
    if (network.grid.dims == 2 && below(2))
        network.grid.points[below(2)] = 200 + below(100);
    if (padded) {
        network.grid.dims = 3;
        network.grid.points[HS_X] = 29 + 4 * below(6) + below(3);
        network.grid.points[HS_Y] = few[4 + below(3)];
        network.grid.points[HS_Z] = few[4 + below(3)];
        network.wrap[HS_X] = false;
    }
    c->nodes = hs_grid_count(&network.grid);
    set_coordinates(c);
}

/* Of the edge from a node along an axis, what its cell and the nodes' widths make of a
 * conductivity; of a node's capacity. */
static double shape_of(const hs_network &network, int axis, const int64_t at[HS_AXES])
{
    double shape = 1.0;
    for (int a = 0; a < network.grid.dims; a++)
        if (network.grid.coordinate[a])
            shape *= a == axis ? 1.0 / hs_grid_cell(&network.grid, a, at[a])
                               : hs_grid_node_width(&network.grid, a, network.wrap[a], at[a]);
    return shape;
}

/* Blocks of materials, between which conductances are those of halves in series. */
static void set_nodes(one *c, bool floating)
{
    const hs_network &network = c->network;
    const int64_t *n = network.grid.points;
    const double flat[HS_AXES] = {1.0, below(3) ? 1.0 : between(0.03, 30.0),
                                  below(3) ? 1.0 : between(0.03, 30.0)};
    const int64_t block = 1 + below(5);
    const unsigned kinds = 1 + below(6), salt = below(1u << 20),
                   held = below(2) ? 1 + below(200) : 0;
    std::vector<double> k(kinds);
    for (double &value : k)
        value = std::exp(between(0.0, std::log(c->spread)));
    const auto k_of = [&](int64_t x, int64_t y, int64_t z) {
        unsigned mix = (unsigned)(x / block + 57 * (y / block) + 1013 * (z / block)) + salt;
        mix = (mix ^ (mix >> 7)) * 2654435761u;
        return k[(mix ^ (mix >> 15)) % kinds];
    };
    c->node.resize((size_t)c->nodes);
    for (int64_t i = 0; i < c->nodes; i++) {
        const int64_t at[HS_AXES] = {i % n[0], i / n[0] % n[1], i / (n[0] * n[1])};
        hs_network_row &row = c->node[(size_t)i];
        row = {};
        row.capacity = (0.5 + 0.25 * (double)(i % 3)) * shape_of(network, -1, at);
        for (int axis = 0; axis < network.grid.dims; axis++) {
            int64_t next[HS_AXES] = {at[0], at[1], at[2]};
            next[axis] = (at[axis] + 1) % n[axis];
            if (at[axis] + 1 == n[axis] && !network.wrap[axis])
                continue;
            const double one = k_of(at[0], at[1], at[2]), other = k_of(next[0], next[1], next[2]);
            row.conductance[axis] =
                flat[axis] * shape_of(network, axis, at) * 2.0 * one * other / (one + other);
        }
        if (floating)
            continue;
        if (held > 0 && below(held) == 0)
            row.kind = HS_NODE_HELD;
        if (at[0] == 0)
            row.sink = 0.25 * flat[0] * shape_of(network, 0, at);
    }
    if (!floating && below(2))
        c->node[0].kind = HS_NODE_HELD;
}

/* In the form asked for, where the rows are few enough. */
static void set_form(one *c, hs_network_form form)
{
    hs_network &network = c->network;
    const size_t most = form == HS_NETWORK_BYTES ? 256 : 65536;
    c->row.assign(1, hs_network_row{});
    c->row[0].kind = HS_NODE_HELD;
    std::vector<uint16_t> number((size_t)c->nodes);
    for (size_t i = 0; i < number.size() && form != HS_NETWORK_ARRAYS; i++) {
        size_t r = 1;
        while (r < c->row.size() && std::memcmp(&c->row[r], &c->node[i], sizeof c->node[i]))
            r++;
        if (r == c->row.size())
            c->row.push_back(c->node[i]);
        if (c->row.size() > most)
            form = HS_NETWORK_ARRAYS;
        number[i] = (uint16_t)r;
    }
    network.form = form;
    c->shorts = number;
    c->bytes.assign(number.begin(), number.end());
    if (form == HS_NETWORK_ARRAYS) {
        network.node = c->node.data();
        return;
    }
    network.row = c->row.data();
    network.row_count = (int)c->row.size();
    network.number = form == HS_NETWORK_BYTES ? (void *)c->bytes.data() : (void *)c->shorts.data();
}

/* Inflow that is balanced where nothing holds the mean. */
static void set_equations(one *c)
{
    hs_equations &equations = c->equations;
    double mean = 0.0;
    equations.network = &c->network;
    equations.threads = 1;
    equations.floating = true;
    c->inflow.resize((size_t)c->nodes);
    c->guess.resize((size_t)c->nodes);
    for (int64_t n = 0; n < c->nodes; n++) {
        const hs_network_row &row = c->node[(size_t)n];
        const bool is_free = row.kind == HS_NODE_FREE;
        c->inflow[(size_t)n] = is_free ? between(-1.0, 2.0) : 0.0;
        c->guess[(size_t)n] = between(0.0, 5.0);
        equations.floating = equations.floating && is_free && row.sink == 0.0;
        equations.capacity += is_free ? row.capacity : 0.0;
        mean += c->inflow[(size_t)n] / (double)c->nodes;
    }
    for (double &value : c->inflow)
        value -= equations.floating ? mean : 0.0;
    equations.inflow = c->inflow.data();
}

/* ---- solutions ------------------------------------------------------------------------------- */

/* Both that solve a case. */
struct solvers {
    hs_conjugate_gradients here, there;
};

static void init(solvers *both, const one *c)
{
    *both = {};
    assert_ok(hs_conjugate_gradients_init(&both->here, &c->equations, NULL, NULL, &err));
    both->there.equations = &c->equations;
    both->there.vectors = &hs_cuda_krylov_vectors;
    assert_ok(hs_cuda_krylov_create(&c->equations, NULL, &both->there.of, &err));
}

static void release(solvers *both)
{
    hs_conjugate_gradients_release(&both->here);
    hs_conjugate_gradients_release(&both->there);
}

/* A vector, whoever holds it. */
static std::vector<double> values_of(hs_conjugate_gradients *by, const one *c, int vector)
{
    const int64_t *n = c->network.grid.points;
    std::vector<double> values((size_t)c->nodes);
    if (by->vectors != &hs_cuda_krylov_vectors) {
        const double *const there = hs_host_krylov_vector(by->of, vector);
        return std::vector<double>(there, there + c->nodes);
    }
    const hs_cuda_pitched of = {values.data(), {1, n[HS_X], n[HS_X] * n[HS_Y]}, HS_DOUBLE};
    assert_ok(hs_cuda_krylov_move(by->of, vector, &of, true, &err));
    return values;
}

static void begin(hs_conjugate_gradients *by, const one *c)
{
    if (by->vectors == &hs_cuda_krylov_vectors) /* the host's is the equations' */
        assert_ok(by->vectors->put(by->of, HS_KRYLOV_INFLOW, c->inflow.data(), &err));
    assert_ok(by->vectors->put(by->of, HS_KRYLOV_T, c->guess.data(), &err));
}

static std::vector<double> solve(hs_conjugate_gradients *by, const one *c, hs_solution *solution)
{
    begin(by, c);
    assert_ok(hs_conjugate_gradients_solve(by, 1e-10, 0.0, solution, &err));
    return values_of(by, c, HS_KRYLOV_T);
}

/* With a field of other pitches. */
static std::vector<double> solve_field(hs_conjugate_gradients *by, const one *c,
                                       hs_solution *solution)
{
    const int64_t *n = c->network.grid.points, pitch = n[HS_X] + 3, sheet = pitch * (n[HS_Y] + 2);
    std::vector<double> field((size_t)(sheet * n[HS_Z])), T((size_t)c->nodes);
    const auto place = [&](int64_t i) {
        return (size_t)(i % n[0] + i / n[0] % n[1] * pitch + i / (n[0] * n[1]) * sheet);
    };
    for (int64_t i = 0; i < c->nodes; i++)
        field[place(i)] = c->guess[(size_t)i];
    const hs_cuda_pitched of = {field.data(), {1, pitch, sheet}, HS_DOUBLE};
    assert_ok(hs_cuda_krylov_move(by->of, HS_KRYLOV_T, &of, false, &err));
    assert_ok(hs_conjugate_gradients_solve(by, 1e-10, 0.0, solution, &err));
    assert_ok(hs_cuda_krylov_move(by->of, HS_KRYLOV_T, &of, true, &err));
    for (int64_t i = 0; i < c->nodes; i++)
        T[(size_t)i] = field[place(i)];
    return T;
}

/* Of the guess. */
static hs_krylov_rates rates_of(hs_conjugate_gradients *by, const one *c)
{
    hs_krylov_rates rates;
    begin(by, c);
    assert_ok(by->vectors->begin(by->of, &err));
    assert_ok(by->vectors->residual(by->of, 1.0, &rates, &err));
    return rates;
}

/* But for the order of sums. */
static void compare_rates(const one *c, solvers *both, int n)
{
    const hs_krylov_rates here = rates_of(&both->here, c), there = rates_of(&both->there, c);
    const double due[] = {here.largest, here.told, here.field, here.gross};
    const double is[] = {there.largest, there.told, there.field, there.gross};
    for (int m = 0; m < 4; m++)
        if (!(std::fabs(is[m] - due[m]) <= 1e-10 * due[m]))
            fail_msg("case %d: number %d of the guess's residual is %g, here %g", n, m, is[m],
                     due[m]);
}

/* As many iterations, and the same field but for what they leave. Returns how many. */
static int compare(const one *c, solvers *both, int n, bool by_field)
{
    hs_solution here, there;
    const std::vector<double> due = solve(&both->here, c, &here);
    if (!by_field)
        compare_rates(c, both, n);
    const std::vector<double> T =
        by_field ? solve_field(&both->there, c, &there) : solve(&both->there, c, &there);
    if (const char *complaint = emulator_complaint())
        fail_msg("%s", complaint);
    double most = 0.0, size = 0.0;
    for (size_t i = 0; i < T.size(); i++) {
        most = std::fmax(most, std::fabs(T[i] - due[i]));
        size = std::fmax(size, std::fabs(due[i]));
    }
    if (!here.reached || !there.reached || abs(here.iterations - there.iterations) > 2 ||
        !(most <= 1e-7 * size))
        fail_msg("case %d, %lld x %lld x %lld, spread %g, form %d%s, shift %g: %d iterations to "
                 "%g, here %d to %g, off by %g of %g",
                 n, (long long)c->network.grid.points[0], (long long)c->network.grid.points[1],
                 (long long)c->network.grid.points[2], c->spread, (int)c->network.form,
                 c->equations.floating ? ", floating" : "", c->equations.shift, there.iterations,
                 there.residual, here.iterations, here.residual, most, size);
    return there.iterations;
}

/* Those of a step: another inflow, and the shift. */
static void set_step(one *c, double shift)
{
    c->equations.shift = shift;
    for (int64_t n = 0; n < c->nodes; n++) {
        const hs_network_row &row = c->node[(size_t)n];
        if (row.kind == HS_NODE_FREE)
            c->inflow[(size_t)n] = row.capacity * shift * between(0.0, 5.0) + between(-1.0, 1.0);
    }
}

/* The steady state, then steps: of any length, of nearly that length, which has the same levels,
 * and of another one. */
void test_cuda_multigrid__is_that_of_the_host(void **state)
{
    int floating = 0, longest = 0;
    for (int n = 0; n < 60; n++) {
        static const double spreads[] = {1.0, 10.0, 1e3, 1e5};
        one c;
        solvers both;
        seed = 77u + 1000u * (unsigned)n;
        emulator_set_order((emulator_order)(n % EMULATOR_ORDERS));
        c.spread = spreads[n % 4];
        set_sizes(&c, n % 7 == 0 || n % 10 == 0);
        set_nodes(&c, n % 5 == 0);
        set_form(&c, (hs_network_form)(n % 3));
        set_equations(&c);
        init(&both, &c);
        const int steady = compare(&c, &both, n, true);
        const double shift = std::pow(10.0, between(-3.0, 5.0));
        if (n % 7 == 0) /* in each form, with and without a sink */
            for (const double step : {shift, 1.2 * shift, std::pow(10.0, between(-3.0, 5.0))}) {
                set_step(&c, step);
                compare(&c, &both, n, false);
            }
        release(&both);
        floating += c.equations.floating;
        longest = steady > longest ? steady : longest;
    }
    printf("%d floating, %d iterations at most\n", floating, longest);
    assert_true(floating > 10);
}

/* ---- vectors --------------------------------------------------------------------------------- */

enum { A = HS_KRYLOV_MORE, B, C, FURTHER = 3 };

/* Sums of each power of C, of a vector changed at some nodes, in places of their own; what is
 * measured of them. */
static std::vector<double> work_with_vectors(hs_conjugate_gradients *by, const one *c,
                                             const std::vector<double> &a,
                                             const std::vector<int64_t> &some)
{
    static const hs_krylov_sum first = {
        3, {{2.0, A, HS_KRYLOV_NONE, 0}, {-0.5, A, B, 1}, {3.0, B, HS_KRYLOV_NONE, -1}}};
    static const hs_krylov_sum nothing = {0, {}}, then = {2, {{1.0, C, B, 0}, {0.3, A, C, 0}}};
    const hs_krylov *vectors = by->vectors;
    const std::vector<double> changed(some.size(), 7.5);
    double measured[3];
    assert_ok(vectors->reserve(by->of, FURTHER, &err));
    assert_ok(vectors->combine(by->of, C, &nothing, &err));
    assert_ok(vectors->put(by->of, A, a.data(), &err));
    assert_ok(vectors->put(by->of, B, c->guess.data(), &err));
    assert_ok(
        vectors->put_some(by->of, B, (int64_t)some.size(), some.data(), changed.data(), &err));
    assert_ok(vectors->combine(by->of, C, &first, &err));
    vectors->exchange(by->of, A, B);
    assert_ok(vectors->combine(by->of, A, &then, &err));
    assert_ok(vectors->largest(by->of, &then, true, &measured[0], &err));
    assert_ok(vectors->largest(by->of, &then, false, &measured[1], &err));
    assert_ok(vectors->total(by->of, &first, &measured[2], &err));
    std::vector<double> all = values_of(by, c, A);
    for (const int vector : {(int)B, (int)C}) {
        const std::vector<double> more = values_of(by, c, vector);
        all.insert(all.end(), more.begin(), more.end());
    }
    all.insert(all.end(), measured, measured + 3);
    return all;
}

void test_cuda_multigrid__vectors_are_those_of_the_host(void **state)
{
    for (int n = 0; n < 24; n++) {
        one c;
        solvers both;
        seed = 5u + 1000u * (unsigned)n;
        emulator_set_order((emulator_order)(n % EMULATOR_ORDERS));
        c.spread = 10.0;
        set_sizes(&c, n % 2 == 0);
        set_nodes(&c, n % 5 == 0);
        set_form(&c, (hs_network_form)(n % 3));
        set_equations(&c);
        init(&both, &c);
        std::vector<double> a((size_t)c.nodes);
        for (double &value : a)
            value = between(-4.0, 4.0);
        std::vector<int64_t> some;
        for (int64_t node = 0; node < c.nodes; node += 1 + (int64_t)below(5))
            some.push_back(node);
        const std::vector<double> due = work_with_vectors(&both.here, &c, a, some);
        const std::vector<double> found = work_with_vectors(&both.there, &c, a, some);
        double size = 1.0;
        for (const double value : due)
            size = std::fmax(size, std::fabs(value));
        for (size_t i = 0; i < due.size(); i++) /* some roundings of the largest */
            if (!(std::fabs(found[i] - due[i]) <= 1e-13 * size))
                fail_msg("case %d: number %d is %.17g, on the host %.17g", n, (int)i, found[i],
                         due[i]);
        if (const char *complaint = emulator_complaint())
            fail_msg("%s", complaint);
        release(&both);
    }
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* No levels yet, and their finest network, of numbers to come. */
static hs_coarse_network begin_levels(hs_cuda_levels *levels, const hs_lattice &lattice)
{
    hs_coarse_network net;
    assert_ok(hs_cuda_levels_init(levels, &lattice, NULL, &err));
    assert_ok(hs_cuda_levels_take(levels, &lattice, &net, &err));
    return net;
}

/* Of one material, whose x walls are held: numbers of one byte, since but at walls all rows are
 * alike; they are so on the next level, too. */
void test_cuda_multigrid__of_one_material_has_few_rows(void **state)
{
    const hs_lattice lattice = {{41, 32, 25}, {false, true, false}};
    const hs_grid even = {3, {41, 32, 25}, {}, {1.0, 1.0, 1.0}};
    const int64_t nodes = hs_lattice_count(&lattice);
    hs_coarse_network net = {};
    hs_cuda_levels levels;
    net = begin_levels(&levels, lattice);
    for (int64_t n = 0; n < nodes; n++) {
        const int64_t i = n % lattice.n[HS_X], k = n / (lattice.n[HS_X] * lattice.n[HS_Y]);
        net.edge[HS_X][n] = i < lattice.n[HS_X] - 1 ? 1.0f : 0.0f;
        net.edge[HS_Y][n] = 1.0f;
        net.edge[HS_Z][n] = k < lattice.n[HS_Z] - 1 ? 1.0f : 0.0f;
        net.sink[n] = i == 0 || i == lattice.n[HS_X] - 1 ? INFINITY : 0.0f;
    }
    assert_ok(hs_cuda_levels_make(&levels, &even, &net, false, &err));
    assert_true(levels.count > 2);
    for (int k = 0; k < 2; k++)
        assert_int_equal(levels.level[k].rows.number_bytes, 1);
    const uint8_t *number = (const uint8_t *)levels.level[0].rows.number;
    const int64_t middle = 20 + 41 * (16 + 32 * 12);
    for (int64_t step : {1, 41, 41 * 32})
        assert_int_equal(number[middle], number[middle + step]);
    hs_cuda_levels_release(&levels);
}

/* As with nodes at the ends of rows that are held and have no edges: the same levels, and the same
 * from a cycle but for the order of its roundings, where nothing holds the mean, too. */
void test_cuda_multigrid__rows_may_be_padded(void **state)
{
    for (int n = 0; n < 16; n++) {
        const bool floating = n % 2;
        const int64_t own = 37 + n / 2, rows[] = {own, own + 3 + n % 8};
        hs_cuda_levels levels[2];
        std::vector<float> x[2];
        march::found found[2];
        hs_grid grid = {3, {own, 20, 12}, {}, {1.0, 1.0, 1.0}};
        seed = 11u + (unsigned)n;
        const std::vector<double> stretched = coordinates_of(own, 3.0);
        grid.coordinate[HS_X] = n >= 8 ? stretched.data() : NULL;
        for (int with = 0; with < 2; with++) {
            const hs_lattice lattice = {{rows[with], 20, 12}, {false, n % 4 == 3, false}};
            hs_coarse_network net = begin_levels(&levels[with], lattice);
            seed = 3u + (unsigned)n;
            const float flat = n < 4 ? 1.0f : 0.05f;
            std::vector<float> right;
            for (int64_t i = 0; i < hs_lattice_count(&lattice); i++) {
                const int64_t at[HS_AXES] = {i % rows[with], i / rows[with] % 20,
                                             i / rows[with] / 20};
                const bool there = at[HS_X] < own;
                const float k = 1.0f + (float)((at[HS_X] / 5 + at[HS_Y] / 3 + at[HS_Z]) % 4);
                const int64_t cell = std::min(at[HS_X], own - 2);
                const float x = (float)(1.0 / hs_grid_cell(&grid, HS_X, cell));
                net.edge[HS_X][i] = at[HS_X] < own - 1 ? flat * k * x : 0.0f;
                net.edge[HS_Y][i] = there && (at[HS_Y] < 19 || lattice.wrap[HS_Y]) ? k : 0.0f;
                net.edge[HS_Z][i] = there && at[HS_Z] < 11 ? k : 0.0f;
                net.sink[i] = !there || (!floating && at[HS_Z] == 0 && at[HS_X] < 9) ? INFINITY
                              : !floating && at[HS_X] == own - 1                     ? 0.3f
                                                                                     : 0.0f;
                right.push_back(there ? (float)between(-1.0, 1.0) : 0.0f);
            }
            assert_ok(hs_cuda_levels_make(&levels[with], &grid, &net, floating, &err));
            std::copy(right.begin(), right.end(), levels[with].level[0].right);
            assert_ok(hs_cuda_cycle(&levels[with], 1.0, NULL, &err));
            assert_ok(hs_cuda_levels_found(&levels[with], &found[with], &err));
            for (int64_t i = 0; i < hs_lattice_count(&lattice); i++)
                if (i % rows[with] < own)
                    x[with].push_back(levels[with].level[0].x[i]);
                else
                    assert_true(levels[with].level[0].x[i] == 0.0f);
        }
        assert_int_equal(levels[0].count, levels[1].count);
        for (int k = 0; k < levels[0].count; k++) {
            const hs_cuda_level &one = levels[0].level[k], &other = levels[1].level[k];
            assert_true(one.largest == other.largest);
            for (int axis = 0; axis < HS_AXES; axis++)
                assert_int_equal(one.kept[axis].count < one.kept[axis].n,
                                 other.kept[axis].count < other.kept[axis].n);
        }
        double most = 0.0, size = 0.0;
        for (size_t i = 0; i < x[0].size(); i++) {
            most = std::fmax(most, std::fabs((double)x[0][i] - (double)x[1][i]));
            size = std::fmax(size, std::fabs((double)x[0][i]));
        }
        /* some thirty roundings of float on the way through the levels */
        if (!(most <= 2e-6 * size) ||
            !(std::fabs(found[0].sum[0] - found[1].sum[0]) <= 2e-6 * found[0].sum[0]))
            fail_msg("case %d: off by %g of %g, sums %.9g and %.9g", n, most, size, found[0].sum[0],
                     found[1].sum[0]);
        for (hs_cuda_levels &of : levels)
            hs_cuda_levels_release(&of);
    }
}

/* Two layers between walls of all kinds: what pairs of passes make is what single ones do, but for
 * the order of a few roundings. Grids of a tile, of several, of fewer nodes than a tile's halo;
 * periodic axes; numbers of one byte and of two. */
void test_cuda_multigrid__two_passes_at_once_are_two_passes(void **state)
{
    static const hs_lattice lattices[] = {{{56, 28, 8}, {false, false, false}},
                                          {{60, 30, 11}, {false, false, false}},
                                          {{116, 61, 9}, {true, false, false}},
                                          {{20, 9, 30}, {false, true, true}},
                                          {{8, 8, 16}, {true, true, true}}};
    for (int n = 0; n < 10; n++) {
        const hs_lattice &lattice = lattices[n / 2];
        const hs_grid even = {
            3, {lattice.n[HS_X], lattice.n[HS_Y], lattice.n[HS_Z]}, {}, {1.0, 1.0, 1.0}};
        const int64_t nodes = hs_lattice_count(&lattice), *of = lattice.n;
        hs_coarse_network net = {};
        hs_cuda_levels levels;
        march::found found[2];
        std::vector<float> x[2];
        seed = 5u + (unsigned)n;
        emulator_set_order((emulator_order)(n % EMULATOR_ORDERS));
        net = begin_levels(&levels, lattice);
        for (int64_t i = 0; i < nodes; i++) {
            const int64_t at[HS_AXES] = {i % of[0], i / of[0] % of[1], i / (of[0] * of[1])};
            const int64_t kind =
                n % 2 ? at[HS_Y] % 12 + 12 * (at[HS_Z] + 30 * (at[HS_X] / 4 % 2)) : at[HS_Z] / 5;
            const float k = 1.0f + (float)(kind * 7 % 11) + 0.01f * (float)kind;
            for (int axis = 0; axis < HS_AXES; axis++)
                net.edge[axis][i] = at[axis] < of[axis] - 1 || lattice.wrap[axis] ? k : 0.0f;
            net.sink[i] = at[HS_Z] == 0 ? 2.0f : at[HS_Y] == 5 ? INFINITY : 0.0f;
        }
        assert_ok(hs_cuda_levels_make(&levels, &even, &net, false, &err));
        const int number_bytes = levels.level[0].rows.number_bytes;
        assert_int_equal(number_bytes, n % 2 ? 2 : 1);
        assert_true(hs_cuda_pair_serves(&levels, &levels.level[0]));
        for (int64_t i = 0; i < nodes; i++)
            levels.level[0].right[i] = (float)between(-1.0, 1.0);
        for (int pairs = 0; pairs < 2; pairs++) {
            const int bytes = levels.shared_bytes;
            levels.shared_bytes = pairs ? bytes : 0;
            assert_ok(hs_cuda_cycle(&levels, 1.0, NULL, &err));
            assert_ok(hs_cuda_levels_found(&levels, &found[pairs], &err));
            x[pairs].assign(levels.level[0].x, levels.level[0].x + nodes);
            levels.shared_bytes = bytes;
            cudaGraphExecDestroy(levels.cycle);
            levels.cycle = NULL;
        }
        if (const char *complaint = emulator_complaint())
            fail_msg("%s", complaint);
        double most = 0.0, size = 0.0;
        for (int64_t i = 0; i < nodes; i++) {
            most = std::fmax(most, std::fabs((double)x[0][(size_t)i] - (double)x[1][(size_t)i]));
            size = std::fmax(size, std::fabs((double)x[0][(size_t)i]));
        }
        /* some thirty roundings of float on the way through the levels */
        if (!(most <= 2e-6 * size) ||
            !(std::fabs(found[0].sum[0] - found[1].sum[0]) <= 2e-6 * found[0].sum[0]))
            fail_msg("case %d: off by %g of %g, sums %.9g and %.9g", n, most, size, found[0].sum[0],
                     found[1].sum[0]);
        hs_cuda_levels_release(&levels);
    }
}
