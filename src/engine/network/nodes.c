#include "engine/network/nodes.h"

#include "core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- labels around a node -------------------------------------------------------------------- */

static void add_around(struct hs_nodes *nodes, int64_t j, int64_t k, int ahead)
{
    if (j >= 0 && k >= 0)
        nodes->around[nodes->around_count++] = hs_cells_row(nodes->octants.cells, j, k) + ahead;
}

/* Labels of cells: those around the node. Labels of nodes: also the next ones, for the edges. */
static void find_around(struct hs_nodes *nodes, int64_t j, int64_t k)
{
    const struct hs_octants *octants = &nodes->octants;
    nodes->around_count = 0;
    switch (octants->cells->place) {
    case HS_LABEL_CELLS:
        for (int n = 0; n < 8; n++)
            if (octants->label[n >> 1])
                nodes->around[nodes->around_count++] = octants->label[n >> 1] - (n & 1);
        break;
    case HS_LABEL_NODES:
        add_around(nodes, j, k, 0);
        add_around(nodes, j, k, 1);
        add_around(nodes, hs_axis_next(&octants->axis[HS_Y], j), k, 0);
        add_around(nodes, j, hs_axis_next(&octants->axis[HS_Z], k), 0);
        break;
    case HS_LABEL_NONE: break;
    }
}

/* Finds nodes with the labels and widths of the node before, where no surface crosses. */
static void find_same(struct hs_nodes *nodes)
{
    const double *half = nodes->octants.axis[HS_X].half;
    const int64_t nx = nodes->octants.axis[HS_X].nodes;
    unsigned char *same = nodes->same;
    memset(same, 0, (size_t)nx);
    for (int64_t i = 2; i < nx - 1; i++)
        same[i] = half[i] == half[i - 1] && half[i - 1] == half[i - 2];
    for (int n = 0; n < nodes->around_count; n++) {
        const uint16_t *label = nodes->around[n];
        for (int64_t i = 2; i < nx - 1; i++)
            same[i] &= (label[i] == label[i - 1]) & (label[i] != HS_CELL_MIXED);
    }
}

/* ---- rows known by labels -------------------------------------------------------------------- */

enum { KNOWN = 1 << 14 };

struct hs_known_row {
    int64_t turn; /* when it was noted */
    uint16_t label[HS_AROUND_MOST];
    struct hs_network_row row;
};

static bool is_inside(const struct hs_axis *axis, int64_t place)
{
    return !axis->there || (place > 0 && place < axis->nodes - 1);
}

/* Forgets known rows if the widths are different. */
static void begin_known(struct hs_nodes *nodes, int64_t j, int64_t k)
{
    const struct hs_axis *axis = nodes->octants.axis;
    nodes->inside = is_inside(&axis[HS_Y], j) && is_inside(&axis[HS_Z], k);
    if (!nodes->inside)
        return;
    const double width[] = {axis[HS_X].half[0], axis[HS_Y].half[j > 0 ? j - 1 : 0],
                            axis[HS_Y].half[j], axis[HS_Z].half[k > 0 ? k - 1 : 0],
                            axis[HS_Z].half[k]};
    nodes->turn += memcmp(width, nodes->width, sizeof width) != 0;
    memcpy(nodes->width, width, sizeof width);
}

/* The place of node i's row, and the labels around it; NULL if they do not determine the row. */
static struct hs_known_row *find_known(const struct hs_nodes *nodes, int64_t i,
                                       uint16_t label[HS_AROUND_MOST])
{
    const struct hs_axis *x = &nodes->octants.axis[HS_X];
    if (!nodes->inside || !is_inside(x, i) || x->half[i] != nodes->width[0] ||
        x->half[i - 1] != nodes->width[0] || nodes->around_count == 0 || nodes->measured)
        return NULL;
    uint64_t sum = 0;
    memset(label, 0, HS_AROUND_MOST * sizeof *label);
    for (int n = 0; n < nodes->around_count; n++) {
        label[n] = nodes->around[n][i];
        if (label[n] == HS_CELL_MIXED)
            return NULL;
        sum = (sum ^ label[n]) * 0x9e3779b97f4a7c15u;
    }
    return &nodes->known[sum >> 32 & (KNOWN - 1)];
}

bool hs_nodes_know(struct hs_nodes *nodes, int64_t i, struct hs_network_row *row)
{
    uint16_t label[HS_AROUND_MOST];
    const struct hs_known_row *known = find_known(nodes, i, label);
    if (!known || known->turn != nodes->turn || memcmp(known->label, label, sizeof label) != 0)
        return false;
    *row = known->row;
    return true;
}

void hs_nodes_note(struct hs_nodes *nodes, int64_t i, const struct hs_network_row *row)
{
    uint16_t label[HS_AROUND_MOST];
    struct hs_known_row *known = find_known(nodes, i, label);
    if (!known)
        return;
    known->turn = nodes->turn;
    known->row = *row;
    memcpy(known->label, label, sizeof label);
}

/* ---------------------------------------------------------------------------------------------- */

