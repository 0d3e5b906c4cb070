/* Which rows of nodes a rank makes, where ranks make a network together. */
#ifndef HS_ENGINE_NETWORK_PORTION_H
#define HS_ENGINE_NETWORK_PORTION_H

#include "core/grid.h"

/* The rows along x are cut into so many parts, whatever the ranks and threads: what is summed is
 * summed by part. */
enum { HS_PARTS_OF_ROWS = 512 };

/* The first row of a part; of the last one's end, all of them. */
int64_t hs_portion_part(const struct hs_grid *grid, int part);

/* Nodes of a layer of the slowest axis: how far neighbours are apart at most. */
int64_t hs_portion_layer(const struct hs_grid *grid);

struct hs_portion {
    int ranks; /* that have some */
    int part, end_part;
    int64_t row, end_row; /* of theirs */
    /* nodes of other ranks before its own in arrays of its portion, and after them: a layer */
    int64_t beside;
};

/* All of it, for one rank. */
struct hs_portion hs_portion_all(const struct hs_grid *grid);

/* That of a rank. Each of them has as many nodes as a layer at least, so fewer may have some than
 * there are. */
struct hs_portion hs_portion_of(const struct hs_grid *grid, int ranks, int rank);

static inline int64_t hs_portion_nodes(const struct hs_portion *portion, const struct hs_grid *grid)
{
    return (portion->end_row - portion->row) * grid->points[HS_X];
}

#endif
