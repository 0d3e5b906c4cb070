#include "core/memory.h"
#include "core/round.h"
#include "engine/network/block.h"
#include "engine/network/network.h"
#include "engine/ranks/together.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 200 };
enum { LONGEST_PIECE = 1024 };
static const double near_enough = 0.95; /* lower bound over upper bound */
static const double falling = 0.999;    /* over the upper bound before: if less, it still falls */
static const double least = 1e-30;      /* entry of the vector: it stays positive */

/* What a thread computes for a piece of a row of nodes. */
struct piece {
    int64_t first, count;       /* index of its first node in arrays, */
    int64_t at[HS_AXES];        /* and its place on the grid */
    double free[LONGEST_PIECE]; /* 1 at free nodes, else 0 */
    double capacity[LONGEST_PIECE];
    double bound[LONGEST_PIECE], quotient[LONGEST_PIECE]; /* sums: |A| v, and the quotient's */
    /* of the neighbours at one side */
    double edge[LONGEST_PIECE], share[LONGEST_PIECE], factor[LONGEST_PIECE];
};

/* Results of a piece: parts of the quotient, the largest |A|v / v, the next vector's largest. */
struct sums {
    double moment, mass, largest, peak;
};

/* Vectors over all nodes; with several ranks each has those of its portion. */
struct vectors {
    const struct hs_network *network;
    struct hs_portion mine; /* of the nodes */
    int64_t nodes;          /* in the portion */
    int threads;
    int64_t stride[HS_AXES];
    /* by a node's place along each axis: their product is the node's factor in the quotient */
    double *sign[HS_AXES];
    double *factor[HS_AXES][2]; /* sign of the next node at each side, over the node's own */
    /* by line: share of the sum of its edges that bounds it; NULL along axes where it is 1 */
    double *share[HS_AXES];
    /* [beside + nodes + beside]; 0 at held nodes. Any positive v gives a bound, so float is enough.
     * Before and after the portion's nodes lie those of its neighbours */
    float *now, *next;
    int64_t pieces_of_row, pieces;
    struct sums *sums;   /* [pieces] */
    struct piece *piece; /* [threads] */
};

/* Chequerboard signs; on a cycle of odd length the wave that comes nearest to them. */
static double sign_at(int64_t points, bool odd, int64_t i)
{
    if (odd)
        return cos(M_PI * (double)i * (double)(points - 1) / (double)points);
    return i % 2 ? -1.0 : 1.0;
}

/* The place beyond `place` at one side of an axis; -1: there is none. */
static int64_t beyond(const struct hs_network *network, int axis, int64_t place, int side)
{
    return hs_next_node(network->grid.points[axis], network->wrap[axis], place, 1, side ? 1 : -1,
                        place);
}

/* Sets the signs along an axis, and each neighbour's over the node's own. */
static void init_signs(struct vectors *v, int axis, bool odd)
{
    const int64_t points = v->network->grid.points[axis];
    v->sign[axis] = hs_new(3 * (size_t)points * sizeof *v->sign[axis]);
    for (int64_t i = 0; i < points; i++)
        v->sign[axis][i] = sign_at(points, odd, i);
    for (int side = 0; side < 2; side++) {
        double *factor = v->factor[axis][side] = v->sign[axis] + (1 + side) * points;
        for (int64_t i = 0; i < points; i++) {
            const int64_t there = beyond(v->network, axis, i, side);
            factor[i] = there < 0 ? 0.0 : v->sign[axis][there] / v->sign[axis][i];
        }
    }
}

