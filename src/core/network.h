/*
 * Conduction in a body of many materials, as a finite-volume network.
 *
 * Nodes have control volumes, which meet halfway between nodes; walls run through the outer nodes.
 * A node has a heat capacity C. An edge between neighbours along an axis has a conductance G: the
 * heat flow through it per kelvin of difference between its ends. In one sweep of dt
 *
 *     out_i = keep_i*in_i + s_i + (dt/C_i) * (sum over edges of G*(in_j - in_i) - g_i*in_i)
 *
 * Walls are coefficients. An insulated wall has no edge; convection adds h*area to the sink g and
 * h*area*ambient to the forcing; inflow adds to the forcing. An h that changes with time makes g
 * change likewise. A held node has dt/C = 0. A prescribed node has dt/C = 0, keep = 0 and, as s,
 * the wall's value at the new time. All other nodes have keep = 1. Only periodic axes have edges
 * from the last node to the first. So heat is conserved to rounding by construction, and kernels
 * need no code for walls.
 *
 * Wall values that change along the wall and in time at once are not part of the rows. Their inflow
 * is part of the source field f below, at the wall's nodes; prescribed values are written to the
 * nodes after each sweep (struct hs_moving).
 *
 * Order of additions, all in the field's precision. It is the same in every kernel of every
 * backend, so that their results agree bit for bit:
 *
 *     sum = 0
 *     sum = fma(G of the edge, neighbour - in_i, sum)   for z-1, y-1, x-1, x+1, y+1, z+1
 *     sum = fma(-g_i, in_i, sum)
 *     out = fma(dt/C_i, sum, fma(keep_i, in_i, s_i) + f_i)   f: a source field, left out if none
 *
 * Along axes that are not there, and beyond walls, terms are left out or have G = 0. If nothing is
 * added, in_i may replace fma(1, in_i, 0). Both give the same bits (-0 aside).
 */
#ifndef HS_CORE_NETWORK_H
#define HS_CORE_NETWORK_H

#include "core/grid.h"
#include "core/value.h"

enum hs_node_kind {
    HS_NODE_FREE,
    HS_NODE_HELD,      /* keeps its temperature */
    HS_NODE_PRESCRIBED /* its temperature is the sum of its forcing */
};

/* The coefficients of a node, in SI units, per metre along axes that the grid lacks. */
struct hs_network_row {
    double conductance[HS_AXES]; /* W/K: of the edge to the next node along each axis; 0: none */
    double capacity;             /* J/K: C */
    double sink;                 /* W/K: g; if it changes with time, the largest */
    int32_t forcing;             /* index in the network's forcings; 0: none */
    int32_t kind;                /* enum hs_node_kind */
};

/* A sum of time functions times weights. */
enum { HS_FORCING_TERMS = 8 };
struct hs_terms {
    int count;
    int function[HS_FORCING_TERMS]; /* index in the problem's time functions */
    double weight[HS_FORCING_TERMS];
};

/* What acts on a node besides its neighbours. */
struct hs_forcing {
    struct hs_terms inflow; /* W; for a prescribed node its temperature, K */
    struct hs_terms sink;   /* W/K: the part of g that changes with time; empty if none does */
    double steady_sink;     /* W/K: the rest, in that case; else 0 */
};

/* Consecutive nodes of a row along x on which one value of a wall acts. */
struct hs_moving_stretch {
    const struct hs_value *value; /* W/m^2 or K; owned by the problem */
    int64_t first;                /* index of its first node in hs_moving.node; the others follow */
    int64_t count;
    int64_t weight; /* index of the first node's weight */
};

/* The effect on nodes of wall values that change along the wall and in time at once. */
struct hs_moving {
    int64_t count;
    int64_t *node; /* [count] i + nx*(j + ny*k), increasing */
    int64_t stretch_count;
    struct hs_moving_stretch *stretch; /* [stretch_count] by rows */
    int64_t weights;
    double *weight; /* [weights] of all stretches in turn: m^2 or W/K; 1 for prescribed nodes */
};

/* The share of a substance in the control volume of a node that a wall holds or prescribes. The
 * heat of the substance's sources and sinks there leaves through that wall. */
struct hs_held_share {
    int64_t node[HS_AXES];
    int wall, substance;
    double volume; /* m^3 */
};

static inline bool hs_forcing_acts(const struct hs_forcing *forcing)
{
    return forcing->inflow.count > 0 || forcing->sink.count > 0;
}

/* How each node's row is stored. */
enum hs_network_form {
    HS_NETWORK_BYTES,  /* a one-byte row number for each node, at most 256 rows */
    HS_NETWORK_SHORTS, /* a two-byte row number */
    HS_NETWORK_ARRAYS  /* more distinct rows: an array of each member */
};
enum { HS_NETWORK_MOST_ROWS = 65536 }; /* of the first two, with row 0, of no node */

