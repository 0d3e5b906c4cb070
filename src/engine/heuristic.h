/*
 * Which kernel "auto" takes if nothing was tuned or tried: a heuristic, as a table.
 *
 * The rows of a device are read from the top. The first row that matches the case, and whose kernel
 * is built and suits it, is taken. So a row says only where its kernel is the faster one, not what
 * the kernel cannot do (a grid too small for its tiles, fields where it needs uniform values:
 * `features` and `suits` of the descriptor say that). If no row matches, any kernel that can do the
 * case is taken, the reference last.
 */
#ifndef HS_ENGINE_HEURISTIC_H
#define HS_ENGINE_HEURISTIC_H

#include "core/features.h"
#include "core/kernel.h"

struct hs_heuristic {
    const char *kernel;
    hs_features only;    /* dims, radius, precision: any of those named; a kind not named: all */
    int64_t from;        /* nodes of the grid, at least */
    int64_t below;       /* fewer nodes than this; 0: no bound */
    hs_features with;    /* core/features.h: the case has all of them */
    hs_features without; /* the case has none of them */
};

/* Best first; ends with a NULL kernel. */
const struct hs_heuristic *hs_heuristics(enum hs_device device);

/* Whether the row matches this case; it does not check its kernel. */
bool hs_heuristic_holds(const struct hs_heuristic *row, const struct hs_problem *problem);

#endif
