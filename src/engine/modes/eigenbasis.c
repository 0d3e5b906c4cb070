#include "engine/modes/eigenbasis.h"

#include "core/memory.h"
#include "core/transforms.h"
#include "engine/modes/openblas.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Above it, rounding would cost the transforms more digits than they promise. */
static const double most_condition = 1e4;

/* Entries that a scaling makes equal agree to this relative accuracy. */
static const double alike = 16.0 * DBL_EPSILON;

/* Larger corrections are not made: the two rates are the same. */
static const double small = 1e-4;

/* The imaginary part that rounding may give a real rate, relative to the largest rate. */
static const double imaginary_rounding = 1e-13;

/* Of the fastest rate: slower is 0 if no face pulls. The slowest wave of 30000 nodes has 3e-9. */
static const double free_rounding = 1e-14;

enum {
    BLOCK = 64,
    THREADS_FROM = 256 /* nodes */
};

/* One matrix: of all nodes, or, for a mirrored axis, of the nodes of its even or its odd modes. */
struct work {
    const struct hs_axis_matrix *matrix;
    const struct hs_openblas *blas;
    int64_t first, n;         /* folded nodes */
    int reach;                /* columns on either side of the diagonal */
    long double *band;        /* [n][2 * reach + 1] */
    long double *sum;         /* [n]: row sums, the rate of a constant there */
    long double *scale;       /* [n]: of the nodes, squared */
    double *one, *other;      /* [n][n]; of one allocation, like the band, sum and scale */
    double *vector, *inverse; /* [n][n] of the basis */
    double *rate;             /* [n] likewise */
    double condition;
};

/* ---- the matrix ------------------------------------------------------------------------------ */

static long double entry(const struct work *w, int64_t i, int64_t j)
{
    return llabs(j - i) > w->reach ? 0.0L : w->band[i * (2 * w->reach + 1) + j - i + w->reach];
}

/* Replaces a swept node by the folded node of its pair; returns its sign there, 0: not involved. */
static double fold_column(const struct work *w, int64_t *column)
{
    const int64_t all = hs_axis_matrix_rows(w->matrix), opposite = all - 1 - *column;
    if (w->n == all)
        return 1.0;
    if (w->first == 0) {
        *column = *column < opposite ? *column : opposite;
        return 1.0;
    }
    const double sign = *column < opposite ? -1.0 : *column == opposite ? 0.0 : 1.0;
    *column = *column < opposite ? opposite : *column;
    return sign;
}

/* A sum and its rounding: weak convection may be 1e-20 of the other terms. */
static void add(long double sum[2], long double term)
{
    const long double next = sum[0] + term, added = next - sum[0];
    sum[1] += (sum[0] - (next - added)) + (term - added);
    sum[0] = next;
}

static void fill_band(struct work *w)
{
    struct hs_axis_matrix beside = *w->matrix;
    long double rest[2] = {0.0L};
    beside.c[beside.radius] = 0.0;
    for (int m = 0; m <= 2 * beside.radius; m++)
        add(rest, -(long double)beside.c[m]);
    for (int64_t i = 0; i < w->n; i++) {
        struct hs_axis_entry row[HS_AXIS_ENTRIES];
        long double sum[2] = {rest[0], rest[1]};
        long double *band = &w->band[i * (2 * w->reach + 1)];
        const int entries = hs_axis_matrix_row(&beside, w->first + i, row);
        for (int e = 0; e < entries; e++) {
            int64_t column = row[e].column;
            const double sign = fold_column(w, &column);
            if (sign == 0.0)
                continue;
            column -= w->first + i;
            assert(llabs(column) <= w->reach);
            band[column + w->reach] += sign * (long double)row[e].c * row[e].share;
            add(sum, sign * (long double)row[e].c * row[e].share);
        }
        band[w->reach] += rest[0];
        w->sum[i] = sum[0] + sum[1];
    }
}

static bool same(long double a, long double b)
{
    return fabsl(a - b) <= alike * fmaxl(fabsl(a), fabsl(b));
}

/* Finds a scale with scale[i] * entry(i, j) = scale[j] * entry(j, i). False: there is none. */
static bool find_scale(struct work *w)
{
    w->scale[0] = 1.0L;
    for (int64_t i = 0; i + 1 < w->n; i++) {
        const long double up = entry(w, i, i + 1), down = entry(w, i + 1, i);
        const long double ratio = up == 0.0L && down == 0.0L ? 1.0L : up / down;
        if (!(ratio > 0.0L) || isinf(ratio))
            return false;
        w->scale[i + 1] = w->scale[i] * ratio;
    }
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = i + 2; j < w->n && j <= i + w->reach; j++)
            if (!same(w->scale[i] * entry(w, i, j), w->scale[j] * entry(w, j, i)))
                return false;
    return true;
}

