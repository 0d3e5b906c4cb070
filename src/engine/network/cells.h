/* The substance of each cell, or a mark that a surface crosses it; and measured numbers. */
#ifndef HS_ENGINE_NETWORK_CELLS_H
#define HS_ENGINE_NETWORK_CELLS_H

#include "engine/network/solids.h"

enum { HS_CELL_MIXED = 0xffff, HS_CELL_EMPTY = 0xfffe }; /* in place of a substance */

enum { HS_CONDUCTIVITY, HS_CAPACITY, HS_MEASURED };

/* What is in memory for a portion's rows. */
struct hs_cells {
    /* where labels are; HS_LABEL_NONE: no substances are needed */
    enum hs_label_place place;
    int64_t count[HS_AXES]; /* labels along each axis */
    struct hs_window window;
    const uint16_t *label;
    uint16_t *owned; /* if they are not the body's */
    bool marked;     /* the body has no labels: they are found from its solids */
    struct hs_solids solids;
    /* numbers at nodes */
    const struct hs_grid *grid;
    struct hs_window nodes;
    const double *measured[HS_MEASURED];
    double *read[HS_MEASURED]; /* if they are not the body's */
};

/* Loads what a portion of the rows needs. Errors: HS_DEVICE where memory is short, and those of
 * reading a file. Release it whatever the result. */
enum hs_status hs_cells_init(struct hs_cells *cells, const struct hs_network_spec *spec,
                             const struct hs_axis *axis, const struct hs_portion *portion,
                             struct hs_error *err);
void hs_cells_release(struct hs_cells *cells);

/* The box of cells lo <= c < hi. */
struct hs_node_box hs_cells_box(const struct hs_axis *axis, const int64_t lo[HS_AXES],
                                const int64_t hi[HS_AXES]);

static inline const uint16_t *hs_cells_row(const struct hs_cells *cells, int64_t j, int64_t k)
{
    return cells->label +
           hs_window_row(&cells->window, cells->count[HS_Y], j, k) * cells->count[HS_X];
}

/* A measured number at a node. */
static inline const double *hs_cells_measured(const struct hs_cells *cells, int which,
                                              const int64_t node[HS_AXES])
{
    const int64_t *points = cells->grid->points;
    return cells->measured[which] + node[HS_X] +
           points[HS_X] * hs_window_row(&cells->nodes, points[HS_Y], node[HS_Y], node[HS_Z]);
}

#endif
