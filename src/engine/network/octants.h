/*
 * The octants around a node: halves of cells along each axis, what they are made of, and the lines
 * along which what surfaces cross is integrated.
 */
#ifndef HS_ENGINE_NETWORK_OCTANTS_H
#define HS_ENGINE_NETWORK_OCTANTS_H

#include "engine/network/cells.h"

/* Bit a of its number says on which side of the node it lies along axis a, as hs_axis_cell. */
struct hs_octant {
    bool there;
    int label;                         /* of the cell, or of the node */
    const struct hs_selection *around; /* what matters to the row of cells and right beside it */
    struct hs_node_box region;         /* beyond the cell's lower node */
    double half[HS_AXES];              /* m: its edges */
};

/* What one thread has of the node that it is at. */
struct hs_octants {
    const struct hs_network_spec *spec;
    const struct hs_axis *axis;
    const struct hs_cells *cells;
    int64_t node[HS_AXES];
    struct hs_octant octant[8];
    const uint16_t *label[4];      /* of the row that an octant at side y, z belongs to */
    struct hs_selection around[4]; /* of the row of cells at side y, z of the node, at [y + 2*z] */
    struct hs_selection all, here;
    int *parts;       /* of these selections */
    double *place[2]; /* where surfaces cut a region */
    struct hs_crossing *crossing;
    struct hs_piece *piece;
};

void hs_octants_init(struct hs_octants *octants, const struct hs_network_spec *spec,
                     const struct hs_axis *axis, const struct hs_cells *cells);
void hs_octants_release(struct hs_octants *octants);

/* m: for the side of a surface that they are on, nodes and edges are taken for as much lower than
 * they are, along every axis: so a surface right at a node counts as above it, and edges along all
 * axes agree on it. Different along each, lest a slanting surface be met twice, or not at all. */
static inline double hs_octants_beside(const struct hs_octants *octants, int axis)
{
    return (4.0 + 1.3 * axis) * octants->axis[axis].tolerance;
}

/* To be called before the nodes of a row. */
void hs_octants_begin_row(struct hs_octants *octants, int64_t j, int64_t k);

/* False: a label is of no substance. */
bool hs_octants_find(struct hs_octants *octants, int64_t i);

/* Selects what matters to a region of the octant's cell. */
void hs_octant_select(const struct hs_octants *octants, const struct hs_octant *octant,
                      const struct hs_node_box *region, struct hs_selection *out);

/* The lines along an axis that stand for a region, each for an area of its cross-section. */
struct hs_lines {
    int across[2];
    int intervals[2], in_each[2];
    const double *place[2];
    int next;
};

/* Of a region for which `here` is selected. */
struct hs_lines hs_octants_lines(struct hs_octants *octants, const struct hs_node_box *region,
                                 int axis);

/* Sets `at` across the axis; false after the last one. */
bool hs_lines_next(struct hs_lines *lines, double at[HS_AXES], double *area);

#endif