static bool is_tridiagonal(const struct work *w)
{
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = i + 2; j < w->n && j <= i + w->reach; j++)
            if (entry(w, i, j) != 0.0L || entry(w, j, i) != 0.0L)
                return false;
    return true;
}

/* Of the matrix made symmetric by the scale. */
static double symmetric_entry(const struct work *w, int64_t i, int64_t j)
{
    return (double)(entry(w, i, j) * sqrtl(w->scale[i] / w->scale[j]));
}

/* ---- [n][n] ---------------------------------------------------------------------------------- */

static void transpose(int64_t n, const double *in, double *out)
{
#pragma omp parallel for schedule(static) if (n >= THREADS_FROM)
    for (int64_t i = 0; i < n; i += BLOCK)
        for (int64_t j = 0; j < n; j += BLOCK)
            for (int64_t k = i; k < i + BLOCK && k < n; k++)
                for (int64_t l = j; l < j + BLOCK && l < n; l++)
                    out[l * n + k] = in[k * n + l];
}

static double norm(int64_t count, const double *values)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sqrt(sum);
}

/* ---- LAPACK ---------------------------------------------------------------------------------- */

static enum hs_status no_convergence(const char *routine, int info, struct hs_error *err)
{
    return hs_error_add(err, HS_BAD_INPUT, "LAPACK's %s found no modes (info %d)", routine, info);
}

static enum hs_status no_memory(int64_t n, struct hs_error *err)
{
    return hs_error_add(err, HS_DEVICE, "not enough memory for the modes of an axis: %.0f bytes",
                        5.0 * sizeof(double) * (double)n * (double)n);
}

/* Leaves the modes in the rows of `inverse`. */
static enum hs_status solve_symmetric(const struct work *w, struct hs_error *err)
{
    const bool narrow = is_tridiagonal(w);
    const int n = (int)w->n, whole = 3 + 5 * n;
    const int work = narrow ? 1 + 4 * n + n * n : 1 + 6 * n + 2 * n * n;
    int info = 0;
    double *space = malloc(((size_t)work + (size_t)n) * sizeof *space);
    if (!space)
        return no_memory(w->n, err);
    double *beside = space + work; /* the diagonal */
    int *wholes = hs_new((size_t)whole * sizeof *wholes);
    for (int64_t i = 0; i < n; i++) {
        w->rate[i] = (double)entry(w, i, i);
        beside[i] = i + 1 < n ? symmetric_entry(w, i, i + 1) : 0.0;
        for (int64_t j = 0; j < n && !narrow; j++)
            w->inverse[i * n + j] = symmetric_entry(w, i, j);
    }
    if (narrow)
        w->blas->dstevd_("V", &n, w->rate, beside, w->inverse, &n, space, &work, wholes, &whole,
                         &info, 1);
    else
        w->blas->dsyevd_("V", "U", &n, w->inverse, &n, w->rate, space, &work, wholes, &whole, &info,
                         1, 1);
    free(space);
    free(wholes);
    return info ? no_convergence(narrow ? "dstevd" : "dsyevd", info, err) : HS_OK;
}

/* The rows of `inverse` are modes of the symmetric matrix: undoes the scaling. */
static void unscale(const struct work *w)
{
    const int64_t n = w->n;
    for (int64_t i = 0; i < n; i++)
        w->one[i] = (double)sqrtl(w->scale[i]);
    transpose(n, w->inverse, w->vector);
#pragma omp parallel for schedule(static) if (n >= THREADS_FROM)
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k++) {
            w->vector[i * n + k] /= w->one[i];
            w->inverse[i * n + k] *= w->one[k];
        }
}

static enum hs_status check_condition(const struct work *w, struct hs_error *err)
{
    if (w->condition <= most_condition)
        return HS_OK;
    return hs_error_add(err, HS_BAD_INPUT,
                        "the modes are ill-conditioned (condition number %.2g, at most %.0g is "
                        "accepted): the coefficients are too far from symmetric",
                        w->condition, most_condition);
}

static enum hs_status make_symmetric(struct work *w, struct hs_error *err)
{
    long double least = INFINITY, most = 0.0L;
    for (int64_t i = 0; i < w->n; i++) {
        least = fminl(least, w->scale[i]);
        most = fmaxl(most, w->scale[i]);
    }
    w->condition = (double)sqrtl(most / least);
    HS_TRY(check_condition(w, err));
    HS_TRY(solve_symmetric(w, err));
    unscale(w);
    return HS_OK;
}

