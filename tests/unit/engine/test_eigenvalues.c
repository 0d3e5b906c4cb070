#include "engine/modes/eigenvalues.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static int by_real_part(const void *a, const void *b)
{
    const double complex *x = a, *y = b;
    return (creal(*x) > creal(*y)) - (creal(*x) < creal(*y));
}

/* The second difference between held ends: -2 + 2 cos(pi k / (n+1)). */
void test_eigenvalues__of_the_second_difference(void **state)
{
    const int n = HS_EIGENVALUES_MAX;
    static double matrix[HS_EIGENVALUES_MAX * HS_EIGENVALUES_MAX];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            matrix[i * n + j] = i == j ? -2.0 : abs(i - j) == 1 ? 1.0 : 0.0;
    double complex found[HS_EIGENVALUES_MAX];
    hs_eigenvalues(n, matrix, found);
    qsort(found, (size_t)n, sizeof *found, by_real_part);
    for (int k = 0; k < n; k++) {
        /* 64 rows of norm 4, a few hundred turns: some hundreds of roundings */
        assert_near(creal(found[k]), -2.0 + 2.0 * cos(M_PI * (n - k) / (n + 1)), 1e-13);
        assert_near(cimag(found[k]), 0.0, 1e-13);
    }
}

/* A wave that wraps has exp(2 pi i k / n). The matrix is orthogonal, so QR would stall without good
 * shifts. */
void test_eigenvalues__of_a_cyclic_shift_are_roots_of_one(void **state)
{
    enum { N = 12 };
    double matrix[N * N] = {0.0};
    for (int i = 0; i < N; i++)
        matrix[i * N + (i + 1) % N] = 1.0;
    double complex found[N];
    hs_eigenvalues(N, matrix, found);
    for (int k = 0; k < N; k++) {
        double nearest = INFINITY;
        for (int m = 0; m < N; m++)
            nearest = fmin(nearest, cabs(found[m] - cexp(2.0 * I * M_PI * k / N)));
        assert_near(nearest, 0.0, 1e-13);
    }
}

/* A full matrix with known eigenvalues: B = S diag(1..n) S^-1 with S = I + u v^T, v^T u = 1. */
void test_eigenvalues__of_a_full_matrix(void **state)
{
    enum { N = 10 };
    double u[N], v[N], dot = 0.0, matrix[N * N];
    for (int i = 0; i < N; i++) {
        u[i] = 1.0 + i;
        v[i] = i % 3 - 0.5;
        dot += u[i] * v[i];
    }
    for (int i = 0; i < N; i++)
        v[i] /= dot;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            matrix[i * N + j] = 0.0;
            for (int k = 0; k < N; k++) /* (I + u v)(D)(I - u v / 2) */
                matrix[i * N + j] +=
                    ((i == k) + u[i] * v[k]) * (k + 1.0) * ((k == j) - 0.5 * u[k] * v[j]);
        }
    double complex found[N];
    hs_eigenvalues(N, matrix, found);
    qsort(found, N, sizeof *found, by_real_part);
    for (int k = 0; k < N; k++)
        /* the norms of S and its inverse multiply the rounding: 1e-16 * 100 * 10 */
        assert_near(cabs(found[k] - (k + 1.0)), 0.0, 1e-11);
}
