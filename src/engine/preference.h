/*
 * Which kernel "auto" takes where nothing was tuned or tried: a heuristic, as a table.
 *
 * The rows of a device are read from the top: the first that holds for the case, and whose kernel
 * is built and suits it, is taken. So a row needs no word of what its kernel cannot do (too small a
 * grid for its tiles, fields where it wants uniform values: `uniform` and `suits` of the descriptor
 * say that), only of where it is the faster one. After the table any kernel that can, the reference
 * last.
 */
#ifndef HS_ENGINE_PREFERENCE_H
#define HS_ENGINE_PREFERENCE_H

#include "core/kernel.h"
#include "core/needs.h"

struct hs_preference {
    const char *kernel;
    unsigned dims;   /* 1u << dims for each; 0: any; likewise the next two */
    unsigned radius; /* 1u << radius */
    unsigned precision;
    int64_t from;     /* nodes of the grid, at least */
    int64_t below;    /* fewer nodes than this; 0: no bound */
    unsigned with;    /* HS_NEEDS_...: the case has all of them */
    unsigned without; /* the case has none of them */
};

/* Best first; ends with a NULL kernel. */
const struct hs_preference *hs_preferences(enum hs_device device);

/* Whether the row is about this case; of its kernel it knows nothing. */
bool hs_preference_holds(const struct hs_preference *row, const struct hs_problem *problem);

#endif
