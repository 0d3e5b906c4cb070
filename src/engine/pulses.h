/*
 * Whether what acts on a field comes and goes within a step, where a method that looks at the
 * step's ends does not see it.
 *
 * A number is seen at the step's two ends and where the last step began. It is missed if, at some
 * time within the step, it is outside of what was seen by more than half of the range of that, and
 * could change a node by more than the tolerance. Source, walls and time functions are looked at at
 * evenly spread times, a thousand of each interval, at least 8 of a step; tables at their points
 * too. Of what also changes from place to place, fewer times and a lattice of nodes are looked at.
 */
#ifndef HS_ENGINE_PULSES_H
#define HS_ENGINE_PULSES_H

#include "core/problem.h"

/* A step from `begin` to `end` [s] after one from `before` (begin: none), of an interval of length
 * `interval`, to a tolerance in K. */
struct hs_pulse_step {
    double before, begin, end, interval, tolerance;
};
bool hs_pulses_missed(const struct hs_problem *problem, const struct hs_pulse_step *step);

#endif
