#include "core/memory.h"
#include "engine/network/network.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 200 };
enum { LONGEST = 9 }; /* odd cycle that is looked at: longer ones are within 0.98 of even ones */
static const double near_enough = 0.95; /* of the two bounds */
static const double least = 1e-150;     /* of the vector: it stays positive, and so do squares */

/* What goes through all nodes. */
struct vectors {
    const struct hs_network *network;
    int threads;
    int64_t stride[HS_AXES];
    /* of a node by its place along each axis: their product is its factor in the quotient */
    double *sign[HS_AXES];
    /* of a line, what share of the sum of its edges bounds it; NULL along axes where it is 1 */
    double *share[HS_AXES];
    double *now, *next;    /* [nodes]; 0 at held nodes */
    double *moment, *mass; /* [rows of nodes]: their parts of the quotient */
};

/* Signs of a chequerboard; on a cycle of odd length the wave that comes nearest to them. */
static double sign_at(int64_t points, bool odd, int64_t i)
{
    if (odd)
        return cos(M_PI * (double)i * (double)(points - 1) / (double)points);
    return i % 2 ? -1.0 : 1.0;
}

static bool is_odd_cycle(const struct hs_network *network, int axis)
{
    return network->wrap[axis] && network->grid.points[axis] % 2 == 1;
}

static bool init(struct vectors *v, const struct hs_network *network, int threads)
{
    const struct hs_grid *grid = &network->grid;
    *v = (struct vectors){.network = network, .threads = threads};
    const size_t nodes = (size_t)hs_grid_count(grid);
    const size_t rows = nodes / (size_t)grid->points[HS_X];
    v->now = malloc(nodes * sizeof *v->now);
    v->next = malloc(nodes * sizeof *v->next);
    v->moment = hs_new(rows * sizeof *v->moment);
    v->mass = hs_new(rows * sizeof *v->mass);
    bool done = v->now && v->next;
    int64_t stride = 1;
    for (int a = 0; a < HS_AXES; a++) {
        const int64_t points = grid->points[a];
        const bool odd = is_odd_cycle(network, a);
        v->stride[a] = stride;
        stride *= points;
        v->sign[a] = hs_new((size_t)points * sizeof *v->sign[a]);
        const bool frustrated = odd && points <= LONGEST;
        v->share[a] = frustrated ? malloc(nodes / (size_t)points * sizeof *v->share[a]) : NULL;
        done = done && (v->share[a] || !frustrated);
        for (int64_t i = 0; i < points; i++)
            v->sign[a][i] = sign_at(points, odd, i);
    }
    return done;
}

static void release(struct vectors *v)
{
    for (int a = 0; a < HS_AXES; a++) {
        free(v->sign[a]);
        free(v->share[a]);
    }
    free(v->now);
    free(v->next);
    free(v->moment);
    free(v->mass);
}

/* Place of the node's line along an axis among all of them. */
static int64_t line_of(const struct vectors *v, int axis, int64_t node)
{
    const int64_t across = v->stride[axis] * v->network->grid.points[axis];
    return node % v->stride[axis] + node / across * v->stride[axis];
}

/* All nodes begin alike. */
static void begin(struct vectors *v)
{
    const int64_t nodes = hs_grid_count(&v->network->grid);
#pragma omp parallel for num_threads(v->threads) schedule(static)
    for (int64_t n = 0; n < nodes; n++)
        v->now[n] = hs_network_row_at(v->network, n)->kind == HS_NODE_FREE ? 1.0 : 0.0;
}

/* Whether a symmetric matrix is positive definite, by Cholesky's factors. It is spoilt. */
static bool is_positive(int n, double a[LONGEST][LONGEST])
{
    for (int i = 0; i < n; i++) {
        if (!(a[i][i] > 0.0))
            return false;
        for (int j = i + 1; j < n; j++)
            for (int k = j; k < n; k++)
                a[k][j] -= a[j][i] * a[k][i] / a[i][i];
    }
    return true;
}

/*
 * Of a cycle: the largest eigenvalue of its edges' matrix over what |A|v / v makes of them, which
 * would be 1 if its nodes were even in number. From above, to 1e-9.
 */
static double share_of_line(const struct vectors *v, int axis, int64_t first)
{
    const int n = (int)v->network->grid.points[axis];
    double g[LONGEST], bound[LONGEST] = {0.0};
    for (int i = 0; i < n; i++) {
        const int next = (i + 1) % n;
        const double one = v->now[first + i * v->stride[axis]];
        const double other = v->now[first + next * v->stride[axis]];
        if (one == 0.0) /* a held node: no cycle */
            return 1.0;
        g[i] = hs_network_row_at(v->network, first + i * v->stride[axis])->conductance[axis];
        bound[i] += g[i] * (1.0 + other / one);
        bound[next] += g[i] * (1.0 + one / other);
    }
    double low = 0.0, high = 1.0;
    while (high - low > 1e-9) {
        const double middle = 0.5 * (low + high);
        double a[LONGEST][LONGEST] = {{0.0}};
        for (int i = 0; i < n; i++) {
            const int next = (i + 1) % n;
            a[i][i] += middle * bound[i] - g[i];
            a[next][next] -= g[i];
            a[i][next] += g[i];
            a[next][i] += g[i];
        }
        *(is_positive(n, a) ? &high : &low) = middle;
    }
    return high;
}

