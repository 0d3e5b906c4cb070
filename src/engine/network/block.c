#include "engine/network/block.h"

#include "core/round.h"

#include <math.h>
#include <string.h>

enum { REACH = 4, SIDE = 2 * REACH + 1, NODES = SIDE * SIDE * SIDE };
enum { ITERATIONS = 10 };

struct block {
    const struct hs_network *network;
    int64_t lo[HS_AXES], n[HS_AXES]; /* where it lies */
    double now[NODES], next[NODES];  /* [n_z][n_y][n_x] */
};

/* Along a periodic axis one node is left out at least: so no edge joins its ends, and the signs of
 * a chequerboard make A of |A|. */
static void place(struct block *block, const int64_t at[HS_AXES])
{
    for (int axis = 0; axis < HS_AXES; axis++) {
        const int64_t points = block->network->grid.points[axis];
        const int64_t end = hs_smaller(at[axis] + REACH + 1, points);
        block->lo[axis] = hs_larger(at[axis] - REACH, 0);
        block->n[axis] = end - block->lo[axis];
        if (block->network->wrap[axis] && block->n[axis] == points && points > 1) {
            block->lo[axis] += at[axis] == points - 1;
            block->n[axis]--;
        }
    }
}

/* Of the place with this number in the block, in the whole. */
static int64_t node_of(const struct block *block, int64_t number, int64_t at[HS_AXES])
{
    const int64_t *points = block->network->grid.points;
    at[HS_X] = number % block->n[HS_X];
    at[HS_Y] = number / block->n[HS_X] % block->n[HS_Y];
    at[HS_Z] = number / block->n[HS_X] / block->n[HS_Y];
    return block->lo[HS_X] + at[HS_X] +
           points[HS_X] *
               (block->lo[HS_Y] + at[HS_Y] + points[HS_Y] * (block->lo[HS_Z] + at[HS_Z]));
}

/* The edge at one side of a node; 0: none. */
static double edge_at(const struct hs_network *network, int axis, int64_t node, int64_t place,
                      int side)
{
    const int64_t *points = network->grid.points;
    const int64_t stride = axis == HS_X   ? 1
                           : axis == HS_Y ? points[HS_X]
                                          : points[HS_X] * points[HS_Y];
    if (!side && place == 0 && !network->wrap[axis])
        return 0.0;
    const int64_t below = place == 0 ? node + (points[axis] - 1) * stride : node - stride;
    return hs_network_row_at(network, side ? node : below)->conductance[axis];
}

/* |A| v at a place. */
static double sum_at(const struct block *block, int64_t number)
{
    const int64_t stride[] = {1, block->n[HS_X], block->n[HS_X] * block->n[HS_Y]};
    int64_t at[HS_AXES];
    const int64_t node = node_of(block, number, at);
    double sum = hs_network_row_at(block->network, node)->sink * block->now[number];
    for (int axis = 0; axis < HS_AXES; axis++)
        for (int side = 0; side < 2 && block->network->grid.points[axis] > 1; side++) {
            const int64_t there = at[axis] + (side ? 1 : -1);
            const bool inside = there >= 0 && there < block->n[axis];
            const double beside =
                inside ? block->now[number + (side ? stride[axis] : -stride[axis])] : 0.0;
            sum += edge_at(block->network, axis, node, block->lo[axis] + at[axis], side) *
                   (block->now[number] + beside);
        }
    return sum;
}

/* One power iteration. The quotient of the vector before it. */
static double iterate(struct block *block, int64_t count)
{
    double moment = 0.0, mass = 0.0, largest = 0.0;
    int64_t at[HS_AXES];
    for (int64_t n = 0; n < count; n++) {
        const double now = block->now[n];
        const double capacity = hs_network_row_at(block->network, node_of(block, n, at))->capacity;
        block->next[n] = now > 0.0 ? sum_at(block, n) / capacity : 0.0;
        moment += now * block->next[n] * capacity;
        mass += now * now * capacity;
        largest = fmax(largest, block->next[n]);
    }
    for (int64_t n = 0; n < count; n++)
        block->now[n] = largest > 0.0 ? block->next[n] / largest : 0.0;
    return mass > 0.0 ? moment / mass : 0.0;
}

double hs_network_block_bound(const struct hs_network *network, const float *v, int64_t node)
{
    const int64_t *points = network->grid.points;
    const int64_t middle[] = {node % points[HS_X], node / points[HS_X] % points[HS_Y],
                              node / points[HS_X] / points[HS_Y]};
    struct block block = {.network = network};
    place(&block, middle);
    const int64_t count = block.n[HS_X] * block.n[HS_Y] * block.n[HS_Z];
    int64_t at[HS_AXES];
    double bound = 0.0, largest = 0.0;
    for (int64_t n = 0; n < count; n++)
        largest = fmax(largest, block.now[n] = (double)v[node_of(&block, n, at)]);
    for (int64_t n = 0; n < count && largest > 0.0; n++)
        block.now[n] /= largest;
    for (int n = 0; n < ITERATIONS; n++)
        bound = fmax(bound, iterate(&block, count));
    return bound;
}