/* Inverts `inverse` in place. */
static enum hs_status invert(const struct work *w, struct hs_error *err)
{
    const int n = (int)w->n, work = BLOCK * n;
    int info = 0;
    double *space = malloc((size_t)work * sizeof *space);
    if (!space)
        return no_memory(w->n, err);
    int *pivot = hs_new((size_t)n * sizeof *pivot);
    w->blas->dgetrf_(&n, &n, w->inverse, &n, pivot, &info);
    if (!info)
        w->blas->dgetri_(&n, w->inverse, &n, pivot, space, &work, &info);
    free(pivot);
    free(space);
    return info ? hs_error_add(err, HS_BAD_INPUT, "the modes are linearly dependent") : HS_OK;
}

static enum hs_status check_real(const struct work *w, const double *imaginary,
                                 struct hs_error *err)
{
    double size = 0.0, turns = 0.0;
    for (int64_t k = 0; k < w->n; k++) {
        size = fmax(size, hypot(w->rate[k], imaginary[k]));
        turns = fmax(turns, fabs(imaginary[k]));
    }
    if (turns <= imaginary_rounding * size)
        return HS_OK;
    return hs_error_add(
        err, HS_BAD_INPUT,
        "a pair of modes has complex factors, with an imaginary part of %.2g of the largest factor",
        turns / size);
}

static enum hs_status make_general(struct work *w, struct hs_error *err)
{
    const int n = (int)w->n, work = (4 + BLOCK) * n, one = 1;
    int info = 0;
    double *space = malloc(((size_t)work + (size_t)n) * sizeof *space);
    if (!space)
        return no_memory(w->n, err);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            w->one[j * n + i] = (double)entry(w, i, j); /* column by column */
    double *imaginary = space + work, unused;
    w->blas->dgeev_("N", "V", &n, w->one, &n, w->rate, imaginary, &unused, &one, w->other, &n,
                    space, &work, &info, 1, 1);
    const enum hs_status st =
        info ? no_convergence("dgeev", info, err) : check_real(w, imaginary, err);
    free(space);
    HS_TRY(st);
    transpose(n, w->other, w->vector);
    memcpy(w->inverse, w->vector, (size_t)n * (size_t)n * sizeof *w->inverse);
    HS_TRY(invert(w, err));
    const int64_t all = (int64_t)n * n;
    w->condition = norm(all, w->vector) * norm(all, w->inverse) / n;
    return check_condition(w, err);
}

/* ---- to the last digit ----------------------------------------------------------------------- */

/* The product of the matrix and a mode at a node, summed from differences, so that a slow mode's
 * own value does not swamp it; *size: the sum of its terms' sizes. */
static long double image(const struct work *w, int64_t i, int64_t mode, long double *size)
{
    const int64_t n = w->n, first = i > w->reach ? i - w->reach : 0;
    const int64_t last = i + w->reach < n ? i + w->reach : n - 1;
    const long double here = w->vector[i * n + mode];
    long double sum = w->sum[i] * here;
    *size = fabsl(sum);
    for (int64_t j = first; j <= last; j++) {
        const long double term = entry(w, i, j) * (w->vector[j * n + mode] - here);
        sum += term;
        *size += fabsl(term);
    }
    return sum;
}

/* The rates of some modes, with an error of second order in that of the vectors; leaves the
 * residuals, product less rate times mode, in `one`. */
static void find_residuals(const struct work *w, int64_t first, int64_t end)
{
    const int64_t n = w->n;
    const double *vector = w->vector, *inverse = w->inverse;
    long double moved[BLOCK] = {0.0L}, kept[BLOCK] = {0.0L}, size;
    for (int64_t i = 0; i < n; i++)
        for (int64_t mode = first; mode < end; mode++) {
            moved[mode - first] += inverse[mode * n + i] * image(w, i, mode, &size);
            kept[mode - first] += (long double)inverse[mode * n + i] * vector[i * n + mode];
        }
    for (int64_t mode = first; mode < end; mode++) {
        moved[mode - first] /= kept[mode - first];
        w->rate[mode] = (double)moved[mode - first];
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t mode = first; mode < end; mode++)
            w->one[i * n + mode] =
                (double)(image(w, i, mode, &size) - moved[mode - first] * vector[i * n + mode]);
}

