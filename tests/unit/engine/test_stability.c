/*
 * The limit against closed forms; against the full operator's own eigenvalues on small grids, built
 * here in another way (by applying the ghost rules to unit vectors); and against real runs.
 */
#include "engine/modes/eigenvalues.h"
#include "engine/stability.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_face(struct hs_problem *problem, int which, const char *type, double h)
{
    set_wall(problem, which, type, (struct hs_value){.constant = 0.0}, h);
}

/* All faces of one type; h is for robin. */
static struct hs_problem make(int dims, int radius, int64_t points, const char *type, double h)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid.dims = dims;
    for (int axis = 0; axis < dims; axis++) {
        problem.grid.points[axis] = points - axis;
        problem.grid.spacing[axis] = 0.1 * (1 + axis);
    }
    problem.radius = radius;
    problem.material.diffusivity = 2.0;
    problem.material.conductivity = 5.0;
    for (int f = 0; f < 2 * dims; f++)
        set_face(&problem, f, type, h);
    return problem;
}

/* Temperature at node (i, j, k), which may lie outside along one axis; data are zero. */
static double node_or_ghost(const struct hs_problem *problem, const double *T,
                            const int64_t at[HS_AXES])
{
    const int64_t *n = problem->grid.points;
    for (int axis = 0; axis < problem->grid.dims; axis++) {
        const bool low = at[axis] < 0, high = at[axis] >= n[axis];
        if (!low && !high)
            continue;
        const struct hs_face *face = &problem->face[2 * axis + (high ? 1 : 0)];
        int64_t edge[HS_AXES], inner[HS_AXES];
        memcpy(edge, at, sizeof edge);
        memcpy(inner, at, sizeof inner);
        if (face->wrap) {
            inner[axis] = (at[axis] + n[axis]) % n[axis];
            return node_or_ghost(problem, T, inner);
        }
        const int64_t m = low ? -at[axis] : at[axis] - n[axis] + 1;
        edge[axis] = low ? 0 : n[axis] - 1;
        inner[axis] = low ? m : n[axis] - 1 - m;
        return face->a[m - 1] * node_or_ghost(problem, T, inner) +
               face->b[m - 1] * node_or_ghost(problem, T, edge);
    }
    return T[(at[2] * n[1] + at[1]) * n[0] + at[0]];
}

/* One sweep with all data zero; held nodes stay. */
static void sweep(const struct hs_problem *problem, const struct hs_stencil *stencil,
                  const double *in, double *out)
{
    const struct hs_box inside = hs_problem_interior(problem);
    const int64_t *n = problem->grid.points;
    memcpy(out, in, sizeof *out * (size_t)hs_grid_count(&problem->grid));
    for (int64_t k = inside.lo[2]; k < inside.hi[2]; k++)
        for (int64_t j = inside.lo[1]; j < inside.hi[1]; j++)
            for (int64_t i = inside.lo[0]; i < inside.hi[0]; i++) {
                struct hs_stencil_term terms[HS_MAX_COEFFICIENTS];
                const int count = hs_stencil_terms(stencil, terms);
                double sum = 0.0;
                for (int t = 0; t < count; t++) {
                    int64_t at[HS_AXES] = {i, j, k};
                    at[terms[t].axis] += terms[t].offset;
                    sum += terms[t].c * node_or_ghost(problem, in, at);
                }
                out[(k * n[1] + j) * n[0] + i] = sum;
            }
}

/* The dense matrix of (sweep with step 1) - 1 on the nodes that are not held; returns its rows. */
static int make_dense_matrix(const struct hs_problem *problem, double *matrix)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, 1.0);
    const struct hs_box inside = hs_problem_interior(problem);
    const int64_t *n = problem->grid.points;
    const int64_t all = hs_grid_count(&problem->grid);
    const int count = (int)hs_box_count(&inside);
    double *in = calloc((size_t)all, sizeof *in), *out = calloc((size_t)all, sizeof *out);
    int64_t *place = calloc((size_t)count, sizeof *place);
    int filled = 0;
    for (int64_t k = inside.lo[2]; k < inside.hi[2]; k++)
        for (int64_t j = inside.lo[1]; j < inside.hi[1]; j++)
            for (int64_t i = inside.lo[0]; i < inside.hi[0]; i++)
                place[filled++] = (k * n[1] + j) * n[0] + i;
    for (int column = 0; column < count; column++) {
        memset(in, 0, sizeof *in * (size_t)all);
        in[place[column]] = 1.0;
        sweep(problem, &stencil, in, out);
        for (int row = 0; row < count; row++)
            matrix[row * count + column] = out[place[row]] - (row == column);
    }
    free(in), free(out), free(place);
    return count;
}

