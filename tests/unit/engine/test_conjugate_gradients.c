/* The equations of a step, with shifts from far below to far above the conductances. */
#include "engine/multigrid/conjugate_gradients.h"
#include "engine/multigrid/host_krylov.h"
#include "modes_case.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

/* A wave along x, y and z that keeps its shape: cosines between mirrors, sines between walls at 0.
 * `rate`: its decay [1/s]. */
struct wave {
    bool sine;
    int64_t halves[HS_AXES]; /* half wavelengths from end to end */
    double rate;
};

static struct wave make_wave(const struct hs_grid *grid, bool sine)
{
    struct wave wave = {.sine = sine, .halves = {1, 3, 2}};
    for (int axis = 0; axis < HS_AXES; axis++) {
        const double angle = pi * (double)wave.halves[axis] / (double)(grid->points[axis] - 1);
        const double s = 2.0 * sin(0.5 * angle) / grid->spacing[axis];
        wave.rate += s * s;
    }
    return wave;
}

static double wave_at(const struct wave *wave, const struct hs_grid *grid, int64_t n)
{
    const int64_t *p = grid->points, at[HS_AXES] = {n % p[0], n / p[0] % p[1], n / p[0] / p[1]};
    double product = 1.0;
    for (int axis = 0; axis < HS_AXES; axis++) {
        const double angle = pi * (double)(wave->halves[axis] * at[axis]) / (double)(p[axis] - 1);
        product *= wave->sine ? sin(angle) : cos(angle);
    }
    return product;
}

/* (A + s C) T = s C wave, from T = 0, to a rate that leaves no node off by more than 1e-10. */
static void check_shift(const struct modes_case *c, struct hs_equations *equations,
                        struct hs_conjugate_gradients *gradients, const struct wave *wave,
                        double shift)
{
    const struct hs_grid *grid = &c->problem.grid;
    const int64_t nodes = hs_grid_count(grid);
    struct hs_solution solution;
    double *T = calloc((size_t)nodes, sizeof *T);
    assert_non_null(T);
    equations->shift = shift;
    for (int64_t n = 0; n < nodes; n++) {
        const struct hs_network_row *row = hs_network_row_at(equations->network, n);
        const double mean = wave->sine ? 0.0 : 7.0; /* which does not decay */
        equations->inflow[n] = row->kind == HS_NODE_FREE
                                   ? shift * row->capacity * (mean + wave_at(wave, grid, n))
                                   : 0.0;
    }
    assert_ok(gradients->vectors->put(gradients->of, HS_KRYLOV_T, T, &err));
    assert_ok(hs_conjugate_gradients_solve(gradients, 0.0, 1e-10 * shift, &solution, &err));
    memcpy(T, hs_host_krylov_vector(gradients->of, HS_KRYLOV_T), (size_t)nodes * sizeof *T);
    assert_true(solution.reached);
    if (solution.iterations > 14)
        fail_msg("shift %g: %d iterations", shift, solution.iterations);
    for (int64_t n = 0; n < nodes; n++) {
        const double exact =
            (wave->sine ? 0.0 : 7.0) + shift / (shift + wave->rate) * wave_at(wave, grid, n);
        /* the bound, and what the roundings of the residual, of the size of edges, may hide */
        const double bound = 1e-10 + 1e-14 * 7.0 * (1.0 + 4e3 / shift);
        if (!(fabs(T[n] - exact) <= bound))
            fail_msg("shift %g, node %d: off by %g", shift, (int)n, T[n] - exact);
    }
    free(T);
}

void test_conjugate_gradients__a_shift_damps_a_wave_as_it_should(void **state)
{
    static const int64_t points[HS_AXES] = {33, 22, 29};
    for (int sine = 0; sine < 2; sine++) {
        const char *kind[HS_FACES];
        for (int face = 0; face < HS_FACES; face++)
            kind[face] = sine ? "fixed" : "reflective";
        struct modes_case c = make_case(3, 1, HS_DOUBLE, kind, points, false);
        const struct wave wave = make_wave(&c.problem.grid, sine);
        struct hs_equations equations;
        struct hs_conjugate_gradients gradients;
        assert_ok(hs_equations_init(&equations, &c.problem, &err));
        assert_ok(hs_conjugate_gradients_init(&gradients, &equations, NULL, NULL, &err));
        for (double shift = 1e-6; shift < 1e9; shift *= 10.0)
            check_shift(&c, &equations, &gradients, &wave, shift);
        hs_conjugate_gradients_release(&gradients);
        hs_equations_release(&equations);
        release_case(&c);
    }
}
