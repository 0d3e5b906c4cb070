#include "engine/network/share.h"

static int64_t rows_of(const struct hs_grid *grid)
{
    return grid->points[HS_Y] * grid->points[HS_Z];
}

int64_t hs_network_part(const struct hs_grid *grid, int part)
{
    return rows_of(grid) * part / HS_NETWORK_PARTS;
}

int64_t hs_network_layer(const struct hs_grid *grid)
{
    return hs_grid_count(grid) / grid->points[grid->dims - 1];
}

/* Of so many ranks that all have some. */
static struct hs_network_share cut(const struct hs_grid *grid, int ranks, int rank)
{
    struct hs_network_share share = {.ranks = ranks,
                                     .part = HS_NETWORK_PARTS * rank / ranks,
                                     .end_part = HS_NETWORK_PARTS * (rank + 1) / ranks,
                                     .ahead = ranks > 1 ? hs_network_layer(grid) : 0};
    share.row = hs_network_part(grid, share.part);
    share.end_row = hs_network_part(grid, share.end_part);
    return share;
}

static bool is_enough(const struct hs_grid *grid, int ranks)
{
    bool enough = grid->dims > 1;
    for (int rank = 0; rank < ranks && enough; rank++) {
        const struct hs_network_share share = cut(grid, ranks, rank);
        enough = hs_network_share_nodes(&share, grid) >= share.ahead;
    }
    return enough;
}

struct hs_network_share hs_network_all(const struct hs_grid *grid)
{
    return cut(grid, 1, 0);
}

struct hs_network_share hs_network_share_of(const struct hs_grid *grid, int ranks, int rank)
{
    int some = ranks < HS_NETWORK_PARTS ? ranks : HS_NETWORK_PARTS;
    while (some > 1 && !is_enough(grid, some))
        some--;
    if (rank < some)
        return cut(grid, some, rank);
    struct hs_network_share none = cut(grid, some, some - 1);
    none.part = none.end_part;
    none.row = none.end_row;
    return none;
}
