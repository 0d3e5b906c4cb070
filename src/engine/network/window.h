/* The layers of the slowest axis that a portion's rows need, of what is given at nodes or cells. */
#ifndef HS_ENGINE_NETWORK_WINDOW_H
#define HS_ENGINE_NETWORK_WINDOW_H

#include "engine/network/portion.h"

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
