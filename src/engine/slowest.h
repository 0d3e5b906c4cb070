/*
 * How fast the slowest mode dies out: what bounds a search for a steady state.
 *
 * A sweep multiplies each mode of the field by a factor of its own, and what is left of a field's
 * way to its steady state is a sum of modes. The operator is a sum over the axes, so 1 - factor is
 * the sum of what each axis takes, and the slowest mode is the slowest along every axis.
 *
 * Along an axis it is a wave sin(theta*j + phi), whose phase at each end the face's rule fixes:
 * ghost = a*inner + b*edge gives tan(phi) = (1 + a) sin(theta) / ((1 - a) cos(theta) - b), and the
 * phases of both ends and theta times the intervals between them add up to a multiple of pi. Exact
 * for radius 1. For radius 2 and 3 the rules of the outer ghosts are not asked, which is exact for
 * `reflective`, `dirichlet` and `periodic` and else worth half an interval at most.
 */
#ifndef HS_ENGINE_SLOWEST_H
#define HS_ENGINE_SLOWEST_H

#include "core/problem.h"

struct hs_slowest {
    double decay;   /* 1 - factor of a sweep, of the slowest mode that dies out; NaN if unknown: a
                       raw stencil that is lopsided, say, has no such waves, and those of a very
                       large body are not looked for */
    bool free_mean; /* no face holds the mean: insulated or periodic all round; it is left out */
    /* Where it is free, what only walls and sources change. J/K, of a body: its heat; 1, of a
     * stencil: its mean; NaN: nothing, of radius 2 and 3 beside a clamp */
    double capacity;
    /* All modes together leave at most so many times what the slowest alone does that changes a
     * node by as much; NaN if unknown: of a body whose mean is free, say. docs/numerics.md */
    double all_modes;
    int roundings; /* of a temperature that a sweep makes, at most */
};

struct hs_slowest hs_slowest_mode(const struct hs_problem *problem,
                                  const struct hs_stencil *stencil, double step);

#endif
