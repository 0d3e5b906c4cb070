/* The row of one node: its edges, what its control volume holds, what its walls do. */
#ifndef HS_ENGINE_NETWORK_NODES_H
#define HS_ENGINE_NETWORK_NODES_H

#include "engine/network/octants.h"
#include "engine/network/shares.h"
#include "engine/network/walls.h"

enum { HS_AROUND_MOST = 8 }; /* labels that determine a row */
struct hs_known_row;

/* What one thread works with. */
struct hs_nodes {
    struct hs_octants octants;
    struct hs_shares shares; /* of the node made or shared last */
    struct hs_walls walls;
    /* [nx]: whether labels and widths around a node are those around the node before it, and no
     * surface crosses there: its shares then are that node's, too */
    unsigned char *same;
    bool measured;   /* nodes have numbers of their own: labels do not determine their rows */
    bool walls_vary; /* along the row, except at its ends */
    /* If labels determine a row, those of node i are at [n][i]. */
    const uint16_t *around[HS_AROUND_MOST];
    int around_count;
    double width[5];            /* for which rows are known: of x, two of y, two of z */
    int64_t turn;               /* number of this set of widths, from 1 on */
    bool inside;                /* the row touches no walls, except at its ends */
    struct hs_known_row *known; /* table by labels, of the rows made last */
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

/* Whether the row of node i is certainly that of node i - 1. */
bool hs_nodes_repeats(const struct hs_nodes *nodes, int64_t i);

/* Whether the row of node i, its place of the forcing included, is known by the labels around it;
 * and to be called when a row has been made. */
bool hs_nodes_know(struct hs_nodes *nodes, int64_t i, struct hs_network_row *row);
void hs_nodes_note(struct hs_nodes *nodes, int64_t i, const struct hs_network_row *row);

/* Makes the row of node i, except its place of the forcing, and that forcing. */
enum hs_node_fault hs_nodes_make(struct hs_nodes *nodes, int64_t i, struct hs_network_row *row,
                                 struct hs_forcing *forcing);

/* The shares of node i alone. */
enum hs_node_fault hs_nodes_share(struct hs_nodes *nodes, int64_t i);

#endif
