/*
 * The largest grid that fits in some memory, for messages that also give the needed and the free
 * bytes.
 */
#ifndef HS_CORE_LARGEST_GRID_H
#define HS_CORE_LARGEST_GRID_H

#include "core/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_largest_grid {
    /* bytes that a run on such a grid needs; must not decrease with more points */
    double (*bytes)(const struct hs_grid *grid, const void *context);
    const void *context;
    double free_bytes;
    int64_t fewest; /* minimum points of an axis; an axis with fewer in `asked` keeps its points */
};

/* The largest grid with the proportions of `asked`, which does not fit, rounded down to whole
 * points. False if no grid fits. */
bool hs_largest_grid_find(const struct hs_largest_grid *limit, const struct hs_grid *asked,
                          struct hs_grid *out);

enum { HS_LARGEST_GRID_TEXT = 64 + HS_POINTS_TEXT };

/* "the largest grid of these proportions that fits is 1290 x 1290 x 645", or that no grid fits. */
void hs_largest_grid_say(const struct hs_largest_grid *limit, const struct hs_grid *asked,
                         char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