/* The largest step for which no eigenvalue of the whole operator leaves the unit disc. */
static double limit_of_dense_matrix(const struct hs_problem *problem)
{
    double matrix[HS_EIGENVALUES_MAX * HS_EIGENVALUES_MAX];
    double complex eigenvalue[HS_EIGENVALUES_MAX];
    const struct hs_box inside = hs_problem_interior(problem);
    assert_true(hs_box_count(&inside) <= HS_EIGENVALUES_MAX);
    const int count = make_dense_matrix(problem, matrix);
    hs_eigenvalues(count, matrix, eigenvalue);
    double limit = INFINITY; /* |1 + dt v|^2 = 1 + 2 dt Re v + dt^2 |v|^2 <= 1 */
    for (int e = 0; e < count; e++) {
        const double size = cabs(eigenvalue[e]);
        if (size > 1e-9)
            limit = fmin(limit, -2.0 * creal(eigenvalue[e]) / (size * size));
    }
    return limit;
}

static double von_neumann(const struct hs_problem *problem)
{
    /* the symbol at theta = pi, times spacing^2: -2*(sum of the even weights' distances) */
    static const double least[] = {0.0, 4.0, 16.0 / 3.0, 272.0 / 45.0};
    double sum = 0.0;
    for (int axis = 0; axis < problem->grid.dims; axis++)
        sum += 1.0 / (problem->grid.spacing[axis] * problem->grid.spacing[axis]);
    return 2.0 / (problem->material.diffusivity * least[problem->radius] * sum);
}

/* Kinds whose modes are sines and cosines, or are held at the ends, have the plain limit. */
void test_stability__is_von_neumanns_for_mirrors_walls_and_waves(void **state)
{
    static const char *const types[] = {"fixed",    "dirichlet",  "neumann",
                                        "periodic", "reflective", "constant"};
    for (int dims = 1; dims <= 3; dims++)
        for (int radius = 1; radius <= 3; radius++)
            for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
                struct hs_problem problem = make(dims, radius, 40, types[t], 0.0);
                const double known = von_neumann(&problem);
                /* the modes of a mirror include theta = pi, found to some hundred roundings */
                assert_near(hs_stability_limit(&problem) / known, 1.0, 1e-12);
            }
}

/* Radius 1, one Robin wall, long axis: the mode that clings to the wall alternates and decays by a
 * factor s per node. With B = 2 h dx/k the row at the wall is -(2+B), 2. */
void test_stability__of_strong_convection_is_the_mode_at_the_wall(void **state)
{
    for (double B = 0.1; B < 1e5; B *= 3.0) {
        struct hs_problem problem = make(1, 1, 500, "reflective", 0.0);
        const double dx = problem.grid.spacing[0], k = problem.material.conductivity;
        set_face(&problem, 0, "robin", B * k / (2.0 * dx));
        /* T_j = s^j, |s| < 1: mu = s + 1/s - 2 = -(2+B) + 2s, so s^2 - B s - 1 = 0 */
        const double s = -2.0 / (B + sqrt(B * B + 4.0));
        const double mu = fmin(-4.0, s + 1.0 / s - 2.0);
        const double known = 2.0 * dx * dx / (problem.material.diffusivity * -mu);
        /* the matrix is cut at 64 nodes, where the mode is down to s^63; the rest is rounding */
        assert_near(hs_stability_limit(&problem) / known, 1.0, pow(s, 120.0) + 1e-12);
    }
}

