/* Shapes that cross an end of a periodic axis. They do not continue at the other end. */
#ifndef HS_ENGINE_DOUBTS_SHAPE_ENDS_H
#define HS_ENGINE_DOUBTS_SHAPE_ENDS_H

#include "core/problem.h"

/* The n-th of a list of shapes; NULL after the last. */
typedef const struct hs_shape *hs_shape_of(const struct hs_problem *problem, int n);

struct hs_shape_end {
    int shape, axis;
    double end;   /* m: the end that it reaches beyond, */
    double shift; /* m: and how far what is beyond must be moved to lie at the other end */
};

/* Finds the first shape of which a part beyond an end is not drawn at the other end by another
 * shape of the list. False: there is none. */
bool hs_shape_ends_find(const struct hs_problem *problem, hs_shape_of *shape_of,
                        struct hs_shape_end *out);

#endif
