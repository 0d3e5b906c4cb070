/*
 * The octants around a node (halves of cells along each axis): what they are made of, and the lines
 * along which regions that surfaces cross are integrated.
 */
#ifndef HS_ENGINE_NETWORK_OCTANTS_H
#define HS_ENGINE_NETWORK_OCTANTS_H

#include "engine/network/cells.h"

/* Bit a of an octant's number says on which side of the node it lies on axis a, as hs_axis_cell. */
struct hs_octant {
    bool there;
    int label; /* of the cell, or of the node */
};

/* Half a cell beside the node along one axis. */
struct hs_half_cell {
    int64_t cell;  /* -1 beyond a wall */
    double length; /* m; 0 beyond a wall */
};

/* What one thread knows of its current node. */
struct hs_octants {
    const struct hs_network_spec *spec;
    const struct hs_axis *axis;
    const struct hs_cells *cells;
    int64_t node[HS_AXES];
    struct hs_half_cell beside[HS_AXES][2]; /* below the node, and above it */
    struct hs_octant octant[8];
    bool there[4];            /* octants at side y, z of the row, at [y + 2*z] */
    const uint16_t *label[4]; /* labels of the row of an octant at side y, z */
    /* [nx] of the row: the substance of all cells around a node, where edges and volumes follow
     * from that; else HS_CELL_MIXED */
    uint16_t *plain;
    int only; /* that of the node, whose octants are not found then; else HS_NOWHERE */
    struct hs_selection around[4]; /* of the row of cells at side y, z of the node, and beside */
    struct hs_selection here;      /* of a region; its part begins the memory of all five */
    double *place[2];              /* where surfaces cut a region */
    struct hs_crossing *crossing;
    struct hs_piece *piece;
    double *lines; /* [contacts] how many edges' lines cross each */
};

void hs_octants_init(struct hs_octants *octants, const struct hs_network_spec *spec,
                     const struct hs_axis *axis, const struct hs_cells *cells);
void hs_octants_release(struct hs_octants *octants);

static inline double hs_octants_beside(const struct hs_octants *octants, int axis)
{
    return hs_axis_beside(&octants->axis[axis], axis);
}

/* To be called before the nodes of a row. */
void hs_octants_begin_row(struct hs_octants *octants, int64_t j, int64_t k);

/* Finds the octants of node i. False: a label names no substance. */
bool hs_octants_find(struct hs_octants *octants, int64_t i);

/* An octant's region, relative to its cell's lower node. */
struct hs_node_box hs_octant_region(const struct hs_octants *octants, int octant);

/* Selects the solids that matter to a region of the octant's cell. */
void hs_octant_select(const struct hs_octants *octants, int octant,
                      const struct hs_node_box *region, struct hs_selection *out);

/* The lines along an axis that represent a region, each for an area of its cross-section. */
struct hs_lines {
    int across[2];
    int intervals[2], in_each[2];
    const double *place[2];
    int next;
};

/* For a region whose solids are selected in `here`. */
struct hs_lines hs_octants_lines(struct hs_octants *octants, const struct hs_node_box *region,
                                 int axis);

/* Sets `at` across the axis, and the line's area; false after the last one. */
bool hs_lines_next(struct hs_lines *lines, double at[HS_AXES], double *area);

/* The substance on whose side of contacts the node is. */
int hs_octants_side(struct hs_octants *octants);

/* W/K: conductance of the edge above the node whose octants were found; 0 without an edge. Sets
 * `empty` if part of the edge has no substance. */
double hs_octants_edge(struct hs_octants *octants, int axis, bool *empty);

#endif