void test_stability__agrees_with_the_whole_operators_eigenvalues(void **state)
{
    static const struct {
        int dims;
        int64_t points;
    } grids[] = {{1, 40}, {2, 8}, {3, 5}};
    static const double strengths[] = {0.0, 5.0, 500.0, 5e4};
    for (size_t g = 0; g < 3; g++)
        for (int radius = 1; radius <= 3; radius++)
            for (size_t s = 0; s < 4; s++) {
                struct hs_problem problem =
                    make(grids[g].dims, radius, grids[g].points, "robin", strengths[s]);
                for (int f = 1; f < 2 * grids[g].dims; f += 2)
                    set_face(&problem, f, "clamp", 0.0);
                if (problem.grid.points[grids[g].dims - 1] <= radius)
                    continue; /* the third ghost's inner node would be outside */
                const double dense = limit_of_dense_matrix(&problem);
                const double found = hs_stability_limit(&problem);
                /* Weak walls: an axis of 5 nodes lacks its shortest wave, which counts here. In
                 * 1D the axis is long; behind strong walls the worst modes cling to them. */
                if (grids[g].dims == 1 || strengths[s] >= 500.0)
                    assert_near(found / fmin(dense, von_neumann(&problem)), 1.0, 1e-12);
                else
                    assert_true(found <= dense && found > 0.8 * dense);
            }
}

enum { LONG = 150 }; /* nodes: more than an axis is cut to */

/* The largest |eigenvalue|: of the 2^n-th power its norm is that to the 2^n, but for a factor whose
 * 2^n-th root is 1. */
static double spectral_radius(int count, double *matrix)
{
    enum { DOUBLINGS = 30 };
    double *square = calloc((size_t)count * (size_t)count, sizeof *square);
    double log_of_scale = 0.0, power = 1.0;
    for (int n = 0; n < DOUBLINGS; n++) {
        double most = 0.0;
        for (int e = 0; e < count * count; e++)
            most = fmax(most, fabs(matrix[e]));
        log_of_scale += log(most) / power;
        power *= 2.0;
        memset(square, 0, sizeof *square * (size_t)count * (size_t)count);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < count; k++)
                for (int j = 0; j < count; j++)
                    square[i * count + j] +=
                        matrix[i * count + k] / most * (matrix[k * count + j] / most);
        memcpy(matrix, square, sizeof *square * (size_t)count * (size_t)count);
    }
    free(square);
    return exp(log_of_scale);
}

/* A wall of weak convection has a mode that decays over more nodes than a long axis is cut to. The
 * wall at the other end must not seem to hold it: no step up to the limit may be unstable. */
void test_stability__of_weak_convection_is_safe_on_a_long_axis(void **state)
{
    static const char *const others[] = {"dirichlet", "fixed", "clamp", "constant", "reflective"};
    for (int radius = 1; radius <= 3; radius++)
        for (int n = 0; n < 5; n++) {
            struct hs_problem problem = make(1, radius, LONG, "robin", 0.0);
            const double b = 0.005 * pow(1.8, n); /* h dx / k */
            const bool low = (n + radius) % 2 == 0;
            set_face(&problem, low, "robin",
                     b * problem.material.conductivity / problem.grid.spacing[0]);
            set_face(&problem, !low, others[n], 0.0);
            double matrix[LONG * LONG];
            const int count = make_dense_matrix(&problem, matrix);
            const double most = 2.0 / spectral_radius(count, matrix);
            const double known = fmin(most, von_neumann(&problem));
            const double ratio = hs_stability_limit(&problem) / known;
            /* spectral_radius() is exact to 1e-8. A mode that just fails to be bound at the wall,
             * b = 1/64, is taken as bound: k tanh(64 k) = b, and the axis's 4 becomes 4 + k^2. */
            if (!(ratio < 1.0 + 1e-7) || !(ratio > 1.0 - pow(1.2 / 64.0, 2.0) / 4.0))
                fail_msg("radius %d, b = %g, %s: %.9f of the limit", radius, b, others[n], ratio);
        }
}

/* Largest |T| after `sweeps` from noise. */
static double grown(const struct hs_problem *problem, double step, int sweeps)
{
    const size_t count = (size_t)hs_grid_count(&problem->grid);
    double *in = malloc(sizeof *in * count), *out = malloc(sizeof *out * count);
    const struct hs_box inside = hs_problem_interior(problem);
    const int64_t *n = problem->grid.points;
    srand(1);
    for (size_t i = 0; i < count; i++) {
        const int64_t x = (int64_t)i % n[0], y = (int64_t)i / n[0] % n[1];
        const bool held =
            x < inside.lo[0] || x >= inside.hi[0] || y < inside.lo[1] || y >= inside.hi[1];
        in[i] = held ? 0.0 : 2.0 * rand() / RAND_MAX - 1.0;
    }
    const struct hs_stencil stencil = hs_problem_stencil(problem, step);
    for (int s = 0; s < sweeps; s++) {
        sweep(problem, &stencil, in, out);
        double *swap = in;
        in = out, out = swap;
    }
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(in[i]));
    free(in), free(out);
    return most;
}