static bool init(struct vectors *v, const struct hs_network *network,
                 const struct hs_portion *portion, int threads)
{
    const struct hs_grid *grid = &network->grid;
    *v = (struct vectors){.network = network, .mine = *portion, .threads = threads};
    v->nodes = hs_portion_nodes(portion, grid);
    const size_t nodes = (size_t)(portion->beside + v->nodes + portion->beside);
    v->pieces_of_row = hs_divide_up(grid->points[HS_X], LONGEST_PIECE);
    v->pieces = v->pieces_of_row * (portion->end_row - portion->row);
    v->now = malloc(nodes * sizeof *v->now);
    v->next = malloc(nodes * sizeof *v->next);
    v->sums = hs_new((size_t)v->pieces * sizeof *v->sums + 1);
    v->piece = hs_new((size_t)threads * sizeof *v->piece);
    bool done = v->now && v->next;
    int64_t stride = 1;
    for (int a = 0; a < HS_AXES; a++) {
        const int64_t points = grid->points[a];
        const bool odd = network->wrap[a] && points % 2 == 1; /* a cycle */
        v->stride[a] = stride;
        stride *= points;
        init_signs(v, a, odd);
        const bool frustrated = odd && points <= HS_NETWORK_SHORT_CYCLE;
        v->share[a] = frustrated ? malloc(nodes / (size_t)points * sizeof *v->share[a]) : NULL;
        done = done && (v->share[a] || !frustrated);
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
    free(v->sums);
    free(v->piece);
}

/* All free nodes begin alike. */
static void begin(struct vectors *v)
{
    const int64_t first = v->mine.beside, end = first + v->nodes;
#pragma omp parallel for num_threads(v->threads) schedule(static)
    for (int64_t n = first; n < end; n++)
        v->now[n] = hs_network_row_at(v->network, n)->kind == HS_NODE_FREE ? 1.0f : 0.0f;
}

/* Whether a symmetric matrix is positive definite, by Cholesky factorisation; overwrites it. */
static bool is_positive(int n, double a[HS_NETWORK_SHORT_CYCLE][HS_NETWORK_SHORT_CYCLE])
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
 * For a cycle: the largest eigenvalue of its edges' matrix, over the bound that |A|v / v gives for
 * it. The ratio would be 1 for an even number of nodes. From above, to 1e-9.
 */
static double share_of_line(const struct vectors *v, int axis, int64_t first)
{
    const int n = (int)v->network->grid.points[axis];
    double g[HS_NETWORK_SHORT_CYCLE], bound[HS_NETWORK_SHORT_CYCLE] = {0.0};
    for (int i = 0; i < n; i++) {
        const int next = (i + 1) % n;
        const double one = (double)v->now[first + i * v->stride[axis]];
        const double other = (double)v->now[first + next * v->stride[axis]];
        if (one == 0.0) /* a held node: no cycle */
            return 1.0;
        g[i] = hs_network_row_at(v->network, first + i * v->stride[axis])->conductance[axis];
        bound[i] += g[i] * (1.0 + other / one);
        bound[next] += g[i] * (1.0 + one / other);
    }
    double low = 0.0, high = 1.0;
    while (high - low > 1e-9) {
        const double middle = 0.5 * (low + high);
        double a[HS_NETWORK_SHORT_CYCLE][HS_NETWORK_SHORT_CYCLE] = {{0.0}};
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
    for (int a = 0; a < HS_AXES; a++) {
        const int64_t points = v->network->grid.points[a];
        const int64_t first = v->mine.beside / points, end = first + v->nodes / points;
        if (!v->share[a])
            continue;
#pragma omp parallel for num_threads(v->threads) schedule(static)
        for (int64_t n = first; n < end; n++)
            v->share[a][n] =
                share_of_line(v, a, n % v->stride[a] + n / v->stride[a] * v->stride[a] * points);
    }
}

/* ---- a piece of a row ------------------------------------------------------------------------ */

/* Adds the edges to the neighbours `there`; `factor` is their sign over that of the nodes. */
static void add(struct piece *piece, int64_t count, const float *now, const float *there,
                const double *edge, int64_t from)
{
    const double *share = piece->share + from, *factor = piece->factor + from;
    double *bound = piece->bound + from, *quotient = piece->quotient + from;
#pragma omp simd
    for (int64_t i = 0; i < count; i++) {
        const double one = (double)now[i], other = (double)there[i];
        bound[i] += share[i] * edge[i] * (one + other);
        quotient[i] += edge[i] * (one - factor[i] * other);
    }
}

/* The conductances upwards along an axis, of consecutive nodes of a row. */
static void look_up_edges(const struct hs_network *network, int64_t first, int64_t count, int axis,
                          double *edge)
{
    const struct hs_network_row *node = network->node, *of = network->row;
    const uint8_t *byte = network->number;
    const uint16_t *two = network->number;
    switch (network->form) {
    case HS_NETWORK_BYTES:
        for (int64_t i = 0; i < count; i++)
            edge[i] = of[byte[first + i]].conductance[axis];
        break;
    case HS_NETWORK_SHORTS:
        for (int64_t i = 0; i < count; i++)
            edge[i] = of[two[first + i]].conductance[axis];
        break;
    case HS_NETWORK_ARRAYS:
        for (int64_t i = 0; i < count; i++)
            edge[i] = node[first + i].conductance[axis];
    }
}

/* Layers to a neighbour in arrays. In a portion, the neighbour across the end of a periodic axis
 * lies right beside it. */
static int64_t steps_to(const struct vectors *v, int axis, int64_t steps, int side)
{
    if (v->mine.ranks > 1 && axis == v->network->grid.dims - 1)
        return side ? 1 : -1;
    return steps;
}

/* Neighbours in other rows: at the same distance for all nodes of the piece. */
static void add_across(const struct vectors *v, struct piece *piece, int axis)
{
    const int64_t place = piece->at[axis], nx = v->network->grid.points[HS_X];
    const int64_t lines = piece->at[HS_X] + piece->at[axis == HS_Y ? HS_Z : HS_Y] * nx;
    for (int64_t i = 0; i < piece->count; i++)
        piece->share[i] = v->share[axis] ? v->share[axis][lines + i] : 1.0;
    for (int side = 0; side < 2; side++) {
        const int64_t next = beyond(v->network, axis, place, side);
        if (next < 0)
            continue;
        const int64_t there =
            piece->first + v->stride[axis] * steps_to(v, axis, next - place, side);
        look_up_edges(v->network, side ? piece->first : there, piece->count, axis, piece->edge);
        for (int64_t i = 0; i < piece->count; i++)
            piece->factor[i] = v->factor[axis][side][place];
        add(piece, piece->count, v->now + piece->first, v->now + there, piece->edge, 0);
    }
}

/* Neighbours in the row itself: adjacent, except across the ends of a periodic one. An edge is
 * stored with its lower node. */
static void add_along(const struct vectors *v, struct piece *piece)
{
    const int64_t count = piece->count, x = piece->at[HS_X], row = piece->first - x;
    const double share = v->share[HS_X] ? v->share[HS_X][row / v->stride[HS_Y]] : 1.0;
    const float *now = v->now + piece->first;
    for (int64_t i = 0; i < count; i++)
        piece->share[i] = share;
    for (int side = 0; side < 2; side++) {
        const int64_t end = side ? count - 1 : 0; /* its node may have none, or one far away */
        const int64_t next = beyond(v->network, HS_X, x + end, side);
        const bool beside = next >= 0 && next == x + end + (side ? 1 : -1);
        const int64_t from = side || beside ? 0 : 1, step = side ? 1 : -1;
        look_up_edges(v->network, piece->first + from - !side, count - !beside, HS_X, piece->edge);
        memcpy(piece->factor, v->factor[HS_X][side] + x, (size_t)count * sizeof *piece->factor);
        add(piece, count - !beside, now + from, now + from + step, piece->edge, from);
        if (next >= 0 && !beside) {
            look_up_edges(v->network, side ? piece->first + end : row + next, 1, HS_X, piece->edge);
            add(piece, 1, now + end, v->now + row + next, piece->edge, end);
        }
    }
}

/* The nodes' own terms. */
static void begin_piece(const struct vectors *v, struct piece *piece, int64_t number)
{
    const int64_t nx = v->network->grid.points[HS_X], ny = v->network->grid.points[HS_Y];
    const int64_t row = number / v->pieces_of_row, there = v->mine.row + row;
    piece->at[HS_X] = number % v->pieces_of_row * LONGEST_PIECE;
    piece->at[HS_Y] = there % ny;
    piece->at[HS_Z] = there / ny;
    piece->first = v->mine.beside + row * nx + piece->at[HS_X];
    piece->count = hs_smaller(LONGEST_PIECE, nx - piece->at[HS_X]);
    for (int64_t i = 0; i < piece->count; i++) {
        const struct hs_network_row *of = hs_network_row_at(v->network, piece->first + i);
        piece->free[i] = of->kind == HS_NODE_FREE ? 1.0 : 0.0;
        piece->capacity[i] = of->capacity;
        piece->bound[i] = piece->quotient[i] = of->sink * (double)v->now[piece->first + i];
    }
}

/* The next vector, times `scale`; 0 at held nodes. */
static void finish_piece(const struct vectors *v, const struct piece *piece, double scale,
                         struct sums *sums)
{
    const double *free = piece->free, *bound = piece->bound, *capacity = piece->capacity;
    const float *now = v->now + piece->first;
    float *next = v->next + piece->first;
    double largest = 0.0, peak = 0.0;
#pragma omp simd reduction(max : largest, peak)
    for (int64_t i = 0; i < piece->count; i++) {
        const double sum = free[i] * bound[i], held = 1.0 - free[i];
        const double each = sum / (capacity[i] * (double)now[i] + held);
        const double then = scale * sum / capacity[i];
        const double kept = free[i] * (then > least ? then : least);
        largest = each > largest ? each : largest;
        peak = kept > peak ? kept : peak;
        next[i] = (float)kept;
    }
    sums->largest = largest;
    sums->peak = peak;
}

static void add_quotient(const struct vectors *v, const struct piece *piece, struct sums *sums)
{
    const double *quotient = piece->quotient, *capacity = piece->capacity;
    const double *along = v->sign[HS_X] + piece->at[HS_X];
    const double across = v->sign[HS_Y][piece->at[HS_Y]] * v->sign[HS_Z][piece->at[HS_Z]];
    const float *now = v->now + piece->first;
    double moment = 0.0, mass = 0.0;
    for (int64_t i = 0; i < piece->count; i++) {
        const double sign = across * along[i], one = (double)now[i];
        moment += sign * sign * one * quotient[i];
        mass += sign * sign * one * one * capacity[i];
    }
    sums->moment = moment;
    sums->mass = mass;
}

static void advance_piece(struct vectors *v, struct piece *piece, int64_t number, double scale)
{
    struct sums *sums = &v->sums[number];
    begin_piece(v, piece, number);
    add_across(v, piece, HS_Y);
    add_across(v, piece, HS_Z);
    add_along(v, piece);
    add_quotient(v, piece, sums);
    finish_piece(v, piece, scale, sums);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* A rank's part of what an iteration finds. */
struct found {
    double largest, peak;
    int64_t node; /* of the peak */
};

/* Number of the node that comes first in arrays. */
static int64_t origin_of(const struct vectors *v)
{
    return v->mine.row * v->network->grid.points[HS_X] - v->mine.beside;
}

/* The node of a piece where the next vector is largest. */
static int64_t find_peak(const struct vectors *v, int64_t number)
{
    const int64_t nx = v->network->grid.points[HS_X];
    const int64_t x = number % v->pieces_of_row * LONGEST_PIECE;
    const int64_t count = hs_smaller(LONGEST_PIECE, nx - x);
    const int64_t first = v->mine.beside + number / v->pieces_of_row * nx + x;
    const float *next = v->next + first;
    int64_t at = 0;
    for (int64_t i = 1; i < count; i++)
        at = next[i] > next[at] ? i : at;
    return origin_of(v) + first + at;
}

/* Joins the results of all pieces and ranks; the first rank that has the peak says where it is. */
static struct found find(const struct vectors *v)
{
    struct found found = {.node = -1};
    int64_t peak = 0;
    for (int64_t n = 0; n < v->pieces; n++) {
        found.largest = fmax(found.largest, v->sums[n].largest);
        peak = v->sums[n].peak > v->sums[peak].peak ? n : peak;
    }
    if (v->pieces > 0) {
        found.peak = v->sums[peak].peak;
        found.node = find_peak(v, peak);
    }
    if (v->mine.ranks < 2)
        return found;
    size_t *bytes;
    struct found *all = hs_ranks_gather(&found, sizeof found, &bytes);
    found = all[0];
    for (int rank = 1; rank < v->mine.ranks; rank++) {
        found.largest = fmax(found.largest, all[rank].largest);
        if (all[rank].peak > found.peak) {
            found.peak = all[rank].peak;
            found.node = all[rank].node;
        }
    }
    free(bytes);
    free(all);
    return found;
}

/* The quotient over all nodes: summed by part, then over parts, for any ranks and threads. */
static double find_quotient(const struct vectors *v)
{
    double sum[HS_PARTS_OF_ROWS][2] = {{0.0}}, moment = 0.0, mass = 0.0;
    for (int p = v->mine.part; p < v->mine.end_part; p++) {
        const int64_t row = hs_portion_part(&v->network->grid, p) - v->mine.row;
        const int64_t end = hs_portion_part(&v->network->grid, p + 1) - v->mine.row;
        for (int64_t n = row * v->pieces_of_row; n < end * v->pieces_of_row; n++) {
            sum[p][0] += v->sums[n].moment;
            sum[p][1] += v->sums[n].mass;
        }
    }
    if (v->mine.ranks > 1)
        hs_ranks_add(sum[0], 2 * HS_PARTS_OF_ROWS);
    for (int p = 0; p < HS_PARTS_OF_ROWS; p++) {
        moment += sum[p][0];
        mass += sum[p][1];
    }
    return mass > 0.0 ? moment / mass : 0.0;
}

/* A lower bound from the nodes around the peak. */
static double find_block(const struct vectors *v, int64_t node)
{
    const int64_t first = origin_of(v) + v->mine.beside;
    struct hs_block *block = hs_new(sizeof *block);
    hs_block_init(block, &v->network->grid, v->network->wrap, node);
    hs_block_add(block, v->network, v->next, origin_of(v), first, first + v->nodes);
    if (v->mine.ranks > 1)
        hs_ranks_add(block->number[0], sizeof block->number / sizeof(double));
    const double bound = hs_block_bound(block);
    free(block);
    return bound;
}

/* One power iteration, and bounds of the largest eigenvalue from the vector before it. */
static void advance(struct vectors *v, double scale, double *lower, double *upper)
{
    if (v->mine.ranks > 1)
        hs_ranks_beside(v->mine.ranks, v->now, (size_t)v->mine.beside * sizeof *v->now,
                        (size_t)v->nodes * sizeof *v->now);
    find_shares(v);
#pragma omp parallel for num_threads(v->threads) schedule(static)
    for (int64_t n = 0; n < v->pieces; n++)
        advance_piece(v, &v->piece[omp_get_thread_num()], n, scale);
    const struct found found = find(v);
    *upper = found.largest;
    *lower = fmax(find_quotient(v), find_block(v, found.node));
    float *next = v->next;
    v->next = v->now;
    v->now = next;
}

enum hs_status hs_network_limit(const struct hs_network *network, const struct hs_portion *portion,
                                int threads, double *step, double *most, struct hs_error *err)
{
    struct vectors v;
    double lower = 0.0, upper = INFINITY, scale = 1.0;
    enum hs_status st = init(&v, network, portion, threads)
                            ? HS_OK
                            : hs_error_add(err, HS_DEVICE,
                                           "no memory to find the stability limit; take a smaller "
                                           "grid, or give time.step");
    if (portion->ranks > 1)
        st = hs_ranks_agree(st, err);
    if (!st) {
        begin(&v);
        bool settled = false;
        for (int n = 0; n < ITERATIONS && !settled; n++) {
            double below, above;
            advance(&v, scale, &below, &above);
            const bool falls = above < falling * upper;
            lower = fmax(lower, below);
            upper = fmin(upper, above);
            settled = !falls && lower >= near_enough * upper;
            scale = 1.0 / above;
        }
    }
    release(&v);
    *step = 2.0 / upper;              /* infinite if all nodes are held */
    *most = 2.0 / fmin(lower, upper); /* the two may cross by rounding */
    return st;
}
