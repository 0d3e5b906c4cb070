/* Which rows of nodes a rank makes, where ranks make a network together, and what these need. */
#ifndef HS_ENGINE_NETWORK_PORTION_H
#define HS_ENGINE_NETWORK_PORTION_H

#include "core/grid.h"

/* The rows along x are cut into this many parts for any number of ranks and threads: sums are made
 * part by part. */
enum { HS_PARTS_OF_ROWS = 512 };

/* The first row of a part; for the part after the last one, the number of rows. */
int64_t hs_portion_part(const struct hs_grid *grid, int part);

struct hs_portion {
    int ranks; /* that have rows */
    int part, end_part;
    int64_t row, end_row; /* of these parts */
    /* nodes of other ranks in its arrays, as many before its own as after them: a layer */
    int64_t beside;
};

/* The portion of a rank; all of the grid where `ranks` is less than 2. Each portion has at least as
 * many nodes as a layer, so some ranks may have none. */
struct hs_portion hs_portion_of(const struct hs_grid *grid, int ranks, int rank);

static inline int64_t hs_portion_nodes(const struct hs_portion *portion, const struct hs_grid *grid)
{
    return (portion->end_row - portion->row) * grid->points[HS_X];
}

/* The layers of the slowest axis that a portion's rows need, of what is given at nodes or cells. */
struct hs_window {
    int axis;
    int64_t count;       /* places along it */
    int64_t first, held; /* the first one in memory, and how many; place 0 follows the last */
};

/* A node needs what is given at it, at the next node, and in the cells beside it. */
struct hs_window hs_window_of(const struct hs_portion *portion, const struct hs_grid *grid,
                              int64_t count, bool wrap);

static inline int64_t hs_window_place(const struct hs_window *window, int64_t n)
{
    return (window->first + n) % window->count;
}

/* Index of row (j, k), where a layer has `ny` rows. */
static inline int64_t hs_window_row(const struct hs_window *window, int64_t ny, int64_t j,
                                    int64_t k)
{
    const int64_t place = window->axis == HS_Z ? k : j;
    const int64_t layer = place - window->first + (place < window->first ? window->count : 0);
    return window->axis == HS_Z ? layer * ny + j : layer;
}

#endif
