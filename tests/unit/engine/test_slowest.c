/* The slowest mode against the eigenvalues of the axis's own matrix, built here from the ghost
 * rules, and against closed forms. */
#include "engine/modes/eigenvalues.h"
#include "engine/slowest.h"
#include "test.h"
#include "walls.h"

#include <math.h>
#include <string.h>

static void set_face(struct hs_problem *problem, int which, const char *type, double h)
{
    set_wall(problem, which, type, (struct hs_value){.constant = 0.0}, h);
}

static struct hs_problem make(int dims, int radius, int64_t points, const char *low,
                              const char *high)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    problem.grid.dims = dims;
    problem.radius = radius;
    problem.material.diffusivity = 2.0;
    problem.material.conductivity = 5.0;
    for (int axis = 0; axis < dims; axis++) {
        problem.grid.points[axis] = points;
        problem.grid.spacing[axis] = 0.1;
        set_face(&problem, 2 * axis, low, 30.0);
        set_face(&problem, 2 * axis + 1, high, 30.0);
    }
    return problem;
}

static struct hs_slowest slowest(const struct hs_problem *problem, double step)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, step);
    return hs_slowest_mode(problem, &stencil, step);
}

/* T at node j of a line, which may be a ghost; data are zero. */
static double at(const struct hs_problem *problem, const double *T, int j)
{
    const int n = (int)problem->grid.points[HS_X];
    if (j >= 0 && j < n)
        return T[j];
    const struct hs_face *face = &problem->face[j < 0 ? 0 : 1];
    if (face->wrap)
        return T[(j + n) % n];
    const int m = j < 0 ? -j : j - (n - 1), edge = j < 0 ? 0 : n - 1, inner = j < 0 ? m : edge - m;
    return face->a[m - 1] * T[inner] + face->b[m - 1] * T[edge];
}

/* 1 - factor of the slowest mode of a line, leaving out a constant. */
static double decay_of_matrix(const struct hs_problem *problem, double step)
{
    const struct hs_stencil stencil = hs_problem_stencil(problem, step);
    const int n = (int)problem->grid.points[HS_X];
    const int first = problem->face[0].held, count = n - first - problem->face[1].held;
    double matrix[HS_EIGENVALUES_MAX * HS_EIGENVALUES_MAX], T[HS_EIGENVALUES_MAX] = {0.0};
    assert_true(count <= HS_EIGENVALUES_MAX);
    for (int column = 0; column < count; column++) {
        T[first + column] = 1.0;
        for (int row = 0; row < count; row++) {
            double sum = stencil.c[0] * T[first + row];
            for (int m = 1; m <= problem->radius; m++)
                sum += stencil.c[hs_stencil_index(problem->radius, HS_X, m)] *
                       (at(problem, T, first + row + m) + at(problem, T, first + row - m));
            matrix[row * count + column] = (row == column) - sum;
        }
        T[first + column] = 0.0;
    }
    double complex value[HS_EIGENVALUES_MAX];
    hs_eigenvalues(count, matrix, value);
    double least = INFINITY;
    for (int e = 0; e < count; e++)
        if (creal(value[e]) > 1e-12)
            least = fmin(least, creal(value[e]));
    return least;
}

static const char *const kinds[] = {"fixed",      "dirichlet", "neumann", "robin",
                                    "reflective", "clamp",     "constant"};
enum { KINDS = sizeof kinds / sizeof *kinds };

void test_slowest__is_the_matrix_s_own_with_radius_1(void **state)
{
    static const int64_t points[] = {4, 17, 60};
    for (int low = 0; low < KINDS; low++)
        for (int high = 0; high < KINDS; high++)
            for (int p = 0; p < 3; p++) {
                const struct hs_problem problem = make(1, 1, points[p], kinds[low], kinds[high]);
                const double step = 0.4 * 0.01 / 2.0;
                /* QR leaves some roundings of numbers of order 1 */
                assert_near(slowest(&problem, step).decay, decay_of_matrix(&problem, step), 1e-13);
            }
}

