/* Coarse networks, and the transfer between their fields. */
#include "engine/multigrid/coarsen.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static float noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return 0.1f + (float)(*state >> 40) / (float)(1 << 24);
}

/* Random edges, a few sinks and a few nodes that keep their temperature. */
static struct hs_coarse_network random_network(const struct hs_lattice *lattice, uint64_t *state)
{
    struct hs_coarse_network net;
    assert_true(hs_coarse_network_init(&net, lattice));
    const int64_t *n = lattice->n, stride[HS_AXES] = {1, n[HS_X], n[HS_X] * n[HS_Y]};
    for (int64_t node = 0; node < hs_lattice_count(lattice); node++) {
        const float chance = noise(state);
        net.sink[node] = chance < 0.2f ? INFINITY : chance < 0.4f ? noise(state) : 0.0f;
        for (int axis = 0; axis < HS_AXES; axis++)
            if (net.edge[axis]) {
                const int64_t at = node / stride[axis] % n[axis];
                const int64_t to = hs_lattice_next(lattice, axis, at, stride[axis], 1, node);
                net.edge[axis][node] = to < 0 ? 0.0f : noise(state);
            }
    }
    return net;
}

static const struct hs_lattice lattices[] = {
    {{7, 6, 5}, {false, false, false}}, {{6, 5, 4}, {true, true, true}},
    {{5, 6, 3}, {true, false, true}},   {{9, 1, 1}, {false, false, false}},
    {{2, 3, 2}, {true, true, false}},
};
enum { LATTICES = sizeof lattices / sizeof *lattices };

static struct hs_kept every_second(int64_t n)
{
    struct hs_kept kept;
    assert_true(hs_kept_init(&kept, n, 0, NULL));
    return kept;
}

/* After each node that stays, one node goes, or none. */
static struct hs_kept some(int64_t n, uint64_t *state)
{
    int64_t place[16], count = 0;
    struct hs_kept kept;
    for (int64_t i = 0; i < n; i += noise(state) < 0.6f ? 2 : 1)
        place[count++] = i;
    assert_true(hs_kept_init(&kept, n, count, place));
    return kept;
}

/* <fine, P coarse> = <P' fine, coarse> */
static void check_transpose(const struct hs_coarse_step *step, uint64_t *state)
{
    const int64_t nf = hs_lattice_count(&step->fine), nc = hs_lattice_count(&step->coarse);
    float *f = malloc((size_t)nf * sizeof *f), *pf = malloc((size_t)nf * sizeof *pf);
    float *c = malloc((size_t)nc * sizeof *c), *rc = malloc((size_t)nc * sizeof *rc);
    for (int64_t i = 0; i < nf; i++)
        f[i] = noise(state);
    for (int64_t i = 0; i < nc; i++)
        c[i] = noise(state);
    hs_restrict(step, 1, f, rc);
    hs_interpolate(step, 1, false, c, pf);
    double one = 0.0, other = 0.0;
    for (int64_t i = 0; i < nf; i++)
        one += (double)f[i] * (double)pf[i];
    for (int64_t i = 0; i < nc; i++)
        other += (double)rc[i] * (double)c[i];
    assert_true(fabs(one - other) <= 1e-5 * one); /* some hundred floats */
    free(f);
    free(pf);
    free(c);
    free(rc);
}

void test_coarsen__restriction_is_the_transpose_of_interpolation(void **state)
{
    uint64_t dice = 1;
    for (int l = 0; l < LATTICES; l++)
        for (int axis = 0; axis < HS_AXES; axis++)
            for (int turn = 0; turn < 5 && lattices[l].n[axis] > 1; turn++) {
                const int64_t n = lattices[l].n[axis];
                struct hs_kept kept = turn ? some(n, &dice) : every_second(n);
                struct hs_coarse_network net = random_network(&lattices[l], &dice), coarse;
                struct hs_coarse_step step;
                assert_true(hs_coarsen(&net, axis, &kept, 1, &step, &coarse));
                check_transpose(&step, &dice);
                hs_coarse_network_release(&net);
                hs_coarse_network_release(&coarse);
                hs_coarse_step_release(&step);
                hs_kept_release(&kept);
            }
}

/* Of eight nodes in a row the third and the last go: 1/2 + 1/3 K/W in series make 1.2 W/K. */
void test_coarsen__edges_between_nodes_that_stay_are_as_they_were(void **state)
{
    const struct hs_lattice lattice = {{8, 1, 1}, {false, false, false}};
    const float edge[] = {7.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 8.0f, 0.0f};
    const float wanted[] = {7.0f, 1.2f, 4.0f, 5.0f, 6.0f, 0.0f};
    const int64_t place[] = {0, 1, 3, 4, 5, 6};
    struct hs_kept kept;
    assert_true(hs_kept_init(&kept, 8, 6, place));
    struct hs_coarse_network net, coarse;
    struct hs_coarse_step step;
    assert_true(hs_coarse_network_init(&net, &lattice));
    for (int i = 0; i < 8; i++) {
        net.edge[HS_X][i] = edge[i];
        net.sink[i] = i == 7 ? 9.0f : 0.0f;
    }
    assert_true(hs_coarsen(&net, HS_X, &kept, 1, &step, &coarse));
    for (int c = 0; c < 6; c++) {
        assert_float_equal(coarse.edge[HS_X][c], wanted[c], 1e-6);
        assert_float_equal(step.before[c], c == 1 ? 0.4 : c == 5 ? 8.0 / 17.0 : 0.0, 1e-6);
        assert_float_equal(step.after[c], c == 1 ? 0.6 : 0.0, 1e-6);
        assert_float_equal(coarse.sink[c], c == 5 ? 9.0 * 8.0 / 17.0 : 0.0, 1e-6);
    }
    hs_coarse_network_release(&net);
    hs_coarse_network_release(&coarse);
    hs_coarse_step_release(&step);
    hs_kept_release(&kept);
}