/* Made once from the problem. In the first two forms row 0 stands for elements that are no nodes:
 * all zero, and held; the other rows are in the order of how many nodes have them. Owned by its
 * creator. */
struct hs_network {
    struct hs_grid grid;
    bool wrap[HS_AXES]; /* periodic axes */
    enum hs_network_form form;
    int row_count;
    struct hs_network_row *row; /* [row_count]; NULL in the array form */
    union {                     /* [nz][ny][nx], by the form */
        void *number;           /* uint8_t or uint16_t */
        struct hs_network_row *node;
    };
    int forcing_count;
    struct hs_forcing *forcing; /* [forcing_count]; the first is empty */
    int64_t forced;             /* in the array form: number of nodes with a forcing */
    struct hs_moving inflow;    /* in W, at free nodes */
    struct hs_moving given;     /* temperatures of prescribed nodes; their forcing is empty */
    double *volume;             /* [substances] m^3, per metre along axes that are not there */
    struct hs_contact_reach *contact; /* [contacts] */
    int64_t held_count;
    struct hs_held_share *held; /* [held_count]; none if no substance has a source or sink */
    double limit;               /* s: longest stable step; infinite if no node can change */
};

/* hs_network_release frees what the network owns and leaves it empty; hs_network_destroy also frees
 * the network itself, and accepts NULL. */
void hs_network_release(struct hs_network *network);
void hs_network_destroy(struct hs_network *network);

/* Bytes per node of the array with one entry per node. */
static inline size_t hs_network_node_bytes(enum hs_network_form form)
{
    return form == HS_NETWORK_BYTES    ? sizeof(uint8_t)
           : form == HS_NETWORK_SHORTS ? sizeof(uint16_t)
                                       : sizeof(struct hs_network_row);
}

/* Whether the sink of any node changes with time. */
static inline bool hs_network_sinks_vary(const struct hs_network *network)
{
    bool vary = false;
    for (int f = 0; f < network->forcing_count; f++)
        vary = vary || network->forcing[f].sink.count > 0;
    return vary;
}

static inline bool hs_network_moves(const struct hs_network *network)
{
    return network->inflow.count > 0 || network->given.count > 0;
}

/* In the array form: an estimate of how many nodes of another grid of this problem have a
 * forcing. */
static inline double hs_network_forced(const struct hs_network *network, const struct hs_grid *grid)
{
    return (double)network->forced * (double)hs_grid_count(grid) /
           (double)hs_grid_count(&network->grid);
}

/* The row of node i + nx*(j + ny*k); `form`: the network's, where a loop knows it. */
static inline const struct hs_network_row *
hs_network_row_of(const struct hs_network *network, enum hs_network_form form, int64_t node)
{
    if (form == HS_NETWORK_ARRAYS)
        return &network->node[node];
    return &network->row[form == HS_NETWORK_BYTES ? ((const uint8_t *)network->number)[node]
                                                  : ((const uint16_t *)network->number)[node]];
}

static inline const struct hs_network_row *hs_network_row_at(const struct hs_network *network,
                                                             int64_t node)
{
    return hs_network_row_of(network, network->form, node);
}

/* All rows of nodes; in the array form one for each node. */
static inline const struct hs_network_row *hs_network_rows(const struct hs_network *network,
                                                           int64_t *count)
{
    const bool arrays = network->form == HS_NETWORK_ARRAYS;
    *count = arrays ? hs_grid_count(&network->grid) : network->row_count - 1;
    return arrays ? network->node : network->row + 1;
}

/*
 * The network as kernels see it, in the memory of their device and the field's precision T, for
 * sweeps of one dt. Fields are in the sweep's layout and given by node (0, 0, 0). Their ghosts mean
 * "no edge"; along periodic axes they repeat the values of the other side.
 */
enum { HS_ROW_NUMBERS = 8, HS_ROW_SINK = 4 };
struct hs_network_view {
    enum hs_network_form form;
    bool wrap[HS_AXES];
    int row_count;
    /* T [row_count][HS_ROW_NUMBERS]: G along x, y, z, dt/C, g, keep, 0, 0; begins at a multiple of
     * 64 bytes */
    const void *row;
    const void *number; /* uint8_t or uint16_t */
    /* T [steps][row_count]: s of each row, in each sweep of the call */
    const void *forcing;
    /* array form: T fields of G along each axis (NULL along axes that are not there), dt/C, g and s
     * (g or s is NULL if it is 0 everywhere); prescribed nodes are written by the backend */
    const void *conductance[HS_AXES];
    const void *rate, *sink, *added;
};

#endif