/* One step of Newton's method for all modes together. Source: Dongarra, Moler and Wilkinson,
 * SIAM J. Numer. Anal. 20 (1983). */
static void refine(const struct work *w)
{
    const int64_t n = w->n;
    double *vector = w->vector, *inverse = w->inverse;
    const double *rate = w->rate;
    const size_t bytes = (size_t)n * (size_t)n * sizeof *vector;
#pragma omp parallel for schedule(static) if (n >= THREADS_FROM)
    for (int64_t mode = 0; mode < n; mode += BLOCK)
        find_residuals(w, mode, mode + BLOCK < n ? mode + BLOCK : n);
    hs_openblas_product(w->blas, n, n, n, 1.0, inverse, w->one, 0.0, w->other);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double *mixed = &w->other[i * n + j];
            const double apart = rate[j] - rate[i];
            *mixed = fabs(*mixed) < small * fabs(apart) ? *mixed / apart : 0.0;
        }
    memcpy(w->one, vector, bytes);
    hs_openblas_product(w->blas, n, n, n, 1.0, w->one, w->other, 1.0, vector);
    memcpy(w->one, inverse, bytes);
    hs_openblas_product(w->blas, n, n, n, -1.0, w->other, w->one, 1.0, inverse);
}

/* ---------------------------------------------------------------------------------------------- */

static enum hs_status solve(struct work *w, struct hs_error *err)
{
    const size_t n = (size_t)w->n, wide = n * (size_t)(2 * w->reach + 1);
    HS_TRY(hs_openblas_find(&w->blas, err));
    w->band = calloc(wide + 2 * n, sizeof *w->band);
    w->one = malloc(2 * n * n * sizeof *w->one);
    if (!w->band || !w->one)
        return no_memory(w->n, err);
    w->sum = w->band + wide;
    w->scale = w->sum + n;
    w->other = w->one + n * n;
    HS_TRY(hs_openblas_use_threads(w->blas, w->n < THREADS_FROM ? 1 : omp_get_max_threads(), err));
    fill_band(w);
    HS_TRY(find_scale(w) ? make_symmetric(w, err) : make_general(w, err));
    refine(w);
    return HS_OK;
}

int64_t hs_eigenbasis_even(const struct hs_axis_matrix *matrix)
{
    return hs_axis_matrix_mirrored(matrix) ? (hs_axis_matrix_rows(matrix) + 1) / 2 : 0;
}

void hs_eigenbasis_release(struct hs_eigenbasis *basis)
{
    free(basis->vector);
    free(basis->inverse);
    free(basis->rate);
    *basis = (struct hs_eigenbasis){0};
}

void hs_eigenbasis_project(const struct hs_eigenbasis *basis, const double *field, double *out)
{
    const int64_t all = basis->count;
    const double *inverse = basis->inverse;
    double *folded = hs_new((size_t)all * sizeof *folded);
    memcpy(folded, field, (size_t)all * sizeof *folded);
    for (int64_t i = 0; i < all / 2 && basis->even > 0; i++)
        hs_fold(false, &folded[i], &folded[all - 1 - i]);
    for (int64_t first = 0, n; first < all; first += n) {
        n = first < basis->even ? basis->even : all - first;
        for (int64_t mode = first; mode < first + n; mode++, inverse += n) {
            out[mode] = 0.0;
            for (int64_t i = 0; i < n; i++)
                out[mode] += inverse[i] * folded[first + i];
        }
    }
    free(folded);
}

/* Where a mode's value at a node lies, in squares of folded nodes, and its sign. */
struct place {
    int64_t start, n, node, mode;
    double sign; /* 0 in the middle, where odd modes are 0 */
};

static struct place find(const struct hs_eigenbasis *basis, int64_t node, int64_t mode)
{
    const int64_t even = basis->even, opposite = basis->count - 1 - node;
    const int64_t lower = node < opposite ? node : opposite, upper = node + opposite - lower;
    if (mode < even)
        return (struct place){0, even, lower, mode, 1.0};
    if (even > 0)
        return (struct place){even * even, basis->count - even, upper - even, mode - even,
                              node < opposite   ? -1.0
                              : node > opposite ? 1.0
                                                : 0.0};
    return (struct place){0, basis->count, node, mode, 1.0};
}

double hs_eigenbasis_vector(const struct hs_eigenbasis *basis, int64_t node, int64_t mode)
{
    const struct place at = find(basis, node, mode);
    return at.sign == 0.0 ? 0.0 : at.sign * basis->vector[at.start + at.node * at.n + at.mode];
}

