/*
 * Whether a step is too long for what acts on a field. A method that looks at the step's ends only
 * does not see what comes and goes between them, and takes what sets in there for more or less than
 * it is.
 *
 * A number is seen at the step's two ends and where the last step began. It is missed if, at some
 * time within the step, it is outside the range of these values by more than half of that range,
 * and could change a node by more than the tolerance. An inflow is also missed if, in the mean of
 * the step, it is off the line between its values at the ends by more than a tenth of that range,
 * and by so much that this changes a node by more than half of the tolerance.
 *
 * Source, walls and time functions are checked at evenly spread times, a thousand per interval and
 * at least 8 per step; tables at their points. Where numbers differ from node to node and are too
 * many for that, places and times are sampled together, 100,000 per interval; a node at which
 * something shows is then checked at all times.
 */
#ifndef HS_ENGINE_STEPS_PULSES_H
#define HS_ENGINE_STEPS_PULSES_H

#include "core/problem.h"

/* A step from `begin` to `end` [s] after one that began at `before` (begin: none), in an interval
 * of length `interval`, with a tolerance in K. */
struct hs_pulse_step {
    double before, begin, end, interval, tolerance;
};
bool hs_pulses_missed(const struct hs_problem *problem, const struct hs_pulse_step *step);

/*
 * A time [s] after `now` up to `end` at which a wall or a source will differ from what it is now,
 * by enough to change a node by more than `tolerance` [K] in a sweep of `sweep` [s]; NaN if none is
 * found. Looks at a table's points, at a thousand evenly spread times, and at as many from the next
 * sweep on that lie ever farther apart. Where numbers differ from node to node and are too many for
 * that, places and times are sampled together, 100,000 in all.
 */
struct hs_pulse_ahead {
    double now, end, sweep, tolerance;
};
double hs_pulses_ahead(const struct hs_problem *problem, const struct hs_pulse_ahead *ahead);

/*
 * A time [s] up to `end` at which a wall or a source is, between the ends of one of the steps of
 * `step` [s] from 0 on, outside of its values at both by more than a tenth of its range; NaN if
 * none is found. *place: where the config has it. Looks at a table's points, and of the other
 * numbers of a kind at 10,000 values in all, at least a thousand of each function of time.
 */
double hs_pulses_unseen(const struct hs_problem *problem, double step, double end,
                        const char **place);

/* The same of what acts alike everywhere, for results that are `apart` [s], and by more than half
 * of its range: a spot that passes a node between two results is in both of them, elsewhere. */
double hs_pulses_unshown(const struct hs_problem *problem, double apart, double end,
                         const char **place);

/* The same, by a tenth of its range, of expressions between the times that hs_pulses_missed looks
 * at, a thousand per interval. */
double hs_pulses_too_short(const struct hs_problem *problem, double interval, double end,
                           const char **place);

/*
 * By what share of its mean, counted from its lowest or highest value, whichever is nearer, a wall
 * or a source may at most be taken for too much or too little by steps of `step` [s] from 0 to
 * `end`: they see its values at their ends or between them, where rounding decides on which side of
 * a jump these are. The first share above 0.15 is returned, else 0; infinite, if all of it lies
 * between the times looked at. What makes less than one step in all counts only beside little: a
 * flash, but no load that begins within a step. Looks at the first 20,000 steps, at all functions
 * of time and tables, and of numbers that differ from node to node at the largest one at t = 0.
 */
double hs_pulses_mistaken(const struct hs_problem *problem, double step, double end,
                          const char **place);

#endif
