/*
 * The largest grid that fits in some memory, for messages that also give the needed and the free
 * bytes.
 */
#ifndef HS_CORE_LARGEST_GRID_H
#define HS_CORE_LARGEST_GRID_H

#include "core/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct hs_largest_grid {
    /* bytes that a run of the problem needs; must not decrease with more points */
    double (*bytes)(const struct hs_problem *problem, const void *context);
    const void *context;
    double free_bytes;
};

/* The largest grid with the proportions of the problem's, which does not fit, rounded down to whole
 * points; no axis has fewer than a stencil needs, unless the problem's has. False if no grid
 * fits. */
bool hs_largest_grid_find(const struct hs_largest_grid *limit, const struct hs_problem *asked,
                          struct hs_grid *out);

enum { HS_LARGEST_GRID_TEXT = 64 + HS_POINTS_TEXT };

/* "the largest grid of these proportions that fits is 1290 x 1290 x 645", or that no grid fits. */
void hs_largest_grid_say(const struct hs_largest_grid *limit, const struct hs_problem *asked,
                         char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
