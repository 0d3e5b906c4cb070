/* Which substance has a cell, or that a surface crosses it. */
#ifndef HS_ENGINE_NETWORK_CELLS_H
#define HS_ENGINE_NETWORK_CELLS_H

#include "engine/network/solids.h"

enum { HS_CELL_MIXED = 0xffff, HS_CELL_EMPTY = 0xfffe }; /* in place of a substance */

struct hs_cells {
    /* of what there are labels; HS_LABEL_NONE: nobody asks for substances */
    enum hs_label_place place;
    int64_t count[HS_AXES]; /* labels along each axis */
    const uint16_t *label;
    uint16_t *owned; /* where the body has no labels, those of its solids */
    struct hs_solids solids;
};

/* False: out of memory. Either way to be released. */
bool hs_cells_init(struct hs_cells *cells, const struct hs_network_spec *spec,
                   const struct hs_axis *axis);
void hs_cells_release(struct hs_cells *cells);

/* The box of cells lo <= c < hi. */
struct hs_node_box hs_cells_box(const struct hs_axis *axis, const int64_t lo[HS_AXES],
                                const int64_t hi[HS_AXES]);

static inline const uint16_t *hs_cells_row(const struct hs_cells *cells, int64_t j, int64_t k)
{
    return cells->label + (k * cells->count[HS_Y] + j) * cells->count[HS_X];
}

#endif
