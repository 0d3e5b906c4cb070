/*
 * Whether a step is too long for what acts on a field: where a method that looks at the step's ends
 * does not see what comes and goes between them, or takes what sets in between them for more or
 * less than it is.
 *
 * A number is seen at the step's two ends and where the last step began. It is missed if, at some
 * time within the step, it is outside of what was seen by more than half of the range of that, and
 * could change a node by more than the tolerance. One that flows in is missed too if it is off the
 * line between its values at the ends by a tenth of that range, and, in the mean of the step, by so
 * much that this changes a node by half of the tolerance.
 *
 * Source, walls and time functions are looked at at evenly spread times, a thousand of each
 * interval, at least 8 of a step; tables at their points. Where a number for each node is too many
 * for that, places and times are looked at together, 100,000 of an interval, and a node that shows
 * something there at all times.
 */
#ifndef HS_ENGINE_STEPS_PULSES_H
#define HS_ENGINE_STEPS_PULSES_H

#include "core/problem.h"

/* A step from `begin` to `end` [s] after one from `before` (begin: none), of an interval of length
 * `interval`, to a tolerance in K. */
struct hs_pulse_step {
    double before, begin, end, interval, tolerance;
};
bool hs_pulses_missed(const struct hs_problem *problem, const struct hs_pulse_step *step);

#endif
