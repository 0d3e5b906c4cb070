#include "engine/network/window.h"

#include "core/round.h"

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
