/*
 * Which kernel "auto" takes where nothing was tuned or tried: a heuristic, as a table.
 *
 * The rows of a device are read from the top: the first that holds for the case, and whose kernel
 * is built and suits it, is taken. So a row needs no word of what its kernel cannot do (too small a
 * grid for its tiles, fields where it wants uniform values: `features` and `suits` of the
 * descriptor say that), only of where it is the faster one. After the table any kernel that can,
 * the reference last.
 */
#ifndef HS_ENGINE_HEURISTIC_H
#define HS_ENGINE_HEURISTIC_H

#include "core/features.h"
#include "core/kernel.h"

struct hs_heuristic {
    const char *kernel;
    hs_features only;    /* dims, radius, precision: any of those named; of a kind unnamed, all */
    int64_t from;        /* nodes of the grid, at least */
    int64_t below;       /* fewer nodes than this; 0: no bound */
    hs_features with;    /* core/features.h: the case has all of them */
    hs_features without; /* the case has none of them */
};

/* Best first; ends with a NULL kernel. */
const struct hs_heuristic *hs_heuristics(enum hs_device device);

/* Whether the row is about this case; of its kernel it knows nothing. */
bool hs_heuristic_holds(const struct hs_heuristic *row, const struct hs_problem *problem);

#endif