double hs_eigenbasis_inverse(const struct hs_eigenbasis *basis, int64_t mode, int64_t node)
{
    const struct place at = find(basis, node, mode);
    const double share = basis->even > 0 && node != basis->count - 1 - node ? 0.5 : 1.0;
    return at.sign == 0.0 ? 0.0
                          : share * at.sign * basis->inverse[at.start + at.mode * at.n + at.node];
}

/* ---- the slowest ----------------------------------------------------------------------------- */

/* Of one part, if it is the first or has a slower one than that. By perturbation theory, what the
 * mode's residual has of another mode mixes the two in first order and changes the rate in second;
 * sums are in extended precision. */
static void find_slow(const struct work *w, struct hs_eigenbasis *out)
{
    const int64_t n = w->n;
    int64_t slow = 0;
    double *mixed = w->other, *residual = w->one;
    for (int64_t mode = 0; mode < n; mode++)
        if (fabs(w->rate[mode]) < fabs(w->rate[slow]))
            slow = mode;
    if (w->first > 0 && !(fabs(w->rate[slow]) < fabs(out->rate[out->slow])))
        return;
    out->slow = w->first + slow;
    out->slow_off = out->slow_mixed = 0.0;
    for (int64_t i = 0; i < n; i++) {
        long double size;
        residual[i] = (double)(image(w, i, slow, &size) - w->rate[slow] * w->vector[i * n + slow]);
        out->slow_off += (double)(LDBL_EPSILON * size) * fabs(w->inverse[slow * n + i]);
    }
    hs_openblas_product(w->blas, n, 1, n, 1.0, w->inverse, residual, 0.0, mixed);
    for (int64_t mode = 0; mode < n; mode++) {
        const double apart = fabs(w->rate[mode] - w->rate[slow]), size = fabs(mixed[mode]);
        const bool itself = mode == slow; /* the rate's error before the last step */
        out->slow_mixed = fmax(out->slow_mixed, itself || size == 0.0 ? 0.0 : size / apart);
        out->slow_off += itself || size == 0.0 ? size : size * size / apart;
    }
}

/* ---------------------------------------------------------------------------------------------- */

static enum hs_status make_part(const struct hs_axis_matrix *matrix, int64_t first, int64_t n,
                                struct hs_eigenbasis *out, struct hs_error *err)
{
    struct work w = {.matrix = matrix,
                     .first = first,
                     .n = n,
                     .reach = matrix->radius,
                     .vector = out->vector + first * first,
                     .inverse = out->inverse + first * first,
                     .rate = out->rate + first};
    const enum hs_status st = solve(&w, err);
    out->condition = fmax(out->condition, w.condition);
    if (!st)
        find_slow(&w, out);
    free(w.band);
    free(w.one);
    return st;
}

/* Sets rates to 0 that are no more than rounding. */
static void let_stay(struct hs_eigenbasis *basis)
{
    double fastest = 0.0;
    for (int64_t mode = 0; mode < basis->count; mode++)
        fastest = fmax(fastest, fabs(basis->rate[mode]));
    for (int64_t mode = 0; mode < basis->count; mode++)
        if (fabs(basis->rate[mode]) <= free_rounding * fastest)
            basis->rate[mode] = 0.0;
    basis->slow_off = 0.0;
}

enum hs_status hs_eigenbasis_make(const struct hs_axis_matrix *matrix, struct hs_eigenbasis *out,
                                  struct hs_error *err)
{
    const int64_t n = hs_axis_matrix_rows(matrix), even = hs_eigenbasis_even(matrix);
    const size_t size = (size_t)hs_eigenbasis_size(n, even);
    *out = (struct hs_eigenbasis){.count = n, .even = even, .condition = 1.0};
    if (matrix->face[0].wrap && !even)
        return hs_error_add(err, HS_BAD_INPUT,
                            "coefficients that differ from side to side make the waves of a "
                            "periodic axis travel, and their factors complex");
    out->vector = malloc(size * sizeof *out->vector);
    out->inverse = malloc(size * sizeof *out->inverse);
    out->rate = malloc((size_t)n * sizeof *out->rate);
    if (!out->vector || !out->inverse || !out->rate)
        return no_memory(n, err);
    if (even)
        HS_TRY(make_part(matrix, 0, even, out, err));
    if (n > even)
        HS_TRY(make_part(matrix, even, n - even, out, err));
    out->slow_stays = hs_axis_matrix_is_free(matrix);
    if (out->slow_stays)
        let_stay(out);
    return HS_OK;
}
