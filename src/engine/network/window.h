/* The layers of the slowest axis that a portion's rows ask for, of what lies at nodes or cells. */
#ifndef HS_ENGINE_NETWORK_WINDOW_H
#define HS_ENGINE_NETWORK_WINDOW_H

#include "engine/network/portion.h"

struct hs_window {
    int axis;
    int64_t count;       /* places along it */
    int64_t first, held; /* the first one at hand, and how many; the last place is followed by 0 */
};

/* A node asks for what lies at it, at the next one, and in the cells beside it. */
struct hs_window hs_window_of(const struct hs_portion *portion, const struct hs_grid *grid,
                              int64_t count, bool wrap);

static inline int64_t hs_window_place(const struct hs_window *window, int64_t n)
{
    return (window->first + n) % window->count;
}

/* Where the row (j, k) is, of rows of which a layer has `ny`. */
static inline int64_t hs_window_row(const struct hs_window *window, int64_t ny, int64_t j,
                                    int64_t k)
{
    const int64_t place = window->axis == HS_Z ? k : j;
    const int64_t layer = place - window->first + (place < window->first ? window->count : 0);
    return window->axis == HS_Z ? layer * ny + j : layer;
}

#endif
