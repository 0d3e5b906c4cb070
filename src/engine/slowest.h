/*
 * How fast the slowest mode decays, which bounds a search for a steady state.
 *
 * A sweep multiplies each mode of the field by its own factor, and the difference between a field
 * and its steady state is a sum of modes. The operator is a sum over the axes, so 1 - factor is the
 * sum of the axes' decays, and the slowest mode is the slowest along every axis.
 *
 * Along an axis a mode is a wave sin(theta*j + phi), whose phase at each end the face's rule fixes:
 * ghost = a*inner + b*edge gives tan(phi) = (1 + a) sin(theta) / ((1 - a) cos(theta) - b). The
 * phases of both ends, plus theta times the intervals between them, add up to a multiple of pi.
 * Exact for radius 1. For radius 2 and 3 the rules of the outer ghosts are ignored, which is exact
 * for `reflective`, `dirichlet` and `periodic`; otherwise the error is at most half an interval.
 */
#ifndef HS_ENGINE_SLOWEST_H
#define HS_ENGINE_SLOWEST_H

#include "core/problem.h"

struct hs_slowest {
    double decay;   /* 1 - factor of a sweep, of the slowest mode that decays; NaN if unknown: an
                       asymmetric raw stencil has no such waves, and the modes of a very large body
                       are not computed */
    bool free_mean; /* no face holds the mean (insulated or periodic): the constant is left out */
    /* If free_mean: capacity of what only walls and sources change. Body: its heat, J/K; stencil:
     * its mean, 1; NaN: nothing is conserved, as with radius 2 and 3 beside a clamp */
    double capacity;
    /* All modes together leave at most this many times what the slowest alone leaves for the same
     * change of a node; NaN if unknown, as for a body whose mean is free. docs/numerics.md */
    double all_modes;
    int roundings; /* of one temperature in a sweep, at most */
};

struct hs_slowest hs_slowest_mode(const struct hs_problem *problem,
                                  const struct hs_stencil *stencil, double step);

#endif
