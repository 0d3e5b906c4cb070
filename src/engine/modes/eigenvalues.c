#include "engine/modes/eigenvalues.h"

#include <assert.h>
#include <float.h>
#include <math.h>

enum { N = HS_EIGENVALUES_MAX };

/* A unitary rotation of two neighbouring rows or columns: [c s; -conj(s) c] with real c. */
struct rotation {
    double c;
    double complex s;
};

/* The rotation that makes (a, b) into (r, 0). */
static struct rotation rotation_of(double complex a, double complex b)
{
    const double length = hypot(cabs(a), cabs(b));
    if (length == 0.0)
        return (struct rotation){1.0, 0.0};
    if (cabs(a) == 0.0)
        return (struct rotation){0.0, conj(b) / cabs(b)};
    return (struct rotation){cabs(a) / length, a / cabs(a) * conj(b) / length};
}

/* Rotates rows k, k+1 over columns lo..hi. */
static void turn_rows(double complex a[N][N], struct rotation r, int k, int lo, int hi)
{
    for (int j = lo; j <= hi; j++) {
        const double complex x = a[k][j], y = a[k + 1][j];
        a[k][j] = r.c * x + r.s * y;
        a[k + 1][j] = r.c * y - conj(r.s) * x;
    }
}

/* Rotates columns k, k+1 over rows lo..hi: the inverse rotation from the right. */
static void turn_columns(double complex a[N][N], struct rotation r, int k, int lo, int hi)
{
    for (int i = lo; i <= hi; i++) {
        const double complex x = a[i][k], y = a[i][k + 1];
        a[i][k] = r.c * x + conj(r.s) * y;
        a[i][k + 1] = r.c * y - r.s * x;
    }
}

/* Zeros below the first subdiagonal, by rotations that keep the eigenvalues. */
static void to_hessenberg(double complex a[N][N], int n)
{
    for (int column = 0; column < n - 2; column++)
        for (int row = n - 1; row > column + 1; row--) {
            if (a[row][column] == 0.0)
                continue;
            const struct rotation r = rotation_of(a[row - 1][column], a[row][column]);
            turn_rows(a, r, row - 1, 0, n - 1);
            turn_columns(a, r, row - 1, 0, n - 1);
        }
}

/* The eigenvalue of the last 2x2 block that is nearer to its last entry. */
static double complex wilkinson_shift(double complex a[N][N], int hi)
{
    const double complex p = a[hi - 1][hi - 1], q = a[hi - 1][hi], r = a[hi][hi - 1], s = a[hi][hi];
    const double complex half = 0.5 * (p - s);
    const double complex root = csqrt(half * half + q * r);
    const double complex mean = 0.5 * (p + s);
    const double complex first = mean + root, second = mean - root;
    return cabs(first - s) < cabs(second - s) ? first : second;
}

/* One QR step on rows and columns lo..hi. */
static void qr_step(double complex a[N][N], int lo, int hi, double complex shift)
{
    struct rotation turns[N];
    for (int i = lo; i <= hi; i++)
        a[i][i] -= shift;
    for (int k = lo; k < hi; k++) {
        turns[k] = rotation_of(a[k][k], a[k + 1][k]);
        turn_rows(a, turns[k], k, k, hi);
    }
    for (int k = lo; k < hi; k++)
        turn_columns(a, turns[k], k, lo, k + 1);
    for (int i = lo; i <= hi; i++)
        a[i][i] += shift;
}

/* First row of the block that ends at `hi` and has no negligible subdiagonal entry. */
static int block_start(double complex a[N][N], int hi)
{
    int lo = hi;
    while (lo > 0) {
        const double around = cabs(a[lo][lo]) + cabs(a[lo - 1][lo - 1]);
        const double entry = cabs(a[lo][lo - 1]);
        if (entry <= DBL_EPSILON * around || entry < DBL_MIN)
            break;
        lo--;
    }
    return lo;
}

void hs_eigenvalues(int n, const double *matrix, double complex *out)
{
    assert(n >= 1 && n <= N);
    double complex a[N][N];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = matrix[i * n + j];
    to_hessenberg(a, n);
    int hi = n - 1;
    for (int tries = 0; hi > 0; tries++) {
        const int lo = block_start(a, hi);
        if (lo == hi) {
            hi--;
            tries = 0;
            continue;
        }
        assert(tries < 1000);
        /* now and then an exceptional shift, against cycles */
        const double complex shift =
            tries % 12 == 11 ? a[hi][hi] + cabs(a[hi][hi - 1]) : wilkinson_shift(a, hi);
        qr_step(a, lo, hi, shift);
    }
    for (int i = 0; i < n; i++)
        out[i] = a[i][i];
}