/* The flow from all nodes at 1 K to those at 0 K and to the sinks. Where no sink is near, a
 * constant is interpolated as one, so nothing is lost or created where nothing is held. */
void test_coarsen__a_floating_network_stays_one(void **state)
{
    uint64_t dice = 2;
    for (int l = 0; l < LATTICES; l++) {
        struct hs_coarse_network net = random_network(&lattices[l], &dice), coarse;
        for (int64_t node = 0; node < hs_lattice_count(&lattices[l]); node++)
            net.sink[node] = 0.0f;
        struct hs_kept kept = every_second(lattices[l].n[HS_X]);
        struct hs_coarse_step step;
        assert_true(hs_coarsen(&net, HS_X, &kept, 1, &step, &coarse));
        for (int64_t node = 0; node < hs_lattice_count(&step.coarse); node++)
            assert_true(coarse.sink[node] == 0.0f);
        hs_coarse_network_release(&net);
        hs_coarse_network_release(&coarse);
        hs_coarse_step_release(&step);
        hs_kept_release(&kept);
    }
}

/* Along one axis coarsening is elimination: 2 and 3 W/K in series make 1.2. With a sink of 5 in
 * between it is 0.6, and there are sinks of 2*5/10 and 3*5/10 at the ends. */
void test_coarsen__series_and_sinks_are_exact_along_one_axis(void **state)
{
    const struct hs_lattice lattice = {{3, 1, 1}, {false, false, false}};
    for (int with = 0; with < 2; with++) {
        struct hs_kept kept = every_second(lattice.n[HS_X]);
        struct hs_coarse_network net, coarse;
        struct hs_coarse_step step;
        assert_true(hs_coarse_network_init(&net, &lattice));
        net.edge[HS_X][0] = 2.0f;
        net.edge[HS_X][1] = 3.0f;
        net.edge[HS_X][2] = 0.0f;
        net.sink[0] = net.sink[2] = 0.0f;
        net.sink[1] = with ? 5.0f : 0.0f;
        assert_true(hs_coarsen(&net, HS_X, &kept, 1, &step, &coarse));
        assert_float_equal(coarse.edge[HS_X][0], with ? 0.6 : 1.2, 1e-6);
        assert_float_equal(coarse.sink[0], with ? 1.0 : 0.0, 1e-6);
        assert_float_equal(coarse.sink[1], with ? 1.5 : 0.0, 1e-6);
        hs_coarse_network_release(&net);
        hs_coarse_network_release(&coarse);
        hs_coarse_step_release(&step);
        hs_kept_release(&kept);
    }
}

/* A held node in between is a sink at each end, of that end's edge. */
void test_coarsen__held_nodes_between_stay_held(void **state)
{
    const struct hs_lattice lattice = {{3, 1, 1}, {false, false, false}};
    struct hs_kept kept = every_second(lattice.n[HS_X]);
    struct hs_coarse_network net, coarse;
    struct hs_coarse_step step;
    assert_true(hs_coarse_network_init(&net, &lattice));
    net.edge[HS_X][0] = 2.0f;
    net.edge[HS_X][1] = 3.0f;
    net.edge[HS_X][2] = 0.0f;
    net.sink[0] = net.sink[2] = 0.0f;
    net.sink[1] = INFINITY;
    assert_true(hs_coarsen(&net, HS_X, &kept, 1, &step, &coarse));
    assert_true(coarse.edge[HS_X][0] == 0.0f);
    assert_true(coarse.sink[0] == 2.0f && coarse.sink[1] == 3.0f);
    hs_coarse_network_release(&net);
    hs_coarse_network_release(&coarse);
    hs_coarse_step_release(&step);
    hs_kept_release(&kept);
}

/* Along a wall that takes heat from all nodes alike, each node that goes is the mean of its
 * neighbours, and the wall takes as much as before. */
void test_coarsen__along_a_wall_a_sink_is_no_difference(void **state)
{
    const struct hs_lattice lattice = {{6, 2, 1}, {false, false, false}};
    const float taken[] = {12.0f, 16.0f, 20.0f}; /* of 1.5, 2 and 2.5 nodes */
    struct hs_kept kept = every_second(lattice.n[HS_X]);
    struct hs_coarse_network net, coarse;
    struct hs_coarse_step step;
    assert_true(hs_coarse_network_init(&net, &lattice));
    for (int n = 0; n < 12; n++) {
        net.edge[HS_X][n] = n % 6 < 5 ? 1.0f : 0.0f;
        net.edge[HS_Y][n] = n < 6 ? 1.0f : 0.0f;
        net.sink[n] = n < 6 ? 8.0f : 0.0f;
    }
    assert_true(hs_coarsen(&net, HS_X, &kept, 1, &step, &coarse));
    for (int n = 0; n < 6; n++) {
        assert_true(step.before[n] == (n % 3 < 2 ? 0.5f : 1.0f));
        assert_true(step.after[n] == (n % 3 < 2 ? 0.5f : 0.0f));
        assert_true(coarse.sink[n] == (n < 3 ? taken[n] : 0.0f));
    }
    hs_coarse_network_release(&net);
    hs_coarse_network_release(&coarse);
    hs_coarse_step_release(&step);
    hs_kept_release(&kept);
}
