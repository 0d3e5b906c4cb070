/* The row of one node: its edges, what its control volume holds, what its walls do. */
#ifndef HS_ENGINE_NETWORK_NODES_H
#define HS_ENGINE_NETWORK_NODES_H

#include "engine/network/octants.h"
#include "engine/network/shares.h"
#include "engine/network/walls.h"

enum { HS_AROUND_MOST = 8 }; /* labels that a row is made of */
struct hs_known_row;

/* What one thread works with. */
struct hs_nodes {
    struct hs_octants octants;
    struct hs_shares shares; /* of the node that was made or shared last */
    struct hs_wall_scratch walls;
    /* [nx]: whether labels and widths around a node are those around the one before it, and no
     * surface is there */
    unsigned char *same;
    bool walls_vary; /* along the row, but for its ends */
    /* Where labels say all of a row, it is [n][i] of these that do. */
    const uint16_t *around[HS_AROUND_MOST];
    int around_count;
    double width[5];            /* that known rows are for: of x, two of y, two of z */
    int64_t turn;               /* of these widths, from 1 on */
    bool inside;                /* no walls are at the row, but at its ends */
    struct hs_known_row *known; /* by labels, those made last */
};

/* What is wrong at a node. */
enum hs_node_fault {
    HS_NODE_IS_WELL,
    HS_NODE_IS_EMPTY,     /* some of its control volume or edges has no substance */
    HS_NODE_OVERFLOWS,    /* a number is not finite, or the capacity vanishes */
    HS_NODE_HAS_TOO_MANY, /* time functions */
    HS_NODE_IS_UNNAMED    /* a label is of no substance */
};

void hs_nodes_init(struct hs_nodes *nodes, const struct hs_network_spec *spec,
                   const struct hs_axis *axis, const struct hs_cells *cells);
void hs_nodes_release(struct hs_nodes *nodes);

/* To be called before the nodes of a row. */
void hs_nodes_begin_row(struct hs_nodes *nodes, int64_t j, int64_t k);

/* Whether the row of node i, or its shares, are sure to be those of node i - 1. */
bool hs_nodes_repeats(const struct hs_nodes *nodes, int64_t i);
bool hs_nodes_repeats_shares(const struct hs_nodes *nodes, int64_t i);

/* Whether the row of node i, its place of the forcing too, is known by the labels around it; and
 * to be called when one has been made. */
bool hs_nodes_know(struct hs_nodes *nodes, int64_t i, struct hs_network_row *row);
void hs_nodes_note(struct hs_nodes *nodes, int64_t i, const struct hs_network_row *row);

/* The row of node i but for its place of the forcing, which is `forcing`. */
enum hs_node_fault hs_nodes_make(struct hs_nodes *nodes, int64_t i, struct hs_network_row *row,
                                 struct hs_forcing *forcing);

/* The shares of node i alone. */
enum hs_node_fault hs_nodes_share(struct hs_nodes *nodes, int64_t i);

#endif
