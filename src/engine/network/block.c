#include "engine/network/block.h"

#include "core/round.h"

#include <math.h>
#include <string.h>

enum { REACH = 4 };
enum { ITERATIONS = 10 };
enum { CAPACITY = HS_AXES, SINK, V };

/* Along a periodic axis at least one node is left out. So no edge joins the block's ends, and
 * chequerboard signs turn |A| into A. */
static void place(struct hs_block *block, const struct hs_grid *grid, const bool wrap[HS_AXES],
                  int axis, int64_t at)
{
    const int64_t points = grid->points[axis];
    int64_t lo = hs_larger(at - REACH, 0), n = hs_smaller(at + REACH + 1, points) - lo;
    if (wrap[axis] && n == points && points > 1) {
        lo += at == points - 1;
        n--;
    }
    block->there[axis] = points > 1;
    block->n[axis] = n + 1;
    block->at[axis][0] = lo > 0 ? lo - 1 : wrap[axis] ? points - 1 : -1;
    for (int64_t i = 0; i < n; i++)
        block->at[axis][1 + i] = lo + i;
}

void hs_block_init(struct hs_block *block, const struct hs_grid *grid, const bool wrap[HS_AXES],
                   int64_t node)
{
    int64_t at[HS_AXES];
    hs_grid_node(grid, node, at);
    memset(block, 0, sizeof *block);
    for (int axis = 0; axis < HS_AXES; axis++)
        place(block, grid, wrap, axis, at[axis]);
}

static int64_t count_of(const struct hs_block *block)
{
    return block->n[HS_X] * block->n[HS_Y] * block->n[HS_Z];
}

void hs_block_add(struct hs_block *block, const struct hs_network *network, const float *v,
                  int64_t origin, int64_t first, int64_t end)
{
    const int64_t *points = network->grid.points;
    for (int64_t m = 0; m < count_of(block); m++) {
        const int64_t i = block->at[HS_X][m % block->n[HS_X]];
        const int64_t j = block->at[HS_Y][m / block->n[HS_X] % block->n[HS_Y]];
        const int64_t k = block->at[HS_Z][m / block->n[HS_X] / block->n[HS_Y]];
        const int64_t node = i + points[HS_X] * (j + points[HS_Y] * k);
        if (i < 0 || j < 0 || k < 0 || node < first || node >= end)
            continue;
        const struct hs_network_row *row = hs_network_row_at(network, node - origin);
        double *number = block->number[m];
        memcpy(number, row->conductance, sizeof row->conductance);
        number[CAPACITY] = row->capacity;
        number[SINK] = row->sink;
        number[V] = (double)v[node - origin];
    }
}

/* |A| v at a node, for v = now. */
static double sum_at(const struct hs_block *block, int64_t node, const double *now)
{
    const int64_t stride[] = {1, block->n[HS_X], block->n[HS_X] * block->n[HS_Y]};
    double sum = block->number[node][SINK] * now[node];
    for (int axis = 0; axis < HS_AXES; axis++) {
        if (!block->there[axis])
            continue;
        const bool last = node / stride[axis] % block->n[axis] == block->n[axis] - 1;
        sum += block->number[node - stride[axis]][axis] * (now[node] + now[node - stride[axis]]);
        sum += block->number[node][axis] * (now[node] + (last ? 0.0 : now[node + stride[axis]]));
    }
    return sum;
}

/* Whether the node belongs to the block, not only its edge. */
static bool is_inside(const struct hs_block *block, int64_t m)
{
    return m % block->n[HS_X] > 0 && m / block->n[HS_X] % block->n[HS_Y] > 0 &&
           m / block->n[HS_X] / block->n[HS_Y] > 0;
}

/* One power iteration. Returns the quotient of the vector before it. */
static double iterate(const struct hs_block *block, double *now, double *next)
{
    double moment = 0.0, mass = 0.0, largest = 0.0;
    for (int64_t m = 0; m < count_of(block); m++) {
        const double capacity = block->number[m][CAPACITY];
        next[m] = now[m] > 0.0 ? sum_at(block, m, now) / capacity : 0.0;
        moment += now[m] * next[m] * capacity;
        mass += now[m] * now[m] * capacity;
        largest = fmax(largest, next[m]);
    }
    for (int64_t m = 0; m < count_of(block); m++)
        now[m] = largest > 0.0 ? next[m] / largest : 0.0;
    return mass > 0.0 ? moment / mass : 0.0;
}

double hs_block_bound(const struct hs_block *block)
{
    double now[HS_BLOCK_NODES] = {0.0}, next[HS_BLOCK_NODES];
    double bound = 0.0, largest = 0.0;
    for (int64_t m = 0; m < count_of(block); m++) {
        now[m] = is_inside(block, m) ? block->number[m][V] : 0.0;
        largest = fmax(largest, now[m]);
    }
    for (int64_t m = 0; m < count_of(block) && largest > 0.0; m++)
        now[m] /= largest;
    for (int n = 0; n < ITERATIONS; n++)
        bound = fmax(bound, iterate(block, now, next));
    return bound;
}