/* The outer ghosts of a wider stencil are ignored, which matters by half an interval of the 39 at
 * most. */
void test_slowest__is_near_it_with_wider_stencils(void **state)
{
    for (int radius = 2; radius <= 3; radius++)
        for (int low = 0; low < KINDS; low++)
            for (int high = 0; high < KINDS; high++) {
                const struct hs_problem problem = make(1, radius, 40, kinds[low], kinds[high]);
                const double step = 0.25 * 0.01 / 2.0, decay = decay_of_matrix(&problem, step);
                assert_near(slowest(&problem, step).decay, decay, 0.5 / 39.0 * decay);
            }
}

void test_slowest__of_waves_that_wrap(void **state)
{
    const struct hs_problem problem = make(1, 1, 50, "periodic", "periodic");
    const struct hs_slowest found = slowest(&problem, 0.002);
    assert_true(found.free_mean);
    assert_near(found.decay, 0.4 * (2.0 - 2.0 * cos(2.0 * M_PI / 50.0)), 1e-14);
}

void test_slowest__of_a_block_is_the_sum_of_its_axes(void **state)
{
    struct hs_problem problem = make(3, 1, 65, "dirichlet", "dirichlet");
    const struct hs_slowest cube = slowest(&problem, 0.9 * 0.01 / 12.0);
    assert_false(cube.free_mean);
    assert_near(cube.decay, 0.9 * (1.0 - cos(M_PI / 64.0)), 1e-14);
    for (int f = 2; f < 6; f++)
        set_face(&problem, f, "reflective", 0.0);
    assert_near(slowest(&problem, 0.9 * 0.01 / 12.0).decay, cube.decay / 3.0, 1e-14);
    set_face(&problem, 0, "reflective", 0.0);
    assert_near(slowest(&problem, 0.9 * 0.01 / 12.0).decay, 0.3 * (1.0 - cos(0.5 * M_PI / 64.0)),
                1e-14);
}

/* Insulated all round, the mean stays; the next mode is along the longest axis only. */
void test_slowest__leaves_out_a_mean_that_nothing_holds(void **state)
{
    struct hs_problem problem = make(2, 1, 20, "reflective", "reflective");
    problem.grid.points[HS_Y] = 30;
    const struct hs_slowest found = slowest(&problem, 0.001);
    assert_true(found.free_mean);
    assert_near(found.decay, 0.2 * (2.0 - 2.0 * cos(M_PI / 29.0)), 1e-14);
}

/* A million nodes, and a wall with ghost = inner - 1e-9 edge: a Biot number of B = 1e6*1e-9/2, for
 * which zeta tan(zeta) = B gives zeta^2 = B (1 - B/3 + ...). */
void test_slowest__of_a_long_line_that_hardly_cools(void **state)
{
    struct hs_problem problem = make(1, 1, 1000001, "reflective", "reflective");
    problem.face[0].b[0] = -1e-9;
    const double B = 5e-4, zeta_squared = B * (1.0 - B / 3.0);
    assert_near(slowest(&problem, 0.002).decay / (0.4 * 1e-12), zeta_squared, 1e-6 * B);
}

void test_slowest__of_raw_coefficients(void **state)
{
    struct hs_problem problem = make(1, 1, 11, "reflective", "reflective");
    struct hs_stencil stencil = {.dims = 1, .radius = 1, .c = {0.4, 0.25, 0.25}};
    struct hs_slowest found =
        hs_slowest_mode(&problem, &stencil, 0.001); /* loses a tenth everywhere */
    assert_false(found.free_mean);
    assert_near(found.decay, 0.1, 1e-14);
    stencil = (struct hs_stencil){.dims = 1, .radius = 1, .c = {0.5, 0.2, 0.3}};
    assert_true(isnan(hs_slowest_mode(&problem, &stencil, 0.001).decay));
    stencil = (struct hs_stencil){.dims = 1, .radius = 1, .c = {1.2, -0.1, -0.1}};
    assert_true(isnan(hs_slowest_mode(&problem, &stencil, 0.001).decay));
}
