/* The power that a problem's sources put in, and that its walls' given fluxes take. */
#ifndef HS_ENGINE_BALANCE_POWER_H
#define HS_ENGINE_BALANCE_POWER_H

#include "core/problem.h"

/* In W, per metre of each axis that the grid lacks (hs_problem_power_unit). NaN: there is none. */
struct hs_balance_power {
    double power;
    bool changes; /* with time */
};

/* What the sources of the problem and of its materials put in at time t, without sinks. HS_IO where
 * a file of numbers cannot be read; HS_DEVICE without memory. */
enum hs_status hs_balance_source_power(const struct hs_problem *problem, double t,
                                       struct hs_balance_power *out, struct hs_error *err);

/* What leaves at time t by the flux that each wall is given, of a problem that has a balance. out:
 * [hs_problem_wall_count] */
void hs_balance_fluxes(const struct hs_problem *problem, double t, struct hs_balance_power *out);

#endif
