#include "engine/network/portion.h"

#include "core/round.h"

int64_t hs_portion_part(const struct hs_grid *grid, int part)
{
    return grid->points[HS_Y] * grid->points[HS_Z] * part / HS_PARTS_OF_ROWS;
}

/* For a number of ranks that all have rows. */
static struct hs_portion cut(const struct hs_grid *grid, int ranks, int rank)
{
    /* nodes of a layer of the slowest axis: neighbours are at most that far apart */
    const int64_t layer = hs_grid_count(grid) / grid->points[grid->dims - 1];
    struct hs_portion portion = {.ranks = ranks,
                                 .part = HS_PARTS_OF_ROWS * rank / ranks,
                                 .end_part = HS_PARTS_OF_ROWS * (rank + 1) / ranks,
                                 .beside = ranks > 1 ? layer : 0};
    portion.row = hs_portion_part(grid, portion.part);
    portion.end_row = hs_portion_part(grid, portion.end_part);
    return portion;
}

static bool is_enough(const struct hs_grid *grid, int ranks)
{
    bool enough = grid->dims > 1;
    for (int rank = 0; rank < ranks && enough; rank++) {
        const struct hs_portion portion = cut(grid, ranks, rank);
        enough = hs_portion_nodes(&portion, grid) >= portion.beside;
    }
    return enough;
}

struct hs_portion hs_portion_of(const struct hs_grid *grid, int ranks, int rank)
{
    int some = (int)hs_larger(hs_smaller(ranks, HS_PARTS_OF_ROWS), 1);
    while (some > 1 && !is_enough(grid, some))
        some--;
    if (rank < some)
        return cut(grid, some, rank);
    struct hs_portion none = cut(grid, some, some - 1);
    none.part = none.end_part;
    none.row = none.end_row;
    return none;
}

struct hs_window hs_window_of(const struct hs_portion *portion, const struct hs_grid *grid,
                              int64_t count, bool wrap)
{
    const struct hs_window all = {.axis = grid->dims - 1, .count = count, .held = count};
    if (portion->ranks < 2)
        return all;
    const int64_t rows = portion->beside / grid->points[HS_X]; /* of a layer */
    int64_t first = portion->row / rows - 1, end = (portion->end_row - 1) / rows + 2;
    if (!wrap) {
        first = hs_larger(first, 0);
        end = hs_smaller(end, count);
    }
    if (portion->row == portion->end_row) /* no rows need anything */
        first = end = 0;
    if (end - first >= count)
        return all;
    return (struct hs_window){all.axis, count, (first + count) % count, end - first};
}