/* 2 % above the limit the worst mode grows by |1 - 2.04| = 1.04 a sweep, so by 1e17 in 1000; 2 %
 * below it nothing grows for long. */
void test_stability__parts_runs_that_blow_up_from_runs_that_do_not(void **state)
{
    static const struct {
        const char *type;
        double h;
    } walls[] = {{"robin", 5.0},     {"robin", 5000.0}, {"clamp", 0.0},
                 {"dirichlet", 0.0}, {"constant", 0.0}, {"reflective", 0.0}};
    for (int dims = 1; dims <= 2; dims++)
        for (int radius = 1; radius <= 3; radius++)
            for (size_t w = 0; w < sizeof walls / sizeof *walls; w++) {
                struct hs_problem problem =
                    make(dims, radius, dims == 1 ? 60 : 24, walls[w].type, walls[w].h);
                const double limit = hs_stability_limit(&problem);
                const double above = grown(&problem, 1.02 * limit, 1000);
                const double below = grown(&problem, 0.98 * limit, 1000);
                if (!(above > 1e6) || !(below < 10.0))
                    fail_msg("%s h=%g dims %d radius %d: %g above, %g below the limit",
                             walls[w].type, walls[w].h, dims, radius, above, below);
            }
}

void test_stability__no_step_is_stable_where_a_wall_feeds_itself(void **state)
{
    struct hs_problem problem = make(1, 1, 40, "robin", -50.0);
    assert_near(hs_stability_limit(&problem), 0.0, 0.0);
}

static struct hs_stencil raw(int dims, int radius, const double *c)
{
    struct hs_stencil stencil = {.dims = dims, .radius = radius};
    memcpy(stencil.c, c, sizeof *c * (size_t)hs_stencil_count(dims, radius));
    return stencil;
}

void test_stability__amplification_of_positive_weights_is_their_sum(void **state)
{
    struct hs_problem problem = make(3, 1, 20, "fixed", 0.0);
    const double c[] = {0.28, 0.12, 0.10, 0.14, 0.12, 0.13, 0.11};
    const struct hs_stencil stencil = raw(3, 1, c);
    assert_near(hs_amplification(&problem, &stencil), 1.0, 1e-12);
}

/* Upwind transport with Courant number C: |1 - C + C exp(-i theta)|, largest |1 - 2C| for C > 1. */
void test_stability__amplification_of_a_lopsided_stencil(void **state)
{
    struct hs_problem problem = make(1, 1, 100, "periodic", 0.0);
    for (double C = 0.1; C < 2.0; C += 0.3) {
        const double c[] = {1.0 - C, C, 0.0};
        const struct hs_stencil stencil = raw(1, 1, c);
        assert_near(hs_amplification(&problem, &stencil), fmax(1.0, fabs(1.0 - 2.0 * C)), 1e-9);
    }
    /* centred transport grows for every C: 1 + C^2 under the root, at theta = pi/2 */
    const double c[] = {1.0, 0.15, -0.15};
    const struct hs_stencil stencil = raw(1, 1, c);
    assert_near(hs_amplification(&problem, &stencil), sqrt(1.0 + 0.09), 1e-9);
}

void test_stability__amplification_agrees_with_the_limit(void **state)
{
    for (int radius = 1; radius <= 3; radius++) {
        struct hs_problem problem = make(2, radius, 30, "robin", 700.0);
        const double limit = hs_stability_limit(&problem);
        const struct hs_stencil at = hs_problem_stencil(&problem, limit);
        const struct hs_stencil above = hs_problem_stencil(&problem, 1.01 * limit);
        assert_near(hs_amplification(&problem, &at), 1.0, 1e-9);
        /* beyond the limit the worst mode, 1 - dt*2/limit, grows twice as fast as dt */
        assert_near(hs_amplification(&problem, &above), 1.02, 1e-9);
    }
}
