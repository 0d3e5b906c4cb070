/*
 * The largest grid that fits: what a message says beside the bytes that a grid needs and those that
 * are free, whatever memory it is.
 */
#ifndef HS_CORE_LARGEST_GRID_H
#define HS_CORE_LARGEST_GRID_H

#include "core/grid.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_largest_grid {
    /* what a run on such a grid takes; more points never take less */
    double (*bytes)(const struct hs_grid *grid, const void *context);
    const void *context;
    double free_bytes;
    int64_t fewest; /* points that an axis needs; one that was asked to have fewer keeps those */
};

/* The largest grid of the proportions of `asked`, which does not fit, rounded down to whole points.
 * False if none does. */
bool hs_largest_grid_find(const struct hs_largest_grid *limit, const struct hs_grid *asked,
                          struct hs_grid *out);

enum { HS_LARGEST_GRID_TEXT = 64 + HS_POINTS_TEXT };

/* "the largest grid of these proportions that fits is 1290 x 1290 x 645", or that none does. */
void hs_largest_grid_say(const struct hs_largest_grid *limit, const struct hs_grid *asked,
                         char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