static void find_shares(struct vectors *v)
{
    const int64_t nodes = hs_grid_count(&v->network->grid);
    for (int a = 0; a < HS_AXES; a++) {
        const int64_t lines = nodes / v->network->grid.points[a];
        if (!v->share[a])
            continue;
#pragma omp parallel for num_threads(v->threads) schedule(static)
        for (int64_t n = 0; n < lines; n++)
            v->share[a][n] = share_of_line(v, a,
                                           n % v->stride[a] + n / v->stride[a] * v->stride[a] *
                                                                  v->network->grid.points[a]);
    }
}

/* A neighbour of all nodes of a row, or of one of them. */
struct neighbour {
    int axis;
    bool above;
    int64_t away;  /* nodes */
    double factor; /* its sign over the node's */
};

/* Those along an axis of the node that is at place `i` of it. */
static int find_neighbours(const struct vectors *v, int axis, int64_t i, struct neighbour *out)
{
    const int64_t points = v->network->grid.points[axis];
    int count = 0;
    for (int side = 0; side < 2; side++) {
        const int64_t step = side ? 1 : -1;
        const bool beyond = i + step < 0 || i + step >= points;
        if (points == 1 || (beyond && !v->network->wrap[axis]))
            continue;
        const int64_t there = beyond ? i + step - step * points : i + step;
        out[count++] = (struct neighbour){axis, side == 1, (there - i) * v->stride[axis],
                                          v->sign[axis][there] / v->sign[axis][i]};
    }
    return count;
}

/* What the bound and the quotient gather at a node. */
struct sums {
    double bound, quotient;
};

static void add(const struct vectors *v, int64_t node, const struct hs_network_row *row, int count,
                const struct neighbour *neighbour, struct sums *sums)
{
    for (int n = 0; n < count; n++) {
        const int axis = neighbour[n].axis;
        const int64_t there = node + neighbour[n].away;
        const double conductance =
            (neighbour[n].above ? row : hs_network_row_at(v->network, there))->conductance[axis];
        const double share = v->share[axis] ? v->share[axis][line_of(v, axis, node)] : 1.0;
        sums->bound += share * conductance * (v->now[node] + v->now[there]);
        sums->quotient += conductance * (v->now[node] - neighbour[n].factor * v->now[there]);
    }
}

/* A row of nodes of the next vector, times `scale`. Returns the largest |A|v / v. */
static double advance_row(struct vectors *v, int64_t r, double scale)
{
    const int64_t nx = v->network->grid.points[HS_X], ny = v->network->grid.points[HS_Y];
    const double sign_of_row = v->sign[HS_Y][r % ny] * v->sign[HS_Z][r / ny];
    struct neighbour across[4], along[2];
    int others = find_neighbours(v, HS_Y, r % ny, across), along_x = 0;
    others += find_neighbours(v, HS_Z, r / ny, across + others);
    double largest = 0.0;
    v->moment[r] = v->mass[r] = 0.0;
    for (int64_t i = 0; i < nx; i++) {
        const int64_t node = r * nx + i;
        const struct hs_network_row *row = hs_network_row_at(v->network, node);
        const double now = v->now[node], sign = sign_of_row * v->sign[HS_X][i];
        if (i < 2 || i == nx - 1 || v->share[HS_X]) /* else as of the one before */
            along_x = find_neighbours(v, HS_X, i, along);
        v->next[node] = 0.0;
        if (row->kind != HS_NODE_FREE)
            continue;
        struct sums sums = {row->sink * now, row->sink * now};
        add(v, node, row, others, across, &sums);
        add(v, node, row, along_x, along, &sums);
        v->moment[r] += sign * sign * now * sums.quotient;
        v->mass[r] += sign * sign * now * now * row->capacity;
        largest = fmax(largest, sums.bound / (row->capacity * now));
        v->next[node] = fmax(scale * sums.bound / row->capacity, least);
    }
    return largest;
}

/* One power iteration. Bounds of the largest eigenvalue by the vector before it. */
static void advance(struct vectors *v, double scale, double *lower, double *upper)
{
    const struct hs_grid *grid = &v->network->grid;
    const int64_t rows = grid->points[HS_Y] * grid->points[HS_Z];
    double largest = 0.0, moment = 0.0, mass = 0.0;
    find_shares(v);
#pragma omp parallel for num_threads(v->threads) schedule(static) reduction(max : largest)
    for (int64_t r = 0; r < rows; r++)
        largest = fmax(largest, advance_row(v, r, scale));
    for (int64_t r = 0; r < rows; r++) { /* in one order, whatever the threads */
        moment += v->moment[r];
        mass += v->mass[r];
    }
    *upper = largest;
    *lower = mass > 0.0 ? moment / mass : 0.0;
    double *next = v->next;
    v->next = v->now;
    v->now = next;
}

enum hs_status hs_network_limit(const struct hs_network *network, int threads, double *step,
                                double *most, struct hs_error *err)
{
    struct vectors v;
    double lower = 0.0, upper = INFINITY, scale = 1.0;
    enum hs_status st = HS_OK;
    if (init(&v, network, threads)) {
        begin(&v);
        for (int n = 0; n < ITERATIONS && lower < near_enough * upper; n++) {
            double below, above;
            advance(&v, scale, &below, &above);
            lower = fmax(lower, below);
            upper = fmin(upper, above);
            scale = 1.0 / above;
        }
    } else
        st = hs_error_add(err, HS_DEVICE,
                          "no memory to find the stability limit; take a smaller "
                          "grid, or give time.step");
    release(&v);
    *step = 2.0 / upper; /* where nothing may change: infinite */
    *most = 2.0 / lower;
    return st;
}