void hs_nodes_init(struct hs_nodes *nodes, const struct hs_network_spec *spec,
                   const struct hs_axis *axis, const struct hs_cells *cells)
{
    *nodes = (struct hs_nodes){.measured = hs_is_measured(&spec->body->conductivity) ||
                                           hs_is_measured(&spec->body->capacity)};
    hs_octants_init(&nodes->octants, spec, axis, cells);
    hs_shares_init(&nodes->shares, spec->body);
    hs_walls_init(&nodes->walls, spec, axis);
    nodes->same = hs_new((size_t)axis[HS_X].nodes);
    nodes->known = hs_new(KNOWN * sizeof *nodes->known);
}

void hs_nodes_release(struct hs_nodes *nodes)
{
    hs_octants_release(&nodes->octants);
    hs_shares_release(&nodes->shares);
    hs_walls_release(&nodes->walls);
    free(nodes->same);
    free(nodes->known);
}

void hs_nodes_begin_row(struct hs_nodes *nodes, int64_t j, int64_t k)
{
    hs_octants_begin_row(&nodes->octants, j, k);
    nodes->walls_vary = hs_walls_vary_along_x(&nodes->walls, j, k);
    find_around(nodes, j, k);
    find_same(nodes);
    begin_known(nodes, j, k);
}

bool hs_nodes_repeats(const struct hs_nodes *nodes, int64_t i)
{
    return nodes->same[i] && !nodes->walls_vary && !nodes->measured;
}

enum hs_node_fault hs_nodes_share(struct hs_nodes *nodes, int64_t i)
{
    bool empty = false;
    if (!hs_octants_find(&nodes->octants, i))
        return HS_NODE_IS_UNNAMED;
    hs_shares_find(&nodes->shares, &nodes->octants, &empty);
    return empty ? HS_NODE_IS_EMPTY : HS_NODE_IS_WELL;
}

static void clear(struct hs_forcing *forcing)
{
    forcing->inflow.count = forcing->sink.count = 0;
    forcing->steady_sink = 0.0;
}

/* Equal forcings get equal bytes. */
static void tidy(struct hs_forcing *forcing)
{
    hs_terms_tidy(&forcing->inflow);
    hs_terms_tidy(&forcing->sink);
    if (forcing->sink.count == 0)
        forcing->steady_sink = 0.0;
}

/* Adds capacity, sink and sources of the control volume. False: too many time functions. */
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
        forcing->steady_sink += sink;
        if (sink != 0.0)
            fits = fits && hs_terms_add(&forcing->inflow, substance->reference, sink);
        if (substance->source >= 0)
            fits = fits && hs_terms_add(&forcing->inflow, substance->source, volume);
    }
    if (body->source >= 0)
        fits = fits && hs_terms_add(&forcing->inflow, body->source, nodes->shares.volume);
    if (hs_is_measured(&body->capacity))
        row->capacity =
            nodes->shares.volume * *hs_cells_measured(octants->cells, HS_CAPACITY, octants->node);
    return fits;
}

/* Applies its walls to a node. False: too many time functions. */
static bool apply_walls(const struct hs_nodes *nodes, struct hs_network_row *row,
                        struct hs_forcing *forcing)
{
    const int64_t *node = nodes->octants.node;
    if (nodes->inside && is_inside(&nodes->octants.axis[HS_X], node[HS_X]))
        return true;
    const struct hs_wall *holding = hs_walls_holding(&nodes->walls, node);
    if (!holding)
        return hs_walls_exchange(&nodes->walls, node, &row->sink, forcing);
    row->kind = holding->kind == HS_WALL_PRESCRIBES ? HS_NODE_PRESCRIBED : HS_NODE_HELD;
    row->sink = 0.0; /* nothing else matters to it */
    clear(forcing);
    if (row->kind == HS_NODE_PRESCRIBED)
        hs_walls_prescribe(&nodes->walls, holding, node, forcing);
    return true;
}

static bool are_finite(const struct hs_network_row *row, const struct hs_forcing *forcing)
{
    double sum = row->sink;
    for (int axis = 0; axis < HS_AXES; axis++)
        sum += row->conductance[axis];
    for (int n = 0; n < forcing->inflow.count; n++)
        sum += fabs(forcing->inflow.weight[n]);
    return isfinite(sum);
}

enum hs_node_fault hs_nodes_make(struct hs_nodes *nodes, int64_t i, struct hs_network_row *row,
                                 struct hs_forcing *forcing)
{
    const enum hs_node_fault fault = hs_nodes_share(nodes, i);
    bool empty = false;
    memset(row, 0, sizeof *row);
    clear(forcing);
    if (fault != HS_NODE_IS_WELL)
        return fault;
    for (int axis = 0; axis < HS_AXES; axis++)
        row->conductance[axis] = hs_octants_edge(&nodes->octants, axis, &empty);
    if (empty)
        return HS_NODE_IS_EMPTY;
    if (!fill(nodes, row, forcing))
        return HS_NODE_HAS_TOO_MANY;
    if (!(row->capacity > 0.0 && isfinite(row->capacity)))
        return HS_NODE_OVERFLOWS;
    if (!apply_walls(nodes, row, forcing))
        return HS_NODE_HAS_TOO_MANY;
    if (hs_forcing_acts(forcing))
        tidy(forcing);
    return are_finite(row, forcing) ? HS_NODE_IS_WELL : HS_NODE_OVERFLOWS;
}
