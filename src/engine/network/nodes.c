#include "engine/network/nodes.h"

#include "core/memory.h"

#include "engine/network/edges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void hs_nodes_init(struct hs_nodes *nodes, const struct hs_network_spec *spec,
                   const struct hs_axis *axis, const struct hs_cells *cells)
{
    *nodes = (struct hs_nodes){.walls_vary = false};
    hs_octants_init(&nodes->octants, spec, axis, cells);
    hs_shares_init(&nodes->shares, spec->body);
    hs_wall_scratch_init(&nodes->walls, spec->wall_count);
    nodes->same = hs_new((size_t)axis[HS_X].nodes);
}

void hs_nodes_release(struct hs_nodes *nodes)
{
    hs_octants_release(&nodes->octants);
    hs_shares_release(&nodes->shares);
    hs_wall_scratch_release(&nodes->walls);
    free(nodes->same);
}

/* Clears `same` where a label differs from that before it, both `ahead` of the node. */
static void compare(struct hs_nodes *nodes, int64_t j, int64_t k, int ahead)
{
    const uint16_t *label = hs_cells_row(nodes->octants.cells, j, k) + ahead;
    unsigned char *same = nodes->same;
    for (int64_t i = 2; i < nodes->octants.axis[HS_X].nodes - 1; i++)
        same[i] &= (label[i] == label[i - 1]) & (label[i] != HS_CELL_MIXED);
}

/* A control volume lies in the cells around its node. */
static void compare_cells(struct hs_nodes *nodes, int64_t j, int64_t k)
{
    for (int n = 0; n < 4; n++) {
        const int64_t y = hs_axis_cell(&nodes->octants.axis[HS_Y], j, n & 1);
        const int64_t z = hs_axis_cell(&nodes->octants.axis[HS_Z], k, n >> 1);
        for (int ahead = -1; ahead <= 0 && y >= 0 && z >= 0; ahead++)
            compare(nodes, y, z, ahead);
    }
}

/* Edges go to the nodes above. */
static void compare_nodes(struct hs_nodes *nodes, int64_t j, int64_t k)
{
    const int64_t y = hs_axis_next(&nodes->octants.axis[HS_Y], j);
    const int64_t z = hs_axis_next(&nodes->octants.axis[HS_Z], k);
    compare(nodes, j, k, 0);
    compare(nodes, j, k, 1);
    if (y >= 0)
        compare(nodes, y, k, 0);
    if (z >= 0)
        compare(nodes, j, z, 0);
}

void hs_nodes_begin_row(struct hs_nodes *nodes, int64_t j, int64_t k)
{
    const struct hs_octants *octants = &nodes->octants;
    const double *half = octants->axis[HS_X].half;
    const int64_t nx = octants->axis[HS_X].nodes;
    hs_octants_begin_row(&nodes->octants, j, k);
    nodes->walls_vary = hs_walls_vary_along_x(octants->spec, octants->axis, j, k);
    memset(nodes->same, 0, (size_t)nx);
    for (int64_t i = 2; i < nx - 1; i++)
        nodes->same[i] = half[i] == half[i - 1] && half[i - 1] == half[i - 2];
    if (octants->cells->place == HS_LABEL_CELLS)
        compare_cells(nodes, j, k);
    if (octants->cells->place == HS_LABEL_NODES)
        compare_nodes(nodes, j, k);
}

bool hs_nodes_repeats(const struct hs_nodes *nodes, int64_t i)
{
    const struct hs_body *body = nodes->octants.spec->body;
    return nodes->same[i] && !nodes->walls_vary && !body->conductivity && !body->capacity;
}

bool hs_nodes_repeats_shares(const struct hs_nodes *nodes, int64_t i)
{
    return nodes->same[i];
}

/* Capacity, sink and sources of what is in the control volume. False: too many time functions. */
static bool fill(const struct hs_nodes *nodes, struct hs_network_row *row,
                 struct hs_forcing *forcing)
{
    const struct hs_octants *octants = &nodes->octants;
    const struct hs_body *body = octants->spec->body;
    bool fits = true;
    for (int n = 0; n < nodes->shares.count; n++) {
        const struct hs_substance *substance = &body->substance[nodes->shares.share[n].substance];
        const double volume = nodes->shares.share[n].volume;
        const double sink = volume * substance->perfusion;
        row->capacity += volume * substance->capacity;
        row->sink += sink;
        if (sink != 0.0)
            fits = fits && hs_forcing_add(forcing, substance->reference, sink);
        if (substance->source >= 0)
            fits = fits && hs_forcing_add(forcing, substance->source, volume);
    }
    if (body->source >= 0)
        fits = fits && hs_forcing_add(forcing, body->source, nodes->shares.volume);
    if (body->capacity)
        row->capacity = nodes->shares.volume *
                        body->capacity[hs_grid_index(octants->spec->grid, octants->node)];
    return fits;
}

/* What its walls do to a node. False: too many time functions. */
static bool apply_walls(const struct hs_nodes *nodes, struct hs_network_row *row,
                        struct hs_forcing *forcing)
{
    const struct hs_octants *octants = &nodes->octants;
    const struct hs_wall *holding = hs_walls_holding(octants->spec, octants->axis, octants->node);
    if (!holding)
        return hs_walls_exchange(octants->spec, octants->axis, octants->node, &nodes->walls,
                                 &row->sink, forcing);
    row->kind = holding->kind == HS_WALL_PRESCRIBES ? HS_NODE_PRESCRIBED : HS_NODE_HELD;
    row->sink = 0.0; /* nothing else matters to it */
    forcing->count = 0;
    if (row->kind == HS_NODE_PRESCRIBED)
        hs_wall_prescribe(holding, octants->axis, octants->node, forcing);
    return true;
}

static bool are_finite(const struct hs_network_row *row, const struct hs_forcing *forcing)
{
    double sum = row->sink;
    for (int axis = 0; axis < HS_AXES; axis++)
        sum += row->conductance[axis];
    for (int n = 0; n < forcing->count; n++)
        sum += fabs(forcing->weight[n]);
    return isfinite(sum);
}

enum hs_node_fault hs_nodes_make(struct hs_nodes *nodes, int64_t i, struct hs_network_row *row,
                                 struct hs_forcing *forcing)
{
    bool empty = false;
    memset(row, 0, sizeof *row);
    memset(forcing, 0, sizeof *forcing);
    if (!hs_octants_find(&nodes->octants, i))
        return HS_NODE_IS_UNNAMED;
    hs_shares_find(&nodes->shares, &nodes->octants, &empty);
    for (int axis = 0; axis < HS_AXES; axis++)
        row->conductance[axis] = hs_edge(&nodes->octants, axis, &empty);
    if (empty)
        return HS_NODE_IS_EMPTY;
    if (!fill(nodes, row, forcing))
        return HS_NODE_HAS_TOO_MANY;
    if (!(row->capacity > 0.0 && isfinite(row->capacity)))
        return HS_NODE_OVERFLOWS;
    if (!apply_walls(nodes, row, forcing))
        return HS_NODE_HAS_TOO_MANY;
    hs_forcing_tidy(forcing);
    return are_finite(row, forcing) ? HS_NODE_IS_WELL : HS_NODE_OVERFLOWS;
}

enum hs_node_fault hs_nodes_share(struct hs_nodes *nodes, int64_t i)
{
    bool empty = false;
    if (!hs_octants_find(&nodes->octants, i))
        return HS_NODE_IS_UNNAMED;
    hs_shares_find(&nodes->shares, &nodes->octants, &empty);
    return empty ? HS_NODE_IS_EMPTY : HS_NODE_IS_WELL;
}
