#include "engine/network/slowest.h"
#include "core/memory.h"

#include <math.h>
#include <stdlib.h>

static const double most_work = 1e9;    /* nodes times iterations */
static const double near_enough = 0.01; /* residual over Ritz value */
static const double sharp = 0.9;        /* least entry of A v, for A v = 1 */
enum { FEWEST = 8, MOST = 20000, INVERSE_ITERATIONS = 3 };

struct lanczos {
    const struct hs_network *network;
    int threads;
    int64_t nodes, rows, stride[HS_AXES];
    double *memory;               /* of these: */
    double *scale;                /* [nodes] C^-1/2; 0 at a node that is not free */
    double *before, *now, *image; /* [nodes] the last two vectors, and the matrix times one */
    double *solution, *toward;    /* [nodes] C^1/2 v, and its search direction */
    double *part;                 /* [rows] partial sums, added in one order */
    double constant;              /* length of the constant vector, C^1/2, where it is left out */
    double pivot, share;          /* of the last row: of L D L^T, and of the solution of L u = e1 */
    double diagonal[MOST], beside[MOST]; /* of the tridiagonal matrix */
    double work[2][MOST];
};

/* Its memory is NULL where that is short. */
static struct lanczos *create(const struct hs_network *network, int threads)
{
    const int64_t *points = network->grid.points;
    struct lanczos *l = hs_new(sizeof *l);
    double **const vectors[] = {&l->scale, &l->before,   &l->now,
                                &l->image, &l->solution, &l->toward};
    enum { VECTORS = sizeof vectors / sizeof *vectors };
    l->network = network;
    l->threads = threads;
    l->nodes = hs_grid_count(&network->grid);
    l->rows = points[HS_Y] * points[HS_Z];
    for (int axis = 0; axis < HS_AXES; axis++)
        l->stride[axis] = axis == 0 ? 1 : l->stride[axis - 1] * points[axis - 1];
    l->part = l->memory = malloc((size_t)(l->rows + VECTORS * l->nodes) * sizeof *l->memory);
    for (int n = 0; n < VECTORS && l->memory; n++)
        *vectors[n] = l->memory + l->rows + n * l->nodes;
    return l;
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* The sum of a times b over all nodes, or of a over b. */
static double sum_of(const struct lanczos *l, const double *a, bool over, const double *b)
{
    const int64_t nx = l->stride[HS_Y];
#pragma omp parallel for num_threads(l->threads) schedule(static)
    for (int64_t r = 0; r < l->rows; r++) {
        double sum = 0.0;
        for (int64_t n = r * nx; n < (r + 1) * nx; n++)
            sum += over ? a[n] / b[n] : a[n] * b[n];
        l->part[r] = sum;
    }
    double all = 0.0;
    for (int64_t r = 0; r < l->rows; r++)
        all += l->part[r];
    return all;
}

static double length_of(const struct lanczos *l, const double *a)
{
    return sqrt(sum_of(l, a, false, a));
}

/* to = factor * (to + a * x + b * y) */
static void combine(const struct lanczos *l, double *to, double factor, double a, const double *x,
                    double b, const double *y)
{
#pragma omp parallel for num_threads(l->threads) schedule(static)
    for (int64_t n = 0; n < l->nodes; n++)
        to[n] = factor * (to[n] + a * x[n] + b * y[n]);
}

/* Removes the constant mode, whose vector is C^1/2. */
static void leave_out_constant(const struct lanczos *l, double *of)
{
    if (l->constant == 0.0)
        return;
    const double share = sum_of(l, of, true, l->scale) / (l->constant * l->constant);
#pragma omp parallel for num_threads(l->threads) schedule(static)
    for (int64_t n = 0; n < l->nodes; n++)
        of[n] -= share / l->scale[n];
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* Heat that leaves a node at `at`, of temperature `u`, over its edges along an axis. */
static double leaves(const struct lanczos *l, int axis, int64_t at, int64_t node, double u)
{
    double sum = 0.0;
    for (int side = -1; side <= 1; side += 2) {
        const int64_t to = hs_next_node(l->network->grid.points[axis], l->network->wrap[axis], at,
                                        l->stride[axis], side, node);
        if (to < 0)
            continue;
        const struct hs_network_row *row = hs_network_row_at(l->network, side < 0 ? to : node);
        sum += row->conductance[axis] * (u - l->scale[to] * l->now[to]);
    }
    return sum;
}

/* image = C^-1/2 (L + g) C^-1/2 now */
static void apply(struct lanczos *l)
{
    const int64_t nx = l->network->grid.points[HS_X], ny = l->network->grid.points[HS_Y];
#pragma omp parallel for num_threads(l->threads) schedule(static)
    for (int64_t r = 0; r < l->rows; r++)
        for (int64_t i = 0; i < nx; i++) {
            const int64_t node = r * nx + i;
            const double u = l->scale[node] * l->now[node];
            double sum = hs_network_row_at(l->network, node)->sink * u;
            sum += leaves(l, HS_X, i, node, u);
            sum += leaves(l, HS_Y, r % ny, node, u);
            sum += leaves(l, HS_Z, r / ny, node, u);
            l->image[node] = l->scale[node] * sum;
        }
}

/* A number from 0.5 to 1.5 for each node. */
static double scatter(int64_t n)
{
    uint64_t bits = (uint64_t)n * 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 31) * 0xbf58476d1ce4e5b9u;
    return 0.5 + (double)(bits >> 11) * 0x1p-53;
}

/* Begins with positive temperatures, like those of the slowest mode: 1, the right-hand side of A v
 * = 1, or scattered ones where the constant is left out. False: no node is free. */
static bool begin(struct lanczos *l, bool free_mean)
{
#pragma omp parallel for num_threads(l->threads) schedule(static)
    for (int64_t n = 0; n < l->nodes; n++) {
        const struct hs_network_row *row = hs_network_row_at(l->network, n);
        const bool is_free = row->kind == HS_NODE_FREE;
        l->scale[n] = is_free ? 1.0 / sqrt(row->capacity) : 0.0;
        l->before[n] = 0.0;
        l->now[n] = is_free ? sqrt(row->capacity) * (free_mean ? scatter(n) : 1.0) : 0.0;
        l->solution[n] = 0.0;
        l->toward[n] = 0.0;
        l->image[n] = is_free ? sqrt(row->capacity) : 0.0;
    }
    l->constant = free_mean ? length_of(l, l->image) : 0.0;
    leave_out_constant(l, l->now);
    const double length = length_of(l, l->now);
    if (!(length > 0.0))
        return false;
    combine(l, l->now, 1.0 / length, 0.0, l->now, 0.0, l->now);
    l->pivot = 1.0;
    l->share = length;
    return true;
}

/* ---- the tridiagonal matrix ------------------------------------------------------------------ */

/* Factors of the first `count` rows less `value`; false if that exceeds the least eigenvalue. */
static bool factor(struct lanczos *l, int count, double value)
{
    double *pivot = l->work[0];
    for (int n = 0; n < count; n++) {
        pivot[n] = l->diagonal[n] - value;
        if (n > 0)
            pivot[n] -= l->beside[n - 1] * l->beside[n - 1] / pivot[n - 1];
        if (!(pivot[n] > 0.0))
            return false;
    }
    return true;
}

/* The least eigenvalue, approached from below, to 1e-12 of it. */
static double least_eigenvalue(struct lanczos *l, int count)
{
    double low = 0.0, high = l->diagonal[0];
    for (int n = 1; n < count; n++)
        high = fmin(high, l->diagonal[n]);
    while (high - low > 1e-12 * high) {
        const double middle = 0.5 * (low + high);
        *(factor(l, count, middle) ? &low : &high) = middle;
    }
    return low;
}

/* The last entry of its unit eigenvector, by inverse iteration. */
static double last_member(struct lanczos *l, int count, double eigenvalue)
{
    double *x = l->work[1];
    const double *pivot = l->work[0];
    if (!factor(l, count, eigenvalue))
        return 1.0;
    for (int n = 0; n < count; n++)
        x[n] = 1.0;
    for (int round = 0; round < INVERSE_ITERATIONS; round++) {
        for (int n = 1; n < count; n++)
            x[n] -= l->beside[n - 1] / pivot[n - 1] * x[n - 1];
        for (int n = count - 1; n >= 0; n--)
            x[n] = (x[n] - (n + 1 < count ? l->beside[n] * x[n + 1] : 0.0)) / pivot[n];
        double square = 0.0;
        for (int n = 0; n < count; n++)
            square = hypot(square, x[n]);
        for (int n = 0; n < count; n++)
            x[n] /= square;
    }
    return fabs(x[count - 1]);
}

/* ---------------------------------------------------------------------------------------------- */

/* Updates the solution with the newest vector, once the entries of that matrix row are known. */
static void solve(struct lanczos *l, int n)
{
    const double below = n > 0 ? l->beside[n - 1] / l->pivot : 0.0;
    l->pivot = l->diagonal[n] - (n > 0 ? below * l->beside[n - 1] : 0.0);
    l->share *= n > 0 ? -below : 1.0;
    const double step = l->share / l->pivot;
#pragma omp parallel for num_threads(l->threads) schedule(static)
    for (int64_t node = 0; node < l->nodes; node++) {
        l->toward[node] = l->now[node] - below * l->toward[node];
        l->solution[node] += step * l->toward[node];
    }
}

/* One iteration; false if the vectors span the whole space. */
static bool iterate(struct lanczos *l, int n)
{
    apply(l);
    l->diagonal[n] = sum_of(l, l->now, false, l->image);
    if (l->constant == 0.0)
        solve(l, n);
    combine(l, l->image, 1.0, -l->diagonal[n], l->now, n > 0 ? -l->beside[n - 1] : 0.0, l->before);
    leave_out_constant(l, l->image);
    l->beside[n] = length_of(l, l->image);
    if (!(l->beside[n] > 1e-13 * l->diagonal[n]))
        return false;
    double *next = l->image;
    l->image = l->before;
    l->before = l->now;
    l->now = next;
    combine(l, l->now, 1.0 / l->beside[n], 0.0, l->now, 0.0, l->now);
    return true;
}

/* max v / min (A v); NaN while A v is not about 1 everywhere. Overwrites the image. */
static double longest(struct lanczos *l)
{
    double *now = l->now, most = 0.0, least = INFINITY;
    l->now = l->solution;
    apply(l);
    l->now = now;
    for (int64_t n = 0; n < l->nodes; n++)
        if (l->scale[n] > 0.0) {
            most = fmax(most, l->scale[n] * l->solution[n]);
            least = fmin(least, l->scale[n] * l->image[n]);
        }
    return least > sharp ? most / least : NAN;
}

/* Iterates until the eigenvalue is found, and then up to as long again for the bound. */
static struct hs_network_slowest search(struct lanczos *l)
{
    struct hs_network_slowest found = {NAN, NAN};
    int most = (int)fmin(MOST, most_work / (double)l->nodes), check = FEWEST;
    for (int n = 0; n < most; n++) {
        const bool more = iterate(l, n);
        if (more && n + 1 < check && n + 1 < most)
            continue;
        const double value = least_eigenvalue(l, n + 1);
        if (!more || l->beside[n] * last_member(l, n + 1, value) < near_enough * value) {
            most = isnan(found.rate) ? (int)fmin(most, 2.0 * (n + 1)) : most;
            found.rate = value;
            found.longest = l->constant == 0.0 ? longest(l) : NAN;
        }
        if (!more || (!isnan(found.rate) && (l->constant > 0.0 || !isnan(found.longest))))
            break;
        check += check / 8;
    }
    return found;
}

struct hs_network_slowest hs_network_slowest(const struct hs_network *network, bool free_mean,
                                             int threads)
{
    struct hs_network_slowest found = {NAN, NAN};
    if ((double)hs_grid_count(&network->grid) * FEWEST >= most_work)
        return found;
    struct lanczos *l = create(network, threads);
    if (l->memory && begin(l, free_mean))
        found = search(l);
    free(l->memory);
    free(l);
    return found;
}
