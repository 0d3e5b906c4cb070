/* Which substance has a cell, or that a surface crosses it. */
#ifndef HS_ENGINE_NETWORK_CELLS_H
#define HS_ENGINE_NETWORK_CELLS_H

#include "engine/network/portion.h"
#include "engine/network/solids.h"

enum { HS_CELL_MIXED = 0xffff, HS_CELL_EMPTY = 0xfffe }; /* in place of a substance */

struct hs_cells {
    /* of what there are labels; HS_LABEL_NONE: nobody asks for substances */
    enum hs_label_place place;
    int64_t count[HS_AXES]; /* labels along each axis */
    /* of what is at hand, the layers of the slowest axis that the portion's rows ask for: the first
     * place, and how many; on a periodic axis the last place is followed by place 0 */
    int64_t first[HS_AXES], held[HS_AXES];
    const uint16_t *label;
    uint16_t *owned; /* where they are not the body's */
    bool marked;     /* the body has none: they are of its solids */
    struct hs_solids solids;
};

/* Of what a portion of the rows asks for. HS_DEVICE where memory is short, and errors of reading
 * what lies in a file. Whatever comes to be released. */
enum hs_status hs_cells_init(struct hs_cells *cells, const struct hs_network_spec *spec,
                             const struct hs_axis *axis, const struct hs_portion *portion,
                             struct hs_error *err);
void hs_cells_release(struct hs_cells *cells);

/* The box of cells lo <= c < hi. */
struct hs_node_box hs_cells_box(const struct hs_axis *axis, const int64_t lo[HS_AXES],
                                const int64_t hi[HS_AXES]);

/* Where a place along an axis is among those that are held. */
static inline int64_t hs_cells_held(const struct hs_cells *cells, int axis, int64_t place)
{
    const int64_t n = place - cells->first[axis];
    return n < 0 ? n + cells->count[axis] : n;
}

static inline const uint16_t *hs_cells_row(const struct hs_cells *cells, int64_t j, int64_t k)
{
    return cells->label +
           (hs_cells_held(cells, HS_Z, k) * cells->held[HS_Y] + hs_cells_held(cells, HS_Y, j)) *
               cells->count[HS_X];
}

#endif
